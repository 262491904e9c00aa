"""Null: an empty trial of ten seconds."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_control.null import Null

from neurogym_core import Dataset, NotSupportedError, TaskEnv


@pytest.mark.parametrize("dt", [10, 100])
def test_nothing_is_shown_and_nothing_is_paid(dt):
    env = TaskEnv(Null(dt=dt))
    obs, _ = env.reset(seed=1)
    for step in range(10_000 // dt):
        assert not obs.any()
        obs, reward, *_, info = env.step(0)
        assert reward == 0
        assert info["new_trial"] == (step == 10_000 // dt - 1)
    assert info["trial"]["duration.rest"] == 10_000
    assert (info["trial"]["aborts"], info["trial"]["performance"]) == (0, 0)


def test_there_is_nothing_but_resting():
    env = TaskEnv(Null())
    assert env.action_space.n == 1
    assert env.observation_space.shape == (1,)


def test_a_dataset_is_refused_unless_asked_for():
    with pytest.raises(NotSupportedError, match="has no correct actions"):
        Dataset(Null(), 2)
    batch = next(iter(Dataset(Null(), 2, targets="best", seed=2)))
    assert batch.inputs.shape == (2, 100, 1)
    assert not np.any(batch.targets)


def test_single_env_and_vector_env_agree(same_in_both):
    same_in_both(Null(timing={"rest": 500}), steps=60)
