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
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("stimulus", "decision")
        trial.show("fixation", 1, during="stimulus")
        trial.show("stimulus", trial["side"][:, None] == np.arange(2), during="stimulus")
        trial.answer("choose", trial["side"], during="decision")


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


class Twice(Timed):
    """Two questions, one after the other; the windows touch."""

    timing: ClassVar = {"stimulus": 300, "decision": 900, "again": 800}

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("stimulus", "decision", "again")
        trial.show("stimulus", trial["side"][:, None] == np.arange(2), during="stimulus")
        trial.answer("choose", trial["side"], during="decision", slot="first", then="again")
        trial.answer("choose", 1 - trial["side"], during="again", slot="second")


class WithinOne(Twice):
    """The windows touch within a period."""

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("stimulus", "decision", "again")
        trial.show("stimulus", trial["side"][:, None] == np.arange(2), during="stimulus")
        for slot, when in (("first", {"stop": 300}), ("second", {"start": 300})):
            trial.answer("choose", trial["side"], during="decision", slot=slot, then="wait", **when)


def test_it_waits_in_each_of_two_windows():
    record = run(Twice(), "late_oracle", n_trials=12, num_envs=3, seed=1)
    assert set(record["outcome"]) == {"correct"}
    assert set(record["first.reaction_time"]) == {500}
    assert set(record["second.reaction_time"]) == {500}


def test_it_waits_for_the_last_step_of_a_short_window_and_then_again():
    record = run(WithinOne(), "late_oracle", n_trials=12, num_envs=3, seed=1)
    assert set(record["outcome"]) == {"correct"}
    assert set(record["first.reaction_time"]) == {300}
    assert set(record["second.reaction_time"]) == {500}
