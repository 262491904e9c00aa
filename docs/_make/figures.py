"""Draw the figures of pages: ``python docs/_make/figures.py NAME``.

``cueing`` draws the figures of ``from-a-paper-to-the-registry.md`` with the task and the subjects on
that page. ``sweep`` does the sweep of ``sweep.md`` and draws its heat map. ``agent RUN`` draws the
figure of ``train-an-agent.md`` from the folder of a run that the commands on that page have
trained. ``network`` trains the network of ``train-your-first-network.md`` and draws its learning
curve and its psychometric function, and ``mice`` draws a figure of the report of
``from-a-labs-file.md``, ``rats`` that of ``animals-and-people.md``. ``demo`` draws the picture of the front page and of the README, and the narrow form of it for
phones. ``twenty RUN`` draws the figure of ``twenty-tasks.md`` with the code of that page, and ``sheets`` the pictures of all
tasks in ``gallery.md``. Numbers on the pages come from the output.
"""

from __future__ import annotations

import csv
import importlib
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any

import click
import numpy as np
from neurogym_behaviour import (
    Behaviour,
    Roles,
    accuracy,
    demo_figure,
    fit_psychometric,
    published,
    reaction_times,
)
from neurogym_behaviour.analyses import PsychometricFunction, psychometric_function
from neurogym_likeness import demo
from neurogym_plot import save_figure
from neurogym_plot.canvas import (
    BLUE,
    GREEN,
    GREY,
    INK,
    TEXT,
    VERMILION,
    Box,
    new_figure,
)
from neurogym_plot.drawing import draw
from neurogym_training import Run, play_run
from PIL import Image

from neurogym_core import make_task, run
from neurogym_core.tools import installed
from neurogym_core.tools import main as ngym

DOCS = Path(__file__).resolve().parents[1]
IMAGES = DOCS / "images"
MONKEYS = "roitman-shadlen-2002"
LEAST = 20
"""Correct trials of a mean reaction time that is drawn."""
_FILE = re.compile(
    r"^```python\n(?P<text># (?P<name>[\w.]+\.py)\n.*?)^```$", re.DOTALL | re.MULTILINE
)


@click.group()
def main() -> None:
    """Draw the figures of pages."""


# ---- an agent ----------------------------------------------------------------------------------


@main.command()
@click.argument("folder", metavar="RUN", type=click.Path(exists=True, file_okay=False))
@click.option("--n-trials", default=4000, help="Trials that the agent plays.")
def agent(folder: str, n_trials: int) -> None:
    """Draw the learning curve and the behaviour of a trained agent, beside monkeys."""
    record = Run.open(folder).trainer().play(n_trials, seed=1)
    figure = new_figure(9.6, 2.9)
    _learning_curve(_axes(figure, 0, "steps (thousands)", "fraction of trials"), Path(folder))
    _beside_monkeys(figure, record)
    _save(figure, "agent.png")
    click.echo(f"correct: {(record['outcome'] == 'correct').mean():.3f} of {len(record)} trials")


