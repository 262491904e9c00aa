"""Streams of values, one per step, that are conditions of a trial."""

from __future__ import annotations

import numpy as np

from neurogym_core import TrialBuilder


def lengthened(trial: TrialBuilder, values: np.ndarray, period: str, mode: str) -> np.ndarray:
    """Return values with at least a row per step of a period: imposed ones may have fewer.

    Args:
        trial: the builder of the trials.
        values: (n, T, k).
        period: the period.
        mode: "edge" or "constant" (zeros), as in `numpy.pad`.

    Returns:
        (n, steps or more, k).
    """
    missing = int(np.max(trial.duration(period)) / trial.dt + 0.5) - values.shape[1]
    return np.pad(values, ((0, 0), (0, max(missing, 0)), (0, 0)), mode)  # type: ignore[call-overload]


__all__ = ["lengthened"]
