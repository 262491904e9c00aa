"""Random walks of reward parameters, vectorized over steps and sessions."""

from __future__ import annotations

import numpy as np


def reflected_walk(start: np.ndarray, steps: np.ndarray, low: float, high: float) -> np.ndarray:
    """Return a random walk between two reflecting bounds.

    A walk that is reflected at every step has the same distribution as a free walk folded into the
    interval at the end, as long as the steps are symmetric; the free walk is a cumulative sum.

    Args:
        start: (…) positions before the first step, within [low, high].
        steps: (trials, …) steps of the free walk.

    Returns:
        (trials, …) positions after each step, within [low, high].
    """
    width = high - low
    if width == 0:
        return np.full(steps.shape, low, float)
    beyond = (start - low + np.cumsum(steps, axis=0)) % (2 * width)
    return np.clip(low + np.minimum(beyond, 2 * width - beyond), low, high)


def decaying_walk(start: np.ndarray, steps: np.ndarray, decay: float, centre: float) -> np.ndarray:
    """Return a walk that decays to `centre`: x' = decay x + (1 - decay) centre + step.

    Args:
        start: (…) positions before the first step.
        steps: (trials, …).

    Returns:
        (trials, …) positions after each step.
    """
    path = np.empty(steps.shape)
    distance = start - centre
    for row, step in zip(path, steps, strict=True):
        np.multiply(distance, decay, out=row)
        row += step
        distance = row
    return path + centre
