"""ProbabilisticReasoning: shapes that stay, and odds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from neurogym_task_perceptual.probabilistic_reasoning import ProbabilisticReasoning

from neurogym_core import InvalidValueError
from neurogym_core.players import TaskView

WEIGHTS = np.array([-10, -0.9, -0.7, -0.5, -0.3, 0.3, 0.5, 0.7, 0.9, 10])


def test_shapes_come_one_by_one_at_their_places_and_stay():
    task = ProbabilisticReasoning()
    batch = task.sample(50, seed=1)
    for k, period in enumerate(("stimulus1", "stimulus2", "stimulus3", "stimulus4", "delay")):
        shown = batch.shown[:, batch.period == batch.period_names.index(period)][:, 0]
        for later in range(4):
            place = batch.conditions["places"][:, later]
            for row in range(50):
                code = shown[row, task.channels[f"place{place[row] + 1}"]]
                wanted = (np.arange(10) == batch.conditions["shapes"][row, later]) * (later <= k)
                np.testing.assert_array_equal(code, wanted)


def test_the_second_target_is_rewarded_with_the_odds_given_by_the_weights():
    """Bins of the log odds of 20,000 trials; 5 SD each, false alarms below 1 in 100,000 for all."""
    task = ProbabilisticReasoning()
    drawn = task.draw_conditions(np.random.default_rng(2), 20_000)
    odds = WEIGHTS[drawn["shapes"]].sum(axis=1)
    rewarded = TaskView(task).answer(drawn)
    for low, high in ((-2, -1), (-1, -0.3), (-0.3, 0.3), (0.3, 1), (1, 2)):
        inside = (odds >= low) & (odds < high)
        p = 1 / (1 + 10 ** -odds[inside])
        sd = math.sqrt((p * (1 - p)).sum()) / inside.sum()
        assert abs(rewarded[inside].mean() - p.mean()) < 5 * sd


def test_the_ideal_observer_is_not_always_rewarded():
    """Following the sign of the log odds earns the mean of the larger probability.

    SD 0.003 of 20,000 trials, 5 SD.
    """
    task = ProbabilisticReasoning()
    batch = task.sample(20_000, seed=3)
    odds = batch.notes["log_odds"]
    rewarded = TaskView(task).answer(batch.conditions)
    p = 1 / (1 + 10 ** -np.abs(odds))
    earned = np.mean((odds > 0) == rewarded)
    tied = np.abs(odds) < 1e-9
    expected = (p.sum() + (rewarded[tied] == 0).sum() - p[tied].sum()) / len(odds)
    assert abs(earned - expected) < 5 * 0.003
    assert 0.8 < earned < 0.97


def test_one_shape_is_refused():
    with pytest.raises(InvalidValueError, match="two shapes"):
        ProbabilisticReasoning(weights=(1.0,))
