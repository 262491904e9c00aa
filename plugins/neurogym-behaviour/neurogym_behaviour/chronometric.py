"""Reaction times per condition, separately for correct answers and errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from neurogym_behaviour._columns import slot_column, values_by
from neurogym_behaviour.intervals import check_confidence
from neurogym_core import TrialRecord


@dataclass(frozen=True)
class ReactionTimeRow:
    """Reaction times at one value of a condition, for one outcome; ms.

    Attributes:
        value: the condition's value.
        outcome: ``"correct"`` or ``"error"``.
        n: trials of that value and outcome that have a reaction time; at least 1.
        mean, median: of the reaction times.
        sem: standard error of the mean, from the sample's standard deviation; NaN for n = 1.
        low, high: Student's t interval of the mean; NaN for n = 1.
        without_time: trials of that value and outcome without a reaction time (answers that were
            correctly withheld).
    """

    value: Any
    outcome: str
    n: int
    mean: float
    median: float
    sem: float
    low: float
    high: float
    without_time: int


def reaction_times(
    record: TrialRecord,
    by: str | ArrayLike | None = "coherence",
    *,
    slot: str | None = None,
    confidence: float = 0.95,
) -> list[ReactionTimeRow]:
    """Return mean and median reaction times for each value of `by`.

    Rows of correct trials come first, then rows of errors, each in ascending order of values.
    Values without any reaction time have no row. The interval is Student's (1908), Biometrika 6:1;
    for the skewed times of few trials it is approximate.

    Args:
        record: n trials.
        by: a condition's name, values (n,), or None for all trials together.
        slot: the answer slot, if a trial has several.
        confidence: confidence level of the interval of the mean.

    Raises:
        UnknownNameError: the record has no such column.
        InvalidValueError: `by` does not have one value per trial, or has NaN values.
    """
    check_confidence(confidence)
    _, values = values_by(record, by)
    times, outcome = (
        slot_column(record, "reaction_time", slot),
        slot_column(record, "outcome", slot),
    )
    rows = []
    for name in ("correct", "error"):
        for value in np.unique(values[outcome == name]):
            chosen = times[(outcome == name) & (values == value)]
            if not np.isnan(chosen).all():
                rows.append(_row(None if by is None else value.item(), name, chosen, confidence))
    return rows


def _row(value: Any, outcome: str, chosen: np.ndarray, confidence: float) -> ReactionTimeRow:
    times = chosen[~np.isnan(chosen)]
    n, mean = len(times), float(times.mean())
    sem = float(times.std(ddof=1) / np.sqrt(n)) if n > 1 else float("nan")
    half = float(stdtrit(n - 1, (1 + confidence) / 2)) * sem if n > 1 else float("nan")
    return ReactionTimeRow(
        value=value,
        outcome=outcome,
        n=n,
        mean=mean,
        median=float(np.median(times)),
        sem=sem,
        low=mean - half,
        high=mean + half,
        without_time=len(chosen) - n,
    )
