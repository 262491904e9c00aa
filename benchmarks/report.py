"""The table of results, on the terminal and in `docs/performance.md`."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from importlib.metadata import version
from pathlib import Path
from statistics import median

from benchmarks.probes import PLAYING
from benchmarks.rows import REASONS, Row


@dataclass(frozen=True)
class Result:
    """Result of a row.

    Attributes:
        row: the measured row.
        values: one value per round.
        rate: median steps per second of the core; None for probes.
        missing: reason why the row was not measured, or "".
        which: the task with the lowest ratio, if the row has several.
        bounds: name -> steps per second of an upper bound (`rows.bounds_of`).
    """

    row: Row
    values: Sequence[float] = ()
    rate: float | None = None
    missing: str = ""
    which: str = ""
    bounds: Mapping[str, float] = field(default_factory=dict)

    @property
    def value(self) -> float:
        """Median over the rounds."""
        return median(self.values)

    @property
    def mark(self) -> str:
        """``stretch``, ``ok``, ``MISSED``, ``–`` (for information) or ``not measured``."""
        if self.missing:
            return "not measured"
        if self.row.must is None:
            return "–"
        return (
            "stretch"
            if self._reaches(self.row.stretch)
            else "ok"
            if self._reaches(self.row.must)
            else "MISSED"
        )

    def _reaches(self, goal: float | None) -> bool:
        # Rows with the bound 1.0 are counted, not timed, and may differ by rounding.
        value = round(self.value, 4)
        return goal is not None and (value <= goal if self.row.less else value >= goal)


MARK = (
    "<!-- Written below by `python -m benchmarks.to_criterion --write`: do not edit it here. -->\n"
)
"""Line of the page below which another benchmark writes."""
BOUNDS = {"noise": "noise alone", "writing": "writing alone", "C": "least work in C"}
HEADS = ("row", "bound", "stretch", "measured", "range", "steps/s", *BOUNDS.values(), "mark")
NOTES = f"""\
"noise alone" generates the noise of as many steps with the same generator in a bare loop. "writing
alone" writes as many bytes as the steps have. "least work in C" plays fixed periods of as many
envs in private arrays, without logs, windows and infos. All are in steps/s, with the reached
fraction in parentheses. Lines are all lines of the modules of neurogym_core that play tables
({", ".join(PLAYING)}),
with empty lines, comments and docstrings; classes are the classes in these modules."""


def cells(result: Result) -> list[str]:
    """Return the cells of a row, in the order of HEADS."""
    row = result.row
    goals = [_goal(row, row.must), _goal(row, row.stretch)]
    if result.missing:
        empty = [""] * (2 + len(BOUNDS))
        return [row.label, *goals, "–", *empty, f"not measured: {result.missing}"]
    spread = f"{_number(min(result.values))}–{_number(max(result.values))}"
    rate = f"{result.rate:.2g}" if result.rate else ""
    bounds = [_bound(result, name) for name in BOUNDS]
    label = f"{row.label}: {result.which}" if result.which else row.label
    return [label, *goals, f"{_number(result.value)}{row.unit}", spread, rate, *bounds, result.mark]


def _bound(result: Result, name: str) -> str:
    if name not in result.bounds or result.rate is None:
        return ""
    return f"{result.bounds[name]:.2g} ({result.rate / result.bounds[name]:.2g})"


def reasons(results: Sequence[Result]) -> list[str]:
    """Return one line per missed row, with the reason."""
    missed = [result.row.label for result in results if result.mark == "MISSED"]
    return [f"{label}: {REASONS.get(label, 'no reason is known.')}" for label in missed]


def _goal(row: Row, goal: float | None) -> str:
    if goal is None:
        return "–"
    return f"{'≤ ' if row.less else '≥ '}{_number(goal)}{row.unit}"


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 99.5 else f"{value:.3g}"


def print_table(results: Sequence[Result], kernel: str) -> None:
    """Print the table, and the name of the kernel."""
    from rich.console import Console
    from rich.table import Table

    print(f"Kernel: {kernel or 'not used'}")
    table = Table(
        title="Relative to NeuroGym 2.3.1, unless the row names another", title_justify="left"
    )
    for head in HEADS:
        table.add_column(head, justify="left" if head in ("row", "mark") else "right")
    styles = {"MISSED": "bold red", "stretch": "bold green", "ok": "green"}
    for result in results:
        table.add_row(*cells(result), style=styles.get(result.mark, ""))
    width = None if sys.stdout.isatty() else 180
    Console(width=width).print(table)
    print(NOTES)
    print("\n".join(f"MISSED {line}" for line in reasons(results)))


def write_page(
    path: Path, results: Sequence[Result], rounds: int, seconds: float, kernel: str
) -> None:
    """Write the page of the documentation, down to the line `MARK`."""
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    _, mark, kept = before.partition(MARK)
    lines = [
        "# Performance",
        "",
        ("*Written by `python -m benchmarks --write`.* Ratios are relative to NeuroGym 2.3.1,"),
        "unless a row names another. `benchmarks/README.md` describes the method.",
        "",
        f"- Date: {date.today().isoformat()}",
        f"- Kernel: {kernel}",
        f"- Machine: {machine()}",
        f"- Versions: Python {platform.python_version()}, {versions()}",
        (
            f"- Medians of {rounds} rounds of slices of at least {seconds:g} s, one thread; the"
            " range is over the rounds."
        ),
        "",
        "| " + " | ".join(HEADS) + " |",
        "|---|" + "---:|" * (len(HEADS) - 2) + "---|",
        *("| " + " | ".join(cells(result)) + " |" for result in results),
        "",
        NOTES,
        "",
        *(
            ["Reasons for the missed rows:", "", *(f"- {line}" for line in reasons(results)), ""]
            if reasons(results)
            else []
        ),
    ]
    path.write_text("\n".join([*lines, mark + kept]) if mark else "\n".join(lines), "utf-8")


def versions() -> str:
    """Return the versions of the libraries on which the speed depends."""
    return ", ".join(f"{name} {version(name)}" for name in ("numpy", "gymnasium"))


def machine() -> str:
    """Return the processor and the system, without names of hosts, users or folders."""
    return (
        f"{_processor()}, {os.cpu_count()} logical CPUs, {platform.system()} {platform.machine()}"
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown processor"
