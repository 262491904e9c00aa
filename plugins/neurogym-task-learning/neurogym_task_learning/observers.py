"""Ideal observers of the tasks, for the ideals of the manifest, and subjects that fall short.

They know the probabilities and hazards of their task, and learn all else from the observations, and
from their own actions and rewards."""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar

import numpy as np

from neurogym_core import Subject, TaskVectorEnv
from neurogym_task_learning.blocks import FOLLOWS, KINDS
from neurogym_task_learning.horizon import DIFFERENCES
from neurogym_task_learning.iowa_gambling import CARDS
from neurogym_task_learning.predictive_inference import LARGEST
from neurogym_task_learning.symbols import CHANCES


class _Learner(Subject):
    """Base of subjects that learn within a session, and forget all at its end."""

    forgets_trials: ClassVar[bool] = False
    """Whether it learns within a trial, and forgets all at the end of it."""

    def begin(self, env: TaskVectorEnv) -> None:
        n = env.num_envs
        self.rows = np.arange(n)
        self._action = np.zeros(n, int)
        self._trial = np.full(n, -1)
        self.forget(env.task, np.ones(n, bool))

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        seen = {name: observations[:, units] for name, units in env.task.channels.items()}
        ended, first = env.trial_number != self._trial, self._trial < 0
        if self.forgets_trials:
            over, learned = ended, ~ended
        else:
            length = env.task.trials_per_session
            over = ended & (env.trial_number % length == 0) if length else first
            learned = ended & ~over
        self.learn(env.task, seen, learned, env.last_reward)
        self.forget(env.task, over)
        self._trial = env.trial_number.copy()
        self._action = self.choose(env.task, seen)
        return self._action

    def forget(self, task, rows) -> None:
        """Begin a session of some envs, (n,) bool."""

    def learn(self, task, seen, ended, reward) -> None:
        """Learn from the last action and its reward, in some envs, (n,) bool: where it ended a
        trial of the session, or within a trial."""

    def choose(self, task, seen) -> np.ndarray:
        """Return the actions of a step, (n,), from the observations: channel -> (n, units)."""
        raise NotImplementedError

    def coin(self, left, right) -> np.ndarray:
        """Return which of two values is larger, 0 or 1, (n,); of equal ones, either."""
        tied = self.rng.integers(0, 2, len(left))
        return np.where(np.isclose(left, right, rtol=0, atol=1e-9), tied, right > left)


class WinStay(_Learner):
    """Repeats a choice that was rewarded, and else takes the other one: the next of several."""

    def forget(self, task, rows) -> None:
        if rows.all():
            self._next = np.zeros(len(rows), int)
        self._next[rows] = self.rng.integers(0, task.actions.size, rows.sum())

    def learn(self, task, seen, ended, reward) -> None:
        shifted = (self._action + (reward <= 0)) % task.actions.size
        self._next = np.where(ended, shifted, self._next)

    def choose(self, task, seen) -> np.ndarray:
        return self._next


class Alternation(_Learner):
    """Takes one side after the other, whatever it earns."""

    def choose(self, task, seen) -> np.ndarray:
        return self._trial % 2


# ---------------------------------------------------------------------- bandits, reversals


@lru_cache(maxsize=2)
def bandit_plan(trials: int) -> list[np.ndarray]:
    """Return the best arm of two with independent uniform probabilities.

    Dynamic programming over the counts of successes and failures.

    Returns:
        By trial, t -> (t + 1, t + 1, t + 1) bool by successes and failures of A and successes of B:
        whether B is the better arm to play. Entries with more than t trials have no meaning.
    """
    value, plan = np.zeros((trials + 1,) * 3), []
    for t in reversed(range(trials)):
        won, lost, other = np.indices((t + 1,) * 3, sparse=True)
        p = (won + 1) / (won + lost + 2)
        q = (other + 1) / (np.maximum(t - won - lost - other, 0) + other + 2)
        a = p * (1 + value[1:, :-1, :-1]) + (1 - p) * value[:-1, 1:, :-1]
        b = q * (1 + value[:-1, :-1, 1:]) + (1 - q) * value[:-1, :-1, :-1]
        value = np.maximum(a, b)
        plan.append(b > a)
    return plan[::-1]


