"""`Dataset` of classic envs: the trials that new_trial builds."""

from __future__ import annotations

import copy
import pickle
from itertools import islice

import numpy as np
import pytest
from neurogym_classic import TrialWrapper

from neurogym_core import Dataset, InvalidValueError, NotSupportedError, UnknownNameError


class Easy(TrialWrapper):
    def new_trial(self, **kwargs):
        return self.env.new_trial(coh=100.0, **kwargs)


@pytest.fixture
def dots(ref):
    return ref("as_neurogym", "DelayedDots")


def same(one, other):
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("inputs", "targets", "weights")
    )


def test_whole_trials_are_padded_with_weight_0(dots):
    dataset = Dataset(dots, 8, seed=0)
    batch = next(dataset)
    assert (dataset.n_inputs, dataset.n_outputs) == (3, 3)
    assert batch.inputs.dtype == batch.weights.dtype == np.float32
    assert batch.targets.dtype == np.int64
    lengths = batch.weights.sum(axis=1)
    np.testing.assert_array_equal(lengths, batch.stop - batch.start)
    assert lengths.max() == batch.inputs.shape[1] > lengths.min()
    assert not batch.inputs[batch.weights == 0].any()
    assert batch.new_trial[:, 0].all()
    assert batch.new_trial.sum() == 8
    assert (batch.targets.max(axis=1) == batch.conditions["ground_truth"] + 1).all()
    assert (np.count_nonzero(batch.targets, axis=1) == 3).all()


def test_batches_hold_what_the_env_shows(load):
    env = load("as_neurogym", "DelayedDots")()
    dataset = Dataset(load("as_neurogym", "DelayedDots"), 1, 200, seed=3)
    batch = next(dataset)
    row_seed = int(np.random.SeedSequence(3).generate_state(1, np.uint64)[0]) >> 1
    obs, _ = env.reset(seed=row_seed)
    for step in range(200):
        np.testing.assert_array_equal(batch.inputs[0, step], obs)
        obs, *_, info = env.step(0)
        assert info["gt"] == batch.targets[0, step]


def test_streams_continue_from_batch_to_batch(dots):
    long, short = Dataset(dots, 3, 60, seed=1), Dataset(dots, 3, 20, seed=1)
    whole, parts = next(long), [next(short) for _ in range(3)]
    for name in ("inputs", "targets", "weights", "new_trial"):
        joined = np.concatenate([getattr(part, name) for part in parts], axis=1)
        np.testing.assert_array_equal(getattr(whole, name), joined)
    assert (whole.weights == 1).all()
    for row, start in zip(whole.row, whole.start, strict=True):
        assert start < 0 or whole.new_trial[row, start]
    assert (parts[1].start < 0).any()


def test_each_row_is_a_separate_session(ref):
    batch = next(Dataset(ref("as_neurogym", "Blocks"), 4, 400, seed=0))
    for row in range(4):
        rule = batch.conditions["ground_truth"][batch.row == row]
        assert rule[:8].tolist() == [0, 0, 1, 1, 1, 0, 0, 0]
        assert batch.conditions["seen"][batch.row == row].sum(axis=1).tolist() == list(
            range(1, len(rule) + 1)
        )


def test_the_same_seed_gives_the_same_batches(dots):
    def take(**settings):
        return list(islice(Dataset(dots, 4, 50, **settings), 3))

    first = take(seed=1)
    assert all(map(same, first, take(seed=1)))
    for others in (take(seed=2), take(seed=1, split="train"), take(seed=1, split="validation")):
        assert not any(map(same, first, others))
    assert not any(map(same, take(seed=1, split="train"), take(seed=1, split="validation")))


def test_restart_copies_and_pickles(dots):
    dataset = Dataset(dots, 4, 50, seed=1)
    first = next(dataset)
    clones = [copy.deepcopy(dataset), pickle.loads(pickle.dumps(dataset))]
    second = next(dataset)
    assert not same(first, second)
    for clone in clones:
        assert same(next(clone), second)
    dataset.restart()
    assert same(next(dataset), first)
    assert same(pickle.loads(pickle.dumps(first)), first)


def test_later_batches_do_not_change_earlier_ones(dots):
    dataset = Dataset(dots, 4, seed=1)
    batch = next(dataset)
    kept = batch.inputs.copy()
    batch.targets[:] = 99
    next(dataset)
    np.testing.assert_array_equal(batch.inputs, kept)


def test_targets_as_units(dots):
    ids, units = (next(Dataset(dots, 4, seed=1, targets=kind)) for kind in ("action", "units"))
    assert units.targets.shape == (*ids.targets.shape, 3)
    inside = ids.weights > 0
    np.testing.assert_array_equal(units.targets.argmax(axis=2)[inside], ids.targets[inside])


def test_parameters_and_trial_wrappers_reach_the_env(dots):
    batch = next(Dataset(dots, 4, seed=1, wrap=Easy, timing={"fixation": 800}))
    assert (batch.conditions["coh"] == 100).all()
    assert (batch.inputs[:, :8, 0] == 1).all()
    assert not batch.inputs[:, :8, 1:].any()


def test_unsupported_datasets_are_refused(ref, dots):
    with pytest.raises(NotSupportedError, match=r"Arms.new_trial sets no observations"):
        Dataset(ref("as_neurogym", "Arms"))
    with pytest.raises(NotSupportedError, match=r"Withhold.new_trial sets no targets"):
        Dataset(ref("as_neurogym", "Withhold"))
    with pytest.raises(NotSupportedError, match="Cursor makes its observations while it is played"):
        Dataset(ref("as_neurogym", "Cursor"))
    with pytest.raises(NotSupportedError, match="PassReward changes the steps"):
        Dataset(dots, wrap="PassReward")
    with pytest.raises(NotSupportedError, match="ReactionTime wraps tasks"):
        Dataset(dots, wrap="ReactionTime")
    batch = next(Dataset(dots, 2, seed=0))
    with pytest.raises(NotSupportedError, match="scored by its own _step"):
        batch.score(batch.targets)
    with pytest.raises(InvalidValueError, match="batch_size=0"):
        Dataset(dots, 0)
    with pytest.raises(UnknownNameError, match="'unit'"):
        Dataset(dots, targets="unit")
