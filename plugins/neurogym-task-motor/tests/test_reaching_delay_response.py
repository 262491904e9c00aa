"""ReachingDelayResponse: pointing to a remembered position."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_motor.reaching_delay_response import ReachingDelayResponse

from neurogym_core import Dataset, TaskEnv, run

GO, STAY = 1.0, -1.0


def action(go, position):
    """An action from `go` and a position in units of the line.

    The axis from -0.5 - 0.5 to 2 is mapped to [-1, 1].
    """
    return np.array([go, 2 * (position + 1) / 3 - 1], np.float32)


def to_decision(env):
    while env.period != "decision":
        env.step(action(STAY, -0.5))


@pytest.mark.parametrize("dt", [10, 20, 100])
def test_the_oracle_is_at_its_maximum(dt):
    record = run(ReachingDelayResponse(dt=dt), "oracle", 300, seed=1)
    assert set(record["outcome"]) == {"correct"}
    assert record["performance"].min() > 1 - 1e-6  # actions are float32
    np.testing.assert_allclose(record["reward"], 1, atol=1e-6)
    np.testing.assert_allclose(record["choice"], record["position"], atol=1e-6)


@pytest.mark.parametrize("dt", [10, 20, 100])
def test_durations_are_as_declared(dt):
    batch = ReachingDelayResponse(dt=dt).sample(900, seed=2)
    ms = {name: steps * dt for name, steps in batch.period_steps.items()}
    assert set(ms["stimulus"]) == {500}
    assert set(ms["decision"]) == {500}
    assert {wait: round((ms["delay"] == wait).mean(), 1) for wait in (0, 1000, 2000)} == {
        0: 0.3,
        1000: 0.3,
        2000: 0.3,
    }


def test_observations_and_correct_actions():
    task = ReachingDelayResponse(timing={"delay": 1000})
    batch = task.sample(50, seed=3)
    position = batch.conditions["position"]
    assert position.min() >= 0
    assert position.max() <= 1
    np.testing.assert_array_equal(batch.shown[:, :, 0], np.broadcast_to([0, 0, 1], (50, 3)))
    np.testing.assert_allclose(
        batch.shown[:, :, 1], np.stack([position, *np.full((2, 50), -0.5)], axis=1), atol=1e-6
    )
    np.testing.assert_allclose(batch.target[:, :2], np.broadcast_to([-1, -0.5], (50, 2, 2)))
    np.testing.assert_allclose(
        batch.target[:, 2], np.stack([np.ones(50), position], axis=1), atol=1e-6
    )


@pytest.mark.parametrize("error", [0.0, 0.1, 0.24, 0.26, 0.6])
def test_the_reward_falls_with_the_error_up_to_the_tolerance(error):
    env = TaskEnv(ReachingDelayResponse(timing={"delay": 0}))
    env.reset(seed=4)
    to_decision(env)
    position = env.conditions["position"]
    _, reward, *_, info = env.step(action(GO, position + error))
    near = error < 0.25
    assert info["new_trial"]
    assert reward == pytest.approx(1 / (1 + error) ** 2 if near else 0, abs=1e-5)
    assert info["trial"]["outcome"] == ("correct" if near else "error")
    assert info["performance"] == pytest.approx(reward, abs=1e-5)
    assert info["trial"]["choice"] == pytest.approx(position + error, abs=1e-5)
    assert info["trial"]["reaction_time"] == 100


@pytest.mark.parametrize("dt", [10, 100])
def test_a_premature_go_costs_and_answers_nothing(dt):
    env = TaskEnv(ReachingDelayResponse(dt=dt, timing={"delay": 1000}))
    env.reset(seed=5)
    paid = 0.0
    while env.period != "decision":
        paid += env.step(action(GO, env.conditions["position"]))[1]
    assert paid == pytest.approx(-1.5)  # 0.1 per 100 ms of stimulus and delay
    *_, info = env.step(action(GO, env.conditions["position"]))
    assert info["trial"]["aborts"] == 1500 // dt
    assert info["trial"]["outcome"] == "correct"
    assert run(ReachingDelayResponse(dt=dt), "premature", 200, seed=5)["reward"].mean() < 0


def test_moving_the_position_without_go_is_free():
    env = TaskEnv(ReachingDelayResponse())
    env.reset(seed=6)
    while env.period != "decision":
        assert env.step(action(STAY, 0.5))[1] == 0


def test_not_answering_costs():
    record = run(ReachingDelayResponse(), "rest", 60, seed=7)
    assert set(record["outcome"]) == {"miss"}
    np.testing.assert_allclose(record["reward"], -0.5)
    assert set(record["performance"]) == {0.0}


def test_dataset_targets_are_the_positions():
    batch = next(
        iter(Dataset(ReachingDelayResponse(timing={"delay": 0}), batch_size=3, seq_len=10, seed=8))
    )
    shown, wanted = batch.inputs[:, 0, 1], batch.targets[:, 9]
    np.testing.assert_allclose(wanted[:, 0], 1, atol=1e-6)
    np.testing.assert_allclose(wanted[:, 1], 2 * (shown + 1) / 3 - 1, atol=1e-6)
