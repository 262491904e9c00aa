"""What `PassAction` and `PassReward` share: a few numbers about the last step, appended to the
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
    """The space of observations with numbers between `low` and `high` (k,) appended, float32.

    Raises:
        NotSupportedError: the observations are no vectors.
    """
    if not isinstance(space, Box) or len(space.shape) != 1:
        raise NotSupportedError(
            f"{owner} cannot be applied: it appends to vectors, and the observations are {space}."
            " Flatten them first."
        )
    bounds = [
        np.concatenate([mine, added]).astype(np.float32)
        for mine, added in ((space.low, low), (space.high, high))
    ]
    return Box(*bounds, dtype=np.float32)


class Appending(gymnasium.Wrapper, gymnasium.utils.RecordConstructorArgs):
    """Appends `extra`, (k,) float32, to every observation; zeros after a reset."""

    vector: type[VectorAppending]
    """The same for vector envs."""

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
        """What to append, (k,) float32."""
        raise NotImplementedError


class VectorAppending(VectorWrapper, gymnasium.utils.RecordConstructorArgs):
    """Appends `extra`, (N, k) float32, to every observation; zeros where a session begins, in every
    autoreset mode.
    """

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
        if (
            isinstance(options, Mapping) and "reset_mask" in options
        ):  # Gymnasium's: only some of the envs
            fresh = np.array(
                options["reset_mask"], bool
            )  # before the env takes it out of the options
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
        # NextStep: the step after a session's end resets it, whatever the action was.
        fresh = over if mode == AutoresetMode.SAME_STEP else self._over
        self._last = np.where(fresh[:, None], np.float32(0), extra)
        self._over = over if mode == AutoresetMode.NEXT_STEP else self._over
        return _joined(obs, self._last), reward, terminated, truncated, info

    def _with_final(self, info: dict[str, Any], extra: np.ndarray) -> dict[str, Any]:
        """The last observations of sessions that ended, with what belongs to them appended."""
        if "final_obs" not in info:
            return info
        final = np.full(self.num_envs, None, dtype=object)
        for env in np.flatnonzero(info["_final_obs"]).tolist():
            final[env] = _joined(info["final_obs"][env], extra[env])
        return {**info, "final_obs": final}

    def _extra(self, actions: Any, rewards: np.ndarray) -> np.ndarray:
        """What to append, (N, k) float32."""
        raise NotImplementedError


def _joined(obs: np.ndarray, extra: np.ndarray) -> np.ndarray:
    return np.concatenate([obs, extra], axis=-1, dtype=np.float32)
