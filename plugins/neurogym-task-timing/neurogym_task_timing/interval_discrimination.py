"""Comparison of two durations."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations

import numpy as np

from neurogym_core import Choice, OneHot, Task, TrialBuilder, Uniform
from neurogym_core.errors import InvalidValueError

COLOURS = ("red", "blue")
SIDES = ("left", "right")


class IntervalDiscrimination(Task):
    """Choose the one of two successive stimuli, red and blue, that lasted longer.

    Genovesio, Tsujimoto & Wise (2009), Neuron 63:254, doi:10.1016/j.neuron.2009.06.018.

    The subject fixates. A red and a blue stimulus appear one after the other, in either order,
    separated by a delay. Their durations are drawn from 200 to 1200 ms in steps of 200 ms, and
    always differ. After a second delay, which may be 0, the fixation cue turns off and both stimuli
    reappear, one on the left and the other on the right. The subject chooses the side of the
    stimulus that lasted longer. Because the side is unknown before, it has to remember the colour
    of that stimulus. The condition `durations` holds the two durations in the order of
    presentation, ms.

    Deviations from the paper:

    - the response window is ours;
    - all trials have a first delay of 400 or 800 ms (there, also 1200 ms in some sessions).

    Args:
        lengths: possible durations of a stimulus, ms.
    """

    lengths: tuple[float, ...] = (200, 400, 600, 800, 1000, 1200)

    timing = {
        "fixation": Uniform(400, 800),
        "delay1": [400, 800],
        "delay2": [0, 400, 800],
        "decision": 500,
    }  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}
    evidence_periods = ("second",)

    def define(self) -> None:
        steps = np.maximum(np.floor(np.asarray(self.lengths, float) / self.dt + 0.5 + 1e-9), 1)
        if len(self.lengths) < 2 or len(np.unique(steps)) < len(self.lengths):
            raise InvalidValueError(
                f"IntervalDiscrimination was given lengths={self.lengths!r} ms at dt={self.dt:g}"
                " ms; give at least two that differ by a step or more, or a smaller dt."
            )
        self.colour = OneHot(len(COLOURS))
        self.observe(fixation=1, stimulus=self.colour, left=self.colour, right=self.colour)
        self.act(fixate=1, choose=len(SIDES))
        pairs = tuple(permutations(self.lengths, 2))
        self.vary(
            durations=Choice(pairs),
            first_colour=Choice(COLOURS),
            red_side=Choice(SIDES),
            answer=self._right_side,
            evidence=lambda known: (
                np.ptp(known["durations"], axis=1) * (2 * self._right_side(known) - 1)
            ),
        )

    def new_trial(self, trial: TrialBuilder) -> None:
        before = ("fixation", "first", "delay1", "second", "delay2")
        trial.periods(
            *before, "decision", first=trial.durations[:, 0], second=trial.durations[:, 1]
        )
        trial.show("fixation", 1, during=before)
        blue_first = (trial.first_colour == "blue").astype(int)
        trial.show("stimulus", self.colour.encode(blue_first), during="first")
        trial.show("stimulus", self.colour.encode(1 - blue_first), during="second")
        red_right = (trial.red_side == "right").astype(int)
        trial.show("left", self.colour.encode(red_right), during="decision")
        trial.show("right", self.colour.encode(1 - red_right), during="decision")
        played = np.stack([trial.duration("first"), trial.duration("second")], axis=1)
        trial.answer(
            "choose", self._right_side({**trial.conditions, "durations": played}), during="decision"
        )

    def _right_side(self, conditions: Mapping[str, np.ndarray]) -> np.ndarray:
        """Index of the side of the stimulus that lasted longer, (n,)."""
        first_longer = conditions["durations"][:, 0] > conditions["durations"][:, 1]
        red_longer = first_longer == (conditions["first_colour"] == "red")
        return (red_longer == (conditions["red_side"] == "right")).astype(int)
