"""Draw the figure of a trial so far as pixels, in frames of one size."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from neurogym_core import Task
from neurogym_core.players import TaskView
from neurogym_plot.canvas import Box
from neurogym_plot.raster import RasterFigure
from neurogym_plot.trial import TRIAL_WIDTH, TrialTrace, draw_trial, trace_of_parts, trial_height

_DPI = 100


def frame_of(task: Task, trace: TrialTrace) -> np.ndarray:
    """Return a trace of the task as pixels, (height, width, 3) uint8.

    All frames of a task have one size, whatever the height of the labels of this trial.
    """
    channels = tuple((name, part.start, part.stop) for name, part in trace.channels.items())
    height = _frame_height(task, channels)
    figure = RasterFigure(TRIAL_WIDTH, height, _DPI)
    draw_trial(Box(figure, 0, 0, TRIAL_WIDTH, height), trace)
    return figure.draw()


@lru_cache(maxsize=32)
def _frame_height(task: Task, channels: tuple[tuple[str, int, int], ...]) -> float:
    """Return the height in inches of the tallest figure of a task: short periods, all actions.

    Args:
        task: the task.
        channels: name, first unit and last + 1 of each channel, also of wrappers.
    """
    names = TaskView(task).period_names
    steps = max(len(names), 8)
    continuous, n = task.actions.continuous, task.actions.size
    targets = np.zeros((steps, n), np.float32) if continuous else np.arange(steps) % n
    trace = trace_of_parts(
        task,
        observations=np.zeros((steps, channels[-1][2]), np.float32),
        channels={name: slice(start, stop) for name, start, stop in channels},
        targets=targets,
        actions=targets,
        rewards=np.zeros(steps),
        periods=[names[min(step, len(names) - 1)] for step in range(steps)],
        subtitle="conditions",
    )
    height = trial_height(trace)
    return 2 * round(height * _DPI / 2) / _DPI  # an even number of pixels, for film formats
