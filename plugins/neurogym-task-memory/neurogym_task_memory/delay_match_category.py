"""Delayed match to category."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import Choice, InvalidValueError, Ring, Task, TrialBuilder


class DelayMatchCategory(Task):
    """Report whether a test direction belongs to the same category as a sample direction.

    Freedman & Assad (2006), Nature 443:85, doi:10.1038/nature05078.

    Directions of motion are divided into two categories, the two halves of the circle. A sample is
    shown and, after a delay, a test, both drawn independently. The fixation cue turns off when the
    test appears, and the subject reports a match (choice 0: same half) or a non-match (choice 1)
    during the test. Directions are equally spaced and lie half a step off the boundary, so none is
    on it. Each unit of the stimulus shows 0.5 + 0.5 cos(preferred - direction) with independent
    noise on every step. Durations, the number of directions and their distance from the boundary
    are the paper's.

    Performance is the fraction of correct answers; always the same choice earns 0.5, and so does
    the test alone. The default noise is far below the difference between two directions, so an
    ideal observer answers 100 % correctly; in monkeys, most errors occur next to the boundary.

    Deviations from the paper:

    - a non-match is reported by a separate choice (there, by holding on until a second test, which
      always matches);
    - the fixation cue turns off with the test;
    - motion is the noisy activity of direction-selective units, not dots.

    Args:
        directions: number of directions, even; half of them in each category.
        boundary: angle of the boundary between the categories, degrees.
        units: number of direction-selective units; with fewer than three, some directions of
            different categories look the same.
        sigma: SD of the noise of the stimuli, times sqrt(ms).
    """

    dt: float = 50  # ms: 650 ms is a whole number of these
    directions: int = 12
    boundary: float = 0.0
    units: int = 32
    sigma: float = 1.0

    timing = {"fixation": 500, "sample": 650, "delay": 1000, "test": 650}  # ms, as published
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}
    evidence_periods = ("test",)

    def define(self) -> None:
        if self.directions < 2 or self.directions % 2:
            raise InvalidValueError(
                f"DelayMatchCategory was given directions={self.directions}; give an even number,"
                " at least 2."
            )
        if self.units < 3:
            raise InvalidValueError(
                f"DelayMatchCategory was given units={self.units}; give at least 3: cosines of two"
                " opposite preferred directions cannot distinguish the two halves of the circle."
            )
        self.ring = Ring(self.units)
        self.observe(fixation=1, stimulus=self.ring)
        self.act(fixate=1, choose=("match", "nonmatch"))
        self.vary(sample=Choice(self.directions), test=Choice(self.directions))
        self.correct_choice(self._right)
        self.evidence(self._distance)

    def new_trial(self, trial: TrialBuilder) -> None:
        before = ("fixation", "sample", "delay")
        trial.periods(*before, "test")
        trial.show("fixation", 1, during=before)
        for period, direction in (("sample", trial["sample"]), ("test", trial["test"])):
            shown = self.ring.cosine(angle=self.angle(direction))
            trial.show("stimulus", shown, during=period, noise=self.sigma)
        trial.answer("choose", self._right(trial.conditions), during="test")

    def angle(self, direction: np.ndarray) -> np.ndarray:
        """Return the angle, in radians, of directions given by number, 0 to directions - 1."""
        return np.deg2rad(self.boundary) + (np.asarray(direction) + 0.5) * (
            2 * np.pi / self.directions
        )

    def _distance(self, conditions: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return the distance, in degrees, of the nearer direction from the boundary, (n,).

        Negative where they match.
        """
        step = 360 / self.directions
        from_boundary = [
            np.minimum(at, 180 - at)
            for at in ((conditions[name] + 0.5) * step % 180 for name in ("sample", "test"))
        ]
        return np.minimum(*from_boundary) * np.where(self._right(conditions) == 1, 1, -1)

    def _right(self, conditions: Mapping[str, np.ndarray]) -> np.ndarray:
        """0 where both lie in the same half of the circle, else 1, (n,)."""
        half = self.directions // 2
        same = (conditions["sample"] < half) == (conditions["test"] < half)
        return np.where(same, 0, 1)
