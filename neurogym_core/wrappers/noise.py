"""Add noise to the observations."""

from __future__ import annotations

import math
from typing import Any

from neurogym_core.errors import InvalidValueError, unknown
from neurogym_core.tasks.task import Task
from neurogym_core.tasks.wrapper import TaskWrapper
from neurogym_core.trials.builder import TrialBuilder
from neurogym_core.trials.layout import Layout, Show, Span


class Noise(TaskWrapper):
    """Add Gaussian noise to every step of a trial, in addition to the noise of the task.

    As everywhere in this project, sigma does not depend on dt: the SD of a step is sigma / sqrt(dt
    in ms), independent over steps and units. The variances of all noise add up.

    Args:
        sigma: SD times sqrt(ms); 1 is an SD of 0.1 at dt = 100 ms.
        noisy_channels: names of the channels that get noise; (): all channels.

    Raises:
        InvalidValueError: sigma is not a number above 0.
        UnknownNameError: the task has no such channel.
    """

    sigma: float = 1.0
    noisy_channels: tuple[str, ...] = ()

    def define(self) -> None:
        if not (math.isfinite(self.sigma) and self.sigma > 0):
            raise InvalidValueError(
                f"Noise was given sigma={self.sigma!r}. Expected a number above 0. Give the SD"
                " times sqrt(ms)."
            )
        self._noisy = noisy_channels(self.task, self.noisy_channels)

    def new_trial(self, trial: TrialBuilder) -> None:
        super().new_trial(trial)
        add_noise(trial.layout, self._noisy, self.sigma)


def noisy_channels(task: Task, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the channels that get noise: `names`, or all if it is empty.

    Raises:
        UnknownNameError: the task has no such channel.
    """
    for name in names:
        if name not in task.channels:
            raise unknown("channel", name, task.channels, of=task.name)
    return tuple(names) or tuple(task.channels)


def add_noise(layout: Layout, channels: tuple[str, ...], sigma: Any) -> None:
    """Add noise of `sigma`, a number or (n,), to channels on all steps."""
    layout.shows.extend(
        Show(channel, 0, Span(layout.timeline.names), sigma) for channel in channels
    )
