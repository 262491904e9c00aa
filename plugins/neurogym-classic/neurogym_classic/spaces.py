"""Gymnasium's spaces, with names for the entries of `Box` and `Discrete`.

``Discrete(3, name={"fixation": 0, "choice": [1, 2]})`` and ``Box(…, name={"fixation": 0,
"stimulus": range(1, 3)})`` let classic tasks write ``where="stimulus"``. All other names of
`gymnasium.spaces` are here as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np

from neurogym_core import InvalidValueError

Names = Mapping[str, Any]
"""Name -> an index, or several: a list, a range, an array."""


def _checked(name: Names | None, low: int, high: int, owner: str) -> dict[str, Any]:
    if not isinstance(name, Mapping | None):
        raise InvalidValueError(
            f"{owner} was given the names {name!r}; give a dict, as name={{'fixation': 0}}, and all"
            " other arguments by keyword (shape=…, dtype=…, seed=…)."
        )
    for key, where in (name or {}).items():
        indices = np.asarray(where)
        if (
            indices.dtype.kind not in "iu"
            or indices.ndim > 1
            or (indices < low).any()
            or (indices > high).any()
        ):
            raise InvalidValueError(
                f"{owner} was given name={{{key!r}: {where!r}}}; give an index from {low} to"
                f" {high}, or a list of them."
            )
    return dict(name or {})


class Box(gymnasium.spaces.Box):
    """A Gymnasium `Box` whose entries (along the last axis) may have names.

    Args:
        low, high, shape, dtype, seed: as in Gymnasium.
        name: name -> index or indices; the third positional argument, as in NeuroGym.

    Raises:
        InvalidValueError: a name for an entry that does not exist, or names that are not a dict.
    """

    def __init__(
        self,
        low: Any,
        high: Any,
        name: Names | None = None,
        shape: Any = None,
        dtype: Any = np.float32,
        seed: Any = None,
    ) -> None:
        super().__init__(low, high, shape, dtype, seed)
        self.name = _checked(name, 0, (self.shape[-1] if self.shape else 1) - 1, "Box")


class Discrete(gymnasium.spaces.Discrete):
    """A Gymnasium `Discrete` whose actions may have names.

    Args:
        n, seed, start: as in Gymnasium.
        name: name -> action or actions; the second positional argument, as in NeuroGym.

    Raises:
        InvalidValueError: a name for an action that does not exist, or names that are not a dict.
    """

    def __init__(self, n: int, name: Names | None = None, start: int = 0, seed: Any = None) -> None:
        super().__init__(n, seed=seed, start=start)
        self.name = _checked(name, int(self.start), int(self.start + self.n) - 1, "Discrete")


def __getattr__(name: str) -> Any:
    return getattr(gymnasium.spaces, name)
