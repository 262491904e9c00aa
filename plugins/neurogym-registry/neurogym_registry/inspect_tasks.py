"""Describe the tasks of a package for its release file.

``python -m neurogym_registry.inspect_tasks DISTRIBUTION FOLDER`` runs in a child process of
``ngym submit`` and ``ngym registry accept``, because it imports foreign code. It prints one object
per task, ``{"task": name, "description": {…}, "digest": {…}, "failure": null}``, and plots a trial
of each into the folder."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from neurogym_check.digest import digest_of

from neurogym_core import NeurogymError, NotSupportedError
from neurogym_core.tools import (
    Answers,
    TaskInfo,
    canonical,
    describe,
    installed,
    load,
    said_by,
)


def main(arguments: list[str]) -> None:
    """Describe the tasks of the distribution, and exit."""
    distribution, folder = arguments
    with Answers() as answers:
        for package in installed().packages:
            if canonical(package.distribution) == distribution:
                for task in package.tasks:
                    answers.write({"task": task.name, **inspect_task(task, Path(folder))})


def inspect_task(task: TaskInfo, folder: Path) -> dict[str, Any]:
    """Return a task's description and digest, or the failure; save its figure in the folder."""
    try:
        found: Any = load(task)
        if not (hasattr(found, "define") and hasattr(found, "new_trial")):
            return {**_describe_env(task.id, found, folder / f"{task.name}.svg"), "failure": None}
        description = _describe_task(found)
        from neurogym_plot import trace_of, trial_figure  # the extra `plot`

        _save(lambda: trial_figure(trace_of(found(), seed=0)), folder / f"{task.name}.svg")
        return {**description, "failure": None}
    except BaseException as error:
        return {"failure": str(error) if isinstance(error, NeurogymError) else said_by(error)}


def _describe_task(found: Any) -> dict[str, Any]:
    task = found()
    digest: dict[str, str] = {}
    # A task whose draws the StableGenerator does not support has no digest; the kit reports it.
    with contextlib.suppress(NeurogymError):
        digest = digest_of(task)
    return {"description": describe(task), "digest": digest}


def _describe_env(name: str, found: type, path: Path) -> dict[str, Any]:
    from neurogym_plot import env_figure

    with contextlib.suppress(NotSupportedError):  # its observations cannot be plotted
        _save(lambda: env_figure(name, 0), path)
    return {"description": describe(found)}


def _save(draw: Callable[[], Any], path: Path) -> None:
    import matplotlib
    from neurogym_plot import save_figure

    # Text as text gives small files, a fixed salt gives the same ids in every run.
    with matplotlib.rc_context({"svg.hashsalt": "ngym", "svg.fonttype": "none"}):
        save_figure(draw(), path)


if __name__ == "__main__":
    main(sys.argv[1:])
