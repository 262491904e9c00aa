"""Append the last reward to the observation."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import VectorEnv

from neurogym_core.wrappers._appended import Appending, VectorAppending

UNBOUNDED = np.array([np.inf])


class VectorPassReward(VectorAppending):
    """`PassReward` for vector envs: (num_envs, obs + 1)."""

    def __init__(self, env: VectorEnv) -> None:
        gymnasium.utils.RecordConstructorArgs.__init__(self)
        super().__init__(env)
        self._extend(-UNBOUNDED, UNBOUNDED)

    def _extra(self, actions: Any, rewards: np.ndarray) -> np.ndarray:
        return np.asarray(rewards, np.float32)[:, None]


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
        gymnasium.utils.RecordConstructorArgs.__init__(self)
        super().__init__(env)
        self._extend(-UNBOUNDED, UNBOUNDED)

    def _extra(self, action: Any, reward: Any) -> np.ndarray:
        return np.array([reward], np.float32)
