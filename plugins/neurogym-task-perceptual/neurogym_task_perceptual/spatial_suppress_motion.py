"""Probabilities of direction reports under spatial suppression."""

from __future__ import annotations

import numpy as np

from neurogym_core import Axis, Choice, Task, TrialBuilder

DIRECTIONS = 4
SIZES = 8
"""Number of sizes that the stimulus units code, from small to large."""


class SpatialSuppressMotion(Task):
    """Predict the probability with which people report each direction of a brief grating.

    Tadin, Lappin, Gilroy & Blake (2003), Nature 424:312, doi:10.1038/nature01800.

    A grating with a size and a contrast drifts in one of four directions. The longer its exposure,
    the more often people report its direction. At high contrast a larger grating is harder (spatial
    suppression), at low contrast a larger one is easier (summation). The subject sees 4 x 8 units:
    units of a direction show contrast / 2 * (1 + cos(preferred - direction)) at every size up to
    the grating's. Its action is four numbers from 0 to 1, one for each direction: the probability
    that an observer of the grating up to that time reports it. Number k belongs to direction 90 k
    degrees (0 to the right, 1 up), as do units 8 k to 8 k + 7, from small to large. The reward is
    minus the mean squared error, per 100 ms, times `correct`. The grating is shown for 20 to 120
    ms, and a trial is correct, and pays `correct`, if the last output, when it ends, is within
    `tolerance` of the target (Euclidean distance). At these exposures reports depend on size and
    contrast: a subject that reports the shown direction with certainty is correct in 33 % of
    trials, and one that knows direction and exposure but neither size nor contrast in 54 %. Earlier
    outputs count for the reward only: the right last output, given from the first step on, would
    earn a performance of 1, but the exposure is unknown until the grating ends. The units have no
    noise; that of the observer is in the probabilities.

    Report probabilities follow a Weibull function of exposure: for the displayed direction they are
    1 - 3/4 (1/3) ^ ((t / threshold) ^ slope) after t ms, which is chance (1/4) at the onset and 3/4
    at the threshold; the other directions share the rest equally. Between the smallest and the
    largest grating the logarithm of the threshold is proportional to that of the size.

    Deviations from the paper:

    - thresholds have the paper's pattern, but are round numbers of our choice, as is the slope;
    - four directions (there, two), and errors are shared equally by the other three;
    - the exposures are ours (there, they are adjusted to the observer's threshold);
    - the size of a grating is 1 to 8 without a unit.

    Args:
        sizes: sizes of gratings, 1 to 8.
        low, high: the two contrasts, 0 to 1.
        low_thresholds: thresholds at low contrast, for the smallest and the largest size, ms.
        high_thresholds: the same at high contrast.
        slope: slope of the Weibull functions.
        tolerance: largest distance of the last output that is correct.
    """

    dt: float = 10
    sizes: tuple[int, ...] = (1, 8)
    low: float = 0.05
    high: float = 0.99
    low_thresholds: tuple[float, float] = (120, 40)
    high_thresholds: tuple[float, float] = (30, 120)
    slope: float = 2.0
    tolerance: float = 0.1

    timing = {"stimulus": [20, 40, 60, 80, 100, 120]}  # ms
    rewards = {"abort": 0.0}

    def define(self) -> None:
        directions = ("right", "up", "left", "down")
        self.observe(stimulus=[f"{one} {k + 1}" for one in directions for k in range(SIZES)])
        self.act(report=Axis(0, 1, rest=1 / DIRECTIONS, size=DIRECTIONS))
        self.vary(
            direction=Choice(DIRECTIONS),
            size=Choice(self.sizes),
            contrast=Choice((self.low, self.high)),
        )

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("stimulus")
        trial.show("stimulus", self._seen(trial), during="stimulus")
        steps = round(float(trial.duration("stimulus").max()) / trial.dt)
        # Targets are the reports of a grating shown until the end of the step.
        probabilities = self._reports(trial, (np.arange(steps) + 1) * trial.dt)
        trial.timecourse("report", probabilities, during="stimulus")
        last = np.rint(trial.duration("stimulus") / trial.dt).astype(int) - 1
        at_end = probabilities[np.arange(trial.n), last]
        trial.answer("report", at_end, during="stimulus", tolerance=self.tolerance)

    def _seen(self, trial: TrialBuilder) -> np.ndarray:
        """Activity of the units, (n, 4 * 8)."""
        angles = 2 * np.pi * np.arange(DIRECTIONS) / DIRECTIONS
        tuned = 1 + np.cos(angles - angles[trial["direction"]][:, None])
        covered = np.arange(SIZES) < trial["size"][:, None]
        return (
            trial["contrast"][:, None, None] / 2 * tuned[:, :, None] * covered[:, None]
        ).reshape(trial.n, -1)

    def _reports(self, trial: TrialBuilder, exposure: np.ndarray) -> np.ndarray:
        """Report probabilities of every direction after each exposure in ms, (n, steps, 4)."""
        threshold = self.threshold(trial["size"], trial["contrast"])
        right = 1 - 0.75 * (1 / 3) ** ((exposure / threshold[:, None]) ** self.slope)
        wrong = (1 - right) / (DIRECTIONS - 1)
        shown = trial["direction"][:, None] == np.arange(DIRECTIONS)
        return np.where(shown[:, None], right[:, :, None], wrong[:, :, None])

    def threshold(self, size: np.ndarray, contrast: np.ndarray) -> np.ndarray:
        """Return the exposure at which three of four reports are correct, ms, (n,)."""
        is_high = np.abs(np.asarray(contrast) - self.high) < np.abs(np.asarray(contrast) - self.low)
        small, large = (
            np.where(is_high, self.high_thresholds[k], self.low_thresholds[k]) for k in (0, 1)
        )
        return small * (large / small) ** (np.log(size) / np.log(SIZES))
