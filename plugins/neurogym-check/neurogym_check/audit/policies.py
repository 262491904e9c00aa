"""Policies that are played. Each class plays many candidates at once, one row of numbers each.

`families` yields the families of policies for a task; `measures.py` chooses the best candidate of
each on some trials, and measures it on others.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np

from neurogym_check.audit.classify import Policy as Classifier
from neurogym_check.audit.classify import best_policy
from neurogym_check.audit.play import Bank, Now, play, random_actions
from neurogym_core import Task
from neurogym_core.players import TaskView

CANDIDATES = 2048
"""Most candidates of a family."""
PERIODS = range(2, 31)
"""Periods of counters, in trials."""
LAGS = range(1, 9)
"""Trials back that a policy of familiarity remembers."""
LONGEST = 4 * max(PERIODS)
"""Length of the sequence of a counter."""
SEQUENCE = 8
"""Actions of the longest sequences of which all are played, if they are few enough."""
RUNS = 20
"""Durations of the first of two actions that are held in turn."""
IMITATED = 6000
"""Most steps of the oracle that are imitated."""
LEARNED = 10_000
"""Trials of the oracle from which counters and policies of history are learned."""


class Played:
    """A policy that chooses an answer, and gives it when asked.

    Args:
        bank: the answers.
        rows: (n, P) the numbers of the candidate that each env plays.
        seed: seed of random choices.
    """

    told: ClassVar[bool] = False
    """Whether it reads the targets."""

    def __init__(self, bank: Bank, rows: np.ndarray, seed: int) -> None:
        self.bank, self.rows = bank, rows
        self.rng = np.random.default_rng(seed)
        self.all = np.arange(len(rows))

    def __call__(self, now: Now) -> np.ndarray:
        """Return actions (n,) or (n, D)."""
        return self.bank.actions(now, self.answer(now), now.asked)

    def answer(self, now: Now) -> np.ndarray:
        """Return the index of the answer, (n,) or (n, K)."""
        return self.rows


class Oracle(Played):
    """Plays the target."""

    told = True

    def __call__(self, now: Now) -> np.ndarray:
        return now.target


class Guess(Played):
    """Gives a random answer when asked."""

    def answer(self, now: Now) -> np.ndarray:
        size = self.bank.size[now.slot]
        first = np.minimum(int(self.bank.rests), size - 1)
        return first + (self.rng.random(len(size)) * (size - first)).astype(int)


class Anything(Played):
    """Acts at random on every step."""

    def __call__(self, now: Now) -> np.ndarray:
        return np.asarray(random_actions(self.bank.task, len(self.rows), self.rng))


class Clock(Played):
    """Gives a fixed answer on one step, counted from the trial's or the window's beginning.

    Rows: 1 for the window, the step, the answers of all slots.
    """

    def __call__(self, now: Now) -> np.ndarray:
        from_window = self.rows[:, 0] == 1
        on_time = np.where(from_window, now.waited, now.step) == self.rows[:, 1]
        return self.bank.actions(now, self.rows[:, 2:], on_time & (now.asked | ~from_window))


class Counter(Played):
    """Counts trials. Rows: the period, and the answers in turn."""

    def answer(self, now: Now) -> np.ndarray:
        return np.asarray(self.rows[self.all, 1 + now.trial % self.rows[:, 0]])


class Rhythm(Played):
    """Gives an answer, and another one every so many times that it is asked in a trial.

    Rows: the number of times, the answer, the other answer.
    """

    def __init__(self, bank: Bank, rows: np.ndarray, seed: int) -> None:
        super().__init__(bank, rows, seed)
        self.times = np.zeros(len(rows), int)

    def answer(self, now: Now) -> np.ndarray:
        opens = now.asked & (now.waited == 0)
        self.times = np.where(now.fresh, 0, self.times) + opens
        other = self.times % self.rows[:, 0] == 0
        return np.where(other, self.rows[:, 2], self.rows[:, 1])


class Sequence(Played):
    """Repeats a sequence of actions from the beginning of each trial, whatever is shown or asked.

    Rows: the number of actions, and the actions in turn.
    """

    def __call__(self, now: Now) -> np.ndarray:
        return np.asarray(self.rows[self.all, 1 + now.step % self.rows[:, 0]])


class Copying(Played):
    """Base of policies that sum a channel, and give its largest unit as the answer."""

    def __init__(self, bank: Bank, rows: np.ndarray, seed: int) -> None:
        super().__init__(bank, rows, seed)
        self.sums = np.zeros((len(rows), bank.task.channels.size))

    def copies(self, now: Now) -> np.ndarray:
        """Return (n, channels) the index of the answer that each channel shows."""
        self.sums = np.where(now.fresh[:, None], 0, self.sums) + now.observations
        shown = [self.sums[:, units].argmax(axis=1) for units in self.bank.copied()]
        return np.stack(shown, axis=1) + self.bank.first


class Channel(Copying):
    """Copies the answer from one channel. Rows: the channel."""

    def __call__(self, now: Now) -> np.ndarray:
        index = self.copies(now)[self.all, self.rows[:, 0]]
        return self.bank.actions(now, index, now.asked)


class ChannelCounter(Copying):
    """Counts trials, and copies the answer from one channel after the other.

    Rows: the period, and the channels in turn.
    """

    def __call__(self, now: Now) -> np.ndarray:
        channel = self.rows[self.all, 1 + now.trial % self.rows[:, 0]]
        return self.bank.actions(now, self.copies(now)[self.all, channel], now.asked)


class History(Played):
    """Answers by the right answer of the previous trial. Rows: the answer after each of them.

    The policy receives the right answer, as feedback would give it.
    """

    told = True

    def __init__(self, bank: Bank, rows: np.ndarray, seed: int) -> None:
        super().__init__(bank, rows, seed)
        self.right = np.zeros(len(rows), int)
        self.previous = np.zeros(len(rows), int)

    def answer(self, now: Now) -> np.ndarray:
        self.previous = np.where(now.fresh, self.right, self.previous)
        self.right = np.where(now.fresh, 0, self.right)
        told = np.where(now.asked, self.bank.index_of(now.target), 0)
        self.right = np.maximum(self.right, told)
        return np.asarray(self.rows[self.all, self.previous])


class WinStay(Played):
    """Repeats an answer that was right, and else takes the next one. Rows: the first answer.

    The policy learns whether it was right, also where rewards are drawn at random.
    """

    def __init__(self, bank: Bank, rows: np.ndarray, seed: int) -> None:
        super().__init__(bank, rows, seed)
        self.current = rows[:, 0].copy()

    def answer(self, now: Now) -> np.ndarray:
        lost = now.fresh & (now.trial > 0) & (now.earned < 0.5)
        first, size = self.bank.first, self.bank.size[0]
        following = first + (self.current - first + 1) % (size - first)
        self.current = np.where(lost, following, self.current)
        return self.current


class Familiar(Played):
    """Compares a channel with the last trials.

    Rows: first unit of the channel, unit after its last, number of trials back, the answers to a
    stimulus of these trials, and to any other.
    """

    def __init__(self, bank: Bank, rows: np.ndarray, seed: int) -> None:
        super().__init__(bank, rows, seed)
        units = np.arange(bank.task.channels.size)
        self.within = (units >= rows[:, [0]]) & (units < rows[:, [1]])
        self.sums = np.zeros((len(rows), len(units)))
        self.shown = np.full(len(rows), -1)
        self.memory = np.full((len(rows), max(LAGS)), -1)

    def answer(self, now: Now) -> np.ndarray:
        pushed = np.concatenate([self.shown[:, None], self.memory[:, :-1]], axis=1)
        self.memory = np.where(now.fresh[:, None], pushed, self.memory)
        self.memory[now.fresh & (now.trial == 0)] = -1
        self.sums = np.where(now.fresh[:, None], 0, self.sums) + now.observations
        self.shown = np.where(self.within, self.sums, -np.inf).argmax(axis=1)
        remembered = np.arange(max(LAGS)) < self.rows[:, [2]]
        met = ((self.memory == self.shown[:, None]) & remembered).any(axis=1)
        return np.where(met, self.rows[:, 3], self.rows[:, 4])


class Waiter(Copying):
    """Waits, and answers unless a signal comes.

    Rows: the step of the window, the answer or -1 - the channel that is copied, first unit and
    unit after the last of the channel of the signal.
    """

    def __init__(self, bank: Bank, rows: np.ndarray, seed: int) -> None:
        super().__init__(bank, rows, seed)
        units = np.arange(bank.task.channels.size)
        self.within = (units >= rows[:, [2]]) & (units < rows[:, [3]])
        self.before = np.zeros((len(rows), len(units)))
        self.stopped = np.zeros(len(rows), bool)

    def __call__(self, now: Now) -> np.ndarray:
        opens = now.asked & (now.waited == 0)
        self.before = np.where(opens[:, None], now.observations, self.before)
        changed = (np.abs(now.observations - self.before) * self.within).max(axis=1) > 0.5
        self.stopped = (self.stopped & ~now.fresh) | (now.asked & changed)
        index = self.rows[:, 1]
        if (index < 0).any():
            shown = self.copies(now)
            index = np.where(index < 0, shown[self.all, np.maximum(-1 - index, 0)], index)
        given = now.asked & ~self.stopped & (now.waited == self.rows[:, 0])
        return self.bank.actions(now, index, given)


class Copied(Played):
    """Answers one slot rightly, and repeats this answer in the others. Rows: the slot."""

    told = True

    def __init__(self, bank: Bank, rows: np.ndarray, seed: int) -> None:
        super().__init__(bank, rows, seed)
        self.known = np.zeros(len(rows), int)

    def __call__(self, now: Now) -> np.ndarray:
        own = now.slot == self.rows[:, 0]
        table = self.bank.table[now.slot]
        right = (table == now.target[:, None]).argmax(axis=1)
        self.known = np.where(now.fresh, 0, self.known)
        self.known = np.where(now.asked & own, right, self.known)
        return self.bank.actions(now, self.known, now.asked)


class Reflex(Played):
    """Imitates the oracle from the current observation alone.

    Args:
        imitation: the policy that was fitted to the oracle's actions.
    """

    def __init__(self, imitation: Classifier, bank: Bank, rows: np.ndarray, seed: int) -> None:
        super().__init__(bank, rows, seed)
        self.imitation = imitation

    def __call__(self, now: Now) -> np.ndarray:
        return self.imitation(now.observations)


class Imitated(Played):
    """Plays the target, and remembers observations and actions."""

    told = True

    def __init__(self, bank: Bank, envs: int) -> None:
        super().__init__(bank, np.zeros((envs, 1), int), 0)
        self.seen: list[np.ndarray] = []
        self.done: list[np.ndarray] = []

    def __call__(self, now: Now) -> np.ndarray:
        self.seen.append(now.observations.copy())
        self.done.append(np.array(now.target))
        return now.target

    def fitted(self) -> Classifier:
        """Return a policy that was fitted to some of the steps."""
        seen, done = np.concatenate(self.seen), np.concatenate(self.done)
        rows = np.linspace(0, len(seen) - 1, min(len(seen), IMITATED)).astype(int)
        return best_policy(
            seen[rows].astype(float), np.eye(self.bank.task.actions.size)[done[rows]]
        )


class Several:
    """Plays a policy in each part of the envs."""

    told = True

    def __init__(self, parts: list[Played]) -> None:
        self.parts = parts
        ends = np.cumsum([len(one.rows) for one in parts])
        self.places = [
            slice(end - len(one.rows), end) for end, one in zip(ends, parts, strict=True)
        ]

    def __call__(self, now: Now) -> np.ndarray:
        return np.concatenate(
            [one(now.part(place)) for one, place in zip(self.parts, self.places, strict=True)]
        )


# ---------------------------------------------------------------------- families


class Family(NamedTuple):
    """A name, a class of policies, and its candidates (C, P).

    Attributes:
        near: returns candidates that are like one (1, P), where they are too many to play all.
    """

    name: str
    policy: Callable[[Bank, np.ndarray, int], Played]
    rows: np.ndarray
    near: Callable[[np.ndarray], np.ndarray] | None = None


def families(task: Task, bank: Bank, seed: int) -> Iterator[Family]:
    """Yield the families of policies that may earn something in this task."""
    none = np.zeros((1, bank.slots), int)
    yield Family("oracle", Oracle, none)
    if bank.rests:
        yield Family("rest", Played, none)
    answers = _answers(bank)
    yield Family("constant", Played, answers)
    yield Family("guess", Guess, none)
    yield Family("random", Anything, none)
    trial, window = window_steps(task, seed)
    if trial > 1:
        yield Family("clock", Clock, _clocks(answers, trial, window))
    if len(rhythms := _rhythms(bank, seed)):
        yield Family("rhythm", Rhythm, rhythms)
    if task.step_action is not None and not task.actions.continuous:
        yield Family(
            "sequence", Sequence, _sequences(task.actions.size, trial), _Near(task.actions.size)
        )
    if TaskView(task).hooks and not task.actions.continuous:
        imitated = Imitated(bank, 64)
        steps = TaskView(task).typical_steps
        play(task, imitated, 64, 8, min(16 * steps, 1500), seed)
        yield Family("reflex", partial(Reflex, imitated.fitted()), none)
    if bank.slots > 1 and not task.actions.continuous and not TaskView(task).hooks:
        yield Family("copied", Copied, np.arange(bank.slots)[:, None])
    if bank.rests and window > 1 and len(task.channels) > 1:
        copies = len(bank.copied()) if task.reads_outcomes else 0
        yield Family("waiter", Waiter, _waiters(bank, window, copies))
    if not TaskView(task).stateful or task.actions.continuous:
        return
    watch, steps = Watch(bank, 100), TaskView(task).typical_steps
    rounds = int(np.clip(20_000 // steps, 8, LEARNED // 100))
    play(task, watch, 100, rounds, 2 * rounds * steps, seed)
    yield Family("counter", Counter, _counters(bank, watch.trials()))
    yield Family("history", History, _after(bank, watch.trials()))
    if bank.size[0] - bank.first > 1:
        yield Family("winstay", WinStay, np.arange(bank.first, bank.size[0])[:, None])
    if len(remembered := _familiar(bank)):
        yield Family("familiar", Familiar, remembered)
    copied = bank.copied()
    if task.reads_outcomes and copied:
        names = [name for name, units in task.channels.items() if units in copied]
        for k, name in enumerate(names):
            yield Family(f"channel.{name}", Channel, np.array([[k]]))
        if len(names) > 1:
            orders = [list(one) for one in itertools.permutations(range(len(names)))][:24]
            yield Family("channel_counter", ChannelCounter, _blocks(orders))


class Watch(Played):
    """Plays the target, and remembers the right answers of all trials."""

    told = True

    def __init__(self, bank: Bank, envs: int) -> None:
        super().__init__(bank, np.zeros((envs, 1), int), 0)
        self.right, self.number = np.zeros((2, envs), int)
        self.found: list[np.ndarray] = []

    def __call__(self, now: Now) -> np.ndarray:
        ended = np.flatnonzero(now.fresh)
        if self.found or not now.fresh.all():
            self.found.append(np.stack([ended, self.number[ended], self.right[ended]], axis=1))
        self.right = np.where(now.fresh, 0, self.right)
        told = np.where(now.asked, self.bank.index_of(now.target), 0)
        self.right = np.maximum(self.right, told)
        self.number = now.trial
        return now.target

    def trials(self) -> np.ndarray:
        """Return (m, 3) env, number in the session, and right answer of the trials, by env."""
        found = np.concatenate([np.zeros((0, 3), int), *self.found])
        return found[np.argsort(found[:, 0], kind="stable")]


def window_steps(task: Task, seed: int) -> tuple[int, int]:
    """Return the steps of the longest trial, and of the longest window, on the oracle's path."""
    batch = task.sample(200, seed=seed)
    path = batch.first_round
    window = batch.table("window") & (path > 0)[:, :, None]
    steps = (path[:, :, None] * window).sum(axis=1)
    longest = int(steps.max(initial=0))
    return min(TaskView(task).max_steps, 1000), min(longest, 1000)


