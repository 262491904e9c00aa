"""`Subject`: what all reference subjects are."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from neurogym_core.play.vector_env import TaskVectorEnv


class Subject(ABC):
    """Base of the reference subjects.

    Args:
        seed: of the subject's own random numbers.
    """

    def __init__(self, seed: int | None = 0) -> None:
        self.rng = np.random.default_rng(seed)

    def begin(self, env: TaskVectorEnv) -> None:  # noqa: B027
        """Called once before the first step; refuses tasks that the subject cannot play."""

    @abstractmethod
    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        """Actions (num_envs,) or (num_envs, k) for the observations in hand, (num_envs, obs)."""
