"""Generator of sine waves."""

from __future__ import annotations

import numpy as np

from neurogym_core import Axis, Choice, InvalidValueError, Task, TrialBuilder


class SineGenerator(Task):
    """Produce a sine wave whose frequency is set by a constant input.

    Sussillo & Barak (2013), Neural Computation 25:626, doi:10.1162/NECO_a_00409.

    Throughout the trial one input says which of 51 frequencies to produce: input j / 51 + 0.25 asks
    for sin(w t), with w from 1 to 6 rad/s in equal steps. A second input, on in the first `start`
    ms, marks t = 0. The output counts on every step: performance is the share of the steps within
    `tolerance` of the wave. A drift of the phase counts as error, as in a squared error.

    The ideal earns 1. The best constant output, 0.8, earns 0.30, and the wave of the frequency in
    the middle, whatever the input, 0.24.

    Deviations from the paper:

    - the paper's frequencies are 0.1 to 0.6 rad per time constant of the network; here the time
      constant is 100 ms;
    - the mark of t = 0 is ours (there, networks begin in the same state);
    - the duration of trials and the tolerance are ours, and not compared with the paper.

    Args:
        slowest, fastest: bounds of the frequency, rad/s.
        frequencies: how many there are.
        length: duration of a trial, ms.
        start: duration of the mark, ms.
        tolerance: largest error that counts as right; the wave has amplitude 1.
    """

    dt: float = 20
    slowest: float = 1.0
    fastest: float = 6.0
    frequencies: int = 51
    length: float = 8000
    start: float = 100
    tolerance: float = 0.2

    def define(self) -> None:
        if not (0 < self.slowest < self.fastest and self.frequencies > 1):
            raise InvalidValueError(
                f"SineGenerator was given slowest={self.slowest!r}, fastest={self.fastest!r} and"
                f" frequencies={self.frequencies!r}; give 0 < slowest < fastest, and at least two"
                " frequencies."
            )
        self.observe(frequency=1, start=1)
        self.act(output=Axis(-1.5, 1.5, tolerance=self.tolerance))
        self.vary(index=Choice(self.frequencies))

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("wave", wave=self.length)
        index = trial["index"]
        trial.show("frequency", index / self.frequencies + 0.25, during="wave")
        trial.show("start", 1, during="wave", stop=self.start)
        span = (self.fastest - self.slowest) / (self.frequencies - 1)
        omega = self.slowest + index * span  # rad/s
        seconds = np.arange(int(trial.duration("wave").max() / trial.dt)) * trial.dt / 1000
        wave = np.sin(omega[:, None] * seconds)
        trial.timecourse("output", wave[:, :, None], during="wave")
        trial.record(omega=omega)
