"""Train networks on the tasks of the catalogue and write ``docs/gallery-results.md``.

``make train-gallery`` runs this script. Each task is trained with a GRU and a leaky RNN, or, if its
trials depend on the subject's actions, with recurrent PPO, from several seeds and for a fixed
number of updates or steps. A script that is started again continues interrupted trainings from
their checkpoints, and keeps finished ones. ``--only TASK`` trains some tasks, and ``--write`` none.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import click
import gymnasium
from neurogym_study.trainers import trainer_named

from neurogym_core import Task, make, make_task
from neurogym_core.ecosystem.discovery import installed
from neurogym_core.errors import NotSupportedError
from neurogym_core.files import replacing
from neurogym_core.terminal.shortcuts import SAME, partial

HERE = Path(__file__).resolve().parent
MEASURED, PAGE = HERE / "gallery-results.json", HERE.parent / "gallery-results.md"
OWN = "neurogym-task-"
"""Prefix of the distributions whose tasks are trained."""

SUPERVISED, AGENTS = ("gru", "rnn"), ("recurrent-ppo",)
"""Trainers: "rnn" is the leaky RNN."""
TESTS = 20
"""Number of tests during training."""
BATCH, BATCH_STEPS = 64, 8000
"""Most trials of a batch, and most steps: tasks with long trials have smaller batches."""
FRESH = 1000
"""Number of new trials on which trained networks and agents are tested."""


@dataclass(frozen=True)
class Job:
    """Training of one network or agent with one seed.

    Attributes:
        task: id of the task.
        trainer: name of the trainer.
        seed: seed of weights, trials and noise.
        until: number of updates or steps.
    """

    task: str
    trainer: str
    seed: int
    until: int

    @property
    def key(self) -> str:
        """Name of the training, in the file of the measurements."""
        return f"{self.task} {self.trainer} {self.seed} {self.until}"

    def folder(self, out: Path) -> Path:
        """Return the folder of the checkpoints."""
        return out / self.key.replace("/", "-").replace(" ", "-")


# ---------------------------------------------------------------------- tasks and their levels


def catalogue() -> dict[str, Any]:
    """Return the tasks of the project: id -> record of discovery."""
    return {
        one.id: one for one in installed().tasks if one.usable and one.distribution.startswith(OWN)
    }


def trainers_of(task_id: str) -> tuple[str, ...]:
    """Return the names of the trainers for a task; () if it has images and is no `Task`."""
    env = make(task_id)
    try:
        if not hasattr(env.unwrapped, "task"):
            return ()
    finally:
        env.close()
    try:
        trainer_named(SUPERVISED[0])(make_task(task_id), test_trials=2)
    except NotSupportedError:
        return AGENTS
    return SUPERVISED


def levels(entry: Any) -> dict[str, float]:
    """Return the levels of a task from its manifest.

    Returns:
        "shortcut": the best policy that leaves out something that counts, "all": a classifier of
        everything that is shown (if measured), "oracle", and "halfway" between the first and the
        last.
    """
    known: Mapping[str, float] = entry.shortcuts
    oracle = known.get("oracle", 1.0)
    best = max([entry.expected.get("chance", 0.0), *partial(known).values()])
    found = {"shortcut": best, "oracle": oracle, "halfway": (best + oracle) / 2}
    return found | ({"all": known["all"]} if "all" in known else {})


# ---------------------------------------------------------------------- training


def batch_of(task: Task) -> int:
    """Return the number of trials of a batch."""
    steps = task.sample(200, seed=0).path.sum(axis=1).max()
    return int(min(max(BATCH_STEPS // steps, 8), BATCH))


def train(job: Job, out: Path) -> dict[str, Any]:
    """Train once, from the last checkpoint if there is one, and return plain values for JSON."""
    import torch

    torch.set_num_threads(1)  # more threads do not speed up networks of this size
    folder = job.folder(out)
    task = make_task(job.task)
    own = {"batch": batch_of(task)} if job.trainer in SUPERVISED else {}
    trainer = trainer_named(job.trainer)(
        task, seed=job.seed, hidden=64, test_every=max(job.until // TESTS, 1), **own
    )
    resumed = folder.is_dir() and any(folder.glob("checkpoint.*"))
    if resumed:
        trainer.load(folder)
    trainer.train(job.until, out=folder)
    fresh = trainer.play(FRESH, seed=1_000_000 + job.seed)
    return {
        **asdict(job),
        "unit": trainer.unit,
        "batch": own.get("batch"),
        "resumed": resumed,
        "done": trainer.done,
        "curve": [[int(row[trainer.unit]), round(row["accuracy"], 4)] for row in trainer.curve],
        "final": round(float(fresh["performance"].mean()), 4),
        "seconds": round(trainer.curve[-1]["seconds"], 1),
    }


def machine() -> dict[str, Any]:
    """Return the machine and the versions, on which the times depend."""
    names = ("torch", "stable-baselines3", "numpy")
    return {
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "date": time.strftime("%Y-%m-%d"),
        "versions": {name: version(name) for name in names},
    }


def read(path: Path = MEASURED) -> dict[str, Any]:
    """Return the finished trainings: {"machine": …, "runs": key -> run}."""
    if not path.exists():
        return {"runs": {}}
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def keep(run: dict[str, Any], path: Path) -> None:
    """Add a finished training to the file; the same training with another budget is dropped."""
    measured = read(path)
    same = ("task", "trainer", "seed")
    runs = {
        key: one
        for key, one in measured["runs"].items()
        if any(one[name] != run[name] for name in same)
    }
    runs[Job(*(run[name] for name in (*same, "until"))).key] = run
    with replacing(path) as temporary:
        lines = [f"  {json.dumps(key)}: {json.dumps(runs[key])}" for key in sorted(runs)]
        text = ",\n".join(lines)
        temporary.write_text(
            f'{{"machine": {json.dumps(machine())}, "runs": {{\n{text}\n}}}}\n', encoding="utf-8"
        )


# ---------------------------------------------------------------------- the page


HEAD = """# How hard is each task?

