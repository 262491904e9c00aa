"""`read_csv`: read CSV files that `TrialRecord.to_csv` writes, with the types of the columns."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from neurogym_core import InvalidValueError, TrialRecord
from neurogym_core.tools import listed

_SPREAD = re.compile(r"(?P<name>.+)\[(?P<index>\d+)\]", re.DOTALL)
_CELL = re.compile(r'(?:"(?P<quoted>(?:[^"]|"")*)"|(?P<plain>[^,"\r\n]*))(?P<end>,|\r\n|\n|\r|\Z)')


def read_csv(
    path: str | os.PathLike[str], *, meta: Mapping[str, Any] = MappingProxyType({})
) -> TrialRecord:
    """Read a CSV file with one header line, such as those of `TrialRecord.to_csv`.

    Quoted cells are strings. An unquoted column is bool if all cells are True or False, else int,
    else float (an empty cell is NaN), else str. A column without rows is float. `read_record` also
    reads files of labs.

    Args:
        path: the file.
        meta: as in `TrialRecord`.

    Raises:
        InvalidValueError: the file is not a CSV table in UTF-8: rows of different lengths, text
            after a quote, a NUL character, or a name that occurs twice.
        OSError: the file cannot be read.

    Example:
        >>> from neurogym_core import TrialRecord
        >>> from neurogym_study import read_csv
        >>> record = TrialRecord({"coherence": [0.0, 51.2], "outcome": ["error", "correct"]})
        >>> record.to_csv("trials.csv")
        >>> read_csv("trials.csv") == record
        True
    """
    return record_of(text_of(path), str(path), meta)


def record_of(text: str, source: str, meta: Mapping[str, Any]) -> TrialRecord:
    """Return the record in the text of a file, as `read_csv` reads it; errors name the source."""
    lines = list(_csv_lines(text, source))
    if not lines or lines == [[_Cell("", quoted=False)]]:
        return TrialRecord({}, meta=meta)
    names = [cell.text for cell in lines[0]]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice or "" in names:
        found = f"the name {listed(twice)} more than once" if twice else "a column without a name"
        raise _bad_csv(source, 1, found)
    cells = zip(*lines[1:], strict=True) if len(lines) > 1 else [()] * len(names)
    columns = {name: _typed(values) for name, values in zip(names, cells, strict=True)}
    return TrialRecord(gathered(columns), meta=meta)


def text_of(path: str | os.PathLike[str]) -> str:
    """Return the text of a table's file.

    Raises:
        InvalidValueError: it is not UTF-8, or has a NUL character, as interrupted copies leave.
    """
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            text = file.read()
    except UnicodeDecodeError as error:
        raise InvalidValueError(
            f"{path} is not text in UTF-8 ({str(error)[:80]}). Expected UTF-8. Save it so: in Excel"
            ' as "CSV UTF-8".'
        ) from error
    if (nul := text.find("\0")) >= 0:
        row = text.count("\n", 0, nul) + 1
        raise InvalidValueError(
            f"{path}, row {row}: a NUL character. Expected text; the file seems to be damaged. Copy"
            " it again, or remove that row."
        )
    return text


class _Cell(NamedTuple):
    text: str
    quoted: bool


def _csv_lines(text: str, source: str) -> Iterator[list[_Cell]]:
    """Yield the cells of every line."""
    # `csv.reader` does not report which cells are quoted, that is, which are strings.
    line: list[_Cell] = []
    position, number, width = 0, 1, None
    while position < len(text) or line:
        match = _CELL.match(text, position)
        if match is None:
            raise _bad_csv(
                source,
                number,
                "a cell with text beside its quotes, or a quote that is never closed",
            )
        quoted = match["quoted"]
        line.append(
            _Cell(match["plain"], False)
            if quoted is None
            else _Cell(quoted.replace('""', '"'), True)
        )
        position = match.end()
        if match["end"] == ",":
            continue
        width = len(line) if width is None else width
        if len(line) != width:
            raise _bad_csv(source, number, f"{len(line)} cells under a header of {width}")
        yield line
        line, number = [], number + 1


def _bad_csv(source: str, row: int, found: str) -> InvalidValueError:
    return InvalidValueError(
        f"{source}, row {row}: {found}. Expected a header line and rows of as many cells, separated"
        " by commas, strings in double quotes. Write the file with TrialRecord.to_csv, or"
        " correct that row."
    )


def _typed(cells: tuple[_Cell, ...]) -> np.ndarray:
    texts = [cell.text for cell in cells]
    if any(cell.quoted for cell in cells):
        return np.array(texts, dtype=str)
    if texts and set(texts) <= {"True", "False"}:
        return np.array([text == "True" for text in texts])
    for convert, dtype in ((int, np.int64), (int, np.uint64), (_number, np.float64)):
        try:
            return np.array([convert(text) for text in texts], dtype=dtype if texts else np.float64)
        except (ValueError, OverflowError):
            continue
    return np.array(texts, dtype=str)


def _number(text: str) -> float:
    return float(text) if text.strip() else float("nan")


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
