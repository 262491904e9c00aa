"""Adapt the noise of a task to the subject's performance."""

from __future__ import annotations

import math

import numpy as np

from neurogym_core import Choice, InvalidValueError, TrialBuilder
from neurogym_wrappers.schedule_base import ScheduleBase


class AdaptiveNoise(ScheduleBase):
    """Noise that holds the subject's performance near a target: a `Schedule` of noise levels.

    After every `window` trials the noise goes up by one step if the mean performance of these
    trials was above the target, and down by one step if it was below. It starts at 0, and continues
    at its last level in the next session. The column `noise` of the record has the level of every
    trial, as SD times sqrt(ms).

    Args:
        target_performance: mean performance to hold, above 0 and below 1.
        sigma_step: change from one level to the next, SD times sqrt(ms).
        max_sigma: the highest level, SD times sqrt(ms).
        window: number of trials over which performance is averaged.
        noisy_channels: names of the channels that get noise; (): all channels.

    Raises:
        InvalidValueError: levels that cannot be reached, or a target outside (0, 1).
        UnknownNameError: a channel that the task does not have.
    """

    target_performance: float = 0.75
    sigma_step: float = 0.5
    max_sigma: float = 20.0
    window: int = 20
    noisy_channels: tuple[str, ...] = ()

    def define(self) -> None:
        if not (
            0 < self.sigma_step <= self.max_sigma < math.inf
            and self.max_sigma / self.sigma_step <= 10_000
        ):
            raise InvalidValueError(
                f"AdaptiveNoise was given sigma_step={self.sigma_step!r} and"
                f" max_sigma={self.max_sigma!r}; give a step above 0 and not above max_sigma, with"
                " at most 10,000 steps up to it."
            )
        if not 0 < self.target_performance < 1:
            raise InvalidValueError(
                f"AdaptiveNoise was given target_performance={self.target_performance!r}; give a"
                " number between 0 and 1."
            )
        for channel in self.noisy_channels:
            self.task.channels[channel]  # raises for an unknown name
        self._sigma = self.free_name("noise")
        levels = np.arange(int(self.max_sigma / self.sigma_step + 1e-9) + 1) * self.sigma_step
        self.vary(**{self._sigma: Choice(levels)})
        self._set_up(
            [{self._sigma: float(level)} for level in levels],
            order="performance",
            # A mean equal to the target changes nothing.
            advance_at=np.nextafter(self.target_performance, 1),
            retreat_below=self.target_performance,
            window=self.window,
        )

    def add_label(self, name: str, values: object) -> None:
        """Add no label: the column `noise` identifies the block already."""

    def new_trial(self, trial: TrialBuilder) -> None:
        super().new_trial(trial)
        for channel in self.noisy_channels or self.channels:
            trial.show(channel, 0, noise=trial[self._sigma], during=trial.layout.timeline.names)
