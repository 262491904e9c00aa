"""Refused: periods with the name of a word of `then=`, and one action for two slots."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
import pytest

from neurogym_core import Choice, Task, run
from neurogym_core.errors import TrialLayoutError


class Clash(Task):
    """A test builds the trial."""

    timing: ClassVar = {
        "wait": 200, "stay": 200, "restart": 200, "end": 200, "light": 200, "decision": 300,
    }  # fmt: skip
    call: ClassVar[Any] = None

    def define(self):
        self.observe(light=1)
        self.act(rest=1, choose=2, confirm=2)
        self.vary(side=Choice(2))

    def new_trial(self, trial):
        trial["side"]
        type(self).call(trial)


def task_with(call) -> Task:
    return type("Mine", (Clash,), {"call": staticmethod(call)})()


# ---------------------------------------------------------------------- periods named like words


@pytest.mark.parametrize("word", ["wait", "stay", "restart", "end"])
def test_a_hold_cannot_lead_to_a_period_named_like_a_word(word):
    def call(trial):
        trial.periods("light", word, "decision")
        trial.hold("light", then=word)
        trial.answer("choose", trial["side"], during="decision", then="light")

    with pytest.raises(
        TrialLayoutError, match=rf"then='{word}' of Mine is a period .* Give the period another"
    ):
        task_with(call)


@pytest.mark.parametrize("word", ["wait", "stay", "restart", "end"])
@pytest.mark.parametrize("form", ["one", "by outcome", "by choice"])
def test_nor_can_an_answer(word, form):
    then = {"one": word, "by outcome": {"error": word, "correct": "light"}, "by choice": [word] * 2}

    def call(trial):
        trial.periods("light", word, "decision")
        trial.answer("choose", trial["side"], during="decision", then=then[form])

    with pytest.raises(TrialLayoutError, match=rf"then='{word}' of Mine is a period"):
        task_with(call)


@pytest.mark.parametrize("word", ["wait", "stay", "restart", "end"])
def test_nor_can_a_period(word):
    def call(trial):
        trial.periods("light", word, "decision", then={"light": word})
        trial.answer("choose", trial["side"], during="decision", then="light")

    with pytest.raises(TrialLayoutError, match=rf"then='{word}' of Mine is a period"):
        task_with(call)


def test_a_period_called_end_is_no_place_to_end_a_trial_by_default():
    def call(trial):
        trial.periods("light", "decision", "end")
        trial.answer("choose", trial["side"], during="decision")

    with pytest.raises(TrialLayoutError, match="then='end' of Mine"):
        task_with(call)


def test_a_period_that_nothing_leads_to_by_name_may_have_any_name():
    def call(trial):
        trial.periods("wait", "decision")
        trial.answer("choose", trial["side"], during="decision")

    assert task_with(call).sample(2, seed=0).period_names == ("wait", "decision")


# ---------------------------------------------------------------------- one action, two slots


def two(trial, **second):
    trial.periods("light", "decision")
    trial.answer("choose", trial["side"], during="decision", slot="first", then="wait")
    trial.answer("choose", 1 - trial["side"], **{"during": "decision", "slot": "second", **second})


@pytest.mark.parametrize(
    "second",
    [
        {},
        {"during": ("light", "decision")},
        {"start": 250},
        {"stop": 40},
        {"where": np.arange(7) > 5},
    ],
    ids=["same window", "longer window", "last step", "first step", "one trial"],
)
@pytest.mark.filterwarnings("ignore:The window of:UserWarning")
def test_two_slots_of_one_group_on_a_step_are_refused(second):
    with pytest.raises(
        TrialLayoutError,
        match=r"Mine.new_trial asks 'choose' for 'first' and 'second' on the same steps of"
        r" 'decision', in \d of 7 trials; one action cannot answer both\. Keep the two apart",
    ):
        task_with(lambda trial: two(trial, **second))


def test_so_are_prices_for_the_actions_of_an_answer():
    def call(trial):
        trial.periods("light", "decision")
        trial.answer("choose", trial["side"], during="decision")
        trial.offer("choose", [1, 2], during="decision", slot="bet")

    with pytest.raises(TrialLayoutError, match="asks 'choose' for 'choose' and 'bet'"):
        task_with(call)


@pytest.mark.parametrize("second", [{"during": "light"}, {"where": False}], ids=str)
def test_two_slots_that_are_apart_are_allowed(second):
    assert len(task_with(lambda trial: two(trial, **second)).sample(3, seed=0)) == 3


def test_two_groups_may_be_asked_on_a_step_since_one_can_follow_the_other():
    def call(trial):
        trial.periods("decision")
        trial.answer("choose", trial["side"], during="decision", slot="first", then="wait")
        trial.answer("confirm", trial["side"], during="decision", slot="second", then="wait")

    def in_turn(env, observations):
        turns["at"] += 1
        return np.full(1, 1 if turns["at"] % 2 else 3) + env.conditions["side"]

    turns = {"at": 0}
    record = run(task_with(call), in_turn, 1, num_envs=1, seed=0)
    assert record["performance"].tolist() == [1.0]


def test_a_trial_with_an_endless_period_is_judged_alike():
    def call(trial):
        trial.periods("light", "decision", light=math.inf)
        trial.answer("choose", 0, during="light", slot="start", then="decision")
        trial.answer("choose", 1, during=("light", "decision"), slot="second")

    with pytest.raises(TrialLayoutError, match="'start' and 'second' on the same steps of 'light'"):
        task_with(call)
