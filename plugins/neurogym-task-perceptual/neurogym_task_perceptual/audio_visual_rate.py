"""Discrimination of the rate of flashes and clicks."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import Choice, InvalidValueError, Task, TrialBuilder

MODALITIES = ("visual", "auditory", "both")


class AudioVisualRateDiscrimination(Task):
    """Report whether visual, auditory or multisensory events occur at a high or a low rate.

    Raposo, Kaufman & Churchland (2014), Nat. Neurosci. 17:1784, doi:10.1038/nn.3865.

    A trial is visual, auditory or both, at random. The rate is a whole number from 9 to 16 events
    per second, and the same for both modalities; the boundary is 12.5. Each modality has two units:
    one shows baseline + (1 - baseline) x, the other baseline + (1 - baseline)(1 - x), where x
    ranges from 0 at the lowest rate to 1 at the highest, with independent noise on every step; an
    absent modality shows only noise. When the fixation cue turns off, the subject reports low
    (choice 0) or high (choice 1).

    The noise is calibrated to the networks that Song, Yang & Wang (2017), eLife 6:e21492,
    doi:10.7554/eLife.21492, trained on this task: cumulative Gaussians fitted to their choices have
    SDs of 2.08 to 2.28 events per second with one modality and of 1.45 to 1.58 with both. Those of
    an observer that sums all the evidence are 2.1 and 1.5, and it is correct in 80 % of trials with
    one modality and in 86 % with both.

    Deviations from the paper:

    - a rate is a steady activity, not a train of events;
    - the two modalities are never in conflict, and equally reliable;
    - rewards and all durations except that of the stimulus are ours.

    Args:
        rates: event rates, events per second.
        boundary: higher rates are high, events per second.
        baseline: smallest activity of a modality that is shown.
        sigma: SD of the noise, times sqrt(ms).
    """

    rates: tuple[float, ...] = (9, 10, 11, 12, 13, 14, 15, 16)
    boundary: float = 12.5
    baseline: float = 0.2
    sigma: float = 10.7

    timing = {"fixation": 300, "stimulus": 1000, "decision": 300}  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        if self.boundary in self.rates or not min(self.rates) < self.boundary < max(self.rates):
            raise InvalidValueError(
                f"AudioVisualRateDiscrimination was given boundary={self.boundary:g} and"
                f" rates={self.rates!r}; give a boundary between the rates that is none of them."
            )
        self.observe(fixation=1, visual=("high", "low"), auditory=("high", "low"))
        self.act(fixate=1, choose=("low", "high"))
        self.vary(modality=Choice(MODALITIES), rate=Choice(self.rates))
        self.correct_choice(self._right)
        self.evidence(lambda known: known["rate"] - self.boundary)

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("fixation", "stimulus", "decision")
        trial.show("fixation", 1, during=("fixation", "stimulus"))
        lowest, highest = min(self.rates), max(self.rates)
        x = (trial["rate"] - lowest) / (highest - lowest)
        activity = self.baseline + (1 - self.baseline) * np.stack([x, 1 - x], axis=1)
        for channel in ("visual", "auditory"):
            there = (trial["modality"] == channel) | (trial["modality"] == "both")
            trial.show(channel, activity, during="stimulus", where=there)
            trial.show(channel, 0, during="stimulus", noise=self.sigma)
        trial.answer("choose", self._right(trial.conditions), during="decision")

    def _right(self, conditions: Mapping[str, np.ndarray]) -> np.ndarray:
        """0 for low, 1 for high, (n,)."""
        return (conditions["rate"] > self.boundary).astype(int)
