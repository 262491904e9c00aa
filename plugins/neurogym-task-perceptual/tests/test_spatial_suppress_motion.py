"""SpatialSuppressMotion: rewards, and the paper's pattern of thresholds."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from neurogym_task_perceptual.spatial_suppress_motion import SpatialSuppressMotion

from neurogym_core import TaskEnv


def test_errors_cost_their_square():
    task = SpatialSuppressMotion()
    env = TaskEnv(task)
    env.reset(seed=1)
    for off in (0.0, 0.1, 0.4):
        target = task.actions.to_task_units(env.target)
        action = task.actions.from_task_units(np.clip(target + off * (target < 0.5), 0, 1))
        error = np.mean((task.actions.to_task_units(action) - target) ** 2)
        assert env.step(action)[1] == pytest.approx(-error * task.dt / 100, abs=1e-9)


def test_probabilities_grow_from_chance_and_sum_to_one():
    task = SpatialSuppressMotion(timing={"stimulus": 300})
    batch = task.sample(50, seed=2)
    asked = batch.render_targets().reshape(50, 30, 4)
    np.testing.assert_allclose(asked.sum(axis=2), 1, atol=1e-5)
    shown = asked[np.arange(50), :, batch.conditions["direction"]]
    assert (np.diff(shown, axis=1) >= -1e-6).all()
    assert (asked.argmax(axis=2) == batch.conditions["direction"][:, None]).all()
    assert (shown[:, 0] < 0.35).all()


def test_large_gratings_are_harder_at_high_contrast_and_easier_at_low_contrast():
    task = SpatialSuppressMotion()
    sizes = np.arange(1, 9)
    high, low = task.threshold(sizes, np.full(8, 0.99)), task.threshold(sizes, np.full(8, 0.05))
    assert (np.diff(high) > 0).all()
    assert (np.diff(low) < 0).all()
    np.testing.assert_allclose([high[0], high[-1], low[0], low[-1]], [30, 120, 120, 40])


def test_three_of_four_reports_are_right_at_the_threshold():
    task = SpatialSuppressMotion(dt=10, timing={"stimulus": 300})
    batch = task.sample(4, seed=3, size=8, contrast=0.99, direction=[0, 1, 2, 3])
    asked = batch.render_targets().reshape(4, 30, 4)
    np.testing.assert_allclose(
        asked[np.arange(4), 11, np.arange(4)], 0.75, atol=1e-5
    )  # 12 steps: 120 ms


def test_units_up_to_the_size_are_driven_by_the_contrast():
    task = SpatialSuppressMotion()
    batch = task.sample(40, seed=4)
    shown = batch.shown[:, 0].reshape(40, 4, 8)
    np.testing.assert_array_equal((shown.max(axis=1) > 0).sum(axis=1), batch.conditions["size"])
    np.testing.assert_allclose(shown.max(axis=(1, 2)), batch.conditions["contrast"], atol=1e-6)


def test_chance_is_not_correct():
    env = TaskEnv(SpatialSuppressMotion(timing={"stimulus": 120}))
    env.reset(seed=5)
    while True:
        *_, info = env.step(np.full(4, -0.5, np.float32))  # a quarter each
        if info["new_trial"]:
            break
    assert info["trial"]["performance"] == 0
    assert info["trial"]["reward"] < 0


CERTAIN = dict.fromkeys((20, 40, 60, 80, 100, 120), 1.0)
BY_EXPOSURE = {
    **CERTAIN,
    20: 0.35,
    40: 0.82,
}  # the best choice at each exposure, whatever size and contrast


@pytest.mark.parametrize(("report", "share"), [(CERTAIN, 8 / 24), (BY_EXPOSURE, 13 / 24)])
def test_the_direction_alone_is_not_enough(report, share):
    """All combinations of exposure, size and contrast; no chance is involved."""
    task = SpatialSuppressMotion()
    performance = []
    for exposure, size, contrast in product(CERTAIN, task.sizes, (task.low, task.high)):
        env = TaskEnv(task)
        given = {"size": size, "contrast": contrast, "duration.stimulus": exposure}
        env.reset(seed=6, options={"conditions": given})
        reported = np.full(4, (1 - report[exposure]) / 3)
        reported[env.conditions["direction"]] = report[exposure]
        info = {"new_trial": False}
        while not info["new_trial"]:
            *_, info = env.step(task.actions.from_task_units(reported))
        performance.append(info["trial"]["performance"])
    assert np.mean(performance) == pytest.approx(share)