def _learning_curve(axes: Any, folder: Path) -> None:
    with (folder / "curve.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    unit = next(iter(rows[0]))  # steps or updates
    steps = [int(row[unit]) / (1000 if unit == "steps" else 1) for row in rows]
    for column, label, colour in (("answered", "answered", GREY), ("accuracy", "correct", BLUE)):
        axes.plot(steps, [float(row[column]) for row in rows], color=colour, lw=1.5, label=label)
    axes.set_ylim(-0.03, 1.03)
    axes.legend(frameon=False, fontsize=TEXT, loc="lower right")


def _beside_monkeys(figure: Any, record: Any) -> None:
    right = _axes(figure, 1, "coherence (%)", "fraction correct")
    times = _axes(figure, 2, "coherence (%)", "reaction time (ms)")
    rows = [(row.value, row.fraction, row.low, row.high) for row in accuracy(record)]
    places = np.arange(len(rows))
    value, low, high = np.array([row[1:] for row in rows]).T
    right.errorbar(places, value, (value - low, high - value), color=BLUE, marker="o", ms=4, lw=1.5)
    found = {row.value: row for row in reaction_times(record) if row.outcome == "correct"}
    means = [found[row[0]].mean if found[row[0]].n >= LEAST else np.nan for row in rows]
    times.plot(places, means, color=BLUE, marker="o", ms=4, lw=1.5, label="agent")
    for subject, colour in zip(published(MONKEYS).subjects, (VERMILION, GREEN), strict=False):
        at = np.searchsorted([row[0] for row in rows], subject.strengths - 1e-6)
        right.plot(at, subject.correct, color=colour, marker="s", ms=3, lw=1)
        times.plot(
            at, subject.reaction_time, color=colour, marker="s", ms=3, lw=1, label=subject.name
        )
    for axes in (right, times):
        axes.set_xticks(places, [f"{row[0]:g}" for row in rows])
    right.set_ylim(0.4, 1.02)
    times.set_ylim(0)
    times.legend(frameon=False, fontsize=TEXT)
    shares, ms = [f"{row[1]:.2f}" for row in rows], [f"{mean:.0f}" for mean in means]
    click.echo(f"correct {', '.join(shares)}; {', '.join(ms)} ms")


# ---- cueing --------------------------------------------------------------------------------------


@main.command()
@click.option("--n-trials", default=4000, help="Trials of each subject.")
def cueing(n_trials: int) -> None:
    """Draw a trial of the cueing task, and the reaction times of two subjects."""
    with _files_of("from-a-paper-to-the-registry.md"):
        task = make_task("posner_cueing.py:PosnerCueing")
        line = "plot posner_cueing.py:PosnerCueing --condition cue=left --condition side=1 -o"
        _call(f"{line} {shlex.quote(str(IMAGES / 'posner-cueing-trial.png'))}")
        subject = importlib.import_module("subjects").UsesTheArrow
        figure = new_figure(4.2, 2.8)
        axes = Box(figure, 0, 0, 4.2, 2.8).axes(0.65, 0.5, 3.3, 2.1)
        kinds = ("valid", "neutral", "invalid")
        trust = np.log(task.validity / (1 - task.validity))
        for label, used, colour in (
            ("ignores the arrow", 0, GREY),
            ("uses the arrow", trust, BLUE),
        ):
            record = run(task, subject(used), n_trials, seed=1)
            hit = record["outcome"] == "correct"
            means = [
                record["reaction_time"][hit & (record["cueing"] == one)].mean() for one in kinds
            ]
            axes.plot(kinds, means, color=colour, marker="o", lw=1.5, label=label)
            click.echo(f"{label}: {', '.join(f'{one:.0f}' for one in means)} ms; {hit.mean():.3f}")
        axes.set_ylim(0)
        axes.set_xlabel("cue", fontsize=TEXT, color=INK)
        axes.set_ylabel("reaction time (ms)", fontsize=TEXT, color=INK)
        axes.legend(frameon=False, fontsize=TEXT, loc="lower right")
        _save(figure, "posner-cueing-times.png")


@contextmanager
def _files_of(page: str) -> Iterator[None]:
    """Write the named files of a page into a temporary folder, and work there."""
    text = (DOCS / page).read_text("utf-8")
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for block in _FILE.finditer(text):
            Path(block["name"]).write_text(block["text"], "utf-8")
        sys.path.insert(0, folder)
        yield
        sys.path.remove(folder)


# ---- a sweep -------------------------------------------------------------------------------------


@main.command()
def sweep() -> None:
    """Do the sweep whose heat map is on the page, and draw it."""
    text = (DOCS / "sweep.md").read_text("utf-8")
    lines = re.findall(r"^ngym (sweep .*observers.*)$", text, re.MULTILINE)
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for line in lines:
            _call(line.replace("observers.png", str(IMAGES / "sweep.png")))


# ---- a first network, and the file of a lab --------------------------------------------------------


@main.command()
def network() -> None:
    """Train the network of the page, and draw its tests during training and its choices."""
    text = (DOCS / "train-your-first-network.md").read_text("utf-8")
    line = re.findall(r"^\$ ngym (train .*--model rnn .*)$", text, re.MULTILINE)[0]
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        _call(line)
        played = play_run(Run.open("run"), 1000)
        assert played.task is not None
        found = psychometric_function(Behaviour(played.record, Roles.of_task(played.task)))
        figure = new_figure(6.4, 2.9)
        _learning_curve(_axes(figure, 0, "updates", "fraction of trials"), Path("run"))
        _choices(_axes(figure, 1, found.xlabel, found.ylabel), found)
        _save(figure, "first-network.png")


def _choices(axes: Any, found: PsychometricFunction) -> None:
    """Draw the points of a psychometric function, with their intervals, and its curve."""
    x, y, low, high = np.array(
        [(row.value, row.fraction, row.low, row.high) for row in found.rows]
    ).T
    axes.errorbar(x, y, (y - low, high - y), color=BLUE, marker="o", ms=4, ls="none")
    if found.fit is not None:
        grid = np.linspace(x[0], x[-1], 200)
        axes.plot(grid, found.fit.predict(grid), color=BLUE, lw=1.5)
    axes.set_ylim(-0.03, 1.03)


@main.command()
def mice() -> None:
    """Draw the psychometric functions of the simulated mice, a figure of the page's report."""
    text = (DOCS / "from-a-labs-file.md").read_text("utf-8")
    simulated = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)[0]
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        exec(compile(simulated, "from-a-labs-file.md", "exec"), {})
        _call("evaluate mice.csv --recipe ibl --by p_left --out report --figure mice.png")
        shutil.copy2("mice-psychometric-by.png", IMAGES / "mice.png")
    click.echo(f"Written: {IMAGES / 'mice.png'}")


