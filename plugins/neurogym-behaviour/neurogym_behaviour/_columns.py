"""Read and check the columns of a trial record that an analysis needs."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from neurogym_core import InvalidValueError, TrialRecord


def slot_column(record: TrialRecord, name: str, slot: str | None) -> np.ndarray:
    """Return column `name` of an answer slot, or of the trial if `slot` is None; shape (n,)."""
    return record[record.of_slot(name, slot)]


def is_value(record: TrialRecord, column: str, value: int | str) -> np.ndarray:
    """Return where a column has a value, given by its name, or by the index of a name; (n,)."""
    by_index = record[column].dtype.kind == "U" and not isinstance(value, str)
    return (record.codes(column) if by_index else record[column]) == value


def values_by(record: TrialRecord, by: str | ArrayLike | None) -> tuple[str, np.ndarray]:
    """Return the name and the values, shape (n,), of the variable that groups trials.

    `by` is a column, an array of values, or None for a single group.

    Raises:
        InvalidValueError: not one value per trial, or a value is NaN.
        UnknownNameError: the record has no such column.
    """
    name = by if isinstance(by, str) else "the given array"
    values = (
        np.zeros(len(record), int)
        if by is None
        else record[by]
        if isinstance(by, str)
        else np.asarray(by)
    )
    if values.shape != (len(record),):
        raise InvalidValueError(
            f"Trials cannot be grouped by {name} of shape {values.shape}. Expected one value per"
            f" trial, shape ({len(record)},). Give an array with one value per trial, e.g."
            " one column: values[:, 0]."
        )
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise InvalidValueError(
            f"{name} is NaN in {int(np.isnan(values).sum())} of {len(record)} trials. Expected a"
            " value in each. Leave these trials out first: record[~numpy.isnan(values)]."
        )
    return name, values


SESSIONS = 5
"""With fewer sessions, their differences say too little to be part of intervals."""


def sessions_of(record: TrialRecord) -> np.ndarray | None:
    """Return the number of the session of each trial, (n,); None: fewer than `SESSIONS`.

    Sessions of several subjects differ, whatever their names.
    """
    if "session" not in record:
        return None
    keys = [record[name] for name in ("subject", "session") if name in record]
    numbers = np.stack([np.unique(one, return_inverse=True)[1] for one in keys], axis=1)
    found, each = np.unique(numbers, axis=0, return_inverse=True)
    return each.reshape(-1) if len(found) >= SESSIONS else None


def said_of_sessions(record: TrialRecord) -> str:
    """Return a sentence about intervals that allow for differences of sessions; "": they do not."""
    sessions = sessions_of(record)
    if sessions is None:
        return ""
    return (
        f"Intervals allow for differences between {sessions.max() + 1} sessions; if these do not"
        " differ, the intervals are too wide."
    )
