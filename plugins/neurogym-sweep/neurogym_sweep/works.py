"""The works of sweeps: training, evaluation, likeness to animals, or your function.

A work turns a row of settings into a `Job`, and checks it before the first run starts. `perform`
does a job in any process that has the same packages.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from neurogym_training import TaskExperiment, load
from neurogym_training.experiment import read_experiment

from neurogym_core import InvalidValueError
from neurogym_core.tools import unknown
from neurogym_sweep.base import Work
from neurogym_sweep.functions import Function, call
from neurogym_sweep.plays import Play, play
from neurogym_sweep.store import Job
from neurogym_sweep.training import Training, train

NAMES = ("train", "evaluate", "likeness")


def work_named(name: str | None, source: str | None, *, trust: bool = False) -> Work:
    """Return the work of the command line.

    Args:
        name: "train", "evaluate", "likeness", "module:function" or "file.py:function"; None:
            "train" if the experiment has a table [train], else "evaluate".
        source: an experiment file, the id of a task, or None.
        trust: whether code in files that the experiment names may be run; within
            `neurogym_core.tools.trusting`, that of trained runs may be, too.

    Raises:
        NeurogymError: there is no such work, or the source is wrong.
    """
    if name is not None and ":" in name:
        base = None if source is None else _experiment(source, trust)
        return Function(name, base)
    if name is not None and name not in NAMES:
        raise unknown("work", name, [*NAMES, "module:function", "file.py:function"])
    if name in ("evaluate", "likeness"):
        return Play(name, None if source is None else _experiment(source, trust))
    if source is None:
        raise InvalidValueError(
            "No experiment was given. Expected an experiment.toml or the id of a task. Add it, or"
            " name a function with --do file.py:function, or trained runs with --do evaluate --vary"
            " run=FOLDER."
        )
    is_file = source.endswith(".toml")
    experiment = _experiment(source, trust)  # its errors name the line
    if name is None and not (is_file and experiment.train):
        return Play("evaluate", experiment)
    if is_file:
        return Training(read_experiment(Path(source), trust=trust))
    return Training({"tasks": [source], "set": {}, "wrap": []})


def perform(job: Job, folder: Path) -> list[dict[str, Any]]:
    """Do a job in the folder of its run, and return a row of results per test."""
    do = job.what["do"]
    if do == "train":
        return train(job, folder)
    if do in ("evaluate", "likeness"):
        return play(job)
    return call(job, folder)


def _experiment(source: str, trust: bool) -> TaskExperiment:
    """Return the experiment of a file, or of a task."""
    if not source.endswith(".toml"):
        return TaskExperiment.of(source)
    if not Path(source).is_file():
        raise InvalidValueError(
            f"There is no file {source!r}. Expected an experiment.toml, or the id of a task."
            " Correct the path."
        )
    return load(source, trust=trust)
