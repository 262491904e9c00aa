"""The late oracle answers correctly, half a second after the opening of the window."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

from neurogym_core import Choice, Task, TrialBuilder, run


class Timed(Task):
    """Report a side within the decision."""

    timing: ClassVar = {"stimulus": 300, "decision": 900}

    def define(self) -> None:
        self.observe(fixation=1, stimulus=2)
        self.act(fixate=1, choose=2)
        self.vary(side=Choice(2), answer="side")

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("stimulus", "decision")
        trial.show("fixation", 1, during="stimulus")
        trial.show("stimulus", trial.side[:, None] == np.arange(2), during="stimulus")
        trial.answer("choose", trial.side, during="decision")


class AtOnce(Task):
    """Every action is a choice: there is no waiting."""

    timing: ClassVar = {"choice": 1000}

    def define(self) -> None:
        self.observe(offer=1)
        self.act(take=2)

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("choice")
        trial.show("offer", 1, during="choice")
        trial.answer("take", 0, during="choice")


@pytest.mark.parametrize("dt", [10, 100])
@pytest.mark.parametrize(("decision", "time"), [(900, 500), (300, 300)])
def test_it_answers_after_half_a_second_or_on_the_last_step(dt, decision, time):
    record = run(
        Timed(dt=dt, timing={"decision": decision}), "late_oracle", n_trials=12, num_envs=3, seed=1
    )
    assert (record["outcome"] == "correct").all()
    np.testing.assert_array_equal(record["reaction_time"], time)
    assert (record["aborts"] == 0).all()


def test_where_resting_is_impossible_it_answers_at_once():
    record = run(AtOnce(), "late_oracle", n_trials=5, seed=2)
    np.testing.assert_array_equal(record["reaction_time"], 100)
