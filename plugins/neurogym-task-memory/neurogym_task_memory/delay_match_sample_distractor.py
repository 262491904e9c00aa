"""Delayed match to sample with distractors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from neurogym_core import Choice, InvalidValueError, Ring, Task, TrialBuilder, Uniform

TESTS = 3
"""Number of tests that follow the sample."""


class DelayMatchSampleDistractor1D(Task):
    """Respond when the test matches the sample, and ignore distractors.

    Miller, Erickson & Desimone (1996), J. Neurosci. 16:5154,
    doi:10.1523/JNEUROSCI.16-16-05154.1996.

    A sample direction is shown, followed by three tests, each after a delay. One of them is the
    sample direction. The subject goes during the matching test and rests otherwise: going at any
    other time after the sample is an error and ends the trial, and going before the sample's end
    costs `abort` per 100 ms. The match itself is the signal to respond; the fixation cue turns off
    after the sample. Units show cos(preferred - direction), without noise.

    Performance is the fraction of trials in which the subject goes during the match. Resting earns
    0, going at any of the three tests, always the same one, a third. One of the tests is the match,
    so two tests say what the third is: a classifier that leaves out one test, and decides when all
    are over, earns 0.84 to 0.87.

    Deviations from the paper:

    - the match is equally likely to be each of three tests (there, up to five, with repeated
      distractors);
    - a trial continues with the remaining tests after a missed match;
    - directions instead of pictures: distractors are at least `least_distance` from the sample;
    - sample, delays and tests last 500, 1,000 and 500 ms, as there; the fixation of 300 ms is
      NeuroGym's, and a response has to come before the test ends.

    The condition `sample` is in radians, `away` holds the distance of each test from the sample if
    it were a distractor, radians, (n, 3); `match` is the number of the matching test, 1 to 3.

    Args:
        units: number of direction-selective units.
        least_distance: smallest distance of a distractor from the sample, degrees.
    """

    units: int = 32
    least_distance: float = (
        30  # ours: without it some distractors would be indistinguishable from the sample
    )

    timing = {
        "fixation": 300,
        "sample": 500,
        "delay1": 1000,
        "test1": 500,
        "delay2": 1000,
        "test2": 500,
        "delay3": 1000,
        "test3": 500,
    }  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": -1.0}
    evidence_periods = ("test1", "test2", "test3")

    def define(self) -> None:
        if not 0 < self.least_distance < 180:
            raise InvalidValueError(
                f"DelayMatchSampleDistractor1D was given least_distance={self.least_distance:g};"
                " give a number of degrees above 0 and below 180."
            )
        self.ring = Ring(self.units)
        self.observe(fixation=1, stimulus=self.ring)
        self.act(fixate=1, go=1)
        self.vary(sample=Uniform(0, 2 * np.pi), match=Choice((1, 2, 3)), away=self._distances())

    def _distances(self) -> Callable:
        """Return the sampler of distances between distractors and sample, radians, (n, 3)."""
        least = np.deg2rad(self.least_distance)
        return lambda rng, prior: rng.uniform(least, 2 * np.pi - least, (prior.n, TESTS))

    def new_trial(self, trial: TrialBuilder) -> None:
        tests = [f"test{k}" for k in range(1, TESTS + 1)]
        asked = [name for k in range(1, TESTS + 1) for name in (f"delay{k}", f"test{k}")]
        trial.periods("fixation", "sample", *asked)
        trial.show("fixation", 1, during=("fixation", "sample"))
        trial.show("stimulus", self._shown(trial["sample"]), during="sample")
        # Resting is correct except during the match; all tests form one answer slot.
        matches = {test: trial["match"] == k for k, test in enumerate(tests, start=1)}
        trial.answer("go", -1, during=[name for name in asked if name not in tests])
        for k, (test, match) in enumerate(matches.items()):
            trial.show(
                "stimulus",
                self._shown(trial["sample"] + np.where(match, 0.0, trial["away"][:, k])),
                during=test,
            )
            trial.answer("go", -1, during=test, where=~match)
        for test, match in matches.items():
            trial.answer("go", 0, during=test, where=match)

    def _shown(self, angle: np.ndarray) -> np.ndarray:
        return self.ring.cosine(angle=angle, strength=1.0, baseline=0.0)
