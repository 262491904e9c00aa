"""Describe the tasks of a package for its release file.

``python -m neurogym_registry.inspect_tasks DISTRIBUTION SITE`` runs in a child process of
``ngym submit`` and ``ngym registry accept``, because it imports foreign code, from the folder SITE.
It prints one object per task, ``{"task": name, "description": {…}, "digest": {…}, "figure": text,
"failure": null}``; the figure is the SVG file of a trial, or null. Nothing is written: the parent
reads no file that foreign code has made."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
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
    distribution, site = arguments
    look_in(site)
    with Answers() as answers:
        for package in installed().packages:
            if canonical(package.distribution) == distribution:
                for task in package.tasks:
                    answers.write({"task": task.name, **inspect_task(task)})


def look_in(site: str) -> None:
    """Import from a folder of foreign packages first, from now on.

    Before, the own packages are imported: those of the folder never take their places."""
    with contextlib.suppress(ImportError):  # the extra `plot`
        import neurogym_plot  # noqa: F401
    sys.path.insert(0, site)


def inspect_task(task: TaskInfo) -> dict[str, Any]:
    """Return a task's description, digest and figure, or the failure."""
    try:
        found: Any = load(task)
        if not (hasattr(found, "define") and hasattr(found, "new_trial")):
            return {**_describe_env(task.id, found), "failure": None}
        description = _describe_task(found)
        from neurogym_plot import trace_of, trial_figure  # the extra `plot`

        figure = _drawn(lambda: trial_figure(trace_of(found(), seed=0)))
        return {**description, "figure": figure, "failure": None}
    except BaseException as error:
        return {"failure": str(error) if isinstance(error, NeurogymError) else said_by(error)}


def _describe_task(found: Any) -> dict[str, Any]:
    task = found()
    digest: dict[str, str] = {}
    # A task whose draws the StableGenerator does not support has no digest; the kit reports it.
    with contextlib.suppress(NeurogymError):
        digest = digest_of(task)
    return {"description": describe(task), "digest": digest}


def _describe_env(name: str, found: type) -> dict[str, Any]:
    from neurogym_plot import env_figure

    figure = None
    with contextlib.suppress(NotSupportedError):  # its observations cannot be plotted
        figure = _drawn(lambda: env_figure(name, 0))
    return {"description": describe(found), "figure": figure}


def _drawn(draw: Callable[[], Any]) -> str:
    """Return the text of the SVG file of a figure."""
    import matplotlib
    from neurogym_plot import save_figure

    # Text as text gives small files, a fixed salt gives the same ids in every run.
    with (
        TemporaryDirectory() as folder,
        matplotlib.rc_context({"svg.hashsalt": "ngym", "svg.fonttype": "none"}),
    ):
        path = Path(folder) / "figure.svg"
        save_figure(draw(), path)
        return path.read_text("utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
