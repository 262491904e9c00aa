"""Quantities of published signatures, each of one network or one recording.

A quantity has no controls here: compare it with untrained networks, with the inputs and with the
cheats that the docstrings name."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from neurogym_core import InvalidValueError
from neurogym_neural.activity import Activity, nanmean, numbers, over_steps, refuse_missing

FRACTIONS = 20
"""Points of an interval at which `temporal_scaling` compares."""


def category_index(activity: Activity, direction: str, category: str) -> np.ndarray:
    """Return (between - within) / (between + within) of each unit, (units,).

    They are mean absolute differences of the rates of two directions, of different or of the same
    category. Pairs of equal angular distance are compared, so that tuning to direction alone gives
    0 on average over units. After Freedman & Assad (2006), Nature 443:85, doi:10.1038/nature05078.
    A unit of the answer passes: measure before the answer is known. A boundary turned by 90 degrees
    has to give less than 0.

    The unit of replication of the mean over units is the subject: its units are not independent.
    Multiple comparisons over units: none, since there is no p-value.

    Args:
        activity: the steps that count.
        direction: a column of angles in radians, with a few values.
        category: a column with two values, one for each direction.

    Raises:
        InvalidValueError: a direction of both categories, or no distance with pairs of both kinds.
    """
    refuse_missing(activity, [direction, category], "category_index")
    angles, which = np.unique(activity.record[direction], return_inverse=True)
    _, labels = np.unique(activity.record[category], return_inverse=True)
    sides = [np.unique(labels[which == k]) for k in range(len(angles))]
    if any(len(side) > 1 for side in sides):
        raise InvalidValueError(
            f"category_index() was given directions {direction!r} that belong to several values of"
            f" {category!r}. Expected one category for each direction. Give the category of the"
            " stimulus, not the answer."
        )
    rates = over_steps(activity, "category_index")
    means = np.array([rates[which == k].mean(axis=0) for k in range(len(angles))])
    pairs: dict[float, tuple[list, list]] = {}
    for j, k in combinations(range(len(angles)), 2):
        distance = abs((angles[j] - angles[k] + np.pi) % (2 * np.pi) - np.pi)
        between = int(sides[j][0] != sides[k][0])
        pairs.setdefault(round(float(distance), 6), ([], []))[between].append(
            np.abs(means[j] - means[k])
        )
    both = [pair for pair in pairs.values() if pair[0] and pair[1]]
    if not both:
        raise InvalidValueError(
            f"category_index() found no angular distance that {len(angles)} directions have within"
            " and between categories. Expected several directions in each category. Give more."
        )
    within, beyond = (
        np.mean([np.mean(pair[kind], axis=0) for pair in both], axis=0) for kind in (0, 1)
    )
    total = within + beyond
    index: np.ndarray = (beyond - within) / np.where(total > 0, total, np.inf)
    return index


def weights_correlation(activity: Activity, first: str, second: str, *, seed: int = 0) -> float:
    """Return the correlation over units of the weights of two magnitudes; negative if they compare.

    Rates are regressed on both magnitudes. The weights of the one are from a half of the trials,
    and those of the other from the other half: from the same trials, noise alone gives a negative
    correlation if the magnitudes correlate. Monotonic tuning to each of them is passed by leaky
    filters of the input; the change of sign is not. After Romo et al. (1999), Nature 399:470,
    doi:10.1038/20939, who compare two vibrations.

    The unit of replication is the subject, of whose units this is one number. Multiple comparisons:
    none is made.

    Args:
        activity: the steps of the comparison.
        first, second: columns of numbers.
        seed: seed of the halves.
    """
    found = []
    for one, other in (activity.halves(seed), activity.halves(seed)[::-1]):
        a, b = _weights(one, first, second)[0], _weights(other, first, second)[1]
        scale = a.std() * b.std()
        found.append(((a - a.mean()) * (b - b.mean())).mean() / scale if scale > 0 else 0.0)
    return float(np.mean(found))


def _weights(activity: Activity, *columns: str) -> np.ndarray:
    """Return the weights of z-scored columns, (columns, units)."""
    x = np.column_stack([numbers(activity, name, "weights_correlation") for name in columns])
    x = (x - x.mean(axis=0)) / np.where(x.std(axis=0) > 0, x.std(axis=0), np.inf)
    rates = over_steps(activity, "weights_correlation")
    found: np.ndarray = np.linalg.lstsq(x, rates - rates.mean(axis=0), rcond=None)[0]
    return found


@dataclass(frozen=True, eq=False)
class Scaling:
    """Whether activity stretches with a produced interval.

    Attributes:
        index: (absolute - scaled) / (absolute + scaled), errors of a prediction by absolute time
            and by the fraction of the interval; 1 for perfect scaling, -1 for a clock.
        turning: the index of the units that turn within the interval; NaN if none does. A single
            ramp to a bound passes `index`, and has no such unit.
        units: (units,) bool, the units that turn.
    """

    index: float
    turning: float
    units: np.ndarray


def temporal_scaling(activity: Activity, interval: str, *, groups: int = 4) -> Scaling:
    """Return how well each group of intervals is predicted from the others.

    Trials are grouped by their interval: into groups of equal size, or by its values if they are
    few. Means of groups are compared in pairs, at equal times and at equal fractions. Means are
    over trials until the shortest interval of the group has passed. After Wang et al. (2018),
    Nature Neuroscience 21:102, doi:10.1038/s41593-017-0028-6; comparison in pairs is ours.

    The unit of replication is the subject, of whose units this is one number. Multiple comparisons:
    none is made.

    Args:
        activity: aligned to the onset of the interval.
        interval: a column with the intervals in ms.
        groups: number of groups, at most.

    Raises:
        InvalidValueError: a group is empty, or shorter than three steps.
    """
    lasts = activity.record[interval].astype(np.float64)
    known = np.flatnonzero(np.isfinite(lasts))
    values, which = np.unique(lasts[known], return_inverse=True)
    number = np.full(len(lasts), -1)
    if 1 < len(values) <= groups:
        groups, number[known] = len(values), which
    else:
        order = known[np.argsort(lasts[known], kind="stable")]
        number[order] = np.arange(len(known)) * groups // max(len(known), 1)
    first = np.flatnonzero(activity.time >= -1e-9)[0]
    profiles = []
    for k in range(groups):
        mine = number == k
        steps = int(lasts[mine].min() / activity.step) if mine.any() else 0
        if steps < 3 or first + steps > activity.rates.shape[1]:
            raise InvalidValueError(
                f"temporal_scaling() was given {interval!r} with a group of {int(mine.sum())}"
                f" trials that share {steps} steps. Expected at least three steps in each group,"
                " within the activity. Give fewer groups, or a longer window."
            )
        profiles.append(activity.rates[mine, first : first + steps].mean(axis=0, dtype=np.float64))
    points = [
        np.array(
            [
                np.interp(np.linspace(0, len(one) - 1, FRACTIONS), np.arange(len(one)), unit)
                for unit in one.T
            ]
        ).T
        for one in profiles
    ]
    absolute, scaled = np.zeros((2, profiles[0].shape[1]))
    for j, k in combinations(range(groups), 2):
        common = min(len(profiles[j]), len(profiles[k]))
        absolute += ((profiles[j][:common] - profiles[k][:common]) ** 2).mean(axis=0)
        scaled += ((points[j] - points[k]) ** 2).mean(axis=0)
    mean = np.mean(points, axis=0)
    steps = np.diff(mean, axis=0)
    turns = np.minimum(np.clip(steps, 0, None).sum(axis=0), np.clip(-steps, 0, None).sum(axis=0))
    spread = np.ptp(mean, axis=0)
    units = turns > 0.25 * np.where(spread > 0, spread, np.inf)

    def index(chosen: np.ndarray) -> float:
        a, b = absolute[chosen].sum(), scaled[chosen].sum()
        return float((a - b) / (a + b)) if a + b > 0 else np.nan

    return Scaling(index(np.ones(len(units), bool)), index(units), units)


def pulse_effect(activity: Activity, pulsed: Activity, choice: str) -> np.ndarray:
    """Return the effect of a pulse along the axis of the choice over time, relative to its peak.

    An integrator keeps 1, a leaky filter of the inputs decays: of the quantities here it is the
    one that untrained networks with a fitted readout do not reach. After Huk & Shadlen (2005),
    Journal of Neuroscience 25:10420, doi:10.1523/JNEUROSCI.4684-04.2005.

    The unit of replication is the subject; pairs of trials are exact, so that trials add little.
    Multiple comparisons over steps: not corrected.

    Args:
        activity: trials without the pulse, aligned to its onset.
        pulsed: the same trials, with the pulse and the same noise.
        choice: a column with two values; the axis is the difference of their means.

    Returns:
        (T,), at most 1.

    Raises:
        InvalidValueError: other trials or steps, other than two choices, or no effect.
    """
    values = np.unique(activity.record[choice])
    kept = [name for name in ("trial", choice) if name in activity.record]
    same = activity.rates.shape == pulsed.rates.shape and len(values) == 2
    if not same or len(activity) != len(pulsed) or not kept:
        raise InvalidValueError(
            f"pulse_effect() was given activities of shapes {activity.rates.shape} and"
            f" {pulsed.rates.shape}, and {len(values)} values of {choice!r}. Expected the same"
            " trials and steps, and two choices. Record both from the same trials, and leave out"
            " trials without an answer."
        )
    right = activity.record[choice] == values[1]
    difference = (pulsed.rates - activity.rates).astype(np.float64)
    means = [nanmean(activity.rates[mask]) for mask in (right, ~right)]
    axis = np.nan_to_num(means[0] - means[1]).mean(axis=0)
    effect: np.ndarray = nanmean(difference) @ axis
    peak = np.abs(effect[np.isfinite(effect)]).max(initial=0)
    if not peak > 0:
        raise InvalidValueError(
            "pulse_effect() found no effect. Expected activities that differ. Give a stronger"
            " pulse, or check that the activity is that of other trials than the pulsed one."
        )
    return effect / effect[np.nanargmax(np.abs(effect))]
