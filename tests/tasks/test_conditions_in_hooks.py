"""A condition that only a hook reads counts as used, and one that nothing reads is refused."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

from neurogym_core import Choice, Task, TaskWrapper, run
from neurogym_core.errors import TrialLayoutError


class Centre(Task):
    """A point that drifts; only a hook needs to know how fast."""

    timing: ClassVar = {"keep": 300}
    trial_state: ClassVar = {"at": 0.0}

    def define(self):
        self.observe(at=1)
        self.act(rest=1, push=1)
        self.vary(drift=Choice((-1.0, 2.0)))

    def new_trial(self, trial):
        trial.periods("keep")

    def step_action(self, now, action):
        return now.conditions["drift"], None


def drift_of(now):
    return now.conditions["drift"]


class ByMethod(Centre):
    def step_action(self, now, action):
        return self._speed(now), None

    def _speed(self, now):
        return now.conditions["drift"]


class ByFunction(Centre):
    def step_action(self, now, action):
        return drift_of(now), None


class ByParameter(Centre):
    speed: str = "drift"

    def step_action(self, now, action):
        return now.conditions[self.speed], None


class AfterARareAction(Centre):
    def step_action(self, now, action):
        if (action == 7).any():
            return now.conditions["drift"], None
        return 0.0, None


class ByClosure(Centre):
    def _reader(name):  # noqa: N805
        return lambda self, now, obs: obs + now.conditions[name][:, None]

    step_observation = _reader("drift")


class InAComprehension(Centre):
    def step_action(self, now, action):
        return sum(now.conditions[name] for name in ("drift",)), None


class ByTarget(Centre):
    step_action = None

    def step_target(self, now):
        return (now.conditions["drift"] > 0).astype(int)


class OneByOne(Centre):
    batched = False


class Compiled:
    """A hook without Python code."""

    def __call__(self, now, obs):
        return obs


class ByObject(Centre):
    step_action = None
    step_observation = Compiled()


@pytest.mark.parametrize(
    "kind",
    [
        Centre, ByMethod, ByFunction, ByParameter, AfterARareAction, ByClosure, InAComprehension,
        ByTarget, OneByOne, ByObject,
    ],
)  # fmt: skip
def test_a_condition_that_only_a_hook_reads_is_accepted(kind):
    assert set(run(kind(), "rest", 20, seed=0)["drift"]) == {-1.0, 2.0}


def test_so_it_is_under_a_wrapper():
    assert set(run(TaskWrapper(Centre()), "rest", 20, seed=0)["drift"]) == {-1.0, 2.0}

    class Louder(TaskWrapper):
        def step_action(self, now, action):
            reward, goto = self.task.step_action(now, action)
            return 2 * reward, goto

    assert set(run(Louder(Centre()), "rest", 20, seed=0)["reward"]) == {-6.0, 12.0}


def test_a_condition_that_no_hook_reads_is_refused_with_the_way_out():
    class Unread(Centre):
        def step_action(self, now, action):
            return np.ones(now.n), None

    with pytest.raises(
        TrialLayoutError,
        match=r"Unread.new_trial never reads .*'drift'.*no hook does.*trial.record\('drift'\)",
    ):
        Unread()


def test_a_condition_that_another_method_mentions_is_refused():
    class Unread(Centre):
        step_action = None

        def _speed(self, now):
            return now.conditions["drift"]

    with pytest.raises(TrialLayoutError, match="never reads"):
        Unread()
