"""A check whose budget ends before a trial does says so, and does not accuse the task."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_check import check_task

from neurogym_core import Choice, Task


class Waits(Task):
    """Report a side after 1 s, or in every third trial after 90 s."""

    max_duration = 1_000_000
    timing = {"decision": 200}

    def define(self):
        self.observe(light=2)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2), wait=Choice((1000, 1000, 90_000)))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("light", "decision", light=trial["wait"])
        trial.show("light", np.eye(2)[trial["side"]], during="light")
        trial.answer("choose", trial["side"], during="decision")


class AlwaysWaits(Waits):
    """Report a side after 90 s; the median of a few trials does not say so."""

    def new_session(self, session, rng):
        session.first = np.ones(len(session), bool)

    def draw(self, session, rng):
        wait = np.where(session.first, 1000, 90_000)
        session.first = np.zeros(len(session), bool)
        return {"side": rng.integers(2, size=len(session)), "wait": wait}


@pytest.mark.parametrize("code", ["B001", "B002", "B003", "B004"])
def test_trials_that_do_not_end_in_time_prove_nothing(code):
    [result] = check_task(Waits, select=[code], expected={"chance": 0.5})
    assert result.status == "cannot tell"
    assert "may last 902" in result.reason
    assert "The full level plays more" in result.reason


def test_an_oracle_that_ends_no_trial_in_time_proves_nothing():
    [result] = check_task(AlwaysWaits, select=["T001"])
    assert result.status == "cannot tell"


def test_the_full_level_plays_these_trials():
    found = check_task(Waits, "full", select=["B001", "T001"])
    assert {result.status for result in found} == {"passed"}
