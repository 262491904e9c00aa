"""Keep a record of what is played."""

from __future__ import annotations

import csv
import io
import os
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import VectorEnv, VectorWrapper

from neurogym_core.errors import InvalidValueError
from neurogym_core.trials.record import TrialRecord
from neurogym_core.wrappers.finished_trials import finished_in_env, finished_in_envs


class TrialLog:
    """Finished trials, in memory, in a CSV file, or both. Every trial is on the disk before the
    next step.
    """

    def __init__(self, file: str | os.PathLike[str] | None, append: bool, memory: bool) -> None:
        if file is None and not memory:
            raise InvalidValueError(
                "RecordTrials was given memory=False and no file; the record has to be kept"
                " somewhere. Give one."
            )
        self._file = None if file is None else Path(file)
        self._parts: list[TrialRecord] | None = [] if memory else None
        self._header: list[str] | None = None
        if self._file is not None:
            self._open(append)

    def _open(self, append: bool) -> None:
        """See that the file can be written; an older one is only added to if that was asked."""
        path = self._file
        exists = path.exists() and path.stat().st_size > 0  # type: ignore[union-attr]
        if exists and not append:
            raise InvalidValueError(
                f"RecordTrials was given file={str(path)!r}, which exists. A new file was expected."
                " Choose another name, remove it, or give append=True to add to it."
            )
        path.parent.mkdir(parents=True, exist_ok=True)  # type: ignore[union-attr]
        if exists:
            cut_half_line(path)  # type: ignore[arg-type]
            with path.open(newline="", encoding="utf-8") as lines:  # type: ignore[union-attr]
                self._header = next(csv.reader(lines), None)
        else:
            path.touch()  # type: ignore[union-attr]

    def add(self, record: TrialRecord) -> None:
        """Keep these trials."""
        if self._parts is not None:
            self._parts.append(record)
        if self._file is not None:
            self._write(dict(record._spread()))

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
                f"RecordTrials cannot add a trial with the columns {list(columns)} to"
                f" {str(self._file)!r}, whose columns are {self._header}. Record another task in"
                " another file."
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

    @property
    def record(self) -> TrialRecord:
        """All trials so far, in the order in which they ended."""
        if self._parts is None:
            return TrialRecord.from_csv(self._file)  # type: ignore[arg-type]
        if not self._parts:
            return TrialRecord({})
        whole = TrialRecord.concatenate(_with_same_columns(self._parts))
        self._parts = [whole]
        return whole


def cut_half_line(path: Path) -> None:
    """Take off a last line without an end, which a run that was killed as it wrote left; a row
    after it could not be read.
    """
    with path.open("rb+") as file:
        end, rest = file.seek(0, os.SEEK_END), b""
        while end and b"\n" not in rest:
            begin = max(end - 4096, 0)
            file.seek(begin)
            rest, end = file.read(end - begin) + rest, begin
        whole = rest.rfind(b"\n") + 1
        if whole < len(rest):
            warnings.warn(
                f"{path} ended in half a line, {rest[whole:].decode('utf-8', 'replace')!r:.80},"
                " which is taken off: the run that wrote it was stopped as it wrote.",
                stacklevel=2,
            )
            file.truncate(end + whole)


def _with_same_columns(parts: list[TrialRecord]) -> list[TrialRecord]:
    """An absent reaction time is NaN."""
    times = dict.fromkeys(
        name for part in parts for name in part.columns if name.endswith("reaction_time")
    )
    return [_with_times(part, [name for name in times if name not in part]) for part in parts]


def _with_times(part: TrialRecord, absent: list[str]) -> TrialRecord:
    asked = [name for name in absent if f"{name.removesuffix('reaction_time')}choice" in part]
    if not asked:
        return part
    columns = {name: part[name] for name in part.columns}
    return TrialRecord(
        {**columns, **{name: np.full(len(part), np.nan) for name in asked}}, meta=part.meta
    )


class VectorRecordTrials(VectorWrapper, gymnasium.utils.RecordConstructorArgs):
    """`RecordTrials` for vector envs."""

    def __init__(
        self, env: VectorEnv, file: Any = None, append: bool = False, memory: bool = True
    ) -> None:
        gymnasium.utils.RecordConstructorArgs.__init__(
            self, file=file, append=append, memory=memory
        )
        super().__init__(env)
        self._log = TrialLog(file, append, memory)

    def step(self, actions: Any) -> tuple:
        result = self.env.step(actions)
        finished = finished_in_envs(result[4])
        if finished is not None:
            self._log.add(finished)
        return result

    @property
    def record(self) -> TrialRecord:
        """All trials so far, in the order in which they ended."""
        return self._log.record


class RecordTrials(gymnasium.Wrapper, gymnasium.utils.RecordConstructorArgs):
    """Keeps every finished trial: ``env.record`` is a `TrialRecord`; with a file, it is in there as
    well.

    A line is written, and the file closed again, as soon as a trial ends: nothing is lost when the
    run is interrupted. The file is what ``TrialRecord.to_csv`` writes, and ``TrialRecord.from_csv``
    reads it.

    Args:
        env: any env whose `info` has the record of finished trials.
        file: a CSV file; None: memory only.
        append: whether to add to a file that exists, for a run that goes on; half a last line is
            taken off, with a warning.
        memory: whether to keep trials in memory, too.

    Raises:
        InvalidValueError: the file exists and `append` is not set, or has other columns; nowhere to
            keep the record.
        OSError: the file cannot be written.
    """

    vector = VectorRecordTrials

    def __init__(
        self, env: gymnasium.Env, file: Any = None, append: bool = False, memory: bool = True
    ) -> None:
        gymnasium.utils.RecordConstructorArgs.__init__(
            self, file=file, append=append, memory=memory
        )
        super().__init__(env)
        self._log = TrialLog(file, append, memory)

    def step(self, action: Any) -> tuple:
        result = self.env.step(action)
        finished = finished_in_env(result[4])
        if finished is not None:
            self._log.add(finished)
        return result

    @property
    def record(self) -> TrialRecord:
        """All trials so far, in the order in which they ended."""
        return self._log.record
