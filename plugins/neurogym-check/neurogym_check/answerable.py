"""Pairs of trials that look the same and want different answers.

Trials are compared without noise, up to the last moment at which they can be answered. Of those
that differ in noisy units only, `d'` says how well the best observer, one that knows both trials,
distinguishes them: d'^2 is the sum of (difference / SD)^2 over steps and units.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from neurogym_core import Distribution, Outcome, Task, TaskWrapper, TrialBatch, TrialBuilder
from neurogym_core.players import TaskView, TrialsOnce

ROUNDING = 1e-5
"""Largest difference between noiseless observations, or targets, that counts as rounding."""
SAME = 1e-3
"""Largest d' of trials that count as looking the same; an observer is right in 50.02 %."""
LOOKS = ("rest", "random", "random", 0, 1, 2, 3)
"""Actions with which all trials of a task with hooks are looked at; numbers: those with which the
oracle plays the longest, the second longest … of some trials.
"""
OF = 64
"""Number of these trials."""
LONGEST = 4000
"""Steps after which such a look ends."""


@dataclass(frozen=True, eq=False)
class Question:
    """One question of trials: observations before the answer, and the right answers.

    Attributes:
        name: name of the slot, or "target".
        rows: (m,) the trials of the batch that ask it.
        steps: (m,) steps until its last moment, of all looks together.
        until: (m,) steps until its last moment.
        seen: (steps of all, U) observations without noise, trial after trial.
        sd: (steps of all, U) SD of their noise.
        differ: (rows, rows) of `rows` -> whether no answer is right in both trials, (a, b).
        answer: index into `rows` -> the right answer in words.
        values: (m, D) the right answers as numbers, for readers.
    """

    name: str
    rows: np.ndarray
    steps: np.ndarray
    until: np.ndarray
    seen: np.ndarray
    sd: np.ndarray
    differ: Callable[[np.ndarray, np.ndarray], np.ndarray]
    answer: Callable[[int], str]
    values: np.ndarray


@dataclass(frozen=True, eq=False)
class Twins:
    """Each trial of a question with the one that looks most like it and wants another answer.

    Attributes:
        question: the question.
        other: (m,) index into its rows; -1: no trial that differs in noisy units only wants
            another answer.
        d: (m,) d' of the two; inf where there is no other.
        compared: (m,) whether some trial differs in noisy units only, or in nothing.
    """

    question: Question
    other: np.ndarray
    d: np.ndarray
    compared: np.ndarray


class Quiet(TaskWrapper):
    """The task without noise."""

    def new_trial(self, trial: TrialBuilder) -> None:
        super().new_trial(trial)
        for show in trial.layout.shows:
            show.noise = 0.0


def designs(task: Task, seed: int) -> Iterator[dict[str, Any]]:
    """Yield the imposed values of each design: none, then those of most conditions.

    In the latter, durations and conditions with many values are those of one trial, so that trials
    repeat. Where `draw` or a function computes conditions, such trials may not exist.
    """
    yield {}
    view = TaskView(task)
    if view.stateful:
        return
    one = task.sample(1, seed=seed)
    held = {
        name: one.conditions[name][0]
        for name, spec in view.distributions.items()
        if isinstance(spec, Distribution) and spec.support() is None
    }
    for name in task.timing:
        known = name in view.period_names and name not in one.untimed
        if known and f"duration.{name}" not in view.imposed:
            held[f"duration.{name}"] = float(one.period_steps[name][0] * task.dt)
    if held:
        yield held


def questions(task: Task, batch: TrialBatch, quiet: TrialBatch) -> Iterator[Question]:
    """Yield the questions of trials that each are the first of a session.

    `quiet` are the same trials without noise, which tasks with hooks play.
    """
    looked = _played(task, batch, quiet) if TaskView(task).hooks else None
    slots = batch.tables.slots.names
    path = batch.first_round
    window = batch.table("window") & (path > 0)[:, :, None]
    asked = batch.table("asked") & window.any(axis=1)
    for k, name in enumerate(slots):
        rows = np.flatnonzero(asked[:, k])
        if not len(rows):
            continue
        if looked is None:
            last = window.shape[1] - 1 - window[rows, ::-1, k].argmax(axis=1)
            cut = np.where(np.arange(path.shape[1]) <= last[:, None], path[rows], 0)
            seen, sd = _rendered(batch.take(rows), cut)
            steps = until = cut.sum(axis=1)
        else:
            steps, seen, sd = looked.of(rows)
            until = looked.until[rows]
        yield Question(name, rows, steps, until, seen, sd, *_answers(task, batch, rows, k))
    if slots:
        return
    rows = np.arange(len(batch))
    if looked is None:
        steps, targets = path.sum(axis=1), batch.render_targets(path)
        until = steps
        seen, sd = _rendered(batch, path)
    else:
        (steps, seen, sd), targets, until = looked.of(rows), looked.targets, looked.until
    yield Question("target", rows, steps, until, seen, sd, *_courses(task, targets, steps))


