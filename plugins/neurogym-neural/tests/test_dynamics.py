"""Fixed points: those of systems with a known answer are found, and slowness is none."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_neural import fixed_points

from neurogym_core import InvalidValueError


def test_a_linear_system_has_one_with_its_eigenvalues():
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    values = np.array([0.95, 0.9, 0.5, 0.2, -0.3, 0.1])
    weights, drive = turn @ np.diag(values) @ turn.T, rng.standard_normal(6)
    found = fixed_points(lambda x: x @ weights.T + drive, rng.standard_normal((5, 6)), dt=20)
    assert found.starts.tolist() == [5]
    np.testing.assert_allclose(
        found.points[0], np.linalg.solve(np.eye(6) - weights, drive), atol=1e-6
    )
    np.testing.assert_allclose(
        np.sort(np.abs(found.eigenvalues[0])), np.sort(np.abs(values)), atol=1e-6
    )
    np.testing.assert_allclose(found.time_constants, -20 / np.log(0.95), rtol=1e-5)
    assert found.stable.all()


def test_two_attractors_and_the_saddle_between_them_are_found():
    def step(x):
        return 0.8 * x + 0.2 * np.tanh(x @ np.array([[1.5, -1.0], [-1.0, 1.5]]))

    starts = np.random.default_rng(1).uniform(-1.5, 1.5, (60, 2))
    found = fixed_points(step, starts, dt=10)
    np.testing.assert_allclose(step(found.points), found.points, atol=1e-8)
    on_axis = np.abs(found.points[:, 0] + found.points[:, 1]) < 1e-6
    assert found.stable[on_axis].sum() == 2
    origin = np.linalg.norm(found.points, axis=1) < 1e-6
    assert origin.sum() == 1
    assert not found.stable[origin].any()
    assert np.isinf(found.time_constants[origin]).all()


def test_a_slow_drift_is_no_fixed_point():
    def step(x):
        return np.column_stack([0.5 * x[:, 0], x[:, 1] + 1e-4])

    states = np.random.default_rng(2).standard_normal((10, 2))
    slowest = np.linalg.norm(step(states * [0, 1]) - states * [0, 1], axis=1)
    assert (slowest < 1e-3).all()  # the naive verdict, a threshold on the speed
    found = fixed_points(step, states, dt=10)
    assert (len(found.points), found.searches) == (0, 10)
    assert found.eigenvalues.shape == (0, 2)


def test_a_line_of_fixed_points_has_a_mode_that_stays():
    def step(x):
        return np.column_stack([0.5 * x[:, 0], x[:, 1]])

    found = fixed_points(step, np.random.default_rng(3).standard_normal((8, 2)), dt=10)
    assert len(found.points) == 8
    np.testing.assert_allclose(np.abs(found.eigenvalues[:, 0]), 1, atol=1e-6)


def test_states_of_another_shape_are_refused():
    with pytest.raises(InvalidValueError, match=r"Expected \(n, units\)"):
        fixed_points(lambda x: x, [1.0, 2.0], dt=10)
    with pytest.raises(InvalidValueError, match=r"Expected \(n, units\)"):
        fixed_points(lambda x: x[:, :1], [[1.0, 2.0]], dt=10)
