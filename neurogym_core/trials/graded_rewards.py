"""Graded rewards: picklable functions (error, tolerance) -> reward, for `pays=`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class PowerLaw:
    """Reward max(least, (1 - error / tolerance) ^ exponent) * most of errors within the tolerance.

    Args:
        exponent: steepness of the fall with the error.
        least: lowest reward within the tolerance, as a share of `most`.
        most: reward of an answer without error.

    Example:
        >>> import numpy as np
        >>> from neurogym_core import PowerLaw
        >>> PowerLaw(exponent=1, most=2)(np.array([0.0, 50.0, 100.0]), np.array(100.0)).tolist()
        [2.0, 1.0, 0.2]
    """

    exponent: float = 1.5
    least: float = 0.1
    most: float = 1.0

    def __call__(self, error: np.ndarray, tolerance: np.ndarray) -> np.ndarray:
        # Operators and methods only, so that arrays of other libraries (JAX) are computed by them.
        near = (1 - _array(error) / tolerance).clip(0, 1)
        values: np.ndarray = self.most * (near**self.exponent).clip(self.least)
        return values


@dataclass(frozen=True)
class InverseSquare:
    """Reward most / (1 + error)^2, whatever the tolerance.

    Args:
        most: reward of an answer without error.

    Example:
        >>> import numpy as np
        >>> from neurogym_core import InverseSquare
        >>> InverseSquare()(np.array([0.0, 1.0]), np.array(100.0)).tolist()
        [1.0, 0.25]
    """

    most: float = 1.0

    def __call__(self, error: np.ndarray, tolerance: np.ndarray) -> np.ndarray:
        values: np.ndarray = self.most / (1 + _array(error)) ** 2
        return values


def _array(error: Any) -> Any:
    """Return numbers as an array of NumPy, and arrays of any library as they are."""
    return error if hasattr(error, "clip") else np.asarray(error)
