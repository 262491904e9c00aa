"""Train networks on the tasks of the catalogue and write ``docs/gallery-results.md``.

``make train-gallery`` runs this script. Each task is trained from three seeds: with a GRU where the target can be known from
a trial; with recurrent PPO where it follows from earlier trials or from the subject's actions; with a
convolutional network (`train_on_images.py`) where it shows images. A training ends when its tests have not risen for a
while, or at the end of the budget, which is the same for all tasks of a family. A script that is started again continues
interrupted trainings from their checkpoints, and keeps finished ones. ``--only TASK`` trains some tasks, ``--with NAME``
some networks (``--with rnn``: leaky RNNs, too), and ``--write`` none.
"""

from __future__ import annotations

import functools
import json
import time
import tomllib
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean  # the same on all versions of Python, unlike sum
from typing import Any

import click
import gymnasium
import numpy as np
from markdown_parts import continued, table
from measured import keep, read, when
from neurogym_behaviour import Behaviour, Roles
from neurogym_behaviour.analyses import psychometric_function
from neurogym_behaviour.behaviour import CannotTellError, with_declared
from neurogym_behaviour.population import Population, population
from neurogym_training.levels import SAME, best_shortcut, way_of
from neurogym_training.trainers import trainer_named
from neurogym_training.training import PROGRESS_FILE

from neurogym_core import (
    Charge,
    NotSupportedError,
    Task,
    TaskWrapper,
    TrialBuilder,
    TrialRecord,
    make,
    make_task,
)
from neurogym_core.players import TaskView
from neurogym_core.tools import TaskInfo, in_words, installed

HERE = Path(__file__).resolve().parent
MEASURED, PAGE = HERE / "gallery-results.json", HERE.parent / "gallery-results.md"
OWN = "neurogym-task-"
"""Prefix of the distributions whose tasks are trained."""

SUPERVISED, AGENTS, IMAGES = ("gru", "rnn"), ("recurrent-ppo",), ("cnn",)
"""Trainers: "rnn" is the leaky RNN, and "cnn" the network of `train_on_images`."""
BY_REWARD = ("perceptual/PostDecisionWager-v0", "perceptual/RoitmanShadlen-v0")
"""Tasks with targets that do not show the best policy: when to wager, and how long to look."""
SHOWN = ("perceptual/ManteDecisionMaking-v0",)
"""Tasks with blocks whose trials show everything, though noise keeps the classifier from the oracle."""
PRICES = {"perceptual/RoitmanShadlen-v0": -0.01}
"""Reward per 100 ms of an agent, in tasks that ask for fast answers and do not price time."""
TRAINERS = (*SUPERVISED, *AGENTS, *IMAGES)
EXTRA = ("rnn",)
"""Trainers of `--with` alone: one network shows whether a task is learned, and takes six hours."""
COLUMNS = ("gru", "rnn", "agent", "cnn")
"""Heads of the page's columns, of `TRAINERS`."""
UPDATES, STEPS, IMAGE_UPDATES = 4000, 200_000, 200
"""Budgets of networks, of agents, and of networks that see images."""
PIXELS, IMAGE_BATCH = 32, 16
"""Width of the images, and the trials of a batch of these networks."""
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
HIDDEN, BATCH = 64, 64
"""Number of recurrent units, and trials of a batch."""
RATE_UPDATES = 2000
"""Updates after which the learning rate of networks is a tenth."""
FEEDBACK = ("PassReward", "PassAction")
"""Wrappers of agents: they observe their last action and its reward."""
TESTS, TEST_TRIALS = 40, 2500
"""Number of tests during training, and their trials; a standard error is at most 0.01."""
IMAGE_TEST_TRIALS = 200
"""Trials of a test of networks that see images."""
FRESH, SESSIONS = 4000, 10
"""Number of new trials on which trained networks and agents are tested, and of agents' sessions."""
LONG = {"value/PatchLeaving-v1": 100}
"""Trials of all tests, where each lasts minutes, so that their performance differs little."""
SOLVED, RISE, PATIENCE = 0.985, 0.03, 10
"""A training ends when the last two tests are above `SOLVED`, or when none of the last `PATIENCE` tests
is above the best one before them by `RISE`."""
LEARNED = 0.9
"""Share of the way from the best shortcut to the ideal above which a task counts as learned."""
ALIKE, SPREAD, WEAKER, HARDER = 0.03, 0.08, 0.2, 0.1
"""Differences of performance: policies that differ by less earn the same; seeds that differ by more
have not all learned the same; evidence is weak, or a condition hard, where as many more errors are
made."""
VALUES = 40
"""Values of a condition above which its numbers are split into fifths."""
EARLY: dict[str, list[Any]] = tomllib.loads(
    (Path(__file__).with_name("gallery-causes.toml")).read_text("utf-8")
)["early"]
"""Step and performance of observers that answer early."""


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
    def keys(self) -> list[str]:
        """Names of the trainings, one per seed, in the file of the measurements."""
        return [f"{self.task} {self.trainer} {seed}" for seed in self.seeds]

    @property
    def stages(self) -> tuple[dict[str, Any], ...]:
        """Parameters of the easier versions on which an agent is trained first."""
        return STAGES.get(self.task, ()) if self.trainer in AGENTS else ()

    def folders(self, out: Path) -> list[Path]:
        """Return the folders of the checkpoints."""
        return [out / key.replace("/", "-").replace(" ", "-") for key in self.keys]

    def is_in(self, runs: Mapping[str, Mapping[str, Any]]) -> bool:
        """Return whether each seed has a finished training of at least this budget."""
        return all(runs.get(key, {"until": 0})["until"] >= self.until for key in self.keys)


