"""What a graded answer pays: picklable functions (error, tolerance) -> reward, for `answer_at` and
continuous answers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class PowerLaw:
    """max(least, (1 - error / tolerance) ^ exponent) * most, for errors within the tolerance.

    Args:
        exponent: how fast the reward falls with the error.
        least: share of `most` that an error of the tolerance pays.
        most: reward without error.

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
        near = np.clip(1 - np.asarray(error) / tolerance, 0, 1)
        values: np.ndarray = self.most * np.maximum(self.least, near**self.exponent)
        return values


@dataclass(frozen=True)
class InverseSquare:
    """most / (1 + error)^2, whatever the tolerance.

    Args:
        most: reward without error.

    Example:
        >>> import numpy as np
        >>> from neurogym_core import InverseSquare
        >>> InverseSquare()(np.array([0.0, 1.0]), np.array(100.0)).tolist()
        [1.0, 0.25]
    """

    most: float = 1.0

    def __call__(self, error: np.ndarray, tolerance: np.ndarray) -> np.ndarray:
        return self.most / (1 + np.asarray(error)) ** 2
