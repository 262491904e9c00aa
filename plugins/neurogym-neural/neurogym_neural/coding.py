"""Conditions in units and populations: tuning, decoding, dimensionality."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from neurogym_core import InvalidValueError
from neurogym_neural.activity import Activity, Means, numbers, over_steps, refuse_missing


@dataclass(frozen=True, eq=False)
class Tuning:
    """Rank correlation of each unit with a condition.

    Attributes:
        rho: (units,) Spearman's correlation of the mean activity with the condition.
        p: (units,) two-sided p-value by permutation of neighbouring trials, or of runs.
        q: (units,) p-value after Benjamini and Hochberg's correction over units.
    """

    rho: np.ndarray
    p: np.ndarray
    q: np.ndarray


def tuning(
    activity: Activity,
    by: str,
    *,
    within: str | None = None,
    neighbours: int = 20,
    permutations: int = 999,
    seed: int = 0,
) -> Tuning:
    """Return how the mean activity of each unit follows a condition.

    Activity drifts over a session, and follows a condition that does, too, such as blocks. Trials
    are therefore in the order of the session, and permuted within windows of neighbours, of which
    deviations from the mean of the window are correlated. A condition that comes in runs (of more
    than five trials on average) has its runs permuted: with fewer than about six runs no unit is
    significant, since nothing distinguishes its tuning from drift. A condition that itself drifts,
    such as a learned value, has no valid permutation, and can have more false alarms.

    Trials of a network are free, so that almost any unit is significant given enough of them, also
    of an untrained one: compare `activity.observed(…)` with a recording of as many trials.

    The unit of replication is the trial; networks are replicated by their seeds.
    Multiple comparisons over units: `q`, by Benjamini and Hochberg; over columns: none.

    Args:
        activity: the steps that count, e.g. ``activity.during("delay")``.
        by: a column of the record with numbers, bools, or two texts.
        within: a column, e.g. "session"; trials are permuted within its values.
        neighbours: number of trials of a window, about.
        permutations: number of permutations; the smallest p is 1 / (permutations + 1).
        seed: seed of the permutations.

    Raises:
        InvalidValueError: the condition has fewer than two values, or more than two texts; trials
            lack a value; or windows of fewer than two trials.
    """
    if not neighbours >= 2:
        raise InvalidValueError(
            f"tuning() was given neighbours={neighbours!r}. Expected two trials or more, of which"
            " some have other values. Give 20, for example."
        )
    refuse_missing(activity, [by] if within is None else [by, within], "tuning")
    values = activity.record[by]
    levels = np.unique(values)
    if len(levels) < 2 or (values.dtype.kind == "U" and len(levels) > 2):
        raise InvalidValueError(
            f"tuning() was given by={by!r}, with {len(levels)} values. Expected numbers, or two"
            " texts. Give another column, or `decode` it."
        )
    if values.dtype.kind != "U":
        numbers(activity, by, "tuning")
    wanted = _ranks(np.searchsorted(levels, values)[:, None].astype(float))[:, 0]
    found = _ranks(over_steps(activity, "tuning"))
    rho = _correlation(wanted[None], found)[0]
    groups = np.zeros(len(activity), int)
    if within is not None:
        groups = np.unique(activity.record[within], return_inverse=True)[1]
    order = np.argsort(groups, kind="stable")
    groups, wanted, found = groups[order], wanted[order], found[order]
    starts = (np.diff(groups, prepend=-1) != 0) | (np.diff(wanted, prepend=np.nan) != 0)
    runs = np.cumsum(starts)
    if len(runs) > RUN * runs[-1]:
        windows, units = groups, runs
    else:
        windows, units = _windows(groups, neighbours), np.arange(len(wanted))
    # Deviations from the means of windows, which permutations within them do not change.
    wanted, found = _deviations(wanted[:, None], windows)[:, 0], _deviations(found, windows)
    rng = np.random.default_rng(seed)
    shuffled = np.empty((permutations, len(wanted)))
    for k in range(permutations):
        # Sorting random numbers permutes units (trials or runs), whose trials share a number.
        number = rng.random(int(units.max()) + 1)[units]
        shuffled[k] = wanted[np.lexsort((np.arange(len(wanted)), number, windows))]
    observed = _correlation(wanted[None], found)[0]
    as_large = np.abs(_correlation(shuffled, found)) >= np.abs(observed) - 1e-12
    p = (1 + as_large.sum(axis=0)) / (1 + permutations)
    return Tuning(rho, p, _false_discovery(p))


RUN = 5
"""Mean number of trials of a run of equal values, above which runs are permuted, and not trials."""


def _windows(groups: np.ndarray, neighbours: int) -> np.ndarray:
    """Return the window of each trial, (n,): of about equal size, within sorted groups."""
    sizes = np.unique(groups, return_counts=True)[1]
    numbers = [np.arange(n) * max(round(n / neighbours), 1) // n for n in sizes]
    steps = np.cumsum([0, *(one[-1] + 1 for one in numbers[:-1])])
    return np.concatenate([one + step for one, step in zip(numbers, steps, strict=True)])


def _deviations(values: np.ndarray, windows: np.ndarray) -> np.ndarray:
    """Return values (n, k) minus the mean of their window."""
    found = values.astype(np.float64)
    for window in np.unique(windows):
        mine = windows == window
        found[mine] -= found[mine].mean(axis=0)
    return found


def decode(
    activity: Activity, by: str, *, folds: int = 5, ridge: float = 1.0, seed: int = 0
) -> float:
    """Return the balanced accuracy of a linear decoder of the mean activity, on other trials.

    Slow drift is decoded as a condition that comes in blocks: compare other columns of such blocks.

    The unit of replication is the trial; an interval needs the accuracies of several subjects.
    Multiple comparisons: none is made, since there is no p-value.

    Args:
        activity: the steps that count.
        by: the column of the record to decode, with two or more values in all trials.
        folds: parts of the trials, each decoded with the weights of the others.
        ridge: penalty on the weights of z-scored units, relative to the number of trials.
        seed: seed of the folds.

    Returns:
        Mean over values of the fraction decoded correctly; 1 / values by chance.
    """
    refuse_missing(activity, [by], "decode")
    rates = over_steps(activity, "decode")[:, None]
    return float(_decoded(rates, activity.record[by], folds, ridge, seed)[0, 0])


def cross_temporal(
    activity: Activity, by: str, *, folds: int = 5, ridge: float = 1.0, seed: int = 0
) -> np.ndarray:
    """Return the balanced accuracy of decoders of each step, tested on each step, (T, T).

    The decoder of row t was fitted at step t, and is tested at the step of the column. Folds are of
    trials, the same at all times: with folds of time points, slow noise of a trial would be decoded
    as its condition.

    The unit of replication is the trial. Multiple comparisons over pairs of steps: not corrected.

    Args:
        activity, by, folds, ridge, seed: as in `decode`; all trials need all steps.

    Raises:
        InvalidValueError: a trial lacks a step.
    """
    if not np.isfinite(activity.rates).all():
        raise InvalidValueError(
            "cross_temporal() was given trials that lack steps (NaN). Expected all steps in all"
            " trials. Align to an event with a shorter window, or select trials."
        )
    refuse_missing(activity, [by], "cross_temporal")
    return _decoded(activity.rates, activity.record[by], folds, ridge, seed)


def participation_ratio(
    activity: Activity, by: str | Sequence[str] | None = None, *, seed: int = 0
) -> float:
    """Return (sum of variances)^2 / sum of squared variances, over principal components.

    It is between 1 and the number of units. Noise counts as dimensions: compare activities of
    equal numbers of trials, with equal noise; or give `by`, for the dimensions of condition means,
    whose noise is left out: the covariances are those of the means of two halves of the trials.

    The unit of replication is the trial; fewer units have fewer dimensions.
    Multiple comparisons: none is made.

    Args:
        activity: trials and steps; those with NaN are left out.
        by: a column of the record, or several, whose conditions are averaged; None: trials.
        seed: seed of the halves.

    Raises:
        InvalidValueError: a condition has no trial in a half, or the halves share no variance.
    """
    if by is None:
        rows = activity.rates.reshape(-1, activity.rates.shape[2])
        rows = rows[np.isfinite(rows).all(axis=1)].astype(np.float64)
        _complete(len(rows))
        covariance = np.atleast_2d(np.cov(rows, rowvar=False))
        return _ratio(covariance, np.sum(covariance**2))
    halves = [half.mean.astype(np.float64) for half in of_halves(activity, by, seed)]
    one, other = (mean.reshape(-1, mean.shape[2]) for mean in halves)
    known = np.isfinite(one).all(axis=1) & np.isfinite(other).all(axis=1)
    _complete(int(known.sum()))
    one, other = (part[known] - part[known].mean(axis=0) for part in (one, other))
    covariance = one.T @ other
    # Products of different halves: noise that units do not share is 0 on average.
    return _ratio(covariance, np.sum(covariance * covariance.T))


def _complete(rows: int) -> None:
    if rows < 2:
        raise InvalidValueError(
            f"participation_ratio() was given {rows} steps in which all units have activity."
            " Expected two at least. Leave out the units that have none (NaN)."
        )


def of_halves(activity: Activity, by: str | Sequence[str], seed: int) -> tuple[Means, Means]:
    """Return the means of each condition in two halves of the trials.

    Raises:
        InvalidValueError: a condition has trials in one half only.
    """
    names = [by] if isinstance(by, str) else list(by)
    refuse_missing(activity, names, "halves")
    levels = [len(np.unique(activity.record[name])) for name in names]
    for half in activity.halves(seed) if len(activity) > 1 else ():
        if [len(np.unique(half.record[name])) for name in names] != levels:
            break
    else:
        if len(activity) > 1:
            one, other = (half.mean(by) for half in activity.halves(seed))
            return one, other
    raise InvalidValueError(
        f"A value of {', '.join(names)} has trials in one half of {len(activity)} trials only."
        " Expected trials of all conditions in both halves. Give more trials, or average by a"
        " column with fewer values."
    )


def _ratio(covariance: np.ndarray, squares: float) -> float:
    if not squares > 0:
        raise InvalidValueError(
            "participation_ratio() was given activity without variance, or without variance that"
            " two halves share. Expected units that vary. Select others, or give more trials."
        )
    return float(np.trace(covariance) ** 2 / squares)


def _decoded(
    rates: np.ndarray, values: np.ndarray, folds: int, ridge: float, seed: int
) -> np.ndarray:
    """Return the balanced accuracy, (T, T), from rates (n, T, units)."""
    levels, labels, counts = np.unique(values, return_inverse=True, return_counts=True)
    if len(levels) < 2 or counts.min() < folds or folds < 2:
        raise InvalidValueError(
            f"A decoder was given {len(levels)} values with {counts.min()} trials or more each, and"
            f" {folds} folds. Expected at least two values, with a trial in each fold. Give more"
            " trials, or fewer folds."
        )
    # Each value is in all folds.
    rng = np.random.default_rng(seed)
    part = np.empty(len(labels), int)
    for k in range(len(levels)):
        mine = np.flatnonzero(labels == k)
        part[rng.permutation(mine)] = np.arange(len(mine)) % folds
    right = np.zeros((len(labels), rates.shape[1], rates.shape[1]))
    least = ROUNDING * float(np.abs(rates).max())
    for fold in range(folds):
        test = part == fold
        for t in range(rates.shape[1]):
            weights = fitted(rates[~test, t], labels[~test], len(levels), ridge, least)
            for u in range(rates.shape[1]):
                right[test, t, u] = predicted(weights, rates[test, u]) == labels[test]
    return np.mean([right[labels == k].mean(axis=0) for k in range(len(levels))], axis=0)


Weights = tuple[np.ndarray, np.ndarray, np.ndarray]
ROUNDING = 1e-6
"""Differences relative to the largest rate that are rounding errors of single precision."""


def fitted(
    rates: np.ndarray, labels: np.ndarray, classes: int, ridge: float, least: float | None = None
) -> Weights:
    """Return the weights of a ridge classifier of z-scored units; classes count equally.

    Units whose standard deviation is not above `least` are constant (None: `ROUNDING` times the
    largest rate): z-scores of rounding errors would be as large as those of activity.
    """
    mean, sd = rates.mean(axis=0), rates.std(axis=0)
    least = ROUNDING * float(np.abs(rates).max()) if least is None else least
    sd = np.where(sd > least, sd, np.inf)
    z = np.column_stack([(rates - mean) / sd, np.ones(len(rates))]).astype(np.float64)
    share = 1 / np.bincount(labels, minlength=classes)[labels]
    weighted = z * (share * len(labels) / classes)[:, None]
    penalty = ridge * len(labels) * np.eye(z.shape[1])
    penalty[-1, -1] = 0
    return mean, sd, np.linalg.solve(weighted.T @ z + penalty, weighted.T @ np.eye(classes)[labels])


def predicted(weights: Weights, rates: np.ndarray) -> np.ndarray:
    """Return the classes, (n,), of rates (n, units)."""
    mean, sd, beta = weights
    scores = np.column_stack([(rates - mean) / sd, np.ones(len(rates))]) @ beta
    classes: np.ndarray = scores.argmax(axis=1)
    return classes


def _ranks(values: np.ndarray) -> np.ndarray:
    """Return mid-ranks down the columns of (n, k)."""
    ranks = np.empty(values.shape)
    for column in range(values.shape[1]):
        _, index, counts = np.unique(values[:, column], return_inverse=True, return_counts=True)
        ranks[:, column] = (np.cumsum(counts) - (counts - 1) / 2)[index]
    return ranks


def _correlation(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the correlation of each row of (p, n) with each column of (n, k); 0 if constant."""
    rows = rows - rows.mean(axis=1, keepdims=True)
    columns = columns - columns.mean(axis=0)
    scale = np.linalg.norm(rows, axis=1)[:, None] * np.linalg.norm(columns, axis=0)
    found: np.ndarray = (rows @ columns) / np.where(scale > 0, scale, np.inf)
    return found


def _false_discovery(p: np.ndarray) -> np.ndarray:
    order = np.argsort(p)
    steps = p[order] * len(p) / np.arange(1, len(p) + 1)
    q = np.empty(len(p))
    q[order] = np.minimum(np.minimum.accumulate(steps[::-1])[::-1], 1)
    return q
