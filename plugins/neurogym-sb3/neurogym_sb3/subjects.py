"""`AgentSubject`: a trained agent plays a task."""

from __future__ import annotations

from typing import Any

import numpy as np
from stable_baselines3.common.base_class import BaseAlgorithm


class AgentSubject:
    """Plays a task with a model of Stable-Baselines3; for `neurogym_core.run`.

    It plays the split "test" unless `run` is given another one.

    The task needs the wrappers of the model's training. The state of a recurrent policy lasts for a
    session, as in training.

    Args:
        model: the trained model.
        deterministic: choose the most probable action, instead of sampling from the policy.
    """

    default_split = "test"

    def __init__(self, model: BaseAlgorithm, deterministic: bool = True) -> None:
        self.model, self.deterministic = model, deterministic
        # For `neurogym_core.run`: only recurrent policies keep anything from trial to trial.
        self.carries_state = hasattr(model.policy, "lstm_actor")

    def begin(self, env: Any) -> None:
        """Reset the state of every env."""
        self._state = None
        self._trial = env.trial_number.copy()
        self._begins = np.ones(env.num_envs, bool)

    def __call__(self, env: Any, observations: np.ndarray) -> np.ndarray:
        """Return actions (num_envs,) or (num_envs, k) for observations (num_envs, obs)."""
        self._look(env)
        actions, self._state = self.model.predict(
            observations,
            state=self._state,
            episode_start=self._begins,
            deterministic=self.deterministic,
        )
        self._begins = np.zeros(env.num_envs, bool)
        return actions

    def _look(self, env: Any) -> None:
        """Mark the envs in which a session has begun.

        That is a new trial whose number is a multiple of the session's length.
        """
        length = env.task.trials_per_session
        if length is not None:
            self._begins |= (env.trial_number != self._trial) & (env.trial_number % length == 0)
        self._trial = env.trial_number.copy()
