"""Dynamic clicks: a telegraph process, clicks of two rates, and policies with and without leak."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from neurogym_task_perceptual.dynamic_clicks import DynamicClicks
from neurogym_task_perceptual.observers import LeakyCounter, StateFilter

from neurogym_core import InvalidValueError, run
from neurogym_core.tools import find_task

IDEAL = 0.822


@cache
def drawn():
    return DynamicClicks().sample(2000, seed=1).conditions


def earned(subject, trials=10_000, **given):
    record = run(DynamicClicks(**given), subject, trials, num_envs=200, seed=1)
    return record["performance"].mean()


def heard():
    """Steps of the trains, bool (n, steps)."""
    return np.arange(200) < np.round(drawn()["length"] / 10)[:, None]


def test_the_state_begins_on_either_side_and_changes_once_per_second():
    """5 SEs of 2,000 trials, and of about 4,000 changes."""
    state = drawn()["state"]
    assert state[:, 0].mean() == pytest.approx(0.5, abs=0.056)
    changes = (np.diff(state, axis=1) != 0).sum() / (len(state) * 1.99)
    assert changes == pytest.approx(1.0, abs=0.08)


def test_clicks_are_38_and_2_per_second_of_which_three_of_ten_are_misheard():
    """About 1,250 s on each side: 5 SEs of 27.2 and of 12.8 clicks per second."""
    for unit, side in enumerate(("left", "right")):
        clicks, on = drawn()[side], drawn()["state"] == unit
        for where, rate in ((on, 27.2), (~on, 12.8)):
            seconds = (where & heard()).sum() / 100
            found = clicks[where & heard()].sum() / seconds
            assert found == pytest.approx(rate, abs=5 * np.sqrt(rate / seconds))
        assert not clicks[~heard()].any()


def test_the_side_of_the_state_on_the_last_step_is_right():
    record = run(DynamicClicks(), "oracle", 300, seed=2)
    last = np.round(record["length"] / 10).astype(int) - 1
    state = record["state"][np.arange(300), last]
    np.testing.assert_array_equal(record.codes(), state)
    assert (record["outcome"] == "correct").all()
    since = np.minimum(np.round(record["since_change"] / 10).astype(int), last + 1)
    for trial in range(300):
        assert (
            len(set(record["state"][trial, last[trial] + 1 - since[trial] : last[trial] + 1])) == 1
        )


@pytest.mark.parametrize("dt", [5, 10, 50])
def test_clicks_are_heard_on_their_steps(dt):
    task = DynamicClicks(dt=dt)
    batch = task.sample(20, seed=3)
    steps = np.split(batch.render(None), np.cumsum(batch.steps)[:-1])
    for trial, seen in enumerate(steps):
        begin, count = 500 // dt, int(batch.period_steps["stimulus"][trial])
        for unit, side in enumerate(("left", "right")):
            clicks = seen[:, task.channels["stimulus"]][:, unit]
            assert clicks.sum() == batch.conditions[side][trial].sum()
            np.testing.assert_array_equal(
                clicks[begin : begin + count], batch.conditions[side][trial][:count]
            )


def test_the_ideal_observer_reaches_the_ideal_of_the_manifest():
    """4,000 trials: 4 SEs. A simulation of the equation for continuous time gives 0.819."""
    assert find_task("perceptual/DynamicClicks-v0").ideal["value"] == IDEAL
    assert earned(StateFilter(), 4000) == pytest.approx(IDEAL, abs=0.025)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("subject", "given", "expected"),
    [
        (LeakyCounter(np.inf), {}, 0.70),
        (LeakyCounter(0), {}, 0.69),
        (LeakyCounter(300), {}, 0.81),
        (StateFilter(), {"misheard": 0.0}, 0.957),
        (LeakyCounter(0), {"misheard": 0.0}, 0.935),
    ],
)
def test_policies_earn_what_the_page_says(subject, given, expected):
    """10,000 trials: 4 SEs, and the rounding of the page."""
    assert earned(subject, **given) == pytest.approx(expected, abs=0.023)


@pytest.mark.slow
def test_the_wrong_hazard_costs():
    """Filters for a world without changes, and with many; 10,000 trials, differences of 10 SEs."""
    best = earned(StateFilter())
    assert earned(StateFilter(0.01)) < best - 0.04
    assert earned(StateFilter(20.0)) < best - 0.04


def test_reports_are_worse_after_a_change():
    """About 2,000 trials on either side of 300 ms: 5 SEs of the difference are 0.08."""
    record = run(DynamicClicks(), StateFilter(), 4000, num_envs=100, seed=5)
    right, soon = record["performance"], record["since_change"] < 300
    assert right[soon].mean() < right[~soon].mean() - 0.1


def test_single_env_and_vector_env_agree(same_in_both):
    same_in_both(DynamicClicks(dt=50))


@pytest.mark.parametrize(
    "wrong", [{"hazard": -1}, {"misheard": 0.5}, {"fast": 1}, {"shortest": 0}, {"longest": 100}]
)
def test_impossible_parameters_are_refused(wrong):
    with pytest.raises(InvalidValueError, match="DynamicClicks"):
        DynamicClicks(**wrong)
