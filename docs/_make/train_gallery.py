"""Train networks on the tasks of the catalogue and write ``docs/gallery-results.md``.

``make train-gallery`` runs this script. Each task is trained with a GRU and a leaky RNN, or, if its
trials depend on the subject's actions, with recurrent PPO, or, if it shows images, with a
convolutional network (`train_on_images.py`), from three seeds, until the performance has settled or
a fixed budget of updates or steps is used up. Tasks on which no network has reached
a level by then are trained on, to four times the budget. A script that is started again continues interrupted
trainings from their checkpoints, and keeps finished ones. ``--only TASK`` trains some tasks, and ``--write`` none.
"""

from __future__ import annotations

import functools
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean  # the same on all versions of Python, unlike sum
from typing import Any

import click
import gymnasium
from markdown_parts import continued, table
from measured import keep, read, when
from neurogym_behaviour import Behaviour, Roles
from neurogym_behaviour.analyses import psychometric_function
from neurogym_behaviour.behaviour import CannotTellError, with_declared
from neurogym_training.trainers import trainer_named
from neurogym_training.training import PROGRESS_FILE

from neurogym_core import NotSupportedError, Task, TrialRecord, make, make_task
from neurogym_core.players import TaskView
from neurogym_core.tools import installed

HERE = Path(__file__).resolve().parent
MEASURED, PAGE = HERE / "gallery-results.json", HERE.parent / "gallery-results.md"
OWN = "neurogym-task-"
"""Prefix of the distributions whose tasks are trained."""

SUPERVISED, AGENTS, IMAGES = ("gru", "rnn"), ("recurrent-ppo",), ("cnn",)
"""Trainers: "rnn" is the leaky RNN, and "cnn" the network of `train_on_images`."""
BY_REWARD = ("perceptual/PostDecisionWager-v0", "perceptual/RoitmanShadlen-v0")
"""Tasks with targets that do not show the best policy: when to wager, and how long to look."""
IN_STAGES = ("recurrent-ppo-stages",)
TRAINERS = (*SUPERVISED, *AGENTS, *IN_STAGES, *IMAGES)
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "gru": ("gru",),
    "rnn": ("rnn",),
    "agent": AGENTS,
    "other": (*IN_STAGES, *IMAGES),
}
"""Columns of the page -> the trainers that they show."""
UPDATES, STEPS, IMAGE_UPDATES = 1000, 50_000, 200
"""Budgets of networks, of agents, and of networks that see images."""
PIXELS, IMAGE_BATCH = 32, 16
"""Width of the images, and the trials of a batch of these networks."""
LONGER = 4
"""Tasks on which no network reached the level are trained on, to this multiple of the budgets."""
STAGES: dict[str, tuple[dict[str, Any], ...]] = {
    "value/LeverPressWithPokeRest-v0": ({"presses": 1}, {"presses": 2}, {"presses": 3}),
    "value/SelfInitiatedChoice-v0": ({"dt": 500}, {"dt": 250}),
}
"""Easier versions of tasks whose reward an agent does not find by chance; task -> parameters."""
IMAGE_STAGES: dict[str, tuple[dict[str, Any], ...]] = {
    "visual/RandomDotMotion-v0": (
        {"dt": 32, "coherences": (100,), "life": float("inf")},
        {"dt": 32, "speed": 0.78125, "coherences": (100,), "life": float("inf")},
        {"dt": 32, "speed": 0.78125, "coherences": (51.2,)},
        {"dt": 32, "speed": 0.78125},
    ),
    "visual/VisualSearch-v0": (
        {"dt": 100, "conditions": {"kind": "pop_out", "angle": 0, "colour": "red"}},
        {"dt": 100, "conditions": {"kind": "pop_out"}},
        {"dt": 100},
    ),
}
"""The same for networks that see images: fewer images per trial, and larger displacements first."""
STAGE_STEPS, STAGE_UPDATES, STAGE_LEVEL = 20_000, 150, 0.7
"""Largest number of steps or updates of a stage, and the performance at which the next begins."""
HIDDEN = 64
"""Number of recurrent units."""
FEEDBACK = ("PassReward", "PassAction")
"""Wrappers of agents: they observe their last action and its reward."""
LONG, BATCHES = 80, (32, 16)
"""Steps of long trials, and the trials of a batch of short and of long ones."""
TESTS, TEST_TRIALS = 20, 200
"""Number of tests during training, and their trials."""
FRESH, SESSIONS = 1000, 10
"""Number of new trials on which trained networks and agents are tested, and of agents' sessions."""
SAME = 0.03
"""Performances that differ by less count as equal."""
SOLVED, RECENT, GAIN = 0.98, 4, 0.01
"""A training ends when the last two tests are above `SOLVED`, or when the last four were all above
the level, and the later two are not above the earlier two by `GAIN`."""
RISING = 0.02
"""Gain of the last three tests over the three before, above which a training still rises."""
LIMITS = {
    "memory/ColourWheel-v0": (0.82, "earns a performance of 0.82"),
    "memory/DelayComparison-v0": (0.996, "An ideal observer answers 99.6 % correctly"),
    "memory/DelayEstimation-v0": (0.938, "a performance of 0.938 at every set size"),
    "memory/DualDelayMatchSample-v0": (1.0, "an ideal observer answers 100 % correctly"),
    "memory/GradedComparison-v0": (0.73, "earns a performance of 0.73"),
    "perceptual/PriorBlocks-v0": (0.82, "one that uses all of these in 82 %"),
    "timing/OneTwoGo-v0": (0.81, "the best one in 81 %"),
    "timing/OneTwoThreeGo-v0": (0.91, "in 91 and 81 %"),
    "timing/ReadySetGo-v0": (0.82, "which knows the range of intervals, in 82 %"),
    "timing/ReadySetGoDoublePrior-v0": (0.81, "The best subject is correct in 81 %"),
    "timing/ReadySetGoSinglePrior-v0": (0.81, "It is correct in 81 %"),
}
"""Performance of the best subject known, and the words of the task's page that say so."""


