"""Subjects that always do the same earn as much as the pages of the tasks say."""

from __future__ import annotations

import numpy as np
import pytest

from neurogym_core import make_task, run


@pytest.mark.parametrize(
    ("name", "action"),
    [
        ("DelayComparison", 1),
        ("DelayMatchCategory", 1),
        ("DelayMatchSample", 2),
        ("DelayPairedAssociation", 0),
        ("JitteredPairedAssociation", 0),
        ("DualDelayMatchSample", 1),
        ("DelayEstimation", 7),
        ("DualTask", 0),
        ("TwoAlternativeChoice", 1),
        ("GoNogoTwoAlternativeChoice", 0),
    ],
)
def test_one_answer_in_every_trial_earns_a_half(name, action):
    """1,500 trials; five SDs of a fraction are at most 6.5 % (false alarms 1 in 10^6)."""
    task = make_task(f"memory/{name}-v0")

    def subject(env, observations):
        return np.where(env.is_asked, action, task.actions.rest)

    record = run(task, subject, 1500, num_envs=50, seed=1)
    assert record["performance"].mean() == pytest.approx(0.5, abs=0.065)


@pytest.mark.parametrize("known", ["first", "second"])
def test_one_odour_alone_says_nothing_about_the_pair(known):
    """4,000 trials; five SDs are 5.6 % in half of them."""
    task = make_task("memory/DelayPairedAssociation-v0")
    batch = task.sample(4000, seed=2)
    go = batch.target[:, -1] == 1
    for odour in np.unique(batch.conditions[known]):
        assert go[batch.conditions[known] == odour].mean() == pytest.approx(0.5, abs=0.056)


def test_noise_does_not_hide_odours(averages):
    """The odour with the largest average, in 2,000 trials."""
    task = make_task("memory/JitteredPairedAssociation-v0")
    batch = task.sample(2000, seed=3)
    for period, name in (("stimulus1", "first"), ("stimulus2", "second")):
        seen = averages(task, batch, "odour", period).argmax(axis=1) + 1
        np.testing.assert_array_equal(seen, batch.conditions[name])
