"""Tasks of the tests.

Without JAX, which `make test` does not install, no test of this package is collected.
"""

from __future__ import annotations

import importlib.util
from types import SimpleNamespace

import numpy as np
import pytest
from small_tasks import Pulses, Waiting

from neurogym_core import Angle, Axis, Choice, PowerLaw, Task, Uniform

if importlib.util.find_spec("jax") is None or importlib.util.find_spec("neurogym_jax") is None:
    collect_ignore_glob = ["test_*.py"]


class Sides(Task):
    """Noise on one channel only; all types of trials can be enumerated."""

    sigma: float = 1.0
    timing = {"fixation": 200, "stimulus": 500, "decision": 200}
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}
    trials_per_session = 4

    def define(self):
        self.observe(fixation=1, sides=2)
        self.act(rest=1, choose=2)
        self.vary(side=Choice((0, 1), p=(0.25, 0.75)), strength=Choice((0.2, 1.0)))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("fixation", "stimulus", "decision")
        trial.show("fixation", 1, during=("fixation", "stimulus"))
        evidence = np.eye(2)[trial["side"]] * trial["strength"][:, None]
        trial.show("sides", evidence, during="stimulus", noise=self.sigma)
        trial.answer("choose", trial["side"], during="decision")


class Jittered(Sides):
    """As `Sides`; durations vary, so that every trial has another type."""

    timing = {"fixation": Uniform(100, 400), "stimulus": 500, "decision": 200}


class Alternating(Sides):
    """The side changes from trial to trial, from a random one in each session."""

    def new_session(self, session, rng):
        session.side = rng.integers(0, 2, len(session))

    def draw(self, session, rng):
        session.side = 1 - session.side
        drawn = self.draw_conditions(rng, len(session))
        return {**drawn, "side": session.side.copy()}


class Opposed(Sides):
    """The side is the one that the subject did not choose in the last trial."""

    reads_outcomes = True

    def draw(self, session, rng):
        choice = session.previous["choice"]
        side = np.where(choice >= 0, 1 - choice, rng.integers(0, 2, len(session)))
        return {"side": side, "strength": np.ones(len(session))}


class Pointing(Task):
    """A graded report of an angle, and a second answer within a distance."""

    timing = {"light": 300, "decision": 500}
    rewards = {"abort": -0.1, "correct": 2.0, "error": -0.3, "miss": -0.5}
    trials_per_session = 3

    def define(self):
        self.observe(light=2)
        self.act(go=Axis(-1, 1, rest=-1, trigger=0.3), report=Angle())
        self.vary(at=Uniform(-np.pi, np.pi))

    def new_trial(self, trial):
        trial.periods("light", "decision")
        trial.show("light", Angle.points(trial["at"]), during="light", noise=0.5)
        pays = PowerLaw(exponent=1, least=0, most=2.0)
        trial.answer("report", trial["at"], during="decision", tolerance=1.0, pays=pays)


class Timed(Task):
    """An answer at a moment, graded by its error."""

    timing = {"ready": 300, "go": Choice((600, 1000))}
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self):
        self.observe(go=1)
        self.act(output=Axis(0, 1, rest=0, trigger=0.95))

    def new_trial(self, trial):
        trial.periods("ready", "go")
        trial.show("go", 1, during="go")
        trial.answer_at("output", 300, during="go", tolerance=150, pays=PowerLaw())


class Tracked(Task):
    """Reports of two axes that have no trigger, while the target changes within its period."""

    timing = {"wait": 200, "ramp": 600, "report": 300}
    rewards = {"correct": 1.5, "error": -0.5}

    def define(self):
        self.observe(level=2)
        self.act(output=Axis(-4, 10, rest=1, size=2))
        self.vary(slope=Uniform(1.0, 4.0))

    def new_trial(self, trial):
        trial.periods("wait", "ramp", "report")
        ramp = trial["slope"][:, None] * np.linspace(0, 1, 6)
        trial.timecourse("level", np.stack([ramp, -ramp], axis=-1), during="ramp")
        trial.show("level", 0, during="wait", noise=0.1)
        trial.timecourse("output", np.stack([ramp, -ramp], axis=-1), during="ramp")
        ends = np.stack([trial["slope"], -trial["slope"]], axis=1)
        trial.answer("output", ends, during="report", tolerance=3.0)


class Traced(Task):
    """Two numbers and an angle that change, of which every weighted step is scored."""

    timing = {"wait": 200, "ramp": Choice((400, 600))}
    rewards = {"correct": 1.5}

    def define(self):
        self.observe(level=1)
        self.act(output=Axis(-4, 10, rest=1, size=2, tolerance=2.0), at=Angle(tolerance=1.0))
        self.vary(slope=Uniform(1.0, 4.0))

    def new_trial(self, trial):
        trial.periods("wait", "ramp")
        ramp = trial["slope"][:, None] * np.linspace(0, 1, 6)
        trial.timecourse("level", ramp[:, :, None], during="ramp", cut=True)
        trial.timecourse("output", np.stack([ramp, -ramp], axis=-1), during="ramp", cut=True)
        trial.timecourse("at", ramp[:, :, None], during="ramp", cut=True)
        trial.loss_weight(0.5, during="wait")


class Cursor(Sides):
    """Shows observations that depend on the subject."""

    def step_target(self, now):
        return np.zeros(now.n, int)


@pytest.fixture(scope="session")
def tasks():
    """The classes of tasks by name."""
    return SimpleNamespace(
        Sides=Sides,
        Waiting=Waiting,
        Jittered=Jittered,
        Pulses=Pulses,
        Alternating=Alternating,
        Cursor=Cursor,
        Opposed=Opposed,
        Pointing=Pointing,
        Timed=Timed,
        Tracked=Tracked,
        Traced=Traced,
    )