# ---------------------------------------------------------------------- tasks and their families


def catalogue() -> dict[str, TaskInfo]:
    """Return the tasks of the project: id -> record of discovery."""
    return {
        one.id: one for one in installed().tasks if one.usable and one.distribution.startswith(OWN)
    }


def trainers_of(task_id: str) -> tuple[str, ...]:
    """Return the names of the trainers for a task.

    Networks are trained on targets where a trial shows all that determines its target. An agent, which
    plays sessions, is trained where it follows from earlier trials or from the subject's actions,
    and where targets do not show the best policy.
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
        return AGENTS
    known = catalogue()[task_id].shortcuts
    hidden = TaskView(task).stateful and known.get("all", 0.0) < known.get("oracle", 1.0) - SAME
    return AGENTS if (hidden and task_id not in SHOWN) or task_id in BY_REWARD else SUPERVISED


# ---------------------------------------------------------------------- training


class Priced(TaskWrapper):
    """Reward every step in which an answer is asked, so that time has a price.

    Args:
        price: reward per 100 ms.
    """

    price: float = 0.0

    def new_trial(self, trial: TrialBuilder) -> None:
        super().new_trial(trial)
        for slot in trial.layout.slots:
            trial.layout.charges.append(Charge(self.price, slot.span))


def settled(tests: Sequence[float]) -> bool:
    """Return whether more training would change little; see `SOLVED`.

    Args:
        tests: performance in each test, the one before the training included.
    """
    if len(tests) >= 2 and min(tests[-2:]) >= SOLVED:
        return True
    before, last = tests[:-PATIENCE], tests[-PATIENCE:]
    return bool(before) and max(last) < max(before) + RISE


def longest(task: Task) -> int:
    """Return the steps of the longest of 200 trials."""
    return int(task.sample(200, seed=0).path.sum(axis=1).max())


def settings_of(job: Job) -> dict[str, Any]:
    """Return the settings of its trainers, other than the seed."""
    if job.trainer in SUPERVISED:
        own: dict[str, Any] = {
            "batch": BATCH, "schedule": "exponential", "schedule_updates": RATE_UPDATES,
        }  # fmt: skip
    else:
        price = PRICES.get(job.task)
        priced = [] if price is None else [(Priced, {"price": price})]
        own = {"wrap": [*priced, *FEEDBACK]}
    every = max(job.until // TESTS, 1)
    tested = LONG.get(job.task, TEST_TRIALS)
    return {"hidden": HIDDEN, "test_every": every, "test_trials": tested, **own}


def train(job: Job, out: Path) -> list[dict[str, Any]]:
    """Train from the last checkpoints if there are any; return a record per seed, for JSON."""
    if job.trainer in IMAGES:
        return [_trained_on_images(job)]
    trainers = trainers_for(job, out)
    criteria = [
        lambda record, trainer=trainer: settled([score for _, score in curve_of(job, trainer, out)])
        for trainer in trainers
    ]
    folders = job.folders(out)
    if job.trainer in SUPERVISED:
        from neurogym_torch import train_together

        train_together(trainers, job.until, out=folders, criterion=criteria)
    else:
        trainers[0].train(job.until, out=folders[0], criterion=criteria[0])
    return measurements(job, trainers, out)


def _trained_on_images(job: Job) -> dict[str, Any]:
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
            if _correct(training.test(IMAGE_TEST_TRIALS, test_seed)) > STAGE_LEVEL:
                break
        earlier = training
    training = ImageTraining(job.task, **own)
    training.take_over(earlier or training)
    curve, until = [], training.done + job.until
    while True:
        tests = training.test(IMAGE_TEST_TRIALS, test_seed)
        curve.append([training.done, round(_correct(tests), 4)])
        if training.done >= until or settled([score for _, score in curve]):
            break
        training.update(min(every, until - training.done))
    cpu, wall = time.process_time() - cpu, time.monotonic() - began
    return {
        "task": job.task,
        "trainer": job.trainer,
        "seed": seed,
        "until": job.until,
        "unit": "updates",
        "done": training.done,
        "curve": curve,
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
        trainer_named(job.trainer)(make_task(job.task), seed=seed, **own) for seed in job.seeds
    ]
    for trainer, folder in zip(trainers, job.folders(out), strict=True):
        start = folder if any(folder.glob("checkpoint.*")) else None
        if start is None and job.stages:
            start = last_stage(job, out)
        if start is not None:
            trainer.load(start)
    return trainers


def stage_folders(job: Job, out: Path) -> list[Path]:
    """Return the folders of the checkpoints at the ends of the stages."""
    [folder] = job.folders(out)
    return [out / f"{folder.name}-stage-{number}" for number in range(len(job.stages))]


def last_stage(job: Job, out: Path) -> Path:
    """Train on the easier versions, one after the other; return the folder of the last one.

    A stage ends at `STAGE_LEVEL`, or after `STAGE_STEPS`. Finished ones are not repeated.
    """
    [seed] = job.seeds
    folders = stage_folders(job, out)
    for number, (stage, folder) in enumerate(zip(job.stages, folders, strict=True)):
        if any(folder.glob("checkpoint.*")):
            continue
        trainer = trainer_named(job.trainer)(
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


def curve_of(job: Job, trainer: Any, out: Path) -> list[list[float]]:
    """Return [progress, performance] of the tests on the task itself, without those of stages."""
    begun = -1
    if job.stages:
        text = (stage_folders(job, out)[-1] / PROGRESS_FILE).read_text(encoding="utf-8")
        begun = json.loads(text)[trainer.unit]
    return [
        [int(row[trainer.unit]), round(row["accuracy"], 4)]
        for row in trainer.curve
        if row[trainer.unit] > begun
    ]


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
        fresh = _fresh(trainer, LONG.get(job.task, FRESH))
        records.append(
            {
                "task": job.task,
                "trainer": job.trainer,
                "seed": trainer.seed,
                "until": job.until,
                "unit": trainer.unit,
                "done": trainer.done,
                "curve": curve_of(job, trainer, out),
                "answered": round(trainer.curve[-1]["answered"], 3),
                "final": round(float(fresh["performance"].mean()), 4),
                "cpu": cpu,
                "wall": wall,
                "psychometric": psychometric(trainer.tasks[0], fresh),
                "hardest": hardest(trainer.tasks[0], fresh),
            }
        )
    return records


def _fresh(trainer: Any, trials: int) -> TrialRecord:
    """Return the record of trials that no training and no test had."""
    if trainer.kind == "algo":
        return trainer.play(trials, num_envs=SESSIONS, seed=1_000_000 + trainer.seed)
    from neurogym_torch import TaskMix

    trainer.tests = TaskMix(
        trainer.tasks,
        trials,
        seed=1_000_000 + trainer.seed,
        split=trainer.splits["play"],
        targets=trainer.targets,
    )
    return trainer.test()[0]


def psychometric(task: Task, record: TrialRecord) -> dict[str, Any] | None:
    """Return the psychometric function that `ngym evaluate` reports, for JSON; None without one.

    Returns:
        "kind" and "strength" as in `psychometric_function`, and "points": a list of [strength,
        number of choices to the right (or of correct answers), number of answers].
    """
    try:
        behaviour = Behaviour(with_declared(record, task), Roles.of_task(task))
        found = psychometric_function(behaviour, interval=None)
    except (CannotTellError, NotSupportedError):
        return None
    points = [[float(f"{row.value:.6g}"), row.k, row.n] for row in found.rows if row.n]
    return {"kind": found.kind, "strength": found.strength, "points": points}


# ---------------------------------------------------------------------- the verdict


def share_of(
    info: TaskInfo, finals: Sequence[float], *, admitted: bool = False
) -> Population | None:
    """Return the share of the way that seeds have gone; None if there is no way.

    Args:
        info: the task, with its default settings.
        finals: performance of each seed in new trials.
        admitted: whether shortcuts count that the manifest admits.
    """
    way = way_of(info, admitted=admitted)
    return population([way.share(one) for one in finals]) if way is not None and finals else None


def best_share(
    info: TaskInfo, runs: Sequence[Mapping[str, Any]], *, admitted: bool = False
) -> tuple[str, Population] | None:
    """Return the network that went farthest, and its share; None without a training or a way."""
    found = []
    for name in TRAINERS:
        finals = [run["final"] for run in runs_of(info.id, name, runs)]
        if share := share_of(info, finals, admitted=admitted):
            found.append((name, share))
    return max(found, key=lambda one: one[1].mean, default=None)


def verdict(info: TaskInfo, runs: Sequence[Mapping[str, Any]]) -> str:
    """Return one of `VERDICTS` for a task."""
    if not any(run["task"] == info.id for run in runs):
        return "not trained"
    best, way = best_share(info, runs), way_of(info)
    if best is None or way is None:
        return "no way to go"
    if best[1].mean >= LEARNED:
        return "learned"
    return "not learned" if way.known else "open"


def learned_strictly(info: TaskInfo, runs: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a task counts as learned where shortcuts that its manifest admits count."""
    best = best_share(info, runs, admitted=True)
    return best is not None and best[1].mean >= LEARNED