class BanditPlanner(_Learner):
    """Plays the arm that Bayes' rule gives for the trials that are left."""

    def forget(self, task, rows) -> None:
        if rows.all():
            self.counts = np.zeros((len(rows), 2, 2), int)  # arm, failures and successes
        self.counts[rows] = 0

    def learn(self, task, seen, ended, reward) -> None:
        self.counts[self.rows, self._action, (reward > 0).astype(int)] += ended

    def choose(self, task, seen) -> np.ndarray:
        (lost, won), (other_lost, other) = self.counts[:, 0].T, self.counts[:, 1].T
        if task.arms != "independent":  # a reward of A counts as much as a failure of B
            return self.coin(won + other_lost, lost + other)
        plan, t = bandit_plan(task.trials_per_session), self.counts.sum(axis=(1, 2))
        states = zip(t, won, lost, other, strict=True)
        return np.array([int(plan[k][a, b, c]) for k, a, b, c in states])


class ReversalFilter(_Learner):
    """Follows the probability that the right side is better, by Bayes' rule."""

    def forget(self, task, rows) -> None:
        if rows.all():
            self.belief = np.full(len(rows), 0.5)
        self.belief[rows] = 0.5

    def learn(self, task, seen, ended, reward) -> None:
        worse, better = (np.where(reward > 0, p, 1 - p) for p in (task.p_worse, task.p_better))
        chosen = np.where(self._action == 1, self.belief, 1 - self.belief)  # is better
        chosen = chosen * better / (chosen * better + (1 - chosen) * worse)
        belief = np.where(self._action == 1, chosen, 1 - chosen)
        belief = belief + task.hazard * (1 - 2 * belief)
        self.belief = np.where(ended, belief, self.belief)

    def choose(self, task, seen) -> np.ndarray:
        return self.coin(1 - self.belief, self.belief)


class ObjectMemory(_Learner):
    """Remembers the rewarded object of the last trial."""

    def forget(self, task, rows) -> None:
        if rows.all():
            self.good = self.left = self.right = np.zeros((len(rows), task.features))

    def learn(self, task, seen, ended, reward) -> None:
        right = (self._action == 1) == (reward > 0)
        found = np.where(right[:, None], self.right, self.left)
        self.good = np.where(ended[:, None], found, self.good)

    def choose(self, task, seen) -> np.ndarray:
        self.left, self.right = seen["left"].copy(), seen["right"].copy()
        left, right = (np.isclose(self.good, side).all(axis=1) for side in (self.left, self.right))
        return self.coin(left, right)


# ---------------------------------------------------------------------- foraging


class ForagingFilter(_Learner):
    """Follows the kind of block, and how likely each side is armed, by Bayes' rule.

    A block ends with the same hazard in every trial, and sides stay armed if it does:
    both are approximations.
    """

    def forget(self, task, rows) -> None:
        if rows.all():
            self.kinds, self.turns = _kinds_of(task)
            self.belief = np.zeros((len(rows), len(self.kinds)))
            self.empty = np.ones((len(rows), len(self.kinds), 2))
        self.belief[rows] = 1 / len(self.kinds)
        self.empty[rows] = 1 - self.kinds

    def learn(self, task, seen, ended, reward) -> None:
        empty = self.empty[self.rows, :, self._action]
        belief = self.belief * np.where((reward > 0)[:, None], 1 - empty, empty)
        belief = (belief / belief.sum(axis=1, keepdims=True)) @ self.turns
        kept = (self._action[:, None] != (0, 1))[:, None] & task.baited
        empty = np.where(kept, self.empty, 1) * (1 - self.kinds)
        self.belief = np.where(ended[:, None], belief, self.belief)
        self.empty = np.where(ended[:, None, None], empty, self.empty)

    def choose(self, task, seen) -> np.ndarray:
        armed = (self.belief[:, :, None] * (1 - self.empty)).sum(axis=1)
        return self.coin(*armed.T)


def _kinds_of(task) -> tuple[np.ndarray, np.ndarray]:
    """Return the kinds of blocks, (k, 2), and their transitions per trial, (k, k)."""
    if not hasattr(task, "values"):
        return KINDS, _lazy(FOLLOWS, 1 / 57)
    least = min(task.values)
    kinds = [(p, q) for p in task.values for q in task.values if max(p, q) > least]
    one_changes = np.array([[(p != u) != (q != v) for u, v in kinds] for p, q in kinds])
    return np.array(kinds), _lazy(one_changes / one_changes.sum(axis=1, keepdims=True), 2 / 27.5)


