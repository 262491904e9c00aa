"""Steps that a check plays follow the length of trials; if they end first, no task is accused.

A task without an oracle declares it, and only such a task may.
"""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_check import check_task

from neurogym_core import Choice, Task


class Waits(Task):
    """Report a side after a long wait in a third of the trials, the first one of T001 too."""

    max_duration = 1_000_000
    timing = {"decision": 200}
    wait: float = 900_000.0

    def define(self):
        self.observe(light=2)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2), lasts=Choice((self.wait, 1000, 1000)))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("light", "decision", light=trial["lasts"])
        trial.show("light", np.eye(2)[trial["side"]], during="light")
        trial.answer("choose", trial["side"], during="decision")


CODES = ["T001", "B001", "B002", "B003", "B004"]


@pytest.mark.parametrize("code", CODES)
def test_trials_that_do_not_end_in_time_prove_nothing(code):
    [result] = check_task(Waits, select=[code], expected={"guess": 0.5})
    assert result.status == "cannot tell"
    assert "steps and did not finish its trials" in result.reason
    assert "The full level plays more" in result.reason


def test_the_steps_of_a_check_follow_the_length_of_trials():
    found = check_task(Waits(wait=90_000), select=CODES, expected={"guess": 0.5})
    assert {result.status for result in found} == {"passed"}


@pytest.mark.slow
def test_the_full_level_plays_these_trials():
    found = check_task(Waits, "full", select=["B001", "T001"])
    assert {result.status for result in found} == {"passed"}


class Tiny(Waits):
    """The step is of 0.02 ms, as if it were meant in seconds."""

    dt = 0.02

    def define(self):
        self.observe(light=2)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("dark", "light", "decision", dark=100, light=100)
        trial.show("light", np.eye(2)[trial["side"]], during="light")
        trial.answer("choose", trial["side"], during="decision")


@pytest.mark.filterwarnings("ignore")
def test_sessions_that_end_within_a_trial_are_not_accused_of_being_equal():
    found = check_task(Tiny, select=["D004", "D005", "T001", "B", "G"])
    assert {result.code for result in found if not result.ok} == set()
    assert {"D005", "T001", "B001"} <= {r.code for r in found if r.status == "cannot tell"}


# ---------------------------------------------------------------------- without an oracle


class Pecks(Task):
    """Peck two keys freely; each pays with a probability. No peck is right or wrong."""

    supervised = False
    timing = {"keys": 10_000}

    def define(self):
        self.observe(light=1)
        self.act(rest=1, peck=2)

    def new_trial(self, trial):
        trial.periods("keys")
        trial.show("light", 1, during="keys")
        trial.hold(during="keys", cost=0)

    def step_action(self, now, action):
        return (action > 0) * (now.rng.random(len(action)) < 0.05), None


NEED_ORACLE = ["B001", "B003", "B004", "A001"]


def test_a_task_without_an_oracle_declares_it():
    found = check_task(Pecks, "full", select=NEED_ORACLE, expected={"oracle_min": 0})
    assert {result.status for result in found} == {"not applicable"}
    assert {result.reason for result in found} == {
        "the manifest declares no oracle (oracle_min = 0)"
    }


def test_without_the_declaration_it_fails():
    found = check_task(Pecks, "full", select=["B001", "B003"])
    assert {result.status for result in found} == {"failed"}


def test_a_task_with_right_answers_has_an_oracle():
    [result] = check_task(Waits(wait=1000), select=["B001"], expected={"oracle_min": 0})
    assert result.status == "failed"
    assert "the task has right answers" in result.reason


# ---------------------------------------------------------------------- hooks


class FailsLate(Pecks):
    """A hook returns pay of a wrong shape, late in the trial."""

    def step_action(self, now, action):
        paid, goto = super().step_action(now, action)
        return (paid[:, None] if now.elapsed.max() > 5000 else paid), goto


def test_a_hook_that_fails_within_a_trial_is_one_failure_that_names_it():
    found = check_task(FailsLate, "full")
    assert [result.code for result in found if not result.ok] == ["G000"]
    [result] = [one for one in found if not one.ok]
    assert "FailsLate.step_action returned reward of shape" in result.reason
