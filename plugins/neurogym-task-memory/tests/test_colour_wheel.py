"""ColourWheel: items, the cue, and reports in the plane of the wheel."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_memory.colour_wheel import ColourWheel

from neurogym_core import Constant, InvalidValueError, TaskEnv, run


@pytest.mark.parametrize("dt", [10, 20, 100])
def test_the_oracle_reports_the_angle_of_the_cued_item(dt):
    record = run(ColourWheel(dt=dt), "oracle", 300, seed=1)
    error = np.angle(np.exp(1j * (record["choice"] - record["wanted"])))
    np.testing.assert_allclose(error, 0, atol=1e-5)
    rows = np.arange(300)
    np.testing.assert_allclose(record["wanted"], record["colours"][rows, record["order"][:, 0]])
    np.testing.assert_allclose(record["performance"], 1, atol=1e-5)


@pytest.mark.parametrize("dt", [10, 20, 100])
def test_items_last_100_ms_and_the_delay_900_ms(dt):
    batch = ColourWheel(dt=dt).sample(5, seed=2)
    assert set(batch.period_steps["stimulus"] * dt) == {100}
    assert set(batch.period_steps["delay"] * dt) == {900}


def test_items_are_points_of_their_colours_at_the_first_places_of_the_order():
    task = ColourWheel(memory_sd=0)
    batch = task.sample(400, seed=3)
    items = batch.shown[:, :, task.channels["items"]]
    points = items[:, batch.period == 1][:, 0].reshape(400, 8, 2)
    held = np.abs(points).sum(axis=2) > 0
    size, order = batch.conditions["set_size"], batch.conditions["order"]
    assert set(size) == {1, 2, 3, 6}
    for row in range(400):
        assert set(np.flatnonzero(held[row])) == set(order[row, : size[row]])
    angles = np.arctan2(points[..., 1], points[..., 0])
    np.testing.assert_allclose(angles[held], batch.conditions["colours"][held], atol=1e-5)
    assert not items[:, batch.period != 1].any()


def test_the_cue_marks_an_item_when_the_fixation_cue_turns_off():
    task = ColourWheel()
    batch = task.sample(200, seed=4)
    cue = batch.shown[:, :, task.channels["cue"]]
    np.testing.assert_array_equal(
        cue[:, batch.period == 3][:, 0].argmax(axis=1), batch.conditions["order"][:, 0]
    )
    assert not cue[:, batch.period != 3].any()
    fixation = batch.shown[:, :, task.channels["fixation"]]
    assert fixation[:, batch.period != 3].all()
    assert not fixation[:, batch.period == 3].any()


def test_colours_are_uniform_on_the_circle():
    wanted = run(ColourWheel(), "oracle", 4000, seed=5)["wanted"]
    # The mean of 4,000 unit vectors has components of SD 0.011: five SDs are 0.056.
    assert abs(np.exp(1j * wanted).mean()) < 0.056
    assert abs(np.exp(2j * wanted).mean()) < 0.056


def report(env, point):
    """Wait for the fixation cue to turn off, then report a point; reward and info."""
    while env.period != "decision":
        env.step(np.array([-1, 0, 0], np.float32))
    _, reward, *_, info = env.step(np.array([1, *point], np.float32))
    return reward, info


@pytest.mark.parametrize("degrees", [-90, -59, -20, 0, 20, 59, 61, 180])
def test_the_reward_falls_with_the_distance_up_to_60_degrees(degrees):
    env = TaskEnv(ColourWheel(conditions={"colours": Constant((np.pi,) * 8)}))
    env.reset(seed=6)
    angle = np.pi + np.deg2rad(degrees)  # across the seam of the circle
    reward, info = report(env, (np.cos(angle), np.sin(angle)))
    assert reward == pytest.approx(max(0, 1 - abs(degrees) / 60), abs=1e-5)
    assert info["trial"]["outcome"] == ("correct" if abs(degrees) < 60 else "error")


def test_only_the_direction_of_a_report_counts():
    env = TaskEnv(ColourWheel(conditions={"colours": Constant((0.0,) * 8)}))
    env.reset(seed=7)
    reward, info = report(env, (0.1, 0.0))
    assert (reward, info["trial"]["choice"]) == (1.0, 0.0)


def test_the_middle_of_the_wheel_earns_nothing():
    env = TaskEnv(ColourWheel(conditions={"colours": Constant((0.0,) * 8)}))
    env.reset(seed=7)
    reward, info = report(env, (0, 0))
    assert (reward, info["trial"]["outcome"]) == (0.0, "error")


def test_a_larger_reward_pays_more_for_the_same_performance():
    record = run(ColourWheel(rewards={"correct": 5}), "guess", 200, seed=8)
    assert record["reward"].max() > 2
    np.testing.assert_allclose(record["reward"], 5 * record["performance"], atol=1e-9)


def test_more_items_than_places_are_refused():
    with pytest.raises(InvalidValueError, match="set_sizes"):
        ColourWheel(set_sizes=(9,))


def test_pointing_to_the_displayed_colour_earns_the_performance_of_a_remembered_item():
    """5,000 trials; the SD of a trial's reward is below 0.15, so five SEs are 0.011."""
    task = ColourWheel()
    batch = task.sample(5000, seed=8)
    rows, cued = np.arange(5000), batch.conditions["order"][:, 0]
    items = batch.shown[:, batch.period == 1][:, 0][:, task.channels["items"]]
    cosine, sine = items.reshape(5000, 8, 2)[rows, cued].T
    shown = np.arctan2(sine, cosine)
    off = np.angle(np.exp(1j * (shown - batch.conditions["colours"][rows, cued])))
    assert np.rad2deg(off.std()) == pytest.approx(13.9, abs=0.7)
    assert np.maximum(0, 1 - np.abs(off) / (np.pi / 3)).mean() == pytest.approx(0.815, abs=0.011)


def test_the_best_constant_report_earns_one_sixth():
    """3,000 trials; the SD of a trial's reward is below 0.3, so five SEs are 0.028."""

    def same(env, observations):
        go = np.where(env.is_asked, 1, -1)
        return np.column_stack([go, np.full(env.num_envs, 0.9), np.zeros(env.num_envs)])

    record = run(ColourWheel(), same, 3000, num_envs=30, seed=9)
    assert record["performance"].mean() == pytest.approx(1 / 6, abs=0.028)


def test_a_negative_imprecision_is_refused():
    with pytest.raises(InvalidValueError, match="at least 0"):
        ColourWheel(memory_sd=-1)
