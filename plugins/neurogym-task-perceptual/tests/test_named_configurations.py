"""Named configurations: other settings, the same logic."""

from __future__ import annotations

import pytest
from neurogym_task_perceptual.context_decision_making import ContextDecisionMaking
from neurogym_task_perceptual.named_configurations import (
    JitteredPerceptualDecisionMaking,
    ManteDecisionMaking,
    SingleContextDecisionMaking,
)

from neurogym_core.errors import InvalidValueError
from neurogym_core.tasks.identity import parameters_of


def test_durations_of_the_jittered_task_are_random_within_bounds():
    batch = JitteredPerceptualDecisionMaking(dt=10).sample(1000, seed=1)
    for name, low, high in (("fixation", 200, 800), ("stimulus", 500, 2000), ("delay", 200, 800)):
        ms = batch.period_steps[name] * 10
        assert low <= ms.min() < low + 30
        assert high - 100 < ms.max() <= high
    assert set(batch.period_steps["decision"]) == {30}


def test_contexts_of_the_named_versions():
    assert parameters_of(ManteDecisionMaking()) == parameters_of(
        ContextDecisionMaking(context="cued")
    )
    assert parameters_of(SingleContextDecisionMaking(context="colour")) == parameters_of(
        ContextDecisionMaking(context="colour")
    )
    assert "context" in ManteDecisionMaking().channels
    assert "context" not in SingleContextDecisionMaking().channels


def test_a_single_context_cannot_be_cued():
    with pytest.raises(InvalidValueError, match="'motion' or 'colour'"):
        SingleContextDecisionMaking(context="cued")
