"""Interval production by a ramp to a threshold, as in training recurrent networks."""

from __future__ import annotations

from typing import Any

import numpy as np

from neurogym_core import (
    Axis,
    Choice,
    Encoder,
    InvalidValueError,
    OneHot,
    Scalar,
    TrialBuilder,
    Uniform,
)
from neurogym_task_timing.production import Production, measure, true_duration

THRESHOLD = 0.95
"""Larger outputs count as acting."""


class Ramp(Production):
    """Base of tasks whose action is one number from 0 to 1; exceeding 0.95 counts as acting.

    The target is 0 until Set, and then either grows in proportion to time, up to the threshold, or
    stays at 0; from the step of the answer on it is 1. Without the ramp the steps between Set and
    the answer have no weight in a supervised loss.

    Args:
        ramp: whether the target grows in proportion to time.
        total: duration of a trial, ms.
        pulse: duration of Ready and of Set, ms; one step at least.
        strength: height of the pulses.
    """

    dt: float = 10
    ramp: bool = True
    total: float = 2200
    pulse: float = 20
    strength: float = 0.4

    timing = {"burn": 100, "wait": Uniform(100, 200)}  # ms; networks settle during the first
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}
    go_cue = "set"

    def declare(self, *pulses: str, context: Encoder | None = None) -> None:
        """Declare channels and the action."""
        self.observe(**({"context": context} if context else {}), **dict.fromkeys(pulses, 1))
        self.act(output=Axis(0, 1, rest=0, trigger=THRESHOLD))

    def check_total(self, longest: float) -> None:
        """Raise an error if the longest interval does not fit into a trial."""
        if longest > self.total:
            raise InvalidValueError(
                f"{self.name} was given total={self.total:g} ms, but its longest trial takes"
                f" {longest:g} ms and does not fit; give a larger total."
            )

    def rest_of(self, trial: TrialBuilder, *before: str) -> Any:
        """Return the remaining time of a trial after some periods, ms (n,).

        Called while the periods are declared.
        """
        return lambda: np.maximum(
            self.total - sum(trial.duration(name) for name in before), self.dt
        )

    def flash(self, trial: TrialBuilder, channel: str, during: str) -> None:
        """Show a pulse at the onset of a period."""
        trial.show(channel, self.strength, during=during, stop=max(self.pulse, self.dt))

    def produce(self, trial: TrialBuilder, wanted: np.ndarray) -> None:
        """Ask for acting `wanted` ms (n,) after the onset of the period "production"."""
        self.ask_at(trial, "output", wanted, during="production")
        steps = int(np.rint(trial.duration("production").max() / trial.dt))
        elapsed = (np.arange(steps) + 1) * trial.dt  # a step's action occurs at its end
        before = elapsed < wanted[:, None] - trial.dt / 2
        rising = THRESHOLD * elapsed / wanted[:, None] if self.ramp else np.zeros((trial.n, steps))
        trial.timecourse("output", np.where(before, rising, 1.0)[:, :, None], during="production")
        if not self.ramp:
            trial.loss_weight(
                0, during="production", start=max(self.pulse, self.dt), stop=wanted - trial.dt
            )
        trial.record(wanted=wanted)


class CueSetGo(Ramp):
    """Raise an output above a threshold when a cued interval has elapsed since Set.

    After the recurrent networks of Wang, Narain, Hosseini & Jazayeri (2018), Nat. Neurosci. 21:102,
    doi:10.1038/s41593-017-0028-6. MotorTiming is the animals' version of it.

    Throughout the trial a cue is on, whose height is the interval divided by 2 s. After a period of
    random length Set flashes. The action is one number; it has to exceed 0.95 when the interval has
    elapsed since the onset of Set. Crossing within the tolerance is correct, and the reward falls
    with the error: (1 - error / tolerance) ^ 1.5, 0.1 at least. Crossing outside the tolerance, or
    never, is not rewarded; exceeding 0.95 before Set costs `abort`. Intervals lie around 800 and
    around 1500 ms. The target is a ramp, or with ``ramp=False`` a step; `wanted` in the record is
    the interval in whole steps, ms from the onset of Set. Nothing is measured, so there is no
    noise. A subject that ignores the cue is correct in 50 % of trials, by always acting at 1500 ms.

    Deviations from the paper:

    - the code of the cue and the spacing of the intervals (40 ms) are ours;
    - the noise of the networks' inputs is left out: add it with a wrapper;
    - only crossing 0.95 is judged: an output that rises before Set, but not above 0.95, is neither
      an answer nor an abort, and only the supervised loss counts it.

    Args:
        intervals: intervals, ms, equally likely.
        ramp: whether the target grows in proportion to time.
        total: duration of a trial, ms.
        pulse: duration of Set, ms; one step at least.
        strength: height of the pulse.
        tolerance_share: tolerance as a fraction of the wanted time; `tolerance_ms` is added.
        tolerance_ms: constant part of the tolerance, ms.
    """

    intervals: tuple[float, ...] = (720, 760, 800, 840, 880, 1420, 1460, 1500, 1540, 1580)
    total: float = 2300

    def define(self) -> None:
        self.check_total(300 + max(self.intervals))
        self.declare("set", context=Scalar())
        self.vary(interval=Choice(self.intervals))

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("burn", "wait", "production", production=self.rest_of(trial, "burn", "wait"))
        trial.show("context", trial["interval"] / 2000, during=("burn", "wait", "production"))
        self.flash(trial, "set", "production")
        self.produce(trial, self.whole_steps(trial["interval"]))


