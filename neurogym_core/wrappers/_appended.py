"""Base of `PassAction` and `PassReward`: wrappers that append values of the last step to the
observation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from gymnasium.vector.utils import batch_space

from neurogym_core.errors import NotSupportedError


class Code(Protocol):
    """The values to append: their bounds `low` and `high`, (k,), and their values after a step."""

    low: np.ndarray
    high: np.ndarray

    def __call__(self, action: Any, reward: Any) -> np.ndarray:
        """Return the values, (k,) for one env, or (N, k)."""
        ...


def _extended(space: gymnasium.Space, code: Code, owner: object) -> Box:
    """Return the space of observations (obs + k,) float32."""
    if not isinstance(space, Box) or len(space.shape) != 1:
        raise NotSupportedError(
            f"{type(owner).__name__} cannot be applied: the observations are {space}. Expected"
            " vectors. Flatten the observations first."
        )
    low, high = np.append(space.low, code.low), np.append(space.high, code.high)
    return Box(low.astype(np.float32), high.astype(np.float32), dtype=np.float32)


class Appending(gymnasium.Wrapper, gymnasium.utils.RecordConstructorArgs):
    """Append (k,) float32 values to every observation; zeros after a reset."""

    vector: type[VectorAppending]
    """The wrapper for vector envs."""

    def __init__(self, env: gymnasium.Env, code: Code, **settings: Any) -> None:
        gymnasium.utils.RecordConstructorArgs.__init__(self, **settings)
        super().__init__(env)
        self._code = code
        self.observation_space = _extended(env.observation_space, code, self)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        obs, info = self.env.reset(seed=seed, options=options)
        return _joined(obs, np.zeros(len(self._code.low))), info

    def step(self, action: Any) -> tuple[np.ndarray, Any, bool, bool, dict[str, Any]]:
        obs, reward, terminated, truncated, info = self.env.step(action)
        return _joined(obs, self._code(action, reward)), reward, terminated, truncated, info


class VectorAppending(VectorWrapper, gymnasium.utils.RecordConstructorArgs):
    """Append (N, k) float32 values to every observation; zeros at the onset of every session."""

    def __init__(self, env: VectorEnv, code: Code, **settings: Any) -> None:
        gymnasium.utils.RecordConstructorArgs.__init__(self, **settings)
        super().__init__(env)
        self._code = code
        self.single_observation_space = _extended(env.single_observation_space, code, self)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self._over = np.zeros(env.num_envs, bool)
        self._last = np.zeros((env.num_envs, len(code.low)), np.float32)

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
        extra = self._code(actions, reward)
        if mode == AutoresetMode.SAME_STEP and "final_obs" in info:
            final = np.full(self.num_envs, None, dtype=object)
            for env in np.flatnonzero(info["_final_obs"]).tolist():
                final[env] = _joined(info["final_obs"][env], extra[env])
            info = {**info, "final_obs": final}
        # In NextStep mode, the step after the end of a session ignores the action and resets.
        fresh = over if mode == AutoresetMode.SAME_STEP else self._over
        self._last = np.where(fresh[:, None], np.float32(0), extra)
        self._over = over if mode == AutoresetMode.NEXT_STEP else self._over
        return _joined(obs, self._last), reward, terminated, truncated, info


def _joined(obs: np.ndarray, extra: np.ndarray) -> np.ndarray:
    return np.concatenate([obs, extra], axis=-1, dtype=np.float32)
