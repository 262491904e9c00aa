"""`TorchDataset`: batches as tensors."""

from __future__ import annotations

import gc
import pickle
import threading

import numpy as np
import pytest
import torch
from neurogym_torch import TorchDataset
from neurogym_torch.prefetching import Ahead
from neurogym_torch.rendering import moved
from torch.utils.data import DataLoader

from neurogym_core import Dataset, InvalidValueError, Task, TrialBatch

KINDS = [
    ("Sides", None),
    ("Sides", 30),
    ("Directions", None),
    ("Pulses", 13),
    ("Position", 10),
    ("Cursor", 12),
]


def same(a, b):
    return all(
        torch.equal(getattr(a, name), getattr(b, name))
        for name in ("inputs", "targets", "weights", "new_trial")
    )


@pytest.mark.parametrize(("name", "seq_len"), KINDS)
def test_batches_are_those_of_a_dataset(tasks, name, seq_len):
    ours, theirs = (
        made(getattr(tasks, name), 5, seq_len, seed=3) for made in (TorchDataset, Dataset)
    )
    for _ in range(5):
        mine, other = next(ours), next(theirs)
        for attribute in ("inputs", "targets", "weights", "new_trial"):
            made, wanted = getattr(mine, attribute).numpy(), getattr(other, attribute)
            assert made.dtype == wanted.dtype
            np.testing.assert_array_equal(made, wanted)
        for attribute in ("row", "start", "stop", "complete"):
            np.testing.assert_array_equal(getattr(mine, attribute), getattr(other, attribute))
        for condition, values in other.conditions.items():
            np.testing.assert_array_equal(mine.conditions[condition], values)


@pytest.mark.parametrize(("name", "seq_len"), KINDS)
def test_it_returns_to_any_saved_position(tasks, name, seq_len):
    dataset = TorchDataset(getattr(tasks, name), 5, seq_len, seed=3)
    places, batches = [], []
    for _ in range(7):
        places.append(dataset.state())
        batches.append(next(dataset))
    for place in (places[4], places[0], places[3]):
        again = TorchDataset(getattr(tasks, name), 5, seq_len, seed=3)
        next(again)
        again.go_to(place)
        assert again.state() == place
        assert all(same(next(again), batch) for batch in batches[places.index(place) :])
    assert not same(batches[4], batches[3])


def test_it_returns_to_a_position_beyond_the_batches_that_are_made_together(tasks):
    dataset = TorchDataset(tasks.Directions, 64, 100, seed=3)
    together = dataset.source.next_chunk().shape[1] // 100
    assert together > 1
    dataset.restart()
    batches = [next(dataset) for _ in range(2 * together + 2)]
    for given in (together - 1, together, together + 1, 2 * together):
        dataset.go_to({"given": given})
        assert all(same(next(dataset), batch) for batch in batches[given : given + 2])


def test_a_pickle_continues_at_the_position_of_the_dataset():
    dataset = TorchDataset("perceptual/PerceptualDecisionMaking-v0", 16, 20, seed=1)
    next(dataset)
    again = pickle.loads(pickle.dumps(dataset))
    assert all(same(next(again), next(dataset)) for _ in range(3))


def test_restart_gives_the_same_batches_and_another_seed_others(tasks):
    dataset = TorchDataset(tasks.Sides, 8, seed=1)
    first = next(dataset)
    assert not same(next(dataset), first)
    dataset.restart()
    assert same(next(dataset), first)
    other = next(TorchDataset(tasks.Sides, 8, seed=2))
    assert other.inputs.shape != first.inputs.shape or not torch.equal(other.inputs, first.inputs)


def test_splits_are_disjoint_in_trials_and_in_noise(tasks):
    train, test = (
        next(TorchDataset(tasks.Directions, 400, seed=1, split=split))
        for split in ("train", "validation")
    )
    # Fraction of equal directions: 1/8 by chance, SD 0.017; the bound is 5 SDs: false alarm 6e-7.
    assert (
        abs((train.conditions["direction"] == test.conditions["direction"]).mean() - 1 / 8) < 0.083
    )
    assert not torch.equal(train.inputs[:, -1], test.inputs[:, -1])


