"""Append the last reward to the observation."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import VectorEnv

from neurogym_core.wrappers._appended import Appending, VectorAppending


class _Code:
    """The code of rewards, (…, 1) float32."""

    low, high = np.array([-np.inf]), np.array([np.inf])

    def __call__(self, action: Any, reward: Any) -> np.ndarray:
        return np.asarray(reward, np.float32)[..., None]


class VectorPassReward(VectorAppending):
    """`PassReward` for vector envs: (num_envs, obs + 1)."""

    def __init__(self, env: VectorEnv) -> None:
        super().__init__(env, _Code())


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
        super().__init__(env, _Code())
