"""Measure-Wait-Go: the interval has to be stored over a wait that says nothing."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_timing.measure_wait_go import MeasureWaitGo
from neurogym_task_timing.observers import BestMoment

from neurogym_core import InvalidValueError, Subject, run


class Reproducer(Subject):
    """Acts when as much time has passed since the go flash as in some periods.

    Args:
        counts: names of the periods whose durations it reproduces.
    """

    carries_state = False

    def __init__(self, *counts: str) -> None:
        self.counts = counts

    def begin(self, env):
        self._count, self._waited = np.zeros((2, env.num_envs), int)

    def __call__(self, env, observations):
        fresh = env.period == "fixation"
        self._count[fresh] = self._waited[fresh] = 0
        self._count += np.isin(env.period, self.counts)
        self._waited += env.period == "production"
        due = (env.period == "production") & (self._waited > self._count)
        return np.where(due, 1, 0)


def earned(subject, trials=4000, **given):
    return run(MeasureWaitGo(**given), subject, trials, num_envs=100, seed=3)["performance"]


def test_flashes_are_as_far_apart_as_measured_and_the_wait_is_drawn_independently():
    task = MeasureWaitGo()
    batch = task.sample(2000, seed=1)
    steps = batch.period_steps
    measured = task.whole_steps(batch.conditions["measured"])
    np.testing.assert_array_equal(steps["measure"] * task.dt, measured)
    assert (steps["wait"].min() * task.dt, steps["wait"].max() * task.dt) == (300, 1500)
    assert abs(np.corrcoef(steps["wait"], steps["measure"])[0, 1]) < 0.11  # 5 SEs
    assert set(batch.notes["wanted"]) == set(MeasureWaitGo.intervals)


@pytest.mark.parametrize(
    ("subject", "right"),
    [(BestMoment(), 0.81), (Reproducer("measure"), 0.58), (Reproducer("measure", "wait"), 0.0)],
    ids=["best", "reproducer", "forgets to stop"],
)
def test_subjects_earn_what_the_page_says(subject, right):
    """4 SEs of 4,000 trials: a false alarm in 10**4 of each."""
    correct = run(MeasureWaitGo(), subject, 4000, num_envs=100, seed=3)["outcome"] == "correct"
    assert correct.mean() == pytest.approx(right, abs=0.035)


def test_without_noise_the_measured_interval_is_right():
    assert (earned(Reproducer("measure"), 200, weber=0.0) > 0.9).all()


@pytest.mark.parametrize("wrong", [{"weber": 0.5}, {"intervals": ()}, {"intervals": (0.0,)}])
def test_impossible_parameters_are_refused(wrong):
    with pytest.raises(InvalidValueError, match="MeasureWaitGo"):
        MeasureWaitGo(**wrong)
