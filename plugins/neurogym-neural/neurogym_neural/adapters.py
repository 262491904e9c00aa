"""An `Activity` for rsatoolbox, dsa-metric and mtdr, which are imported when they are used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from neurogym_core import InvalidValueError
from neurogym_core.tools import optional
from neurogym_neural.activity import Activity


def to_rsatoolbox(activity: Activity, *, seed: int = 0) -> Any:
    """Return an ``rsatoolbox.data.Dataset`` with a row for each trial, averaged over its steps.

    Columns of the record that have one value per trial are descriptors of the observations, and the
    columns of the units those of the channels. The descriptor "half" has the halves of the trials
    of ``activity.halves(seed)``: crossnobis distances with ``cv_descriptor="half"`` are those of
    `dissimilarity`, and ``boot_noise_ceiling(…, method="spearman")`` those of `representation`.
    Trials in which a unit has no step are left out.

    Args:
        activity: the steps that count; they are averaged.
        seed: seed of the halves.

    Raises:
        MissingDependencyError: rsatoolbox is not installed.
    """
    data = optional("rsatoolbox.data", needed_for="to_rsatoolbox()")
    steps = np.isfinite(activity.rates)
    kept = steps.any(axis=1).all(axis=1)
    rates = np.where(steps, activity.rates, 0)[kept].sum(axis=1, dtype=np.float64)
    half = np.ones(len(activity), int)
    half[np.random.default_rng(seed).permutation(len(half))[: (len(half) + 1) // 2]] = 0
    columns = {name: one for name, one in activity.record.items() if one.ndim == 1}
    return data.Dataset(
        rates / steps[kept].sum(axis=1),
        descriptors={name: one for name, one in activity.facts.items() if isinstance(one, str)},
        obs_descriptors={name: one[kept] for name, one in {**columns, "half": half}.items()},
        channel_descriptors=dict(activity.units),
    )


def dynamical_distances(
    activities: Mapping[str, Activity] | Sequence[Activity],
    *,
    delays: int,
    rank: int,
    score: Literal["wasserstein", "angular"] = "wasserstein",
) -> np.ndarray:
    """Return distances between the dynamics of activities, by dsa-metric, (k, k); 0 is equal.

    Dynamical similarity analysis (Ostrow et al. 2023) fits linear dynamics to delayed activity, and
    compares them; the units need not correspond. Distances depend on both settings, which have no
    default; compare several.

    The unit of replication is the pair of subjects; pairs that share one are not independent.
    Multiple comparisons over settings and pairs: not corrected.

    Args:
        activities: k activities in steps of equal duration, all of which have rates.
        delays: number of steps that are a state.
        rank: number of dimensions of the states.
        score: "wasserstein" compares eigenvalues, "angular" vector fields after the best rotation.

    Raises:
        MissingDependencyError: dsa-metric is not installed.
        InvalidValueError: steps of other durations or without rates, or settings that the
            activities do not have.
    """
    many = list(activities.values() if isinstance(activities, Mapping) else activities)
    missing = sum(not np.isfinite(one.rates).all() for one in many)
    if len(many) < 2 or missing or len({one.step for one in many}) != 1:
        raise InvalidValueError(
            f"dynamical_distances() was given {len(many)} activities, {missing} of them with steps"
            f" without rates, in steps of {sorted({one.step for one in many})} ms. Expected two or"
            " more with rates in all steps, of one duration. Align them to a window that all trials"
            " have, and bin them alike."
        )
    steps = min(one.rates.shape[1] for one in many)
    width = min(one.rates.shape[2] for one in many)
    if not 1 <= delays < steps or not 1 <= rank <= delays * width:
        raise InvalidValueError(
            f"dynamical_distances() was given delays={delays} and rank={rank}. Expected 1 to"
            f" {steps - 1} delays, less than the {steps} steps, and a rank of 1 to delays times the"
            f" {width} units. Give these."
        )
    dsa = optional("DSA", needed_for="dynamical_distances() (pip install dsa-metric)")
    found = dsa.DSA(
        [one.rates.astype(np.float64) for one in many], n_delays=delays, rank=rank,
        score_method=score,
    ).fit_score()  # fmt: skip
    return np.asarray(found, np.float64)


def fit_mtdr(
    activity: Activity,
    by: str | Sequence[str],
    *,
    ranks: Literal["aic"] | Sequence[int] = "aic",
    **options: Any,
) -> Any:
    """Return a fitted ``mtdr.MTDR``: the number of dimensions of each variable, and its axes.

    Model-based targeted dimensionality reduction (Aoi, Mante & Pillow 2020, Nature Neuroscience
    23:1410, doi:10.1038/s41593-020-0696-5) explains trials by a matrix of low rank for each
    variable. ``ranks_`` says how many dimensions each has, chosen by Akaike's criterion, and ``W_``
    the weights of the units; `targeted` has one axis for each variable.

    The unit of replication is the trial. Multiple comparisons over variables: none, Akaike's
    criterion chooses.

    Args:
        activity: trials that have all steps; a unit that has no step in a trial was not recorded.
        by: columns of the record with numbers, bools or two texts; they are z-scored.
        ranks: number of dimensions of each variable; "aic": chosen.
        options: further settings of ``mtdr.MTDR``.

    Raises:
        MissingDependencyError: mtdr is not installed.
        InvalidValueError: a trial lacks some of its steps, or a column has no order.
    """
    names = [by] if isinstance(by, str) else list(by)
    columns = []
    for name in names:
        levels, values = np.unique(activity.record[name], return_inverse=True)
        text = levels.dtype.kind == "U"
        if len(levels) < 2 or (text and len(levels) > 2):
            said = f"has {len(levels)} texts" if text else "does not vary"
            raise InvalidValueError(
                f"fit_mtdr() was given by={name!r}, which {said}. Expected numbers that vary, or"
                " two texts. Give another column."
            )
        column = (values if text else activity.record[name]).astype(np.float64)
        columns.append((column - column.mean()) / column.std())
    known = np.isfinite(activity.rates)
    partly = int((known.any(axis=1) != known.all(axis=1)).any(axis=1).sum())
    if partly:
        raise InvalidValueError(
            f"fit_mtdr() was given {partly} trials that lack some of their steps (NaN). Expected"
            " all steps of a unit in a trial, or none. Align to an event with a shorter window."
        )
    package = optional("mtdr", needed_for="fit_mtdr()")
    return package.MTDR(ranks=ranks, **options).fit(
        activity.rates.transpose(0, 2, 1).astype(np.float64), np.column_stack(columns),
        regressor_names=names,
    )  # fmt: skip


__all__ = ["dynamical_distances", "fit_mtdr", "to_rsatoolbox"]