def _rendered(batch: TrialBatch, path: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return observations without noise and the SD of their noise, (steps of all, U)."""
    sd = np.repeat(batch.noise.reshape(-1, batch.noise.shape[2]), path.ravel(), axis=0)
    return batch.render(None, path), sd


# ---------------------------------------------------------------------- right answers

_Answers = tuple[Callable[[np.ndarray, np.ndarray], np.ndarray], Callable[[int], str], np.ndarray]
"""`differ`, `answer` and `values` of a question."""


def _answers(task: Task, batch: TrialBatch, rows: np.ndarray, k: int) -> _Answers:
    """Return the answers of a slot."""
    due, tolerance = batch.table("due")[rows, k], batch.table("tolerance")[rows, k]
    if np.isfinite(due).any():
        opening = _opening(batch, rows, k) * task.dt

        def at_other_times(a: np.ndarray, b: np.ndarray) -> np.ndarray:
            apart = np.abs(opening[a] + due[a] - opening[b] - due[b])
            return np.asarray(apart > tolerance[a] + tolerance[b] + 1e-6)

        return at_other_times, lambda row: f"{due[row]:g} ms after the opening", due[:, None]
    if task.actions.continuous:
        aim, part = batch.table("aim")[rows, k], batch.tables.slots.units[k]
        # An answer that pays by its distance may have no limit: some is right in both.
        limit = np.where(np.isfinite(tolerance), tolerance, 0)
        silent = batch.table("miss_outcome")[rows, k] == Outcome.CORRECT

        def elsewhere(a: np.ndarray, b: np.ndarray) -> np.ndarray:
            apart = np.sqrt((task.actions.errors(aim[a], aim[b], part) ** 2).sum(axis=-1))
            far = (apart > limit[a] + limit[b] + ROUNDING) & ~(silent[a] & silent[b])
            return np.asarray(far | (silent[a] != silent[b]))

        def named(row: int) -> str:
            return "no answer" if silent[row] else f"{np.round(aim[row], 3).tolist()}"

        return elsewhere, named, aim
    right = right_actions(task, batch, rows, k)
    labels = [*task.actions.labels(), "no answer"]

    def other_actions(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.asarray(~(right[a] & right[b]).any(axis=-1))

    return other_actions, lambda row: " or ".join(np.array(labels)[right[row]]), right * 1.0


def right_actions(task: Task, batch: TrialBatch, rows: np.ndarray, k: int) -> np.ndarray:
    """Return (m, A + 1) whether each action, or no answer, is the best one in some segment."""
    window = batch.table("window")[rows, :, k] & (batch.duration[rows] > 0)
    answers = (batch.table("slot")[rows] == k) & window[:, :, None]
    score = np.where(answers, batch.table("score")[rows], -np.inf)
    best = score.max(axis=2, keepdims=True)
    actions = (answers & (score >= best - 1e-9) & (best > 0)).any(axis=1)
    silent = batch.table("miss_outcome")[rows, k] == Outcome.CORRECT
    found = np.concatenate([actions, silent[:, None]], axis=1)
    found[~found.any(axis=1)] = True  # nothing is right, so nothing need be known
    return found


def _opening(batch: TrialBatch, rows: np.ndarray, k: int) -> np.ndarray:
    """Return (m,) the step on which the window of a slot opens."""
    path = batch.first_round[rows]
    first = (batch.table("window")[rows, :, k] & (path > 0)).argmax(axis=1)
    return np.asarray((np.cumsum(path, axis=1) - path)[np.arange(len(rows)), first])


def _courses(task: Task, targets: np.ndarray, steps: np.ndarray) -> _Answers:
    """Return the answers of tasks without slots: the targets of all steps."""
    ends = np.cumsum(steps)
    continuous = task.actions.continuous

    def differ(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        # Only trials of equal length are compared.
        a, b = np.broadcast_arrays(a, b)
        found = np.zeros(a.shape, bool)
        for place in np.ndindex(a.shape):
            one, other = (
                targets[ends[row] - steps[row] : ends[row]] for row in (a[place], b[place])
            )
            if continuous:
                apart = task.actions.errors(one, other, slice(0, task.actions.size))
                found[place] = (np.abs(apart) > 0.02 * task.actions.ranges()).any()
            else:
                found[place] = (one != other).any()
        return found

    means = np.array(
        [np.mean(targets[end - n : end], axis=0) for end, n in zip(ends, steps, strict=True)]
    )
    return differ, lambda row: "its targets", means.reshape(len(steps), -1)


# ---------------------------------------------------------------------- tasks with hooks


@dataclass(frozen=True, eq=False)
class _Looked:
    """Trials as they look while the same actions are played in all; (n,) lists of arrays.

    `until` are the steps of the first look.
    """

    until: np.ndarray
    seen: list[np.ndarray]
    sd: list[np.ndarray]
    course: list[np.ndarray]

    def of(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return steps, observations and SDs of some trials; see `Question`."""
        steps = np.array([len(self.seen[row]) for row in rows])
        return (
            steps,
            np.concatenate([self.seen[row] for row in rows]),
            np.concatenate([self.sd[row] for row in rows]),
        )

    @property
    def targets(self) -> np.ndarray:
        """The targets of all steps, trial after trial."""
        return np.concatenate(self.course)


def _played(task: Task, batch: TrialBatch, quiet: TrialBatch) -> _Looked:
    """Return how trials look under sequences of actions that do not depend on them.

    Where hooks show the effects of actions, the oracle's would tell the answer: those of one trial
    are played in all. Trials are looked at up to the last step on which an answer is asked.
    """
    n, until = len(batch), np.zeros(len(batch), int)
    oracle = _actions_of_oracle(task, quiet.take(np.arange(min(OF, n))))
    parts: list[tuple[list[np.ndarray], ...]] = [([], [], []) for _ in range(n)]
    for number, look in enumerate(LOOKS):
        actions = _sequence(task, look, oracle)
        stepper = TrialsOnce(task, quiet)
        seen, sd, course, asked = [], [], [], []
        while stepper.running.any() and len(seen) < LONGEST:
            asked.append(stepper.running & (stepper.is_asked() | (not batch.tables.n_slots)))
            seen.append(stepper.observations())
            sd.append(batch.tables.sd[stepper.state("type"), stepper.state("segment")])
            course.append(stepper.targets())
            _step(stepper, np.repeat(next(actions)[None], n, axis=0))
        open_ = np.array(asked)
        steps = np.where(open_.any(axis=0), len(open_) - open_[::-1].argmax(axis=0), 0)
        until = until if number else steps
        for part, columns in enumerate((seen, sd, course)):
            values = np.array(columns)
            for row in range(n):
                parts[row][part].append(values[: steps[row], row])
    return _Looked(
        until, *(list(map(np.concatenate, column)) for column in zip(*parts, strict=True))
    )


def _step(stepper: TrialsOnce, actions: np.ndarray) -> None:
    """Play a step in the trials that have not ended."""
    stepper.kernel.set("waiting", (~stepper.running).astype(np.int64))
    stepper.step(actions)


def _actions_of_oracle(task: Task, trials: TrialBatch) -> list[np.ndarray]:
    """Return (steps, m[, k]) the actions with which the oracle plays m trials, longest first."""
    stepper, actions = TrialsOnce(task, trials), []
    played = np.zeros(len(trials), int)
    while stepper.running.any() and len(actions) < LONGEST:
        played += stepper.running
        actions.append(stepper.targets())
        _step(stepper, actions[-1])
    order = np.argsort(-played, kind="stable")
    return [step[order] for step in actions]


def _sequence(task: Task, look: str | int, oracle: list[np.ndarray]) -> Iterator[np.ndarray]:
    """Yield actions, () or (k,); after those of the oracle, rest."""
    declared, rng = task.actions, np.random.default_rng(len(oracle))
    if isinstance(look, int):
        yield from (step[look % len(step)] for step in oracle)
    continuous = declared.continuous
    rest = declared.from_task_units(declared.rest_value) if continuous else declared.rest or 0
    while True:
        if look != "random":
            yield np.asarray(rest)
        elif continuous:
            yield rng.uniform(-1, 1, declared.size)
        else:
            yield np.asarray(rng.integers(declared.size))


# ---------------------------------------------------------------------- twins


def twins(question: Question) -> Twins:
    """Return the most similar trial of each one that wants another answer."""
    m = len(question.rows)
    other, d, compared = np.full(m, -1), np.full(m, np.inf), np.zeros(m, bool)
    for members, noisy in _groups(question):
        compared[members] = True
        for part in np.array_split(np.arange(len(members)), max(len(members) // 256, 1)):
            differ = question.differ(members[part][:, None], members[None, :])
            if not differ.any():
                continue
            square = (
                (noisy[part] ** 2).sum(axis=1)[:, None]
                + (noisy**2).sum(axis=1)
                - 2 * noisy[part] @ noisy.T
            )
            distance = np.where(differ, np.sqrt(np.maximum(square, 0)), np.inf)
            nearest = distance.argmin(axis=1)
            d[members[part]] = distance[np.arange(len(part)), nearest]
            other[members[part]] = np.where(np.isfinite(d[members[part]]), members[nearest], -1)
    return Twins(question, other, d, compared)


def _groups(question: Question) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield trials that differ in noisy units only, (m,), and these divided by their SD, (m, …)."""
    ends = np.cumsum(question.steps)
    known: dict[bytes, list[int]] = {}
    for row, (end, steps) in enumerate(zip(ends, question.steps, strict=True)):
        seen, sd = question.seen[end - steps : end], question.sd[end - steps : end]
        clear = np.round(np.where(sd > 0, 0, seen) / ROUNDING).astype(np.int64)
        key = clear.tobytes() + sd.astype(np.float32).tobytes()
        known.setdefault(key, []).append(row)
    for rows in known.values():
        members, steps = np.array(rows), question.steps[rows[0]]
        if len(members) < 2:
            continue
        at = (ends[members] - steps)[:, None] + np.arange(steps)
        sd = question.sd[at[0]]
        places = sd > 0
        noisy = question.seen[at][:, places].astype(np.float64) / sd[places]
        yield members, noisy - noisy.mean(axis=0)


# ---------------------------------------------------------------------- readers


def read_out(question: Question) -> float:
    """Return how well the answers can be read from half of the trials in the other half.

    The larger one of two readers' correlations: of the most similar trial, and of a line through
    the observations' sums over time, and their products with time and its square. It is 0 where all
    trials want the same answer.
    """
    answers = question.values[:, np.ptp(question.values, axis=0) > ROUNDING]
    m, units = len(question.rows), question.seen.shape[1]
    if not answers.shape[1] or m < 4:
        return 0.0
    looks = np.zeros((m, int(question.steps.max()), units), np.float32)
    looks[np.arange(looks.shape[1]) < question.steps[:, None]] = question.seen
    time = np.linspace(-1, 1, looks.shape[1])[:, None]
    moments = [(looks * time**power).sum(axis=1) for power in range(3)]
    sums = np.column_stack([*moments, question.steps, np.ones(m)])
    known, asked = np.arange(m) % 2 == 0, np.arange(m) % 2 == 1
    flat = looks.reshape(m, -1)
    square = (flat[known] ** 2).sum(axis=1) - 2 * flat[asked] @ flat[known].T
    nearest = answers[known][square.argmin(axis=1)]
    line = sums[asked] @ np.linalg.lstsq(sums[known], answers[known], rcond=1e-6)[0]
    return max(_correlation(said, answers[asked]) for said in (nearest, line))


def _correlation(said: np.ndarray, right: np.ndarray) -> float:
    """Return the correlation of two tables, (m, D), after the mean of each column is removed."""
    said, right = said - said.mean(axis=0), right - right.mean(axis=0)
    size = np.sqrt((said**2).sum() * (right**2).sum())
    return float((said * right).sum() / size) if size > 0 else 0.0
