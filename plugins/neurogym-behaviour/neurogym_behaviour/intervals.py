"""Confidence intervals of proportions. NumPy only."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from neurogym_core import InvalidValueError


def wilson_interval(k: ArrayLike, n: ArrayLike, confidence: float = 0.95) -> tuple[Any, Any]:
    """Return the score interval of a binomial proportion: floats for numbers, arrays for arrays.

    It lies within [0, 1], also for ``k = 0`` and ``k = n``; for ``n = 0`` it is (0, 1). Source:
    Wilson (1927), J. Am. Stat. Assoc. 22:209; without continuity correction.

    Args:
        k: number of successes, broadcast with `n`.
        n: number of trials.
        confidence: coverage, between 0 and 1.

    Raises:
        InvalidValueError: `k` outside [0, n], or a confidence outside (0, 1).
    """
    check_confidence(confidence)
    k, n = np.broadcast_arrays(np.asarray(k, float), np.asarray(n, float))
    if not np.all((k >= 0) & (k <= n) & np.isfinite(n)):
        raise InvalidValueError(
            f"k={k.tolist()!r:.60} of n={n.tolist()!r:.60} was given. Expected 0 <= k <= n. "
            "Give the number of successes and the number of trials, in this order."
        )
    z2 = NormalDist().inv_cdf((1 + confidence) / 2) ** 2
    trials = np.where(n > 0, n, 1.0)
    middle = (k + z2 / 2) / (trials + z2)
    half = np.sqrt(z2 * (k * (trials - k) / trials + z2 / 4)) / (trials + z2)
    # At the ends the formula is exactly 0 and 1; rounding would leave 1e-17 outside.
    low = np.where(k > 0, np.clip(middle - half, 0, 1), 0.0)
    high = np.where(k < n, np.clip(middle + half, 0, 1), 1.0)
    high = np.where(n > 0, high, 1.0)
    return (float(low), float(high)) if low.ndim == 0 else (low, high)


def check_confidence(confidence: float) -> None:
    """Raise `InvalidValueError` unless 0 < confidence < 1."""
    if not 0 < confidence < 1:
        raise InvalidValueError(
            f"confidence={confidence!r} was given. Expected a share between 0 and 1. Give 0.95 for"
            " a 95 % interval."
        )
