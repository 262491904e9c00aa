"""Answers with the direction of the stronger of two stimuli."""

from __future__ import annotations

from itertools import product
from typing import ClassVar

import numpy as np

from neurogym_core import Choice, TrialBuilder, Uniform
from neurogym_task_modcog.base import UNITS, Conditions, ModCog, Stimuli


class TwoStimuli(ModCog):
    """Answer with the stronger of two stimuli, at once, or one after the other with `delayed`."""

    attends: ClassVar[str] = "1"
    """Relevant modality: "1" or "2" (the other one is empty), "1 of 2", "2 of 2", or "both"."""
    delayed: ClassVar[bool] = False
    before: ClassVar[tuple[str, ...]] = ("fixation", "stimulus")
    noisy: ClassVar[tuple[str, ...]] = ("stimulus",)

    timing = {"fixation": Uniform(200, 500), "stimulus": 500, "decision": 200}  # ms

    def declare(self) -> None:
        self.levels = np.array(self._levels())
        apart = Choice(tuple(range(1, UNITS)))
        self.vary(first=Choice(UNITS), apart=apart, strengths=Choice(len(self.levels)))

    def _levels(self) -> list[tuple[tuple[float, float], ...]]:
        """Equally likely strengths of both stimuli in both modalities, (rows, modality, stimulus).

        Multisensory trials whose sums are equal are left out: nothing would say which is right.
        """
        coherences = [sign * c / 2 for c in (0.08, 0.16, 0.32, 0.64) for sign in (1, -1)]
        one = [(0.5 + c, 0.5 - c) for c in coherences]
        if self.delayed:
            one = [pair for pair in product((0.3, 0.6, 1.0), repeat=2) if pair[0] != pair[1]]
        empty = [(0.0, 0.0)]
        in_1, in_2 = (empty if self.attends == other else one for other in ("2", "1"))
        rows = list(product(in_1, in_2))
        if self.attends != "both":
            return rows
        return [(a, b) for a, b in rows if abs(a[0] + b[0] - a[1] - b[1]) > 1e-9]

    def answer_of(self, conditions: Conditions) -> tuple[np.ndarray, np.ndarray]:
        strengths = self.levels[conditions["strengths"]]
        both = self.attends == "both"
        counts = strengths.sum(axis=1) if both else strengths[:, int(self.attends[0]) - 1]
        first = conditions["first"]
        second = (first + conditions["apart"]) % UNITS
        return np.where(counts[:, 0] > counts[:, 1], first, second), np.ones(np.shape(first), bool)

    def stimuli(self, trial: TrialBuilder) -> Stimuli:
        strengths = self.levels[trial["strengths"]]
        trial.record(strength=strengths.reshape(trial.n, 4))
        units = (trial["first"], (trial["first"] + trial["apart"]) % UNITS)
        periods = ("stimulus1", "stimulus2") if self.delayed else ("stimulus", "stimulus")
        return [(periods[k], m + 1, units[k], strengths[:, m, k]) for m in (0, 1) for k in (0, 1)]


class DelayedTwoStimuli(TwoStimuli):
    """Answer with the stronger of two successive stimuli."""

    delayed: ClassVar[bool] = True
    before: ClassVar[tuple[str, ...]] = ("fixation", "stimulus1", "delay", "stimulus2")
    noisy: ClassVar[tuple[str, ...]] = ("stimulus1", "stimulus2")

    timing = {
        "fixation": Uniform(200, 500),
        "stimulus1": 500,
        "stimulus2": 500,
        "decision": 200,
    }  # ms
