"""Reproduction of an interval after a wait."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import Choice, InvalidValueError, TrialBuilder, Uniform
from neurogym_task_timing.production import Production, measure, true_duration


class MeasureWaitGo(Production):
    """Measure the interval between two flashes, and produce it after a wait of any length.

    Beiran, Meirhaeghe, Sohn, Jazayeri & Ostojic (2023), Neuron 111:739,
    doi:10.1016/j.neuron.2022.12.016.

    The subject fixates. Two flashes delimit an interval. After a wait that is drawn independently,
    a go flash comes, with which the fixation cue turns off, and the subject acts when the interval
    has elapsed since then. In Ready-Set-Go the production begins with the second flash, so that a
    measurement may be continued; here it has to be stored. Acting within the tolerance is correct,
    and the reward falls with the error: from 1 at no error with (1 - error / tolerance) ^ 1.5, to
    no less than 0.1. Acting too early, too late or never is not rewarded; acting before the go
    flash costs `abort`.

    The measurement has scalar noise, which the task adds: the flashes are `measured` ms apart, the
    interval with an SD of `weber` times the interval. The target time, `wanted` in the record,
    follows from the interval itself. As in Ready-Set-Go, noise and a known range of intervals make
    it best to produce times nearer to the mean. A subject that reproduces the measured interval is
    correct in 58 % of trials, the best one, which knows the intervals, in 81 %; one that always
    acts after the same time in 29 %, and one that measures on, until the go flash, in none. The
    duration of the wait says nothing.

    Deviations from the paper:

    - a press is judged by its time (there, the output of the network is a ramp to a threshold);
    - intervals, waits, tolerance and noise are ours, and not compared with the paper.

    Args:
        intervals: intervals, ms, equally likely.
        weber: SD of the measured interval as a fraction of the interval.
        flash: duration of a flash, ms; one step at least.
        tolerance_share: tolerance as a fraction of the wanted time; `tolerance_ms` is added.
        tolerance_ms: constant part of the tolerance, ms.
    """

    dt: float = 20  # all intervals are whole steps
    intervals: tuple[float, ...] = (500, 580, 660, 760, 840, 920, 1000)
    weber: float = 0.1
    flash: float = 80

    timing = {"fixation": 200, "wait": Uniform(300, 1500)}  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        if not self.intervals or min(self.intervals) <= 0 or not 0 <= self.weber < 0.3:
            raise InvalidValueError(
                f"MeasureWaitGo was given intervals={self.intervals!r} and weber={self.weber!r};"
                " give one positive interval or more, and a Weber fraction from 0 to 0.3."
            )
        self.observe(fixation=1, flash=1, go=1)
        self.act(fixate=1, press=1)
        self.vary(interval=Choice(self.intervals), measured=self._measured)

    def _measured(self, rng: np.random.Generator, prior: Mapping[str, np.ndarray]) -> np.ndarray:
        return measure(prior["interval"], self.weber, rng)

    def new_trial(self, trial: TrialBuilder) -> None:
        before = ("fixation", "measure", "wait")
        production = 2 * trial["interval"]
        trial.periods(*before, "production", measure=trial["measured"], production=production)
        flash = max(self.flash, self.dt)
        trial.show("fixation", 1, during=before)
        for period in ("measure", "wait"):
            trial.show("flash", 1, during=period, stop=flash)
        trial.show("go", 1, during="production", stop=flash)
        interval = self.whole_steps(trial["interval"])
        wanted = true_duration(self, trial, "measure", interval)
        self.ask_at(trial, "press", wanted, during="production")
        trial.record(wanted=wanted)