def test_batches_pass_through_a_dataloader(tasks):
    loader = DataLoader(TorchDataset(tasks.Sides, 8, seed=1), batch_size=None)
    direct = TorchDataset(tasks.Sides, 8, seed=1)
    for batch, _ in zip(loader, range(3), strict=False):
        assert same(batch, next(direct))


@pytest.mark.slow
def test_workers_of_a_dataloader_bring_different_batches(tasks):
    loader = DataLoader(
        TorchDataset("perceptual/PerceptualDecisionMaking-v0", 8, seed=1),
        batch_size=None,
        num_workers=2,
    )
    batches = [batch.inputs for batch, _ in zip(loader, range(4), strict=False)]
    assert not any(torch.equal(a, b) for k, a in enumerate(batches) for b in batches[:k])


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("persistent", [False, True])
def test_workers_bring_other_batches_in_every_epoch(tasks, workers, persistent):
    def epochs(seed):
        torch.manual_seed(seed)
        loader = DataLoader(
            TorchDataset(tasks.Sides, 8, seed=1),
            batch_size=None,
            num_workers=workers,
            persistent_workers=persistent,
        )
        return [batch.inputs for _ in range(3) for batch, _ in zip(loader, range(3), strict=False)]

    batches = epochs(0)
    assert not any(torch.equal(a, b) for k, a in enumerate(batches) for b in batches[:k])
    if not persistent:  # a persistent worker also renders batches ahead that no epoch takes
        assert all(torch.equal(a, b) for a, b in zip(batches, epochs(0), strict=True))


def test_a_batch_is_loaded_without_making_its_task_and_its_trials(monkeypatch):
    dataset = TorchDataset("perceptual/PerceptualDecisionMaking-v0", 64, seed=0)
    texts = [pickle.dumps(next(dataset)) for _ in range(2)]
    first = pickle.loads(texts[0])

    def refused(*_):
        raise AssertionError("trials were built")

    monkeypatch.setattr(TrialBatch, "__init__", refused)
    monkeypatch.setattr(Task, "__init__", refused)
    again = pickle.loads(texts[1])
    assert again.task is first.task
    assert again.inputs.shape == first.inputs.shape
    monkeypatch.undo()
    assert len(again.trials) == len(again.row) == 64


@pytest.mark.parametrize(
    "task", ["perceptual/PerceptualDecisionMaking-v0", "perceptual/MultiSensoryIntegration-v0"]
)
@pytest.mark.parametrize("seq_len", [None, 26])
def test_a_pickled_batch_has_about_the_size_of_its_tensors(task, seq_len):
    dataset = TorchDataset(task, 64, seq_len, seed=0)
    for batch in (next(dataset), next(dataset)):
        names = ("inputs", "targets", "weights", "new_trial")
        size = sum(getattr(batch, name).nbytes for name in names)
        text = pickle.dumps(batch)
        assert len(text) < 3 * size
        again = pickle.loads(text)
        assert same(batch, again)
        assert again.score(again.targets) == batch.score(batch.targets)
        assert pickle.loads(pickle.dumps(again)).trials.spans(0) == batch.trials.spans(0)


def test_a_batch_moves_to_a_device_as_a_tensor_does(tasks):
    batch = next(TorchDataset(tasks.Sides, 8, seed=1))
    moved = batch.to("meta")
    assert moved.inputs.device.type == moved.new_trial.device.type == "meta"
    assert batch.inputs.device.type == "cpu"
    assert (moved.start == batch.start).all()
    assert same(batch, batch.to("cpu"))


