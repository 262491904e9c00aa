"""Smooth pursuit: a late and noisy slip, and pursuit that is slow at a low contrast."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from neurogym_task_motor.observers import Pursuer
from neurogym_task_motor.smooth_pursuit import SmoothPursuit

from neurogym_core import InvalidValueError, run
from neurogym_core.tools import find_task

IDEAL = 0.845


@cache
def played(expects=True):
    return run(SmoothPursuit(), Pursuer(expects), 2000, num_envs=100, seed=1)


def watched(subject, **imposed):
    """Slip that is seen on each step, deg/s, (steps, 2), without noise."""
    seen = []

    def watch(env, observations):
        seen.append(10 * observations[0, env.task.channels["slip"]])
        return subject(env)

    known = {"duration.fixation": 800, "direction": 0, "speed": 10, **imposed}
    run(SmoothPursuit(sigma=0.0), watch, 1, num_envs=1, seed=1, conditions=known)
    return np.array(seen)


def test_the_slip_of_a_resting_eye_is_the_motion_of_100_ms_before():
    slip = watched(lambda env: np.zeros((1, 2), np.float32))
    np.testing.assert_allclose(slip[:45], 0, atol=1e-6)
    np.testing.assert_allclose(slip[46:], np.tile([10, 0], (len(slip) - 46, 1)), atol=1e-5)


def test_the_slip_of_a_moving_eye_is_less_by_its_own_velocity():
    slip = watched(lambda env: np.array([[0.1, 0.0]], np.float32))  # 4 deg/s
    np.testing.assert_allclose(slip[10:45], np.tile([-4, 0], (35, 1)), atol=1e-5)
    np.testing.assert_allclose(slip[46:], np.tile([6, 0], (len(slip) - 46, 1)), atol=1e-5)


def test_noise_is_larger_at_a_low_contrast():
    """Half a second at rest of 400 trials: 4 SEs of an SD are 2 %."""
    task = SmoothPursuit()
    for contrast in (12, 100):
        batch = task.sample(400, seed=1, contrast=contrast, **{"duration.fixation": 800})
        slip = batch.render(np.random.default_rng(1))[:, task.channels["slip"]] * 10
        expected = 8 * 100 / contrast / np.sqrt(20)
        assert slip.std() == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize(
    ("along", "aside", "expected"),
    [(1.0, 0, 1), (0.9, 0, 0.9), (0.5, 0, 0.5), (0, 0, 0), (1, 1, 0)],
)
def test_performance_is_one_minus_the_slip_relative_to_the_speed(along, aside, expected):
    def follows(env, observations):
        velocity = 10 * np.array([[along, aside]])
        return env.task.actions.from_task_units(np.repeat(velocity, env.num_envs, axis=0))

    known = {"direction": 0, "speed": 10}
    record = run(SmoothPursuit(), follows, 5, num_envs=1, seed=1, conditions=known)
    np.testing.assert_allclose(record["performance"], expected, atol=1e-5)
    np.testing.assert_allclose(record["late"], 10 * along, atol=1e-5)


def test_the_ideal_observer_reaches_the_ideal_of_the_manifest():
    """2,000 trials: 4 SEs, about, of performances whose SD is 0.2."""
    assert find_task("motor/SmoothPursuit-v0").ideal["value"] == IDEAL
    record = played()
    assert record["performance"].mean() == pytest.approx(IDEAL, abs=0.018)
    for contrast, expected in ((12, 0.69), (100, 1.0)):
        found = record["performance"][record["contrast"] == contrast].mean()
        assert found == pytest.approx(expected, abs=0.03)


def test_the_average_earns_less():
    found = played(False)["performance"].mean()
    assert found == pytest.approx(0.79, abs=0.02)


def test_pursuit_is_slow_at_first_where_the_contrast_is_low():
    record = played()
    fast = record["speed"] == 20
    low, high = (record["early"][fast & (record["contrast"] == one)].mean() for one in (12, 100))
    assert low == pytest.approx(13, abs=2)  # 250 trials: 4 SEs
    assert high == pytest.approx(20, abs=0.3)


def test_resting_earns_nothing():
    assert run(SmoothPursuit(), "rest", 20, seed=1)["performance"].max() < 1e-6


@pytest.mark.parametrize(
    "wrong", [{"speeds": ()}, {"speeds": (50,)}, {"contrasts": (0,)}, {"sigma": -1}]
)
def test_impossible_parameters_are_refused(wrong):
    with pytest.raises(InvalidValueError, match="SmoothPursuit"):
        SmoothPursuit(**wrong)


def test_single_env_and_vector_env_agree(same_in_both):
    same_in_both(SmoothPursuit())
