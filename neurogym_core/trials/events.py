"""`Events`: events within trials, beside the table that has one row per trial."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from neurogym_core.errors import InvalidValueError, listed

TRIAL_NUMBERS = ("subject", "env", "session", "trial")
"""Columns that tell trials apart; tables of events have those that their record has."""


class Events(NamedTuple):
    """m events; those of a trial are in the order of time.

    Attributes:
        row: (m,) int64, row of the trial in its record.
        time: (m,) float64, ms, on the clock of the record's other times.
        name: (m,) str.
        value: (m,) float64.
    """

    row: np.ndarray
    time: np.ndarray
    name: np.ndarray
    value: np.ndarray

    @staticmethod
    def of(given: Mapping[str, Any] | Events | None, n: int) -> Events:
        """Return the events of a record of n trials, checked.

        Args:
            given: name -> (m,) of each field, or events; None: no events.
            n: number of trials.

        Raises:
            InvalidValueError: other fields, arrays of several lengths, or rows that do not exist.
        """
        if given is None:
            given = {"row": [], "time": [], "name": [], "value": []}
        named = given._asdict() if isinstance(given, Events) else given
        if set(named) != set(Events._fields):
            raise InvalidValueError(
                f"events= of a TrialRecord was given {listed(named)}. Expected"
                f" {listed(Events._fields)}, each (m,). Give these arrays."
            )
        kinds = (np.int64, np.float64, np.str_, np.float64)
        events = Events(*(np.array(named[name]).astype(kind)
                          for name, kind in zip(Events._fields, kinds, strict=True)))  # fmt: skip
        shapes = {values.shape for values in events}
        row = events.row
        if len(shapes) > 1 or row.ndim != 1 or ((row < 0) | (row >= n)).any():
            raise InvalidValueError(
                f"events= of a TrialRecord of {n} trials was given arrays of the shapes"
                f" {[values.shape for values in events]}. Expected one length, and rows from 0 to"
                f" {n - 1}. Give one row, time, name and value per event."
            )
        order = np.lexsort((events.time, row))
        events = Events(*(values[order] for values in events))
        for values in events:
            values.setflags(write=False)
        return events

    @staticmethod
    def of_table(table: Mapping[str, np.ndarray], record: Mapping[str, np.ndarray]) -> Events:
        """Return the events of `TrialRecord.events`, read from a file, in the rows of a record.

        Events of trials that the record does not have are left out.

        Args:
            table: columns that number trials, "time", "name" and "value".
            record: the columns of the record.

        Raises:
            InvalidValueError: the table has no such columns, or the record has a trial twice.
        """
        keys = [key for key in TRIAL_NUMBERS if key in table and key in record]
        if "trial" not in keys or not {"time", "name", "value"} <= set(table):
            raise InvalidValueError(
                f"Events were given with the columns {listed(table)} for a record with"
                f" {listed(record)}. Expected 'trial' in both, and 'time', 'name' and 'value'. Give"
                " the file that TrialRecord.to_csv wrote beside the trials."
            )
        numbers = list(zip(*(record[key].tolist() for key in keys), strict=True))
        places = {number: row for row, number in enumerate(numbers)}
        if len(places) < len(numbers):
            raise InvalidValueError(
                f"Events were given for a record in which {len(numbers) - len(places)} rows have"
                f" the same {listed(keys)} as another. Expected each trial once. Keep the columns"
                " that tell trials apart."
            )
        found = [
            places.get(one, -1) for one in zip(*(table[k].tolist() for k in keys), strict=True)
        ]
        row = np.array(found, np.int64)
        known = row >= 0
        return Events(row[known], *(table[name][known] for name in ("time", "name", "value")))

    def taken(self, rows: np.ndarray) -> Events:
        """Return the events of some trials, in their new rows; a trial may be taken twice.

        Args:
            rows: (k,) rows of trials.
        """
        first, last = (np.searchsorted(self.row, rows, side) for side in ("left", "right"))
        count = last - first
        begins = np.cumsum(count) - count
        at = np.arange(count.sum()) - np.repeat(begins - first, count)
        return Events(np.repeat(np.arange(len(rows)), count), *(one[at] for one in self[1:]))

    def shifted(self, ms: np.ndarray) -> Events:
        """Return the events with other times.

        Args:
            ms: (n,) added to the times of the events of each trial.
        """
        return self._replace(time=self.time + ms[self.row])

    @staticmethod
    def joined(parts: Iterable[tuple[Events, int]]) -> Events:
        """Return the events of records that are joined.

        Args:
            parts: events and number of trials of each record, in order.
        """
        offset, moved = 0, []
        for events, n in parts:
            moved.append(events._replace(row=events.row + offset))
            offset += n
        return Events(*(np.concatenate(values) for values in zip(*moved, strict=True)))