def _lazy(follows: np.ndarray, hazard: float) -> np.ndarray:
    return (1 - hazard) * np.eye(len(follows)) + hazard * follows


# ---------------------------------------------------------------------- outcomes that are shown


class _Watcher(_Learner):
    """Base of subjects of tasks that show the outcome after the choice."""

    def learn(self, task, seen, ended, reward) -> None:
        shown = seen["offer"][:, 0] < 0.5
        if shown.any():
            self.watch(task, seen, shown)

    def watch(self, task, seen, shown) -> None:
        """Learn from the outcomes that are shown in some envs, (n,) bool."""
        raise NotImplementedError


class VolatilityFilter(_Watcher):
    """Follows the likelier colour, and whether the phase is volatile, by Bayes' rule.

    It assumes a constant hazard of the end of a phase, and of a reversal in the volatile one.
    """

    def forget(self, task, rows) -> None:
        if rows.all():
            blue = np.array((task.p_stable, task.p_volatile))
            self._blue = np.stack([1 - blue, blue], axis=1).ravel()
            reverses, ends = 1 / 35, 1 / 145
            swap = 1 - np.eye(2)
            stays = [np.eye(2), (1 - reverses) * np.eye(2) + reverses * swap]
            moved = np.full((2, 2), 0.5)  # the colour of a new phase may be either one
            self._turns = np.block([[(1 - ends) * stays[0], ends * moved],
                                    [ends * moved, (1 - ends) * stays[1]]])  # fmt: skip
            self.belief = np.full((len(rows), 4), 0.25)
        self.belief[rows] = 0.25

    def watch(self, task, seen, shown) -> None:
        blue = seen["right"][:, :1] > 0.5
        belief = self.belief * np.where(blue, self._blue, 1 - self._blue)
        belief = (belief / belief.sum(axis=1, keepdims=True)) @ self._turns
        self.belief = np.where(shown[:, None], belief, self.belief)

    def expected(self) -> np.ndarray:
        """Return the probability that blue is right, (n,)."""
        return self.belief @ self._blue

    def choose(self, task, seen) -> np.ndarray:
        p, points = self.expected(), seen["points"]
        return self.coin(p * points[:, 0], (1 - p) * points[:, 1])


class DeltaRule(VolatilityFilter):
    """Moves its probability of blue towards every outcome by the same share.

    Args:
        seed: seed of its choices between equal values.
        rate: the share; 0 ignores outcomes, so that points alone count.
    """

    def __init__(self, seed: int | None = 0, rate: float = 0.2) -> None:
        super().__init__(seed)
        self.rate = rate

    def forget(self, task, rows) -> None:
        if rows.all():
            self.belief = np.full(len(rows), 0.5)
        self.belief[rows] = 0.5

    def watch(self, task, seen, shown) -> None:
        moved = self.belief + self.rate * (seen["right"][:, 0] - self.belief)
        self.belief = np.where(shown, moved, self.belief)

    def expected(self) -> np.ndarray:
        return self.belief


class _Predictor(_Watcher):
    """Base of subjects that predict numbers; the number of the action is in the task's units."""

    def forget(self, task, rows) -> None:
        if rows.all():
            self.prediction = np.full(len(rows), LARGEST / 2)
        self.prediction[rows] = LARGEST / 2

    def choose(self, task, seen) -> np.ndarray:
        asked = np.where(seen["offer"][:, 0] > 0.5, 1.0, -1.0)
        return task.actions.from_task_units(np.stack([asked, self.prediction], axis=1))


class FixedRate(_Predictor):
    """Moves its prediction towards every number by the same share.

    Args:
        seed: unused.
        rate: the share; 1 repeats the last number.
    """

    def __init__(self, seed: int | None = 0, rate: float = 1.0) -> None:
        super().__init__(seed)
        self.rate = rate

    def watch(self, task, seen, shown) -> None:
        error = LARGEST * seen["number"][:, 0] - self.prediction
        self.prediction = np.where(shown, self.prediction + self.rate * error, self.prediction)