def _answers(bank: Bank) -> np.ndarray:
    """Return (C, K) fixed answers: all combinations of slots, or the same index in each."""
    options = [range(bank.first, size) for size in bank.size]
    if np.prod([len(one) for one in options]) <= 64:
        return np.array(list(itertools.product(*options))).reshape(-1, bank.slots)
    return np.repeat(np.arange(bank.first, bank.size.max())[:, None], bank.slots, axis=1)


def _clocks(answers: np.ndarray, trial: int, window: int) -> np.ndarray:
    """Return all steps and answers, of evenly spaced answers if they are too many."""
    times = np.array([(0, k) for k in range(trial)] + [(1, k) for k in range(window)])
    fits = max(CANDIDATES // len(times), 2)
    some = answers[np.linspace(0, len(answers) - 1, min(len(answers), fits)).astype(int)]
    return np.concatenate([np.repeat(times, len(some), axis=0), np.tile(some, (len(times), 1))], 1)


def _sequences(actions: int, trial: int) -> np.ndarray:
    """Return all short sequences of actions, and those that hold one action and then another.

    They are played where a hook gives actions their effect, as with a lever. Elsewhere an answer
    ends its window, so that a sequence earns as much as `Clock` does with its first answer, or
    `Rhythm` where windows are repeated.
    """
    found: list[tuple[int, ...]] = []
    for length in range(1, SEQUENCE + 1):
        if len(found) + actions**length > CANDIDATES:
            break
        found += itertools.product(range(actions), repeat=length)
    longest = min(trial, LONGEST)
    times = np.unique(np.geomspace(1, longest, RUNS).round().astype(int)).tolist()
    for first, then in itertools.permutations(range(actions), 2):
        for held, after in itertools.product(times, (1, 2, 5, longest)):
            found.append(((first,) * held + (then,) * after)[:longest])
    return _as_rows(dict.fromkeys(found))


def _as_rows(sequences: Iterable[tuple[int, ...]]) -> np.ndarray:
    """Return rows of `Sequence`."""
    return np.array([[len(one), *np.resize(one, LONGEST)] for one in sequences])


class _Near:
    """Sequences that differ from one in one or two actions, or have one or two more or fewer."""

    def __init__(self, actions: int) -> None:
        self.actions = range(actions)

    def __call__(self, row: np.ndarray) -> np.ndarray:
        one = tuple(row[0, 1 : 1 + row[0, 0]].tolist())
        near = self._one_edit(one)
        if len(one) <= SEQUENCE:
            near = dict.fromkeys((*near, *(two for edit in near for two in self._one_edit(edit))))
        fits = [edit for edit in near if 0 < len(edit) <= LONGEST]
        return _as_rows([one, *fits[:CANDIDATES]])

    def _one_edit(self, one: tuple[int, ...]) -> dict[tuple[int, ...], None]:
        found = []
        for at in range(len(one) + 1):
            found += [(*one[:at], action, *one[at:]) for action in self.actions]
            found.append((*one[:at], *one[at + 1 :]))
            found += [(*one[:at], action, *one[at + 1 :]) for action in self.actions]
        return dict.fromkeys(found)


def _rhythms(bank: Bank, seed: int) -> np.ndarray:
    """Return rhythms of up to four answers, if a trial repeats a period with a window."""
    batch = bank.task.sample(20, seed=seed)
    asks = batch.table("window").any(axis=(0, 2))
    periods = {batch.period_names[p] for p in batch.period[asks]}
    if not periods & TaskView(bank.task).repeated_periods:
        return np.zeros((0, 3), int)
    answers = list(itertools.permutations(range(bank.first, int(bank.size[0]))[:4], 2))
    return np.array([(times, *pair) for times in PERIODS for pair in answers]).reshape(-1, 3)


def _waiters(bank: Bank, window: int, copies: int) -> np.ndarray:
    steps = np.unique([window - 1, window - 2, *np.linspace(0, window - 1, 12).astype(int)])
    answers = [*range(bank.first, min(int(bank.size[0]), 9)), *range(-copies, 0)]
    signals = [(units.start, units.stop) for units in bank.channels.values()][:8]
    found = itertools.product(steps[steps >= 0], answers, signals)
    return np.array([(step, answer, *signal) for step, answer, signal in found])


def _counters(bank: Bank, trials: np.ndarray) -> np.ndarray:
    """Return counters that were learned, one of each period, and those that only alternate."""
    _, number, right = trials.T
    rows = []
    for period in PERIODS:
        counts = np.zeros((period, int(bank.size[0])))
        np.add.at(counts, (number % period, right), 1)
        rows.append([period, *np.resize(counts.argmax(axis=1), LONGEST)])
    some = list(range(bank.first, int(bank.size[0])))[:4]
    orders = [some[k:] + some[:k] for k in range(len(some))] if len(some) > 1 else []
    return np.concatenate([np.array(rows), *([_blocks(orders)] if orders else [])])


def _blocks(orders: list[list[int]]) -> np.ndarray:
    """Return counters that take the members of an order in turn, each for up to 30 trials."""
    rows = []
    for order in orders:
        for length in range(1, max(PERIODS) + 1):
            turn = np.repeat(order, length)[:LONGEST]
            rows.append([len(turn), *np.resize(turn, LONGEST)])
    return np.array(rows)


def _after(bank: Bank, trials: np.ndarray) -> np.ndarray:
    """Return the most frequent right answer after each right answer."""
    env, number, right = trials.T
    counts = np.zeros((int(bank.size[0]), int(bank.size[0])))
    pairs = (env[1:] == env[:-1]) & (number[1:] > 0)
    np.add.at(counts, (right[:-1][pairs], right[1:][pairs]), 1)
    counts[counts.sum(axis=1) == 0] = counts.sum(axis=0)
    return counts.argmax(axis=1)[None]


def _familiar(bank: Bank) -> np.ndarray:
    channels = [(units.start, units.stop) for units in bank.channels.values()
                if units.stop - units.start > 1][:4]  # fmt: skip
    answers = list(itertools.permutations(range(min(int(bank.size[0]), 4)), 2))
    found = itertools.product(channels, LAGS, answers)
    return np.array([(*units, lag, *pair) for units, lag, pair in found]).reshape(-1, 5)


__all__ = ["Family", "Several", "families"]
