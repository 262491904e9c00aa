"""Scalar noise of measured intervals, and the scores of simple subjects with it.

Fractions are of 20,000 trials, with an SE of 0.0035 or less and limits of 0.015: p < 1e-4 for each.
Scores of clocks count intervals, in which no chance is involved.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from neurogym_task_timing.interval_discrimination import IntervalDiscrimination
from neurogym_task_timing.motor_timing import MotorTiming
from neurogym_task_timing.one_two_three_go import OneTwoGo, OneTwoThreeGo
from neurogym_task_timing.ramps import CueSetGo, ReadySetGoDoublePrior, ReadySetGoSinglePrior
from neurogym_task_timing.ready_set_go import ReadySetGo

from neurogym_core import InvalidValueError

TRIALS = 20_000
WITHIN = 0.015
MEASURING = [ReadySetGo, OneTwoThreeGo, OneTwoGo, ReadySetGoSinglePrior, ReadySetGoDoublePrior]
by_name = {"ids": lambda given: getattr(given, "__name__", None)}


def is_correct(task, produced, wanted):
    return np.abs(produced - wanted) <= task.tolerance_share * wanted + task.tolerance_ms + 1e-9


def shares_of_a_clock(task, intervals):
    """Return the fraction of intervals at which always acting at a time is correct, per time."""
    times = np.arange(300, 2000, 5)
    return is_correct(task, times[:, None], np.asarray(intervals, float)).mean(axis=1)


@pytest.mark.parametrize("kind", MEASURING, **by_name)
def test_the_displayed_interval_varies_by_its_weber_fraction_and_the_wanted_time_does_not(kind):
    task = kind(dt=10)
    batch = task.sample(TRIALS, seed=1)
    first = "interval1" if "interval1" in batch.period_steps else "measure"
    interval = batch.conditions["interval"]
    error = batch.period_steps[first] * 10 / interval - 1
    assert abs(error.std() - 0.1) < 0.003  # SE 0.0005; clipping and steps change it by 0.001
    assert abs(error.mean()) < 0.004  # SE 0.0007
    np.testing.assert_array_equal(batch.notes["wanted"], interval)
    exact = kind(dt=10, weber=0).sample(100, seed=2)
    np.testing.assert_array_equal(exact.period_steps[first] * 10, exact.conditions["interval"])


@pytest.mark.parametrize("kind", MEASURING, **by_name)
def test_impossible_weber_fractions_are_refused(kind):
    with pytest.raises(InvalidValueError, match=r"weber=0\.5"):
        kind(weber=0.5)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (ReadySetGo, 0.58),
        (OneTwoGo, 0.58),
        (OneTwoThreeGo, 0.74),
        (ReadySetGoSinglePrior, 0.58),
        (ReadySetGoDoublePrior, 0.58),
    ],
    **by_name,
)
def test_reproducing_the_measurement_is_right_as_often_as_the_docstring_says(kind, expected):
    task = kind(dt=10)
    batch = task.sample(TRIALS, seed=3)
    measured = batch.conditions["measured"].reshape(TRIALS, -1).mean(axis=1)
    assert abs(is_correct(task, measured, batch.notes["wanted"]).mean() - expected) < WITHIN


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (ReadySetGo, 0.82),
        (OneTwoGo, 0.81),
        (OneTwoThreeGo, 0.91),
        (ReadySetGoSinglePrior, 0.81),
    ],
    **by_name,
)
def test_knowing_the_range_of_intervals_helps(kind, expected):
    """The best observer produces the time that is most probably correct, in steps of the task."""
    task = kind()
    batch = task.sample(TRIALS, seed=4)
    measured = batch.conditions["measured"].reshape(TRIALS, -1, 1)
    levels = np.asarray(task.intervals, float)
    z = (measured - levels) / (task.weber * levels)
    posterior = np.exp(-(z**2) / 2).prod(axis=1) / levels ** measured.shape[1]
    times = np.arange(400, 1200, task.dt)
    best = times[(posterior @ is_correct(task, times, levels[:, None])).argmax(axis=1)]
    assert abs(is_correct(task, best, batch.notes["wanted"]).mean() - expected) < WITHIN


@pytest.mark.parametrize(
    ("task", "best"),
    [
        (ReadySetGo(), 2 / 7),
        (OneTwoThreeGo(), 2 / 5),
        (OneTwoGo(), 2 / 5),
        (ReadySetGoSinglePrior(), 2 / 5),
        (CueSetGo(), 1 / 2),
    ],
    ids=lambda given: getattr(given, "name", None),
)
def test_a_clock_that_ignores_the_interval_is_correct_at_the_few_intervals_near_its_time(
    task, best
):
    assert shares_of_a_clock(task, task.intervals).max() == pytest.approx(best)


def test_clocks_in_the_tasks_with_a_cue():
    double = ReadySetGoDoublePrior()
    both = (*double.intervals, *double.long_intervals)
    assert shares_of_a_clock(double, both).max() == pytest.approx(0.3)
    for prior in (double.intervals, double.long_intervals):
        assert shares_of_a_clock(double, prior).max() == pytest.approx(0.4)
    motor = MotorTiming()
    assert shares_of_a_clock(motor, (motor.short, motor.long)).max() == 0.5


@pytest.mark.parametrize("which", [0, 1])
def test_comparing_measured_durations_and_using_one_of_them(which):
    task = IntervalDiscrimination()
    drawn = task.sample(TRIALS, seed=5).conditions
    measured, true = drawn["measured"], drawn["durations"]
    first_longer = true[:, 0] > true[:, 1]
    assert abs(((measured[:, 0] > measured[:, 1]) == first_longer).mean() - 0.94) < WITHIN
    one = (true[:, which] > 700) == (first_longer if which == 0 else ~first_longer)
    assert abs(one.mean() - 0.8) < WITHIN


def test_the_longer_duration_before_the_noise_is_right(oracle):
    task = IntervalDiscrimination(dt=20)
    batch = task.sample(500, seed=6)
    drawn = batch.conditions
    shown = batch.period_steps["first"] > batch.period_steps["second"]
    true = drawn["durations"][:, 0] > drawn["durations"][:, 1]
    assert (shown != true).any()
    red_longer = true == (drawn["first_colour"] == "red")
    answer = batch.target[:, -1] - 1
    np.testing.assert_array_equal(answer, red_longer == (drawn["red_side"] == "right"))


@pytest.mark.parametrize(("kind", "how"), list(product(MEASURING[1:3], ("timing", "duration"))))
def test_an_imposed_first_interval_is_the_wanted_one(kind, how):
    timing = {"interval1": 700} if how == "timing" else {}
    given = {"duration.interval1": 700} if how == "duration" else {}
    batch = kind(timing=timing).sample(5, seed=7, **given)
    np.testing.assert_array_equal(batch.notes["wanted"], 700)
