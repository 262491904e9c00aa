"""Ideal observers of tasks whose rule only rewards show, for the ideals of the manifest.

They know the probabilities of their task, and see observations, their own choices and rewards."""

from __future__ import annotations

import numpy as np

from neurogym_core import Subject, TaskVectorEnv

DRAWN = 200_000
"""Block lengths that are drawn to learn their distribution."""


class ContextFollower(Subject):
    """Of ContextSwitch: acts by the context that its last reward revealed."""

    def begin(self, env: TaskVectorEnv) -> None:
        self.other, self.inverts = np.zeros((2, env.num_envs), bool)
        self.begun = False

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        if self.begun:
            self.other = self.inverts == (env.last_reward > 0)
        self.begun, self.inverts = True, self.other
        side = observations[:, env.task.channels["stimulus"]].argmax(axis=1)
        return np.where(self.other, 1 - side, side)


class EnvironmentFilter(Subject):
    """Of ChangingEnvironment: Bayes' rule over the environment and the age of the block.

    An unrewarded choice speaks against the environment, the more so the surer the motion was.
    """

    def begin(self, env: TaskVectorEnv) -> None:
        task, n = env.task, env.num_envs
        lengths = task._block_lengths(DRAWN, np.random.default_rng(0))
        ends = np.bincount(lengths) / DRAWN
        left = 1 - np.cumsum(ends) + ends
        self.hazard = np.divide(ends, left, out=np.ones_like(ends), where=left > 1e-9)
        self.state = np.zeros((n, 2, len(ends)))  # environment, trials of the block so far
        self.state[:, :, 1] = 0.5
        self.lead, self.steps = np.zeros((2, n))
        self.trial, self.action = env.trial_number.copy(), np.zeros(n, np.int64)
        self.sure = np.full(n, 0.5)

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        task, channels = env.task, env.task.channels
        ended = np.flatnonzero(env.trial_number != self.trial)
        if len(ended):
            self._learn(ended, env.last_reward[ended] > 0)
            length = task.trials_per_session
            fresh = ended[env.trial_number[ended] % length == 0] if length else ended[:0]
            self.state[fresh] = 0
            self.state[fresh, :, 1] = 0.5
        self.trial = env.trial_number.copy()
        stimulus = observations[:, channels["stimulus"]].astype(float)
        asked = observations[:, channels["fixation"]][:, 0] < 0.5
        shown = ~asked & (stimulus != 0).any(axis=1)
        self.lead += np.where(shown, stimulus @ [-1.0, 1.0], 0)
        self.steps += shown
        drift = np.array(task.coherences) / 100  # of the difference, per step
        precision = task.dt / (2 * task.sigma**2)
        power = self.steps[:, None] * drift**2 / 2
        right, wrong = (
            np.exp((sign * np.abs(self.lead)[:, None] * drift - power) * precision).sum(axis=1)
            for sign in (1, -1)
        )
        self.sure = np.where(asked, right / (right + wrong), self.sure)
        place = self.state.sum(axis=2).argmax(axis=1)
        self.action = np.where(asked, 1 + 2 * place + (self.lead > 0), self.action)
        return np.where(asked, self.action, 0)

    def _learn(self, rows: np.ndarray, paid: np.ndarray) -> None:
        """Learn from the rewards of trials that have ended, and expect the next ones."""
        chosen = (self.action[rows] - 1) // 2
        sure = self.sure[rows]
        here = np.where(paid, sure, 1 - sure)
        there = np.where(paid, 0.0, 1.0)
        likely = np.where(np.arange(2) == chosen[:, None], here[:, None], there[:, None])
        state = self.state[rows] * likely[:, :, None]
        over = (state * self.hazard).sum(axis=2)
        state = state * (1 - self.hazard)
        state[:, :, 1:], state[:, :, 0] = state[:, :, :-1].copy(), 0.0
        state[:, :, 1] = over[:, ::-1]
        self.state[rows] = state / np.maximum(state.sum(axis=(1, 2), keepdims=True), 1e-300)
        self.lead[rows], self.steps[rows] = 0, 0


__all__ = ["ContextFollower", "EnvironmentFilter"]
