"""Analyses of events within trials: intervals, cumulative records, the generalised matching law."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from neurogym_behaviour._columns import values_by
from neurogym_behaviour.intervals import check_confidence
from neurogym_core import InvalidValueError, TrialRecord
from neurogym_core.tools import unknown


def inter_event_intervals(record: TrialRecord, name: str) -> np.ndarray:
    """Return the intervals from each event of a name to the next one, ms, (m,).

    Intervals run over the ends of trials, and not over those of sessions or between subjects.

    Args:
        record: trials with events.
        name: of the events.

    Raises:
        UnknownNameError: the record has no such event.
    """
    table = _events(record, name)
    keys = [table[key] for key in ("subject", "session") if key in table]
    order = np.lexsort((table["time"], *keys))
    same = np.ones(max(len(order) - 1, 0), bool)
    for key in keys:
        same &= key[order][1:] == key[order][:-1]
    intervals: np.ndarray = np.diff(table["time"][order])[same]
    return intervals


def cumulative_record(record: TrialRecord, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the times of the events of a name, ms, and their number up to then, (m,) each.

    Skinner's cumulative record is the curve of the second over the first. Source: Ferster & Skinner
    (1957), Schedules of Reinforcement.

    Args:
        record: trials of one subject with events.
        name: of the events.

    Raises:
        UnknownNameError: the record has no such event.
        InvalidValueError: the events are those of several subjects.
    """
    table = _events(record, name)
    for key in ("subject", "env") if "subject" not in table else ("subject",):
        if key in table and len(np.unique(table[key])) > 1:
            raise InvalidValueError(
                f"A record of {len(np.unique(table[key]))} subjects was given. Expected one, whose"
                f' events have one clock. Take one: record[record["{key}"] == 0].'
            )
    return np.sort(table["time"]), np.arange(1, len(table) + 1)


@dataclass(frozen=True)
class MatchingFit:
    """The generalised matching law: log10(B1 / B2) = slope log10(R1 / R2) + log10(bias).

    Attributes:
        slope: sensitivity; 1: strict matching, below 1: undermatching, 0: indifference.
        low, high: Student's t interval of the slope; NaN for two points.
        bias: ratio of responses where the rewards are equal; 1: none.
        n: number of points.
        left_out: points without one of the responses or rewards, whose logarithm does not exist.
    """

    slope: float
    low: float
    high: float
    bias: float
    n: int
    left_out: int


def matching_slope(
    record: TrialRecord,
    responses: tuple[str, str],
    rewards: tuple[str, str],
    *,
    by: str | ArrayLike | None = "trial",
    confidence: float = 0.95,
) -> MatchingFit:
    """Fit the generalised matching law to the numbers of responses and rewards of two sides.

    The line is that of least squares. Source: Baum (1974), J. Exp. Anal. Behav. 22:231,
    doi:10.1901/jeab.1974.22-231, equation 3.

    Args:
        record: trials with events.
        responses, rewards: names of the events of the two sides.
        by: a column, or values (n,), of the trials that are one point; by default each trial is.
        confidence: confidence level of the interval.

    Raises:
        UnknownNameError: the record has no such event.
        InvalidValueError: fewer than two points with all four, or equal ratios of rewards in all.
    """
    check_confidence(confidence)
    _, values = values_by(record, by)
    if isinstance(by, str) and by == "trial" and "subject" in record:
        values = np.arange(len(record))
    _, point = np.unique(values, return_inverse=True)
    log = record.event_log
    counts = np.zeros((4, int(point.max(initial=-1)) + 1))
    for k, name in enumerate((*responses, *rewards)):
        _events(record, name)
        np.add.at(counts[k], point[log.row[log.name == name]], 1)
    usable = (counts > 0).all(axis=0)
    b1, b2, r1, r2 = counts[:, usable]
    x, y, n = np.log10(r1 / r2), np.log10(b1 / b2), int(usable.sum())
    spread = float(((x - x.mean()) ** 2).sum()) if n else 0.0
    if n < 2 or spread == 0:
        raise InvalidValueError(
            f"{n} of {len(usable)} points have both responses and both rewards, with"
            f" {len(np.unique(x))} ratios of rewards. Expected two points at least, of different"
            " ratios. Group more trials with by=, or play schedules that differ."
        )
    slope = float(((x - x.mean()) * (y - y.mean())).sum()) / spread
    intercept = float(y.mean()) - slope * float(x.mean())
    half = np.nan
    if n > 2:
        left = float(((y - intercept - slope * x) ** 2).sum()) / (n - 2)
        half = float(stdtrit(n - 2, (1 + confidence) / 2) * np.sqrt(left / spread))
    return MatchingFit(
        slope, slope - half, slope + half, 10**intercept, n, int((~usable).sum())
    )  # fmt: skip


def _events(record: TrialRecord, name: str) -> TrialRecord:
    """Return the events of a name, or raise `UnknownNameError`."""
    table = record.events
    if name not in table["name"]:
        raise unknown("event", name, np.unique(table["name"]).tolist(), of="the trial record")
    found: TrialRecord = table[table["name"] == name]
    return found
