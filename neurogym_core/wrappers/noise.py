"""Add noise to the observations."""

from __future__ import annotations

import math

from neurogym_core.errors import InvalidValueError
from neurogym_core.tasks.wrapper import TaskWrapper
from neurogym_core.trials.builder import TrialBuilder


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
        for channel in self.noisy_channels:
            self.task.channels[channel]  # raises for an unknown name

    def new_trial(self, trial: TrialBuilder) -> None:
        super().new_trial(trial)
        for channel in self.noisy_channels or self.channels:
            trial.show(channel, 0, noise=self.sigma, during=trial.layout.timeline.names)
