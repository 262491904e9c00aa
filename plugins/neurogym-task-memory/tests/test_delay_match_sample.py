"""DelayMatchSample, without and with distractors."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_memory.delay_match_sample import DelayMatchSample
from neurogym_task_memory.delay_match_sample_distractor import DelayMatchSampleDistractor1D

from neurogym_core import InvalidValueError, TaskEnv, circular_distance, run

GO = 1
FIRST_STEP = {"delay1": 9, "test1": 19, "delay2": 24, "test2": 34, "delay3": 39, "test3": 49}
"""First step of every period, counted from 1, at dt = 100 ms."""


@pytest.mark.parametrize("directions", [2, 3, 8])
def test_a_test_is_the_sample_or_its_opposite(directions):
    task = DelayMatchSample(directions=directions)
    batch = task.sample(100, seed=1)
    stimulus = batch.shown[:, :, task.channels["stimulus"]]
    sample, test = stimulus[:, batch.period == 1][:, 0], stimulus[:, batch.period == 3][:, 0]
    match = batch.conditions["test"] == "match"
    np.testing.assert_allclose(test[match], sample[match], atol=1e-6)
    np.testing.assert_allclose(test[~match], 1 - sample[~match], atol=1e-6)
    np.testing.assert_array_equal(
        batch.target[:, batch.period == 4][:, 0] - 1, np.where(match, 0, 1)
    )


def go_in(period: str, match: int) -> dict:
    """The record of a trial in which the subject goes on the first step of a period."""
    env = TaskEnv(DelayMatchSampleDistractor1D())
    env.reset(seed=1, options={"conditions": {"match": match}})
    while True:
        *_, info = env.step(GO if env.period == period else 0)
        if info["new_trial"]:
            return info["trial"]


@pytest.mark.parametrize("match", [1, 2, 3])
def test_going_is_right_during_the_match_only(match):
    for k in (1, 2, 3):
        for period in (f"delay{k}", f"test{k}"):
            trial = go_in(period, match)
            right = period == f"test{match}"
            assert (trial["outcome"], trial["reward"]) == (
                ("correct", 1) if right else ("error", -1)
            ), period
            assert trial["steps"] == FIRST_STEP[period]


def test_going_until_the_end_of_the_sample_costs_but_does_not_end_the_trial():
    """From the first step of the delay on, it is an error (see above)."""
    env = TaskEnv(DelayMatchSampleDistractor1D())
    env.reset(seed=1)
    paid = []
    while env.period in ("fixation", "sample"):
        paid.append(env.step(GO)[1])
    assert paid == [-0.1] * 8
    assert env.step(GO)[1] == -1
    for period in ("fixation", "sample"):
        trial = go_in(period, 1)
        assert trial["aborts"] > 0
        assert trial["outcome"] == "miss"


def test_distractors_are_away_from_the_sample_and_the_match_is_the_sample():
    task = DelayMatchSampleDistractor1D(units=64)
    batch = task.sample(300, seed=2)
    stimulus = batch.shown[:, :, task.channels["stimulus"]]
    shown = {}
    for name in ("sample", "test1", "test2", "test3"):
        segment = np.flatnonzero(batch.period == batch.period_names.index(name))[0]
        shown[name] = task.ring.population_vector(stimulus[:, segment])
    for k in (1, 2, 3):
        away = np.rad2deg(circular_distance(shown[f"test{k}"], shown["sample"]))
        matches = batch.conditions["match"] == k
        assert (away[matches] < 0.01).all()
        assert (away[~matches] > 29.9).all()
    assert set(batch.conditions["match"]) == {1, 2, 3}


def test_an_impossible_distance_is_refused():
    with pytest.raises(InvalidValueError, match="below 180"):
        DelayMatchSampleDistractor1D(least_distance=180)


def test_an_ideal_observer_of_one_test_makes_no_errors(averages):
    """Sample and test compared by their averages, in 2,000 trials."""
    task = DelayMatchSample()
    batch = task.sample(2000, seed=3)
    sample, test = (
        averages(task, batch, "stimulus", name).argmax(axis=1) for name in ("sample", "test")
    )
    np.testing.assert_array_equal(sample == test, batch.conditions["test"] == "match")


def test_always_going_at_the_same_test_is_right_in_a_third():
    """3,000 trials, five SDs are 4.3 %."""

    def second(env, observations):
        return np.where(np.asarray(env.period) == "test2", GO, 0)

    record = run(DelayMatchSampleDistractor1D(), second, 3000, num_envs=30, seed=4)
    assert np.mean(record["performance"]) == pytest.approx(1 / 3, abs=0.043)
    assert not np.any(run(DelayMatchSampleDistractor1D(), "rest", 30, seed=4)["performance"])
