"""Best known policies, for the ideals of the manifest.

They know the probabilities and rules of their task, and see observations, their own choices and
rewards."""

from __future__ import annotations

import numpy as np

from neurogym_core import Subject, TaskVectorEnv
from neurogym_task_value.opponent import Opponent
from neurogym_task_value.self_initiated_choice import BLOCKS, CENTRE

LEVELS = 41
"""Levels of a reward probability that is filtered on a grid."""
LAST = 20
"""Choices of SelfInitiatedChoice that are counted for a change of the block."""


class _Learner(Subject):
    """Base of subjects that learn from trials as they end, until their session ends."""

    def begin(self, env: TaskVectorEnv) -> None:
        self.trial = np.full(env.num_envs, -1)
        self.forget(env, np.ones(env.num_envs, bool))

    def next_trial(self, env: TaskVectorEnv) -> np.ndarray:
        """Learn where a trial has begun, and return where, (n,) bool."""
        begun = env.trial_number != self.trial
        ended = begun & (self.trial >= 0)
        self.trial = env.trial_number.copy()
        if ended.any():
            self.learn(env, ended)
        fresh = begun & (env.trial_number % env.task.trials_per_session == 0)
        if fresh.any():
            self.forget(env, fresh)
        return begun

    def forget(self, env: TaskVectorEnv, fresh: np.ndarray) -> None:
        """Forget the last session, where another one begins; at first, everywhere."""
        raise NotImplementedError

    def learn(self, env: TaskVectorEnv, ended: np.ndarray) -> None:
        """Learn from `env.last_reward`, where a trial has ended."""
        raise NotImplementedError


class SideFilter(_Learner):
    """Of ProbabilisticReversal: Bayes' rule, and the side that is probably the better one.

    Its belief, (n, 2, criterion + 1), is about the better side and the number of correct choices in
    a row.
    """

    def forget(self, env: TaskVectorEnv, fresh: np.ndarray) -> None:
        if fresh.all():
            self.belief = np.zeros((env.num_envs, 2, env.task.criterion + 1))
            self.side = np.zeros(env.num_envs, int)
        self.belief[fresh] = 0
        self.belief[fresh, :, 0] = 0.5

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        self.next_trial(env)
        self.side = self.belief.sum(axis=2).argmax(axis=1)
        return self.side

    def learn(self, env: TaskVectorEnv, ended: np.ndarray) -> None:
        won, rows, hazard = env.last_reward > 0, np.arange(env.num_envs), env.task.hazard
        worse, better = (
            np.where(won, p, 1 - p)[:, None] for p in (env.task.p_worse, env.task.p_better)
        )
        chosen = self.belief[rows, self.side] * better
        other = self.belief[rows, 1 - self.side] * worse
        reached = chosen[:, -2] + chosen[:, -1]
        stays = np.column_stack([0 * reached, chosen[:, :-2], reached * (1 - hazard)])
        leaves = np.zeros_like(other)
        leaves[:, 0] = other.sum(axis=1) + reached * hazard
        self.belief[rows, self.side], self.belief[rows, 1 - self.side] = stays, leaves
        self.belief /= self.belief.sum(axis=(1, 2), keepdims=True)


class Counterpart(_Learner):
    """Of MatchingPennies: computes the prediction of the opponent, and makes the same choice.

    It keeps the opponent's own tables. Where the opponent chooses at random, it changes sides:
    other rules for such trials, which depend on its last choice and outcome, win as often.
    """

    def forget(self, env: TaskVectorEnv, fresh: np.ndarray) -> None:
        if fresh.all():
            self.opponent = Opponent(env.task.algorithm, env.task.significance)
            self.memory = _Memory(env.num_envs)
            self.side = np.zeros(env.num_envs, int)
            self.opponent.forget(self.memory)
        new = _Memory(env.num_envs)
        self.opponent.forget(new)
        for name, values in vars(new).items():
            if name != "n":
                getattr(self.memory, name)[fresh] = values[fresh]

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        self.next_trial(env)
        bias = self.opponent.bias(self.memory)
        self.side = np.where(bias == 0.5, 1 - self.side, bias > 0.5)
        return self.side

    def learn(self, env: TaskVectorEnv, ended: np.ndarray) -> None:
        self.opponent.learn(self.memory, self.side, env.last_reward > 0, where=ended)


