"""Answers with the direction of one stimulus, or with the opposite one."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from neurogym_core import Choice, TrialBuilder, Uniform
from neurogym_task_driscoll24.base import CIRCLE, Conditions, Driscoll24


def look_earns(share: float) -> str:
    """Return the sentence of a page about guesses, and about a look of 100 ms at the stimulus."""
    return f"""Guessing, or always the same direction, earns 0.1, and a look of 100 ms at the
    stimulus {share:.2f}."""


class GoFamily(Driscoll24):
    """Answer with the direction of a stimulus, or with the opposite one."""

    anti: ClassVar[bool] = False

    def declare(self) -> None:
        self.vary(stimulus=Uniform(0, CIRCLE), modality=Choice((1, 2)))

    def direction_of(self, conditions: Conditions) -> tuple[np.ndarray, np.ndarray]:
        stimulus = conditions["stimulus"]
        return stimulus + np.pi * self.anti, np.ones(np.shape(stimulus), bool)


class DelayPro(GoFamily):
    """Answer with the direction of a stimulus, which stays, when the fixation cue turns off."""

    earns = look_earns(0.66)

    timing = {
        "context": Uniform(300, 700),
        "stimulus": Uniform(200, 1500),
        "response": Uniform(300, 700),
    }  # ms

    def new_trial(self, trial: TrialBuilder) -> None:
        self.lay_out(trial, ("context", "stimulus"), cue_goes_off=True)
        during = ("stimulus", "response")
        self.show_direction(trial, trial["modality"], trial["stimulus"], during)
        self.ask(trial)


class DelayAnti(DelayPro):
    """Answer with the direction opposite to a stimulus when the fixation cue turns off."""

    anti: ClassVar[bool] = True


class ReactPro(GoFamily):
    """Answer with the direction of a stimulus as soon as it appears."""

    timing = {"context": Uniform(500, 2500), "response": Uniform(300, 1700)}  # ms
    evidence_periods = ("response",)
    go_cue = None

    def new_trial(self, trial: TrialBuilder) -> None:
        self.lay_out(trial, ("context",), cue_goes_off=False)
        self.show_direction(trial, trial["modality"], trial["stimulus"], "response")
        self.ask(trial)


class ReactAnti(ReactPro):
    """Answer with the direction opposite to a stimulus as soon as it appears."""

    anti: ClassVar[bool] = True


class MemoryPro(GoFamily):
    """Answer with the remembered direction of a stimulus when the fixation cue turns off."""

    earns = look_earns(0.56)

    timing = {
        "context": Uniform(300, 700),
        "stimulus": Uniform(200, 1600),
        "memory": Uniform(200, 1600),
        "response": Uniform(300, 700),
    }  # ms

    def new_trial(self, trial: TrialBuilder) -> None:
        self.lay_out(trial, ("context", "stimulus", "memory"), cue_goes_off=True)
        self.show_direction(trial, trial["modality"], trial["stimulus"], "stimulus")
        self.ask(trial)


class MemoryAnti(MemoryPro):
    """Answer with the direction opposite to a remembered stimulus when the cue turns off."""

    anti: ClassVar[bool] = True
