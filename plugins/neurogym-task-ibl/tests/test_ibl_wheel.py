"""IBLWheel: a grating that follows the wheel."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from neurogym_task_ibl.wheel import AZIMUTHS, IBLWheel, spread_on_units

from neurogym_core import Dataset, InvalidValueError, TaskEnv, run

REST, LEFT, RIGHT = 0, 1, 2


def azimuth_of(obs):
    grating = obs[: len(AZIMUTHS)]
    return float(grating @ AZIMUTHS / grating.sum())


def begun(dt=50, side="left", **settings):
    env = TaskEnv(IBLWheel(dt=dt, sigma=0.0, timing={"quiescence": 200}, **settings))
    obs, _ = env.reset(seed=1, options={"conditions": {"side": side, "contrast": 100}})
    while env.period == "quiescence":
        obs, *_ = env.step(REST)
    return env, obs


@pytest.mark.parametrize(("side", "start", "towards"), [("left", -35, RIGHT), ("right", 35, LEFT)])
def test_the_grating_follows_the_wheel_to_the_centre(side, start, towards):
    env, obs = begun(side=side)
    assert azimuth_of(obs) == pytest.approx(start)
    seen, paid = [], []
    while env.period == "response":
        obs, reward, *_ = env.step(towards)
        seen.append(azimuth_of(obs))
        paid.append(reward)
    np.testing.assert_allclose(
        seen, start + np.arange(1, 8) * 5 * np.sign(-start), atol=1e-4
    )  # 100 degrees/s
    assert paid == [0] * 6 + [1]
    assert env.period == "reward"
    assert azimuth_of(obs) == pytest.approx(0, abs=1e-6)


def test_the_wrong_direction_ends_in_a_timeout_and_a_change_of_mind_does_not():
    env, _ = begun(dt=50)
    for action in [LEFT] * 4 + [RIGHT] * 10:
        _, reward, *_ = env.step(action)
        assert reward == 0
    assert env.period == "response"
    assert env.step(RIGHT)[1] == 1
    env, _ = begun(dt=50)
    for _ in range(7):
        assert env.period == "response"
        _, reward, *_ = env.step(LEFT)
    assert reward == 0
    assert env.period == "timeout"
    info = {"new_trial": False}
    while not info["new_trial"]:
        *_, info = env.step(REST)
    assert info["trial"]["outcome"] == "error"


def test_moving_restarts_the_quiescence_and_does_not_move_the_grating():
    env = TaskEnv(IBLWheel(sigma=0.0, timing={"quiescence": 300}))
    env.reset(seed=2, options={"conditions": {"side": "left", "contrast": 100}})
    for action in (REST, REST, LEFT, REST, REST, REST):
        assert env.period == "quiescence"
        obs, *_ = env.step(action)
    assert env.period == "response"
    assert azimuth_of(obs) == pytest.approx(-35)


def test_not_turning_is_a_miss():
    record = run(IBLWheel(timing={"response": 2000}), "rest", 20, seed=3)
    assert set(record["outcome"]) == {"miss"}
    assert (record["reward"] == 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("dt", [10, 20, 100])
def test_the_wheel_oracle_is_at_its_maximum(dt):
    record = run(IBLWheel(dt=dt), "oracle", 100, seed=4)
    assert set(record["outcome"]) == {"correct"}
    assert (record["performance"] == 1).all()


def test_the_grating_is_shared_between_its_neighbours():
    units = spread_on_units(np.array([0.0, 8.75, -70.0]), np.array([100.0, 50.0, 25.0]))
    np.testing.assert_allclose(units.sum(axis=1), [1, 0.5, 0.25])
    np.testing.assert_allclose(units[1, 4:6], 0.25)


def test_the_wheel_makes_a_dataset_by_playing():
    batch = next(Dataset(IBLWheel(timing={"response": 1000}), batch_size=2, seq_len=60, seed=5))
    assert set(np.unique(batch.targets)) == {REST, LEFT, RIGHT}


def test_wheel_single_and_vector_env_agree(same_in_both):
    same_in_both(IBLWheel(timing={"response": 1500}, trials_per_session=20))


@pytest.mark.parametrize("wrong", [{"speed": 0.0}, {"speed": 0.5}, {"timing": {"response": 300}}])
def test_a_wheel_that_cannot_reach_the_centre_is_refused(wrong):
    """35 degrees take 70 s at 0.5 degrees/s; the window is open for 60 s."""
    with pytest.raises(InvalidValueError, match="speed"):
        IBLWheel(**wrong)
    assert IBLWheel(speed=0.6).speed == 0.6


def test_turning_at_random_reaches_either_side_within_a_minute():
    """400 trials: SE 0.025, limits of 0.11 (p < 1e-4)."""
    record = run(IBLWheel(), "random", 400, num_envs=50, seed=6)
    assert abs((record["outcome"] == "correct").mean() - 0.5) < 0.11
    assert (record["outcome"] == "error").mean() > 0.38


@pytest.mark.parametrize(("dt", "latency"), [(10, 350), (100, 400)])
def test_the_centre_is_reached_after_350_ms_in_whole_steps(dt, latency):
    env = TaskEnv(IBLWheel(dt=dt, timing={"quiescence": 200}))
    env.reset(seed=7)
    turning = 0
    while env.period != "reward":
        turning += dt * (env.period == "response")
        env.step(env.target)
    assert turning == latency


class FirstLook:
    """Turn as the first look at the grating suggests, and never change one's mind."""

    def begin(self, env):
        self.way = np.zeros(env.num_envs, int)

    def __call__(self, env, obs):
        at_right = obs[:, 6] > obs[:, 2]  # the units at 35 and at -35 degrees
        asked = env.period == "response"
        self.way = np.where(asked, np.where(self.way > 0, self.way, 2 - at_right), 0)
        return self.way


@pytest.mark.slow
def test_the_record_has_the_psychometric_curve_of_the_paper():
    """Without the outcome: choices and reaction times come from the movement of the grating."""
    record = run(IBLWheel(), FirstLook(), 1200, seed=5)
    # A grating at the left is turned to the right.
    chose_left_side = record["choice"] == "right"
    correct = chose_left_side == (record["side"] == "left")
    assert (correct == (record["outcome"] == "correct")).all()
    for contrast in (-100, -25, -12.5, -6.25, 6.25, 12.5, 25, 100):
        left = chose_left_side[record["signed_contrast"] == contrast]
        # The difference of two units with an SD of 10 % each.
        share = NormalDist().cdf(-contrast / (10 * np.sqrt(2)))
        error = np.sqrt(max(share * (1 - share), 1e-4) / len(left))
        assert abs(left.mean() - share) < 3.5 * error  # falsely in one of 250 runs, for 8 contrasts
    # 35 degrees at 10 degrees a step, from the onset of the grating; both ways are as long.
    assert set(record["reaction_time"]) == {400.0}
    assert np.allclose(record["answer_time"] - record["onset.response"], 400)


def test_a_detour_takes_longer_and_counts_as_the_side_that_was_reached():
    env, _ = begun(dt=50, side="left")
    for action in [LEFT] * 2 + [RIGHT] * 9:
        env.step(action)
    info = {"new_trial": False}
    while not info["new_trial"]:
        *_, info = env.step(REST)
    trial = info["trial"]
    assert (trial["choice"], trial["reaction_time"]) == ("right", 550)
    assert trial["outcome"] == "correct"
