"""Rendering on the device: what NumPy renders, with noise of the same distribution."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from neurogym_torch import TorchDataset, render

from neurogym_core import Dataset, Task, make_task
from neurogym_core.ecosystem.discovery import installed, load_task

DEVICES = ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",)
WITH_TABLES = ("Sides", "Directions", "Pulses", "Position")


def numpy_steps(table, dataset):
    """What NumPy makes of a table without noise, one row after another."""
    flat = (
        table.trials.render(None, table.duration, table.skip),
        dataset.encode(table.trials.render_targets(table.duration, table.skip)),
        np.repeat(table.trials.weight.ravel(), table.duration.ravel()),
    )
    return [padded(steps, table) for steps in flat]


def padded(flat, table):
    lengths = np.bincount(table.row, weights=table.duration.sum(axis=1), minlength=table.shape[0])
    out = np.zeros((*table.shape, *flat.shape[1:]), flat.dtype)
    out[np.arange(table.shape[1]) < lengths[:, None]] = flat
    return out


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("seq_len", [None, 7, 50])
@pytest.mark.parametrize("targets", ["action", "units"])
@pytest.mark.parametrize("name", WITH_TABLES)
def test_without_noise_it_is_what_numpy_renders(tasks, name, targets, seq_len, device):
    dataset = Dataset(getattr(tasks, name), 9, seq_len, seed=3, targets=targets)
    for _ in range(3):
        table = dataset.next_table()
        rendered = render(table, device, targets=targets)
        for made, wanted in zip(rendered, numpy_steps(table, dataset), strict=True):
            assert made.device.type == device
            # Continuous targets are scaled to [-1, 1] in float32 here, and in float64 there.
            np.testing.assert_allclose(made.cpu().numpy(), wanted, rtol=0, atol=1e-6 if name == "Position" else 0)
            assert made.cpu().numpy().dtype == wanted.dtype


@pytest.mark.parametrize("device", DEVICES)
def test_noise_has_the_tables_deviation_on_every_step_and_lies_on_noisy_units_only(tasks, device):
    dataset = Dataset(tasks.Sides, 4000, seed=1, sigma=2.0)
    table = dataset.next_table()
    bare = render(table, device)
    noisy = render(table, device, torch.Generator(device).manual_seed(1))
    added = (noisy.inputs - bare.inputs).cpu().numpy()
    np.testing.assert_array_equal(noisy.targets.cpu(), bare.targets.cpu())
    sd = np.zeros((*table.shape, 3))
    level = np.broadcast_to(table.trials.noise, (*table.trials.path.shape, 3)).reshape(-1, 3)
    sd[np.arange(table.shape[1]) < table.trials.steps[:, None]] = np.repeat(level, table.trials.path.ravel(), axis=0)
    assert (sd[..., 1:].max(), sd[..., 0].max()) == (pytest.approx(2.0 / 10), 0)
    assert not added[sd == 0].any()
    z = added[sd > 0] / sd[sd > 0]
    # 40,000 standard normals: mean within 5 standard errors, SD within 5: false alarm below 2e-6.
    assert len(z) == 40_000
    assert abs(z.mean()) < 5 / 200
    assert abs(z.std() - 1) < 5 / (200 * np.sqrt(2))


def test_noise_has_the_distribution_of_numpys(tasks):
    from scipy.stats import ks_2samp

    ours, theirs = (made(tasks.Sides, 2000, seed=2) for made in (TorchDataset, Dataset))
    shown = [np.asarray(next(dataset).inputs)[:, :, 1:].ravel() for dataset in (ours, theirs)]
    shown = [values[values != 0] for values in shown]
    assert len(shown[0]) == len(shown[1]) == 20_000
    # Kolmogorov-Smirnov with a fixed seed: false alarm 1e-4.
    assert ks_2samp(*shown).pvalue > 1e-4


def test_tasks_of_other_packages_render_alike():
    for name in ("perceptual/PerceptualDecisionMaking-v0", "perceptual/PulseDecisionMaking-v0", "yang19/DMS-v0"):
        dataset = Dataset(make_task(name), 16, 100, seed=4)
        table = dataset.next_table()
        for made, wanted in zip(render(table), numpy_steps(table, dataset), strict=True):
            np.testing.assert_array_equal(made.numpy(), wanted)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(task.id for task in installed().tasks if not task.has("blocked")))
def test_every_installed_task_with_a_table_renders_alike(name):
    found = load_task(name)
    if not (isinstance(found, type) and issubclass(found, Task)):
        return  # a plain env has no table
    task = make_task(name)
    for seq_len in (None, 60):
        dataset = Dataset(task, 5, seq_len, seed=1, targets="action" if task.supervised else "best")
        if not dataset.from_table:
            return
        for _ in range(3):
            table = dataset.next_table()
            for made, wanted in zip(render(table, targets=dataset.targets), numpy_steps(table, dataset), strict=True):
                np.testing.assert_allclose(made.numpy(), wanted, rtol=0, atol=1e-6)
