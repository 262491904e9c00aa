"""`Plan`: the rows of settings of a sweep, from ``--vary`` texts and tables."""

from __future__ import annotations

import csv
import itertools
import math
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import Any

from neurogym_records.options import tasks_like
from neurogym_training import check_artefact
from neurogym_training.runs import SETTINGS_FILE, Run

from neurogym_core import InvalidValueError
from neurogym_core.tools import read_value, split_values

MAX_RUNS = 100_000
"""The number of rows above which a sweep is refused, unless you ask for more."""

_WHOLE = re.compile(r"(-?\d+):(-?\d+)(?::(\d+))?")
_DRAW = re.compile(r"(uniform|log|integers)\(([^()]*)\)")


@dataclass(frozen=True)
class Draw:
    """A range of numbers to draw from: ``uniform(a,b)``, ``log(a,b)`` or ``integers(a,b)``.

    Attributes:
        kind: "uniform", "log" (uniform in the logarithm) or "integers" (without `high`).
        low, high: the ends.
    """

    kind: str
    low: float
    high: float

    def sample(self, generator: random.Random) -> float:
        """Draw a number."""
        if self.kind == "integers":
            return generator.randrange(int(self.low), int(self.high))
        if self.kind == "log":
            return math.exp(generator.uniform(math.log(self.low), math.log(self.high)))
        return generator.uniform(self.low, self.high)


@dataclass(frozen=True)
class SweepAxis:
    """A setting that varies, with its values."""

    name: str
    values: Sequence[Any] | Draw


def read_axis(text: str) -> SweepAxis:
    """Return the axis of a ``--vary`` text.

    Values are separated by commas: ``hidden=64,256``; brackets make one value of several numbers:
    ``coherences=[0,51.2],[0,6.4]``. ``seed=0:20`` is the whole numbers from 0 to 19, ``0:20:5``
    every fifth of them. In values of ``task``, ``*`` and ``?`` stand for installed tasks, and
    in values of ``run`` for folders. The
    ranges ``uniform(a,b)``, ``log(a,b)`` and ``integers(a,b)`` are drawn from.

    Raises:
        InvalidValueError: another form, or a range without values.
        UnknownTaskError: a pattern that no installed task matches.
    """
    name, equals, written = text.partition("=")
    name, written = name.strip(), written.strip()
    if not (name and equals and written):
        raise InvalidValueError(
            f"--vary was given {text!r}. Expected a name and its values. Write for example"
            " --vary seed=0:20 or --vary hidden=64,256."
        )
    if (found := _DRAW.fullmatch(written)) and not name.startswith("timing."):
        return SweepAxis(name, _read_draw(text, found))
    values: list[Any] = []
    for part in map(str.strip, split_values(written)):
        if found := _WHOLE.fullmatch(part):
            start, stop, step = int(found[1]), int(found[2]), int(found[3] or 1)
            if step == 0 or start >= stop:
                raise InvalidValueError(
                    f"--vary was given {text!r}, and {part} has no numbers. Expected"
                    " FIRST:END or FIRST:END:STEP, the end excluded. Write for example 0:20."
                )
            whole = range(start, stop, step)
            if part == written:
                return SweepAxis(name, whole)  # not a list: it may have millions
            _refuse_long(len(whole), f"The values of {text!r}")
            values += whole
        elif name == "task":
            values += tasks_like(part)
        elif name == "run":
            values += _runs(part)
        elif "(" in part and part[0].isalpha():  # a duration, such as uniform(500,1500)
            values.append(part)
        else:
            values.append(read_value(part))
    return SweepAxis(name, values)


