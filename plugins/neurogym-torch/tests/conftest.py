"""Tasks of the tests.

Without torch, which `make test` does not install, no test of this package is collected.
"""

from __future__ import annotations

import importlib.util
from types import SimpleNamespace

import numpy as np
import pytest
from small_tasks import Pulses, Waiting

from neurogym_core import Angle, Axis, Choice, Ring, Task, Uniform

if importlib.util.find_spec("torch") is None or importlib.util.find_spec("neurogym_torch") is None:
    collect_ignore_glob = ["test_*.py"]


class Sides(Task):
    """Noise on one channel only; durations vary, so that trials are padded."""

    sigma: float = 1.0
    timing = {"fixation": Uniform(100, 400), "stimulus": 500, "delay": 0, "decision": 200}
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self):
        self.observe(fixation=1, sides=2)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2), strength=Choice((0.2, 1.0)))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("fixation", "stimulus", "delay", "decision")
        trial.show("fixation", 1, during=("fixation", "stimulus"))
        evidence = np.eye(2)[trial["side"]] * trial["strength"][:, None]
        trial.show("sides", evidence, during="stimulus", noise=self.sigma)
        trial.answer("choose", trial["side"], during="decision")
        trial.loss_weight(0, during="decision", stop=100)


class Directions(Task):
    """Rings in and out."""

    timing = {"stimulus": 300, "decision": 200}

    def define(self):
        self.ring = Ring(8)
        self.observe(cue=self.ring)
        self.act(rest=1, choose=self.ring)
        self.vary(direction=Choice(8))
        self.correct_choice("direction")

    def new_trial(self, trial):
        trial.periods("stimulus", "decision")
        trial.show(
            "cue", self.ring.bump(trial["direction"]), during=("stimulus", "decision"), noise=0.1
        )
        trial.answer("choose", trial["direction"], during="decision")


class Position(Task):
    """Follow a ramp with the hand, continuously."""

    timing = {"wait": 200, "follow": 400}

    def define(self):
        self.observe(position=1)
        self.act(hand=Axis(-2.0, 2.0, rest=0.0))
        self.vary(slope=Uniform(-1.5, 1.5))

    def new_trial(self, trial):
        trial.periods("wait", "follow")
        ramp = trial["slope"][:, None, None] * np.linspace(0, 1, 4)[None, :, None]
        trial.show("position", trial["slope"][:, None], during="wait", noise=0.5)
        trial.timecourse("hand", ramp, during="follow")


class Pointer(Task):
    """Point in the direction of a stimulus."""

    timing = {"stimulus": 300, "decision": 200}

    def define(self):
        self.observe(point=("cos", "sin"))
        self.act(go=Axis(-1, 1, rest=-1, trigger=0), point=Angle())
        self.vary(direction=Uniform(0, 2 * np.pi))

    def new_trial(self, trial):
        trial.periods("stimulus", "decision")
        angle = trial["direction"]
        both = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        trial.show("point", both, during=("stimulus", "decision"))
        trial.answer("point", angle, during="decision", tolerance=0.3)


class Match(Task):
    """Compare two stimuli across a delay of ten steps."""

    timing = {"sample": 200, "delay": 1000, "test": 200, "decision": 200}

    def define(self):
        self.observe(fixation=1, stimulus=2)
        self.act(rest=1, choose=("match", "nonmatch"))
        self.vary(sample=Choice(2), test=Choice(2))
        self.correct_choice(lambda c: (c.sample != c.test).astype(int))

    def new_trial(self, trial):
        trial.periods("sample", "delay", "test", "decision")
        trial.show("fixation", 1, during=("sample", "delay", "test"))
        for period in ("sample", "test"):
            trial.show("stimulus", np.eye(2)[trial[period]], during=period, noise=0.3)
        trial.answer("choose", (trial["sample"] != trial["test"]).astype(int), during="decision")


class Cursor(Sides):
    """Shows observations that depend on the subject."""

    def step_target(self, now):
        return np.zeros(now.n, int)


@pytest.fixture(scope="session")
def tasks():
    """The classes of tasks by name."""
    return SimpleNamespace(
        Sides=Sides,
        Directions=Directions,
        Pulses=Pulses,
        Waiting=Waiting,
        Pointer=Pointer,
        Position=Position,
        Match=Match,
        Cursor=Cursor,
    )
