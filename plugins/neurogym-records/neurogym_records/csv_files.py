"""`read_csv`: tables of text, read by pandas; files of `TrialRecord.to_csv` keep their types."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from neurogym_core import InvalidValueError, TrialRecord
from neurogym_core.players import Events
from neurogym_core.tools import listed

SEPARATORS = (",", ";", "\t", "|")
MISSING = ("n/a", "#DIV/0!", "#VALUE!")
"""Texts that are missing values in files of labs, beside those of pandas."""
_SPREAD = re.compile(r"(?P<name>.+)\[(?P<index>\d+)\]", re.DOTALL)
_PERCENT = re.compile(r"\s*[-+]?(\d+[.,]?\d*|[.,]\d+)\s*%\s*")
_CHUNK = 1 << 22


def read_csv(
    path: str | os.PathLike[str], *, meta: Mapping[str, Any] = MappingProxyType({})
) -> TrialRecord:
    """Read a CSV file with one header line, such as those of `TrialRecord.to_csv`.

    Columns whose first cell is quoted are strings. Another column is bool if all cells are True or
    False, else int, else float (an empty cell is NaN), else str. A column without rows is float.
    `read_record` also reads files of labs. Events are read from the file beside it.

    Args:
        path: the file, in UTF-8, UTF-16 with a byte order mark, or Windows-1252.
        meta: as in `TrialRecord`.

    Raises:
        InvalidValueError: the file is not a CSV table: rows of different lengths, text after a
            quote, a NUL character, or a name that occurs twice.
        OSError: the file cannot be read.

    Example:
        >>> from neurogym_core import TrialRecord
        >>> from neurogym_records import read_csv
        >>> record = TrialRecord({"coherence": [0.0, 51.2], "outcome": ["error", "correct"]})
        >>> record.to_csv("trials.csv")
        >>> read_csv("trials.csv") == record
        True
    """
    columns = TextTable(path, ",").own_columns()
    return TrialRecord(columns, meta=meta, events=events_beside(Path(path), columns))


def events_beside(path: Path, columns: Mapping[str, np.ndarray]) -> Events | None:
    """Return the events that lie beside a file of trials; None without any."""
    beside = path.with_suffix(".events.csv")
    if beside == path or not beside.is_file():
        return None
    return Events.of_table(TextTable(beside, ",").own_columns(), columns)


class TextTable:
    """A file with a header line and rows of cells; each row has as many cells as the header.

    Args:
        path: the file.
        separator: of cells; None: the one that is most frequent in the header.

    Attributes:
        names: of the columns.
        notes: sentences on rows that were left out, and on the encoding.

    Raises:
        InvalidValueError: the file is no such table.
    """

    def __init__(self, path: str | os.PathLike[str], separator: str | None = None) -> None:
        self.source = str(path)
        self.notes: list[str] = []
        with open(path, "rb") as file:
            self._data = self._utf8(file.read())
        if (nul := self._data.find(b"\0")) >= 0:
            row = self._data.count(b"\n", 0, nul) + 1
            raise InvalidValueError(
                f"{self.source}, row {row}: a NUL character. Expected text; the file seems to be"
                " damaged. Copy it again, or remove that row."
            )
        header = self._data.split(b"\n", 1)[0].decode()
        unquoted = re.sub(r'"[^"]*"', "", header)
        self.separator = separator or max(SEPARATORS, key=unquoted.count)
        sign = re.escape(self.separator).encode()
        begins = re.compile(rb'(?:\A|[\r\n]|%b) *"' % sign)
        self._quoted = b'"' in self._data and begins.search(self._data) is not None
        rows = _rows_of(self._data, self.separator, self.source, quoted=self._quoted)
        self._starts = [0, *(rows.ends[:2] + 1).tolist()]
        self.names = [text for text, _ in self._cells(0)] if len(rows.cells) else []
        self._check(rows.cells)

    def _utf8(self, data: bytes) -> bytes:
        """Return the text of the file in UTF-8, without a byte order mark."""
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            try:
                return data.decode("utf-16").encode()
            except UnicodeDecodeError as error:
                raise InvalidValueError(
                    f"{self.source} begins like text in UTF-16, and is none ({str(error)[:80]})."
                    " Expected UTF-8, UTF-16 or Windows-1252. Copy the file again, or save it as"
                    " UTF-8."
                ) from error
        data = data.removeprefix(codecs.BOM_UTF8)
        try:
            data.decode()
        except UnicodeDecodeError:
            self.notes.append("The file is no UTF-8; it was read as Windows-1252.")
            try:
                return data.decode("cp1252").encode()
            except UnicodeDecodeError:
                return data.decode("latin-1").encode()
        return data

    def _check(self, cells: np.ndarray) -> None:
        """Raise an error if rows differ in length; add a name for the row names of R."""
        self._extra = bool(len(cells) > 1 and self.names and (
            (cells[1:] == len(self.names) + 1) | (cells[1:] == 0)
        ).all())  # fmt: skip
        wrong = (cells != len(self.names) + self._extra) & (cells > 0)
        wrong[:1] = False
        if wrong.any():
            row = int(np.argmax(wrong))
            raise _bad_csv(
                self.source, row + 1, f"{cells[row]} cells under a header of {len(self.names)}"
            )

    def _cells(self, row: int) -> list[tuple[str, bool]]:
        """Return the cells of the first or second row, and whether they are quoted."""
        stop = self._starts[row + 1] if row + 1 < len(self._starts) else len(self._data)
        text = self._data[self._starts[row] : stop].decode().rstrip("\r\n")
        cell = re.compile(rf' *"((?:[^"]|"")*)" *|([^{re.escape(self.separator)}]*)', re.DOTALL)
        found, position = [], 0
        while position <= len(text):
            match = cell.match(text, position)
            assert match is not None  # each text has at least an empty cell
            quoted = match[1] is not None
            found.append((match[1].replace('""', '"') if quoted else match[2], quoted))
            position = match.end() + 1
        return found

    def is_record(self) -> bool:
        """Return whether `TrialRecord.to_csv` wrote the file: names and texts are quoted."""
        return (
            self.separator == ","
            and any(name.rpartition(".")[2] == "outcome" for name in self.names)
            and self._data.startswith(b'"')
            and len(self._starts) > 1
            and (len(self.names) == 1 or not all(quoted for _, quoted in self._cells(1)))
        )

    def own_columns(self) -> dict[str, np.ndarray]:
        """Return the columns of a file of `TrialRecord.to_csv`, whose quoted cells are strings."""
        if not self.names or self.names == [""]:
            return {}
        self._check_names(self.names)
        if self._extra:
            raise _bad_csv(self.source, 2, f"{len(self.names) + 1} cells under a header of"
                           f" {len(self.names)}")  # fmt: skip
        if len(self._data) <= self._starts[-1] == self._starts[1]:
            return gathered({name: np.zeros(0) for name in self.names})
        texts = {k: str for k, (_, quoted) in enumerate(self._cells(1)) if quoted}
        plain = {k: ["", "nan"] for k in range(len(self.names)) if k not in texts}
        frame = self._frame(self.names, dtype=texts, na_values=plain, keep_default_na=False)
        return gathered({name: _column(frame[k], missing="") for k, name in enumerate(self.names)})

    def columns(self, *, ours: bool = False) -> dict[str, np.ndarray]:
        """Return the columns of a lab's file, with the types that its cells suggest.

        Args:
            ours: whether `to_bids` wrote the file, in which texts such as "NA" are no missing
                values.
        """
        names = [name.strip() for name in self.names]
        if self._extra:
            names = ["", *names]
        decimal = "." if ours else self._decimal()
        frame = self._frame(
            names, na_values=list(MISSING), keep_default_na=not ours, decimal=decimal,
            skipinitialspace=not ours,
        )  # fmt: skip
        if self._extra and frame[len(names) - 1].isna().all():  # each row ends with a separator
            names = [*names[1:], ""]
        # Columns without a name: numbers of the rows (R), or nothing after the last separator.
        kept = {k: name for k, name in enumerate(names) if name}
        self._check_names(list(kept.values()))
        empty = frame[list(kept)].isna().all(axis=1) if not ours else np.zeros(len(frame), bool)
        if empty.any():
            frame = frame[~empty]
            self.notes.append(f"{int(empty.sum()):,} rows without any value were left out.")
        return self.of_frame(frame.rename(columns=kept)[list(kept.values())], "n/a" if ours else "")

    def of_frame(self, frame: Any, missing: str) -> dict[str, np.ndarray]:
        """Return the columns of a frame, and note those with percent signs."""
        columns = of_frame(frame, missing)
        for name, values in columns.items():
            if values.dtype.kind != "U" or not np.char.find(values[:1000], "%").max(initial=-1) > 0:
                continue
            found, index = np.unique(values, return_inverse=True)
            known = [text for text in found.tolist() if text != missing]
            if known and all(_PERCENT.fullmatch(text) for text in known):
                numbers = [
                    np.nan if text == missing else float(text.replace("%", "").replace(",", "."))
                    for text in found.tolist()
                ]
                columns[name] = np.array(numbers)[index]
                self.notes.append(f"The percent signs of {name!r} were left out.")
        return columns

    def _decimal(self) -> str:
        """Return the decimal sign, that of Europe only where commas do not separate cells."""
        if self.separator == ",":
            return "."
        rows = self._data[self._starts[-1 if len(self._starts) < 3 else 1] :][:100_000].decode(
            errors="ignore"
        )
        edge = rf"[{re.escape(self.separator)}\r\n\"]"
        cell = rf"(?:^|{edge})\s*-?\d*,\d+\s*%?(?={edge}|$)"
        return "," if re.search(cell, rows) else "."

    def _check_names(self, names: list[str]) -> None:
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice or "" in names:
            found = (
                f"the name {listed(twice)} more than once" if twice else "a column without a name"
            )
            raise InvalidValueError(
                f"{self.source}, row 1: {found}. Expected a name for each column. Rename or remove"
                " one."
            )

    def _frame(self, names: list[str], **options: Any) -> Any:
        """Return the rows as a pandas frame with columns 0, 1, …"""
        import pandas as pd

        # pandas before 3.1 rounds the last digit of some numbers unless it is asked not to; later
        # versions warn when they are asked.
        if tuple(int(part) for part in pd.__version__.split(".")[:2]) < (3, 1):
            options["float_precision"] = "round_trip"
        common = {"sep": self.separator, "header": None, "names": range(len(names)),
                  "index_col": False, "encoding": "utf-8", **options}  # fmt: skip
        try:
            with warnings.catch_warnings():
                # Read piece by piece, which takes less memory, a column may change its type.
                warnings.simplefilter("error", pd.errors.DtypeWarning)
                return pd.read_csv(self._rows(), **common)
        except pd.errors.DtypeWarning:
            return pd.read_csv(self._rows(), low_memory=False, **common)
        except pd.errors.EmptyDataError:
            return pd.DataFrame({k: np.zeros(0) for k in range(len(names))})
        except ValueError as error:  # pandas's errors are ValueErrors
            raise InvalidValueError(
                f"{self.source} is not a table ({str(error)[:80]}). Expected a header line and one"
                " row per trial. Correct the file."
            ) from error

    def _rows(self) -> io.BytesIO:
        data = io.BytesIO(self._data)
        data.seek(self._starts[1] if len(self._starts) > 1 else len(self._data))
        return data


class _Rows(NamedTuple):
    """Cells of every row, (rows,), 0 for blank lines; offsets of their last characters, (rows,)."""

    cells: np.ndarray
    ends: np.ndarray


def _rows_of(data: bytes, separator: str, source: str, *, quoted: bool) -> _Rows:
    """Count the cells of all rows; unless `quoted`, quotes are letters, as in JSON of pyControl.

    Raises:
        InvalidValueError: text beside quotes, or quotes that are never closed.
    """
    end_of_row = 10 if b"\n" in data else 13
    around = np.zeros(256, bool)
    around[[ord(separator), 10, 13, 34]] = True
    before = around.copy()
    before[32] = True  # a space before the quotes
    inside = 0
    found: list[np.ndarray] = []
    counts: list[np.ndarray] = []
    rest = 0  # separators of the row that began in an earlier piece
    previous = 10
    for start in range(0, len(data), _CHUNK):
        piece = np.frombuffer(data, np.uint8, min(_CHUNK, len(data) - start), start)
        quotes = piece == 34
        if quoted and quotes.any():
            depth = (np.cumsum(quotes, dtype=np.int32) + inside) & 1
            following = data[start + len(piece)] if start + len(piece) < len(data) else 10
            opening = np.flatnonzero(quotes & (depth == 1))
            closing = np.flatnonzero(quotes & (depth == 0))
            left = np.concatenate([[previous], piece[:-1]])[opening]
            right = np.concatenate([piece[1:], [following]])[closing]
            bad = np.concatenate([opening[~before[left]], closing[~before[right]]])
            if len(bad):
                row = sum(map(len, found)) + 1
                row += int(((piece[: bad.min()] == end_of_row) & (depth[: bad.min()] == 0)).sum())
                raise _bad_quotes(source, row)
            outside = depth == 0
            inside = int(depth[-1])
        elif inside:
            previous = int(piece[-1])
            continue
        else:
            outside = np.ones(len(piece), bool)
        previous = int(piece[-1])
        separators = np.cumsum((piece == ord(separator)) & outside, dtype=np.int32)
        ends = np.flatnonzero((piece == end_of_row) & outside)
        if len(ends):
            counts.append(np.diff(separators[ends], prepend=-rest))
            found.append(ends + start)
            rest = int(separators[-1] - separators[ends[-1]])
        else:
            rest += int(separators[-1])
    if inside:
        raise _bad_quotes(source, sum(map(len, found)) + 1)
    if data and previous != end_of_row:
        counts.append(np.array([rest]))
        found.append(np.array([len(data)]))
    ends = np.concatenate(found) if found else np.zeros(0, np.int64)
    cells = (np.concatenate(counts) if counts else np.zeros(0, np.int64)) + 1
    length = np.diff(ends, prepend=-1) - 1
    short = np.flatnonzero(length <= 1)
    blank = [k for k in short.tolist() if data[ends[k] - length[k] : ends[k]].strip(b"\r") == b""]
    cells[blank] = 0
    return _Rows(cells, ends)


def _bad_quotes(source: str, row: int) -> InvalidValueError:
    return _bad_csv(
        source, row, "a cell with text beside its quotes, or a quote that is never closed"
    )


def _bad_csv(source: str, row: int, found: str) -> InvalidValueError:
    return InvalidValueError(
        f"{source}, row {row}: {found}. Expected a header line and rows of as many cells, strings"
        " with separators in double quotes. Write the file with TrialRecord.to_csv, or correct"
        " that row."
    )


def of_frame(frame: Any, missing: str = "") -> dict[str, np.ndarray]:
    """Return the columns of a pandas frame as arrays of numbers, bools or texts.

    Missing texts are `missing`. Bools of which some are missing are 1, 0 and NaN."""
    return {str(name): _column(frame[name], missing) for name in frame.columns}


def _column(values: Any, missing: str) -> np.ndarray:
    """Return a column of a frame as an array."""
    import pandas as pd

    if values.dtype.kind in "biuf" and isinstance(values.dtype, np.dtype):
        return values.to_numpy()
    if values.dtype.kind in "biuf":  # pandas's own types may have missing values
        return values.to_numpy(dtype=float, na_value=np.nan)
    if len(values) and isinstance(values.iloc[0], np.ndarray | list | tuple):
        try:
            return np.stack([np.asarray(one) for one in values])
        except ValueError:
            values = values.map(str)
    codes, found = pd.factorize(values.map(_plain) if values.dtype == object else values)
    if len(found) and all(isinstance(one, int | float | np.number | np.bool_) for one in found):
        with contextlib.suppress(OverflowError):  # integers of hundreds of digits stay texts
            return np.append(np.asarray(found, float), np.nan)[codes]
    return np.array([*map(str, found), missing], dtype=str)[codes]


def _plain(value: Any) -> Any:
    """Return a cell that can be compared and counted."""
    return str(value) if isinstance(value, list | dict | np.ndarray) else value


def gathered(columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Join columns ``name[0]`` … ``name[k-1]`` to one of shape (n, k); keep the others."""
    groups: dict[str, dict[int, np.ndarray]] = {}
    for full_name, column in columns.items():
        match = _SPREAD.fullmatch(full_name)
        name, index = (match["name"], int(match["index"])) if match else (full_name, -1)
        groups.setdefault(name, {})[index] = column
    return {name: _stacked(name, parts) for name, parts in groups.items()}


def _stacked(name: str, parts: dict[int, np.ndarray]) -> np.ndarray:
    if set(parts) == {-1}:
        return parts[-1]
    if set(parts) != set(range(len(parts))):
        raise InvalidValueError(
            "The file has the columns"
            f" {listed(name if k < 0 else f'{name}[{k}]' for k in sorted(parts))}. Expected"
            f" {name}[0] to {name}[{len(parts) - 1}], or {name} alone. Rename or complete them in"
            " the file."
        )
    return np.stack([parts[k] for k in range(len(parts))], axis=1)
