"""Random walks that rewards follow, many steps and sessions at once."""

from __future__ import annotations

import numpy as np


def reflected_walk(start: np.ndarray, steps: np.ndarray, low: float, high: float) -> np.ndarray:
    """A random walk between two mirrors.

    A walk that is reflected at every step has the same distribution as a free one folded into the
    interval at the end, as long as the steps are symmetric; the free one is a cumulative sum.

    Args:
        start: (…) where it is before the first step, within [low, high].
        steps: (trials, …) steps of the free walk.

    Returns:
        (trials, …) where it is after each step, within [low, high].
    """
    width = high - low
    if width == 0:
        return np.full(steps.shape, low, float)
    beyond = (start - low + np.cumsum(steps, axis=0)) % (2 * width)
    return np.clip(low + np.minimum(beyond, 2 * width - beyond), low, high)


def decaying_walk(start: np.ndarray, steps: np.ndarray, decay: float, centre: float) -> np.ndarray:
    """A walk that falls back to `centre`: x' = decay x + (1 - decay) centre + step.

    Args:
        start: (…) where it is before the first step.
        steps: (trials, …).

    Returns:
        (trials, …) where it is after each step.
    """
    path = np.empty(steps.shape)
    distance = start - centre
    for row, step in zip(path, steps, strict=True):
        np.multiply(distance, decay, out=row)
        row += step
        distance = row
    return path + centre
