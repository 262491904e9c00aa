"""A diffusion observer on reaction-time tasks: psychometric and chronometric functions."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_likeness import DiffusionObserver
from neurogym_task_perceptual.perceptual_decision_making import PerceptualDecisionMaking
from neurogym_task_perceptual.roitman_shadlen import RoitmanShadlen

from neurogym_core import run


@pytest.mark.parametrize(
    ("task", "wrap"),
    [
        (PerceptualDecisionMaking(dt=20, sigma=2.0), ("ReactionTime",)),
        (RoitmanShadlen(dt=20, sigma=2.0), ()),
    ],
    ids=["wrapped", "roitman"],
)
def test_reaction_times_fall_and_accuracy_rises_with_coherence(task, wrap):
    record = run(task, DiffusionObserver(seed=1, bound=80.0), 4000, num_envs=200, seed=2, wrap=wrap)
    levels = np.unique(record["coherence"])
    times = [record["reaction_time"][record["coherence"] == c] for c in levels]
    right = [(record["outcome"] == "correct")[record["coherence"] == c].mean() for c in levels]
    means = np.array([np.nanmean(time) for time in times])
    errors = np.array([np.nanstd(time) / np.sqrt(len(time)) for time in times])
    # From none to 12.8 % to 51.2 %, by five standard errors.
    few = np.flatnonzero(np.isin(levels, (0, 12.8, 51.2)))
    means, errors = means[few], errors[few]
    assert (means[:-1] - means[1:] > 5 * np.hypot(errors[:-1], errors[1:])).all()
    assert right[0] == pytest.approx(0.5, abs=5 * 0.5 / np.sqrt(len(times[0])))
    assert (np.diff(right) > -0.05).all()
    assert right[-1] > 0.99
    assert means[-1] >= 300  # the non-decision time


@pytest.mark.parametrize(
    ("coherence", "correct", "time"), [(0, 0.5, 821), (6.4, 0.772, 770), (25.6, 0.995, 545)]
)
def test_the_bound_in_the_docstring_answers_as_the_monkeys_did(coherence, correct, time):
    """2,000 trials: SE 0.011 and 12 ms; the observer's own 300 ms stand for the monkeys' 334.

    Expected differences are below 0.01 and 45 ms, limits 0.055 and 100 ms: p < 1e-4.
    """
    task = RoitmanShadlen(conditions={"coherence": coherence})
    record = run(task, DiffusionObserver(seed=1, bound=45), 2000, num_envs=100, seed=3)
    assert abs((record["outcome"] == "correct").mean() - correct) < 0.055
    assert abs(np.nanmean(record["reaction_time"]) - time) < 100
