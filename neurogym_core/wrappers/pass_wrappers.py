"""`PassAction` and `PassReward` append values of the last step to the observation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete
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


class _ActionCode:
    """The code of actions, (…, size) float32: one-hot, or unchanged."""

    def __init__(self, space: gymnasium.Space, raw: bool) -> None:
        if isinstance(space, Box) and len(space.shape) == 1:
            self.kind, self.low, self.high = "values", space.low, space.high
        elif isinstance(space, Discrete) and raw:
            self.kind, self.low = "id", np.array([min(space.start, 0)])
            self.high = np.array([max(space.start + space.n - 1, 0)])
        elif isinstance(space, Discrete):
            self.kind, self.low, self.high = "one-hot", np.zeros(space.n), np.ones(space.n)
            self.ids = int(space.start) + np.arange(int(space.n))
        else:
            raise NotSupportedError(
                f"PassAction cannot be applied: the actions are {space}. Expected Discrete, or a"
                " Box of one dimension. Change the action space first."
            )
        # Zeros, which mean "no action yet", must be in every space.
        self.low, self.high = np.minimum(self.low, 0), np.maximum(self.high, 0)

    def __call__(self, action: Any, reward: Any) -> np.ndarray:
        actions = np.asarray(action)
        if self.kind == "values":
            return actions.astype(np.float32)
        column = actions[..., None]
        return (column == self.ids if self.kind == "one-hot" else column).astype(np.float32)


class VectorPassAction(VectorAppending):
    """`PassAction` for vector envs: (num_envs, obs + k)."""

    def __init__(self, env: VectorEnv, raw: bool = False) -> None:
        super().__init__(env, _ActionCode(env.single_action_space, raw), raw=raw)


class PassAction(Appending):
    """Append the last action to the observation, float32.

    The first observation after a reset gets zeros.

    As in Wang, Kurth-Nelson, Kumaran, et al. (2018), Nat. Neurosci. 21:860,
    doi:10.1038/s41593-018-0147-8, where agents get their last action and reward as inputs.

    Args:
        env: any env whose observations are vectors.
        raw: whether to append the id of the action instead of one unit per action. Continuous
            actions are appended unchanged.

    Raises:
        NotSupportedError: the observations are not vectors, or the actions are neither Discrete
            nor vectors.
    """

    vector = VectorPassAction

    def __init__(self, env: gymnasium.Env, raw: bool = False) -> None:
        super().__init__(env, _ActionCode(env.action_space, raw), raw=raw)


class _RewardCode:
    """The code of rewards, (…, 1) float32."""

    low, high = np.array([-np.inf]), np.array([np.inf])

    def __call__(self, action: Any, reward: Any) -> np.ndarray:
        return np.asarray(reward, np.float32)[..., None]


class VectorPassReward(VectorAppending):
    """`PassReward` for vector envs: (num_envs, obs + 1)."""

    def __init__(self, env: VectorEnv) -> None:
        super().__init__(env, _RewardCode())


class PassReward(Appending):
    """Append the last reward to the observation, float32.

    The first observation after a reset gets zero.

    As in Wang, Kurth-Nelson, Kumaran, et al. (2018), Nat. Neurosci. 21:860,
    doi:10.1038/s41593-018-0147-8, where agents get their last action and reward as inputs.

    Args:
        env: any env whose observations are vectors.

    Raises:
        NotSupportedError: the observations are not vectors.
    """

    vector = VectorPassReward

    def __init__(self, env: gymnasium.Env) -> None:
        super().__init__(env, _RewardCode())
