"""Conditions of a task with hooks count as read, since a hook may read them."""

from __future__ import annotations

from typing import ClassVar

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


class ByTarget(Centre):
    step_action = None

    def step_target(self, now):
        return (now.conditions["drift"] > 0).astype(int)


class Compiled:
    """A hook without Python code."""

    def __call__(self, now, obs):
        return obs


class ByObject(Centre):
    step_action = None
    step_observation = Compiled()


@pytest.mark.parametrize(
    "kind",
    [Centre, ByTarget, ByObject],
)
def test_a_condition_that_only_a_hook_reads_is_accepted(kind):
    assert set(run(kind(), "rest", 20, seed=0)["drift"]) == {-1.0, 2.0}


def test_so_it_is_under_a_wrapper():
    assert set(run(TaskWrapper(Centre()), "rest", 20, seed=0)["drift"]) == {-1.0, 2.0}

    class Louder(TaskWrapper):
        def step_action(self, now, action):
            reward, goto = self.task.step_action(now, action)
            return 2 * reward, goto

    assert set(run(Louder(Centre()), "rest", 20, seed=0)["reward"]) == {-6.0, 12.0}


def test_a_condition_is_refused_only_if_the_task_has_no_hook():
    class Unread(Centre):
        step_action = None

    with pytest.raises(TrialLayoutError, match=r"Unread.new_trial never reads .*'drift'"):
        Unread()
