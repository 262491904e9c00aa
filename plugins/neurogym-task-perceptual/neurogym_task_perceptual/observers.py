"""Ideal observers, which give the ideals of the manifest, and subjects that leave something out.

They know the probabilities of their task, and see observations only."""

from __future__ import annotations

import numpy as np

from neurogym_core import Subject, TaskVectorEnv


class _Listener(Subject):
    """Base of subjects that keep a number for each trial, and report its sign at the go cue."""

    carries_state = False

    def begin(self, env: TaskVectorEnv) -> None:
        self.sum = np.zeros(env.num_envs)

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        seen = {name: observations[:, units] for name, units in env.task.channels.items()}
        asked = seen["fixation"][:, 0] < 0.5
        self.sum = self.update(env.task, seen)
        action = np.where(asked, 1 + (self.sum > 0), 0)
        self.sum = np.where(asked, 0.0, self.sum)
        return action

    def update(self, task, seen) -> np.ndarray:
        """Return the number after this step, (n,), positive for the right."""
        raise NotImplementedError


# ---------------------------------------------------------------------- dynamic clicks


class StateFilter(_Listener):
    """Of DynamicClicks: the log odds of the hidden state, by Bayes' rule.

    Args:
        hazard: hazard that it expects, per second; None: that of the task.
    """

    def __init__(self, hazard: float | None = None, seed: int | None = 0) -> None:
        super().__init__(seed)
        self.hazard = hazard

    def update(self, task, seen) -> np.ndarray:
        hazard = task.hazard if self.hazard is None else self.hazard
        stays = np.exp(-2 * hazard * task.dt / 1000)  # how much a step keeps of 2 P - 1
        odds = 2 * np.arctanh(stays * np.tanh(self.sum / 2))
        near, far = task.heard_rates()
        return odds + np.log(near / max(far, 1e-9)) * (seen["stimulus"] @ [-1.0, 1.0])


class LeakyCounter(_Listener):
    """Of DynamicClicks: counts clicks, and forgets them.

    Args:
        tau: time constant of forgetting, ms; inf for a count of all clicks, 0 for the last one.
    """

    def __init__(self, tau: float = 300.0, seed: int | None = 0) -> None:
        super().__init__(seed)
        self.tau = tau

    def update(self, task, seen) -> np.ndarray:
        surplus = seen["stimulus"] @ [-1.0, 1.0]
        if self.tau == 0:
            return np.where(surplus != 0, surplus, self.sum)
        return self.sum * np.exp(-task.dt / self.tau) + surplus
