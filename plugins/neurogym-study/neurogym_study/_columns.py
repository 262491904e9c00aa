"""Taking from a record what an analysis needs, and saying what is wrong with it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from neurogym_core.errors import InvalidValueError
from neurogym_core.trials.record import TrialRecord


def slot_column(record: TrialRecord, name: str, slot: str | None) -> np.ndarray:
    """Column `name` of an answer slot, or of the trial where `slot` is None; shape (n,)."""
    return record[name if slot is None else f"{slot}.{name}"]


def answered(record: TrialRecord, slot: str | None) -> np.ndarray:
    """bool (n,): trials answered rightly or wrongly. Misses, aborts, sure bets and unasked slots
    are not.
    """
    return np.isin(slot_column(record, "outcome", slot), ["correct", "error"])


def values_by(record: TrialRecord, by: str | ArrayLike | None) -> tuple[str, np.ndarray]:
    """Name and value of what trials are grouped by, shape (n,): a column, values of the caller's,
    or one group.

    Raises:
        InvalidValueError: not one value per trial, or a value that is NaN.
        UnknownNameError: no such column.
    """
    name = by if isinstance(by, str) else "the values given"
    values = (
        np.zeros(len(record), int)
        if by is None
        else record[by]
        if isinstance(by, str)
        else np.asarray(by)
    )
    if values.shape != (len(record),):
        raise InvalidValueError(
            f"Trials were to be grouped by {name}, of shape {values.shape}. Expected one value per"
            f" trial, shape ({len(record)},). Give an array with one value per trial, e.g."
            f" record[{name!r}][:, 0]."
        )
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise InvalidValueError(
            f"{name} is NaN in {int(np.isnan(values).sum())} of {len(record)} trials. Expected a"
            " value in each. Leave these trials out first: record[~numpy.isnan(values)]."
        )
    return name, values
