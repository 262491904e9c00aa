"""A perceptual decision reported after an unpredictable delay."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import Choice, Task, TrialBuilder

SIDES = ("left", "right")


class PerceptualDecisionMakingDelayResponse(Task):
    """Judge which of two noisy stimuli is stronger, and report it after a delay of random length.

    Inagaki, Fontolan, Romani & Svoboda (2019), Nature 566:212, doi:10.1038/s41586-019-0919-7.

    Two units, left and right, show (1 + c) / 2 and (1 - c) / 2, where c is the coherence as a
    fraction, with independent noise on every step. After an unpredictable delay the fixation cue
    turns off, and the subject reports the stronger side: choice 0 is left, choice 1 right.

    The noise is that of PostDecisionWager, which is calibrated to a monkey; there are no data of
    mice at these strengths. An observer that sums all the evidence is correct in 77.8, 93.8, 99.9
    and 100 % of trials at 6.4, 12.8, 25.6 and 51.2 %.

    Deviations from the paper:

    - noisy evidence of varying strength (there, easily distinguishable stimuli:
      ``coherences=(100,)``);
    - licking early costs `abort`, but does not pause the trial;
    - coherences, noise and the length of the response window are ours.

    Args:
        coherences: difference of the two sides, %.
        stimulus_scale: factor on the coherences.
        sigma: SD of the noise of the evidence, times sqrt(ms).
    """

    coherences: tuple[float, ...] = (0, 6.4, 12.8, 25.6, 51.2)
    stimulus_scale: float = 1.0
    sigma: float = 2.0

    timing = {
        "fixation": 0,
        "stimulus": 1150,
        "delay": [300, 500, 700, 900, 1200, 2000, 3200, 4000],
        "decision": 1500,
    }  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        self.observe(fixation=1, stimulus=SIDES)
        self.act(fixate=1, choose=SIDES)
        self.vary(side=Choice(SIDES), coherence=Choice(self.coherences))
        self.correct_choice(_index)

    def new_trial(self, trial: TrialBuilder) -> None:
        before = ("fixation", "stimulus", "delay")
        trial.periods(*before, "decision")
        trial.show("fixation", 1, during=before)
        right = trial.correct_choice
        sign = np.where(right[:, None] == np.arange(len(SIDES)), 1, -1)
        evidence = 0.5 + sign * self.stimulus_scale * trial["coherence"][:, None] / 200
        trial.show("stimulus", evidence, during="stimulus", noise=self.sigma)
        trial.answer("choose", right, during="decision")


def _index(conditions: Mapping[str, np.ndarray]) -> np.ndarray:
    """0 for left, 1 for right, (n,)."""
    return np.where(conditions["side"] == "left", 0, 1)
