"""Answers with the direction of the stronger of two successive stimuli."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from neurogym_core import Choice, InvalidValueError, TrialBuilder, Uniform
from neurogym_task_driscoll24.base import CIRCLE, Conditions, Driscoll24

FIRST_ALONE = """Guessing earns 0.1. An observer of all inputs who knows when the stimuli are
    shown earns 0.98 or more, and the first stimulus alone 0.94 ("stronger than 1?"): with the means
    of the paper the second one is hardly needed. With ``mean=(0.4, 1.6)`` the first stimulus alone
    earns 0.80."""


class IntegrationFamily(Driscoll24):
    """Answer with the direction of the stronger of two successive stimuli.

    Args:
        mean: bounds of the mean strength of both stimuli.
        largest: largest distance of the strengths from their mean; the smallest is 0.005.
    """

    mean: tuple[float, float] = (0.8, 1.2)
    largest: float = 0.8

    attends: ClassVar[str] = "1"
    """Relevant modality: "1" or "2" (the other one is empty), "1 of 2", "2 of 2", or "both"."""
    earns: ClassVar[str] = FIRST_ALONE

    timing = {
        "context": Uniform(200, 600),
        "stimulus1": Uniform(200, 1600),
        "memory1": Uniform(200, 1600),
        "stimulus2": Uniform(200, 1600),
        "memory2": Uniform(100, 300),
        "response": Uniform(300, 700),
    }  # ms

    def declare(self) -> None:
        if not (0 < self.mean[0] < self.mean[1] and self.largest > 0.005):
            raise InvalidValueError(
                f"{self.name} was given mean={self.mean!r} and largest={self.largest!r}; give"
                " positive bounds in ascending order, and a distance above 0.005."
            )
        sign, size, mean = Choice((1, -1)), Uniform(0.005, self.largest), Uniform(*self.mean)
        strengths = {"favours": sign, "coherence": size, "mean": mean}
        if self.attends.endswith(" of 2"):
            strengths |= {"other_favours": sign, "other_coherence": size, "other_mean": mean}
        elif self.attends == "both":
            for k in (1, 2):
                strengths |= {f"tilt_{k}": sign, f"imbalance_{k}": size}
        apart = Uniform(CIRCLE / 4, 3 * CIRCLE / 4)
        self.vary(stimulus_1=Uniform(0, CIRCLE), separation=apart, **strengths)

    def direction_of(self, conditions: Conditions) -> tuple[np.ndarray, np.ndarray]:
        first = conditions["stimulus_1"]
        second = first + conditions["separation"]
        return np.where(conditions["favours"] > 0, first, second), np.ones(np.shape(first), bool)

    def strength(self, trial: Conditions, modality: int, k: int) -> np.ndarray:
        """Return the strength of stimulus k, 1 or 2, in a modality, (n,)."""
        ignored = self.attends.endswith(" of 2") and self.attends[0] != str(modality)
        of, sign = "other_" if ignored else "", 3 - 2 * k
        both = trial[f"{of}mean"] + sign * trial[f"{of}favours"] * trial[f"{of}coherence"]
        if self.attends != "both":
            return both
        return both * (1 + (3 - 2 * modality) * trial[f"tilt_{k}"] * trial[f"imbalance_{k}"] / 2)

    def new_trial(self, trial: TrialBuilder) -> None:
        before = ("context", "stimulus1", "memory1", "stimulus2", "memory2")
        self.lay_out(trial, before, cue_goes_off=True)
        direction = {1: trial["stimulus_1"], 2: trial["stimulus_1"] + trial["separation"]}
        shown = (int(self.attends),) if self.attends in ("1", "2") else (1, 2)
        for modality in shown:
            for k in (1, 2):
                strength = self.strength(trial, modality, k)
                self.show_direction(trial, modality, direction[k], f"stimulus{k}", strength)
        self.ask(trial)
