"""TwoAlternativeChoice and its two named configurations."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_memory.two_alternative_choice import (
    GoNogoTwoAlternativeChoice,
    SimultaneousTwoAlternativeChoice,
    TwoAlternativeChoice,
)

from neurogym_core import InvalidValueError, TruncatedExponential
from neurogym_core.players import TaskView


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
    np.testing.assert_allclose((first + second) / 2, batch.conditions["mean"], atol=1e-6)
    assert batch.conditions["mean"].min() >= 0.5
    assert batch.conditions["mean"].max() <= 1.5
    right = batch.target[:, batch.period == batch.period_names.index("decision")][:, 0]
    np.testing.assert_array_equal(
        right, np.where(first > second, 1, 0 if kind is GoNogoTwoAlternativeChoice else 2)
    )


def test_periods_of_the_simultaneous_version():
    assert TaskView(SimultaneousTwoAlternativeChoice()).period_names == (
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
    assert (
        TaskView(SimultaneousTwoAlternativeChoice()).parameters
        == TaskView(TwoAlternativeChoice(simultaneous=True)).parameters
    )
    assert (
        TaskView(GoNogoTwoAlternativeChoice()).parameters
        == TaskView(TwoAlternativeChoice(go_nogo=True)).parameters
    )


@pytest.mark.parametrize("kind", [TwoAlternativeChoice, SimultaneousTwoAlternativeChoice])
def test_an_ideal_observer_compares_and_one_stimulus_is_not_enough(kind, averages):
    """20,000 trials; five SDs of a fraction are at most 4 % in a fifth of them, 1.8 % in all.

    With a fixed mean the first stimulus alone was right in 88 % of the trials."""
    task = kind()
    batch = task.sample(20_000, seed=3)
    first = averages(task, batch, "first", "stimulus1")[:, 0]
    where = "stimulus1" if task.simultaneous else "stimulus2"
    second = averages(task, batch, "second", where)[:, 0]
    right = batch.conditions["stronger"] == "first"
    coherence = batch.conditions["coherence"]
    ideal = (first > second) == right
    for level, share in ((0, 0.5), (6.4, 0.82), (12.8, 0.96), (25.6, 0.999), (51.2, 1.0)):
        assert ideal[coherence == level].mean() == pytest.approx(share, abs=0.04)
    assert ideal.mean() == pytest.approx(0.854, abs=0.0125)
    assert ((first > 1) == right).mean() == pytest.approx(0.596, abs=0.0175)
    assert ((second < 1) == right).mean() == pytest.approx(0.596, abs=0.0175)


def test_the_mean_can_be_fixed_and_bounds_in_the_wrong_order_are_refused():
    assert set(TwoAlternativeChoice(means=(0.5, 0.5)).sample(20, seed=1).conditions["mean"]) == {
        0.5
    }
    with pytest.raises(InvalidValueError, match="lower and the upper bound"):
        TwoAlternativeChoice(means=(1.5, 0.5))
