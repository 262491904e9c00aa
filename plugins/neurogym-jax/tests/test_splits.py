"""Splits on the device: those of the core, and the trials of training, tests and play apart."""

from __future__ import annotations

import jax
import neurogym_jax
import numpy as np
import pytest
from neurogym_jax.trainers import JaxPPOTrainer, JaxSubject

from neurogym_core import Dataset, UnknownNameError, make, run
from neurogym_core.players import KEY_BITS, SPLITS

SMALL = {
    "envs": 8, "n_steps": 16, "hidden": 8, "minibatches": 2, "test_every": 256, "test_trials": 20,
}  # fmt: skip


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("name", ["Jittered", "Alternating"])
def test_the_trials_of_a_split_are_those_of_the_core(tasks, name, split):
    task = getattr(tasks, name)
    env, params = neurogym_jax.make(task, split=split)
    params = next(env.decks(4, 100))
    core = make(task, split=split)
    wanted, _ = core.reset(seed=4)
    observation, state = env.reset(neurogym_jax.key(4, split), params)
    step = jax.jit(env.step)
    for _ in range(60):
        np.testing.assert_allclose(observation, wanted, atol=1e-6)
        observation, state, *_ = step(None, state, 0, params)
        wanted = core.step(0)[0]
    data = neurogym_jax.DeviceDataset(task, 1, 30, split=split)
    deck = next(data.decks(4, 100))
    _, batch = data.next(data.init(neurogym_jax.key(4, split)[None], deck), deck)
    inputs = next(Dataset(task, 1, 30, seed=4, split=split)).inputs
    np.testing.assert_allclose(batch.inputs, inputs, atol=1e-6)


@pytest.mark.parametrize("split", SPLITS)
def test_every_key_of_a_reset_carries_the_split(tasks, split):
    env, params = neurogym_jax.make(tasks.Sides, split=split)
    keys = jax.random.split(jax.random.key(0), 500)
    words = np.asarray(jax.vmap(env.reset, (0, None))(keys, params)[1].key)
    assert (words[:, 1] >> (KEY_BITS - 32) == SPLITS[split]).all()
    assert len(np.unique(words, axis=0)) == 500
    rows = neurogym_jax.DeviceDataset(tasks.Sides, 500, split=split).init(keys)
    assert (np.asarray(rows.key) == words).all()
    assert (np.asarray(neurogym_jax.key(7, split))[1] >> (KEY_BITS - 32) == SPLITS[split]).all()


def test_keys_without_a_split_are_used_as_they_are(tasks):
    env, params = neurogym_jax.make(tasks.Sides)
    key = np.array([1, 2**32 - 1], np.uint32)
    assert (np.asarray(env.reset(key, params)[1].key) == key).all()


def test_an_unknown_split_is_refused(tasks):
    for made in (neurogym_jax.make, neurogym_jax.DeviceDataset):
        with pytest.raises(UnknownNameError, match=r"Unknown split 'tset' .* Did you mean 'test'"):
            made(tasks.Sides, split="tset")
    with pytest.raises(UnknownNameError, match="Unknown split 'tset'"):
        neurogym_jax.key(0, "tset")


def _steps_of_deck(params):
    return np.asarray(params.path)[np.asarray(params.deck)].sum(axis=1)


@pytest.mark.slow
def test_an_agent_plays_other_trials_than_those_of_its_training(tasks):
    """Trials of 8 to 11 steps, 64 in a row: equal by chance with a probability below 2**-100."""
    agent = JaxPPOTrainer(tasks.Jittered, seed=0, trials=64, **SMALL)
    learned = {tuple(_steps_of_deck(agent.params))}
    agent.train(768)
    learned.add(tuple(_steps_of_deck(agent.params)))
    assert len(learned) == 2
    for seed in (0, 1000):
        record = agent.play(64, seed=seed, num_envs=1)
        assert record.meta["split"] == "test"
        steps = sum(record[f"duration.{name}"] for name in agent.tasks[0].timing) / 100
        assert tuple(steps.astype(int)) not in learned
    record = run(tasks.Jittered, "rest", 64, seed=0, num_envs=1, split="train")
    steps = sum(record[f"duration.{name}"] for name in agent.tasks[0].timing) / 100
    assert tuple(steps.astype(int)) in learned


@pytest.mark.slow
def test_no_frame_of_a_test_or_of_play_was_learned_from(tasks, monkeypatch):
    """Frames are compared to 5 digits, as a device may round the last bit differently.

    Two frames of two noisy units, SD 0.1, agree by chance with a probability of 1e-9: about 0.01 of
    1e7 pairs do. Three or more do with a probability below 1e-6.
    """
    learned, seen = set(), set()

    def noisy(rows, into):
        rows = np.round(np.asarray(rows).reshape(-1, 3), 5)
        into.update(row.tobytes() for row in rows if (row[1:] != 0).all())

    shown = neurogym_jax.TaskEnv.get_obs

    def watched(self, *args):
        observation = shown(self, *args)
        jax.debug.callback(noisy, observation, learned)
        return observation

    monkeypatch.setattr(neurogym_jax.TaskEnv, "get_obs", watched)
    acts = JaxSubject.__call__

    def acting(self, env, observations):
        noisy(observations, seen)
        return acts(self, env, observations)

    monkeypatch.setattr(JaxSubject, "__call__", acting)
    agent = JaxPPOTrainer(tasks.Sides, seed=0, **SMALL)
    agent.train(512)
    jax.effects_barrier()
    assert len(learned) > 100
    assert len(seen) > 100
    for seed in (0, 1, 1000):
        agent.play(100, seed=seed)
    assert len(learned & seen) < 3
