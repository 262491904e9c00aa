"""Write the tables and draw the figures of ``docs/paper``: ``python docs/_make/paper.py``.

Nothing is measured here. All numbers are read from pages and files that other scripts wrote, and
from the pyproject files; each table names its source."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markdown_parts import continued, table
from measured import read

HERE = Path(__file__).resolve().parent
DOCS, ROOT = HERE.parent, HERE.parents[1]
FOLDER = DOCS / "paper"
TARGET = FOLDER / "notes.md"
BENCHMARK = "clicks-rats"
"""The benchmark of the figure."""
_GROUPS = {
    "tasks": "tasks",
    "wrappers": "wrappers",
    "subjects": "subjects of packages",
    "benchmarks": "benchmarks",
    "signatures": "signatures of behaviour",
    "neural_signatures": "signatures of neurons",
    "trainers": "trainers",
}


@dataclass(frozen=True)
class Speed:
    """A row of ``docs/performance.md`` whose value is a ratio to NeuroGym."""

    row: str
    ratio: float
    low: float
    high: float
    mark: str


def speeds() -> list[Speed]:
    """Return the rows that compare with NeuroGym."""
    text = (DOCS / "performance.md").read_text("utf-8")
    found = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != 9 or not cells[3].endswith("x"):
            continue
        if ", x " in cells[0] or "`import" in cells[0]:  # relative to something else, as it says
            continue
        low, high = map(float, cells[4].split("–"))
        found.append(Speed(cells[0], float(cells[3][:-1]), low, high, cells[8]))
    return found


def conditions() -> list[str]:
    """Return the lines of ``docs/performance.md`` that say when and where it was measured."""
    text = (DOCS / "performance.md").read_text("utf-8")
    lines = re.findall(r"^- (?:.+\n)(?:  .+\n)*", text.partition("| row |")[0], flags=re.M)
    return [line.replace("](decisions/", "](../decisions/") for line in lines]


def defects() -> str:
    """Return the measurements of NeuroGym, as ``docs/why.md`` lists them."""
    text = (DOCS / "why.md").read_text("utf-8")
    found = re.search(
        r"These are measurements of version [\d.]+:\n\n((?:- .+\n(?:  .+\n)*)+)", text
    )
    assert found is not None
    return found[0]


def counts() -> list[tuple[str, int]]:
    """Return the number of packages, and of their entry points by group."""
    files = [ROOT / "pyproject.toml", *sorted(ROOT.glob("plugins/*/pyproject.toml"))]
    projects = [tomllib.loads(path.read_text("utf-8"))["project"] for path in files]
    rows = [("packages", len(projects))]
    for group, name in _GROUPS.items():
        points = [one.get("entry-points", {}).get(f"neurogym.{group}", {}) for one in projects]
        rows.append((name, sum(map(len, points))))
    return rows


def trainings() -> Iterator[tuple[str, str, str]]:
    """Yield the trained tasks, the trainings that met their criterion, and the file."""
    for file in ("results.json", "agents.json", "gallery-results.json"):
        found = read(HERE / file)["runs"]
        runs = [
            {"task": key} | run
            for key, value in found.items()
            for run in (value if isinstance(value, list) else [value])
        ]
        tasks = {run.get("goal", run["task"]) for run in runs}
        met = [run["met"] for run in runs if "met" in run]
        said = f"{sum(met)} of {len(met)} met their criterion" if met else "no criterion"
        yield f"{len(runs)} trainings of {len(tasks)} tasks", said, f"docs/_make/{file}"


def scores(benchmark: str) -> list[dict[str, Any]]:
    """Return the stored scores in a benchmark, the highest first."""
    runs = read(HERE / "leaderboard.json")["runs"].values()
    rows = [row for run in runs if run["benchmark"] == benchmark for row in run["rows"]]
    return sorted(rows, key=lambda row: -row["score"])


def likeness() -> Iterator[tuple[str, ...]]:
    """Yield a row for each benchmark: animals, and the best subject, network and cheat."""
    runs = read(HERE / "leaderboard.json")["runs"].values()
    for name in sorted({run["benchmark"] for run in runs}):
        rows = scores(name)

        def best(kind: str, rows: list[dict[str, Any]] = rows) -> str:
            found = [row for row in rows if row["kind"] == kind]
            return f"{found[0]['who']}: {found[0]['score']:.2f}" if found else "–"

        animals = [row["score"] for row in rows if row["kind"] == "held out"]
        passing = [row for row in rows if row["kind"] == "cheat" and row["verdict"] == "passes"]
        yield (
            name, f"{min(animals):.2f} to {max(animals):.2f}", best("reference subject"),
            best("network"), best("cheat"), str(len(passing)),
        )  # fmt: skip


def page() -> str:
    """Return the notes, with all tables."""
    speed = [
        (one.row, f"{one.ratio:g}", f"{one.low:g} to {one.high:g}", one.mark) for one in speeds()
    ]
    heads = (
        "benchmark", "animals, held out", "best subject", "best network", "best cheat",
        "cheats that pass",
    )  # fmt: skip
    parts = [
        "## The numbers",
        "### Speed relative to NeuroGym 2.3.1",
        "Source: `docs/performance.md`, written by `make bench`. A ratio below 1 is slower than NeuroGym; a row with"
        " the mark MISSED did not reach its bound.",
        "".join(conditions()),
        table(("row", "ratio", "range over rounds", "mark"), speed),
        "### Defects of NeuroGym that a table of trials excludes",
        f"Source: `docs/why.md`, quoted. {defects()}",
        "### Size",
        "Source: the entry points in the pyproject.toml of all packages.",
        table(("of this repository", "number"), [(name, str(number)) for name, number in counts()]),
        "### Trainings",
        table(("trained", "result", "source"), [(a, b, f"`{c}`") for a, b, c in trainings()]),
        "### Likeness to animals",
        "Source: `docs/_make/leaderboard.json`, measured by `make leaderboard`. A score of 0 is that of a guesser, 1"
        " that of another animal. A cheat is made from the animals' answers, and must not pass.",
        table(heads, likeness()),
    ]
    return continued(TARGET, "\n\n".join(part.strip() for part in parts))


def draw(folder: Path) -> None:
    """Draw both figures into a folder."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib.figure import Figure

    rows = speeds()[::-1]
    figure = Figure(figsize=(8, 0.28 * len(rows) + 1), layout="constrained")
    axes = figure.subplots()
    for at, one in enumerate(rows):
        axes.plot([one.low, one.high], [at, at], color="0.6", linewidth=3)
        axes.plot(one.ratio, at, "o", color="C3" if one.mark == "MISSED" else "C0")
    axes.axvline(1, color="0.3", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yticks(range(len(rows)), [one.row for one in rows], fontsize=7)
    axes.set_xlabel("speed relative to NeuroGym 2.3.1 (red: bound missed)")
    figure.savefig(folder / "speed.png", dpi=150)

    found = scores(BENCHMARK)[::-1]
    figure = Figure(figsize=(7, 0.28 * len(found) + 1), layout="constrained")
    axes = figure.subplots()
    colours = {
        "held out": "C2",
        "ideal": "0.3",
        "cheat": "C3",
        "reference subject": "C0",
        "network": "C1",
    }
    for at, row in enumerate(found):
        axes.plot([row["low"], row["high"]], [at, at], color=colours[row["kind"]], linewidth=1.5)
        axes.plot(row["score"], at, "o", color=colours[row["kind"]])
    for value in (0, 1):
        axes.axvline(value, color="0.7", linewidth=0.8)
    axes.set_yticks(
        range(len(found)), [f"{row['who']} ({row['kind']})" for row in found], fontsize=7
    )
    axes.set_xlabel(f"score in {BENCHMARK}, with the 95 % interval")
    figure.savefig(folder / "likeness.png", dpi=150)


if __name__ == "__main__":
    TARGET.write_text(page(), "utf-8")
    draw(FOLDER)
