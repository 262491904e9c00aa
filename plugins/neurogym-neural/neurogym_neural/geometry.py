"""How populations arrange conditions, and how alike two populations are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np

from neurogym_core import InvalidValueError
from neurogym_neural.activity import Activity, over_steps, refuse_missing
from neurogym_neural.coding import fitted, predicted


@dataclass(frozen=True, eq=False)
class Generalisation:
    """Whether a decoder holds for conditions with which it was not fitted.

    Attributes:
        accuracy: mean fraction right in the left-out conditions; 0.5 by chance.
        p: how often as much is reached where the means of the conditions lie at random.
        null: (repeats,) accuracies of these arrangements.
    """

    accuracy: float
    p: float
    null: np.ndarray


def generalisation(
    activity: Activity,
    by: str,
    across: str,
    *,
    ridge: float = 1.0,
    repeats: int = 199,
    seed: int = 0,
) -> Generalisation:
    """Return the cross-condition generalisation of a variable with two values.

    A decoder of `by` is fitted without one value of `across`, and tested on it; the accuracies are
    averaged over the values of `across`. In the null arrangements, the mean of each condition is
    moved into a random direction, as far from the common mean as before, and trials keep their
    deviations from it: conditions are as separable, without a common axis. Bernardi et al. (2020),
    Cell 183:954, doi:10.1016/j.cell.2020.09.031, define the measure; the null is ours.

    The unit of replication of `p` is the arrangement of the conditions in one subject, not the
    trial. Multiple comparisons over variables: not corrected.

    Args:
        activity: the steps that count; they are averaged.
        by: a column with two values.
        across: a column with two or more.
        ridge: as in `decode`.
        repeats: number of null arrangements.
        seed: seed of the arrangements.

    Raises:
        InvalidValueError: `by` has other than two values, or a combination has no trial.
    """
    refuse_missing(activity, [by, across], "generalisation")
    one, labels = np.unique(activity.record[by], return_inverse=True)
    other, groups = np.unique(activity.record[across], return_inverse=True)
    cell = labels * len(other) + groups
    if len(one) != 2 or len(other) < 2 or len(np.unique(cell)) != 2 * len(other):
        raise InvalidValueError(
            f"generalisation() was given by={by!r} with {len(one)} values and across={across!r}"
            f" with {len(other)}, in {len(np.unique(cell))} combinations. Expected two values, two"
            " or more, and trials of all combinations. Give other columns, or select trials."
        )
    rates = over_steps(activity, "generalisation")

    def accuracy(values: np.ndarray) -> float:
        found = []
        for k in range(len(other)):
            test = groups == k
            weights = fitted(values[~test], labels[~test], 2, ridge)
            right = predicted(weights, values[test]) == labels[test]
            found.append(np.mean([right[labels[test] == side].mean() for side in (0, 1)]))
        return float(np.mean(found))

    means = np.array([rates[cell == k].mean(axis=0) for k in range(2 * len(other))])
    centre = means.mean(axis=0)
    rest = rates - means[cell]
    lengths = np.linalg.norm(means - centre, axis=1, keepdims=True)
    rng = np.random.default_rng(seed)
    null = np.empty(repeats)
    for k in range(repeats):
        ways = rng.standard_normal(means.shape)
        ways /= np.linalg.norm(ways, axis=1, keepdims=True)
        null[k] = accuracy(rest + (centre + lengths * ways)[cell])
    reached = accuracy(rates)
    return Generalisation(reached, float((1 + (null >= reached).sum()) / (1 + repeats)), null)


def shattering(
    activity: Activity, by: Sequence[str], *, folds: int = 2, ridge: float = 1.0, seed: int = 0
) -> float:
    """Return the mean balanced accuracy of decoders of all balanced dichotomies of conditions.

    A dichotomy has one half of the conditions on each side. Accuracies are those of other trials;
    0.5 by chance. The number of separable dichotomies grows with the dimensions of the code: a copy
    of a few labels separates few. After Rigotti et al. (2013), Nature 497:585,
    doi:10.1038/nature12160, and Bernardi et al. (2020).

    The unit of replication is the trial. Multiple comparisons over dichotomies: none, their mean is
    returned.

    Args:
        activity: the steps that count; they are averaged.
        by: columns of the record, whose combinations are 4 to 10 conditions, an even number.
        folds, ridge, seed: as in `decode`.

    Raises:
        InvalidValueError: another number of conditions, or one with fewer trials than folds.
    """
    refuse_missing(activity, by, "shattering")
    columns = [np.unique(activity.record[name], return_inverse=True)[1] for name in by]
    _, cell, counts = np.unique(
        np.column_stack(columns), axis=0, return_inverse=True, return_counts=True
    )
    number = len(counts)
    if number not in (4, 6, 8, 10) or counts.min() < folds:
        raise InvalidValueError(
            f"shattering() was given {tuple(by)!r}, with {number} conditions of {counts.min()}"
            f" trials or more. Expected 4, 6, 8 or 10, with {folds} trials each. Give columns with"
            " fewer values, or more trials."
        )
    rates = over_steps(activity, "shattering")
    cell = np.reshape(cell, -1)
    rng = np.random.default_rng(seed)
    part = np.empty(len(cell), int)
    for k in range(number):
        mine = np.flatnonzero(cell == k)
        part[rng.permutation(mine)] = np.arange(len(mine)) % folds
    found = []
    # The first condition is always on the left, so that no dichotomy counts twice.
    for rest in combinations(range(1, number), number // 2 - 1):
        labels = (~np.isin(cell, (0, *rest))).astype(int)
        right = np.empty(len(cell))
        for fold in range(folds):
            test = part == fold
            weights = fitted(rates[~test], labels[~test], 2, ridge)
            right[test] = predicted(weights, rates[test]) == labels[test]
        # Conditions count equally, whatever their numbers of trials.
        found.append(np.mean([right[cell == k].mean() for k in range(number)]))
    return float(np.mean(found))


def similarity(
    one: Activity,
    other: Activity,
    measure: Literal["cka", "procrustes"] = "cka",
    *,
    without: Any = None,
) -> float:
    """Return how alike two populations are in the same trials, 0 to 1.

    The raw value is high for an untrained network and a trained one, because both follow their
    inputs. With ``without=inputs``, the linear part that they explain is subtracted from both
    first. "cka" is the linear centred kernel alignment (Kornblith et al. 2019); "procrustes" is
    the cosine after the best rotation (Williams et al. 2021).

    The unit of replication is the pair of subjects; pairs that share one are not independent.
    Multiple comparisons over pairs: not corrected.

    Args:
        one, other: activities of the same trials and steps, of any units.
        measure: "cka" or "procrustes".
        without: (n, T, k) signals to regress out, such as inputs and their running sums.

    Raises:
        InvalidValueError: trials or steps differ, or no row is complete.
    """
    parts = [one.rates, other.rates, *([] if without is None else [np.asarray(without)])]
    if len({part.shape[:2] for part in parts}) != 1 or measure not in ("cka", "procrustes"):
        raise InvalidValueError(
            f"similarity() was given {measure!r} and (trials, steps) of"
            f" {[part.shape[:2] for part in parts]}. Expected 'cka' or 'procrustes', and the same"
            " trials and steps. Align both alike."
        )
    flat = [part.reshape(-1, part.shape[2]).astype(np.float64) for part in parts]
    complete = np.all([np.isfinite(part).all(axis=1) for part in flat], axis=0)
    if complete.sum() < 3:
        raise InvalidValueError(
            "similarity() was given activities without three steps that both have. Expected such"
            " steps. Align both alike."
        )
    flat = [part[complete] - part[complete].mean(axis=0) for part in flat]
    a, b = flat[:2]
    if without is not None:
        a, b = (part - flat[2] @ np.linalg.lstsq(flat[2], part, rcond=None)[0] for part in (a, b))
    cross = a.T @ b
    if measure == "cka":
        scale = np.linalg.norm(a.T @ a) * np.linalg.norm(b.T @ b)
        return float(np.linalg.norm(cross) ** 2 / scale) if scale > 0 else 0.0
    scale = np.linalg.norm(a) * np.linalg.norm(b)
    return float(np.linalg.norm(cross, "nuc") / scale) if scale > 0 else 0.0
