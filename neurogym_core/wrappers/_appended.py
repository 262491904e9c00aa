"""Base of `PassAction` and `PassReward`: wrappers that append values of the last step to the
observation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from gymnasium.vector.utils import batch_space

from neurogym_core.errors import NotSupportedError


def extended_space(space: gymnasium.Space, low: np.ndarray, high: np.ndarray, owner: str) -> Box:
    """Return the space of observations (obs + k,) float32, with the bounds `low`, `high` (k,).

    Raises:
        NotSupportedError: the observations are not vectors.
    """
    if not isinstance(space, Box) or len(space.shape) != 1:
        raise NotSupportedError(
            f"{owner} cannot be applied: the observations are {space}. Expected vectors. Flatten"
            " the observations first."
        )
    bounds = [
        np.concatenate([mine, added]).astype(np.float32)
        for mine, added in ((space.low, low), (space.high, high))
    ]
    return Box(*bounds, dtype=np.float32)


class Appending(gymnasium.Wrapper, gymnasium.utils.RecordConstructorArgs):
    """Append (k,) float32 values to every observation; zeros after a reset."""

    vector: type[VectorAppending]
    """The wrapper for vector envs."""

    def _extend(self, low: np.ndarray, high: np.ndarray) -> None:
        self.observation_space = extended_space(
            self.env.observation_space, low, high, type(self).__name__
        )
        self._none = np.zeros(len(low), np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        obs, info = self.env.reset(seed=seed, options=options)
        return _joined(obs, self._none), info

    def step(self, action: Any) -> tuple[np.ndarray, Any, bool, bool, dict[str, Any]]:
        obs, reward, terminated, truncated, info = self.env.step(action)
        return _joined(obs, self._extra(action, reward)), reward, terminated, truncated, info

    def _extra(self, action: Any, reward: Any) -> np.ndarray:
        """Return the values to append, (k,) float32."""
        raise NotImplementedError


class VectorAppending(VectorWrapper, gymnasium.utils.RecordConstructorArgs):
    """Append (N, k) float32 values to every observation; zeros at the onset of every session."""

    def __init__(self, env: VectorEnv) -> None:
        super().__init__(env)
        self._over = np.zeros(env.num_envs, bool)

    def _extend(self, low: np.ndarray, high: np.ndarray) -> None:
        self.single_observation_space = extended_space(
            self.env.single_observation_space, low, high, type(self).__name__
        )
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self._last = np.zeros((self.num_envs, len(low)), np.float32)

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        fresh = np.ones(self.num_envs, bool)
        # With Gymnasium's option only some envs are reset. It is copied here, because the env
        # removes it from the options.
        if isinstance(options, Mapping) and "reset_mask" in options:
            fresh = np.array(options["reset_mask"], bool)
        obs, info = self.env.reset(seed=seed, options=options)
        self._last = np.where(fresh[:, None], np.float32(0), self._last)
        self._over = np.zeros(self.num_envs, bool)
        return _joined(obs, self._last), info

    def step(
        self, actions: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        obs, reward, terminated, truncated, info = self.env.step(actions)
        over = terminated | truncated
        mode = self.env.metadata.get("autoreset_mode")
        extra = self._extra(actions, reward)
        if mode == AutoresetMode.SAME_STEP:
            info = self._with_final(info, extra)
        # In NextStep mode, the step after the end of a session ignores the action and resets.
        fresh = over if mode == AutoresetMode.SAME_STEP else self._over
        self._last = np.where(fresh[:, None], np.float32(0), extra)
        self._over = over if mode == AutoresetMode.NEXT_STEP else self._over
        return _joined(obs, self._last), reward, terminated, truncated, info

    def _with_final(self, info: dict[str, Any], extra: np.ndarray) -> dict[str, Any]:
        """Return `info` with the values appended to the last observations of ended sessions."""
        if "final_obs" not in info:
            return info
        final = np.full(self.num_envs, None, dtype=object)
        for env in np.flatnonzero(info["_final_obs"]).tolist():
            final[env] = _joined(info["final_obs"][env], extra[env])
        return {**info, "final_obs": final}

    def _extra(self, actions: Any, rewards: np.ndarray) -> np.ndarray:
        """Return the values to append, (N, k) float32."""
        raise NotImplementedError


def _joined(obs: np.ndarray, extra: np.ndarray) -> np.ndarray:
    return np.concatenate([obs, extra], axis=-1, dtype=np.float32)
