"""Trials on which a trained network is evaluated do not occur in its training."""

from __future__ import annotations

import pytest
from neurogym_torch import NetworkSubject, TaskMix, TorchDataset
from neurogym_torch.trainers import GRUTrainer
from torch.utils.data import DataLoader

from neurogym_core import run
from neurogym_core.players import KEY_BITS, SPLITS

SMALL = {"batch": 8, "hidden": 8, "test_every": 20, "test_trials": 20}


def noisy(inputs):
    """The frames with noise, as bytes: that of `Sides` is on its second channel."""
    rows = inputs.reshape(-1, inputs.shape[-1])[:, :3]
    return [row.tobytes() for row in rows if (row[1:3] != 0).all()]


@pytest.fixture
def frames(monkeypatch):
    """The noisy frames so far: (those of the batches, by split, and those that a subject saw)."""
    batches, seen = {split: set() for split in (None, *SPLITS)}, set()
    following, playing = TaskMix.__next__, NetworkSubject.__call__

    def next_batch(mix):
        batch = following(mix)
        batches[mix.datasets[0].source.split].update(noisy(batch.inputs.numpy()))
        return batch

    def acts(subject, env, observations):
        seen.update(noisy(observations))
        return playing(subject, env, observations)

    monkeypatch.setattr(TaskMix, "__next__", next_batch)
    monkeypatch.setattr(NetworkSubject, "__call__", acts)
    return batches, seen


# Two noisy units: another frame has the same bits with a probability below 2**-42, and the tests
# compare fewer than 2**25 pairs, so that a false alarm has a probability below 1e-5.


@pytest.mark.parametrize("seq_len", [None, 30])
def test_no_frame_of_play_was_learned_from(tasks, frames, tmp_path, seq_len):
    batches, seen = frames
    for seed in (0, 1):
        network = GRUTrainer(tasks.Sides, seed=seed, seq_len=seq_len, **SMALL)
        network.train(20, out=tmp_path / str(seed))
        resumed = GRUTrainer(tasks.Sides, seed=seed, seq_len=seq_len, **SMALL)
        resumed.load(tmp_path / str(seed))
        resumed.train(30)
        for own in (0, 1, network.data.datasets[0].source.seed):
            assert network.play(40, seed=own).meta["split"] == "test"
            network.play(40, seed=own, num_envs=4)
    assert len(batches["train"]) > 500
    assert len(seen) > 500
    assert not len(batches["train"] & seen)
    tested = set()
    for dataset in network.tests.datasets:
        tested.update(noisy(next(dataset).inputs.numpy()))
    assert len(tested) > 50
    assert not len(tested & (batches["train"] | seen))


def test_the_comparison_finds_frames_that_do_occur(tasks, frames):
    batches, seen = frames
    network = GRUTrainer(tasks.Sides, seed=0, **SMALL)
    network.train(20)
    network.play(64, seed=network.data.datasets[0].source.seed, split="train")
    assert len(seen) > 100
    assert seen <= batches["train"]


@pytest.mark.parametrize("split", SPLITS)
def test_every_stream_of_a_worker_belongs_to_the_split(tasks, split):
    def keys(data):
        return [one.source._source.dealer.key for one in data.datasets]

    mix = TaskMix([tasks.Sides, tasks.Sides], 4, seed=3, split=split)
    found = keys(mix)
    for number in (0, 1, 2**63 - 1):
        mix.split_off(number)
        found += keys(mix)
    assert len(set(found)) == 8
    assert {key >> KEY_BITS for key in found} == {SPLITS[split]}


def test_workers_load_no_frame_of_a_test(tasks):
    loader = DataLoader(TorchDataset(tasks.Sides, 16, seed=0, split="train"), None, num_workers=2)
    loaded = set()
    for batch, _ in zip(loader, range(40), strict=False):
        loaded.update(noisy(batch.inputs.numpy()))
    seen = set()

    def rests(env, observations):
        seen.update(noisy(observations))
        return [0] * env.num_envs

    for seed in (0, 1):
        run(tasks.Sides, rests, 64, seed=seed, split="test")
    assert len(loaded) > 1000
    assert len(seen) > 500
    assert not len(loaded & seen)
