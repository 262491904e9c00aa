"""A sample, a delay, and a test that stays: answer with its direction, or keep fixating."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from neurogym_core import Choice, TrialBuilder, Uniform
from neurogym_task_driscoll24.base import CIRCLE, Conditions, Driscoll24


class MatchFamily(Driscoll24):
    """Answer with the direction of a test, or keep fixating, as the sample says."""

    answers_match: ClassVar[bool] = True
    """Whether the subject answers after a match or after a non-match."""
    earns: ClassVar[str] = "Never answering earns 0.5, and guessing a direction 0.05."

    timing = {
        "context": Uniform(200, 600),
        "sample": Uniform(200, 1600),
        "memory": Uniform(200, 1600),
        "response": Uniform(300, 700),
    }  # ms
    evidence_periods = ("response",)
    go_cue = None

    def declare(self) -> None:
        modality = Choice((1, 2))
        self.vary(sample=Uniform(0, CIRCLE), sample_modality=modality, test_modality=modality)

    def matches(self, conditions: Conditions) -> np.ndarray:
        """Return whether sample and test match, bool (n,)."""
        raise NotImplementedError

    def test_of(self, conditions: Conditions) -> np.ndarray:
        """Return the direction of the test, (n,) radians."""
        raise NotImplementedError

    def direction_of(self, conditions: Conditions) -> tuple[np.ndarray, np.ndarray]:
        return self.test_of(conditions), self.matches(conditions) == self.answers_match

    def new_trial(self, trial: TrialBuilder) -> None:
        self.lay_out(trial, ("context", "sample", "memory"), cue_goes_off=False)
        self.show_direction(trial, trial["sample_modality"], trial["sample"], "sample")
        self.show_direction(trial, trial["test_modality"], self.test_of(trial), "response")
        trial.record(match=self.matches(trial))
        self.ask(trial)


class ReactMatch2Sample(MatchFamily):
    """Answer with the direction of the test if it is that of the sample; else keep fixating."""

    def declare(self) -> None:
        super().declare()
        self.vary(same=Choice((True, False)), separation=Uniform(np.pi / 9, 17 * np.pi / 9))

    def matches(self, conditions: Conditions) -> np.ndarray:
        return np.asarray(conditions["same"], bool)

    def test_of(self, conditions: Conditions) -> np.ndarray:
        apart = np.where(conditions["same"], 0.0, conditions["separation"])
        return np.asarray((conditions["sample"] + apart) % CIRCLE)


class ReactNonMatch2Sample(ReactMatch2Sample):
    """Answer with the direction of the test unless it is that of the sample; then fixate."""

    answers_match: ClassVar[bool] = False


class ReactCategoryPro(MatchFamily):
    """Answer with the direction of the test if it lies in the half circle of the sample."""

    def declare(self) -> None:
        super().declare()
        self.vary(test=Uniform(0, CIRCLE))

    def matches(self, conditions: Conditions) -> np.ndarray:
        return np.asarray((conditions["sample"] < np.pi) == (conditions["test"] < np.pi))

    def test_of(self, conditions: Conditions) -> np.ndarray:
        return np.asarray(conditions["test"])


class ReactCategoryAnti(ReactCategoryPro):
    """Answer with the direction of the test unless it lies in the half circle of the sample."""

    answers_match: ClassVar[bool] = False
