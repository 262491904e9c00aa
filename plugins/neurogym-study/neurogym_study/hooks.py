"""The hooks that the core calls: figures of sessions, styles of figures, and experiment files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from neurogym_core import hookimpl, run
from neurogym_core.tasks.building import typical_steps
from neurogym_core.tasks.drawing import stateful
from neurogym_core.tasks.task import Task
from neurogym_study.figure_styles import figure_style, magnified, save_figure
from neurogym_study.sessions import session_figure
from neurogym_study.task_experiment import TaskExperiment, load

SESSION_TRIALS = 100
"""Trials of the figure of a session by default."""
SHORT_TRIAL = 3
"""Steps of a trial up to which a session is drawn by default."""


@hookimpl
def ngym_session_figure(
    task: Task, subject: str, n_trials: int | None, seed: int, conditions: Mapping[str, Any],
    wrap: Sequence[Any], asked: bool,
) -> Any:  # fmt: skip
    """Return the figure of a session for `ngym plot`; None if one trial shows more."""
    if not (asked or best_as_session(task)):
        return None
    record = run(
        task, subject, n_trials or SESSION_TRIALS, num_envs=1, seed=seed, conditions=conditions,
        wrap=wrap,
    )  # fmt: skip
    return session_figure(record, task, subject=subject)


def best_as_session(task: Task) -> bool:
    """Return whether a session is drawn by default, because one trial would show little.

    Its trials last at most three steps, or they are a stream, in which each depends on those before
    it and can be answered on all of its steps.
    """
    if typical_steps(task) <= SHORT_TRIAL:
        return True
    if not stateful(task):
        return False
    batch = task.sample(1, seed=0)
    played = batch.duration[0] > 0
    return bool(batch.payoffs.window[0, played].all(axis=0).any())


@hookimpl
def ngym_save_figure(figure: Any, path: Path, style: str) -> Path:
    """Write a figure of `ngym plot` in the sizes of a style."""
    with figure_style(style):
        return save_figure(magnified(figure), path)


@hookimpl
def ngym_read_experiment(path: str, trust: bool) -> dict[str, Any]:
    """Return the experiment in a file for `ngym run`."""
    said = load(path, trust=trust)
    return {
        "task": said.source,
        "settings": said.settings,
        "wrap": said.wrappers,
        **{
            name: getattr(said, name)
            for name in (
                "imposed",
                "seed",
                "split",
                "trials",
                "steps",
                "subject",
                "subjects",
                "train",
            )
        },
    }


@hookimpl
def ngym_save_experiment(path: Path, experiment: Mapping[str, Any]) -> Path:
    """Write the experiment of `ngym run` to a file."""
    given = {name: value for name, value in experiment.items() if name != "settings"}
    return TaskExperiment.of(**given, **experiment["settings"]).save(path)
