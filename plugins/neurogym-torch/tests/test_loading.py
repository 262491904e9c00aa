"""`BatchLoader`: batches of worker processes, several in one message."""

from __future__ import annotations

import pickle

import pytest
import torch
from neurogym_torch import BatchLoader, Epochs, TaskMix, TorchDataset
from neurogym_torch.packing import pack, unpack
from torch.utils.data import DataLoader

from neurogym_core import InvalidValueError, NotSupportedError

NAMES = ("inputs", "targets", "weights", "new_trial")


def same(a, b):
    return all(torch.equal(getattr(a, name), getattr(b, name)) for name in NAMES)


def stream_of(dataset, worker):
    """Return the dataset with the stream of one worker."""
    dataset.split_off(worker)
    return dataset


@pytest.mark.parametrize("seq_len", [None, 20])
@pytest.mark.parametrize("name", ["Sides", "Position", "Cursor"])
def test_batches_of_one_message_are_those_that_were_packed(tasks, name, seq_len):
    dataset = TorchDataset(getattr(tasks, name), 8, seq_len, seed=1)
    batches = [next(dataset) for _ in range(5)]
    text = pickle.dumps(pack(batches))
    again = unpack(pickle.loads(text))
    assert len(again) == 5
    for one, other in zip(batches, again, strict=True):
        assert same(one, other)
        assert (one.start == other.start).all()
        assert {name: values.tolist() for name, values in one.conditions.items()} == {
            name: values.tolist() for name, values in other.conditions.items()
        }
        if one.trials is not None:
            assert one.score(one.targets) == other.score(other.targets)


def test_batches_of_a_message_can_be_written_to_without_changing_each_other(tasks):
    first, second = unpack(pack([next(TorchDataset(tasks.Sides, 8, 20, seed=1))] * 2))
    first.inputs.fill_(7)
    assert not (second.inputs == 7).any()


def test_the_trials_of_a_chunk_are_pickled_once_for_its_batches():
    dataset = TorchDataset("perceptual/PerceptualDecisionMaking-v0", 64, 26, seed=0)
    batches = [next(dataset) for _ in range(19)]
    arrays = sum(getattr(batch, name).nbytes for batch in batches for name in NAMES)
    assert len(pickle.dumps(pack(batches))) < 1.6 * arrays
    assert sum(len(pickle.dumps(batch)) for batch in batches) < 3 * arrays


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_the_batches_are_those_of_the_workers_streams_in_turn(tasks, workers):
    loader = BatchLoader(TorchDataset(tasks.Sides, 8, 20, seed=1), workers)
    streams = [stream_of(TorchDataset(tasks.Sides, 8, 20, seed=1), k) for k in range(workers)]
    seen = [next(loader) for _ in range(100)]
    wanted = []
    while len(wanted) < 100:  # 8 x 20 is small: a message has as many batches as it may have
        for stream in streams:
            wanted += [next(stream) for _ in range(32)]
    assert all(same(one, other) for one, other in zip(seen, wanted, strict=False))
    inputs = [batch.inputs for batch in seen]
    assert not any(torch.equal(a, b) for k, a in enumerate(inputs) for b in inputs[:k])


@pytest.mark.slow
@pytest.mark.parametrize("taken", [0, 1, 31, 32, 33, 70])
def test_a_loader_returns_to_any_saved_position(tasks, taken, tmp_path):
    first, second = (BatchLoader(TorchDataset(tasks.Sides, 8, 20, seed=1), 2) for _ in range(2))
    for _ in range(taken):
        next(first)
    torch.save(first.state(), tmp_path / "state.pt")
    second.go_to(torch.load(tmp_path / "state.pt", weights_only=True))
    first.close()  # and goes on where it was
    for _ in range(70):
        assert same(next(first), next(second))


@pytest.mark.slow
def test_epochs_of_a_loader_follow_each_other_and_lose_no_batch(tasks):
    whole, epochs = (BatchLoader(TorchDataset(tasks.Sides, 8, 20, seed=1), 2) for _ in range(2))
    epochs = Epochs(epochs, 10)
    for _ in range(5):
        assert all(same(next(whole), batch) for batch in epochs)
    other = Epochs(BatchLoader(TorchDataset(tasks.Sides, 8, 20, seed=1), 2), 10)
    other.load_state_dict(epochs.state_dict())
    assert all(same(next(whole), batch) for batch in other)


@pytest.mark.slow
def test_workers_bring_other_batches_of_a_mix_each_with_its_task():
    def mix():
        names = ["perceptual/PerceptualDecisionMaking-v0", "memory/DelayMatchSample-v0"]
        return TaskMix(names, 8, 60, seed=1)

    loaders = (BatchLoader(mix(), 2), DataLoader(mix(), batch_size=None, num_workers=2))
    for loader in loaders:
        batches = [batch for batch, _ in zip(loader, range(8), strict=False)]
        inputs = [batch.inputs for batch in batches]
        assert not any(torch.equal(a, b) for k, a in enumerate(inputs) for b in inputs[:k])
        assert all(batch.which in (0, 1) for batch in batches)
        outputs = torch.zeros(*batches[0].inputs.shape[:2], mix().n_outputs)
        assert all(len(batch.score(outputs)) > 0 for batch in batches)


@pytest.mark.parametrize("workers", [0, 1.5, True])
def test_a_loader_needs_a_number_of_workers(tasks, workers):
    with pytest.raises(InvalidValueError, match="workers="):
        BatchLoader(TorchDataset(tasks.Sides, 8), workers)


def test_a_loader_refuses_a_dataset_of_another_device(tasks):
    with pytest.raises(NotSupportedError, match=r"batch\.to\(device\)"):
        BatchLoader(TorchDataset(tasks.Sides, 8, device="meta"))


def test_a_loader_refuses_a_position_of_another_number_of_workers(tasks):
    state = BatchLoader(TorchDataset(tasks.Sides, 8), 2).state()
    with pytest.raises(InvalidValueError, match="workers=2"):
        BatchLoader(TorchDataset(tasks.Sides, 8), 1).go_to(state)
