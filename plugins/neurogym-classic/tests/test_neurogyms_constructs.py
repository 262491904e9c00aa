"""Constructs of NeuroGym's task files, each tested alone.

test_neurogyms_files.py plays the files themselves.
"""

from __future__ import annotations

import logging
import warnings

import numpy as np
import pytest
from neurogym_classic import InvalidOperationError, TrialEnv, spaces, tasktools

from neurogym_core import Dataset, InvalidValueError, NotSupportedError, TrialLayoutError, make


def opened(ref, name, **settings):
    env = make(ref("constructs", name), trials_per_session=None, **settings)
    observation, _ = env.reset(seed=0)
    return env, observation


def test_whole_floats_are_actions(ref):
    env, _ = opened(ref, "Timed")
    assert env.unwrapped.gt.tolist() == [0, 0, 0, 0, 1, 0]
    assert env.unwrapped.gt.dtype == np.int64
    batch = next(Dataset(ref("constructs", "Timed"), 2, seed=0, targets="units"))
    assert batch.targets[0].argmax(axis=1).tolist() == [0, 0, 0, 0, 1, 0]


def test_other_floats_are_truncated_with_one_warning(ref):
    with pytest.warns(UserWarning, match=r"Angle was given 4.7.*not in Discrete\(3\)"):
        env, _ = opened(ref, "Angle")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(9):
            _, reward, *_, info = env.step(0)
    assert info["gt"] == 4
    assert reward == pytest.approx(-(2 * np.pi - 4))


def test_targets_that_are_not_actions_have_no_dataset(ref):
    with (
        pytest.warns(UserWarning, match="whole part"),
        pytest.raises(NotSupportedError, match=r"Angle.new_trial sets targets that are not in"),
    ):
        Dataset(ref("constructs", "Angle"))


def test_datasets_of_classic_envs_have_no_best_paid_action(ref):
    with pytest.raises(NotSupportedError, match="best-paid"):
        Dataset(ref("constructs", "Timed"), targets="best")


def test_names_are_accepted_before_other_arguments_of_a_space():
    assert spaces.Discrete(2, {"wait": 0, "go": 1}).name == {"wait": 0, "go": 1}
    space = spaces.Box(-1, 1, {"cue": 0}, shape=(3,), dtype=np.float32)
    assert (space.name, space.shape) == ({"cue": 0}, (3,))
    assert spaces.Discrete(3, seed=1).sample() == spaces.Discrete(3, seed=1).sample()


@pytest.mark.parametrize("wrong", [lambda: spaces.Box(-1, 1, (3,)), lambda: spaces.Discrete(3, 0)])
def test_other_values_in_the_place_of_names_are_refused(wrong):
    with pytest.raises(
        InvalidValueError, match=r"given the names .*all other arguments by keyword"
    ):
        wrong()


def test_observations_and_ground_truth_can_be_assigned(ref):
    env, first = opened(ref, "Assigned")
    shown, rewards = [first.tolist()], []
    for _ in range(3):
        observation, reward, *_, info = env.step(1)
        shown.append(observation.tolist())
        rewards.append(reward)
        assert info["trial"]["answer"] == info["gt"]
    assert shown == [[1, 0], [0, 1], [1, 0], [0, 1]]
    assert rewards == [1, 0, 1]


def test_a_dataset_has_the_assigned_arrays(ref):
    batch = next(Dataset(ref("constructs", "Assigned"), 1, 4, seed=0))
    assert batch.targets[0, 0] == batch.conditions["answer"][0]
    assert batch.inputs[0, 0].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("name", "rows", "says"),
    [("ob", np.zeros(2), r"ob of shape \(2,\)"), ("gt", 1, r"gt of shape")],
)
def test_assigned_arrays_need_a_row_per_step(load, name, rows, says):
    env = load("constructs", "Assigned")()
    with pytest.raises(TrialLayoutError, match=says):
        setattr(env, name, rows)


def test_a_number_is_an_observation_of_one_entry(ref):
    env, _ = opened(ref, "Nothing")
    observation, *_ = env.step(0)
    assert observation.shape == (1,)
    assert observation in env.observation_space


@pytest.mark.parametrize(("settings", "steps"), [({}, 100), ({"tmax": 500}, 5)])
def test_trials_without_periods_have_the_assigned_length(ref, settings, steps):
    env, _ = opened(ref, "Nothing", **settings)
    for seed in (None, 3):
        env.reset(seed=seed)
        ends = [env.step(0)[-1]["new_trial"] for _ in range(3 * steps)]
        assert np.flatnonzero(ends).tolist() == [steps - 1, 2 * steps - 1, 3 * steps - 1]


def test_an_env_without_trials_plays(ref, caplog):
    env, first = opened_clock(ref)
    with caplog.at_level(logging.WARNING, "neurogym_classic"):
        second, *_ = env.step(1)
    assert caplog.messages == ["step 0"]
    again, same = opened_clock(ref)
    assert (first, second) == (same, again.step(1)[0])
    assert env.unwrapped.t == 100
    with pytest.raises(InvalidOperationError, match="7 is not an action"):
        env.step(7)


def opened_clock(ref):
    env = make(ref("constructs", "Clocked"))
    return env, env.reset(seed=1)[0]


def test_distances_on_the_circle():
    angles = np.array([0, 0.5, np.pi, -np.pi, 6.0])
    expected = [0, 0.5, np.pi, np.pi, 2 * np.pi - 6]
    np.testing.assert_allclose(tasktools.circular_dist(angles), expected)
    assert tasktools.to_map("a", "b") == tasktools.to_map(["a", "b"]) == {"a": 0, "b": 1}


def test_the_base_class_has_the_form_of_classic_envs():
    assert TrialEnv.ngym_form.name == "a classic env"
