"""AngleReproduction: two remembered angles, reproduced with a cursor."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_motor.angle_reproduction import AngleReproduction

from neurogym_core import Dataset, InvalidValueError, Ring, TaskEnv, circular_distance, run

REST, LEFT, RIGHT = 0, 1, 2


@pytest.mark.parametrize("dt", [10, 20, 100])
def test_the_oracle_reproduces_every_pair_of_angles(dt):
    grid = np.linspace(0, 2 * np.pi, 16, endpoint=False) + 0.03
    first, second = (axis.ravel() for axis in np.meshgrid(grid, grid))
    record = run(
        AngleReproduction(dt=dt),
        "oracle",
        256,
        num_envs=256,
        seed=1,
        conditions={"angle_1": first, "angle_2": second},
    )
    assert set(record["outcome"]) == {"correct"}
    assert record["performance"].min() > 1 - 1e-9
    assert (record["aborts"] == 0).all()


@pytest.mark.parametrize("dt", [10, 20, 100])
def test_periods_are_shown_in_order_with_their_durations(dt):
    task = AngleReproduction(dt=dt)
    batch = task.sample(40, seed=2)
    assert {name: set(steps * dt) for name, steps in batch.period_steps.items()} == {
        "fixation": {500},
        "stimulus1": {500},
        "delay1": {500},
        "stimulus2": {500},
        "delay2": {500},
        "go1": {2000},
        "go2": {2000},
    }
    ring = task.channels["angle"]
    for period, name in ((1, "angle_1"), (3, "angle_2")):
        shown = batch.shown[:, batch.period == period][:, 0, ring]
        np.testing.assert_allclose(
            task.ring.population_vector(shown), batch.conditions[name], atol=1e-4
        )
    others = ~np.isin(batch.period, (1, 3))
    assert not batch.shown[:, others][..., ring].any()
    for channel, period in (("go1", 5), ("go2", 6)):
        cue = batch.shown[0, :, task.channels[channel]][..., 0]
        np.testing.assert_array_equal(cue, batch.period == period)


def play(angles, actions):
    env = TaskEnv(AngleReproduction())
    env.reset(seed=3, options={"conditions": {"angle_1": angles[0], "angle_2": angles[1]}})
    paid, seen = [], []
    for action in actions:
        obs, reward, *_, info = env.step(action)
        paid.append(reward)
        seen.append(float(Ring(16).population_vector(obs[16:32])))
    return np.array(paid), np.array(seen), info


def test_the_cursor_moves_in_the_go_periods_only_and_continues_in_the_second():
    angles = (np.pi + 0.4, np.pi + 1.0)
    paid, seen, info = play(
        angles, [REST] * 24 + [LEFT] * 3 + [REST] * 18 + [LEFT] * 3 + [REST] * 17
    )
    assert paid[:24].sum() == 0
    assert paid[24] == pytest.approx(-0.1)  # the last step before the first go cue
    assert seen[24] == pytest.approx(np.pi, abs=1e-5)
    np.testing.assert_allclose(seen[25:27], np.pi + np.array([0.2, 0.4]), atol=1e-5)
    np.testing.assert_allclose(seen[45:48], np.pi + np.array([0.6, 0.8, 1.0]), atol=1e-5)
    np.testing.assert_allclose(paid[26:45], 1)
    np.testing.assert_allclose(paid[47:], 1)
    assert info["trial"]["outcome"] == "correct"


def test_every_step_is_rewarded_by_its_distance():
    angles = (1.0, 5.0)
    paid, seen, _ = play(angles, [REST] * 25 + [RIGHT] * 20 + [LEFT] * 20)
    wanted = np.repeat(angles, 20)
    # The observation after the last step shows the next trial's cursor.
    distance = circular_distance(seen[25:-1], wanted[:-1])
    np.testing.assert_allclose(paid[25:-1], np.maximum(1 - distance, -0.1), atol=1e-4)


@pytest.mark.parametrize(("first", "second"), [(True, False), (False, True), (False, False)])
def test_both_angles_have_to_be_correct(first, second):
    angles = (np.pi if first else np.pi + 1, np.pi if second else np.pi + 1)
    _, _, info = play(angles, [REST] * 65)
    assert info["trial"]["outcome"] == "error"


def test_angles_are_real_numbers_all_around():
    conditions = AngleReproduction().sample(2000, seed=4).conditions
    for name in ("angle_1", "angle_2"):
        counts = np.histogram(conditions[name], bins=8, range=(0, 2 * np.pi))[0]
        np.testing.assert_allclose(counts, 250, atol=5 * np.sqrt(250))
    # Independent: the correlation of 2,000 pairs has an SD of 0.022.
    assert abs(np.cos(conditions["angle_1"] - conditions["angle_2"]).mean()) < 5 / np.sqrt(4000)


def test_angle_reproduction_makes_a_dataset_by_playing():
    batch = next(iter(Dataset(AngleReproduction(), batch_size=3, seq_len=80, seed=5)))
    assert batch.inputs.shape == (3, 80, 34)
    assert set(np.unique(batch.targets)) == {REST, LEFT, RIGHT}


def test_angle_reproduction_single_and_vector_env_agree(same_in_both):
    same_in_both(AngleReproduction(trials_per_session=5))


def test_a_cursor_that_cannot_turn_is_refused():
    with pytest.raises(InvalidValueError, match="speed"):
        AngleReproduction(speed=-1.0)


def test_choice_and_reaction_time_are_those_of_the_first_turn():
    record = run(AngleReproduction(), "oracle", 100, seed=1)
    moved = record["choice"] != "none"
    shorter = np.where(record["angle_1"] > np.pi, "left", "right")
    assert (record["choice"] == np.where(moved, shorter, "none")).all()
    assert set(record["reaction_time"][moved]) == {100.0}
    assert np.isnan(record["reaction_time"][~moved]).all()
