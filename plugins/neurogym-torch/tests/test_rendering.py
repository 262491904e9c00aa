"""Rendering on the device gives the numbers of the core, noise included."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from neurogym_torch import TorchDataset, render
from neurogym_torch.noise import gaussian, philox

from neurogym_core import Dataset, Task, make_task
from neurogym_core.tools import installed, load_task

ON_CUDA = pytest.mark.skipif(
    not torch.cuda.is_available(), reason="torch sees no CUDA device on this machine"
)
DEVICES = ("cpu", pytest.param("cuda", marks=ON_CUDA))
WITH_TABLES = ("Sides", "Directions", "Pulses", "Position", "Waiting")
SAMPLE = (
    "control/HierarchicalReasoning-v0",
    "ibl/IBL-v0",
    "motor/ReachingDelayResponse-v0",
    "perceptual/PulseDecisionMaking-v0",
    "timing/ReadySetGo-v0",
    "value/DawTwoStep-v0",
    "yang19/DMS-v0",
)


def assert_equal(made, wanted):
    """Assert that tensors have exactly the numbers and types of arrays."""
    made = made.cpu().numpy()
    assert (made.dtype, made.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_array_equal(made, wanted)


def assert_chunks_are_the_cores(dataset, device, chunks=3):
    for _ in range(chunks):
        chunk = dataset.next_chunk()
        rendered = render(chunk, device, targets=dataset.targets)
        for made, wanted in zip(rendered, chunk.rendered(dataset.encode)[:3], strict=True):
            assert made.device.type == device
            assert_equal(made, wanted)


# ---- noise ----


@pytest.mark.parametrize("device", DEVICES)
def test_blocks_of_philox_match_the_authors_answers(device):
    # Known answers of Random123 (Salmon et al. 2011).
    for word, key, wanted in (
        (0, 0, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        (0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ):
        counter = (torch.tensor([word], device=device),) * 4
        assert [f"{number:08x}" for number in philox(counter, key)[0].tolist()] == wanted.split()


def test_noise_made_in_pieces_is_the_same(monkeypatch):
    serial, step = torch.arange(100), torch.arange(100).flip(0)
    whole = gaussian(7, serial, step, slice(0, 9))
    monkeypatch.setattr("neurogym_torch.noise._BLOCKS_AT_A_TIME", 20)
    assert torch.equal(gaussian(7, serial, step, slice(0, 9)), whole)


# ---- chunks ----


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("seq_len", [None, 7, 50])
@pytest.mark.parametrize("targets", ["action", "units"])
@pytest.mark.parametrize("name", WITH_TABLES)
def test_a_chunk_is_rendered_as_in_the_core(tasks, name, targets, seq_len, device):
    assert_chunks_are_the_cores(
        Dataset(getattr(tasks, name), 9, seq_len, seed=3, targets=targets), device
    )


@pytest.mark.parametrize("device", DEVICES)
def test_without_noise_only_the_noise_is_missing(tasks, device):
    chunk = Dataset(tasks.Sides, 40, seed=1).next_chunk()
    bare, noisy = (render(chunk, device, noise=noise) for noise in (False, True))
    assert torch.equal(bare.targets, noisy.targets)
    assert torch.equal(bare.weights, noisy.weights)
    assert bare.inputs.unique().tolist() == pytest.approx([0.0, 0.2, 1.0])
    added = (bare.inputs != noisy.inputs).any(dim=(0, 1)).tolist()
    assert added == [False, True, True]  # the stimulus is noisy, the fixation point is not


@pytest.mark.parametrize("name", SAMPLE)
def test_chunks_of_tasks_of_other_packages_are_those_of_the_core(name):
    for seq_len in (None, 60):
        task = make_task(name)
        targets = "action" if task.supervised else "best"
        dataset = Dataset(task, 8, seq_len, seed=4, targets=targets)
        assert dataset.from_tables
        assert_chunks_are_the_cores(dataset, "cpu", 2)


@pytest.mark.slow
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "name", sorted(task.id for task in installed().tasks if not task.has("blocked"))
)
def test_chunks_of_every_installed_task_are_those_of_the_core(name, device):
    found = load_task(name)
    if not (isinstance(found, type) and issubclass(found, Task)):
        return  # a plain env has no table
    task = make_task(name)
    for seq_len in (None, 60):
        dataset = Dataset(task, 5, seq_len, seed=1, targets="action" if task.supervised else "best")
        if dataset.from_tables:
            assert_chunks_are_the_cores(dataset, device)


# ---- datasets ----


@pytest.mark.parametrize("seq_len", [None, 20])
@pytest.mark.parametrize("name", WITH_TABLES)
def test_a_dataset_on_another_device_gives_the_batches_of_one_on_the_cpu(
    tasks, name, seq_len, monkeypatch
):
    wanted = TorchDataset(getattr(tasks, name), 5, seq_len, seed=3)
    other = TorchDataset(getattr(tasks, name), 5, seq_len, seed=3)
    other.device = _Elsewhere()
    monkeypatch.setattr(
        "neurogym_torch.data.TorchDataset._put", lambda self, array: torch.from_numpy(array)
    )
    monkeypatch.setattr(
        "neurogym_torch.data.render", lambda chunk, device, **how: render(chunk, "cpu", **how)
    )
    for _ in range(4):
        one, two = next(wanted), next(other)
        assert all(
            torch.equal(getattr(one, k), getattr(two, k))
            for k in ("inputs", "targets", "weights", "new_trial")
        )
        np.testing.assert_array_equal(one.row, two.row)
        np.testing.assert_array_equal(one.start, two.start)


class _Elsewhere:
    """A device other than the CPU, for machines that have none."""

    type = "elsewhere"


def test_a_chunk_copies_only_the_tables_of_its_types(tasks, monkeypatch):
    chunk = Dataset(tasks.Pulses, 2, seed=1).next_chunk()
    (part,) = chunk.parts
    assert len(part.types) > 100  # a whole block, because durations are drawn
    sizes, moved = [], torch.from_numpy
    monkeypatch.setattr(
        torch, "from_numpy", lambda array: sizes.append(array.nbytes) or moved(array)
    )
    render(chunk)
    assert sum(sizes) < part.types.shown.nbytes / 10