@main.command()
def rats() -> None:
    """Draw the psychometric functions of the rats of ``animals-and-people.md``."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        _call("data luo-2025 --out rats.csv")
        _call("evaluate rats.csv --out report --figure rats.png")
        shutil.copy2("rats-psychometric.png", IMAGES / "rats.png")
    click.echo(f"Written: {IMAGES / 'rats.png'}")


# ---- the demo ------------------------------------------------------------------------------------


@main.command("demo")
def pictures_of_the_demo() -> None:
    """Draw the picture of `make demo`, and a narrow form of it for phones."""
    records = demo.play(2000, 0)
    rows = {name: accuracy(record) for name, record in records.items()}
    fits = {name: fit_psychometric(record) for name, record in records.items()}
    for name, stacked in (("demo.png", False), ("demo-narrow.png", True)):
        save_figure(demo_figure(demo.one_trial(0), rows, fits, stacked=stacked), IMAGES / name)
        click.echo(f"Written: {IMAGES / name}")


# ---- many tasks --------------------------------------------------------------------------------

SHEETS = {
    "gallery-1": ("control", "ibl", "memory", "motor", "timing", "value"),
    "gallery-2": ("perceptual", "visual", "yang19"),
    "gallery-3": ("cognition", "driscoll24", "dynamics"),
    "gallery-4": ("learning", "motivation"),
}
"""File -> the packages whose tasks it shows."""
COLUMNS, WIDTH, GAP = 6, 380, 8
"""Pictures in a row, and width and distance of pictures, pixels."""
COLOURS = 160
MOST = 600_000
"""Largest size of a sheet, bytes."""


@main.command()
@click.argument("folder", metavar="RUN", type=click.Path(exists=True, file_okay=False))
def twenty(folder: str) -> None:
    """Execute the code of the page beside a run, and keep its figure."""
    code = "\n".join(
        re.findall(r"```python\n(.*?)```", (DOCS / "twenty-tasks.md").read_text("utf-8"), re.DOTALL)
    )
    run_folder = Path(folder).resolve()
    with tempfile.TemporaryDirectory() as temporary, chdir(temporary):
        shutil.copytree(run_folder, "twenty")
        exec(compile(code, "twenty-tasks.md", "exec"), {})
        shutil.copy("task-variance.png", IMAGES / "twenty-tasks.png")


def sheet(pictures: list[Path]) -> Image.Image:
    """Return the pictures in columns of one width, each under the shortest column so far."""
    columns: list[list[Image.Image]] = [[] for _ in range(COLUMNS)]
    heights = [0] * COLUMNS
    for path in pictures:
        with Image.open(path) as opened:
            whole = opened.convert("RGB")
        small = whole.resize((WIDTH, round(whole.height * WIDTH / whole.width)), Image.LANCZOS)
        shortest = heights.index(min(heights))
        columns[shortest].append(small)
        heights[shortest] += small.height + GAP
    page = Image.new("RGB", (COLUMNS * (WIDTH + GAP), max(heights)), "white")
    for number, column in enumerate(columns):
        top = 0
        for small in column:
            page.paste(small, (number * (WIDTH + GAP), top))
            top += small.height + GAP
    return page


@main.command()
def sheets() -> None:
    """Draw all tasks, and write the contact sheets, which have few colours to stay small."""
    with tempfile.TemporaryDirectory() as folder:
        for name, packages in SHEETS.items():
            pictures = []
            tasks = [task for task in installed().tasks if task.id.split("/")[0] in packages]
            for number, task in enumerate(tasks, 1):
                click.echo(f"{name} {number}/{len(tasks)} {task.id}", err=True)
                pictures.append(Path(folder) / f"{task.id.replace('/', '-')}.png")
                draw(task.id, pictures[-1], "late_oracle", 0)
            target = IMAGES / f"{name}.png"
            few = sheet(pictures).quantize(
                COLOURS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE
            )
            few.save(target, optimize=True)
            size = target.stat().st_size
            click.echo(f"Written: {target}, {size / 1000:.0f} kB")
            if size > MOST:
                raise click.ClickException(
                    f"{target.name} has {size} bytes. Expected at most {MOST}. Lower WIDTH or"
                    " COLOURS."
                )


# ---- parts ---------------------------------------------------------------------------------------


def _axes(figure: Any, column: int, across: str, up: str) -> Any:
    axes = Box(figure, 3.2 * column, 0, 3.2, 2.9).axes(0.65, 0.5, 2.4, 2.2)
    axes.set_xlabel(across, fontsize=TEXT, color=INK)
    axes.set_ylabel(up, fontsize=TEXT, color=INK)
    return axes


def _call(line: str) -> None:
    ngym(shlex.split(line), standalone_mode=False, prog_name="ngym")


def _save(figure: Any, name: str) -> None:
    figure.savefig(IMAGES / name, dpi=110)
    click.echo(f"Written: {IMAGES / name}")


if __name__ == "__main__":
    main()
