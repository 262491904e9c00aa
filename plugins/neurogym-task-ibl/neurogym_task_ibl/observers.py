"""Ideal observers of the tasks in blocks, which give the ideals of the manifest.

They know the probabilities of their task, and see observations, their own choices and rewards."""

from __future__ import annotations

import numpy as np

from neurogym_core import Subject, TaskVectorEnv
from neurogym_task_ibl.blocks import Blocks

DRAWN = 200_000
"""Block lengths that are drawn to learn their distribution."""
SURE = 0.9995
"""Probability of a side, or of an invisible grating, at which an observer stops looking."""
LONGEST = 20_000
"""Longest look, ms."""


class _BlockFilter:
    """The probability of the left side, by Bayes' rule over the block and its age.

    Args:
        blocks: the rule of the blocks.
        n: number of sessions.
    """

    def __init__(self, blocks: Blocks, n: int) -> None:
        lengths = np.rint(blocks.length.sample(np.random.default_rng(0), DRAWN)).astype(int)
        ends = np.bincount(lengths) / DRAWN
        left = 1 - np.cumsum(ends) + ends
        self.hazard = np.divide(ends, left, out=np.ones_like(ends), where=left > 1e-9)
        self.priors, self.unbiased = np.array(blocks.priors), blocks.unbiased
        self.state = np.zeros((n, len(self.priors), len(ends)))

    def begin(self, rows: np.ndarray, number: np.ndarray) -> np.ndarray:
        """Return the probability of the left side, (n,), in trials that begin, rows (m,)."""
        state = self.state[rows]
        over = (state * self.hazard).sum(axis=2)
        others = len(self.priors) - 1  # a single prior follows itself
        fresh = (over.sum(axis=1, keepdims=True) - over) / others if others else over
        state = state * (1 - self.hazard)
        state[:, :, 1:], state[:, :, 0] = state[:, :, :-1].copy(), 0.0
        state[:, :, 1] = fresh
        first = number[rows] == self.unbiased
        state[first] = 0.0
        state[first, :, 1] = 1 / len(self.priors)
        self.state[rows] = state
        of_prior = self.state.sum(axis=2)
        total = np.maximum(of_prior.sum(axis=1), 1e-300)
        biased = (of_prior * self.priors).sum(axis=1) / total
        return np.where(number < self.unbiased, 0.5, biased)

    def learn(self, rows: np.ndarray, left: np.ndarray) -> None:
        """Learn the right side of trials, rows (m,), left (m,) bool."""
        likely = np.where(left[:, None], self.priors, 1 - self.priors)
        self.state[rows] *= likely[:, :, None]
        self.state[rows] /= np.maximum(self.state[rows].sum(axis=(1, 2), keepdims=True), 1e-300)


