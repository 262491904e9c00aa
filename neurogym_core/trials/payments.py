"""What a graded answer pays: picklable functions (error, tolerance) -> reward, for `answer_at` and
continuous answers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class PowerLaw:
    """max(least, (1 - error / tolerance) ^ exponent) * most, for errors within the tolerance."""

    exponent: float = 1.5
    least: float = 0.1
    most: float = 1.0

    def __call__(self, error: np.ndarray, tolerance: np.ndarray) -> np.ndarray:
        near = np.clip(1 - np.asarray(error) / tolerance, 0, 1)
        values: np.ndarray = self.most * np.maximum(self.least, near**self.exponent)
        return values


@dataclass(frozen=True)
class InverseSquare:
    """most / (1 + error)^2, whatever the tolerance."""

    most: float = 1.0

    def __call__(self, error: np.ndarray, tolerance: np.ndarray) -> np.ndarray:
        return self.most / (1 + np.asarray(error)) ** 2
