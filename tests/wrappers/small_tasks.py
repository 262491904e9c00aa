"""Small tasks of three kinds, for tests of wrappers."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from neurogym_core import Axis, Choice, Task, Uniform


class Choosing(Task):
    """Three choices, one correct; the first channel is a go cue."""

    timing: ClassVar = {"fixation": 100, "stimulus": 300, "decision": 200}

    def define(self):
        self.observe(fixation=1, stimulus=3)
        self.act(fixate=1, choose=3)
        self.vary(side=Choice(3), strength=Choice((1, 2, 3, 4)), answer="side")

    def new_trial(self, trial):
        trial.periods("fixation", "stimulus", "decision")
        trial.show("fixation", 1, during=("fixation", "stimulus"))
        trial.show(
            "stimulus", np.eye(3)[trial.side] * trial.strength[:, None], during="stimulus", noise=1
        )
        trial.answer("choose", trial.side, during="decision")


class Going(Task):
    """Go or withhold."""

    timing: ClassVar = {"fixation": 100, "stimulus": 200, "decision": 200}

    def define(self):
        self.observe(fixation=1, stimulus=2)
        self.act(fixate=1, go=1)
        self.vary(go=Choice(2), answer="go")

    def new_trial(self, trial):
        trial.periods("fixation", "stimulus", "decision")
        trial.show("fixation", 1, during=("fixation", "stimulus"))
        trial.show("stimulus", np.eye(2)[trial.go], during="stimulus")
        trial.answer("go", trial.go - 1, during="decision")


class Steering(Task):
    """Continuous: hold a value, scored on every step."""

    timing: ClassVar = {"hold": 300}

    def define(self):
        self.observe(wanted=1)
        self.act(value=Axis(-1, 1))
        self.vary(wanted=Uniform(-1, 1))

    def new_trial(self, trial):
        trial.periods("hold")
        trial.show("wanted", trial.wanted, during="hold")
        trial.answer("value", trial.wanted[:, None], during="hold", tolerance=0.1)