class _InBlocks(Subject):
    """Base of observers that combine the grating with the block.

    Rewards tell which side was right, also after errors.
    """

    def begin(self, env: TaskVectorEnv) -> None:
        task, n = env.task, env.num_envs
        self.filter = _BlockFilter(task.blocks, n)
        choice = task.contrast_choice()
        self.contrasts = np.asarray(choice.values, float) / 100
        self.shares = np.asarray(choice.p, float)
        self.trial, self.action = np.full(n, -1), np.zeros(n, np.int64)
        self.p_left, self.sums, self.steps = np.full(n, 0.5), np.zeros((n, 2)), np.zeros(n)
        self.invisible, self.seen_left = np.zeros(n), np.zeros((n, 2))
        self.right = np.zeros(n, bool)  # whether the last answer was right

    def next_trials(self, env: TaskVectorEnv) -> None:
        """Learn from the trials that have ended, and begin the next ones."""
        length = env.task.trials_per_session
        rows = np.flatnonzero(env.trial_number != self.trial)
        if not len(rows):
            return
        number = env.trial_number % length if length else env.trial_number
        played = rows[(self.trial[rows] >= 0) & (number[rows] > 0)]
        left = (self.action[played] == self.left) == self.right[played]
        self.filter.learn(played, left)
        self.seen_left[played, left.astype(int)] += self.invisible[played] > 0.5
        self.seen_left[rows[number[rows] == 0]] = 0
        self.p_left = np.where(
            env.trial_number != self.trial, self.filter.begin(rows, number), self.p_left
        )
        self.trial = env.trial_number.copy()
        self.opening = number < env.task.blocks.unbiased

    def belief(self, task, rows: np.ndarray, variance: np.ndarray) -> np.ndarray:
        """Return the probability of the left side, (m,), and keep that of an invisible grating.

        Args:
            rows: envs, (m,).
            variance: of the mean over the looks on either side, (m,).
        """
        mean = self.sums[rows] / np.maximum(self.steps[rows], 1)[:, None]
        weight = (mean[:, :, None] * self.contrasts - self.contrasts**2 / 2) / variance[
            :, None, None
        ]
        sides = np.stack([self.p_left[rows], 1 - self.p_left[rows]], axis=1)[:, :, None]
        joint = np.exp(weight - weight.max(axis=(1, 2), keepdims=True)) * self.shares * sides
        joint /= joint.sum(axis=(1, 2), keepdims=True)
        self.invisible[rows] = joint[:, :, self.contrasts == 0].sum(axis=(1, 2))
        # Invisible gratings of the opening are counterbalanced: the rarer side is due.
        due = np.sign(self.seen_left[rows, 0] - self.seen_left[rows, 1])
        tips = 0.01 * due * self.opening[rows] * (self.invisible[rows] > 0.5)
        return np.asarray(joint[:, 0].sum(axis=1) + tips)


class Looker(_InBlocks):
    """Of IBLTwoChoice and IBLBlocks: one look, and the block."""

    left = 0

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        self.right = env.last_reward > 0
        self.next_trials(env)
        task, rows = env.task, np.arange(env.num_envs)
        self.sums = observations[:, task.channels["grating"]].astype(float)
        self.steps = np.ones(env.num_envs)
        variance = np.full(env.num_envs, task.sigma**2 / 100)
        self.action = np.where(self.belief(task, rows, variance) > 0.5, 0, 1)
        return self.action


class PatientLooker(_InBlocks):
    """Of IBL and IBL20: looks until it is sure, for at most 20 s, and knows the block."""

    left, to_right = 1, 2
    """Actions that are right for a grating on the left, and on the right."""
    sides = (0, 2)
    """Units of the grating where it appears."""

    def begin(self, env: TaskVectorEnv) -> None:
        super().begin(env)
        self.looks, self.acts = np.zeros((2, env.num_envs), bool)

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        task = env.task
        self.right = np.where(self.acts, self.right | (env.last_reward > 0), False)
        ended = env.trial_number != self.trial
        self.next_trials(env)
        self.acts[ended] = self.right[ended] = False
        seen = {name: observations[:, units] for name, units in task.channels.items()}
        begins = (seen["tone"][:, 0] > 0.5) & ~self.looks & ~self.acts
        self.sums[begins], self.steps[begins] = 0, 0
        self.looks = (self.looks | begins) & ~self.acts
        rows = np.flatnonzero(self.looks)
        self.sums[rows] += seen["grating"][rows][:, self.sides]
        self.steps[rows] += 1
        if len(rows):
            belief = self.belief(task, rows, task.sigma**2 / task.dt / self.steps[rows])
            sure = np.maximum(np.maximum(belief, 1 - belief), self.invisible[rows]) > SURE
            done = sure | (self.steps[rows] * task.dt >= LONGEST)
            self.action[rows] = np.where(belief > 0.5, self.left, self.to_right)
            self.acts[rows[done]] = True
        # The action may go on: it turns the wheel, and after the answer it is free.
        return np.where(self.acts, self.action, 0)


class Turner(PatientLooker):
    """Of IBLWheel: as `PatientLooker`; then it turns until the trial is over."""

    left, to_right = 2, 1
    sides = (2, 6)


__all__ = ["Looker", "PatientLooker", "Turner"]
