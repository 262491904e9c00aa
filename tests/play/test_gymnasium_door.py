"""Plain `gymnasium.make` and `make_vec`: ids work without an import, also in worker processes."""

from __future__ import annotations

import json

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec

import neurogym_core as ngym
from neurogym_core import TaskEnv, TaskVectorEnv, Uniform

pytest.importorskip("neurogym_task_perceptual")

NAME = "perceptual/PerceptualDecisionMaking-v0"
ID = f"neurogym_core.gym:{NAME}"


def test_an_id_is_all_that_a_script_needs():
    env = gymnasium.make(ID, timing={"delay": 500}, dt=20)
    assert isinstance(env.unwrapped, TaskEnv)
    assert env.unwrapped.task.dt == 20
    mine = ngym.make(NAME, timing={"delay": 500}, dt=20)
    for each in (env, mine):
        each.reset(seed=3)
    for action in (0, 0, 1, 2, 0):
        one, other = env.step(action), mine.step(action)
        np.testing.assert_array_equal(one[0], other[0])
        assert one[1:4] == other[1:4]


def test_vector_envs_by_id_are_native():
    envs = gymnasium.make_vec(ID, num_envs=5, vectorization_mode="vector_entry_point", sigma=2.0)
    assert isinstance(envs.unwrapped, TaskVectorEnv)
    assert envs.unwrapped.task.sigma == 2.0
    observations, _ = envs.reset(seed=1)
    assert observations.shape == (5, 3)


def test_the_mode_of_the_next_session_is_a_keyword_of_its_own():
    envs = gymnasium.make_vec(ID, num_envs=2, autoreset_mode="SameStep")
    assert envs.metadata["autoreset_mode"] is gymnasium.vector.AutoresetMode.SAME_STEP
    # Gymnasium refuses these before it calls the core.
    with pytest.raises(gymnasium.error.Error, match="arguments only through kwargs"):
        gymnasium.make_vec(ID, num_envs=2, vector_kwargs={"autoreset_mode": "SameStep"},
                           vectorization_mode="vector_entry_point")  # fmt: skip


def test_workers_make_it_in_their_own_processes():
    envs = gymnasium.make_vec(ID, num_envs=2, vectorization_mode="async", timing={"delay": 300})
    try:
        alone = [gymnasium.make(ID, timing={"delay": 300}) for _ in range(2)]
        observations, _ = envs.reset(seed=[4, 9])
        expected = [env.reset(seed=seed)[0] for env, seed in zip(alone, (4, 9), strict=True)]
        np.testing.assert_array_equal(observations, expected)
        for _ in range(30):
            observations, rewards, *_ = envs.step(np.array([0, 0]))
            results = [env.step(0) for env in alone]
            np.testing.assert_array_equal(observations, [result[0] for result in results])
            np.testing.assert_array_equal(rewards, [result[1] for result in results])
    finally:
        envs.close()


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {
            "dt": 20,
            "sigma": 0.5,
            "timing": {"delay": Uniform(300, 900), "stimulus": ("choice", [200, 400])},
        },
        {"coherences": (0, 51.2), "rewards": {"error": -1}, "conditions": {"direction": 1}},
    ],
)
def test_a_spec_goes_through_json_and_makes_the_same_env(settings):
    env = ngym.make(NAME, **settings)
    assert env.spec.id == NAME
    text = env.spec.to_json()
    json.loads(text)
    again = gymnasium.make(EnvSpec.from_json(text))
    assert again.unwrapped.task == env.unwrapped.task
    np.testing.assert_array_equal(again.reset(seed=8)[0], env.reset(seed=8)[0])
    for action in (0, 0, 0, 1):
        np.testing.assert_array_equal(again.step(action)[0], env.step(action)[0])


def test_an_unknown_id_is_gymnasiums_own_error():
    with pytest.raises(gymnasium.error.NameNotFound, match="PerceptualDecisionMakin"):
        gymnasium.make("neurogym_core.gym:perceptual/PerceptualDecisionMakin-v0")


def test_a_wrong_setting_is_reported_through_gymnasium_too():
    with pytest.raises(TypeError, match=r"(?s)coherencs.*coherences"):
        gymnasium.make(ID, coherencs=(1,))
