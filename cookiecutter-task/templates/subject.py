"""The subject {{ cookiecutter.task_name }}."""

from __future__ import annotations

import numpy as np
from neurogym_core import Subject, TaskVectorEnv


class {{ cookiecutter.task_name }}(Subject):
    """Take one and the same action on every step.

    Args:
        seed: seed of the random numbers, which this subject does not need.
        action: the number of the action.
    """

    carries_state = False  # `run` may play the trials in any number of envs

    def __init__(self, seed: int | None = 0, *, action: int = 1) -> None:
        super().__init__(seed)
        self.action = action

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        """Return one action per env, shape (num_envs,)."""
        return np.full(env.num_envs, self.action)
