"""Answers with the direction of a test, as a sample says."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from neurogym_core import Choice, TrialBuilder, Uniform
from neurogym_task_modcog.base import HALF, UNITS, Conditions, ModCog, Stimuli


class MatchFamily(ModCog):
    """Answer with the direction of a test, or keep fixating, as the sample says."""

    answers_match: ClassVar[bool] = True
    categories: ClassVar[bool] = False
    before: ClassVar[tuple[str, ...]] = ("fixation", "sample", "delay", "test")
    noisy: ClassVar[tuple[str, ...]] = ("sample", "test")
    noisy_rings: ClassVar[bool] = True

    delay: ClassVar[Any] = Uniform(200, 1200)

    timing = {"fixation": 300, "sample": 500, "test": 500, "decision": 900}  # ms

    def declare(self) -> None:
        self.vary(sample=Choice(UNITS), match=Choice((True, False)), modality=Choice((1, 2)))
        if self.categories:
            self.vary(place=Choice(HALF))

    def test_of(self, conditions: Conditions) -> np.ndarray:
        """Return the unit of the test, (n,)."""
        other = HALF * ~np.asarray(conditions["match"], bool)
        if self.categories:
            half = (conditions["sample"] // HALF * HALF + other) % UNITS
            return np.asarray(half + conditions["place"])
        return np.asarray((conditions["sample"] + other) % UNITS)

    def answer_of(self, conditions: Conditions) -> tuple[np.ndarray, np.ndarray]:
        match = np.asarray(conditions["match"], bool)
        return self.test_of(conditions), match == self.answers_match

    def stimuli(self, trial: TrialBuilder) -> Stimuli:
        shown = {"sample": trial["sample"], "test": self.test_of(trial)}
        on = [(m, (trial["modality"] == m) * 1.0) for m in (1, 2)]
        return [(name, m, unit, strength) for name, unit in shown.items() for m, strength in on]
