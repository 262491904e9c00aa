"""Reaching1D: a cursor on a circle, moved to a target."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_motor.reaching_1d import Reaching1D

from neurogym_core import (
    Dataset,
    InvalidValueError,
    Ring,
    TaskEnv,
    TaskVectorEnv,
    circular_distance,
    run,
)

REST, LEFT, RIGHT = 0, 1, 2


def cursor_of(obs):
    """The direction that the cursor's ring shows, radians."""
    return float(Ring(16).population_vector(obs[17:]))


def angles(n=400):
    """Targets all around the circle, the opposite side included."""
    return np.linspace(0, 2 * np.pi, n, endpoint=False)


@pytest.mark.parametrize("dt", [10, 20, 100])
def test_the_oracle_reaches_every_target_and_is_at_its_maximum(dt):
    record = run(
        Reaching1D(dt=dt), "oracle", 400, num_envs=400, seed=1, conditions={"angle": angles()}
    )
    assert set(record["outcome"]) == {"correct"}
    assert record["performance"].min() > 1 - 1e-9
    assert (record["aborts"] == 0).all()


@pytest.mark.parametrize("dt", [10, 20, 100])
def test_the_oracle_ends_within_half_a_step_of_the_target(dt):
    env = TaskVectorEnv(Reaching1D(dt=dt), 16)
    obs, _ = env.reset(seed=2)
    target = env.conditions["angle"]
    for _ in range(2500 // dt - 1):
        obs, *_ = env.step(env.target)
    shown = Ring(16).population_vector(obs[:, 17:])
    assert circular_distance(shown, target).max() <= dt / 1000 + 1e-4  # half of 2 rad/s


def test_no_plan_is_better_than_the_maximum():
    """The best of all plans 'so many steps one way, then rest', for targets all around."""
    task = Reaching1D()
    batch = task.sample(60, seed=0, angle=angles(60))
    steps = np.arange(1, 21)
    best = np.full(60, -np.inf)
    for way in (1, -1):
        for moves in range(21):
            path = np.pi + way * 0.2 * np.minimum(steps, moves)
            distance = circular_distance(path[None], batch.conditions["angle"][:, None])
            best = np.maximum(best, np.maximum(1 - distance, -0.1).sum(axis=1))
    # The longer way is a little better for some targets straight opposite; see `_best`.
    difference = best - batch.table("best")
    assert difference.min() > -1e-9
    assert np.median(difference) < 1e-9
    assert (difference / best).max() < 0.1


def test_actions_turn_the_cursor_and_only_while_reaching():
    env = TaskEnv(Reaching1D())
    obs, _ = env.reset(seed=3)
    seen = [cursor_of(obs)]
    for action in [LEFT, RIGHT, REST, LEFT, LEFT, LEFT, LEFT, REST, RIGHT, RIGHT, RIGHT]:
        obs, *_ = env.step(action)
        seen.append(cursor_of(obs))
    turned = np.rint((np.array(seen) - np.pi) / 0.2)
    np.testing.assert_allclose(np.array(seen), np.pi + 0.2 * turned, atol=1e-5)
    assert turned.tolist() == [0, 0, 0, 0, 0, 0, 1, 2, 2, 1, 0, -1]


@pytest.mark.parametrize("dt", [10, 100])
def test_moving_costs_during_fixation_and_is_free_while_reaching(dt):
    env = TaskEnv(Reaching1D(dt=dt))
    env.reset(seed=4)
    held = sum(env.step(LEFT)[1] for _ in range(500 // dt))
    assert held == pytest.approx(-0.5)  # 0.1 per 100 ms
    angle, cursor, paid = env.conditions["angle"], np.pi, 0.0
    for k in range(2000 // dt):
        action = 1 + k % 2
        cursor += (2.0 if action == LEFT else -2.0) * dt / 1000
        _, reward, *_, info = env.step(action)
        assert reward == pytest.approx(max(1 - circular_distance(cursor, angle), -0.1) * dt / 100)
        paid += reward
    assert info["trial"]["aborts"] == 500 // dt
    assert info["trial"]["reward"] == pytest.approx(paid + held)


def test_the_outcome_is_that_of_the_last_step():
    def end(angle, *last):
        env = TaskEnv(Reaching1D())
        env.reset(seed=4, options={"conditions": {"angle": angle}})
        for action in [REST] * (25 - len(last)) + list(last):
            *_, info = env.step(action)
        return info["trial"]["outcome"]

    assert end(np.pi + 0.15, REST) == "correct"
    assert end(np.pi + 0.25, REST) == "error"
    assert end(np.pi + 0.25, LEFT, REST) == "correct"
    assert end(np.pi + 0.25, LEFT) == "error"  # near, but not at rest


def test_the_target_is_an_angle_and_shown_only_while_reaching():
    task = Reaching1D()
    batch = task.sample(500, seed=5)
    angle = batch.conditions["angle"]
    assert angle.dtype.kind == "f"
    assert len(set(angle)) == 500
    target = batch.shown[:, :, task.channels["target"]]
    assert (target[:, 0] == 0).all()
    reach = batch.period == 1
    np.testing.assert_allclose(
        task.ring.population_vector(target[:, reach][:, 0]), angle, atol=1e-4
    )
    cue = batch.shown[:, :, 0]
    np.testing.assert_array_equal(cue, np.broadcast_to(~reach, cue.shape))


@pytest.mark.parametrize("dt", [10, 20, 100])
def test_durations_and_rewards_do_not_depend_on_dt(dt):
    batch = Reaching1D(dt=dt).sample(5, seed=6)
    assert {name: set(steps * dt) for name, steps in batch.period_steps.items()} == {
        "fixation": {500},
        "reach": {2000},
    }
    still = run(
        Reaching1D(dt=dt),
        "rest",
        3,
        seed=7,
        conditions={"angle": np.pi + np.array([0.0, 0.5, 3.0])},
    )
    np.testing.assert_allclose(still["reward"], [20, 10, -2])  # 2 s of 1, 0.5, -0.1 per 100 ms
    assert still["outcome"].tolist() == ["correct", "error", "error"]


def test_the_cursor_returns_to_its_start_in_every_trial():
    env = TaskEnv(Reaching1D())
    obs, _ = env.reset(seed=8)
    for _ in range(4):
        assert cursor_of(obs) == pytest.approx(np.pi, abs=1e-5)
        over = False
        while not over:
            obs, *_, info = env.step(LEFT)
            over = info["new_trial"]


def test_it_makes_a_dataset_by_playing():
    batch = next(iter(Dataset(Reaching1D(), batch_size=4, seq_len=50, seed=9)))
    assert batch.inputs.shape == (4, 50, 33)
    assert set(np.unique(batch.targets)) <= {REST, LEFT, RIGHT}
    assert len(set(np.unique(batch.targets))) > 1


def test_single_and_vector_env_agree(same_in_both):
    same_in_both(Reaching1D(trials_per_session=10))


def test_a_cursor_that_does_not_move_is_refused():
    with pytest.raises(InvalidValueError, match="speed"):
        Reaching1D(speed=0.0)


def test_choice_and_reaction_time_are_those_of_the_first_turn():
    env = TaskEnv(Reaching1D())
    env.reset(seed=4, options={"conditions": {"angle": np.pi + 0.3}})
    for action in [RIGHT] * 5 + [REST] * 3 + [RIGHT, LEFT, LEFT] + [REST] * 14:
        *_, info = env.step(action)
    trial = info["trial"]
    assert (trial["choice"], trial["reaction_time"]) == ("right", 400)  # not the broken fixation
    assert trial["outcome"] == "correct"
    record = run(Reaching1D(), "rest", 20, seed=1)
    assert set(record["choice"]) == {"none"}
    assert np.isnan(record["reaction_time"]).all()
    record = run(Reaching1D(), "oracle", 200, seed=1)
    shorter = np.where(record["angle"] > np.pi, "left", "right")
    assert (record["choice"] == np.where(record["choice"] == "none", "none", shorter)).all()
