"""n-bit flip-flop."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import Axis, InvalidValueError, Task, TrialBuilder
from neurogym_task_dynamics.streams import lengthened


class FlipFlop(Task):
    """Remember the sign of the last pulse on each of several channels.

    Sussillo & Barak (2013), Neural Computation 25:626, doi:10.1162/NECO_a_00409.

    Each channel is 0 but for brief pulses of +1 or -1. The subject has one output per channel,
    which holds the sign of the last pulse until the next one. A trial begins with a pulse on every
    channel; then pulses come at random moments, `rate` per second and sign. The sign is a fair
    coin, so that half of the pulses change nothing, and a subject that toggles with every pulse is
    right half of the time. The output counts on every step but the first `settle` ms: performance
    is the share of steps and bits within `tolerance` of the sign.

    The ideal, which keeps the sign of the last input beyond 0.5, earns 1. Without memory, the sign
    of the current input, and the same sign where there is none, earn 0.54; always the same signs
    earn 0.5. An output that follows 50 ms late earns 0.95.

    With three bits, a trained network has eight stable fixed points, and saddles between them.

    Other versions, each as options: Golub & Sussillo's example of 2018 (FixedPointFinder) has 64
    steps and a pulse on a channel in half of them, which hardly needs memory: ``dt=10, length=640,
    rate=25, pulse=10``. The ComputationThruDynamicsBenchmark has 500 steps and 1 % of pulses of
    each sign, with noise: ``dt=10, pulse=10, sigma=0.47`` (SD 0.15 per step).

    Deviations from the paper:

    - rates, durations and the tolerance are ours; those of the paper were not compared;
    - every trial begins with a pulse on each channel, so that no output is undefined.

    Args:
        bits: number of channels and outputs.
        length: duration of a trial, ms.
        rate: pulses of each sign per second and channel.
        pulse: duration of a pulse, ms.
        sigma: SD of the noise of each channel, times sqrt(ms).
        settle: time at the beginning of a trial that does not count, ms.
        tolerance: largest distance from the sign that counts as right.
    """

    dt: float = 10
    bits: int = 3
    length: float = 5000
    rate: float = 1.0
    pulse: float = 50
    sigma: float = 0.0
    settle: float = 50
    tolerance: float = 0.5

    def define(self) -> None:
        if self.bits < 1 or not 0 < 2 * self.rate * self.dt <= 1000:
            raise InvalidValueError(
                f"FlipFlop was given bits={self.bits!r} and rate={self.rate!r}; give at least one"
                " bit, and a rate of up to one pulse of either sign per step."
            )
        self.steps = max(round(self.length / self.dt), 1)
        self.observe(pulse=self.bits)
        self.act(output=Axis(-1.5, 1.5, size=self.bits, tolerance=self.tolerance))
        self.vary(onsets=self._draw_onsets)

    def _draw_onsets(self, rng: np.random.Generator, prior: Mapping) -> np.ndarray:
        """Draw the sign of the pulse that begins on each step, 0 for none, (n, steps * bits)."""
        shape = (prior.n, self.steps, self.bits)  # type: ignore[attr-defined]
        begins = rng.random(shape) < 2 * self.rate * self.dt / 1000
        begins[:, 0] = True
        return (begins * rng.choice((-1, 1), shape)).reshape(len(begins), -1)

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("stream", stream=self.length)
        drawn = trial["onsets"].reshape(trial.n, -1, self.bits)
        onsets = lengthened(trial, drawn, "stream", "constant")
        step = np.arange(onsets.shape[1])[:, None]
        last = np.maximum.accumulate(np.where(onsets != 0, step, 0), axis=1)
        sign = np.take_along_axis(onsets, last, axis=1)
        shown = sign * (step - last < max(round(self.pulse / self.dt), 1))
        trial.show("pulse", 0, during="stream", noise=self.sigma)
        trial.timecourse("pulse", shown, during="stream", cut=True)
        trial.timecourse("output", sign, during="stream", cut=True)
        trial.loss_weight(0, during="stream", stop=self.settle)
