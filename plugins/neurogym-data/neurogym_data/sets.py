"""`data`: the trials of a data set as a record; `data_set`: its manifest."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from neurogym_core import TrialRecord
from neurogym_core.tools import unknown

TABLES = Path(__file__).parent / "tables"
STEP = 10
"""Duration of the steps of columns of events, ms."""
TEXT = 400
"""Length of the longest text of times."""


@dataclass(frozen=True)
class Column:
    """A column of a data set.

    Attributes:
        name: its name in the record.
        means: its meaning, in words.
        source: the column, or columns, of the source from which it was computed.
        unit: "ms", "deg", "%", "clicks"; empty: a count, a number without a unit, or a name.
        values: all values of a column of names, in the order of their indices; empty: numbers.
        fraction: whether its numbers have fractions.
        steps: of a column of events, the number of steps. The file has the times of the events of a
            trial, ms, and the record their numbers on each step, (n, steps).
    """

    name: str
    means: str
    source: str
    unit: str = ""
    values: tuple[str, ...] = ()
    fraction: bool = False
    steps: int = 0

    @property
    def dtype(self) -> str:
        """Type of its values in the file."""
        if self.steps:
            return f"U{TEXT}"
        if self.values:
            return f"U{max(map(len, self.values))}"
        return "f8" if self.fraction else "i8"


@dataclass(frozen=True)
class Table:
    """A file of trials.

    Attributes:
        path: a CSV file, compressed by gzip.
        subjects: number of subjects.
        trials: number of trials.
        sha256: digest of the file, in hexadecimal digits.
    """

    path: Path
    subjects: int
    trials: int
    sha256: str


@dataclass(frozen=True)
class DataSet:
    """The manifest of a data set.

    Attributes:
        name: first author and year.
        version: raised when the trials change.
        title: task, and who did it.
        citation, doi: the paper; its doi is empty where none is known.
        species: Latin name.
        licence: SPDX identifier of the licence of the source, which covers the trials.
        changes: differences between the files of the source and these.
        source: repository, commit, files, columns, and the script in ``sources`` that converts.
        task: name of the task of the catalogue that is the same or the nearest, the parameters with
            which its trials can be those of the data, the conditions that then have to be imposed
            (columns of these names; none for the nearest task), and the differences from it.
        roles: role -> column, as `neurogym_behaviour.Roles` takes them.
        columns: the columns, in the order of the files.
        table: the trials of subjects that anyone may fit.
        held_out_table: those of the held-out subjects, to test a model that was fitted to the
            others.
        held_out: the held-out subjects, as text.
    """

    name: str
    version: int
    title: str
    citation: str
    doi: str
    species: str
    licence: str
    changes: str
    source: Mapping[str, str]
    task: Mapping[str, Any]
    roles: Mapping[str, str]
    columns: tuple[Column, ...]
    table: Table
    held_out_table: Table
    held_out: tuple[str, ...]

    @property
    def licence_text(self) -> str:
        """The licence, as it is in the source at that commit."""
        return (TABLES / f"{self.name}.license.txt").read_text("utf-8")


def data_names() -> list[str]:
    """Return the names of all data sets, sorted."""
    return sorted(path.stem for path in TABLES.glob("*.toml"))


@cache
def data_set(name: str) -> DataSet:
    """Return the manifest of a data set; its trials are not read.

    Args:
        name: one of `data_names`.

    Raises:
        UnknownNameError: there is no such data set.
    """
    if name not in data_names():
        raise unknown("data set", name, data_names(), of="neurogym-data")
    given = tomllib.loads((TABLES / f"{name}.toml").read_text("utf-8"))
    files = given.pop("files")
    columns = tuple(
        Column(column, **{**facts, "values": tuple(facts.get("values", ()))})
        for column, facts in given.pop("columns").items()
    )
    return DataSet(
        name=name,
        columns=columns,
        held_out=tuple(given.pop("held_out")),
        table=Table(TABLES / f"{name}.csv.gz", **files["table"]),
        held_out_table=Table(TABLES / f"{name}.held-out.csv.gz", **files["held_out"]),
        **given,
    )


def data(name: str, *, held_out: bool = False) -> TrialRecord:
    """Return the trials of a data set.

    Rows are in the order of the source: by subject, and by session and trial where these are known.
    ``record.meta`` has the name, the version, the citation and the licence of the data, and the
    names of choices and conditions.

    Args:
        name: one of `data_names`.
        held_out: False: the subjects that anyone may fit. True: only the held-out subjects, a fifth
            of all; use them once, to test a model that was fitted to the others.

    Raises:
        UnknownNameError: there is no such data set.

    Example:
        >>> from neurogym_data import data
        >>> record = data("luo-2025")
        >>> len(record), len(set(record["subject"].tolist()))
        (31079, 9)
    """
    facts = data_set(name)
    table = facts.held_out_table if held_out else facts.table
    read = np.loadtxt(
        table.path, delimiter=",", skiprows=1, comments=None, encoding="utf-8", ndmin=1,
        dtype=[(column.name, column.dtype) for column in facts.columns],
    )  # fmt: skip
    meta = {
        "data": facts.name,
        "version": facts.version,
        "held_out": held_out,
        "citation": facts.citation,
        "doi": facts.doi,
        "licence": facts.licence,
        "names": {
            column.name: column.values
            for column in facts.columns
            if column.values and column.name not in ("subject", "outcome")
        },
    }
    columns = {
        column.name: _counted(read[column.name], column.steps)
        if column.steps
        else read[column.name]
        for column in facts.columns
    }
    return TrialRecord(columns, meta=meta)


def _counted(texts: np.ndarray, steps: int) -> np.ndarray:
    """Return the numbers of events on each step, (n, steps), from texts of times, (n,)."""
    times = [np.array(text.split(), int) for text in texts.tolist()]
    rows = np.repeat(np.arange(len(times)), [len(one) for one in times])
    counts = np.zeros((len(times), steps), np.int8)
    np.add.at(counts, (rows, np.concatenate(times) // STEP), 1)
    return counts