def test_all_tensors_of_a_batch_are_pinned(tasks, monkeypatch):
    pinned = []
    monkeypatch.setattr(
        torch.Tensor, "pin_memory", lambda tensor: pinned.append(tensor.shape) or tensor.clone()
    )
    batch = next(TorchDataset(tasks.Sides, 8, seed=1))
    again = batch.pin_memory()  # as DataLoader(…, pin_memory=True) calls it
    assert len(pinned) == 4
    assert same(batch, again)
    assert again.score(again.targets) == batch.score(batch.targets)


def test_a_dataset_goes_on_where_its_state_dict_was_taken(tasks):
    dataset, other = (TorchDataset(tasks.Sides, 8, 20, seed=1) for _ in range(2))
    for _ in range(5):
        next(dataset)
    other.load_state_dict(dataset.state_dict())
    assert same(next(dataset), next(other))


def test_a_batch_scores_tensors_as_arrays(tasks):
    batch = next(TorchDataset(tasks.Sides, 200, seed=1))
    outputs = torch.nn.functional.one_hot(batch.targets, 3).float().requires_grad_()
    record = batch.score(outputs)
    assert (record["outcome"] == "correct").all()
    assert record == batch.score(batch.targets)
    assert record == batch.score(outputs.detach().numpy())


def test_later_batches_do_not_change_earlier_ones(tasks):
    dataset = TorchDataset(tasks.Sides, 4, 20, seed=1)
    first = next(dataset)
    kept = first.inputs.clone()
    first.targets.fill_(7)
    for _ in range(5):
        assert (next(dataset).targets < 7).all()
    assert torch.equal(first.inputs, kept)


def test_it_has_the_numbers_of_inputs_and_outputs_of_a_network(tasks):
    dataset = TorchDataset(tasks.Directions, 4, seed=1)
    assert (dataset.n_inputs, dataset.n_outputs) == (8, 9)
    assert "on cpu" in repr(dataset)


@pytest.mark.parametrize("seq_len", [None, 20])
@pytest.mark.parametrize("name", ["Sides", "Position"])
def test_batches_that_are_made_ahead_are_the_same(tasks, name, seq_len):
    task = getattr(tasks, name)
    plain, ahead = (TorchDataset(task, 8, seq_len, seed=1, prefetch=n) for n in (0, 3))
    batches = [next(plain) for _ in range(6)]
    assert all(same(next(ahead), batch) for batch in batches)
    ahead.restart()
    assert all(same(next(ahead), batch) for batch in batches[:2])
    ahead.go_to({"given": 4})
    assert ahead.state() == {"given": 4}
    again = pickle.loads(pickle.dumps(ahead))
    assert same(next(ahead), batches[4])
    other = pickle.loads(pickle.dumps(ahead))  # while its thread runs
    assert same(next(ahead), batches[5])
    assert same(next(again), batches[4])
    assert same(next(other), batches[5])


def test_batches_are_made_while_the_caller_is_busy(tasks, monkeypatch):
    made = threading.Semaphore(0)
    coming = TorchDataset._coming

    def counted(self):
        batches = coming(self)
        made.release()
        return batches

    monkeypatch.setattr(TorchDataset, "_coming", counted)
    dataset = TorchDataset(tasks.Sides, 8, seed=1, prefetch=2)
    next(dataset)
    # One was returned, two are ready, and the thread holds one more.
    assert all(made.acquire(timeout=30) for _ in range(4))
    assert not made.acquire(timeout=0.3)


def test_an_error_of_the_thread_reaches_the_caller(tasks, monkeypatch):
    def broken(self):
        raise RuntimeError("out of trials")

    monkeypatch.setattr(TorchDataset, "_coming", broken)
    dataset = TorchDataset(tasks.Sides, 8, seed=1, prefetch=2)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="out of trials"):
            next(dataset)


