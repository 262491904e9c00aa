"""`TrialRecord`: a table of played trials, one row per finished trial, one array per column.

Columns that the players write (`n` rows, in any order):

======================  ===========================================================================
column                  values
======================  ===========================================================================
``subject``             int, number of the subject, from 0; only in records of `neurogym_core.run`
``trial``               int, number of the trial of its subject, from 0; in ``info["trial"]`` and
                        in files of `RecordTrials`, of its env
``env``, ``session``    int, number of the env, and of the session in that env
*name of a condition*   its value, a number or a text; (n,), or (n, k) for k values; of an index
                        of choices or units with names, the name
*name of a covariate*   as `trial.record` and `session.record` wrote it; (n,), or (n, k)
``choice``              str, name of the choice, "none" without an answer; int, index of the
                        choice, -1 without an answer, if the choices have no names; float for
                        continuous answers
``outcome``             str, one of `OUTCOME_NAMES`: the outcome of the whole trial
``reaction_time``       float, ms from the onset of the response window; NaN without an answer
``first_choice``,       of slots with ``again=True``: as above, of the first of the trial's answers;
``first_outcome``,      ``choice``, ``outcome`` and ``reaction_time`` are then those of the last
``first_reaction_time`` visit (``first_choice`` of discrete actions only)
``answers``             int, number of answers in the trial, of slots with ``again=True``
``performance``         float, 0 to 1
``reward``              float, sum over the trial
``aborts``, ``steps``   int, number of actions while the subject had to rest; number of steps played
``duration.<period>``   float, ms as built: an answer may end the period before
``trial_start``,        float, ms since the subject's first trial began; only in records of `run`
``trial_stop``
``answer_time``         float, ms on the same clock; NaN without an answer; only in records of `run`
``onset.<period>``,     float, ms on the same clock, as played: the first onset and the last offset;
``offset.<period>``     NaN for periods that were not played; only in records of `run`
``rest_correct``        bool, whether resting was the right answer (go/no-go); only in records of
                        `run`, only if it was in some trial, and not of tasks with `step_action`,
                        which judge behaviour themselves
======================  ===========================================================================

In tasks with several slots, the name of the slot precedes ``choice``, ``outcome``,
``reaction_time``, ``answer_time``, ``rest_correct``, ``answers`` and those of the first answer:
``rule.choice`` and so on. Only times can be NaN."""

from __future__ import annotations

import csv
import io
import operator
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from enum import IntEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn

import numpy as np

from neurogym_core.errors import InvalidValueError, UnknownNameError, listed, unknown
from neurogym_core.files import replacing
from neurogym_core.lazy import optional
from neurogym_core.trials.arrays import as_texts
from neurogym_core.trials.events import TRIAL_NUMBERS, Events
from neurogym_core.trials.record_text import LEFT_OUT, html_of, text_of
from neurogym_core.trials.slot_columns import (
    NAMES,
    NO_CHOICE,
    REST_CORRECT,
    SLOTS,
    align_slots,
    joined_names,
)

DURATION = "duration."
"""Prefix of the columns of durations as built, and of durations that are imposed."""

ONSET, OFFSET = "onset.", "offset."
"""Prefixes of the columns of periods as played."""

PERIOD_COLUMNS = (DURATION, ONSET, OFFSET)
"""Prefixes of the columns of periods."""

RESTING = -1
"""`choice` of a trial without an answer."""


def is_clock_time(name: str) -> bool:
    """Return whether a column has moments on the clock of the subject, ms."""
    moment = name in ("trial_start", "trial_stop") or name.rpartition(".")[2] == "answer_time"
    return name.startswith((ONSET, OFFSET)) or (moment and not name.startswith(DURATION))


class Outcome(IntEnum):
    """Outcome of an answer or of a trial. `OUTCOME_NAMES` are the names, in this order.

    Example:
        >>> from neurogym_core import Outcome
        >>> Outcome.CORRECT.value, Outcome(4).name
        (1, 'MISS')
    """

    NONE = 0  # the trial did not have the slot
    CORRECT = 1
    ERROR = 2
    ABORT = 3  # the subject acted where it had to rest
    MISS = 4  # no answer before the response window closed
    OTHER = 5  # an answer that is neither right nor wrong: a sure bet, a bandit's arm


