"""DelayMatchCategory: distinguishable categories."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_memory.delay_match_category import DelayMatchCategory

from neurogym_core import InvalidValueError


def test_durations_and_directions_are_those_of_the_paper():
    task = DelayMatchCategory()
    batch = task.sample(500, seed=1)
    assert {name: set(steps * task.dt) for name, steps in batch.period_steps.items()} == {
        "fixation": {500},
        "sample": {650},
        "delay": {1000},
        "test": {650},
    }
    degrees = np.rad2deg(task.angle(np.arange(12)))
    np.testing.assert_allclose(degrees, 15 + 30 * np.arange(12))


def test_a_match_is_two_directions_in_the_same_half_of_the_circle():
    task = DelayMatchCategory(boundary=45)
    batch = task.sample(500, seed=2)
    halves = [
        ((task.angle(batch.conditions[name]) - np.pi / 4) % (2 * np.pi)) < np.pi
        for name in ("sample", "test")
    ]
    right = batch.target[:, batch.period == 3][:, 0] - 1
    np.testing.assert_array_equal(right, np.where(halves[0] == halves[1], 0, 1))
    assert 0.4 < right.mean() < 0.6


@pytest.mark.parametrize("units", [3, 4, 32])
def test_every_direction_looks_different(units):
    """With two units both categories would give the same inputs."""
    task = DelayMatchCategory(units=units)
    batch = task.sample(12, seed=3, sample=np.arange(12))
    shown = batch.shown[:, batch.period == 1][:, 0][:, task.channels["stimulus"]]
    apart = np.abs(shown[:, None] - shown[None]).max(axis=2)
    assert apart[~np.eye(12, dtype=bool)].min() > 0.05


def test_two_units_are_refused():
    with pytest.raises(InvalidValueError, match="at least 3"):
        DelayMatchCategory(units=2)
    with pytest.raises(InvalidValueError, match="even"):
        DelayMatchCategory(directions=5)


def test_an_ideal_observer_makes_no_errors(averages):
    """The direction nearest to each average, in 2,000 trials."""
    task = DelayMatchCategory()
    batch = task.sample(2000, seed=4)
    for period in ("sample", "test"):
        seen = task.ring.population_vector(averages(task, batch, "stimulus", period))
        nearest = np.floor(seen / (2 * np.pi / 12)) % 12
        np.testing.assert_array_equal(nearest, batch.conditions[period])
