"""Continuation of a rhythm."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import Choice, InvalidValueError, TrialBuilder, TruncatedExponential
from neurogym_task_timing.production import Production, measure, true_duration


class OneTwoThreeGo(Production):
    """Act at the time of a fourth flash after three flashes at equal intervals.

    Egger, Remington, Chang & Jazayeri (2019), Nat. Neurosci. 22:1871,
    doi:10.1038/s41593-019-0500-6.

    The subject fixates. A target appears and stays; after a period of random length three brief
    flashes follow, with an interval between their onsets that is drawn for every trial. With the
    onset of the third flash the fixation cue turns off, and the subject acts when the same interval
    has elapsed again. Acting within the tolerance (a fraction of the interval plus a constant) is
    correct, and the reward falls with the error: from 1 at no error with (1 - error / tolerance) ^
    1.5, to no less than 0.1. Acting too early, too late or never is not rewarded; acting before the
    third flash costs `abort`.

    The subject's measurements have scalar noise, which the task adds: the time from a flash to the
    next is `measured` ms, the interval with an SD of `weber` times the interval, drawn for each.
    The target time is the interval itself, in whole steps: `wanted` in the record, ms from the
    onset of the last flash. Two measurements are better than one, as the paper found: a subject
    that produces their mean is correct in 74 % of trials, one that produces the single interval
    of OneTwoGo in 58 %, and the best ones, which know the range of intervals, in 91 and 81 %. (In
    steps of 20 ms no moment is right for both 600 and 700 ms; in fine steps: 95 and 87 %.) A
    subject that always acts at the same time, whatever the interval, is correct in 40 % at best
    (2 of the 5 intervals).

    Deviations from the paper:

    - the fixation cue turns off with the last flash (there, animals fixated until the saccade);
    - the tolerance is fixed (there, it follows performance), and the noise of the measurements is
      added to the stimulus (there, it is the subject's);
    - the reward, the durations of the flashes (100 ms) and the times before the first of them are
      NeuroGym's.

    Args:
        intervals: intervals between the onsets of flashes, ms, equally likely.
        flashes: number of flashes, 2 or more.
        weber: SD of a measured interval as a fraction of the interval; 0.1 as in ReadySetGo.
        flash: duration of each, ms; one step at least.
        tolerance_share: tolerance as a fraction of the wanted time; `tolerance_ms` is added.
        tolerance_ms: constant part of the tolerance, ms.
    """

    dt: float = 20
    intervals: tuple[float, ...] = (600, 700, 800, 900, 1000)
    flashes: int = 3
    weber: float = 0.1
    flash: float = 100

    timing = {
        "fixation": TruncatedExponential(400, 100, 800),
        "target": TruncatedExponential(1000, 500, 1500),
    }  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        if self.flashes < 2 or min(self.intervals) < max(self.flash, self.dt) + self.dt:
            raise InvalidValueError(
                f"{self.name} was given flashes={self.flashes}, flash={self.flash:g} ms and"
                f" intervals={self.intervals!r} at dt={self.dt:g} ms; give two flashes or more, and"
                " intervals that are longer than a flash by a step at least."
            )
        if not 0 <= self.weber < 0.3:
            raise InvalidValueError(
                f"{self.name} was given weber={self.weber!r}; give a Weber fraction from 0 to 0.3."
            )
        self.observe(fixation=1, flash=1, target=1)
        self.act(fixate=1, go=1)
        self.vary(interval=Choice(self.intervals), measured=self._measured)

    def _measured(self, rng: np.random.Generator, prior: Mapping[str, np.ndarray]) -> np.ndarray:
        """Draw the intervals as displayed, ms (n, flashes - 1); flashes stay separate."""
        noisy = measure(prior["interval"], self.weber, rng, times=self.flashes - 1)
        return np.maximum(noisy, max(self.flash, self.dt) + self.dt)

    def new_trial(self, trial: TrialBuilder) -> None:
        gaps = tuple(f"interval{k + 1}" for k in range(self.flashes - 1))
        before = ("fixation", "target", *gaps)
        measured = dict(zip(gaps, trial["measured"].T, strict=True))
        interval = self.whole_steps(trial["interval"])
        production = {"production": lambda: 2 * true_duration(self, trial, gaps[0], interval)}
        trial.periods(*before, "production", **measured, **production)
        trial.show("fixation", 1, during=before)
        trial.show("target", 1, during=("target", *gaps, "production"))
        for name in (*gaps, "production"):
            trial.show("flash", 1, during=name, stop=max(self.flash, self.dt))
        wanted = true_duration(self, trial, gaps[0], interval)
        self.ask_at(trial, "go", wanted, during="production")
        trial.record(wanted=wanted)


class OneTwoGo(OneTwoThreeGo):
    """Act at the time of a third flash after two flashes.

    The other half of Egger, Remington, Chang & Jazayeri (2019), Nat. Neurosci. 22:1871,
    doi:10.1038/s41593-019-0500-6: with one measured interval instead of two, the produced interval
    depends more on the distribution of intervals. OneTwoThreeGo with ``flashes=2``. A subject that
    reproduces the measured interval is correct in 58 % of trials, the best one in 81 %.

    Deviations from the paper: those of OneTwoThreeGo.
    """

    flashes: int = 2
