"""A subject package."""

from __future__ import annotations

import numpy as np

from neurogym_core import Subject, TaskVectorEnv


class Greedy(Subject):
    """Choose the brighter side as soon as there is one, else fixate.

    Args:
        seed: seed of random numbers, which this subject does not use.
        threshold: smallest difference that it acts on.
    """

    carries_state = False

    def __init__(self, seed: int | None = 0, *, threshold: float = 0.1) -> None:
        super().__init__(seed)
        self.threshold = threshold

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        """Return one action per env, (num_envs,)."""
        light = observations[:, env.task.channels["light"]]
        fixation = observations[:, env.task.channels["fixation"]][:, 0]
        side = 1 + light.argmax(axis=1)
        sure = np.ptp(light, axis=1) >= self.threshold
        return np.where(sure & (fixation == 0), side, 0)
