"""Quantities of signatures: an ideal has the published sign, and the named cheat has not.

Simulations have fixed seeds. With other seeds, correct programs fail at most one test in 100.
"""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_neural import (
    Activity,
    category_index,
    pulse_effect,
    temporal_scaling,
    weights_correlation,
)

from neurogym_core import InvalidValueError


def noise(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


# ---- categories ----

ANGLES = np.arange(12) * np.pi / 6 + np.pi / 12


def sorted_dots(code) -> Activity:
    """240 trials of 12 directions; the category is whether the direction points upwards."""
    theta = np.tile(ANGLES, 20)
    rates = code(theta) + 0.1 * noise(240, 40, seed=1)
    return Activity(rates[:, None], {"direction": theta, "category": np.sin(theta) > 0}, step=10)


def mean_index(code) -> float:
    return float(category_index(sorted_dots(code), "direction", "category").mean())


def test_categories_are_found():
    weights = noise(40, seed=2)
    assert mean_index(lambda theta: (np.sin(theta) > 0)[:, None] * weights) > 0.5


def test_tuning_to_direction_is_no_category():
    preferred = 2 * np.pi * np.arange(40) / 40
    assert abs(mean_index(lambda theta: np.cos(theta[:, None] - preferred))) < 0.05


def test_another_boundary_gives_the_negative():
    weights = noise(40, seed=3)
    assert mean_index(lambda theta: (np.cos(theta) > 0)[:, None] * weights) < -0.05


def test_the_answer_is_no_category_of_directions():
    activity = sorted_dots(lambda theta: 0 * theta[:, None])
    record = {"direction": activity.record["direction"], "answer": np.arange(240) % 7 == 0}
    with pytest.raises(InvalidValueError, match="one category for each direction"):
        category_index(Activity(activity.rates, record, step=10), "direction", "answer")


# ---- weights of two magnitudes ----


def compared(code, seed=0) -> Activity:
    """400 trials of two magnitudes that correlate, because they differ by a little."""
    rng = np.random.default_rng(seed)
    f1 = rng.uniform(10, 34, 400)
    f2 = f1 + rng.choice([-6, 6], 400)
    rates = code((f1 - 22) / 7, (f2 - 22) / 7) + noise(400, 60, seed=seed + 1)
    return Activity(rates[:, None], {"f1": f1, "f2": f2}, step=10)


def test_a_comparison_has_weights_of_opposite_signs():
    w = noise(60, seed=5)
    activity = compared(lambda f1, f2: np.outer(f1 - f2, w))
    assert weights_correlation(activity, "f1", "f2") < -0.6


def test_leaky_filters_have_weights_of_the_same_sign():
    w = noise(60, seed=6)
    assert (
        weights_correlation(compared(lambda f1, f2: np.outer(f1 * 0.5 + f2, w)), "f1", "f2") > 0.5
    )


def test_noise_has_no_correlation_of_weights():
    """From the same trials, noise alone would give -0.5 or less here."""
    values = [
        weights_correlation(compared(lambda f1, f2: np.zeros((400, 60)), seed), "f1", "f2")
        for seed in range(0, 40, 2)
    ]
    assert abs(np.mean(values)) < 0.1
    activity = compared(lambda f1, f2: np.zeros((400, 60)))
    x = np.column_stack([activity.record["f1"], activity.record["f2"]])
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    b1, b2 = np.linalg.lstsq(x, activity.rates[:, 0], rcond=None)[0]
    assert np.corrcoef(b1, b2)[0, 1] < -0.5  # the naive one


# ---- intervals ----


def produced(code) -> Activity:
    """200 trials with intervals of 400 to 1,000 ms; `code` has time and interval in ms."""
    lasts = np.random.default_rng(0).uniform(400, 1000, 200)
    time = np.arange(50) * 20.0
    rates = code(time[:, None], lasts[:, None, None]) + 0.02 * noise(200, 50, 30, seed=1)
    rates = np.where((time < lasts[:, None])[..., None], rates, np.nan)
    return Activity(rates, {"interval": lasts}, step=20)


def test_activity_that_stretches_is_found():
    phase = np.linspace(0, 2 * np.pi, 30)
    found = temporal_scaling(
        produced(lambda t, lasts: np.sin(2 * np.pi * t / lasts + phase)), "interval"
    )
    assert found.index > 0.8
    assert found.turning > 0.8


def test_a_clock_does_not_stretch():
    centre = np.linspace(0, 1000, 30)
    found = temporal_scaling(
        produced(lambda t, lasts: np.exp(-(((t - centre) / 80) ** 2)) + 0 * lasts), "interval"
    )
    assert found.index < -0.5
    assert found.turning < -0.5


def test_a_ramp_to_a_bound_passes_the_index_and_has_no_unit_that_turns():
    found = temporal_scaling(
        produced(lambda t, lasts: t / lasts * np.linspace(0.5, 1, 30)), "interval"
    )
    assert found.index > 0.8  # the naive verdict
    assert np.isnan(found.turning)


def test_short_groups_are_refused():
    activity = produced(lambda t, lasts: t / lasts * np.ones(30))
    with pytest.raises(InvalidValueError, match="at least three steps"):
        temporal_scaling(activity.align("trial", 0, 300), "interval")


# ---- pulses ----


def pulsed(keep: float) -> tuple[Activity, Activity]:
    """Filters of noisy evidence, without and with a pulse on the first step."""
    side = np.arange(200) % 2
    evidence = 0.1 * (2 * side[:, None] - 1) + 0.3 * noise(200, 60, seed=1)
    weights = noise(20, seed=2)
    both = []
    for pulse in (0.0, 0.5):
        state, states = np.zeros(200), []
        for t in range(60):
            state = keep * state + evidence[:, t] + pulse * (t == 0)
            states.append(state)
        both.append(Activity(np.array(states).T[..., None] * weights, {"choice": side}, step=20))
    return both[0], both[1]


def test_an_integrator_keeps_a_pulse_and_a_leaky_filter_forgets_it():
    kept = pulse_effect(*pulsed(1.0), "choice")
    np.testing.assert_allclose(kept, 1, atol=1e-4)
    forgotten = pulse_effect(*pulsed(np.exp(-20 / 100)), "choice")
    assert forgotten[0] == 1
    assert forgotten[20] < 0.05  # after 400 ms


def test_the_same_activity_has_no_effect():
    one, _ = pulsed(1.0)
    with pytest.raises(InvalidValueError, match="no effect"):
        pulse_effect(one, one, "choice")
    with pytest.raises(InvalidValueError, match="the same trials"):
        pulse_effect(one, one.select(np.arange(3)), "choice")