VERDICTS = ("learned", "not learned", "open", "no way to go", "not trained")
"""Verdicts on a task; "open": below `LEARNED` of the way to the oracle, where the ideal is unknown."""


# ---------------------------------------------------------------------- the page


def page(measured: dict[str, Any]) -> str:
    """Return the page."""
    known, runs = catalogue(), list(measured["runs"].values())
    verdicts = {task: verdict(info, runs) for task, info in known.items()}
    of = {said: [task for task, own in verdicts.items() if own == said] for said in VERDICTS}
    minutes = sum(run["cpu"] for run in runs) / 60
    parts = [when(measured)]
    parts.append(
        f"{len(known) - len(of['not trained'])} of {len(known)} tasks have been trained, in"
        f" {minutes:.0f} minutes of CPU time: **{len(of['learned'])} are learned**,"
        f" {len(of['not learned'])} are not, {len(of['open'])} are open, and in"
        f" {len(of['no way to go'])} there is nothing to learn.\n"
    )
    rows = [
        _row(info, runs, verdicts[task])
        for task, info in known.items()
        if verdicts[task] != "not trained"
    ]
    only = [task for task in of["learned"] if not learned_strictly(known[task], runs)]
    if only:
        names = ", ".join(f"`{task}`" for task in only)
        parts.append(
            f"{len(of['learned']) - len(only)} are learned where shortcuts that manifests admit, such"
            f" as a look of 100 ms, count too. The others: {names}.\n"
        )
    if rows:
        heads = ("task", "shortcut", "ideal", *COLUMNS, "share [95 %]", "verdict")
        parts.append(table(heads, rows) + "\n")
    if of["not learned"] or of["open"]:
        parts.append("## Not learned, and open\n")
        parts.append(
            "For each network: its performance; how many seeds were still rising in their last"
            f" {PATIENCE} tests, so that the budget was too small; the fraction of answered trials;"
            " and the performance before the training. Then, for the network that went farthest,"
            " the number of these, or of the audit, that goes with its performance. A plateau says that its tests no"
            " longer rose, and that no policy of the audit earns about as much: its reason is not known.\n"
        )
        parts += [
            f"{_finding(task, runs)} {cause(known[task], runs)}"
            for task in (*of["not learned"], *of["open"])
        ]
        parts.append("")
    for said, head, text in (
        ("no way to go", "Without a share", "The best shortcut is as good as the ideal: {}."),
        ("not trained", "Not trained yet", "{}."),
    ):
        if of[said]:
            names = ", ".join(f"`{task}`" for task in of[said])
            parts.append(f"## {head}\n\n{text.format(names)}\n")
    return continued(PAGE, "\n".join(parts))


