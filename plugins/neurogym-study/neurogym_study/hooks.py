"""The hooks that the core calls: the figure of a session, and experiment files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from neurogym_core import TrialRecord, hookimpl
from neurogym_core.tasks.task import Task
from neurogym_study.sessions import session_figure
from neurogym_study.task_experiment import TaskExperiment, load


@hookimpl
def ngym_session_figure(record: TrialRecord, task: Task, subject: str) -> Any:
    """Return the figure of a session for `ngym plot`."""
    return session_figure(record, task, subject=subject)


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
            for name in ("imposed", "seed", "trials", "steps", "subject", "subjects", "train")
        },
    }


@hookimpl
def ngym_save_experiment(path: Path, experiment: Mapping[str, Any]) -> Path:
    """Write the experiment of `ngym run` to a file."""
    given = {name: value for name, value in experiment.items() if name != "settings"}
    return TaskExperiment.of(**given, **experiment["settings"]).save(path)
