"""Record finished trials, in memory or in a CSV file."""

from __future__ import annotations

import csv
import io
import os
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import VectorWrapper

from neurogym_core.errors import InvalidValueError, NotSupportedError
from neurogym_core.trials.record import TrialRecord


class TrialLog:
    """Finished trials in memory, in a CSV file, or both; the file is complete after every step."""

    def __init__(self, file: str | os.PathLike[str] | None, append: bool, memory: bool) -> None:
        if file is None and not memory:
            raise InvalidValueError(
                "RecordTrials was given memory=False and no file. Expected a place for the record."
                " Give a file."
            )
        self._file = None if file is None else Path(file)
        self._parts: list[TrialRecord] | None = [] if memory else None
        self._header: list[str] | None = None
        if self._file is None:
            return
        exists = self._file.exists() and self._file.stat().st_size > 0
        if exists and not append:
            raise InvalidValueError(
                f"RecordTrials was given file={str(self._file)!r}, which exists. Expected a new"
                " file. Choose another name, remove it, or give append=True to add to it."
            )
        self._file.parent.mkdir(parents=True, exist_ok=True)
        if exists:
            cut_half_line(self._file)
            with self._file.open(newline="", encoding="utf-8") as lines:
                self._header = next(csv.reader(lines), None)
        else:
            self._file.touch()
        self._beside = self._file.with_suffix(".events.csv")
        if self._beside.is_file():
            if not exists:
                raise InvalidValueError(
                    f"RecordTrials was given file={str(self._file)!r}, and {str(self._beside)!r},"
                    " the events of other trials, exists. Expected neither. Choose another name, or"
                    " remove it."
                )
            cut_half_line(self._beside)

    def add(self, record: TrialRecord) -> None:
        """Add trials."""
        if self._parts is not None:
            self._parts.append(record)
        if self._file is not None:
            self._write(dict(record._spread()))
            if len(record.event_log.row):
                self._write_events(record.events)

    def _write(self, columns: dict[str, np.ndarray]) -> None:
        text = io.StringIO()
        writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        if self._header is None:
            self._header = list(columns)
            writer.writerow(columns)
        absent = [
            name
            for name in self._header
            if name not in columns and not name.endswith("reaction_time")
        ]
        if absent or not set(columns) <= set(self._header):
            raise InvalidValueError(
                f"RecordTrials was given a trial with the columns {list(columns)} for"
                f" {str(self._file)!r}. Expected {self._header}. Record another task in another"
                " file."
            )
        n = len(next(iter(columns.values())))
        nothing = [float("nan")] * n
        rows = zip(
            *(columns[name].tolist() if name in columns else nothing for name in self._header),
            strict=True,
        )
        writer.writerows(rows)
        with self._file.open("a", newline="", encoding="utf-8") as file:  # type: ignore[union-attr]
            file.write(text.getvalue())

    def _write_events(self, events: TrialRecord) -> None:
        text = io.StringIO()
        writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        if not self._beside.is_file():
            writer.writerow(events.columns)
        writer.writerows(zip(*(values.tolist() for values in events.values()), strict=True))
        with self._beside.open("a", newline="", encoding="utf-8") as file:
            file.write(text.getvalue())

    @property
    def record(self) -> TrialRecord:
        """All trials so far, in the order in which they ended."""
        if self._parts is None:
            raise NotSupportedError(
                f"env.record was read, but RecordTrials keeps no trials in memory, only in"
                f" {str(self._file)!r}. Expected memory=True. Leave memory=False out, or read the"
                " file with neurogym_records.read_csv."
            )
        if not self._parts:
            return TrialRecord({})
        # A part without an answer to a slot has no column for its reaction time: NaN stands there.
        times = dict.fromkeys(
            name for part in self._parts for name in part.columns if name.endswith("reaction_time")
        )
        whole = []
        for part in self._parts:
            columns = {name: part[name] for name in part.columns}
            for name in times:
                if f"{name.removesuffix('reaction_time')}choice" in part:
                    columns.setdefault(name, np.full(len(part), np.nan))
            whole.append(TrialRecord(columns, meta=part.meta, events=part.event_log))
        self._parts = [TrialRecord.concatenate(whole)]
        return self._parts[0]


