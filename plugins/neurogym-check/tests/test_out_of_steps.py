"""A check whose budget ends before a trial does says so, and does not accuse the task."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_check import check_task

from neurogym_core import Choice, Task


class Waits(Task):
    """Report a side after 90 s in a third of the trials, the first one of T001 too; else 1 s."""

    max_duration = 1_000_000
    timing = {"decision": 200}

    def define(self):
        self.observe(light=2)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2), wait=Choice((90_000, 1000, 1000)))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("light", "decision", light=trial["wait"])
        trial.show("light", np.eye(2)[trial["side"]], during="light")
        trial.answer("choose", trial["side"], during="decision")


@pytest.mark.parametrize("code", ["T001", "B001", "B002", "B003", "B004"])
def test_trials_that_do_not_end_in_time_prove_nothing(code):
    [result] = check_task(Waits, select=[code], expected={"guess": 0.5})
    assert result.status == "cannot tell"
    assert "steps and did not finish its trials" in result.reason
    assert "The full level plays more" in result.reason


def test_the_full_level_plays_these_trials():
    found = check_task(Waits, "full", select=["B001", "T001"])
    assert {result.status for result in found} == {"passed"}
