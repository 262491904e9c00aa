"""ReadySetGo: one time origin for target and reward, flashes of at least one step."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_timing.ready_set_go import ReadySetGo

from neurogym_core import InvalidValueError, TaskEnv

GO = 1


def produce(task: ReadySetGo, ms: float, **conditions) -> dict:
    """The record of a trial in which the subject goes so many ms after the onset of Set."""
    env = TaskEnv(task)
    env.reset(seed=1, options={"conditions": conditions})
    elapsed = 0.0
    while True:
        elapsed += task.dt if env.period == "production" else 0
        *_, info = env.step(GO if elapsed and elapsed >= ms else 0)
        if info["new_trial"]:
            return info["trial"]


@pytest.mark.parametrize("gain", [1, 1.5, 2])
@pytest.mark.parametrize("dt", [10, 20, 100])
def test_oracle_is_correct_and_earns_the_largest_reward_of_any_step(oracle, dt, gain):
    """If the target time lies between two steps, half a step is the smallest possible error."""
    for trial in oracle(ReadySetGo(dt=dt, gains=(gain,)), 60):
        tolerance = 0.08 * trial["wanted"]
        off = abs(trial["wanted"] / dt - np.rint(trial["wanted"] / dt)) * dt
        assert trial["performance"] == 1
        assert trial["reward"] == pytest.approx(max((1 - off / tolerance) ** 1.5, 0.1))


def test_oracle_without_gain_is_paid_in_full_and_produces_the_interval(oracle):
    for trial in oracle(ReadySetGo(dt=10, weber=0), 60):
        assert trial["reward"] == 1
        assert trial["reaction_time"] == trial["duration.measure"] == trial["wanted"]


def test_intervals_and_periods_are_as_declared():
    task = ReadySetGo(dt=10, gains=(1.5,), weber=0)
    batch = task.sample(2000, seed=2)
    interval = batch.conditions["interval"]
    assert set(interval) == {500, 580, 660, 760, 840, 920, 1000}  # Remington et al. (2018)
    np.testing.assert_allclose(batch.period_steps["measure"] * 10, interval, atol=5.001)
    np.testing.assert_allclose(batch.period_steps["production"] * 10, 3 * interval, atol=5.001)
    assert set(batch.period_steps["fixation"]) == {10}


@pytest.mark.parametrize("dt", [10, 20, 80, 100, 200])
def test_ready_and_set_are_seen_and_an_interval_apart(dt):
    task = ReadySetGo(dt=dt, weber=0)
    batch = task.sample(50, seed=3)
    for row, obs in enumerate(np.split(batch.render(None), np.cumsum(batch.steps)[:-1])):
        ready = np.flatnonzero(obs[:, task.channels["ready"]][:, 0])
        set_ = np.flatnonzero(obs[:, task.channels["set"]][:, 0])
        assert len(ready) == len(set_) == max(int(83 / dt + 0.5), 1)
        assert set_[0] - ready[0] == batch.period_steps["measure"][row]
        fixation = obs[:, task.channels["fixation"]][:, 0]
        np.testing.assert_array_equal(np.flatnonzero(fixation == 0), np.arange(set_[0], len(obs)))


@pytest.mark.parametrize(
    ("ms", "outcome", "reward"),
    [
        (1000, "correct", 1.0),
        (960, "correct", (1 - 40 / 80) ** 1.5),
        (1040, "correct", (1 - 40 / 80) ** 1.5),
        (920, "correct", 0.1),  # smallest reward of a correct answer
        (1080, "correct", 0.1),
        (910, "error", 0.0),
        (1090, "error", 0.0),
    ],
)
def test_the_reward_counts_from_the_onset_of_set_as_the_target_does(ms, outcome, reward):
    trial = produce(ReadySetGo(dt=10), ms, interval=1000)
    assert (trial["outcome"], trial["reaction_time"]) == (outcome, ms)
    assert trial["reward"] == pytest.approx(reward)


def test_never_going_is_a_miss_and_going_before_set_costs():
    task = ReadySetGo()
    missed = produce(task, 1e9, interval=1000)
    assert (missed["outcome"], missed["performance"], missed["reward"]) == ("miss", 0, 0)
    env = TaskEnv(task)
    env.reset(seed=4)
    paid = []
    while env.period != "production":
        paid.append(env.step(GO)[1])
    assert np.unique(np.round(paid, 9)) == [-0.02]  # per step of 20 ms


@pytest.mark.parametrize("how", ["condition", "timing", "duration"])
def test_an_imposed_interval_is_the_one_that_is_shown_and_asked_for(oracle, how):
    weber = 0 if how == "condition" else 0.1
    timing = {"measure": 950} if how == "timing" else None
    task = ReadySetGo(dt=10, timing=timing, weber=weber)
    imposed = {"condition": {"interval": 950}, "timing": {}, "duration": {"duration.measure": 950}}[
        how
    ]
    for trial in oracle(task, 10, options={"conditions": imposed}):
        assert trial["duration.measure"] == trial["wanted"] == 950
        assert trial["reward"] == 1


def test_the_rewards_setting_scales_the_reward(oracle):
    assert {trial["reward"] for trial in oracle(ReadySetGo(rewards={"correct": 2}), 10)} == {2}


def test_single_env_and_vector_env_agree(same_in_both):
    same_in_both(ReadySetGo(dt=20, gains=(1, 1.5)))


def test_a_gain_of_zero_is_refused():
    with pytest.raises(InvalidValueError, match=r"gains=\(0,\)"):
        ReadySetGo(gains=(0,))


def test_interleaved_gains_are_cued_throughout_and_scale_the_wanted_time():
    task = ReadySetGo(gains=(1, 1.5), weber=0)
    batch = task.sample(200, seed=5)
    drawn = batch.conditions
    assert set(drawn["gain"]) == {1, 1.5}
    np.testing.assert_allclose(batch.notes["wanted"], drawn["gain"] * drawn["interval"])
    cue = np.split(batch.render(None)[:, task.channels["gain"]], np.cumsum(batch.steps)[:-1])
    for row, seen in enumerate(cue):
        np.testing.assert_array_equal(
            seen, np.tile([drawn["gain"][row] == 1, drawn["gain"][row] == 1.5], (len(seen), 1))
        )
    assert "gain" not in ReadySetGo().channels
