"""Towers on two sides of a corridor."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from neurogym_core import Choice, InvalidValueError, Task, TrialBuilder
from neurogym_task_perceptual.towers import PASSING, PLACES, SIDES, seen_towers, surplus_of


class AccumulatingTowers(Task):
    """Turn to the side on which there were more towers along the corridor.

    Pinto, Koay, Engelhard, Yoon, Deverett, Thiberge, Witten, Tank & Brody (2018), Front. Behav.
    Neurosci. 12:36, doi:10.3389/fnbeh.2018.00036.

    The subject runs down a corridor at 60 cm/s, so that places are times. On both walls of the
    first 2 m there are towers, many on one side and few on the other: their numbers have Poisson
    distributions with means of 7.7 and 2.3, and their places are any of 16 that are 12 cm apart. A
    tower is seen for 200 ms as the subject passes it. After another metre, without towers, the
    subject turns left or right, and is right on the side with more towers; numbers are never equal.

    A tower is seen on the wrong side with a probability of `misplaced`, as noise in the eye.
    Performance is the fraction of right turns. The ideal observer compares the numbers of towers
    that it sees on both sides, and earns 0.703. Always the same side earns 0.5. Any part of the
    towers comes half of the way or more, since more of all parts are on the right side, as in the
    paper: those of one wall earn 0.65, those of the first or of the last third of the walls 0.63
    and 0.61, and those of the last place with any 0.60. Without noise, ``misplaced=0``, the last
    place alone earns 0.85 of 1; so the noise is part of the task.

    The conditions `left` and `right` hold whether there is a tower at each place, (n, 16), and the
    record has the differences of their numbers as `surplus`, right minus left.

    Deviations from the paper:

    - the speed is fixed, and there is no view but for the towers;
    - the means, and whether they are per trial or per metre, the lengths and the largest numbers
      are not compared with the paper; the noise is ours;
    - the places are a grid, and errors cost no time.

    Args:
        rich, poor: mean numbers of towers on the two sides.
        misplaced: probability that a tower is seen on the wrong side, 0 to 0.5.
    """

    rich: float = 7.7
    poor: float = 2.3
    misplaced: float = 0.35

    timing = {"start": 500, "towers": PLACES * PASSING, "delay": 1700, "turn": 1000}  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}
    go_cue = "corridor"
    evidence_periods = ("towers",)

    def define(self) -> None:
        possible = 0 < self.poor <= self.rich <= PLACES / 2 and 0 <= self.misplaced < 0.5
        if not possible or self.dt > PASSING:
            raise InvalidValueError(
                f"{self.name} was given poor={self.poor:g}, rich={self.rich:g},"
                f" misplaced={self.misplaced:g} and dt={self.dt:g}; give 0 < poor <= rich <="
                f" {PLACES // 2}, misplaced from 0 to less than 0.5, and steps of up to"
                f" {PASSING:g} ms."
            )
        self.declare_interface()
        swapped = {
            f"{side}_misplaced": lambda rng, prior: rng.random((prior.n, PLACES)) < self.misplaced
            for side in SIDES
        }
        towers = {side: partial(self._towers, side) for side in SIDES}
        self.vary(more=Choice(SIDES), **towers, **swapped)
        self.correct_choice(lambda drawn: (surplus_of(drawn) > 0) * 1)
        self.evidence(surplus_of)

    def declare_interface(self) -> None:
        """Declare channels and actions."""
        self.observe(corridor=1, tower=SIDES)
        self.act(run=1, turn=SIDES)

    def _towers(self, side: str, rng: np.random.Generator, prior: Mapping) -> np.ndarray:
        """Draw whether there is a tower at each place of a side, (n, places)."""
        mean = np.where(prior["more"] == side, self.rich, self.poor)
        other = prior["left"].sum(axis=1) if side == "right" else np.full(len(mean), -1)
        number = rng.poisson(mean)
        while (again := (number > PLACES) | (number == other)).any():
            number[again] = rng.poisson(mean[again])
        rank = rng.random((len(mean), PLACES)).argsort(axis=1).argsort(axis=1)
        return (rank < number[:, None]) * 1

    def new_trial(self, trial: TrialBuilder) -> None:
        before = ("start", "towers", "delay")
        trial.periods(*before, "turn")
        trial.show("corridor", 1, during=before)
        trial.record("more", surplus=surplus_of(trial.conditions))
        seen = seen_towers(trial)
        for place in range(PLACES):
            at = place * PASSING
            trial.show("tower", seen[:, place], "towers", start=at, stop=at + PASSING)
        trial.answer("turn", trial.correct_choice, during="turn")