class ReadySetGoSinglePrior(Ramp):
    """Measure an interval, and raise an output above a threshold when it has elapsed again.

    After the recurrent networks of Sohn, Narain, Meirhaeghe & Jazayeri (2019), Neuron 103:934,
    doi:10.1016/j.neuron.2019.06.012, with one of its two ranges of intervals.

    Ready and Set flash, separated by an interval. The action is one number; it has to exceed 0.95
    when the same interval has elapsed since the onset of Set. Crossing within the tolerance is
    correct, and the reward falls with the error: (1 - error / tolerance) ^ 1.5, 0.1 at least.
    Crossing outside the tolerance, or never, is not rewarded; exceeding 0.95 before Set costs
    `abort`. The target is a ramp, or with ``ramp=False`` a step.

    The subject's measurement has scalar noise, which the task adds: Ready and Set are `measured` ms
    apart, the interval with an SD of `weber` times the interval. The target time is the interval
    itself, `wanted` in the record, ms. With this noise a prior is useful: the best subject
    produces long intervals shorter than measured, and short ones longer. It is correct in 81 % of
    trials, one that reproduces the measured interval in 58 %, and one that always acts at the same
    time, whatever the interval, in 40 %.

    Deviations from the paper:

    - animals reported by a saccade or a movement of the hand to one of two sides; here the action
      is one number;
    - the noise of the measurement is added to the stimulus; that of the networks' inputs is left
      out: add it with a wrapper;
    - only crossing 0.95 is judged: an output that rises before Set, but not above 0.95, is neither
      an answer nor an abort, and only the supervised loss counts it.

    Args:
        intervals: intervals, ms, equally likely.
        weber: SD of the measured interval as a fraction of the interval; 0.1 as in ReadySetGo.
        ramp: whether the target grows in proportion to time.
        total: duration of a trial, ms.
        pulse: duration of Ready and of Set, ms; one step at least.
        strength: height of the pulses.
        tolerance_share: tolerance as a fraction of the wanted time; `tolerance_ms` is added.
        tolerance_ms: constant part of the tolerance, ms.
    """

    intervals: tuple[float, ...] = (480, 560, 640, 720, 800)
    weber: float = 0.1
    total: float = 2300

    def define(self) -> None:
        self.check_measures(max(self.intervals))
        self.declare("ready", "set")
        self.vary(interval=Choice(self.intervals), measured=self.measured)

    def check_measures(self, longest: float) -> None:
        """Raise an error if measuring and producing the longest interval exceeds a trial."""
        if not 0 <= self.weber < 0.3:
            raise InvalidValueError(
                f"{self.name} was given weber={self.weber!r}; give a Weber fraction from 0 to 0.3."
            )
        late = self.tolerance_share * longest + self.tolerance_ms
        self.check_total(300 + longest * (1 + 3 * self.weber) + longest + late)

    def measured(self, rng: np.random.Generator, prior: Any) -> np.ndarray:
        """Draw the intervals as displayed, ms (n,); Ready and Set stay separate."""
        noisy = measure(prior["interval"], self.weber, rng)
        return np.maximum(noisy, max(self.pulse, self.dt) + self.dt)

    def new_trial(self, trial: TrialBuilder) -> None:
        self.lay_out_production(trial)

    def lay_out_production(self, trial: TrialBuilder) -> None:
        """Build Ready, Set and the answer."""
        before = ("burn", "wait", "measure")
        trial.periods(
            *before,
            "production",
            measure=trial["measured"],
            production=self.rest_of(trial, *before),
        )
        self.flash(trial, "ready", "measure")
        self.flash(trial, "set", "production")
        interval = self.whole_steps(trial["interval"])
        self.produce(trial, true_duration(self, trial, "measure", interval))


class ReadySetGoDoublePrior(ReadySetGoSinglePrior):
    """Measure and produce an interval from one of two ranges, as a cue indicates.

    After the recurrent networks of Sohn, Narain, Meirhaeghe & Jazayeri (2019), Neuron 103:934,
    doi:10.1016/j.neuron.2019.06.012.

    Throughout the trial one of two cues is on: intervals are short (480 to 800 ms; unit 0) or long
    (800 to 1200 ms; unit 1). The interval of 800 ms belongs to both ranges: because measurements
    are noisy, a subject that knows the distribution of intervals produces it longer under the cue
    for long intervals. Otherwise as ReadySetGoSinglePrior. The best subject is correct in 81 % of
    trials, one that reproduces the measured interval in 58 %, one that always acts at the same
    time in 30 %, and one that has a fixed time for each cue in 40 %.

    Deviations from the paper: those of ReadySetGoSinglePrior; the range changes from trial to trial
    (there, in short blocks).

    Args:
        intervals: intervals of the short range, ms, equally likely.
        long_intervals: intervals of the long range, ms, equally likely.
    """

    long_intervals: tuple[float, ...] = (800, 900, 1000, 1100, 1200)
    total: float = 3200

    def define(self) -> None:
        self.check_measures(max(*self.intervals, *self.long_intervals))
        self.declare("ready", "set", context=OneHot(2).named(("short", "long")))
        self.vary(
            prior=Choice(("short", "long")),
            interval=self._draw_interval,
            measured=self.measured,
        )

    def _draw_interval(self, rng: np.random.Generator, prior: Any) -> np.ndarray:
        drawn = rng.choice(self.intervals, prior.n), rng.choice(self.long_intervals, prior.n)
        return np.where(prior["prior"] == "short", *drawn)

    def new_trial(self, trial: TrialBuilder) -> None:
        self.lay_out_production(trial)
        cue = self.channels.encoder("context").encode((trial["prior"] == "long").astype(int))
        trial.show("context", cue, during=("burn", "wait", "measure", "production"))