class ChangePointFilter(_Predictor):
    """Follows the mean and the time since its last change by Bayes' rule.

    It predicts the number that pays most on average.
    """

    def forget(self, task, rows) -> None:
        super().forget(task, rows)
        means = np.arange(LARGEST + 1)
        if rows.all():
            away = np.abs(means[:, None] - means)
            self._likely = np.exp(-0.5 * (away / task.sd) ** 2)
            self._likely /= self._likely.sum(axis=0)  # (number, mean)
            self._pay = np.clip(1 - away / 60, 0, 1)  # (prediction, number)
            self._worth = self._pay @ self._likely
            self.belief = np.zeros((len(rows), task.quiet + 1, len(means)))
        self.belief[rows] = 0
        self.belief[rows, 0] = 1 / len(means)

    def watch(self, task, seen, shown) -> None:
        number = np.rint(LARGEST * seen["number"][:, 0]).astype(int)
        after = self.belief * self._likely[number][:, None]
        after = after / after.sum(axis=(1, 2), keepdims=True)
        moved = np.zeros(after.shape)
        moved[:, 1:] = after[:, :-1]
        moved[:, -1] += (1 - task.hazard) * after[:, -1]
        moved[:, 0] += task.hazard * after[:, -1].sum(axis=1, keepdims=True) / after.shape[2]
        self.belief[shown] = moved[shown]
        best = (self.belief.sum(axis=1) @ self._worth.T).argmax(axis=1)
        self.prediction = np.where(shown, best, self.prediction)


# ---------------------------------------------------------------------- games, symbols, decks, jars


class MeanOfBandits(_Learner):
    """Prefers the bandit with the larger expected mean, in the games of Horizon.

    Args:
        seed: seed of its choices.
        bonus: points for the bandit that it played less, where the horizon is 6.
        noise: SD of the noise of the compared values, points, where the horizon is 1.
        more_noise: that where the horizon is 6.
    """

    forgets_trials = True

    def __init__(
        self, seed: int | None = 0, bonus: float = 0, noise: float = 0, more_noise: float = 0
    ) -> None:
        super().__init__(seed)
        self.bonus, self.noise, self.more_noise = bonus, noise, more_noise

    def forget(self, task, rows) -> None:
        if rows.all():
            one, gap = np.meshgrid((40, 60), (*DIFFERENCES, *(-d for d in DIFFERENCES)))
            pairs = np.stack([one.ravel(), (one + gap).ravel()], axis=1)
            self._means = np.concatenate([pairs, pairs[:, ::-1]])  # (40, 2)
            self._log = np.zeros((len(rows), len(self._means)))
            self._times = np.zeros((len(rows), 2))
            self._played, self._free = np.zeros(len(rows), int), ~rows
        self._log[rows], self._times[rows] = 0, 0

    def learn(self, task, seen, ended, reward) -> None:
        self._learn(self._played, 100 * reward, ended & self._free)

    def _learn(self, played, points, where) -> None:
        """Learn from the points of a bandit, (n,) each, in some envs, (n,) bool."""
        away = points[:, None] - self._means[:, played].T
        self._log -= where[:, None] * 0.5 * (away / 8) ** 2
        self._times[self.rows, played] += where

    def choose(self, task, seen) -> np.ndarray:
        self._free, imposed = seen["offer"][:, 0] > 0.5, seen["imposed"]
        self._learn(imposed.argmax(axis=1), 100 * imposed.max(axis=1), ~self._free)
        weight = np.exp(self._log - self._log.max(axis=1, keepdims=True))
        value = (weight / weight.sum(axis=1, keepdims=True)) @ self._means
        long = seen["horizon"][:, 1] > 0.5
        less = self._times < self._times.max(axis=1, keepdims=True)
        value = value + self.bonus * (less & long[:, None])
        spread = np.where(long, self.more_noise, self.noise)[:, None]
        value = value + spread * self.rng.standard_normal(value.shape)
        self._played = self.coin(*value.T)
        return self._played


