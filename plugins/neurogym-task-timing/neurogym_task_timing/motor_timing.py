"""Production of one of two intervals with one of two effectors."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import Choice, InvalidValueError, OneHot, TrialBuilder, Uniform
from neurogym_task_timing.production import Production

EFFECTORS = ("eye", "hand")
SPANS = ("short", "long")


class MotorTiming(Production):
    """Produce a short or a long interval after Set with the eye or the hand, both as cued.

    Wang, Narain, Hosseini & Jazayeri (2018), Nat. Neurosci. 21:102, doi:10.1038/s41593-017-0028-6.

    The subject fixates. Two cues turn on: one indicates the interval, 800 or 1500 ms, the other the
    effector, a saccade or a button press. The four combinations are interleaved at random. After a
    period of random length Set flashes, and the fixation cue turns off with its onset: the
    production begins. The subject acts with the cued effector when the interval has elapsed since
    the onset of Set. Acting within the tolerance (a fraction of the interval plus a constant) is
    correct, and the reward falls with the error: from 1 at no error with (1 - error / tolerance) ^
    1.5, to no less than 0.1. Acting too early, too late, never or with the other effector is not
    rewarded; acting before Set costs `abort`.

    `wanted` in the record is the cued interval in whole steps, ms from the onset of Set. In both
    cues unit 0 is the first of these: short, long; eye, hand. Choice 0 of `go` is the eye, choice 1
    the hand. Nothing is measured, so the task has no noise: that of the production is the subject's
    (a Weber fraction of 0.1 gives 58 % correct). A subject that ignores the interval's cue is
    correct in 50 % of trials, one that ignores both in 25 %.

    Deviations from the paper:

    - interval and effector have separate cues;
    - the target of the saccade is not shown, and no button is pressed before;
    - the fixation cue turns off with Set (there, animals fixated until the saccade);
    - the width of the tolerance, 8 %, does not follow performance; durations other than the
      intervals (500 ms of fixation, 1 to 3 s of cues) are NeuroGym's.

    Args:
        short, long: the two intervals, ms.
        flash: duration of Set, ms; one step at least.
        tolerance_share: tolerance as a fraction of the wanted time; `tolerance_ms` is added.
        tolerance_ms: constant part of the tolerance, ms.
    """

    short: float = 800
    long: float = 1500
    flash: float = 50

    timing = {"fixation": 500, "cue": Uniform(1000, 3000)}  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        if not 0 < self.short < self.long:
            raise InvalidValueError(
                f"MotorTiming was given short={self.short:g} and long={self.long:g} ms; give two"
                " intervals above 0, the shorter one first."
            )
        self.observe(fixation=1, interval=OneHot(SPANS), effector=OneHot(EFFECTORS), set=1)
        self.act(fixate=1, go=EFFECTORS)
        self.vary(interval=Choice(SPANS), effector=Choice(EFFECTORS))
        self.correct_choice(_effector)

    def new_trial(self, trial: TrialBuilder) -> None:
        is_long = trial["interval"] == SPANS[1]
        wanted = self.whole_steps(is_long * (self.long - self.short) + self.short)
        trial.periods("fixation", "cue", "production", production=2 * wanted)
        trial.show("fixation", 1, during=("fixation", "cue"))
        for channel, names, cued in (
            ("interval", SPANS, trial["interval"]),
            ("effector", EFFECTORS, trial["effector"]),
        ):
            code = self.channels.encoder(channel).encode((cued == names[1]).astype(int))
            trial.show(channel, code, during=("cue", "production"))
        trial.show("set", 1, during="production", stop=max(self.flash, self.dt))
        self.ask_at(trial, "go", wanted, during="production", index=trial.correct_choice)
        trial.record(wanted=wanted)


def _effector(conditions: Mapping[str, np.ndarray]) -> np.ndarray:
    """Index of the cued effector, (n,)."""
    return (conditions["effector"] == EFFECTORS[1]).astype(int)