*Measured and written by `docs/_make/train_gallery.py` (`make train-gallery`); do not edit it here.*

Networks are trained on the tasks of the catalogue with the default settings of the tasks: a GRU and a leaky RNN (`rnn`) with 64
units, on targets, in batches of 64 trials (fewer where trials are longer than 125 steps); and recurrent PPO with 64 units, on reward, where trials depend on the
subject's actions. All numbers are mean performance, from 0 to 1.

- **shortcut**: the best policy that leaves out something that counts (guessing, one channel, a clock, …), as the
  [audit](write-a-task.md#measure-its-shortcuts) measured it. A policy that does as well as a classifier of everything
  leaves out nothing that counts, and is not one of them.
- **all**: a classifier of everything that is shown, noise included. It is no upper limit, but where it is low, noise
  limits every subject.
- **halfway**: updates (or steps) after which a test on 500 trials was above the point half-way between the shortcut and
  the oracle, for each seed; – if none was.
- **final**: performance in {fresh:,} new trials after the last update, the mean over seeds, and the range.
- **minutes**: time of one training, on one CPU thread, the mean over seeds.

Where no run got halfway, the budget may be too small, or the task too hard for this network: these numbers do not
distinguish the two.
"""


def page(measured: dict[str, Any]) -> str:
    """Return the page."""
    known, runs = catalogue(), list(measured["runs"].values())
    parts = [HEAD.format(fresh=FRESH)]
    if "machine" in measured:
        said = measured["machine"]
        versions = ", ".join(f"{name} {number}" for name, number in said["versions"].items())
        parts.append(
            f"Last measured on {said['date']}, {said['processor']}, {said['cores']} cores that were"
            f" shared with other programs (times are upper limits); {versions}.\n"
        )
    trained = [task for task in known if any(run["task"] == task for run in runs)]
    rows = [row for task in trained for row in _rows(known[task], runs)]
    parts.append(f"{len(trained)} of {len(known)} tasks have been trained.\n")
    if rows:
        parts.append(
            "\n".join(
                [
                    "| task | network | shortcut | all | oracle | budget | halfway | final | minutes |",
                    "|---|---|---|---|---|---|---|---|---|",
                    *rows,
                    "",
                ]
            )
        )
    missing = [task for task in known if task not in trained]
    if missing:
        parts.append(
            "Not trained yet: " + ", ".join(f"`{task}`" for task in missing) + ".\n\n"
            "Tasks with images (`visual/…`) are not trained by this script.\n"
        )
    return "\n".join(parts)


def _rows(entry: Any, runs: list[dict[str, Any]]) -> Iterator[str]:
    known = levels(entry)
    for trainer in (*SUPERVISED, *AGENTS):
        own = sorted(
            (run for run in runs if (run["task"], run["trainer"]) == (entry.id, trainer)),
            key=lambda run: run["seed"],
        )
        if not own:
            continue
        final = [run["final"] for run in own]
        minutes = sum(run["seconds"] for run in own) / len(own) / 60
        budget = " / ".join(sorted({f"{run['until']:,}" for run in own}))
        cells = [
            f"`{entry.id}`",
            trainer,
            f"{known['shortcut']:.2f}",
            f"{known['all']:.2f}" if "all" in known else "",
            f"{known['oracle']:.2f}",
            f"{budget} {own[0]['unit']}",
            halfway(own, known),
            f"{sum(final) / len(final):.2f} ({min(final):.2f}–{max(final):.2f}; {len(final)} {'seed' if len(final) == 1 else 'seeds'})",
            f"{minutes:.1f}",
        ]
        yield "| " + " | ".join(cells) + " |"


def halfway(runs: list[dict[str, Any]], known: Mapping[str, float]) -> str:
    """Return when each run was first above the half-way point, in words."""
    if known["oracle"] - known["shortcut"] < SAME:
        return "a shortcut equals the oracle"
    reached = [first_above(run["curve"], known["halfway"]) for run in runs]
    return ", ".join("–" if amount is None else f"{amount:,}" for amount in reached)


def first_above(curve: list[list[float]], level: float) -> int | None:
    """Return the amount of training at the first test above a level, or None."""
    return next((int(amount) for amount, score in curve if score > level), None)


# ---------------------------------------------------------------------- the command


@click.command()
@click.option("--only", multiple=True, metavar="TASK", help="Train this task; may be repeated.")
@click.option("--updates", default=1000, show_default=True, help="Budget of networks.")
@click.option("--steps", default=50_000, show_default=True, help="Budget of agents.")
@click.option("--seeds", default=3, show_default=True, help="Number of seeds.")
@click.option("--jobs", default=2, show_default=True, help="Trainings at the same time.")
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("build/gallery"), show_default=True,
    help="Folder of checkpoints.",
)  # fmt: skip
@click.option("--measured", type=click.Path(path_type=Path), default=MEASURED, hidden=True)
@click.option("--page", "page_file", type=click.Path(path_type=Path), default=PAGE, hidden=True)
@click.option("--write", is_flag=True, help="Write the page from the stored numbers only.")
def main(
    only: tuple[str, ...], updates: int, steps: int, seeds: int, jobs: int, out: Path,
    measured: Path, page_file: Path, write: bool,
) -> None:  # fmt: skip
    """Train networks on the tasks of the catalogue, and write docs/gallery-results.md."""
    if not write:
        chosen = _chosen(only)
        todo = [
            job
            for job in _jobs(chosen, updates, steps, seeds)
            if job.key not in read(measured)["runs"]
        ]
        click.echo(f"{len(todo)} trainings of {len(chosen)} tasks remain.")
        failed = _train_all(todo, jobs, out, measured, page_file)
    page_file.write_text(page(read(measured)), encoding="utf-8")
    click.echo(f"Written: {page_file}")
    if not write and failed:
        raise click.ClickException(f"{len(failed)} trainings failed: {', '.join(failed)}.")


def _chosen(only: tuple[str, ...]) -> list[str]:
    """Return the ids of the tasks that are named as id or without their package; () is all."""
    known = catalogue()
    for name in only:
        if name not in known and all(name != one.name for one in known.values()):
            raise click.BadParameter(
                f"{name!r} is no task of the catalogue. Expected an id or a name that `ngym list`"
                " shows. Correct it.",
                param_hint="--only",
            )
    return [task for task, one in known.items() if not only or {task, one.name} & set(only)]


def _jobs(tasks: list[str], updates: int, steps: int, seeds: int) -> Iterator[Job]:
    """Yield the trainings, all tasks with the first seed before the second."""
    trainers = {task: trainers_of(task) for task in tasks}
    for seed in range(seeds):
        for task, names in trainers.items():
            for name in names:
                yield Job(task, name, seed, steps if name in AGENTS else updates)


def _train_all(todo: list[Job], jobs: int, out: Path, measured: Path, page_file: Path) -> list[str]:
    """Train, and write each finished training; return the names of those that failed."""
    began, failed = time.monotonic(), []
    # Fresh processes: torch's threads do not survive a fork.
    pool = ProcessPoolExecutor(max_workers=jobs, mp_context=get_context("spawn"))
    with pool:
        running = {pool.submit(train, job, out): job for job in todo}
        for number, done in enumerate(as_completed(running), 1):
            if (error := done.exception()) is not None:
                failed.append(running[done].key)
                click.echo(f"{number}/{len(todo)} {failed[-1]} failed: {error}", err=True)
                continue
            run = done.result()
            keep(run, measured)
            page_file.write_text(page(read(measured)), encoding="utf-8")
            left = (time.monotonic() - began) / number * (len(todo) - number) / 60
            click.echo(
                f"{number}/{len(todo)} {run['task']} {run['trainer']} seed {run['seed']}:"
                f" {run['final']:.3f} in {run['seconds']:.0f} s; about {left:.0f} min left"
            )
    return failed


if __name__ == "__main__":
    gymnasium.logger.min_level = gymnasium.logger.ERROR
    main()
