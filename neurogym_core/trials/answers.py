"""Answers in a record: which trials were answered, hits and false alarms, one answer given another.

Resting where it was right is no answer. It has the outcome "correct" without a choice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from neurogym_core.trials.arrays import Array, Bools
from neurogym_core.trials.slot_columns import REST_CORRECT


def of_slot(name: str, slot: str | None) -> str:
    """Return the name of a column of an answer slot; of the trial if `slot` is None."""
    return name if slot is None else f"{slot}.{name}"


def answered(columns: Mapping[str, Array], slot: str | None = None) -> Bools:
    """Return which trials were answered rightly or wrongly, (n,); right rests do not count."""
    outcome = columns[of_slot("outcome", slot)]
    judged: Bools = np.isin(outcome, ("correct", "error"))
    name = of_slot(REST_CORRECT, slot)
    return judged & ~((outcome == "correct") & columns[name]) if name in columns else judged


@dataclass(frozen=True)
class Detection:
    """Numbers of trials; a hit is an answer to a signal, of several choices maybe the wrong one."""

    hits: int
    signals: int
    false_alarms: int
    noises: int


def detection(columns: Mapping[str, Array], slot: str | None = None) -> Detection | None:
    """Return hits and false alarms, without aborts and sure bets; None if resting was never, or
    always, right."""
    name = of_slot(REST_CORRECT, slot)
    if name not in columns:
        return None
    outcome, rest = columns[of_slot("outcome", slot)], columns[name].astype(bool)
    judged, given = np.isin(outcome, ("correct", "error", "miss")), answered(columns, slot)
    signal, noise = judged & ~rest, judged & rest
    if not signal.any() or not noise.any():
        return None
    return Detection(
        int((given & signal).sum()), int(signal.sum()), int((given & noise).sum()), int(noise.sum())
    )


def given_correct(columns: Mapping[str, Array], slot: str, earlier: str) -> tuple[int, int]:
    """Return the correct and all answers of a slot in the trials whose earlier answer was right."""
    used = answered(columns, slot) & (columns[of_slot("outcome", earlier)] == "correct")
    right = columns[of_slot("outcome", slot)] == "correct"
    return int((used & right).sum()), int(used.sum())
