"""Tolerances of the statistical checks. A correct task fails with a probability below `ALARM`."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from neurogym_core import Distribution

ALARM = 1e-7
"""Probability that a correct task fails a statistical check. Seeds are fixed, so that the same task
always passes or always fails.
"""


def largest_distance(n: int, comparisons: int = 1) -> float:
    """Return the largest tolerated distance between `n` draws and their distribution.

    By the inequality of Dvoretzky, Kiefer & Wolfowitz with Massart's constant
    (doi:10.1214/aop/1176990746), which holds for every distribution and every n."""
    return math.sqrt(math.log(2 * comparisons / ALARM) / (2 * n))


def largest_deviation(comparisons: int = 1) -> float:
    """Return the largest tolerated deviation of a mean in standard errors (two-sided, Gaussian)."""
    return NormalDist().inv_cdf(1 - ALARM / (2 * comparisons))


def distance_in_steps(steps: np.ndarray, distribution: Distribution, dt: float) -> float | None:
    """Return the distance between durations in steps, (n,), and a distribution in ms.

    The distribution is rounded to steps, halves up, and never to 0. None if it has no `cdf`."""
    edges = np.arange(1, int(steps.max(initial=1)) + 1)
    expected = distribution.cdf((edges + 0.5) * dt - 1e-6 * dt)
    if expected is None:
        return None
    played = np.searchsorted(np.sort(steps), edges, side="right") / len(steps)
    return float(np.abs(played - expected).max())


def distance_of_values(values: np.ndarray, distribution: Distribution) -> float | None:
    """Return the distance between draws and their declared distribution.

    None if the distribution has neither a `cdf` nor `probabilities`."""
    probabilities, support = getattr(distribution, "probabilities", None), distribution.support()
    if support is not None and probabilities is not None:
        return _distance_of_rows(values, support, np.asarray(probabilities))
    cdf = (
        distribution.cdf(np.sort(values))
        if values.ndim == 1 and values.dtype.kind in "biuf"
        else None
    )
    if cdf is None:
        return None
    n = len(values)
    if support is not None:  # values repeat: compare at the last draw of each
        after = np.searchsorted(np.sort(values), np.sort(values), side="right") / n
        return float(np.abs(after - cdf).max())
    return float(
        max(np.abs(np.arange(1, n + 1) / n - cdf).max(), np.abs(np.arange(n) / n - cdf).max())
    )


def _distance_of_rows(values: np.ndarray, support: np.ndarray, probabilities: np.ndarray) -> float:
    """Return the distance between cumulative frequencies in the order of the support.

    The values of the support may be numbers, names or rows."""
    rows = [tuple(np.atleast_1d(value).tolist()) for value in support]
    order = {row: k for k, row in enumerate(dict.fromkeys(rows))}
    p = np.zeros(len(order))
    for row, share in zip(rows, probabilities, strict=True):
        p[order[row]] += share
    drawn, counts = np.unique(np.asarray(values), axis=0, return_counts=True)
    met = np.zeros(len(order))
    for value, count in zip(drawn, counts, strict=True):
        row = tuple(np.atleast_1d(value).tolist())
        if row not in order:
            return 1.0
        met[order[row]] += count
    return float(np.abs(np.cumsum(met / met.sum()) - np.cumsum(p)).max())
