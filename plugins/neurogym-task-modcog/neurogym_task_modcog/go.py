"""Answers with the direction of one stimulus, or with the opposite one."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from neurogym_core import Choice, TrialBuilder
from neurogym_task_modcog.base import HALF, UNITS, Conditions, ModCog, Stimuli


class GoFamily(ModCog):
    """Answer with the direction of a stimulus, or with the opposite one."""

    anti: ClassVar[bool] = False
    shown: ClassVar[tuple[str, ...]] = ("stimulus", "delay", "decision")
    """Periods of the stimulus."""
    before: ClassVar[tuple[str, ...]] = ("fixation", "stimulus", "delay")

    timing = {"fixation": 500, "stimulus": 500, "decision": 500}  # ms

    def declare(self) -> None:
        self.vary(stimulus=Choice(UNITS), modality=Choice((1, 2)))

    def answer_of(self, conditions: Conditions) -> tuple[np.ndarray, np.ndarray]:
        stimulus = conditions["stimulus"]
        return (stimulus + HALF * self.anti) % UNITS, np.ones(np.shape(stimulus), bool)

    def stimuli(self, trial: TrialBuilder) -> Stimuli:
        on = [(m, (trial["modality"] == m) * 1.0) for m in (1, 2)]
        return [(self.shown, m, trial["stimulus"], strength) for m, strength in on]
