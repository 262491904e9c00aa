"""Tasks that are classes of Gymnasium envs: plain ones, and ones with a form that supports more."""

from __future__ import annotations

import copy
import pickle
from functools import partial

import gymnasium
import numpy as np
import pytest
from neurogym_wrappers import TrialHistory

from neurogym_core import Dataset, PassReward, ReactionTime, make, make_task, make_vec, run
from neurogym_core.errors import InvalidValueError, NotSupportedError, UnknownNameError
from neurogym_core.play.dataset import Batch, Placed
from neurogym_core.play.make import EnvForm


class Guess(gymnasium.Env):
    """A plain Gymnasium env."""

    observation_space = gymnasium.spaces.Box(-1, 1, (2,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, bonus=0.0, render_mode=None):
        self.bonus, self.render_mode = bonus, render_mode

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.zeros(2, np.float32), {}

    def step(self, action):
        return np.ones(2, np.float32), float(action) + self.bonus, False, False, {}


class Ramps:
    """Batches that count up from a random number."""

    n_inputs, n_outputs = 1, 2

    def __init__(self, env, dataset, sequence):
        self.env, self.dataset = env, dataset
        self.rng = np.random.default_rng(sequence)

    def next_batch(self):
        shape = (self.dataset.batch_size, self.dataset.seq_len)
        inputs = self.rng.random() + np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        mask, rows = np.ones(shape, bool), np.arange(shape[0])
        placed = partial(Placed, rows, 0 * rows, 0 * rows + shape[1], {})
        targets = self.encode(np.zeros(shape, np.int64))
        weights = mask.astype(np.float32)
        return Batch(inputs[..., None], targets, weights, mask, placed, self.dataset)

    def encode(self, targets):
        return targets + 1


class RampForm(EnvForm):
    name = "a ramp env"
    wrapper = "RampWrapper"

    def make(self, cls, params, seed):
        env = super().make(cls, {**params, "bonus": 1.0}, seed)
        env.made_with = seed
        return env

    def batches(self, env, dataset, sequence):
        return Ramps(env, dataset, sequence)


class Ramp(Guess):
    ngym_form = RampForm()


def test_any_gymnasium_env_may_be_a_task():
    env = make(Guess, bonus=0.5, wrap=PassReward)
    assert env.reset(seed=0)[0].tolist() == [0, 0, 0]
    assert env.step(1)[0].tolist() == [1, 1, 1.5]


def test_the_render_mode_reaches_the_class():
    assert make(Guess, render_mode="rgb_array").render_mode == "rgb_array"
    assert make(Guess).render_mode is None


def test_parameters_it_does_not_take():
    with pytest.raises(UnknownNameError, match=r"Unknown parameter 'bonsu' of Guess.*'bonus'"):
        make(Guess, bonsu=1)


def test_a_class_that_is_neither_a_task_nor_an_env_is_refused():
    with pytest.raises(InvalidValueError, match="was given as a task"):
        make(int)


@pytest.mark.parametrize(
    ("cls", "kind", "has", "wrapper"),
    [
        (Guess, "a plain Gymnasium env", r"make\(\), or", "gymnasium.Wrapper"),
        (Ramp, "a ramp env", r"make\(\) and Dataset\(\), or", "RampWrapper"),
    ],
)
def test_errors_name_the_form_and_the_functions_that_support_it(cls, kind, has, wrapper):
    says = rf"wraps tasks, and {cls.__name__} is {kind},.* change the env in a {wrapper}\."
    for wrap in (ReactionTime, "ReactionTime", (TrialHistory, {"probs": 0.9})):
        with pytest.raises(NotSupportedError, match=says):
            make(cls, wrap=wrap)
    with pytest.raises(NotSupportedError, match=f"is {kind}, without a native vector form"):
        make_vec(cls, 3)
    with pytest.raises(NotSupportedError, match=f"is {kind}: it has no Task.*Use {has}"):
        make_task(cls)
    with pytest.raises(NotSupportedError, match=r"no Task.*oracle"):
        run(cls, "oracle", 3)


def test_a_plain_env_has_no_datasets():
    with pytest.raises(NotSupportedError, match="Guess is a plain Gymnasium env"):
        Dataset(Guess)


def test_a_form_makes_its_envs():
    env = make(Ramp, seed=3)
    assert env.unwrapped.made_with == 3
    assert env.unwrapped.bonus == 1


def test_a_form_brings_batches_to_the_dataset():
    dataset = Dataset(Ramp, 2, 4, seed=1, wrap=PassReward)
    first, second = next(dataset), next(dataset)
    assert (dataset.n_inputs, dataset.n_outputs, dataset.from_tables) == (1, 2, False)
    assert first.inputs.shape == (2, 4, 1)
    assert (first.targets == 1).all()
    assert isinstance(dataset.task, Ramp)
    assert isinstance(dataset._source.env, PassReward)
    assert type(dataset) is Dataset
    for again in (copy.deepcopy(dataset), pickle.loads(pickle.dumps(dataset)), dataset):
        again.restart()
        np.testing.assert_array_equal(next(again).inputs, first.inputs)
        np.testing.assert_array_equal(next(again).inputs, second.inputs)
    other = next(Dataset(Ramp, 2, 4, seed=1, split="train"))
    assert (other.inputs != first.inputs).any()
    with pytest.raises(NotSupportedError, match="whose trials depend on actions"):
        dataset.next_chunk()


def test_settings_of_a_dataset_are_checked_for_all_forms():
    with pytest.raises(InvalidValueError, match="batch_size=0"):
        Dataset(Ramp, 0)
    with pytest.raises(UnknownNameError, match="'unit'"):
        Dataset(Ramp, targets="unit")
