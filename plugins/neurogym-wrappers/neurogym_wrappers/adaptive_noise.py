"""Make a task noisier while it goes well, and less so while it does not."""

from __future__ import annotations

import math

import numpy as np

from neurogym_core.errors import InvalidValueError
from neurogym_core.trials.builder import TrialBuilder
from neurogym_core.trials.distributions import Choice
from neurogym_core.wrappers.noise import add_noise, noisy_channels
from neurogym_wrappers.schedule_base import ScheduleBase


class AdaptiveNoise(ScheduleBase):
    """Noise that holds the subject's performance near a wanted one: a `Schedule` of noise levels,
    by performance.

    After every `window` trials the noise goes one step up where the mean performance was above the
    wanted one, and one step down where it was below. It starts without noise, and goes on in the
    next session where it was. The record has the level of every trial in `noise`, SD times
    sqrt(ms).

    Args:
        performance: the wanted mean performance, above 0 and below 1.
        step: from level to level, SD times sqrt(ms).
        most: the highest level.
        window: trials over which performance is averaged.
        on: names of the channels; (): all of them.

    Raises:
        InvalidValueError: levels or a performance that cannot be.
        UnknownNameError: a channel that the task does not have.
    """

    performance: float = 0.75
    step: float = 0.5
    most: float = 20.0
    window: int = 20
    on: tuple[str, ...] = ()

    _lasting = True

    def define(self) -> None:
        if not (0 < self.step <= self.most < math.inf and self.most / self.step <= 10_000):
            raise InvalidValueError(
                f"AdaptiveNoise was given step={self.step!r} and most={self.most!r}; the step is"
                " above 0 and at most the highest level (10,000 steps at most)."
            )
        if not 0 < self.performance < 1:
            raise InvalidValueError(
                f"AdaptiveNoise was given performance={self.performance!r}; give a number between 0"
                " and 1."
            )
        self._noisy_channels = noisy_channels(self.task, self.on)
        self._sigma = self.free_name("noise")
        levels = np.arange(int(self.most / self.step + 1e-9) + 1) * self.step
        self.vary(**{self._sigma: Choice(levels)})
        above = np.nextafter(self.performance, 1)
        blocks = [{self._sigma: float(level)} for level in levels]
        self._set_up(
            blocks,
            order="performance",
            criterion=above,
            fallback=self.performance,
            window=self.window,
        )

    def add_label(self, name: str, values: object) -> None:
        """No label: the level says it."""

    def new_trial(self, trial: TrialBuilder) -> None:
        super().new_trial(trial)
        add_noise(trial.layout, self._noisy_channels, np.atleast_1d(getattr(trial, self._sigma)))