def test_the_thread_ends_with_its_dataset(tasks):
    dataset = TorchDataset(tasks.Sides, 8, seed=1, prefetch=2)
    next(dataset)
    thread = dataset._ahead._thread
    assert thread.is_alive()
    del dataset
    gc.collect()
    thread.join(timeout=30)
    assert not thread.is_alive()


@pytest.mark.slow
def test_workers_can_make_batches_ahead(tasks):
    dataset = TorchDataset(tasks.Sides, 8, seed=1, prefetch=2)
    next(dataset)  # the forked workers inherit the dataset, without its thread
    loader = DataLoader(dataset, batch_size=None, num_workers=2)
    batches = [batch.inputs for batch, _ in zip(loader, range(4), strict=False)]
    assert not any(torch.equal(a, b) for k, a in enumerate(batches) for b in batches[:k])


@pytest.mark.parametrize("prefetch", [-1, 1.5, True])
def test_an_impossible_number_of_batches_ahead_is_refused(prefetch, tasks):
    with pytest.raises(InvalidValueError, match="prefetch"):
        TorchDataset(tasks.Sides, 8, prefetch=prefetch)


class _OnCuda:
    """A tensor that keeps how it was moved, for machines without CUDA."""

    def __init__(self):
        self.calls = []

    def pin_memory(self):
        self.calls.append("pinned")
        return self

    def to(self, device, non_blocking=False):
        self.calls.append((device.type, non_blocking))
        return self


def test_tensors_go_to_cuda_from_pinned_memory_without_waiting():
    tensor = _OnCuda()
    moved(tensor, torch.device("cuda"))
    assert tensor.calls == ["pinned", ("cuda", True)]


class _Stream:
    """A CUDA stream, and the events that it was given."""

    def __init__(self, log, name):
        self.log, self.name = log, name

    def wait_event(self, event):
        self.log.append(f"{self.name} waits")

    def __enter__(self):
        self.log.append(f"begin {self.name}")

    def __exit__(self, *_):
        self.log.append(f"end {self.name}")


@pytest.mark.skipif(
    not torch.cuda.is_available(), reason="torch sees no CUDA device on this machine"
)
@pytest.mark.parametrize("prefetch", [0, 2])
@pytest.mark.parametrize(("name", "seq_len"), KINDS)
def test_batches_on_cuda_are_those_of_the_cpu(tasks, name, seq_len, prefetch):
    task = getattr(tasks, name)
    here = TorchDataset(task, 6, seq_len, seed=3)
    there = TorchDataset(task, 6, seq_len, seed=3, device="cuda", prefetch=prefetch)
    for _ in range(4):
        expected, made = next(here), next(there)
        assert made.inputs.device.type == "cuda"
        for field in ("inputs", "targets", "weights", "new_trial"):
            assert torch.equal(getattr(made, field).cpu(), getattr(expected, field))


def test_on_cuda_batches_are_made_in_a_stream_for_which_the_training_waits(monkeypatch):
    log = []

    class Event:
        def record(self, stream):
            log.append(f"recorded in {stream.name}")

    class Tensor:
        def record_stream(self, stream):
            log.append(f"used in {stream.name}")

    side, training = _Stream(log, "side"), _Stream(log, "training")
    monkeypatch.setattr(torch.cuda, "Stream", lambda device: side)
    monkeypatch.setattr(torch.cuda, "stream", lambda stream: stream)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: training)
    monkeypatch.setattr(torch.cuda, "Event", Event)
    made = iter([["batch"], StopIteration])
    stop = threading.Event()

    def make():
        if stop.is_set():
            raise RuntimeError
        stop.set()
        log.append("made")
        return next(made)

    ahead = Ahead(make, lambda item: [Tensor()], 1, torch.device("cuda"))
    assert ahead.get() == ["batch"]
    with pytest.raises(RuntimeError):
        ahead.get()
    steps = ["begin side", "made", "recorded in side", "end side"]
    assert log[:4] == steps
    assert [step for step in log[4:] if "training" in step] == [
        "training waits",
        "used in training",
    ]
