"""Conditions that `make` imposes hold for tasks with session state as well."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from neurogym_core import Choice, Task, run


class Counting(Task):
    """The side alternates over the trials of a session."""

    timing: ClassVar = {"stimulus": 100}

    def define(self):
        self.observe(cue=2)
        self.act(rest=1, go=2)
        self.vary(side=Choice(2), place=lambda rng, prior: rng.random((prior.n, 2)))

    def draw(self, session, rng):
        return {"side": session.trial % 2, "place": rng.random((len(session), 2))}

    def new_trial(self, trial):
        trial.periods("stimulus")
        trial.show("cue", trial["place"], during="stimulus")
        trial.answer("go", trial["side"], during="stimulus")


def test_a_sample_has_the_imposed_values():
    conditions = (
        Counting(conditions={"side": 1, "place": [[0.25, 0.75]]}).sample(20, seed=0).conditions
    )
    assert (conditions["side"] == 1).all()
    np.testing.assert_array_equal(conditions["place"], np.broadcast_to([0.25, 0.75], (20, 2)))


def test_values_imposed_on_a_sample_override_those_of_the_task():
    assert (
        Counting(conditions={"side": 1}).sample(5, seed=0, side=0).conditions["side"] == 0
    ).all()


class Blocks(Task):
    """The block alternates; the side is on the left or on the right with it."""

    timing: ClassVar = {"stimulus": 100}

    def define(self):
        self.observe(cue=1)
        self.act(rest=1, go=2)
        self.vary(block=Choice(2), side=lambda rng, prior: prior["block"] + 10)
        self.correct_choice("block")

    def draw(self, session, rng):
        return self.draw_conditions(rng, len(session), {"block": session.trial % 2})

    def new_trial(self, trial):
        trial.periods("stimulus")
        trial.show("cue", trial["side"], during="stimulus")
        trial.answer("go", trial["block"], during="stimulus")


def test_conditions_computed_from_one_that_make_imposes_follow_it_also_where_draw_decides_it():
    task = Blocks(conditions={"block": 1})
    assert set(task.sample(8, seed=0).conditions["side"]) == {11}
    assert set(run(task, "oracle", 8, seed=0)["side"]) == {11}
    wanted = Task.draw_conditions(
        task, np.random.default_rng(0), 4, correct_choice=np.zeros(4, int)
    )
    assert set(wanted["block"]) == {1}


def test_players_have_the_imposed_values():
    task = Counting(conditions={"side": [1], "place": [[0.25, 0.75]]})
    for envs in (1, 3):
        record = run(task, "oracle", 12, num_envs=envs, seed=0)
        assert (record["side"] == 1).all()
        np.testing.assert_array_equal(record["place"], np.broadcast_to([0.25, 0.75], (12, 2)))


def test_options_of_reset_override_those_of_make():
    record = run(Counting(conditions={"side": 1}), "oracle", 12, seed=0, conditions={"side": 0})
    assert (record["side"] == 0).all()


def test_without_imposing_the_session_draws():
    record = run(Counting(), "oracle", 12, num_envs=1, seed=0)
    assert record["side"].tolist() == [0, 1] * 6
