"""Delayed paired association of odours."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import Choice, OneHot, Task, TrialBuilder, TruncatedExponential

GO_PAIRS = ((1, 3), (2, 4))
"""First and second odour of the pairs."""


class DelayPairedAssociation(Task):
    """Go if the second odour is paired with the first, withhold otherwise.

    Zhang, Yan, Wang, et al. (2019), eLife 8:e43191, doi:10.7554/eLife.43191.

    The first odour is 1 or 2; after a delay the second is 3 or 4; after another delay the fixation
    cue turns off. The subject goes (licks) if the odours are paired, 1 with 3 or 2 with 4, and
    withholds otherwise. Correct withholding is rewarded like correct going, and going after a wrong
    pair costs as much as going after a right pair pays. Performance is the fraction of correct
    trials: never going earns 0.5, and so does either odour alone.

    Deviations from the paper:

    - correct withholding is rewarded, at the end of the response window, and a false alarm costs
      `error`, -1 (there, mice got water for correct licks only; in that laboratory's later protocol
      of the task, false alarms, too, have no consequence); set ``rewards={"error": 0}`` for that;
    - the delay between the odours is 1 s (there, several seconds). Odours of 1 s, 1 s from the
      second odour to the response window, and 0.5 s of it are the laboratory's.

    Args:
        sigma: SD of the noise on the odour channels while an odour is presented, times sqrt(ms).
    """

    sigma: float = 0.0

    timing = {
        "fixation": 0,
        "stimulus1": 1000,
        "delay1": 1000,
        "stimulus2": 1000,
        "delay2": 1000,
        "decision": 500,
    }  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": -1.0, "miss": 0.0}
    evidence_periods = ("stimulus2",)

    def define(self) -> None:
        self.odours = OneHot(4)
        self.observe(fixation=1, odour=self.odours.named("1234"))
        self.act(fixate=1, go=1)
        self.vary(first=Choice((1, 2)), second=Choice((3, 4)))
        self.correct_choice(_right)

    def new_trial(self, trial: TrialBuilder) -> None:
        before = ("fixation", "stimulus1", "delay1", "stimulus2", "delay2")
        trial.periods(*before, "decision")
        trial.show("fixation", 1, during=before)
        for period, odour in (("stimulus1", trial["first"]), ("stimulus2", trial["second"])):
            trial.show("odour", self.odours.encode(odour - 1), during=period, noise=self.sigma)
        trial.answer("go", _right(trial.conditions), during="decision")


class JitteredPairedAssociation(DelayPairedAssociation):
    """Delayed paired association with durations of random length and noisy odours.

    The task of Zhang, Yan, Wang, et al. (2019), eLife 8:e43191, doi:10.7554/eLife.43191, in a
    version that cannot easily be solved by counting steps: all durations except the response window
    are truncated exponentials around those of DelayPairedAssociation, and the odour channels are
    noisy, far below the difference between odours: an ideal observer answers 100 % correctly.

    Deviations from the paper: those of DelayPairedAssociation; the ranges of the durations and the
    noise are ours.

    Args:
        sigma: SD of the noise on the odour channels while an odour is presented, times sqrt(ms).
    """

    sigma: float = 1.0

    timing = {
        "fixation": TruncatedExponential(500, 200, 800),
        "stimulus1": TruncatedExponential(1000, 500, 1500),
        "delay1": TruncatedExponential(1000, 500, 1500),
        "stimulus2": TruncatedExponential(1000, 500, 1500),
        "delay2": TruncatedExponential(1000, 500, 1500),
    }


def _right(conditions: Mapping[str, np.ndarray]) -> np.ndarray:
    """0 (go) where the odours are paired, -1 (rest) otherwise, (n,)."""
    paired = [(conditions["first"] == a) & (conditions["second"] == b) for a, b in GO_PAIRS]
    return np.where(np.any(paired, axis=0), 0, -1)
