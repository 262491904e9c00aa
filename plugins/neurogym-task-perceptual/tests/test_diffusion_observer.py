"""A diffusion observer on reaction-time tasks: psychometric and chronometric functions."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_study import DiffusionObserver
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
