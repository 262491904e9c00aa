"""Reaching1DWithSelfDistraction: one ring for the cursor and the target."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_motor.reaching_1d import Reaching1D, Reaching1DWithSelfDistraction

from neurogym_core import Dataset, Ring, TaskEnv, run

LEFT = 1


def ring(angle: float) -> np.ndarray:
    return np.cos(Ring(32).angles - angle)


def test_the_cursor_swamps_the_target_on_the_same_units():
    env = TaskEnv(Reaching1DWithSelfDistraction())
    obs, _ = env.reset(seed=1, options={"conditions": {"angle": 1.0}})
    np.testing.assert_allclose(obs[1:], ring(np.pi), atol=1e-6)  # no target while fixating
    while env.period == "fixation":
        obs, *_ = env.step(0)
    np.testing.assert_allclose(obs[1:], ring(np.pi) + 0.3 * ring(1.0), atol=1e-6)
    obs, *_ = env.step(LEFT)
    np.testing.assert_allclose(obs[1:], ring(np.pi + 0.2) + 0.3 * ring(1.0), atol=1e-6)


def test_a_subject_that_knows_the_cursor_can_find_the_target():
    task = Reaching1DWithSelfDistraction()
    env = TaskEnv(task)
    obs, _ = env.reset(seed=2)
    while env.period == "fixation":
        obs, *_ = env.step(0)
    left = Ring(32).population_vector(obs[1:] - ring(np.pi))
    assert left == pytest.approx(env.conditions["angle"], abs=1e-4)


@pytest.mark.parametrize("dt", [10, 20, 100])
def test_rewards_and_outcomes_are_those_of_reaching(dt):
    angles = {"angle": np.linspace(0, 2 * np.pi, 60, endpoint=False)}
    mine = run(
        Reaching1DWithSelfDistraction(dt=dt), "oracle", 60, num_envs=60, seed=3, conditions=angles
    )
    theirs = run(Reaching1D(dt=dt), "oracle", 60, num_envs=60, seed=3, conditions=angles)
    assert set(mine["outcome"]) == {"correct"}
    np.testing.assert_allclose(mine["reward"], theirs["reward"])
    assert mine["performance"].min() > 1 - 1e-9


def test_the_dataset_follows_the_oracle():
    batch = next(iter(Dataset(Reaching1DWithSelfDistraction(), batch_size=4, seq_len=50, seed=4)))
    assert batch.inputs.shape == (4, 50, 33)
    assert len(set(np.unique(batch.targets))) > 1


def test_single_and_vector_env_agree(same_in_both):
    same_in_both(Reaching1DWithSelfDistraction(trials_per_session=10))
