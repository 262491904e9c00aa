"""Conditions that `make` imposes hold for tasks with session state as well."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from neurogym_core import Choice, Task


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
        trial.show("cue", trial.place, during="stimulus")
        trial.answer("go", trial.side, during="stimulus")


def test_a_sample_honours_what_was_imposed():
    conditions = Counting(conditions={"side": 1, "place": [[0.25, 0.75]]}).sample(20, seed=0).conditions
    assert (conditions["side"] == 1).all()
    np.testing.assert_array_equal(conditions["place"], np.broadcast_to([0.25, 0.75], (20, 2)))


def test_what_is_imposed_on_a_sample_comes_before_what_was_imposed_on_the_task():
    assert (Counting(conditions={"side": 1}).sample(5, seed=0, side=0).conditions["side"] == 0).all()


def test_what_is_drawn_ahead_can_be_imposed_in_its_shape():
    task, rng = Counting(conditions={"side": [1], "place": [[0.25, 0.75]]}), np.random.default_rng(0)
    drawn = task.draw_ahead(task.fresh_session(rng, 3), rng, 4)
    assert (drawn["side"].T == [0, 1, 0, 1]).all()
    imposed = task.impose(drawn, rng, (4, 3))
    assert (imposed["side"] == np.ones((4, 3))).all()
    assert imposed["place"].shape == (4, 3, 2)
    assert (imposed["place"] == [0.25, 0.75]).all()
