"""Named configurations: other settings, the same logic."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_perceptual.context_decision_making import ContextDecisionMaking
from neurogym_task_perceptual.named_configurations import (
    JitteredPerceptualDecisionMaking,
    ManteDecisionMaking,
)

from neurogym_core import InvalidValueError, run
from neurogym_core.players import TaskView


def test_durations_of_the_jittered_task_are_random_within_bounds():
    batch = JitteredPerceptualDecisionMaking(dt=10).sample(1000, seed=1)
    for name, low, high in (("fixation", 200, 800), ("stimulus", 500, 2000), ("delay", 200, 800)):
        ms = batch.period_steps[name] * 10
        assert low <= ms.min() < low + 30
        assert high - 100 < ms.max() <= high
    assert set(batch.period_steps["decision"]) == {30}


def test_contexts_of_the_named_versions():
    cued = TaskView(ContextDecisionMaking(context="cued")).parameters
    assert TaskView(ManteDecisionMaking()).parameters == {**cued, "block_length": 1}
    assert "context" in ManteDecisionMaking().channels
    assert "context" not in ContextDecisionMaking().channels


def test_contexts_alternate_in_blocks_or_are_independent():
    """Independent contexts: 800 trials, a share of changes outside 0.5 +- 0.08 has p < 1e-5."""
    blocked = run(ManteDecisionMaking(block_length=36), "rest", 108, seed=1)["context"]
    np.testing.assert_array_equal(np.flatnonzero(blocked[1:] != blocked[:-1]) + 1, [36, 72])
    free = run(ManteDecisionMaking(), "rest", 800, seed=1)["context"]
    assert abs((free[1:] != free[:-1]).mean() - 0.5) < 0.08
    with pytest.raises(InvalidValueError, match="block_length=0"):
        ManteDecisionMaking(block_length=0)