OUTCOME_NAMES = np.array([outcome.name.lower() for outcome in Outcome])
"""str, (6,): ``OUTCOME_NAMES[codes]`` converts an array of `Outcome` codes to names."""
OUTCOME_NAMES.setflags(write=False)

RECORD_NAMES = frozenset((
    "subject", "trial", "env", "session", "choice", "outcome", "reaction_time", "performance",
    "reward", "aborts", "steps", "trial_start", "trial_stop", "answer_time", "rest_correct",
    "first_choice", "first_outcome", "first_reaction_time", "answers",
))  # fmt: skip
"""Columns that players write; conditions and covariates must have other names."""

SPREAD = r"(?P<name>.+)\[(?P<index>\d+)\]"
"""The form of ``name[k]``, one of several columns of a file that are one column of a record."""


def _immutable(*_: object, **__: object) -> NoReturn:
    raise TypeError(
        "A TrialRecord was to be changed, but it is immutable. Expected a new record. Make one:"
        " TrialRecord({**record, name: values})."
    )


class TrialRecord(dict[str, np.ndarray]):
    """An immutable table with one row per finished trial; columns are read-only arrays.

    ``record["coherence"]`` is a column; ``record[record["outcome"] == "correct"]``,
    ``record[10:20]`` and ``record[[3, 1]]`` are records of these rows. ``==`` compares the tables
    (NaN equals NaN; the order of the columns and `meta` do not matter).

    A record is a mapping of names to columns: ``"coherence" in record``, ``for name in record``,
    ``record.items()``, ``dict(record)``, ``pandas.DataFrame(record)``,
    ``polars.DataFrame(record)``. As that of a `pandas.DataFrame`, its length is the number of rows:
    ``len(record)`` trials, ``len(record.columns)`` columns. pandas takes columns of one value per
    trial only; `to_pandas` splits the others.

    Args:
        columns: name -> numbers, bools or strings, (n,) or (n, k), the same n for all. Copied.
        meta: facts about the whole record; not part of the table, and not in the CSV. Records of
            `run` have ``schema``, ``task`` (the id, with its version), ``parameters`` (those that
            differ from the defaults), ``wrappers``, ``dt`` (ms), ``seed``, ``subject``,
            ``subject_settings`` and ``versions`` (of Python, NumPy, and the packages of the task
            and the subject). ``names``: column -> its names in the order of their indices.
        events: what happened within trials: "row" (of the trial), "time" (ms), "name" and "value",
            each (m,); another record's `Events`; or None.

    Raises:
        InvalidValueError: columns of different lengths, of another shape or type, or with an
            invalid name; or events of no trial.

    Example:
        >>> from neurogym_core import TrialRecord
        >>> record = TrialRecord({"coherence": [0.0, 51.2, 51.2], "choice": [0, 1, 1]})
        >>> record["coherence"].tolist(), len(record[record["choice"] == 1])
        ([0.0, 51.2, 51.2], 2)
        >>> record.row(0)
        {'coherence': 0.0, 'choice': 0}
    """

    __slots__ = ("_events", "_length", "_meta")
    _events: Events
    _length: int
    _meta: dict[str, Any]
    __hash__ = None
    # pandas takes no other mapping than a dict: of one, it would make a table of the names.
    __setitem__ = __delitem__ = __ior__ = _immutable
    clear = pop = popitem = setdefault = update = _immutable

    def __init__(
        self,
        columns: Mapping[str, Any],
        *,
        meta: Mapping[str, Any] = MappingProxyType({}),
        events: Mapping[str, Any] | Events | None = None,
    ) -> None:
        table = {
            _checked_name(name): _frozen_column(name, values) for name, values in columns.items()
        }
        lengths = {name: len(column) for name, column in table.items()}
        if len(set(lengths.values())) > 1:
            raise InvalidValueError(
                f"The columns of a trial record have different lengths: {lengths}. One row per"
                " trial was expected. Give every column one entry per finished trial."
            )
        super().__init__(table)
        object.__setattr__(self, "_length", next(iter(lengths.values()), 0))
        object.__setattr__(self, "_meta", dict(meta))
        object.__setattr__(self, "_events", Events.of(events, self._length))

    def __getattr__(self, name: str) -> NoReturn:
        hint = f" Its columns are items: record[{name!r}]." if name in self.keys() else ""
        raise AttributeError(f"A TrialRecord has no attribute {name!r}.{hint}")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(
            f"Cannot set {name!r}: a TrialRecord is immutable. Build a new one from its columns."
        )

    def __delattr__(self, name: str) -> None:
        raise AttributeError(
            f"Cannot delete {name!r}: a TrialRecord is immutable. Build a new one from its columns."
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (dict(self), self._meta, self._events)

    # ---- reading --------------------------------------------------------------------------------

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.keys())

    @property
    def meta(self) -> Mapping[str, Any]:
        """Facts about the whole record; read-only."""
        return MappingProxyType(self._meta)

    @property
    def events(self) -> TrialRecord:
        """What happened within trials, a table with a row per event, in the order of time.

        It has the columns of this record that number trials (``subject``, ``env``, ``session``,
        ``trial``), ``time`` (ms on the clock of this record's other times), ``name`` and ``value``.
        Hooks write events with `now.event`. Rows that are selected keep their events; columns that
        are put into a new record need ``events=record.event_log``.

        Example:
            >>> from neurogym_core import TrialRecord
            >>> pecks = {"row": [0, 0], "time": [150, 900], "name": ["peck"] * 2, "value": [1, 0]}
            >>> record = TrialRecord({"trial": [0, 1]}, events=pecks)
            >>> record.events["time"].tolist(), len(record[1:].events)
            ([150.0, 900.0], 0)
        """
        row, time, name, value = self._events
        numbers = {key: self[key][row] for key in TRIAL_NUMBERS if key in self.keys()}
        return TrialRecord({**numbers, "time": time, "name": name, "value": value})

    @property
    def event_log(self) -> Events:
        """The events with the rows of their trials, for `TrialRecord(…, events=…)`."""
        return self._events

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, key: Any) -> Any:
        """Return a column by name, or a record of some rows (slice, mask, or row numbers).

        Raises:
            UnknownNameError: there is no such column.
            InvalidValueError: `key` is neither a name nor rows of this record.
        """
        if isinstance(key, str):
            if key not in self.keys():
                raise self._unknown(key)
            return super().__getitem__(key)
        rows = key if isinstance(key, slice) else _row_selection(key, len(self))
        columns = {name: column[rows] for name, column in self.items()}
        events = (
            self._events.taken(np.arange(self._length)[rows]) if len(self._events.row) else None
        )
        return TrialRecord(columns, meta=self._meta, events=events)

    def _unknown(self, name: str) -> UnknownNameError:
        slot = [column for column in self.keys() if column.startswith(f"{name}.")]
        hint = f" {name!r} is an answer, with the columns {listed(slot)}." if slot else ""
        return unknown("column", name, self.keys(), of="the trial record", hint=hint)

    def row(self, index: int) -> dict[str, Any]:
        """Return row `index` (negative: from the end) as Python values; k values as a list.

        Args:
            index: number of the row.

        Raises:
            InvalidValueError: there is no such row.
        """
        position = operator.index(index)
        if not -len(self) <= position < len(self):
            raise InvalidValueError(
                f"Row {index} was requested from a record of {len(self)} trials. Rows"
                f" {-len(self)} to {len(self) - 1} exist. Give one of them, or check"
                " len(record) first."
            )
        return {name: column[position].tolist() for name, column in self.items()}

    def rows(self) -> Iterator[dict[str, Any]]:
        """Iterate over all rows; see `row`."""
        lists = [column.tolist() for column in self.values()]
        return (dict(zip(self.keys(), values, strict=True)) for values in zip(*lists, strict=True))

    def codes(self, column: str = "choice") -> np.ndarray:
        """Return the indices of the names in a column, int64 (n, …); -1 for no answer.

        The order of the names, ``record.meta["names"][column]``, is that of the task: `codes` are
        the numbers that `new_trial` and `previous` have. Columns of whole numbers come back as
        they are.

        Args:
            column: a column of choices, or of a condition.

        Raises:
            UnknownNameError: there is no such column.
            InvalidValueError: it has texts in an unknown order (those of a file, say), or numbers
                that are no indices.

        Example:
            >>> from neurogym_core import run
            >>> record = run("perceptual/PerceptualDecisionMaking-v0", "oracle", 3, seed=0)
            >>> record["choice"].tolist(), record.codes("choice").tolist()
            (['right', 'left', 'right'], [0, 1, 0])
        """
        values: np.ndarray = self[column]
        names = self.meta.get(NAMES, {}).get(column, ())
        if values.dtype.kind in "biu":
            return values
        codes = np.full(values.shape, -2)
        for code, name in enumerate(names):
            codes[values == name] = code
        codes[values == NO_CHOICE] = -1
        if values.dtype.kind != "U" or (codes == -2).any():
            raise InvalidValueError(
                f"The indices of the column {column!r} were requested, which has {values.dtype}"
                ' values. Expected whole numbers, or names that record.meta["names"] has in their'
                " order. Play the trials with run(), or compare the values themselves."
            )
        return codes

    def coded(self) -> TrialRecord:
        """Return the record with indices in place of names, in the order of `codes`.

        Choices without a known order (those of a file, say) are numbered in alphabetical order;
        other texts without one stay.

        Example:
            >>> from neurogym_core import TrialRecord
            >>> TrialRecord({"choice": ["right", "none", "left"]}).coded()["choice"].tolist()
            [1, -1, 0]
        """
        choices = [self.of_slot("choice", slot) for slot in self.slots]
        changed, order = {}, dict(self.meta.get(NAMES, {}))
        for name, column in self.items():
            if column.dtype.kind != "U":
                continue
            if name in choices:
                found = set(np.unique(column).tolist()) - {NO_CHOICE}
                order.setdefault(name, tuple(sorted(found)))
            if name in order:
                changed[name] = TrialRecord({name: column}, meta={NAMES: order}).codes(name)
        if not changed:
            return self
        meta = {**self.meta, NAMES: order}
        return TrialRecord({**self, **changed}, meta=meta, events=self._events)

    # ---- answers --------------------------------------------------------------------------------

    @staticmethod
    def of_slot(name: str, slot: str | None) -> str:
        """Return the name of a column of an answer slot.

        Args:
            name: "choice", "outcome", "reaction_time", "answer_time" or "rest_correct".
            slot: name of the slot; None: trials have one slot.

        Example:
            >>> from neurogym_core import TrialRecord
            >>> TrialRecord.of_slot("choice", "rule"), TrialRecord.of_slot("choice", None)
            ('rule.choice', 'choice')
        """
        return name if slot is None else f"{slot}.{name}"

    @property
    def slots(self) -> tuple[str | None, ...]:
        """The names of the answer slots in their order; None for the only one."""
        return tuple(
            None if name == "choice" else name.removesuffix(".choice")
            for name in self.keys()
            # Periods may be called "choice", and have columns too.
            if name == "choice"
            or (name.endswith(".choice") and not name.startswith(PERIOD_COLUMNS))
        )

    def answered(self, slot: str | None = None) -> np.ndarray:
        """Return which trials were answered rightly or wrongly, bool (n,).

        Resting where it was right is no answer. It has the outcome "correct" without a choice.

        Args:
            slot: name of the slot; None: trials have one slot.

        Raises:
            UnknownNameError: the record has no outcomes of this slot.
        """
        outcome, rest = self[self.of_slot("outcome", slot)], self.of_slot(REST_CORRECT, slot)
        judged: np.ndarray = np.isin(outcome, ("correct", "error"))
        if rest not in self:
            return judged
        # A file with empty cells has numbers in place of bools.
        rested = (outcome == "correct") & (self[rest] == 1)
        return np.asarray(judged & ~rested)

    def detection(self, slot: str | None = None) -> dict[str, int] | None:
        """Return the numbers of hits, signals, false alarms and noises, by these names.

        A signal is a trial in which resting is wrong; a hit is an answer to it, of several choices
        perhaps the wrong one. Aborts and sure bets do not count.

        Args:
            slot: name of the slot; None: trials have one slot.

        Returns:
            ``{"hits": …, "signals": …, "false_alarms": …, "noises": …}``; None if resting was
            never, or always, right.

        Raises:
            UnknownNameError: the record has no outcomes of this slot.
        """
        name = self.of_slot(REST_CORRECT, slot)
        if name not in self:
            return None
        rest, answered = self[name].astype(bool), self.answered(slot)
        judged = np.isin(self[self.of_slot("outcome", slot)], ("correct", "error", "miss"))
        signal, noise = judged & ~rest, judged & rest
        if not signal.any() or not noise.any():
            return None
        return {
            "hits": int((answered & signal).sum()),
            "signals": int(signal.sum()),
            "false_alarms": int((answered & noise).sum()),
            "noises": int(noise.sum()),
        }

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TrialRecord):
            return False if isinstance(other, dict) else NotImplemented
        if len(self) != len(other) or self.keys() != other.keys():
            return False
        return all(_same_column(column, other[name]) for name, column in self.items())

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __repr__(self) -> str:
        return text_of(self, main_columns(self), len(self))

    def _repr_html_(self) -> str:
        return html_of(self, main_columns(self), len(self))

    # ---- joining ---------------------------------------------------------------------------------

    @classmethod
    def concatenate(cls, records: Iterable[TrialRecord]) -> TrialRecord:
        """Join the rows of all records; `meta` keeps the entries that all records share.

        Slots that the trials of a record did not have get the choice "none" (-1 without names, 0
        for continuous answers), the outcome "none" and no reaction time. Records of players list
        their slots in `meta["slots"]`.

        Args:
            records: records of one task.

        Raises:
            InvalidValueError: no record, or records whose columns differ in name, width or type.

        Example:
            >>> from neurogym_core import TrialRecord
            >>> first, second = TrialRecord({"choice": [0, 1]}), TrialRecord({"choice": [1]})
            >>> TrialRecord.concatenate([first, second])["choice"].tolist()
            [0, 1, 1]
        """
        parts = list(records)
        if not parts:
            raise InvalidValueError(
                "No record was given to concatenate. At least one was expected, since the columns"
                " come from it. If there may be none, begin with TrialRecord({...}) of empty"
                " columns."
            )
        tables, slots = align_slots([dict(part) for part in parts], [part.meta for part in parts])
        for table in tables[1:]:
            if set(table) != set(tables[0]):
                raise InvalidValueError(
                    "A record to concatenate lacks the columns"
                    f" {listed(name for name in tables[0] if name not in table)} and has"
                    f" {listed(name for name in table if name not in tables[0])} beyond those of"
                    " the first. Expected the same columns in all. Concatenate records of the same"
                    " task, or keep common columns only."
                )
        # A record without rows has no types: its columns may come from an empty file.
        filled = [table for table, part in zip(tables, parts, strict=True) if len(part)] or tables[
            :1
        ]
        columns = {name: _joined(name, [table[name] for table in filled]) for name in tables[0]}
        meta = _common_meta(parts)
        if any(SLOTS in part.meta for part in parts):
            meta[SLOTS] = slots
        if any(NAMES in part.meta for part in parts):
            meta[NAMES] = joined_names([part.meta for part in parts], columns)
        events = Events.joined((part._events, len(part)) for part in parts)
        return cls(columns, meta=meta, events=events)

    # ---- files ----------------------------------------------------------------------------------

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write a CSV file (UTF-8), atomically: a reader sees either the old file or the new one.

        Strings are quoted and numbers are not, so that `neurogym_records.read_csv` restores types.
        A column of shape (n, k) becomes ``name[0]``, ``name[1]``, …; a missing time is ``nan``.
        Links are followed; pipes and devices (``/dev/stdout``) are written directly. Events go to a
        second file, ``trials.events.csv`` beside ``trials.csv``.

        Args:
            path: the file.

        Raises:
            FileNotWrittenError (OSError): no space, no permission, or no such folder. An existing
                file is unchanged.
        """
        spread = dict(self._spread())
        text = io.StringIO()
        writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        writer.writerow(spread)
        writer.writerows(zip(*(column.tolist() for column in spread.values()), strict=True))
        with replacing(path) as temporary:
            # Text mode would convert line ends within strings to those of the platform.
            temporary.write_bytes(text.getvalue().encode("utf-8"))
        beside = Path(path).with_suffix(".events.csv")
        # An older record's events must not be taken for those of this one.
        if Path(path).suffix and (len(self._events.row) or beside.is_file()):
            self.events.to_csv(beside)

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame`; columns of shape (n, k) become ``name[0]``, ``name[1]``, ….

        Raises:
            MissingDependencyError: pandas is not installed.
        """
        pandas = optional("pandas", needed_for="TrialRecord.to_pandas")
        return pandas.DataFrame(
            {name: column.copy() for name, column in self._spread()}, index=range(len(self))
        )

    def _spread(self) -> Iterator[tuple[str, np.ndarray]]:
        """Yield names and columns of shape (n,), where (n, k) becomes k columns."""
        for name, column in self.items():
            if column.ndim == 1:
                yield name, column
            else:
                yield from ((f"{name}[{k}]", column[:, k]) for k in range(column.shape[1]))


