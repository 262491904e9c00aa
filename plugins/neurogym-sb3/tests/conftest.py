"""A task of the tests.

Without Stable-Baselines3, which `make test` does not install, no test is collected.
"""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from neurogym_core import Choice, Task, Uniform

if any(
    importlib.util.find_spec(name) is None
    for name in ("neurogym_sb3", "stable_baselines3", "sb3_contrib")
):
    collect_ignore_glob = ["test_*.py"]


class Sides(Task):
    """Choose the side that is shown."""

    sigma: float = 1.0
    timing = {"fixation": Uniform(100, 400), "decision": 300}
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}
    trials_per_session = 5

    def define(self):
        self.observe(fixation=1, sides=2)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("fixation", "decision")
        trial.show("fixation", 1, during="fixation")
        trial.show("sides", np.eye(2)[trial["side"]], during="decision", noise=self.sigma)
        trial.answer("choose", trial["side"], during="decision")


class OneTrial(Sides):
    """A task with one trial per session."""

    trials_per_session = 1


@pytest.fixture(scope="session")
def sides():
    return Sides


@pytest.fixture(scope="session")
def one_trial():
    return OneTrial
