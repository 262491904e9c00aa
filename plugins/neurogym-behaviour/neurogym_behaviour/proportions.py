"""Fractions of correct answers, or of choices, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from neurogym_behaviour._columns import SESSIONS, is_value, sessions_of, slot_column, values_by
from neurogym_behaviour.intervals import check_confidence, wilson_interval
from neurogym_core import InvalidValueError, TrialRecord

RARE = 6
"""With fewer answers of the rarer kind, intervals of differences of proportions are too wide."""


@dataclass(frozen=True)
class ProportionRow:
    """A proportion at one value of a condition.

    Attributes:
        value: the condition's value.
        k: number of answered trials that were correct (`accuracy`), or in which the choice was made
            (`choice_proportions`).
        n: number of trials answered correctly or incorrectly.
        fraction: ``k / n``; NaN if no trial was answered.
        low, high: Wilson's interval of the fraction; with five or more sessions (column
            ``session``), of as many independent trials as have its variance between sessions.
        unanswered: trials left out because they were missed, aborted, or not asked.
        other: trials left out because the answer was neither correct nor incorrect (a sure bet).
    """

    value: Any
    k: int
    n: int
    fraction: float
    low: float
    high: float
    unanswered: int
    other: int


def accuracy(
    record: TrialRecord,
    by: str | ArrayLike | None = "coherence",
    *,
    slot: str | None = None,
    confidence: float = 0.95,
) -> list[ProportionRow]:
    """Return the fraction correct among the answered trials, for each value of `by`.

    Rows are in ascending order of values.

    Args:
        record: n trials.
        by: a condition's name, values (n,), or None for all trials together.
        slot: the answer slot, if a trial has several; None is the trial's overall outcome.
        confidence: of Wilson's interval.

    Raises:
        UnknownNameError: the record has no such column.
        InvalidValueError: `by` does not have one value per trial, or has NaN values.
    """
    return _proportions(
        record, by, slot_column(record, "outcome", slot) == "correct", slot, confidence
    )


def choice_proportions(
    record: TrialRecord,
    by: str | ArrayLike | None,
    *,
    choice: int | str = 1,
    slot: str | None = None,
    confidence: float = 0.95,
) -> list[ProportionRow]:
    """Return the fraction of answered trials with the choice `choice`, a name or an index.

    Otherwise as `accuracy`.
    With ``by=signed_strength(record)`` these are the points of a psychometric function from 0 to 1.
    """
    hit = is_value(record, record.of_slot("choice", slot), choice)
    return _proportions(record, by, hit, slot, confidence)


def signed_strength(
    record: TrialRecord,
    strength: str = "coherence",
    side: str = "direction",
    *,
    right: int | str = 1,
) -> np.ndarray:
    """Return `strength`, negated where column `side` is not `right`; float, shape (n,).

    `right` is a value of the column, or the index of a name.

    Raises:
        UnknownNameError: the record has no such column.
        InvalidValueError: the columns are not one number and one value per trial, or `side` has
            more than two values.
    """
    _, values = values_by(record, strength)
    _, sides = values_by(record, side)
    found, is_right = np.unique(sides).tolist(), is_value(record, side, right)
    known = is_right.any() or len(found) < 2
    if values.dtype.kind not in "iuf" or len(found) > 2 or not known:
        raise InvalidValueError(
            f"signed_strength() was given {strength!r} ({values.dtype}), {side!r} with the values"
            f" {found!r:.60}, and right={right!r}. Expected numbers, and two sides of which one is"
            " right. Give the names of the two columns, and the value of the second that counts as"
            " right."
        )
    return np.where(is_right, values, -1.0 * values) + 0.0  # no negative zeros


def _proportions(
    record: TrialRecord,
    by: str | ArrayLike | None,
    hit: np.ndarray,
    slot: str | None,
    confidence: float,
) -> list[ProportionRow]:
    check_confidence(confidence)
    _, values = values_by(record, by)
    was_answered, other = record.answered(slot), slot_column(record, "outcome", slot) == "other"
    levels, group = np.unique(values, return_inverse=True)
    k, n, n_other, n_all = (
        np.bincount(group[chosen], minlength=len(levels))
        for chosen in (hit & was_answered, was_answered, other, np.ones(len(record), bool))
    )
    alike = _independent(sessions_of(record), hit & was_answered, was_answered, group, confidence)
    low, high = wilson_interval(k * alike, n * alike, confidence)
    columns = (levels, k, n, low, high, n_other, n_all)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [
        ProportionRow(
            value=None if by is None else value,
            k=hits,
            n=trials,
            fraction=hits / trials if trials else float("nan"),
            low=lower,
            high=upper,
            unanswered=total - trials - others,
            other=others,
        )
        for value, hits, trials, lower, upper, others, total in rows
    ]


def _independent(
    sessions: np.ndarray | None,
    hit: np.ndarray,
    asked: np.ndarray,
    group: np.ndarray,
    confidence: float,
) -> np.ndarray:
    """Return the independent trials for each trial of a group, (groups,); 1 without sessions.

    The variance of a proportion over that of independent trials is the design effect (Kish 1965);
    it is computed from the sums of sessions, with the quantile of Student's t for their number.
    """
    if sessions is None:
        return np.ones(())
    from scipy.special import stdtrit

    share = np.ones(group.max() + 1)
    for one in range(len(share)):
        rows = asked & (group == one)
        n = np.bincount(sessions[rows])
        k = np.bincount(sessions[rows], weights=hit[rows])
        m = int((n > 0).sum())
        if m < SESSIONS:
            continue
        p = k.sum() / n.sum()
        effect = 1.0
        if 0 < p < 1:
            effect = m / (m - 1) * ((k - p * n) ** 2).sum() / (n.sum() * p * (1 - p))
        level = (1 + confidence) / 2
        wider = stdtrit(m - 1, level) / NormalDist().inv_cdf(level)
        share[one] = 1 / (max(effect, 1) * wider**2)
    return share


def difference_interval(
    k1: int, n1: int, k2: int, n2: int, confidence: float = 0.95
) -> tuple[float, float, float]:
    """Return k1 / n1 - k2 / n2, and the ends of its interval.

    Source: Newcombe (1998), Stat. Med. 17:873, method 10, from two Wilson intervals.
    """
    p1, p2 = k1 / n1, k2 / n2
    (low1, high1), (low2, high2) = (
        wilson_interval(k, n, confidence) for k, n in ((k1, n1), (k2, n2))
    )
    difference = p1 - p2
    return (
        difference,
        difference - float(np.hypot(p1 - low1, high2 - p2)),
        difference + float(np.hypot(high1 - p1, p2 - low2)),
    )


def wide_difference(k1: int, n1: int, k2: int, n2: int) -> str:
    """Return a sentence if the interval of `difference_interval` is wide; "" if it is not.

    Where nearly all answers are alike, it contains the truth in more than 97 % of data sets (the
    table of coverage, `docs/_make/coverage.py`).
    """
    rare = min(k1 + k2, n1 + n2 - k1 - k2)
    if rare >= RARE:
        return ""
    return (
        f"all of the {n1 + n2} answers but {rare} are alike. With fewer than {RARE} others, the"
        " 95 % interval is too wide: it contains the truth in 98 to 100 % of the cases."
    )
