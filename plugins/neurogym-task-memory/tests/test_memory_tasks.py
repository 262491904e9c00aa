"""Properties of all tasks of the package."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_memory.delay_comparison import DelayComparison
from neurogym_task_memory.delay_estimation import DelayEstimation
from neurogym_task_memory.delay_match_category import DelayMatchCategory
from neurogym_task_memory.delay_match_sample import DelayMatchSample
from neurogym_task_memory.delay_match_sample_distractor import DelayMatchSampleDistractor1D
from neurogym_task_memory.delay_paired_association import (
    DelayPairedAssociation,
    JitteredPairedAssociation,
)
from neurogym_task_memory.dual_delay_match_sample import DualDelayMatchSample
from neurogym_task_memory.dual_task import DualTask
from neurogym_task_memory.memory_recall import MemoryRecall
from neurogym_task_memory.two_alternative_choice import (
    GoNogoTwoAlternativeChoice,
    SimultaneousTwoAlternativeChoice,
    TwoAlternativeChoice,
)

from neurogym_core import Dataset

REWARD = {
    DelayComparison: 1,
    DelayEstimation: 1,
    DelayMatchCategory: 1,
    DelayMatchSample: 1,
    DelayMatchSampleDistractor1D: 1,
    DelayPairedAssociation: 1,
    JitteredPairedAssociation: 1,
    DualDelayMatchSample: 2,
    DualTask: 2,
    MemoryRecall: None,
    TwoAlternativeChoice: 1,
    SimultaneousTwoAlternativeChoice: 1,
    GoNogoTwoAlternativeChoice: 1,
}
"""Largest reward of a trial; None: the number of stored vectors."""
WITH_CUE = [kind for kind in REWARD if "fixation" in kind().channels]
NOISY = [kind for kind in REWARD if kind().sample(20, seed=0).noise.any()]


@pytest.mark.parametrize("dt", [10, 20, 100])
@pytest.mark.parametrize("kind", REWARD, ids=lambda kind: kind.__name__)
def test_oracle_is_always_right_and_paid_in_full(oracle, kind, dt):
    for trial in oracle(kind(dt=dt), 12):
        assert trial["performance"] == pytest.approx(1)
        largest = trial["stored"] if kind is MemoryRecall else REWARD[kind]
        assert trial["reward"] == pytest.approx(largest)


@pytest.mark.parametrize("kind", REWARD, ids=lambda kind: kind.__name__)
def test_the_dataset_scores_its_own_targets_as_perfect(kind):
    batch = next(iter(Dataset(kind(), 8, seed=1)))
    assert np.mean(batch.score(batch.targets)["performance"]) == pytest.approx(1)


@pytest.mark.parametrize(
    "kind", [kind for kind in REWARD if kind is not MemoryRecall], ids=lambda kind: kind.__name__
)
def test_acting_early_costs_in_every_period_without_a_response_window(premature, kind):
    task = kind()
    batch = task.sample(20, seed=1)
    window = batch.table("window").any(axis=2)
    for p, name in enumerate(batch.period_names):
        if not window[:, batch.period == p].any() and (batch.period_steps[name] > 0).any():
            assert premature(task, name) == {round(-0.1 * task.dt / 100, 9)}, name


@pytest.mark.parametrize("dt", [10, 20, 100])
@pytest.mark.parametrize("kind", WITH_CUE, ids=lambda kind: kind.__name__)
def test_the_fixation_cue_goes_off_when_an_answer_is_asked(kind, dt):
    task = kind(dt=dt)
    batch = task.sample(30, seed=5)
    cue = batch.shown[:, :, task.channels["fixation"]][..., 0]
    asked = batch.table("window").any(axis=2)
    played = batch.duration > 0
    assert (cue[asked & played] == 0).all()
    if kind is not DelayMatchSampleDistractor1D:  # its cue is the match itself
        assert (cue[~asked & played] == 1).all()


@pytest.mark.parametrize("kind", NOISY, ids=lambda kind: kind.__name__)
def test_noise_is_on_stimuli_only(kind):
    task = kind()
    batch = task.sample(30, seed=5)
    noise = np.broadcast_to(batch.noise, batch.shown.shape)
    for cue in ("fixation", "cue"):
        if cue in task.channels:
            assert (noise[:, :, task.channels[cue]] == 0).all()
    assert noise.max() > 0
