"""Continuation of a rhythm."""

from __future__ import annotations

from neurogym_core import Choice, TrialBuilder, TruncatedExponential
from neurogym_core.errors import InvalidValueError
from neurogym_task_timing.production import Production


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

    The target time is the displayed interval, in whole steps: `wanted` in the record, ms from the
    onset of the last flash.

    Deviations from the paper:

    - the fixation cue turns off with the last flash (there, animals fixated until the saccade);
    - the tolerance, the reward and the time before the first flash are NeuroGym's.

    Args:
        intervals: intervals between the onsets of flashes, ms, equally likely.
        flashes: number of flashes, 2 or more.
        flash: duration of each, ms; one step at least.
        tolerance_share: tolerance as a fraction of the wanted time; `tolerance_ms` is added.
        tolerance_ms: constant part of the tolerance, ms.
    """

    intervals: tuple[float, ...] = (600, 700, 800, 900, 1000)
    flashes: int = 3
    flash: float = 100  # as in NeuroGym

    timing = {
        "fixation": TruncatedExponential(400, 100, 800),  # as in NeuroGym
        "target": TruncatedExponential(1000, 500, 1500),  # as in NeuroGym
    }  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        if self.flashes < 2 or min(self.intervals) < max(self.flash, self.dt) + self.dt:
            raise InvalidValueError(
                f"{self.name} was given flashes={self.flashes}, flash={self.flash:g} ms and"
                f" intervals={self.intervals!r} at dt={self.dt:g} ms; give two flashes or more, and"
                " intervals that are longer than a flash by a step at least."
            )
        self.observe(fixation=1, flash=1, target=1)
        self.act(fixate=1, go=1)
        self.vary(interval=Choice(self.intervals))

    def new_trial(self, trial: TrialBuilder) -> None:
        gaps = tuple(f"interval{k + 1}" for k in range(self.flashes - 1))
        before = ("fixation", "target", *gaps)
        first = gaps[0]
        later = {
            name: lambda: trial.duration(first) for name in gaps[1:]
        }  # as long as the first one in whole steps
        last = {"production": lambda: 2 * trial.duration(first)}
        trial.periods(*before, "production", **{first: trial.interval}, **later, **last)
        trial.show("fixation", 1, during=before)
        trial.show("target", 1, during=("target", *gaps, "production"))
        for name in (*gaps, "production"):
            trial.show("flash", 1, during=name, stop=max(self.flash, self.dt))
        wanted = trial.duration(gaps[-1])
        self.ask_at(trial, "go", wanted, during="production")
        trial.record(wanted=wanted)


class OneTwoGo(OneTwoThreeGo):
    """Act at the time of a third flash after two flashes.

    The other half of Egger, Remington, Chang & Jazayeri (2019), Nat. Neurosci. 22:1871,
    doi:10.1038/s41593-019-0500-6: with one measured interval instead of two, the produced interval
    depends more on the distribution of intervals. OneTwoThreeGo with ``flashes=2``.

    Deviations from the paper: those of OneTwoThreeGo.

    Args: as in OneTwoThreeGo.
    """

    flashes: int = 2