def _finding(task: str, runs: Sequence[Mapping[str, Any]]) -> str:
    """Describe the trainings on a task, in a line."""
    parts = []
    for name in TRAINERS:
        own = runs_of(task, name, runs)
        if own:
            final, answered = (fmean(run[key] for run in own) for key in ("final", "answered"))
            rising = sum(_rises([score for _, score in run["curve"]]) for run in own)
            before = fmean(run["curve"][0][1] for run in own)
            parts.append(
                f"{name} {final:.2f}, {rising} of {len(own)} rising, {answered:.0%} answered,"
                f" {before:.2f} before"
            )
    return f"- `{task}`: {'; '.join(parts)}."


def _rises(tests: Sequence[float]) -> bool:
    before, last = tests[:-PATIENCE], tests[-PATIENCE:]
    return not before or max(last) >= max(before) + RISE


def cause(info: TaskInfo, runs: Sequence[Mapping[str, Any]]) -> str:
    """Say what keeps the best network of a task from its ideal, with a number.

    Args:
        info: a task that is not learned, or open.
        runs: all trainings.
    """
    best = best_share(info, runs)
    own = runs_of(info.id, best[0], runs) if best else []
    finals, curves = [run["final"] for run in own], [run["curve"] for run in own]
    final = fmean(finals)
    step, early = EARLY.get(info.id, (0, -1.0))
    policies = {name: score for name, score in info.shortcuts.items() if name != "oracle"}
    alike = min(policies, key=lambda name: abs(policies[name] - final), default="")
    if abs(early - final) <= 2 * ALIKE:
        return (
            f"**It answers too early**: the ideal observer earns {early:.2f} where it answers on step"
            f" {step} of the window."
        )
    if 2 * sum(_rises([score for _, score in curve]) for curve in curves) > len(own):
        last = fmean(curve[-1][1] for curve in curves)
        before = fmean(curve[max(len(curve) - 1 - PATIENCE, 0)][1] for curve in curves)
        return (
            f"**The budget was too small**: tests rose from {before:.2f} to {last:.2f} at the end."
        )
    if policies and abs(policies[alike] - final) <= ALIKE:
        return (
            f"**It earns as much as a simpler policy**: {in_words(alike)}, {policies[alike]:.2f}."
        )
    if max(finals) - min(finals) >= SPREAD:
        return (
            f"**Seeds differ**: the best reached {max(finals):.2f}, the others down to"
            f" {min(finals):.2f}."
        )
    weak, strong = _extremes(own)
    if strong >= weak + WEAKER:
        return (
            f"**Weak evidence**: {weak:.2f} are correct where it is weakest, {strong:.2f} at most."
        )
    if harder := _harder(own):
        one, seeds = harder
        (worst, low), (best, high) = one["worst"], one["best"]
        return (
            f"**It falls short where** `{one['condition']}` is {worst}: {low:.2f}, beside"
            f" {high:.2f} where it is {best} ({seeds} of {len(own)} seeds)."
        )
    simpler = best_shortcut(info)
    if simpler and policies[simpler] > final + ALIKE:
        return (
            f"**It has not found the best shortcut**: {in_words(simpler)}, {policies[simpler]:.2f}."
        )
    done, late = own[0]["done"], [score for _, score in curves[0][-PATIENCE:]]
    return (
        f"**A plateau**: between {min(late):.2f} and {max(late):.2f} in the last {len(late)} tests of"
        f" {done:,} {own[0]['unit']}."
    )


