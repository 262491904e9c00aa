"""Tasks of the tests.

Without JAX, which `make test` does not install, no test of this package is collected.
"""

from __future__ import annotations

import importlib.util
from types import SimpleNamespace

import numpy as np
import pytest
from small_tasks import Pulses

from neurogym_core import Choice, Task, Uniform

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
        self.vary(side=Choice((0, 1), p=(0.25, 0.75)), strength=Choice((0.2, 1.0)), answer="side")

    def new_trial(self, trial):
        trial.periods("fixation", "stimulus", "decision")
        trial.show("fixation", 1, during=("fixation", "stimulus"))
        evidence = np.eye(2)[trial.side] * trial.strength[:, None]
        trial.show("sides", evidence, during="stimulus", noise=self.sigma)
        trial.answer("choose", trial.side, during="decision")


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


class Cursor(Sides):
    """Shows observations that depend on the subject."""

    def step_target(self, now):
        return np.zeros(now.n, int)


@pytest.fixture(scope="session")
def tasks():
    """The classes of tasks by name."""
    return SimpleNamespace(
        Sides=Sides, Jittered=Jittered, Pulses=Pulses, Alternating=Alternating, Cursor=Cursor
    )