@dataclass(frozen=True)
class Job:
    """Training of the networks of some seeds, which are trained together, or of one agent.

    Attributes:
        task: id of the task.
        trainer: name of the trainer.
        seeds: seeds of weights, trials and noise.
        until: largest number of updates or steps.
    """

    task: str
    trainer: str
    seeds: tuple[int, ...]
    until: int

    @property
    def algorithm(self) -> str:
        """Name of the trainer in the packages."""
        return AGENTS[0] if self.trainer in IN_STAGES else self.trainer

    @property
    def keys(self) -> list[str]:
        """Names of the trainings, one per seed, in the file of the measurements."""
        return [f"{self.task} {self.trainer} {seed} {self.until}" for seed in self.seeds]

    def folders(self, out: Path) -> list[Path]:
        """Return the folders of the checkpoints."""
        return [out / key.replace("/", "-").replace(" ", "-") for key in self.keys]

    def starts(self, out: Path) -> list[Path | None]:
        """Return the folder of each seed's last checkpoint, perhaps with the shorter budget."""
        shorter = replace(self, until=self.until // LONGER)
        return [
            next((folder for folder in both if any(folder.glob("checkpoint.*"))), None)
            for both in zip(self.folders(out), shorter.folders(out), strict=True)
        ]

    def is_in(self, runs: Mapping[str, Mapping[str, Any]]) -> bool:
        """Return whether each seed has a finished training of at least this budget."""
        names = ("task", "trainer", "seed")
        known = {tuple(run[one] for one in names): run["until"] for run in runs.values()}
        return all(
            known.get((self.task, self.trainer, seed), 0) >= self.until for seed in self.seeds
        )


# ---------------------------------------------------------------------- tasks and their levels


def catalogue() -> dict[str, Any]:
    """Return the tasks of the project: id -> record of discovery."""
    return {
        one.id: one for one in installed().tasks if one.usable and one.distribution.startswith(OWN)
    }


def trainers_of(task_id: str) -> tuple[str, ...]:
    """Return the names of the trainers for a task.

    Where trials follow from earlier ones, and one trial does not show everything, networks that are
    trained on single trials miss something: an agent, which plays sessions, is trained, too. So it
    is where targets do not show the best policy.
    """
    env = make(task_id)
    try:
        if not hasattr(env.unwrapped, "task"):
            return IMAGES
    finally:
        env.close()
    task = make_task(task_id)
    try:
        trainer_named(SUPERVISED[0])(task, test_trials=2)
    except NotSupportedError:
        return AGENTS + IN_STAGES * (task_id in STAGES)
    known = levels(catalogue()[task_id])
    hidden = TaskView(task).stateful and known.get("all", 0.0) < known["oracle"] - SAME
    return SUPERVISED + AGENTS if hidden or task_id in BY_REWARD else SUPERVISED


def levels(entry: Any) -> dict[str, float]:
    """Return the levels of a task from its manifest.

    Returns:
        "shortcut": the best policy that leaves out something that counts, "all": a classifier of
        everything that is shown (if measured), "oracle", "halfway" between the first and the
        last, and "level": performance near that of the classifier, if it is clearly better than the
        shortcut and below "halfway", else "halfway".
    """
    known: Mapping[str, float] = entry.shortcuts
    oracle = known.get("oracle", 1.0)
    whole = known.get("all", oracle)
    best = known.get(entry.best_shortcut, 0.0)
    found = {"shortcut": best, "oracle": oracle, "halfway": (best + oracle) / 2}
    limited = best + SAME < whole
    found["level"] = min(found["halfway"], whole - SAME) if limited else found["halfway"]
    return found | ({"all": known["all"]} if "all" in known else {})


# ---------------------------------------------------------------------- training


def settled(curve: Sequence[Mapping[str, float]], level: float) -> bool:
    """Return whether more training would change little; see `SOLVED`."""
    tests = [row["accuracy"] for row in curve[1:]]  # the first one is before any training
    if min(tests[-2:], default=0.0) >= SOLVED and len(tests) >= 2:
        return True
    recent = tests[-RECENT:]
    half = RECENT // 2
    return (
        len(recent) == RECENT
        and min(recent) > level
        and sum(recent[half:]) <= sum(recent[:half]) + GAIN * half
    )


def longest(task: Task) -> int:
    """Return the steps of the longest of 200 trials."""
    return int(task.sample(200, seed=0).path.sum(axis=1).max())


def batch_of(task: Task) -> int:
    """Return the number of trials of a batch."""
    return BATCHES[int(longest(task) > LONG)]


def settings_of(job: Job) -> dict[str, Any]:
    """Return the settings of its trainers, other than the seed."""
    own = (
        {"batch": batch_of(make_task(job.task))}
        if job.trainer in SUPERVISED
        else {"wrap": FEEDBACK}
    )
    every = max(min(job.until, UPDATES if job.trainer in SUPERVISED else STEPS) // TESTS, 1)
    return {"hidden": HIDDEN, "test_every": every, "test_trials": TEST_TRIALS, **own}


def train(job: Job, out: Path) -> list[dict[str, Any]]:
    """Train from the last checkpoints if there are any; return a record per seed, for JSON."""
    level = levels(catalogue()[job.task])["level"]
    if job.trainer in IMAGES:
        return [_trained_on_images(job, level)]
    trainers = trainers_for(job, out)
    criteria = [
        lambda record, trainer=trainer: settled(curve_of(job, trainer, out), level)
        for trainer in trainers
    ]
    folders = job.folders(out)
    if job.trainer in SUPERVISED:
        from neurogym_torch import train_together

        train_together(trainers, job.until, out=folders, criterion=criteria)
    else:
        trainers[0].train(job.until, out=folders[0], criterion=criteria[0])
    return measurements(job, trainers, out)


def _trained_on_images(job: Job, level: float) -> dict[str, Any]:
    """Train a convolutional network, without checkpoints; return its record, for JSON."""
    import torch
    from train_on_images import ImageTraining

    torch.set_num_threads(1)
    [seed] = job.seeds
    own = {"seed": seed, "pixels": PIXELS, "batch": IMAGE_BATCH}
    every, test_seed = max(job.until // TESTS, 1), 1000 * (seed + 1)
    began, cpu, earlier = time.monotonic(), time.process_time(), None
    for stage in IMAGE_STAGES.get(job.task, ()):
        training = ImageTraining(job.task, **own, **stage)
        training.take_over(earlier or training)
        for _ in range(0, STAGE_UPDATES, every):
            training.update(every)
            if _correct(training.test(TEST_TRIALS, test_seed)) > STAGE_LEVEL:
                break
        earlier = training
    training = ImageTraining(job.task, **own)
    training.take_over(earlier or training)
    curve, until = [], training.done + job.until
    while True:
        tests = training.test(TEST_TRIALS, test_seed)
        curve.append({"updates": training.done, "accuracy": _correct(tests)})
        if training.done >= until or settled(curve, level):
            break
        training.update(min(every, until - training.done))
    cpu, wall = time.process_time() - cpu, time.monotonic() - began
    return {
        "task": job.task,
        "trainer": job.trainer,
        "seed": seed,
        "until": job.until,
        "unit": "updates",
        "batch": IMAGE_BATCH,
        "done": training.done,
        "curve": [[row["updates"], round(row["accuracy"], 4)] for row in curve],
        "answered": round(sum(one["outcome"] != "miss" for one in tests) / len(tests), 3),
        "final": round(_correct(training.test(FRESH, seed=1_000_000 + 1000 * seed)), 4),
        "cpu": round(cpu, 1),
        "wall": round(wall, 1),
        "psychometric": None,
    }


def _correct(records: Sequence[Mapping[str, Any]]) -> float:
    return sum(one["outcome"] == "correct" for one in records) / len(records)


def trainers_for(job: Job, out: Path) -> list[Any]:
    """Return the trainers of a job, one per seed, at their last checkpoints if there are any."""
    import torch

    torch.set_num_threads(1)  # more threads do not speed up networks of this size
    # Gradients of long trials fade to numbers that processors compute very slowly.
    torch.set_flush_denormal(True)
    own = settings_of(job)
    trainers = [
        trainer_named(job.algorithm)(make_task(job.task), seed=seed, **own) for seed in job.seeds
    ]
    for trainer, folder in zip(trainers, job.starts(out), strict=True):
        start = folder or (last_stage(job, out) if job.trainer in IN_STAGES else None)
        if start is not None:
            trainer.load(start)
    return trainers


def stage_folders(job: Job, out: Path) -> list[Path]:
    """Return the folders of the checkpoints at the ends of the stages."""
    [seed] = job.seeds
    name = f"{job.task} {job.trainer} {seed}".replace("/", "-").replace(" ", "-")
    return [out / f"{name}-stage-{number}" for number in range(len(STAGES[job.task]))]


def last_stage(job: Job, out: Path) -> Path:
    """Train on the easier versions, one after the other; return the folder of the last one.

    A stage ends at `STAGE_LEVEL`, or after `STAGE_STEPS`. Finished ones are not repeated.
    """
    [seed] = job.seeds
    folders = stage_folders(job, out)
    for number, (stage, folder) in enumerate(zip(STAGES[job.task], folders, strict=True)):
        if any(folder.glob("checkpoint.*")):
            continue
        trainer = trainer_named(job.algorithm)(
            make_task(job.task, **stage), seed=seed, **settings_of(job)
        )
        if number:
            trainer.load(folders[number - 1])
        trainer.train(
            trainer.done + STAGE_STEPS,
            criterion=lambda record: float(record["performance"].mean()) > STAGE_LEVEL,
        )
        folder.mkdir(parents=True, exist_ok=True)
        trainer.save(folder)
    return folders[-1]


def curve_of(job: Job, trainer: Any, out: Path) -> list[dict[str, float]]:
    """Return the tests on the task itself: without those of the stages."""
    begun = -1
    if job.trainer in IN_STAGES:
        text = (stage_folders(job, out)[-1] / PROGRESS_FILE).read_text(encoding="utf-8")
        begun = json.loads(text)[trainer.unit]
    return [row for row in trainer.curve if row[trainer.unit] > begun]


def measurements(job: Job, trainers: Sequence[Any], out: Path) -> list[dict[str, Any]]:
    """Return a record of each finished training, for JSON.

    Seeds that are trained together share the processor: each counts an equal part of the CPU time
    ("cpu") and of the time that passed ("wall"), in seconds.
    """
    cpu, wall = (
        round(max(trainer.curve[-1][name] for trainer in trainers) / len(trainers), 1)
        for name in ("cpu", "seconds")
    )
    records = []
    for trainer in trainers:
        fresh = _fresh(trainer)
        records.append(
            {
                "task": job.task,
                "trainer": job.trainer,
                "seed": trainer.seed,
                "until": job.until,
                "unit": trainer.unit,
                "batch": settings_of(job).get("batch"),
                "done": trainer.done,
                "curve": [
                    [int(row[trainer.unit]), round(row["accuracy"], 4)]
                    for row in curve_of(job, trainer, out)
                ],
                "answered": round(trainer.curve[-1]["answered"], 3),
                "final": round(float(fresh["performance"].mean()), 4),
                "cpu": cpu,
                "wall": wall,
                "psychometric": psychometric(trainer.tasks[0], fresh),
            }
        )
    return records


def _fresh(trainer: Any) -> TrialRecord:
    """Return the record of new trials."""
    if trainer.kind == "algo":
        return trainer.play(FRESH, num_envs=SESSIONS, seed=1_000_000 + trainer.seed)
    from neurogym_torch import TaskMix

    trainer.tests = TaskMix(
        trainer.tasks,
        FRESH,
        seed=1_000_000 + trainer.seed,
        split="validation",
        targets=trainer.targets,
    )
    return trainer.test()[0]


def psychometric(task: Task, record: TrialRecord) -> dict[str, Any] | None:
    """Return the psychometric function that `ngym evaluate` reports, for JSON; None without one.

    Returns:
        "kind" and "strength" as in `psychometric_function`, and "points": a list of [strength,
        number of choices to the right (or of correct answers), number of answers].
    """
    behaviour = Behaviour(with_declared(record, task), Roles.of_task(task))
    try:
        found = psychometric_function(behaviour, interval=None)
    except CannotTellError:
        return None
    points = [[float(f"{row.value:.6g}"), row.k, row.n] for row in found.rows if row.n]
    return {"kind": found.kind, "strength": found.strength, "points": points}


def _keep(records: list[dict[str, Any]], path: Path) -> None:
    """Add finished trainings to the file; the same ones with another budget are dropped."""
    names = ("task", "trainer", "seed")
    jobs = [Job(run["task"], run["trainer"], (run["seed"],), run["until"]) for run in records]
    keep(path, {job.keys[0]: run for job, run in zip(jobs, records, strict=True)}, names)


# ---------------------------------------------------------------------- the page


def page(measured: dict[str, Any]) -> str:
    """Return the page."""
    known, runs = catalogue(), list(measured["runs"].values())
    parts = [when(measured)]
    trained = [task for task in known if any(run["task"] == task for run in runs)]
    below = _below(trained, measured["runs"])
    rows = [_row(known[task], runs) for task in trained]
    minutes = sum(run["cpu"] for run in runs) / 60
    parts.append(
        f"{len(trained)} of {len(known)} tasks have been trained, in {minutes:.0f} minutes of CPU"
        " time.\n"
    )
    if rows:
        heads = ("task", "shortcut", "all", "limit", "oracle", *COLUMNS)
        parts.append(table(heads, rows) + "\n")
    parts.extend(_details(below, runs))
    missing = [task for task in known if task not in trained]
    if missing:
        parts.append("Not trained: " + ", ".join(f"`{task}`" for task in missing) + ".\n")
    return continued(PAGE, "\n".join(parts))


def _details(tasks: list[str], runs: list[dict[str, Any]]) -> Iterator[str]:
    if not tasks:
        return
    yield "## Tasks on which no network is above the level\n"
    yield (
        "For each network: its final performance; how many seeds were still rising at the end, so"
        " that the budget was too small (the last three tests were above the three before by more"
        f" than {RISING}); the fraction of answered trials; and the performance before the training."
        " An agent that answers no trials has learned that it costs less not to act, before it met"
        " enough rewards.\n"
    )
    short = [
        f"`{task}`"
        for task in tasks
        if any(run["until"] in (UPDATES, STEPS) for run in runs if run["task"] == task)
    ]
    if short:
        yield f"Some of their networks had the shorter budget only: {', '.join(short)}.\n"
    for task in tasks:
        own = [(name, runs_of(task, name, runs)) for name in TRAINERS]
        seen = "; ".join(finding(name, some) for name, some in own if some)
        yield f"- `{task}`: {seen}."
    yield ""


def finding(trainer: str, own: list[dict[str, Any]]) -> str:
    """Describe the last tests of a network."""
    final = fmean(run["final"] for run in own)
    rising = sum(_rises([score for _, score in run["curve"]]) for run in own)
    answered = fmean(run["answered"] for run in own)
    state = f"{rising} of {len(own)} still rising" if rising else "not rising"
    before = fmean(run["curve"][0][1] for run in own)
    return f"{trainer} {final:.2f}, {state}, {answered:.0%} answered, {before:.2f} before"


def _rises(tests: list[float]) -> bool:
    return len(tests) >= 6 and sum(tests[-3:]) - sum(tests[-6:-3]) > 3 * RISING


def runs_of(task: str, trainer: str, runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the trainings of a task with a trainer, by seed."""
    own = [run for run in runs if (run["task"], run["trainer"]) == (task, trainer)]
    return sorted(own, key=lambda run: run["seed"])


def reaches(own: list[dict[str, Any]], known: Mapping[str, float]) -> bool:
    """Return whether the mean of a network's seeds is above the level of a task."""
    final = fmean(run["final"] for run in own)
    if known["oracle"] - known["shortcut"] < SAME:
        return final > known["oracle"] - SAME
    return final > known["level"]


def _row(entry: Any, runs: list[dict[str, Any]]) -> list[str]:
    """Return the row of a task: its levels, and the performance of each network."""
    known = levels(entry)
    cells = [
        f"`{entry.id}`",
        f"{known['shortcut']:.2f}",
        f"{known['all']:.2f}" if "all" in known else "",
        f"{LIMITS[entry.id][0]:.2f}" if entry.id in LIMITS else "",
        f"{known['oracle']:.2f}",
    ]
    for column, trainers in COLUMNS.items():
        found = {name: own for name in trainers if (own := runs_of(entry.id, name, runs))}
        named = "{}: {}" if column == "other" else "{1}"
        cells.append(
            "; ".join(named.format(name, _performance(own)) for name, own in found.items())
        )
    return cells


def _performance(own: list[dict[str, Any]]) -> str:
    """Return the mean over seeds, and the range."""
    final = [run["final"] for run in own]
    spread = f"({min(final):.2f}–{max(final):.2f})" if len(final) > 1 else "(1 seed)"
    return f"{fmean(final):.2f} {spread}"


# ---------------------------------------------------------------------- the command


@click.command()
@click.option("--only", multiple=True, metavar="TASK", help="Train this task; may be repeated.")
@click.option("--updates", default=UPDATES, show_default=True, help="Budget of networks.")
@click.option("--steps", default=STEPS, show_default=True, help="Budget of agents.")
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
    failed: list[str] = []
    if not write:
        chosen = _chosen(only)
        for times in (1, LONGER):
            runs = read(measured)["runs"]
            if times > 1:
                chosen = _below(chosen, runs)
            planned = _jobs(chosen, updates * times, steps * times, seeds)
            todo = [job for job in planned if not job.is_in(runs)]
            budget = f"{updates * times:,} updates or {steps * times:,} steps"
            click.echo(f"{len(todo)} trainings of {len(chosen)} tasks, to {budget}, remain.")
            failed += _train_all(todo, jobs, out, measured, page_file)
    page_file.write_text(page(read(measured)), encoding="utf-8")
    click.echo(f"Written: {page_file}")
    if failed:
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


def _below(tasks: list[str], runs: Mapping[str, dict[str, Any]]) -> list[str]:
    """Return the tasks on which no network is above the level."""
    known, stored = catalogue(), list(runs.values())

    def reached(task: str) -> bool:
        own = (runs_of(task, trainer, stored) for trainer in TRAINERS)
        return any(reaches(some, levels(known[task])) for some in own if some)

    return [task for task in tasks if not reached(task)]


def _jobs(tasks: list[str], updates: int, steps: int, seeds: int) -> Iterator[Job]:
    """Yield the trainings: networks on short trials first, so that many tasks have results soon."""
    trainers = {task: trainers_of(task) for task in tasks}
    shortest = sorted(
        (task for task, names in trainers.items() if set(SUPERVISED) <= set(names)),
        key=lambda task: longest(make_task(task)),
    )
    for task in shortest:
        for name in SUPERVISED:
            yield Job(task, name, tuple(range(seeds)), updates)
    for seed in range(seeds):
        for task, names in trainers.items():
            for name in [one for one in names if one in AGENTS + IN_STAGES]:
                yield Job(task, name, (seed,), steps)
            for name in set(names) & set(IMAGES):
                yield Job(task, name, (seed,), min(updates, IMAGE_UPDATES))


def _train_all(todo: list[Job], jobs: int, out: Path, measured: Path, page_file: Path) -> list[str]:
    """Train, and write each finished training; return the names of those that failed."""
    began, failed = time.monotonic(), []
    for number, (job, result) in enumerate(_results(todo, jobs, out), 1):
        try:
            records = result()
        except Exception as error:  # the other trainings continue
            failed.extend(job.keys)
            click.echo(f"{number}/{len(todo)} {failed[-1]} failed: {error!r}", err=True)
            continue
        _keep(records, measured)
        page_file.write_text(page(read(measured)), encoding="utf-8")
        left = (time.monotonic() - began) / number * (len(todo) - number) / 60
        scores = ", ".join(f"{run['final']:.3f} after {run['done']}" for run in records)
        click.echo(
            f"{number}/{len(todo)} {job.task} {job.trainer}: {scores}; CPU"
            f" {sum(run['cpu'] for run in records):.0f} s; about {left:.0f} min left"
        )
    return failed


def _results(
    todo: list[Job], jobs: int, out: Path
) -> Iterator[tuple[Job, Callable[[], list[dict[str, Any]]]]]:
    """Yield each training with a function that returns its records, or raises its error."""
    if jobs == 1:
        for job in todo:
            yield job, functools.partial(train, job, out)
        return
    # Fresh processes: torch's threads do not survive a fork.
    with ProcessPoolExecutor(max_workers=jobs, mp_context=get_context("spawn")) as pool:
        running = {pool.submit(train, job, out): job for job in todo}
        for done in as_completed(running):
            yield running[done], done.result


if __name__ == "__main__":
    gymnasium.logger.min_level = gymnasium.logger.ERROR
    main()
