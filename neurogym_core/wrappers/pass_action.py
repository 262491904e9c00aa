"""Append the last action to the observation."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete
from gymnasium.vector import VectorEnv

from neurogym_core.errors import NotSupportedError
from neurogym_core.wrappers._appended import Appending, VectorAppending


class _Code:
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
        super().__init__(env, _Code(env.single_action_space, raw), raw=raw)


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
        super().__init__(env, _Code(env.action_space, raw), raw=raw)
