"""Delayed match to sample."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import Choice, Ring, Task, TrialBuilder


class DelayMatchSample(Task):
    """Report whether a test is the same as the sample shown before a delay.

    Miller, Erickson & Desimone (1996), J. Neurosci. 16:5154,
    doi:10.1523/JNEUROSCI.16-16-05154.1996.

    A sample direction is shown and, after a delay, a test in the same or the opposite direction.
    When the fixation cue turns off, the subject reports a match (choice 0) or a non-match (choice
    1). Each unit of the stimulus shows 0.5 + 0.5 cos(preferred - direction) with independent noise
    on every step.

    Performance is the fraction of correct answers. Always the same choice earns 0.5, and so does
    the test alone. The default noise is far below the difference between the two directions, so an
    ideal observer answers 100 % correctly.

    Deviations from the paper:

    - one test (there, one to five, of which the last matches; see DelayMatchSampleDistractor1D);
    - a non-match is reported by a separate choice after the test (there, the monkey
      responded to a match during the test, and withheld after a non-match);
    - two directions instead of pictures;
    - sample, delay and test last 500, 1,000 and 500 ms, as there; 300 ms of fixation and 900 ms for
      the answer are NeuroGym's.

    Args:
        directions: number of equally spaced directions, which is also the number of units.
        sigma: SD of the noise of the stimuli, times sqrt(ms).
    """

    directions: int = 2
    sigma: float = 1.0

    timing = {
        "fixation": 300,
        "sample": 500,
        "delay": 1000,
        "test": 500,
        "decision": 900,
    }  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}
    evidence_periods = ("test",)

    def define(self) -> None:
        self.ring = Ring(self.directions)
        self.observe(fixation=1, stimulus=self.ring)
        self.act(fixate=1, choose=("match", "nonmatch"))
        self.vary(sample=Choice(self.directions), test=Choice(("match", "nonmatch")))
        self.correct_choice(_right)

    def new_trial(self, trial: TrialBuilder) -> None:
        before = ("fixation", "sample", "delay", "test")
        trial.periods(*before, "decision")
        trial.show("fixation", 1, during=before)
        sample = self.ring.angle(trial["sample"])
        test = sample + np.pi * (trial["test"] == "nonmatch")
        trial.show("stimulus", self.ring.cosine(angle=sample), during="sample", noise=self.sigma)
        trial.show("stimulus", self.ring.cosine(angle=test), during="test", noise=self.sigma)
        trial.answer("choose", _right(trial.conditions), during="decision")


def _right(conditions: Mapping[str, np.ndarray]) -> np.ndarray:
    """0 for a match, 1 for a non-match, (n,)."""
    return np.where(conditions["test"] == "match", 0, 1)
