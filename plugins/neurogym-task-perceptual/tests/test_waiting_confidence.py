"""Waiting for a reward that may not come: delays, money, and confidence in waiting times."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from neurogym_task_perceptual.observers import Waiter
from neurogym_task_perceptual.waiting_confidence import LEAVE, WaitingConfidence

from neurogym_core import InvalidValueError, run
from neurogym_core.tools import find_task

IDEAL = 0.670
MOST = 1.75


@cache
def played(stays=None, knows=True, trials=8000, one=False):
    return run(WaitingConfidence(), Waiter(stays, knows, one), trials, num_envs=400, seed=1)


def test_delays_are_exponential_within_their_bounds_and_one_of_ten_trials_is_a_catch_trial():
    """20,000 trials: 5 SEs of the mean and of shares."""
    drawn = WaitingConfidence().sample(20_000, seed=1).conditions
    delay = drawn["delay"]
    assert 500 <= delay.min() < 510
    assert 6000 < delay.max() <= 8000
    rest = 7500 / np.expm1(5)
    assert delay.mean() == pytest.approx(2000 - rest, abs=50)
    past = (delay > 2000).mean() / (delay > 500).mean()
    assert past == pytest.approx((np.exp(-1) - np.exp(-5)) / (1 - np.exp(-5)), abs=0.018)
    assert drawn["catch"].mean() == pytest.approx(0.1, abs=0.011)


def test_the_reward_comes_after_its_delay_to_those_who_stay_and_are_right():
    record = played(8000, trials=2000)
    right = (record["outcome"] == "correct") & ~record["catch"]
    np.testing.assert_array_equal(record["paid"] == 1, right)
    expected = np.where(right, np.ceil(record["delay"] / 100 - 1e-9) * 100, 8000)
    np.testing.assert_allclose(record["waited"], expected)


def test_the_money_is_the_reward_and_the_time_that_is_left():
    for stays in (100, 2000, 8000):
        record = played(stays, trials=2000)
        money = record["paid"] + 0.1 * (8000 - record["waited"]) / 1000
        np.testing.assert_allclose(record["reward"], money, atol=1e-5)
        np.testing.assert_allclose(record["performance"], money / MOST, atol=1e-5)
        assert record["waited"].max() == stays


def test_without_a_choice_nothing_is_earned():
    record = run(WaitingConfidence(), "rest", 50, seed=1)
    assert (record["performance"] == 0).all()
    assert (record["outcome"] == "miss").all()
    assert (record["steps"] == 16).all()


def test_leaving_is_free_while_waiting_only():
    def leaves(env, observations):
        return np.full(env.num_envs, LEAVE)

    record = run(WaitingConfidence(), leaves, 20, seed=1)
    np.testing.assert_allclose(record["reward"], -0.1 * 16, atol=1e-5)


def test_the_ideal_observer_reaches_the_ideal_of_the_manifest():
    """8,000 trials: 4 SEs."""
    assert find_task("perceptual/WaitingConfidence-v0").ideal["value"] == IDEAL
    assert played()["performance"].mean() == pytest.approx(IDEAL, abs=0.013)


@pytest.mark.parametrize(
    ("stays", "knows", "expected"),
    [(4000, True, 0.662), (8000, True, 0.62), (100, True, 0.451), (8000, False, 0.41)],
)
def test_other_policies_earn_what_the_page_says(stays, knows, expected):
    """8,000 trials: 4 SEs, and the rounding of the page."""
    assert played(stays, knows)["performance"].mean() == pytest.approx(expected, abs=0.018)


def test_one_odour_alone_earns_what_the_page_says():
    """8,000 trials: 4 SEs, and the rounding of the page."""
    assert played(one=True)["performance"].mean() == pytest.approx(0.65, abs=0.018)


@pytest.mark.slow
def test_no_fixed_time_of_waiting_is_as_good_as_confidence():
    """The same 8,000 trials; the differences are 3 SEs or more for the closest one."""
    best = played()["performance"].mean()
    for stays in (1000, 2000, 3000, 4000, 5000, 6000):
        assert played(stays)["performance"].mean() < best


def test_the_time_of_leaving_is_that_of_the_equation():
    task = WaitingConfidence()
    subject = Waiter()
    run(task, subject, 1)
    sure = np.array([0.5, 0.7, 0.9, 0.95])
    equation = 500 + 1500 * np.log(sure / (1 - sure) * (1 / (0.1 * 1.5) - 1))
    found = subject.best[np.rint(1000 * sure).astype(int)]
    np.testing.assert_allclose(found[:3], equation[:3], atol=400)  # steps, and the last delay
    assert (np.diff(found) > 0).all()


@pytest.mark.slow
def test_waiting_times_form_a_folded_x():
    """Without a reward, the ideal waits longer the easier the choice if it is right, and less long
    if it is wrong; means of 70 trials or more, whose differences are 4 SEs or more."""
    record = played(trials=40_000)
    hard = np.abs(record["share"] - 50)
    means = {}
    for outcome in ("correct", "error"):
        rows = (record["outcome"] == outcome) & (record["paid"] == 0)
        means[outcome] = [record["waited"][rows & (hard == one)].mean() for one in (2, 6, 18)]
    assert (np.diff(means["correct"]) > 0).all()
    assert (np.diff(means["error"]) < 0).all()


def test_single_env_and_vector_env_agree(same_in_both):
    same_in_both(WaitingConfidence())


@pytest.mark.parametrize(
    "wrong", [{"shares": (50,)}, {"sigma": -1}, {"price": -1}, {"p_catch": 1.0}, {"shares": ()}]
)
def test_impossible_parameters_are_refused(wrong):
    with pytest.raises(InvalidValueError, match="WaitingConfidence"):
        WaitingConfidence(**wrong)