def read_rows(path: Path, *, trust: bool = False) -> list[dict[str, Any]]:
    """Return the rows of settings in a CSV file, whose first line has the names.

    An empty cell leaves the setting at its default.

    Args:
        path: the file.
        trust: whether code in Python files that it names may be run.

    Raises:
        InvalidValueError: not a CSV table with a line of names and one row at least; or it names
            Python files, and they are not trusted.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file, strict=True)
            rows = [dict(row) for row in reader]
            names = reader.fieldnames or []
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InvalidValueError(
            f"--table was given {str(path)!r}, which cannot be read: {error}. Expected a CSV file."
            " Correct the path or the file."
        ) from error
    if not rows or not all(name and name.strip() for name in names):
        raise InvalidValueError(
            f"--table was given {str(path)!r}, which has {len(rows)} rows and the names"
            f" {list(names)}. Expected a line of names and one row or more. Complete the file."
        )
    if len(set(names)) < len(names):
        raise InvalidValueError(
            f"--table was given {str(path)!r}, in which a name occurs twice: {list(names)}."
            " Expected each name once. Rename or remove a column."
        )
    for number, row in enumerate(rows, 2):
        if None in row or None in row.values():
            raise InvalidValueError(
                f"Line {number} of {str(path)!r} has another number of cells than the line of"
                f" names, {len(names)}. Expected as many. Correct the line."
            )
    check_artefact(f"The table {str(path)!r}", rows, trust=trust)
    return [
        {name.strip(): read_value(cell.strip()) for name, cell in row.items() if cell.strip()}
        for row in rows
    ]


@dataclass(frozen=True)
class Plan:
    """The rows of settings of a sweep.

    Args:
        axes: the settings that vary.
        table: rows of settings; each is combined with those of the axes.
        zipped: combine the first values of all axes, the second ones, and so on, instead of each
            value with each.
        draws: draw this number of rows from the axes at random.
        draw_seed: seed of these draws.

    Raises:
        InvalidValueError: the parts do not fit together.
    """

    axes: tuple[SweepAxis, ...] = ()
    table: tuple[Mapping[str, Any], ...] = ()
    zipped: bool = False
    draws: int | None = None
    draw_seed: int = 0

    def __post_init__(self) -> None:
        names = [axis.name for axis in self.axes]
        twice = {name for name in names if names.count(name) > 1}
        twice |= {name for row in self.table for name in row if name in names}
        if twice:
            raise InvalidValueError(
                f"{', '.join(sorted(twice))} was given twice. Expected each setting in one --vary,"
                " or in the table. Leave one of them out."
            )
        if self.zipped and self.draws is not None:
            raise InvalidValueError(
                "--zip and --random were both given. Expected one way to combine the values. Leave"
                " one of them out."
            )
        ranges = [axis.name for axis in self.axes if isinstance(axis.values, Draw)]
        if ranges and self.draws is None:
            raise InvalidValueError(
                f"{', '.join(ranges)} was given as a range to draw from, which has no list of"
                " values. Expected --random N or --search N with a range. Add one, or list values."
            )
        lengths = {axis.name: len(axis.values) for axis in self.axes if self.draws is None}
        if self.zipped and len(set(lengths.values())) > 1:
            said = ", ".join(f"{name}: {length}" for name, length in lengths.items())
            raise InvalidValueError(
                f"--zip was given with different numbers of values ({said}). Expected as many"
                " values of each. Complete them, or leave --zip out."
            )

    def __len__(self) -> int:
        if self.draws is not None:
            own = self.draws
        elif self.zipped:
            own = min((len(axis.values) for axis in self.axes), default=1)
        else:
            own = math.prod(len(axis.values) for axis in self.axes)
        return own * max(len(self.table), 1)

    def rows(self, at_most: int = MAX_RUNS) -> Iterator[dict[str, Any]]:
        """Return the rows in order: the last axis varies fastest.

        Raises:
            InvalidValueError: more rows than `at_most`; none is made.
        """
        _refuse_long(len(self), "The settings that vary", at_most)
        return self._rows()

    def _rows(self) -> Iterator[dict[str, Any]]:
        generator = random.Random(self.draw_seed)
        names = [axis.name for axis in self.axes]
        for given in self.table or ({},):
            if self.draws is not None:
                combined: Any = (
                    tuple(_drawn(axis, generator) for axis in self.axes) for _ in range(self.draws)
                )
            elif self.zipped and self.axes:
                combined = zip(*(axis.values for axis in self.axes), strict=True)
            else:
                combined = itertools.product(*(axis.values for axis in self.axes))
            for values in combined:
                yield {**given, **dict(zip(names, values, strict=True))}


def _refuse_long(count: int, what: str, at_most: int = MAX_RUNS) -> None:
    if count > at_most:
        raise InvalidValueError(
            f"{what} give {count:,} runs. Expected at most {at_most:,}. Vary fewer settings, draw"
            " some rows with --random N, or raise the limit with --max-runs."
        )


def _drawn(axis: SweepAxis, generator: random.Random) -> Any:
    if isinstance(axis.values, Draw):
        return axis.values.sample(generator)
    return axis.values[generator.randrange(len(axis.values))]


def _read_draw(text: str, found: re.Match[str]) -> Draw:
    try:
        low, high = (float(part) for part in found[2].split(","))
    except ValueError:
        low = high = math.nan
    whole = low.is_integer() and high.is_integer()
    if (
        not (math.isfinite(low) and math.isfinite(high) and low < high)
        or (found[1] == "log" and low <= 0)
        or (found[1] == "integers" and not whole)
    ):
        raise InvalidValueError(
            f"--vary was given {text!r}. Expected two numbers, the smaller first; above 0 for log,"
            " whole ones for integers. Write for example rate=log(1e-4,1e-1)."
        )
    return Draw(found[1], low, high)


def _runs(part: str) -> list[str]:
    """Return the folders of trained runs that a pattern matches, or the folder itself."""
    if not any(sign in part for sign in "*?["):
        return [part]
    # Runs that failed before their first checkpoint are left out.
    folders = [Path(one).parent for one in sorted(glob(f"{part}/{SETTINGS_FILE}"))]
    found = [str(folder) for folder in folders if Run.open(folder).started]
    if not found:
        raise InvalidValueError(
            f"--vary was given run={part}, which matches no folder of a trained run. Expected"
            " folders that `ngym train --out` or `ngym sweep` wrote. Write for example"
            " run=sweep/runs/*."
        )
    return found