class _Memory:
    """The attributes that an `Opponent` keeps of n sessions."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __len__(self) -> int:
        return self.n


class ArmFilter(_Learner):
    """Of DriftingBandit: a Kalman filter for each arm, and a bonus for arms that it knows less.

    Args:
        bonus: of an arm, in SDs of its mean; the default is the best of a grid.
    """

    def __init__(self, bonus: float = 1.0, seed: int | None = 0) -> None:
        super().__init__(seed)
        self.bonus = bonus

    def forget(self, env: TaskVectorEnv, fresh: np.ndarray) -> None:
        task = env.task
        if fresh.all():
            self.mean, self.variance = np.zeros((2, env.num_envs, task.arms))
            self.arm = np.zeros(env.num_envs, int)
        self.mean[fresh], self.variance[fresh] = task.centre, task.drift**2 / (1 - task.decay**2)

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        self.next_trial(env)
        self.arm = (self.mean + self.bonus * np.sqrt(self.variance)).argmax(axis=1)
        return self.arm

    def learn(self, env: TaskVectorEnv, ended: np.ndarray) -> None:
        task, at = env.task, (np.arange(env.num_envs), self.arm)
        gain = self.variance[at] / (self.variance[at] + task.scatter_sd**2)
        self.mean[at] += gain * (100 * env.last_reward - self.mean[at])
        self.variance[at] *= 1 - gain
        self.mean = task.decay * self.mean + (1 - task.decay) * task.centre
        self.variance = task.decay**2 * self.variance + task.drift**2


class Planner(_Learner):
    """Of DawTwoStep: Bayes' rule for each reward probability, and plans with the transitions."""

    def begin(self, env: TaskVectorEnv) -> None:
        low, high = env.task.mirrors
        self.levels = np.linspace(low, high, LEVELS)
        apart = self.levels[:, None] - self.levels
        images = (apart, self.levels[:, None] + self.levels - 2 * low,
                  self.levels[:, None] + self.levels - 2 * high)  # fmt: skip
        self.drifts = sum(np.exp(-((one / env.task.drift) ** 2) / 2) for one in images)
        self.drifts /= self.drifts.sum(axis=1, keepdims=True)
        super().begin(env)

    def forget(self, env: TaskVectorEnv, fresh: np.ndarray) -> None:
        if fresh.all():
            self.belief = np.zeros((env.num_envs, 4, LEVELS))
            self.option = np.zeros(env.num_envs, int)  # of the four of the second stage
        self.belief[fresh] = 1 / LEVELS

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        self.next_trial(env)
        expected = (self.belief @ self.levels).reshape(-1, 2, 2)  # (n, state, option)
        best = expected.max(axis=2)
        likely = best[:, 1] > best[:, 0]
        goal = likely == (env.task.common_probability >= 0.5)
        state = observations[:, env.task.channels["state"]]
        reached, rows = state.argmax(axis=1), np.arange(len(state))
        second = expected[rows, reached].argmax(axis=1)
        there = state.any(axis=1)
        self.option = np.where(there, 2 * reached + second, self.option)
        return np.where(there, second, goal)

    def learn(self, env: TaskVectorEnv, ended: np.ndarray) -> None:
        rows = np.flatnonzero(ended)
        won = env.last_reward[rows, None] > 0
        self.belief[rows, self.option[rows]] *= np.where(won, self.levels, 1 - self.levels)
        self.belief[rows] /= self.belief[rows].sum(axis=2, keepdims=True)
        self.belief[rows] = self.belief[rows] @ self.drifts


class HoleFilter(_Learner):
    """Of SelfInitiatedChoice: starts at once, and chooses by Bayes' rule over the four blocks.

    It counts for each block the choices of its better hole since the last change that it noticed.
    A block may have changed if enough of the last choices went to its better hole.
    """

    def begin(self, env: TaskVectorEnv) -> None:
        self.pays = np.array(BLOCKS)
        super().begin(env)

    def forget(self, env: TaskVectorEnv, fresh: np.ndarray) -> None:
        if fresh.all():
            n = env.num_envs
            # Hypotheses: a block, and which of the last choices, if any, counted as better.
            self.belief, self.hits = np.zeros((n, 4)), np.full((n, 4, LAST), -1)
            self.side = np.zeros(n, int)
            self.free, self.won = np.zeros((2, n), bool)
        self.belief[fresh], self.hits[fresh] = 1 / 4, -1

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        begun = self.next_trial(env)
        self.free &= ~begun
        tone = observations[:, env.task.channels["tone"]]
        feedback = observations[:, env.task.channels["feedback"]] > 0.5
        shown = feedback.any(axis=1)
        self.won = np.where(shown, feedback[:, 0], self.won)
        asked = (tone[:, 0] > 0.5) & ~self.free
        worth = self.belief @ self.pays
        self.side = np.where(asked, worth.argmax(axis=1), self.side)
        self.free |= asked
        quiet = ~tone.any(axis=1) & ~shown & ~self.free
        return np.where(asked, 2 + self.side, np.where(quiet, CENTRE, 0))

    def learn(self, env: TaskVectorEnv, ended: np.ndarray) -> None:
        rows = np.flatnonzero(ended & self.free)
        if not len(rows):
            return
        side, won = self.side[rows], self.won[rows]
        p = self.pays[:, side].T  # (rows, 4)
        belief = self.belief[rows] * np.where(won[:, None], p, 1 - p)
        belief /= belief.sum(axis=1, keepdims=True)
        better = self.pays.argmax(axis=1) == side[:, None]
        hits = np.concatenate([self.hits[rows, :, 1:], better[:, :, None]], axis=2)
        over = (hits.min(axis=2) >= 0) & (hits.sum(axis=2) >= 0.8 * LAST)
        leaves = belief * over
        belief = belief - leaves + (leaves.sum(axis=1, keepdims=True) - leaves) / 3
        # A block that may have begun has no choices yet: its count goes on if it probably had.
        came = (leaves.sum(axis=1, keepdims=True) - leaves) / 3 > belief / 2
        hits[over | came] = -1
        self.belief[rows], self.hits[rows] = belief, hits


__all__ = ["ArmFilter", "Counterpart", "HoleFilter", "Planner", "SideFilter"]