def cut_half_line(path: Path) -> None:
    """Remove an incomplete last line, which an interrupted run has left, from a file."""
    with path.open("rb+") as file:
        # Backwards in blocks, since the file can be large.
        end, rest = file.seek(0, os.SEEK_END), b""
        while end and b"\n" not in rest:
            begin = max(end - 4096, 0)
            file.seek(begin)
            rest, end = file.read(end - begin) + rest, begin
        whole = rest.rfind(b"\n") + 1
        if whole < len(rest):
            warnings.warn(
                f"{path} ended in half a line, {rest[whole:].decode('utf-8', 'replace')!r:.80}."
                " It was removed; the run that wrote it was interrupted.",
                stacklevel=2,
            )
            file.truncate(end + whole)


def _rows(info: Any) -> Iterator[dict[str, Any]]:
    """Yield the rows that Gymnasium's vector envs collect: an array and a ``_`` mask per column."""
    if not isinstance(info, Mapping) or "trial" not in info:
        return
    trial = info["trial"]
    for env in np.flatnonzero(info["_trial"]).tolist():
        row = {
            name: values[env]
            for name, values in trial.items()
            if f"_{name}" in trial and trial[f"_{name}"][env]
        }
        yield {**row, "env": env}


class _Recording(gymnasium.utils.RecordConstructorArgs):
    """The methods of `RecordTrials` and `VectorRecordTrials`."""

    finished: staticmethod

    def __init__(
        self, env: Any, file: Any = None, append: bool = False, memory: bool = True
    ) -> None:
        gymnasium.utils.RecordConstructorArgs.__init__(
            self, file=file, append=append, memory=memory
        )
        super(gymnasium.utils.RecordConstructorArgs, self).__init__(env)  # type: ignore[call-arg]
        self._log = TrialLog(file, append, memory)

    def step(self, action: Any) -> tuple:
        result = self.env.step(action)  # type: ignore[attr-defined]
        finished = self.finished(result[4])
        if finished is not None:
            self._log.add(finished)
        return result

    @property
    def record(self) -> TrialRecord:
        """All trials so far, in the order in which they ended."""
        return self._log.record


class VectorRecordTrials(_Recording, VectorWrapper):
    """`RecordTrials` for vector envs."""

    @staticmethod
    def finished(info: Mapping[str, Any]) -> TrialRecord | None:
        """Return the trials that ended on a step of a vector env; None: no trial ended.

        Args:
            info: of the step.
        """
        trial = info.get("trial")
        if trial is not None and hasattr(trial, "finished"):
            return trial.finished.record()
        rows = [row for part in (info, info.get("final_info")) for row in _rows(part)]
        if not rows:
            return None
        names = dict.fromkeys(name for row in rows for name in row)
        missing = np.nan  # only reaction times can be absent
        return TrialRecord(
            {name: np.stack([np.asarray(row.get(name, missing)) for row in rows]) for name in names}
        )


class RecordTrials(_Recording, gymnasium.Wrapper):
    """Record every finished trial: ``env.record`` is a `TrialRecord`.

    With a file, each trial is written as soon as it ends, so that an interrupted run loses nothing.
    The file has the format of ``TrialRecord.to_csv``; ``neurogym_records.read_csv`` reads it.
    Events go to a second file, ``trials.events.csv`` beside ``trials.csv``.

    Args:
        env: any env whose `info` has the record of finished trials.
        file: a CSV file; None: memory only.
        append: whether to add to an existing file, to continue a run; an incomplete last line is
            removed with a warning.
        memory: whether to keep the trials in memory, for ``env.record``.

    Raises:
        InvalidValueError: the file, or one of events beside it, exists and `append` is not set; the
            file has other columns; or there is neither a file nor memory.
        OSError: the file cannot be written.
    """

    vector = VectorRecordTrials

    @staticmethod
    def finished(info: Mapping[str, Any]) -> TrialRecord | None:
        """Return the trial that ended on a step, as a record of one row; None: no trial ended.

        Args:
            info: of the step.
        """
        if "trial" not in info:
            return None
        if hasattr(info["trial"], "finished"):
            return info["trial"].finished.record()
        return TrialRecord({name: np.asarray(value)[None] for name, value in info["trial"].items()})