class SymbolFilter(_Learner):
    """Counts how often each symbol was the rewarded one of its pair; prefers the larger chance.

    In training, without a reward the other symbol would have been rewarded.
    """

    def forget(self, task, rows) -> None:
        if rows.all():
            self._wins = np.zeros((len(rows), 6), int)
            self._partner = np.zeros((len(rows), 6), int)
            self._shown = np.zeros((len(rows), 2), int)
            self._trained = rows.copy()
        self._wins[rows] = 0
        self._partner[rows] = np.arange(6)

    def learn(self, task, seen, ended, reward) -> None:
        here = self.rows[ended & self._trained]
        paid = reward[here] > 0
        chosen = self._shown[here, self._action[here]]
        other = self._shown[here, 1 - self._action[here]]
        self._partner[here, chosen], self._partner[here, other] = other, chosen
        self._wins[here, np.where(paid, chosen, other)] += 1

    def choose(self, task, seen) -> np.ndarray:
        losses = np.take_along_axis(self._wins, self._partner, axis=1)
        log = self._wins[:, :, None] * np.log(CHANCES) + losses[:, :, None] * np.log(1 - CHANCES)
        weight = np.exp(log - log.max(axis=2, keepdims=True))
        expected = (weight @ CHANCES) / weight.sum(axis=2)
        self._shown = np.stack([seen[side].argmax(axis=1) for side in ("left", "right")], axis=1)
        self._trained = seen["test"][:, 0] < 0.5
        return self.coin(*np.take_along_axis(expected, self._shown, axis=1).T)


class CardReader(_Learner):
    """Knows the decks but not their places; takes a deck that gains, as soon as a card shows it."""

    def forget(self, task, rows) -> None:
        if rows.all():
            self._good = np.full((len(rows), 4), 0.5)
        self._good[rows] = 0.5

    def learn(self, task, seen, ended, reward) -> None:
        gains = np.isclose(1000 * reward[:, None], np.unique(CARDS[2:])).any(axis=1)
        self._good[self.rows[ended], self._action[ended]] = gains[ended]

    def choose(self, task, seen) -> np.ndarray:
        return (self._good + 1e-3 * self.rng.random(self._good.shape)).argmax(axis=1)


class BeadCounter(_Learner):
    """Names a jar when drawing no longer pays, by dynamic programming over the beads.

    Args:
        seed: unused.
        lead: names the leading colour at this lead, or at the last bead; None: when it pays.
    """

    forgets_trials = True

    def __init__(self, seed: int | None = 0, lead: int | None = None) -> None:
        super().__init__(seed)
        self.lead = lead

    def forget(self, task, rows) -> None:
        if rows.all():
            self._lead, self._beads = np.zeros((2, len(rows)), int)
            self._stops = bead_plan(task.share, task.cost, task.most)
        self._lead[rows] = self._beads[rows] = 0

    def choose(self, task, seen) -> np.ndarray:
        self._beads += 1
        self._lead += np.rint(seen["bead"][:, 1] - seen["bead"][:, 0]).astype(int)
        lead = np.abs(self._lead)
        if self.lead is None:
            stops = self._stops[np.minimum(self._beads, task.most), lead]
        else:
            stops = (lead >= self.lead) | (self._beads == task.most)
        return np.where(stops, 1 + self.coin(-self._lead, self._lead), 0)


@lru_cache(maxsize=8)
def bead_plan(share: float, cost: float, most: int) -> np.ndarray:
    """Return after how many beads, and at which lead, naming a jar is best: (beads, lead) bool."""
    lead = np.arange(most + 2)
    odds = (share / (1 - share)) ** lead.astype(float) if share < 1 else np.where(lead, np.inf, 1)
    right = np.where(np.isinf(odds), 1, odds / (1 + odds))
    value, stops = right - cost * most, np.ones((most + 1, most + 2), bool)
    for beads in reversed(range(1, most)):
        up = right * share + (1 - right) * (1 - share)
        more = np.append(up[:-1] * value[1:] + (1 - up[:-1]) * value[np.abs(lead[:-1] - 1)], -1)
        now = right - cost * beads
        stops[beads], value = now >= more, np.maximum(now, more)
    return stops


__all__ = [
    "Alternation", "BanditPlanner", "BeadCounter", "CardReader", "ChangePointFilter", "DeltaRule",
    "FixedRate", "ForagingFilter", "MeanOfBandits", "ObjectMemory", "ReversalFilter",
    "SymbolFilter", "VolatilityFilter", "WinStay",
]  # fmt: skip
