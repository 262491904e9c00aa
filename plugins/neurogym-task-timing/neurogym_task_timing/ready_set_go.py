"""Reproduction of an interval."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import Choice, InvalidValueError, OneHot, TrialBuilder
from neurogym_task_timing.production import Production, measure, true_duration


class ReadySetGo(Production):
    """Measure the interval from Ready to Set, and produce it, times a gain, from Set to Go.

    Remington, Narain, Hosseini & Jazayeri (2018), Neuron 98:1005, doi:10.1016/j.neuron.2018.05.020;
    the task without gain: Jazayeri & Shadlen (2010), Nat. Neurosci. 13:1020, doi:10.1038/nn.2590;
    neurons and networks that produce intervals: Wang, Narain, Hosseini & Jazayeri (2018), Nat.
    Neurosci. 21:102, doi:10.1038/s41593-017-0028-6.

    The subject fixates. Two flashes, Ready and Set, delimit an interval; with the onset of Set the
    fixation cue turns off and the production begins. The subject goes when the interval times the
    gain has elapsed since the onset of Set. All times count from the onset of a flash: the interval
    from that of Ready, the produced time from that of Set. Going within the tolerance (a fraction
    of the wanted time plus a constant) is correct, and the reward falls with the error: from 1 at
    no error with (1 - error / tolerance) ^ 1.5, to no less than 0.1. Going too early, too late or
    never is not rewarded; going before Set costs `abort`.

    The subject's measurement has scalar noise, which the task adds: Ready and Set are `measured` ms
    apart, the interval with an SD of `weber` times the interval. The target time follows from the
    interval itself, in whole steps: `wanted` in the record, ms from the onset of Set. Noise and a
    known range of intervals together make it best to produce times nearer to the mean, which is the
    effect that Jazayeri & Shadlen found. With several `gains`, which are interleaved, the channel
    `gain` shows which one applies throughout the trial, unit k the k-th.

    The Weber fraction of 0.1 is a round value of their estimates for people; that of the production
    belongs to the subject. A subject that reproduces the measured interval is correct in
    58 % of trials, the best one, which knows the range of intervals, in 82 %; one that always goes
    at 800 ms, whatever the interval, in 29 % (2 of the 7 intervals). With ``weber=0`` the first is
    always correct.

    Deviations from the paper:

    - intervals are the seven of the paper; one gain by default (there, 1 and 1.5 in blocks, cued by
      a colour: ``gains=(1, 1.5)``);
    - the tolerance is fixed (there, it follows performance);
    - the noise of the measurement is added to the stimulus (there, it is the subject's);
    - the subject fixates for 100 ms before Ready, as in NeuroGym (there, for a random time), and
      flashes last 83 ms, five frames of a 60 Hz screen.

    Args:
        gains: wanted time as a multiple of the interval, equally likely.
        intervals: intervals, ms, equally likely.
        weber: SD of the measured interval as a fraction of the interval.
        flash: duration of Ready and of Set, ms; one step at least.
        tolerance_share: tolerance as a fraction of the wanted time; `tolerance_ms` is added.
        tolerance_ms: constant part of the tolerance, ms.
    """

    dt: float = 20  # all intervals are whole steps
    gains: tuple[float, ...] = (1.0,)
    intervals: tuple[float, ...] = (500, 580, 660, 760, 840, 920, 1000)
    weber: float = 0.1
    flash: float = 83

    timing = {"fixation": 100}  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        if not self.gains or min(self.gains) <= 0 or not 0 <= self.weber < 0.3:
            raise InvalidValueError(
                f"ReadySetGo was given gains={self.gains!r} and weber={self.weber!r}; give one"
                " positive gain or more, and a Weber fraction from 0 to 0.3."
            )
        self.cue = OneHot(len(self.gains)) if len(self.gains) > 1 else None
        self.observe(fixation=1, ready=1, set=1, **({"gain": self.cue} if self.cue else {}))
        self.act(fixate=1, go=1)
        self.vary(gain=Choice(self.gains), interval=Choice(self.intervals), measured=self._measured)

    def _measured(self, rng: np.random.Generator, prior: Mapping[str, np.ndarray]) -> np.ndarray:
        return measure(prior["interval"], self.weber, rng)

    def new_trial(self, trial: TrialBuilder) -> None:
        production = 2 * trial["gain"] * trial["interval"]  # as in NeuroGym: twice the wanted time
        trial.periods(
            "fixation", "measure", "production", measure=trial["measured"], production=production
        )
        if self.cue:
            which = (trial["gain"][:, None] == np.asarray(self.gains)).argmax(axis=1)
            trial.show("gain", self.cue.encode(which), during=("fixation", "measure", "production"))
        flash = max(self.flash, self.dt)
        trial.show("fixation", 1, during=("fixation", "measure"))
        trial.show("ready", 1, during="measure", stop=flash)
        trial.show("set", 1, during="production", stop=flash)
        interval = self.whole_steps(trial["interval"])
        wanted = trial["gain"] * true_duration(self, trial, "measure", interval)
        self.ask_at(trial, "go", wanted, during="production")
        trial.record(wanted=wanted)
