"""The table on the terminal, and the page `docs/performance.md`."""

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
    """A row with one value per round, or why there is none.

    Attributes:
        row: what was measured.
        values: one per round.
        rate: steps per second of the core, median; None for probes.
        missing: why nothing was measured.
        which: the task with the least ratio, where a row has several.
        bounds: name -> steps per second of what cannot be beaten (`rows.bounds_of`).
    """

    row: Row
    values: Sequence[float] = ()
    rate: float | None = None
    missing: str = ""
    which: str = ""
    bounds: Mapping[str, float] = field(default_factory=dict)

    @property
    def value(self) -> float:
        """The median over the rounds."""
        return median(self.values)

    @property
    def mark(self) -> str:
        """How it stands: ``stretch``, ``ok``, ``MISSED``, ``–`` (for information) or ``not
        measured``.
        """
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
        # What must be 1.0 is counted, not timed: rounding is no failure.
        value = round(self.value, 4)
        return goal is not None and (value <= goal if self.row.less else value >= goal)


BOUNDS = {"noise": "noise alone", "writing": "writing alone"}
HEADS = ("what", "must", "stretch", "measured", "range", "steps/s", *BOUNDS.values(), "mark")
NOTES = f"""\
"noise alone" makes the noise of as many steps with the same generator in a bare loop, "writing alone" fills as many bytes as
the steps hold; both in steps/s, with the share of it that is reached. Lines are all lines of the modules of neurogym_core/play
that play tables ({", ".join(PLAYING)}), also empty ones, comments
and docstrings; classes are the classes that they define."""


def cells(result: Result) -> list[str]:
    """The texts of a row, in the order of HEADS."""
    row = result.row
    goals = [_goal(row, row.must), _goal(row, row.stretch)]
    if result.missing:
        return [row.label, *goals, "–", "", "", "", "", f"not measured: {result.missing}"]
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
    """Why rows are not reached, a line for each."""
    missed = [result.row.label for result in results if result.mark == "MISSED"]
    return [f"{label}: {REASONS.get(label, 'no reason is given.')}" for label in missed]


def _goal(row: Row, goal: float | None) -> str:
    if goal is None:
        return "–"
    return f"{'≤ ' if row.less else '≥ '}{_number(goal)}{row.unit}"


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 99.5 else f"{value:.3g}"


def print_table(results: Sequence[Result], kernel: str) -> None:
    """The table on the terminal; `kernel` says which one plays."""
    from rich.console import Console
    from rich.table import Table

    print(f"Kernel: {kernel or 'not asked'}")
    table = Table(title="Beside NeuroGym 2.3.1 unless another is named", title_justify="left")
    for head in HEADS:
        table.add_column(head, justify="left" if head in ("what", "mark") else "right")
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
    """The page of the documentation."""
    lines = [
        "# Performance",
        "",
        (
            "Written by the benchmarks with `--write`; do not edit. Ratios are to NeuroGym 2.3.1"
            " unless a row names"
        ),
        "something else; how they are measured stands in `benchmarks/README.md`.",
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
            ["Why rows are not reached:", "", *(f"- {line}" for line in reasons(results)), ""]
            if reasons(results)
            else []
        ),
    ]
    path.write_text("\n".join(lines), encoding="utf-8")


def versions() -> str:
    """Of what the speed depends on, in the core's environment."""
    return ", ".join(f"{name} {version(name)}" for name in ("numpy", "gymnasium"))


def machine() -> str:
    """The processor and the system; no names of hosts, users or folders."""
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
