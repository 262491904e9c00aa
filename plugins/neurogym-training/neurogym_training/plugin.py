"""The hooks that `ngym run` calls: experiment files.

The rest of the package is imported when a hook is called."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from neurogym_core import hookimpl


@hookimpl
def ngym_read_experiment(path: str) -> dict[str, Any]:
    """Return the experiment in a file for `ngym run`."""
    from neurogym_training.task_experiment import load

    said = load(path)
    return {
        "task": said.source,
        "settings": said.settings,
        "wrap": said.wrappers,
        "subject": said.player,
        **{
            name: getattr(said, name)
            for name in (
                "imposed",
                "seed",
                "split",
                "trials",
                "steps",
                "subjects",
                "train",
            )
        },
    }


@hookimpl
def ngym_save_experiment(path: Path, experiment: Mapping[str, Any]) -> Path:
    """Write the experiment of `ngym run` to a file."""
    from neurogym_training.task_experiment import TaskExperiment

    given = {name: value for name, value in experiment.items() if name != "settings"}
    return TaskExperiment.of(**given, **experiment["settings"]).save(path)
