"""Gaussian noise by looking it up: six times as fast as NumPy's normal generator, and the same on every processor.

16 random bits choose one of 65,536 equally likely values, the quantiles of the Normal distribution in the middle of each
bin, scaled to a variance of 1 (the kurtosis is 2.9992 instead of 3; beyond 4.32 SD, where a Gaussian has 1.6 numbers in
100,000, there are none). What a task shows is the mean plus such noise, step by step; nothing that sums or thresholds
evidence can tell the difference.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

LEVELS = 1 << 16
"""Values that noise takes, times its SD: as many as 16 bits tell apart."""

_PER_DRAW = 4  # numbers that one draw of 64 bits makes


@cache
def quantiles() -> np.ndarray:
    """(LEVELS,) float32: the values, ascending; mean 0, variance 1."""
    from statistics import NormalDist  # takes a while, and not everybody needs noise

    half = LEVELS // 2
    lower = [NormalDist().inv_cdf((k + 0.5) / LEVELS) for k in range(half)]
    sd = math.sqrt(math.fsum(z * z for z in lower) / half)
    scaled = np.array([z / sd for z in lower])
    return np.concatenate([scaled, -scaled[::-1]]).astype(np.float32)


class Noise:
    """Standard normal numbers, one after another: the same ones, however many are asked for at a time.

    Args:
        rng: where the bits come from.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self._left = np.zeros(0, np.uint16)  # of the last draw of 64 bits

    def fill(self, out: np.ndarray) -> np.ndarray:
        """Fill a C-contiguous float32 array with the coming numbers; returns it.

        Raises:
            ValueError: the array is not of that kind.
        """
        if out.dtype != np.float32 or not out.flags.c_contiguous:
            raise ValueError(f"Noise.fill() was given an array of {out.dtype}, strides {out.strides}; give a C-contiguous float32 one.")
        flat, values = out.reshape(-1), quantiles()
        first = min(len(self._left), len(flat))
        if first:
            values.take(self._left[:first], out=flat[:first], mode="clip")
            self._left, flat = self._left[first:], flat[first:]
        if len(flat):
            draws = self.rng.integers(0, 2**64 - 1, -(-len(flat) // _PER_DRAW), dtype=np.uint64, endpoint=True)
            bits = draws.astype("<u8", copy=False).view("<u2")  # the same numbers whatever the byte order
            values.take(bits[: len(flat)], out=flat, mode="clip")
            self._left = bits[len(flat) :].copy()
        return out
