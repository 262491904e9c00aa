"""TwoAlternativeChoice and its two named configurations."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_memory.two_alternative_choice import (
    GoNogoTwoAlternativeChoice,
    SimultaneousTwoAlternativeChoice,
    TwoAlternativeChoice,
)

from neurogym_core import TruncatedExponential
from neurogym_core.tasks.identity import parameters_of
from neurogym_core.tasks.state import period_names_of


def stimuli(task, n: int = 100) -> tuple:
    batch = task.sample(n, seed=1)
    means = []
    for name in ("first", "second"):
        shown = batch.shown[:, :, task.channels[name]][..., 0]
        on = shown != 0
        means.append(shown.max(axis=1))
        assert (on.sum(axis=1) == 1).all()
    return batch, *means


@pytest.mark.parametrize(
    "kind", [TwoAlternativeChoice, SimultaneousTwoAlternativeChoice, GoNogoTwoAlternativeChoice]
)
def test_the_stronger_stimulus_is_correct_and_they_differ_by_the_coherence(kind):
    task = kind(coherences=(6.4, 51.2))
    batch, first, second = stimuli(task)
    np.testing.assert_allclose(
        np.abs(first - second), batch.conditions["coherence"] / 100, atol=1e-6
    )
    np.testing.assert_allclose(first + second, 1, atol=1e-6)
    right = batch.target[:, batch.period == batch.period_names.index("decision")][:, 0]
    np.testing.assert_array_equal(
        right, np.where(first > second, 1, 0 if kind is GoNogoTwoAlternativeChoice else 2)
    )


def test_periods_of_the_simultaneous_version():
    assert period_names_of(SimultaneousTwoAlternativeChoice()) == (
        "fixation",
        "stimulus1",
        "delay1",
        "decision",
    )


def test_every_duration_is_a_truncated_exponential():
    task = TwoAlternativeChoice(dt=10)
    assert set(task.timing.values()) == {TruncatedExponential(500, 200, 800)}
    for steps in task.sample(500, seed=2).period_steps.values():
        assert 200 <= steps.min() * 10 < 230
        assert 770 < steps.max() * 10 <= 800


def test_named_configurations_differ_in_settings_only():
    assert parameters_of(SimultaneousTwoAlternativeChoice()) == parameters_of(
        TwoAlternativeChoice(simultaneous=True)
    )
    assert parameters_of(GoNogoTwoAlternativeChoice()) == parameters_of(
        TwoAlternativeChoice(go_nogo=True)
    )