def _extremes(runs: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    """Return the fraction of correct choices with the weakest and with the strongest evidence.

    Of curves over signed evidence, that of the choices with its sign; nan without a curve.
    """
    points: dict[float, list[float]] = {}
    for run in runs:
        for value, k, n in (run.get("psychometric") or {"points": ()})["points"]:
            points.setdefault(abs(value), []).append(k / n if value > 0 else 1 - k / n)
    if not points:
        return float("nan"), float("nan")
    return fmean(points[min(points)]), fmean(points[max(points)])


def hardest(task: Task, record: TrialRecord) -> dict[str, Any] | None:
    """Return the condition on which performance depends most, for JSON.

    Numbers with more than `VALUES` values are split into fifths. None: no two values, of at least 50
    trials each, differ by `HARDER` and by five standard errors (of the some 1,000 pairs of a task
    that depends on nothing, one differs by chance in fewer than one of 1,000 tasks).

    Returns:
        "condition", and "worst" and "best", each [value, or lowest and highest one, performance].
    """
    performance, found, largest = np.asarray(record["performance"], float), None, HARDER
    for name in task.sample(1, seed=0).conditions:
        values = np.asarray(record[name]) if name in record else np.empty((0, 2))
        if values.ndim != 1 or len(np.unique(values)) < 2:
            continue
        groups = [(str(value), values == value) for value in np.unique(values)]
        if len(groups) > VALUES:
            if values.dtype.kind not in "iuf":
                continue
            edges = np.quantile(values, np.linspace(0, 1, 6))
            fifth = np.searchsorted(edges[1:-1], values, side="right")
            groups = [
                (f"{edges[k]:.3g} to {edges[k + 1]:.3g}", fifth == k) for k in range(len(edges) - 1)
            ]
        rows = [
            (performance[chosen].mean(), performance[chosen].var() / chosen.sum(), value)
            for value, chosen in groups
            if chosen.sum() >= 50
        ]
        if len(rows) < 2:
            continue
        worst, best = min(rows), max(rows)
        if best[0] - worst[0] >= max(largest, 5 * (best[1] + worst[1]) ** 0.5):
            largest = best[0] - worst[0]
            found = {
                "condition": name,
                "worst": [worst[2], round(float(worst[0]), 3)],
                "best": [best[2], round(float(best[0]), 3)],
            }
    return found


def _harder(runs: Sequence[Mapping[str, Any]]) -> tuple[Mapping[str, Any], int] | None:
    """Return the result of `hardest` for the first seed with the condition of most, and their number.

    None: no condition is that of more than half of the seeds.
    """
    found = [one for one in (run.get("hardest") for run in runs) if one]
    names = [one["condition"] for one in found]
    most = max(names, key=names.count, default="")
    if 2 * names.count(most) <= len(runs):
        return None
    return found[names.index(most)], names.count(most)


def runs_of(task: str, trainer: str, runs: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the trainings of a task with a trainer, by seed."""
    own = [run for run in runs if (run["task"], run["trainer"]) == (task, trainer)]
    return sorted(own, key=lambda run: run["seed"])


def _row(info: TaskInfo, runs: Sequence[Mapping[str, Any]], said: str) -> tuple[str, ...]:
    """Return the row of a task: its way, the performance of each network, share and verdict."""
    best, way = best_share(info, runs), way_of(info)
    share = "" if best is None else "{0.mean:.2f} [{0.low:.2f}, {0.high:.2f}]".format(best[1])
    return (
        f"`{info.id}`",
        "" if way is None else f"{way.shortcut:.2f}",
        "" if way is None else f"{way.ideal:.2f}" if way.known else f"at most {way.ideal:.2f}",
        *(_performance(runs_of(info.id, trainer, runs)) for trainer in TRAINERS),
        share,
        said,
    )


def _performance(own: Sequence[Mapping[str, Any]]) -> str:
    """Return the mean over seeds, and the range; a star for the earlier rule."""
    if not own:
        return ""
    final = [run["final"] for run in own]
    budget = {"updates": UPDATES, "steps": STEPS}[own[0]["unit"]]
    star = "" if own[0]["until"] >= budget or own[0]["trainer"] in IMAGES else "*"
    return f"{fmean(final):.2f}{star} ({min(final):.2f}–{max(final):.2f})"


# ---------------------------------------------------------------------- the command


@click.command()
@click.option("--only", multiple=True, metavar="TASK", help="Train this task; may be repeated.")
@click.option(
    "--with", "names", multiple=True, type=click.Choice(TRAINERS),
    help="Train this network; may be repeated.  [default: all but rnn]",
)  # fmt: skip
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
    only: tuple[str, ...], names: tuple[str, ...], updates: int, steps: int, seeds: int, jobs: int,
    out: Path, measured: Path, page_file: Path, write: bool,
) -> None:  # fmt: skip
    """Train networks on the tasks of the catalogue, and write docs/gallery-results.md."""
    failed: list[str] = []
    if not write:
        runs = read(measured)["runs"]
        begun = {run["task"] for run in runs.values()}
        planned = _jobs(_chosen(only), updates, steps, seeds, begun)
        wanted = names or [name for name in TRAINERS if name not in EXTRA]
        todo = [job for job in planned if job.trainer in wanted and not job.is_in(runs)]
        click.echo(f"{len(todo)} trainings remain.")
        failed = _train_all(todo, jobs, out, measured, page_file)
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


def _jobs(
    tasks: list[str], updates: int, steps: int, seeds: int, begun: Container[str]
) -> list[Job]:
    """Return the trainings, so that many tasks have results soon: new tasks and short ones first.

    GRUs come first, then agents, networks that see images, and leaky RNNs.

    Args:
        begun: tasks with results.
    """
    trainers = {task: trainers_of(task) for task in sorted(tasks, key=begun.__contains__)}
    shortest = sorted(
        (task for task, names in trainers.items() if SUPERVISED[0] in names),
        key=lambda task: (task in begun, longest(make_task(task))),
    )
    by_targets = {
        name: [Job(task, name, tuple(range(seeds)), updates) for task in shortest]
        for name in SUPERVISED
    }
    budgets = {AGENTS[0]: steps, IMAGES[0]: min(updates, IMAGE_UPDATES)}
    others = [
        Job(task, name, (seed,), budget)
        for name, budget in budgets.items()
        for task, names in trainers.items()
        if name in names
        for seed in range(seeds)
    ]
    return [*by_targets["gru"], *others, *by_targets["rnn"]]


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
        keep(measured, dict(zip(job.keys, records, strict=True)))
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
