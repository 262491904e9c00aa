"""The hooks that the core calls: frames of envs, films, and figures of plain Gymnasium envs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from neurogym_core import hookimpl
from neurogym_core.plots import trace_so_far
from neurogym_core.tasks.task import Task
from neurogym_film.film import frames_of, save_film
from neurogym_film.frames import frame_of
from neurogym_film.plain_envs import env_figure


@hookimpl
def ngym_frame(task: Task, buffers: Any) -> np.ndarray:
    """Return the figure of the trial so far for `render`."""
    return frame_of(task, trace_so_far(task, buffers))


@hookimpl
def ngym_film(
    path: Path, task: Task, subject: str, n_trials: int, seed: int, conditions: Mapping[str, Any],
    wrap: Sequence[Any], progress: Callable[[int], object],
) -> Path:  # fmt: skip
    """Write a film for `ngym plot`."""
    frames = frames_of(task, subject, n_trials, seed, conditions, wrap=wrap, progress=progress)
    return save_film(frames, path)


@hookimpl
def ngym_env_figure(name: str, seed: int | None) -> Any:
    """Return the figure of a plain env for `ngym plot`."""
    return env_figure(name, seed)
