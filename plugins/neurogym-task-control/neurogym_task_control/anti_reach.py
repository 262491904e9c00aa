"""Anti-reach: movements away from a stimulus."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import Choice, InvalidValueError, Ring, Task, TrialBuilder


class AntiReach(Task):
    """Move to the side opposite of a stimulus, or to the stimulus.

    Munoz & Everling (2004), Nat. Rev. Neurosci. 5:218, doi:10.1038/nrn1345.

    The subject fixates while a stimulus appears at one of several directions; the units of a ring
    show cos(preferred - direction). When the fixation cue turns off, the subject moves: in the
    opposite direction (``anti=True``), which requires suppressing the reflexive movement to the
    stimulus, or to the stimulus itself (``anti=False``). Exactly one direction is correct. The
    condition `direction` is the index of the direction of the stimulus, and choice k of `reach`
    moves in the direction k, counted from 0 degrees in steps of 360 / directions. Performance is
    the fraction of correct movements; always the same movement earns 1 / directions.

    Deviations from the paper:

    - stimuli lie on the whole circle (there, to the left and to the right);
    - pro and anti trials are two tasks (there, an instruction distinguishes them from trial to
      trial);
    - the subject waits for the end of the fixation cue, 500 ms after the stimulus appears (there,
      it moves as soon as the stimulus appears, often 200 ms after the fixation point has gone).

    Args:
        anti: whether the opposite direction is correct.
        directions: number of equally spaced directions; even, so that each has an opposite one.
    """

    anti: bool = True
    directions: int = 32

    timing = {"fixation": 500, "stimulus": 500, "delay": 0, "decision": 500}  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        if self.anti and self.directions % 2:
            raise InvalidValueError(
                f"AntiReach was given directions={self.directions}; give an even number, because"
                " each direction needs an opposite one."
            )
        self.ring = Ring(self.directions)
        self.observe(fixation=1, stimulus=self.ring)
        self.act(fixate=1, reach=self.ring)
        self.vary(direction=Choice(self.directions))
        self.correct_choice(self._goal)

    def _goal(self, conditions: Mapping[str, np.ndarray]) -> np.ndarray:
        """Index of the correct direction, (n,)."""
        turn = self.directions // 2 if self.anti else 0
        return (conditions["direction"] + turn) % self.directions

    def new_trial(self, trial: TrialBuilder) -> None:
        before = ("fixation", "stimulus", "delay")
        trial.periods(*before, "decision")
        trial.show("fixation", 1, during=before)
        trial.show(
            "stimulus",
            self.ring.cosine(trial["direction"], strength=1, baseline=0),
            during="stimulus",
        )
        trial.answer("reach", self._goal(trial.conditions), during="decision")