def main_columns(columns: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the columns that a reader looks at first."""
    shown = (name for name in columns if name not in LEFT_OUT and not is_clock_time(name))
    return tuple(
        name
        for name in shown
        if not name.startswith(DURATION) and name.rpartition(".")[2] != REST_CORRECT
    )


def _rebuild(
    columns: dict[str, np.ndarray], meta: dict[str, Any], events: Events | None = None
) -> TrialRecord:
    return TrialRecord(columns, meta=meta, events=events)


def _checked_name(name: object) -> str:
    if isinstance(name, str) and name and not re.fullmatch(SPREAD, name, re.DOTALL):
        return name
    raise InvalidValueError(
        f"{name!r} cannot name a column. Expected a non-empty string that does not end in [number],"
        " the form that columns with several values have in files. Rename the column, or give it"
        " the shape (n, k)."
    )


def _frozen_column(name: str, values: Any) -> np.ndarray:
    """A read-only copy of a column of bools, numbers or strings, (n,) or (n, k)."""
    try:
        column = np.array(values)
    except ValueError as error:
        raise _bad_column(name, "rows of several lengths") from error
    column = as_texts(column)
    if column.dtype.kind not in "biufU" or column.ndim not in (1, 2) or not all(column.shape[1:]):
        raise _bad_column(name, f"the shape {column.shape} and the type {column.dtype}")
    column.setflags(write=False)
    return column


def _bad_column(name: str, found: str) -> InvalidValueError:
    return InvalidValueError(
        f"Column {name!r} has {found}. Expected bools, numbers or strings of shape (n,) or (n, k). "
        "Give one value, or k values, per trial."
    )


def _row_selection(key: Any, length: int) -> np.ndarray:
    rows = np.asarray(key)
    if rows.ndim == 1 and rows.size == 0:
        rows = rows.astype(bool if length == 0 else np.intp)
    fits = rows.ndim == 1 and (
        (rows.dtype.kind == "b" and len(rows) == length)
        or (rows.dtype.kind in "iu" and bool(np.all((rows >= -length) & (rows < length))))
    )
    if fits:
        return rows
    raise InvalidValueError(
        f"Rows were selected by {key!r:.80} in a record of {length} trials. Expected a"
        f" column's name, a slice, a mask of {length} bools, or row numbers below {length}. Use"
        " record.row(i) for a single row."
    )


def _kind(column: np.ndarray) -> str:
    """The type of a column for joins and comparisons: "strings", "bools" or "numbers"."""
    return {"U": "strings", "b": "bools"}.get(column.dtype.kind, "numbers")


def _same_column(one: np.ndarray, other: np.ndarray) -> bool:
    if one.shape != other.shape or not one.size:
        return one.shape == other.shape
    kind = _kind(one)
    return kind == _kind(other) and np.array_equal(one, other, equal_nan=kind == "numbers")


def _joined(name: str, columns: list[np.ndarray]) -> np.ndarray:
    looks = {(_kind(column), *column.shape[1:]) for column in columns}
    if len(looks) == 1:
        return np.concatenate(columns)
    given = sorted({f"{column.dtype} of shape {('n', *column.shape[1:])}" for column in columns})
    raise InvalidValueError(
        f"Column {name!r} is {' and '.join(given)} in the records to concatenate. Expected the same"
        " type and width in all. Concatenate records of the same task."
    )


def _common_meta(parts: list[TrialRecord]) -> dict[str, Any]:
    first, *others = parts
    return {
        key: value
        for key, value in first.meta.items()
        if all(key in part.meta and _alike(part.meta[key], value) for part in others)
    }


def _alike(one: Any, other: Any) -> bool:
    # `==` of arrays in meta is an array; values that cannot be compared are not common.
    try:
        return one is other or bool(np.all(one == other))
    except (TypeError, ValueError):
        return False
