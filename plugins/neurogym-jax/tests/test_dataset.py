"""Batches on the device: the core's trials of a seed, streams that go on, padding."""

from __future__ import annotations

import jax
import neurogym_jax
import numpy as np
import pytest

from neurogym_core import Dataset, NotSupportedError


def of_seed(task, seed, seq_len=None):
    """Return a dataset of one row with the trials of a seed, and its first state."""
    data = neurogym_jax.DeviceDataset(task, 1, seq_len, seed=seed)
    params = next(data.decks(seed, 200))
    return data, params, data.init(neurogym_jax.key(seed)[None], params)


def assert_same(batch, core, steps):
    for name in ("inputs", "targets", "weights", "new_trial"):
        here = np.asarray(getattr(batch, name))[0, :steps]
        there = getattr(core, name)[0, :steps]
        np.testing.assert_allclose(here, there, atol=1e-6, err_msg=name)


@pytest.mark.parametrize(
    "name",
    [
        "Sides",
        "Jittered",
        "Pulses",
        "Alternating",
        "Pointing",
        "Timed",
        "Tracked",
        "Traced",
        "Waiting",
    ],
)
def test_streams_are_those_of_the_core(tasks, name):
    task = getattr(tasks, name)
    data, params, rows = of_seed(task, 4, seq_len=37)
    core, following = Dataset(task, 1, 37, seed=4), jax.jit(data.next)
    for _ in range(5):  # trials go on from batch to batch
        rows, batch = following(rows, params)
        assert_same(batch, next(core), 37)


@pytest.mark.parametrize(
    "name", ["Jittered", "Pulses", "Pointing", "Timed", "Tracked", "Traced", "Waiting"]
)
def test_whole_trials_are_those_of_the_core(tasks, name):
    task = getattr(tasks, name)
    data, params, rows = of_seed(task, 4)
    core, following = Dataset(task, 1, seed=4), jax.jit(data.next)
    for _ in range(5):
        rows, batch = following(rows, params)
        expected = next(core)
        steps = expected.inputs.shape[1]
        assert_same(batch, expected, steps)
        assert (np.asarray(batch.type)[0, steps:] == -1).all()
        assert not np.asarray(batch.inputs)[0, steps:].any()
        assert not np.asarray(batch.targets)[0, steps:].any()
        assert not np.asarray(batch.weights)[0, steps:].any()


def test_it_draws_inside_a_compiled_loop_and_rows_differ(tasks):
    data = neurogym_jax.DeviceDataset(tasks.Sides, 3, 20)

    @jax.jit
    def mean(rows):
        def step(rows, _):
            rows, batch = data.next(rows)
            return rows, batch.inputs

        return jax.lax.scan(step, rows, None, 4)[1]

    inputs = np.asarray(mean(data.init(jax.random.key(0))))
    assert inputs.shape == (4, 3, 20, 3)
    assert (inputs[:, 0] != inputs[:, 1]).any()
    assert (inputs[0] != inputs[1]).any()


def test_a_task_without_correct_actions_is_refused():
    with pytest.raises(NotSupportedError, match="no correct actions"):
        neurogym_jax.DeviceDataset("value/DriftingBandit-v0")
