"""Read the table of a sweep: means over seeds, SQL, and figures."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from neurogym_plot.canvas import INK, SMALL, TEXT, Box, cycle_colour, heading, new_figure, number

from neurogym_core import InvalidValueError
from neurogym_core.tools import optional, unknown
from neurogym_sweep.store import TABLE_FILE, TRAINED, Store
from neurogym_sweep.table import FIXED, settings_of

MAX_LINES = 12
"""Number of curves that a figure can show."""
_UNITS = ("updates", "steps", "result.updates", "result.steps")


def query(table: Path, sql: str) -> tuple[list[str], list[tuple]]:
    """Return the names and rows of a query; the table is called ``runs``.

    Raises:
        MissingDependencyError: DuckDB is not installed.
        InvalidValueError: DuckDB does not accept the query.
    """
    duckdb = optional("duckdb", needed_for="--sql")
    connection = duckdb.connect()
    try:
        connection.register("runs", pq.read_table(table))
        found = connection.execute(sql)
        return [column[0] for column in found.description], found.fetchall()
    except duckdb.Error as error:
        raise InvalidValueError(
            f"--sql was given a query that DuckDB refuses: {error} Expected SQL over the table"
            f" runs, with the columns {', '.join(pq.read_schema(table).names)}. Correct it."
        ) from error
    finally:
        connection.close()


class Results:
    """The results of a sweep for one metric.

    Args:
        store: the sweep; its table must be written.
        metric: name of a result; None: "accuracy", or the first one.

    Raises:
        UnknownNameError: there is no such result.
    """

    def __init__(self, store: Store, metric: str | None = None) -> None:
        self.store = store
        self.settings = settings_of(store)
        schema = pq.read_schema(store.folder / TABLE_FILE)
        numbers = [
            field.name
            for field in schema
            if field.name not in FIXED
            and field.name not in self.settings
            and str(field.type) in ("int64", "double", "bool")
        ]
        if metric is not None and metric not in numbers:
            raise unknown("result", metric, numbers, of=str(store.folder))
        first = "accuracy" if "accuracy" in numbers else next(iter(numbers), None)
        self.metric = metric or first
        unit = [name for name in _UNITS if name in numbers]
        self.unit = unit[0] if unit else "test"
        columns = [*FIXED, *self.settings, *({self.metric, *unit} - {None})]
        columns.remove("versions")
        self.rows = pq.read_table(store.folder / TABLE_FILE, columns=columns).to_pylist()

    def state(self) -> list[tuple[str, Any]]:
        """Return facts: how many runs are done, failed and left, and their time."""
        runs = {row["key"]: row for row in self.rows}.values()
        states = Counter(row["status"] for row in runs)
        total = len(self.store.read_plan()["runs"])
        seconds = [row["run_seconds"] for row in runs if row["run_seconds"] is not None]
        return [
            ("done", f"{states['done']:,}"),
            ("failed", f"{states['failed']:,}" if states["failed"] else ""),
            ("left", f"{total - len(runs):,}" if total > len(runs) else ""),
            ("time per run", f"{np.mean(seconds):.2f} s" if seconds else ""),
            ("result", self.metric),
        ]

    def summary(self) -> tuple[list[str], list[list[Any]]]:
        """Return names and rows: settings, number of runs, mean and standard deviation."""
        names = self._compared()
        groups = self._groups([row for row in self.rows if row["last"]], names)
        rows = []
        for key, values in groups.items():
            mean, deviation, count = _moments(values)
            rows.append([*key, count, mean, deviation])
        return [*names, "runs", f"mean {self.metric}", "sd"], rows

    def errors(self) -> list[tuple[str, str]]:
        """Return key and error of runs that have one, without repeating equal errors."""
        found: dict[str, list[str]] = {}
        for row in self.rows:
            if row["error"] is not None and row["last"] is not False:
                found.setdefault(row["error"], []).append(row["key"])
        return [
            (keys[0] if len(keys) == 1 else f"{keys[0]} and {len(keys) - 1} more", error)
            for error, keys in found.items()
        ]

    def curves(self) -> Any:
        """Draw the result over tests: means over seeds, and one standard deviation around them.

        Raises:
            InvalidValueError: there is no result, or there are too many lines.
        """
        self._need_numbers()
        names = [
            name
            for name in self._compared()
            if len({_hashable(row[name]) for row in self.rows}) > 1
        ]
        lines: dict[tuple, dict[float, list[Any]]] = {}
        for row in self.rows:
            if row[self.metric] is not None:
                key = tuple(_hashable(row[name]) for name in names)
                at = row[self.unit]
                lines.setdefault(key, {}).setdefault(at, []).append(row[self.metric])
        if len(lines) > MAX_LINES:
            raise InvalidValueError(
                f"The curves of {len(lines)} settings were to be drawn. Expected at most"
                f" {MAX_LINES}. Draw --heat X,Y, or select rows with --sql."
            )
        room = 0.42 + 0.18 * (len(lines) if names else 0)
        height = 3.3 + room
        figure = new_figure(5.2, height)
        axes = Box(figure, 0, 0, 5.2, height).axes(0.75, 0.55, 4.2, height - 0.55 - room)
        for index, (key, points) in enumerate(lines.items()):
            x = sorted(points)
            moments = [_moments(points[at]) for at in x]
            mean = np.array([moment[0] for moment in moments], float)
            spread = np.array([moment[1] or 0.0 for moment in moments])
            colour = cycle_colour(index)
            label = ", ".join(f"{name} {value}" for name, value in zip(names, key, strict=True))
            style = "-" if index < 6 else "--"  # the colours repeat
            axes.plot(x, mean, style, color=colour, lw=1.4, label=label, marker="o", ms=2.5)
            axes.fill_between(x, mean - spread, mean + spread, color=colour, alpha=0.2, lw=0)
        axes.set_xlabel(self.unit.removeprefix("result."), fontsize=TEXT, color=INK)
        axes.set_ylabel(str(self.metric), fontsize=TEXT, color=INK)
        if names:
            axes.legend(
                loc="lower left", bbox_to_anchor=(-0.02, 1.0), frameon=False, fontsize=SMALL,
                handletextpad=0.4, borderaxespad=0.2, labelspacing=0.2,
            )  # fmt: skip
        heading(figure, f"{self.metric}: mean and sd over runs", 0.75 / 5.2, 1 - 0.12 / height)
        return figure

    def heat(self, text: str) -> Any:
        """Draw the mean of the result over two settings.

        Args:
            text: their names, "X,Y".

        Raises:
            InvalidValueError: not two settings, or no result.
            UnknownNameError: a setting that does not vary.
        """
        names = [name.strip() for name in text.split(",")]
        if len(names) != 2 or names[0] == names[1]:
            raise InvalidValueError(
                f"--heat was given {text!r}. Expected two settings that vary, of"
                f" {', '.join(self.settings) or 'none'}. Write for example --heat hidden,rate."
            )
        for name in names:
            if name not in self.settings:
                raise unknown("setting", name, self.settings, of=str(self.store.folder))
        self._need_numbers()
        groups = self._groups([row for row in self.rows if row["last"]], names)
        across, down = (_sorted({key[index] for key in groups}) for index in (0, 1))
        values = np.full((len(down), len(across)), np.nan)
        for (x, y), group in groups.items():
            mean = _moments(group)[0]
            values[down.index(y), across.index(x)] = np.nan if mean is None else mean
        width = min(2.4 + 0.6 * len(across), 10.0)
        height = min(1.6 + 0.42 * len(down), 10.0)
        figure = new_figure(width, height)
        box = Box(figure, 0, 0, width, height)
        axes = box.axes(1.1, 0.7, width - 2.0, height - 1.2)
        image = axes.imshow(values, aspect="auto", origin="lower", cmap="viridis")
        axes.spines[["left", "bottom"]].set_visible(False)
        axes.set_xticks(range(len(across)), [_label(value) for value in across])
        axes.set_yticks(range(len(down)), [_label(value) for value in down])
        axes.set_xlabel(names[0], fontsize=TEXT, color=INK)
        axes.set_ylabel(names[1], fontsize=TEXT, color=INK)
        if values.size <= 150:
            middle = (np.nanmin(values) + np.nanmax(values)) / 2
            for row, column in np.ndindex(*values.shape):
                value = values[row, column]
                if math.isfinite(value):
                    axes.text(
                        column, row, number(value, 3), ha="center", va="center", fontsize=SMALL,
                        color="white" if value < middle else INK,
                    )  # fmt: skip
        bar = figure.colorbar(image, cax=box.axes(width - 0.75, 0.7, 0.12, height - 1.2))
        bar.outline.set_visible(False)
        heading(figure, f"mean {self.metric}", 1.1 / width, 1 - 0.12 / height)
        return figure

    def _compared(self) -> list[str]:
        """Return the settings over which results are not averaged: all but seeds and their runs."""
        averaged = {"seed", f"{TRAINED}seed"}
        if any(name.startswith(TRAINED) for name in self.settings):
            averaged.add("run")
        return [name for name in self.settings if name not in averaged]

    def _need_numbers(self) -> None:
        if self.metric is None or all(row[self.metric] is None for row in self.rows):
            raise InvalidValueError(
                f"No run in {str(self.store.folder)!r} has a number as a result yet. Expected one"
                " or more. Wait for the first runs, or read their errors: ngym sweep show."
            )

    def _groups(self, rows: Sequence[dict[str, Any]], names: Sequence[str]) -> dict[tuple, list]:
        groups: dict[tuple, list[Any]] = {}
        for row in rows:
            key = tuple(_hashable(row[name]) for name in names)
            groups.setdefault(key, []).append(None if self.metric is None else row[self.metric])
        return groups


def _moments(values: Sequence[Any]) -> tuple[float | None, float | None, int]:
    """Return mean, standard deviation (None for fewer than two values) and number."""
    known = [float(value) for value in values if value is not None]
    mean = float(np.mean(known)) if known else None
    return mean, float(np.std(known, ddof=1)) if len(known) > 1 else None, len(values)


def _hashable(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, list | dict) else value


def _sorted(values: set[Any]) -> list[Any]:
    is_number = all(isinstance(value, int | float) for value in values)
    return sorted(values) if is_number else sorted(values, key=str)


def _label(value: Any) -> str:
    return number(value, 3) if isinstance(value, float) else str(value)
