"""`hold` sets the cost and the effect of acting outside of response windows."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
from neurogym_wrappers import Mixture

from neurogym_core import END, STAY, Choice, Task, run


class Waiting(Task):
    cost: float | None = None
    then: str | None = None
    abort_ends_trial: bool = True
    timing: ClassVar = {"wait": 500, "free": 500}
    supervised = False

    def define(self):
        self.observe(cue=1)
        self.act(rest=1, go=2)

    def new_trial(self, trial):
        trial.periods("wait", "free")
        trial.hold(during="free", cost=self.cost, then=self.then)


@pytest.mark.parametrize(
    ("cost", "then", "aborts", "reward", "goto"),
    [
        (None, None, True, -0.1, END),
        (-0.2, None, True, -0.2, END),
        (0, "restart", True, 0, 1),
        (0, None, False, 0, STAY),
    ],
)
def test_acting_costs_and_leads_as_hold_sets_it(cost, then, aborts, reward, goto):
    batch = Waiting(cost=cost, then=then).sample(3, seed=0)
    assert batch.table("aborts")[:, 0, 1:].all()
    assert (batch.table("aborts")[:, 1, 1:] == aborts).all()
    assert batch.table("reward")[:, 1, 1:] == pytest.approx(reward)
    assert (batch.table("goto")[:, 1, 1:] == goto).all()
    assert not batch.table("aborts")[:, :, 0].any()


def test_without_an_abort_reward_acting_still_counts():
    batch = Waiting(rewards={"abort": 0}).sample(3, seed=0)
    assert batch.table("aborts")[:, 1, 1:].all()


class FreeInSome(Task):
    """Acting costs nothing in the trials with `free`, and ends the others."""

    abort_ends_trial: bool = True
    timing: ClassVar = {"wait": 500}
    supervised = False

    def define(self):
        self.observe(cue=1)
        self.act(rest=1, go=1)
        self.vary(free=Choice(2))

    def new_trial(self, trial):
        trial.periods("wait")
        trial.hold(during="wait", cost=np.where(trial["free"] == 1, 0.0, -1.0))


class Alike(FreeInSome):
    """The same trials under another name, to be joined with."""

    timing: ClassVar = {"wait": 300}


def assert_free_where_it_costs_nothing(batch, free):
    np.testing.assert_array_equal(batch.table("aborts")[:, 0, 1], ~free)
    np.testing.assert_array_equal(batch.table("goto")[:, 0, 1], np.where(free, STAY, END))


def test_whether_acting_is_free_is_decided_trial_by_trial():
    batch = FreeInSome().sample(40, seed=0)
    free = batch.conditions["free"] == 1
    assert 0 < free.sum() < 40
    assert_free_where_it_costs_nothing(batch, free)
    alone = FreeInSome().sample(5, seed=0, free=1)
    assert_free_where_it_costs_nothing(alone, np.ones(5, bool))


def test_tasks_that_are_joined_keep_their_free_trials():
    for task in (
        Mixture(FreeInSome(), other_tasks=(Alike(),)),
        Mixture(FreeInSome(abort_ends_trial=False), other_tasks=(Alike,)),
    ):
        record = run(task, lambda env, seen: np.ones(env.num_envs, int), 200, seed=0)
        free = record["free"] == 1
        assert 0 < free.sum() < 200
        assert not record["aborts"][free].any()
        assert (record["outcome"][free] == "none").all()
        assert (record["aborts"][~free] > 0).all()
