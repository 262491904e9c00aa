"""Add noise to what is seen."""

from __future__ import annotations

import math
from typing import Any

from neurogym_core.errors import InvalidValueError, unknown
from neurogym_core.tasks.task import Task
from neurogym_core.tasks.wrapper import TaskWrapper
from neurogym_core.trials.builder import TrialBuilder
from neurogym_core.trials.layout import Layout, Show, Span


class Noise(TaskWrapper):
    """Gaussian noise on every step of a trial, beside the task's own.

    As everywhere in this project sigma does not depend on dt: the SD of a step is sigma / sqrt(dt
    in ms), independent over steps and units. Variances add up.

    Args:
        sigma: SD times sqrt(ms); 1 is an SD of 0.1 at dt = 100 ms.
        noisy_channels: names of the channels that get noise; (): all channels.

    Raises:
        InvalidValueError: a sigma that is not above 0.
        UnknownNameError: a channel that the task does not have.
    """

    sigma: float = 1.0
    noisy_channels: tuple[str, ...] = ()

    def define(self) -> None:
        if not (math.isfinite(self.sigma) and self.sigma > 0):
            raise InvalidValueError(
                f"Noise was given sigma={self.sigma!r}; it needs a number above 0, SD times"
                " sqrt(ms)."
            )
        self._noisy = noisy_channels(self.task, self.noisy_channels)

    def new_trial(self, trial: TrialBuilder) -> None:
        super().new_trial(trial)
        add_noise(trial.layout, self._noisy, self.sigma)


def noisy_channels(task: Task, names: tuple[str, ...]) -> tuple[str, ...]:
    """The channels that get noise.

    Raises:
        UnknownNameError: one that the task does not have.
    """
    for name in names:
        if name not in task.channels:
            raise unknown("channel", name, task.channels, of=task.name)
    return tuple(names) or tuple(task.channels)


def add_noise(layout: Layout, channels: tuple[str, ...], sigma: Any) -> None:
    """Add noise of `sigma`, a number or (n,), to these channels on all steps."""
    layout.shows.extend(
        Show(channel, 0, Span(layout.timeline.names), sigma) for channel in channels
    )
