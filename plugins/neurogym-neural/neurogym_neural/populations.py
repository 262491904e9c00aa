"""Subspaces and groups of units: task variables, demixed components, clusters, rotations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any

import numpy as np

from neurogym_core import InvalidValueError
from neurogym_neural.activity import Activity, Means, nanmean, over_steps, refuse_missing
from neurogym_neural.coding import of_halves


@dataclass(frozen=True, eq=False)
class Axes:
    """Axes of task variables in the space of the units.

    Attributes:
        axes: (variables, units), orthonormal, in the order of the variables.
        weights: (variables, units) of the regression, before they were made orthogonal.
    """

    axes: np.ndarray
    weights: np.ndarray


def targeted(rates: Any, variables: Any, *, components: int = 12) -> Axes:
    """Return the axes of targeted dimensionality reduction.

    Units are regressed on all variables together, the weights are projected onto the first
    principal components of the predicted activity, and made orthogonal in the order of the
    variables. Find axes in one half of the trials, and project the other half. After Mante et al.
    (2013), Nature 503:78, doi:10.1038/nature12742, who regress at each time.

    The unit of replication is the trial. Multiple comparisons over variables: none, there is no
    p-value.

    Args:
        rates: (n, units), z-scored, averaged over the steps that count.
        variables: (n, k), of comparable size.
        components: number of principal components that are kept.

    Raises:
        InvalidValueError: other numbers of rows, or variables that depend on each other.
    """
    rates, variables = np.asarray(rates, np.float64), np.asarray(variables, np.float64)
    if rates.ndim != 2 or variables.ndim != 2 or len(rates) != len(variables):
        raise InvalidValueError(
            f"targeted() was given rates {rates.shape} and variables {variables.shape}. Expected"
            " (n, units) and (n, k) of the same trials. Average over steps, and stack the columns."
        )
    missing = int(
        (~np.isfinite(rates)).any(axis=1).sum() + (~np.isfinite(variables)).any(axis=1).sum()
    )
    if missing or not rates.size:
        raise InvalidValueError(
            f"targeted() was given {len(rates)} trials, {missing} with rates or variables that are"
            " missing (NaN). Expected numbers. Select trials and units that have them."
        )
    x = np.column_stack([np.ones(len(variables)), variables])
    if np.linalg.matrix_rank(x) < x.shape[1]:
        raise InvalidValueError(
            f"targeted() was given {variables.shape[1]} variables that depend on each other, or do"
            " not vary. Expected independent ones. Leave one out."
        )
    weights = np.linalg.lstsq(x, rates, rcond=None)[0][1:]
    predicted = (variables - variables.mean(axis=0)) @ weights
    ways = np.linalg.svd(predicted, full_matrices=False)[2][:components]
    kept = weights @ ways.T @ ways
    q, r = np.linalg.qr(kept.T)
    return Axes((q * np.where(np.diag(r) < 0, -1, 1)).T, weights)


@dataclass(frozen=True, eq=False)
class Demixed:
    """Components of one marginalisation: a condition, time, or an interaction.

    Attributes:
        decoder: (units, components); activity times it are the components.
        encoder: (components, units).
        share: part of the variance of all condition means that they explain, 0 to 1.
    """

    decoder: np.ndarray
    encoder: np.ndarray
    share: float


def marginalisations(means: Means) -> dict[str, np.ndarray]:
    """Return the parts of condition means that depend on each combination of conditions and time.

    Args:
        means: means of all combinations of the conditions, all steps of which have trials.

    Returns:
        "time", "side", "side x time", …: -> arrays of the shape of ``means.mean``; their sum is the
        mean activity, without the mean over everything.

    Raises:
        InvalidValueError: a step has no trials.
    """
    if not np.isfinite(means.mean).all():
        raise InvalidValueError(
            "marginalisations() was given means with steps that have no trial (NaN). Expected all"
            " steps in all conditions. Align to an event with a shorter window."
        )
    names = list(means.conditions)
    sizes = [len(np.unique(means.conditions[name])) for name in names]
    grid = means.mean.reshape(*sizes, *means.mean.shape[1:]).astype(np.float64)
    kept = (*names, "time")
    found: dict[str, np.ndarray] = {}
    axes = range(len(kept))
    lower: dict[tuple[int, ...], np.ndarray] = {(): grid.mean(axis=tuple(axes), keepdims=True)}
    for chosen in chain.from_iterable(combinations(axes, k) for k in range(1, len(kept) + 1)):
        rest = tuple(axis for axis in axes if axis not in chosen)
        part = grid.mean(axis=rest, keepdims=True) if rest else grid
        for smaller in chain.from_iterable(combinations(chosen, k) for k in range(len(chosen))):
            part = part - lower[smaller]
        lower[chosen] = part
        found[" x ".join(kept[axis] for axis in chosen)] = np.broadcast_to(
            part, grid.shape
        ).reshape(means.mean.shape)
    return found


def demixed(means: Means, *, components: int = 3, ridge: float = 1e-3) -> dict[str, Demixed]:
    """Return demixed principal components of condition means.

    For each marginalisation, the decoder and the encoder of few components that reconstruct it from
    all activity, by reduced-rank ridge regression. A condition and its interaction with time are
    one, as in Kobak et al. (2016), eLife 5:e10989, doi:10.7554/eLife.10989. The numbers are those
    of dPCA 1.0.5, whose regularizer is sqrt(penalty) / total variance.

    The unit of replication is the trial, of whose means these are parts; find components in
    one half and project the other. Multiple comparisons: none is made.

    Args:
        means: means of all combinations of the conditions.
        components: components of each marginalisation.
        ridge: penalty, relative to the variance of the activity.

    Raises:
        InvalidValueError: a step has no trials, or the means do not vary.
    """
    parts: dict[str, np.ndarray] = {}
    for name, part in marginalisations(means).items():
        base = " x ".join(one for one in name.split(" x ") if one != "time") or "time"
        parts[base] = parts[base] + part if base in parts else part.copy()
    x = means.mean.reshape(-1, means.mean.shape[2]).astype(np.float64)
    x = x - x.mean(axis=0)
    gram = x.T @ x
    penalty = ridge * np.trace(gram) / len(gram) * np.eye(len(gram))
    total = (x**2).sum()
    if not total > 0:
        raise InvalidValueError(
            "demixed() was given means that do not vary. Expected units that differ over conditions"
            " or time. Select others."
        )
    found = {}
    for name, part in parts.items():
        y = part.reshape(x.shape)
        weights = np.linalg.solve(gram + penalty, x.T @ y)
        # The penalty is part of the error that the components of lower rank minimise.
        fit = np.vstack([x @ weights, np.sqrt(penalty) @ weights])
        ways = np.linalg.svd(fit, full_matrices=False)[2][:components]
        decoder = weights @ ways.T
        rest = ((x - x @ decoder @ ways) ** 2).sum()
        found[name] = Demixed(decoder, ways, float(1 - rest / total))
    return found


# ---- tasks and groups of units ----


def task_variance(activity: Activity, by: str = "task", least: float = 1e-3) -> np.ndarray:
    """Return how each task drives each unit, (units, tasks): its variance over trials, relative.

    The variance over trials of a task at each step, averaged over steps, is divided by the largest
    over tasks, as in Yang et al. (2019), Nature Neuroscience 22:297,
    doi:10.1038/s41593-018-0310-2. Units whose largest variance is below `least` times the largest
    of all are NaN.

    The unit of replication is the trial of a task. Multiple comparisons: none is made.

    Args:
        activity: trials of several tasks.
        by: the column with the task.

    Raises:
        InvalidValueError: a task has no step with two trials.
    """
    found = []
    refuse_missing(activity, [by], "task_variance")
    for name in np.unique(activity.record[by]):
        rates = activity.rates[activity.record[by] == name].astype(np.float64)
        n = np.isfinite(rates).sum(axis=0)
        mean = np.nansum(rates, axis=0) / np.maximum(n, 1)
        spread = np.nansum((rates - mean) ** 2, axis=0) / np.maximum(n, 1)
        if not (n > 1).any():
            raise InvalidValueError(
                f"task_variance() was given {len(rates)} trials of {by}={name}. Expected steps with"
                " two trials at least. Give more trials, or select tasks that have them."
            )
        found.append(nanmean(np.where(n > 1, spread, np.nan)))
    variance = np.array(found).T
    most = variance.max(axis=1)
    dead = ~(most > least * np.nanmax(most))
    return np.where(dead[:, None], np.nan, variance / np.where(dead, 1, most)[:, None])


def clusters(
    features: Any, held_out: Any, number: int, *, seed: int = 0
) -> tuple[np.ndarray, float]:
    """Return groups of units by k-means, and their silhouette in held-out trials.

    Groups that are found in noise look separate in the trials in which they were found, and not in
    others.

    The unit of replication is the subject, of whose units these are groups. Multiple comparisons
    over numbers of groups: not corrected; the largest silhouette of several is too large.

    Args:
        features: (units, k) from one half of the trials; units with NaN belong to no group.
        held_out: (units, k) from the other half.
        number: number of groups.
        seed: seed of ten starts, the best of which counts.

    Returns:
        (units,) the group of each unit, -1 for none; and the mean silhouette, -1 to 1.

    Raises:
        InvalidValueError: fewer units than groups, or other shapes.
    """
    features, held_out = np.asarray(features, np.float64), np.asarray(held_out, np.float64)
    if features.shape != held_out.shape or number < 2:
        raise InvalidValueError(
            f"clusters() was given features {features.shape}, held_out {held_out.shape} and"
            f" number={number}. Expected equal shapes, (units, k), and two groups or more. Compute"
            " both from halves of the same trials."
        )
    known = np.isfinite(features).all(axis=1) & np.isfinite(held_out).all(axis=1)
    x = features[known]
    if len(np.unique(x, axis=0)) <= number:
        raise InvalidValueError(
            f"clusters() was given {len(x)} units for {number} groups. Expected more units. Give"
            " fewer groups."
        )
    rng = np.random.default_rng(seed)
    best, least = None, np.inf
    for _ in range(10):
        labels, cost = _k_means(x, number, rng)
        if cost < least:
            best, least = labels, cost
    groups = np.full(len(features), -1)
    groups[known] = best
    return groups, silhouette(held_out[known], groups[known])


def _k_means(x: np.ndarray, number: int, rng: np.random.Generator) -> tuple[np.ndarray, float]:
    centres = x[rng.integers(len(x))][None]
    while len(centres) < number:  # far points are likelier (k-means++)
        away = ((x[:, None] - centres) ** 2).sum(axis=2).min(axis=1)
        centres = np.vstack([centres, x[rng.choice(len(x), p=away / away.sum())]])
    for _ in range(100):
        away = ((x[:, None] - centres) ** 2).sum(axis=2)
        labels = away.argmin(axis=1)
        moved = np.array(
            [
                x[labels == k].mean(axis=0) if (labels == k).any() else centres[k]
                for k in range(number)
            ]
        )
        if np.allclose(moved, centres):
            break
        centres = moved
    return labels, float(away.min(axis=1).sum())


def silhouette(x: Any, groups: Any) -> float:
    """Return the mean silhouette of points (n, k) in groups (n,): -1 to 1; NaN for one group."""
    x, groups = np.asarray(x, np.float64), np.asarray(groups)
    names = np.unique(groups)
    if len(names) < 2:
        return np.nan
    away = np.sqrt(((x[:, None] - x[None]) ** 2).sum(axis=2))
    sums = np.array([away[:, groups == name].sum(axis=1) for name in names])
    sizes = np.array([(groups == name).sum() for name in names])
    own = np.searchsorted(names, groups)
    rows = np.arange(len(x))
    within = sums[own, rows] / np.maximum(sizes[own] - 1, 1)
    means = sums / sizes[:, None]
    means[own, rows] = np.inf
    between = means.min(axis=0)
    largest = np.maximum(within, between)
    values = np.where(largest > 0, (between - within) / np.where(largest > 0, largest, 1), 0)
    return float(np.where(sizes[own] > 1, values, 0).mean())


# ---- rotations ----


@dataclass(frozen=True, eq=False)
class Rotations:
    """How far the dynamics of condition means are rotations.

    Attributes:
        r2: R2 of the best skew-symmetric dynamics.
        ratio: `r2` divided by that of the best linear dynamics; without a control.
        p: how often as large an `r2` is reached where the conditions are permuted in each unit.
        null: (permutations,) their R2.
    """

    r2: float
    ratio: float
    p: float
    null: np.ndarray


def rotations(
    means: Means, *, components: int = 6, permutations: int = 199, seed: int = 0
) -> Rotations:
    """Return how far condition means rotate, with a control by permutation.

    After jPCA (Churchland et al. 2012, Nature 487:51, doi:10.1038/nature11129). Smooth activity
    with lags rotates as well, so that the ratio alone shows nothing. In the control, the conditions
    are permuted in each unit separately: all time courses remain, with their lags, and dynamics
    that the units share are lost. It keeps less than the covariance-matched surrogates of Elsayed &
    Cunningham (2017), Nature Neuroscience 20:1310.

    The unit of replication of `p` is the condition of one subject. Multiple comparisons: none is
    made.

    Args:
        means: means by condition, all steps of which have trials; at least four conditions.
        components: principal components in which the dynamics are fitted, an even number.
        permutations: number of controls.
        seed: seed of the controls.

    Raises:
        InvalidValueError: fewer than four conditions, or a step without trials.
    """
    rates = means.mean.astype(np.float64)
    varied = rates - rates.mean(axis=0)
    enough = len(rates) >= 4 and rates.shape[1] >= 3 and rates.shape[2] >= 2
    if not enough or not np.isfinite(rates).all() or not np.diff(varied, axis=1).any():
        raise InvalidValueError(
            f"rotations() was given means of shape {rates.shape}. Expected four conditions or more,"
            " three steps or more, two units or more that differ over conditions and time, and"
            " trials at all steps. Average by another column, or align to a shorter window."
        )
    rates = varied
    reached, ratio = _rotation(_reduced(rates, components))
    rng = np.random.default_rng(seed)
    null = np.empty(permutations)
    for k in range(permutations):
        order = rng.random((len(rates), rates.shape[2])).argsort(axis=0)
        mixed = np.take_along_axis(rates, order[:, None], axis=0)
        null[k] = _rotation(_reduced(mixed, components))[0]
    return Rotations(
        reached, ratio, float((1 + (null >= reached).sum()) / (1 + permutations)), null
    )


def _reduced(rates: np.ndarray, components: int) -> np.ndarray:
    """Return the principal components of (conditions, T, units)."""
    flat = rates.reshape(-1, rates.shape[2])
    ways = np.linalg.eigh(flat.T @ flat)[1][:, ::-1][:, :components]
    return rates @ ways


def _rotation(states: np.ndarray) -> tuple[float, float]:
    """Return the R2 of skew-symmetric dynamics, and its ratio to that of any linear ones."""
    x = states[:, :-1].reshape(-1, states.shape[2])
    change = np.diff(states, axis=1).reshape(x.shape)
    any_ = np.linalg.lstsq(x, change, rcond=None)[0]
    # change = x M with M' = -M: one column for each pair of components.
    pairs = list(combinations(range(x.shape[1]), 2))
    design = np.zeros((*x.shape, len(pairs)))
    for k, (i, j) in enumerate(pairs):
        design[:, j, k], design[:, i, k] = x[:, i], -x[:, j]
    flat = design.reshape(-1, len(pairs))
    skew = np.linalg.lstsq(flat, change.reshape(-1), rcond=None)[0]
    total = (change**2).sum()
    linear = 1 - ((change - x @ any_) ** 2).sum() / total
    rotating = 1 - ((change.reshape(-1) - flat @ skew) ** 2).sum() / total
    return float(rotating), float(rotating / linear) if linear > 0 else 0.0


# ---- representational similarity ----


@dataclass(frozen=True, eq=False)
class Representation:
    """How alike the distances between conditions are in two sets of subjects.

    Attributes:
        correlation: mean Spearman correlation of one system's distances with those of each subject.
        low, high: noise ceilings: the same for the mean ranks of the other subjects, and of all.
    """

    correlation: float
    low: float
    high: float


def dissimilarity(activity: Activity, by: str | Sequence[str], *, seed: int = 0) -> np.ndarray:
    """Return cross-validated distances between conditions, (pairs,): 0 on average where equal.

    They are products of the differences in two halves of the trials, per unit: noise does not
    enlarge them, and they can be below 0 (crossnobis distances without whitening).

    The unit of replication is the trial. Multiple comparisons over pairs: not corrected.
    """
    over_steps(activity, "dissimilarity")  # raises for units without activity
    a, b = (nanmean(part.mean, axis=1) for part in of_halves(activity, by, seed))
    pairs = list(combinations(range(len(a)), 2))
    found: np.ndarray = np.array([(a[j] - a[k]) @ (b[j] - b[k]) for j, k in pairs]) / a.shape[1]
    return found


def representation(model: Any, subjects: Mapping[str, Any] | Sequence[Any]) -> Representation:
    """Return how a model's distances agree with those of several subjects, with noise ceilings.

    The unit of replication is the subject. Multiple comparisons over models: not corrected.

    Args:
        model: (pairs,) distances of `dissimilarity`.
        subjects: (pairs,) distances of each of at least two animals or networks.

    Raises:
        InvalidValueError: fewer than two subjects, other numbers of pairs, or undefined distances.
    """
    rows = list(subjects.values()) if isinstance(subjects, Mapping) else list(subjects)
    if len(rows) < 2 or len({np.shape(one) for one in (model, *rows)}) != 1:
        raise InvalidValueError(
            f"representation() was given {len(rows)} subjects and a model of shape"
            f" {np.shape(model)}. Expected two subjects or more, with the same pairs. Compute the"
            " distances of the same conditions."
        )
    if not all(np.isfinite(one).all() for one in (model, *rows)):
        raise InvalidValueError(
            "representation() was given distances that are undefined (NaN). Expected a number for"
            " each pair. Leave out conditions without activity, in all subjects."
        )
    # Sums, which are exact, and not means: equal ranks stay equal.
    ranks = np.array([_ranks(one) for one in rows])
    low = [_spearman(ranks.sum(axis=0) - one, one) for one in ranks]
    high = [_spearman(ranks.sum(axis=0), one) for one in ranks]
    with_model = [_spearman(model, one) for one in ranks]
    return Representation(float(np.mean(with_model)), float(np.mean(low)), float(np.mean(high)))


def _ranks(values: Any) -> np.ndarray:
    """Return ranks; equal values have the mean of their ranks."""
    _, where, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    ranks: np.ndarray = (np.cumsum(counts) - (counts - 1) / 2)[np.reshape(where, -1)]
    return ranks


def _spearman(one: Any, other: Any) -> float:
    """Return the rank correlation; 0 if one of them is constant."""
    a, b = (ranks - ranks.mean() for ranks in (_ranks(one), _ranks(other)))
    scale = np.linalg.norm(a) * np.linalg.norm(b)
    return float(a @ b / scale) if scale > 0 else 0.0
