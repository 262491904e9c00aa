"""A task with trials of 0 steps is refused when it is made."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest

from neurogym_core import Choice, Task, TruncatedExponential, Uniform, make_task
from neurogym_core.errors import TrialLayoutError


class Pauses(Task):
    """Two periods."""

    timing: ClassVar = {"wait": 0, "rest": 100}
    supervised = False

    def define(self):
        self.observe(light=1)
        self.act(rest=1, go=1)
        self.vary(rare=Choice((0, 1), p=(0.999, 0.001)))

    def new_trial(self, trial):
        trial.periods("wait", "rest")
        trial.record("rare")


@pytest.mark.parametrize(
    "rest",
    [0, [0, 200], {"choice": [[0, 200], [0.001, 0.999]]}],
)
def test_a_task_whose_trials_may_have_no_step_is_refused(rest):
    with pytest.raises(
        TrialLayoutError, match="A trial of Pauses lasts 0 steps: all of 'wait', 'rest' are skipped"
    ):
        Pauses(timing={"rest": rest})


def timed(wait: Any, rest: Any, **conditions: Any) -> Task:
    return Pauses(timing={"wait": wait, "rest": rest}, conditions=conditions)


def test_one_period_that_lasts_is_enough():
    lasting = (100, [1, 200], Uniform(0, 300), TruncatedExponential(50, 0, 1000), np.inf)
    for task in (
        *(timed([0, 200], rest) for rest in lasting),
        timed(100, [0, 200]),
        timed(0, Uniform(0, 300)),
    ):
        assert task.sample(20, seed=0).duration.sum(axis=1).all()
    assert len(timed(0, [0, 200], **{"duration.rest": 300}).sample(20, seed=0))


def test_durations_that_are_imposed_later_are_refused_as_well():
    with pytest.raises(TrialLayoutError, match="0 steps"):
        Pauses().sample(3, **{"duration.rest": 0})


def test_a_rare_trial_of_no_length_is_refused_where_it_comes():
    class Rarely(Pauses):
        def new_trial(self, trial):
            trial.periods("wait", "rest", rest=np.where(trial["rare"] == 1, 0, 100))

    task = Rarely()
    with pytest.raises(TrialLayoutError, match="0 steps"):
        task.sample(100_000, seed=0)


def test_an_installed_task_is_refused_as_well():
    with pytest.raises(TrialLayoutError, match="A trial of Null lasts 0 steps"):
        make_task("Null-v0", timing={"rest": 0})
