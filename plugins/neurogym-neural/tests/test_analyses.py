"""Each analysis finds the simulated effect, and refuses the simulation that passes a naive one.

Simulations have fixed seeds. With other seeds, correct programs fail at most one test in 100.
"""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_neural import (
    Activity,
    cross_temporal,
    decode,
    generalisation,
    participation_ratio,
    similarity,
    tuning,
)

from neurogym_core import InvalidValueError


def made(rates, **columns) -> Activity:
    rates = np.asarray(rates)
    return Activity(rates if rates.ndim == 3 else rates[:, None], columns, step=10)


def noise(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


# ---- tuning ----


def test_tuned_units_are_found_and_others_are_not():
    x = noise(300, seed=1)
    rates = noise(300, 40, seed=2)
    rates[:, :10] += np.where(np.arange(10) % 2, 1, -1) * x[:, None]
    found = tuning(made(rates, x=x), "x")
    assert (found.q[:10] < 0.05).all()
    assert np.sign(found.rho[:10]).tolist() == [-1, 1] * 5
    assert (found.q[10:] < 0.05).sum() <= 1


def test_permuted_trials_are_significant_as_often_as_stated():
    """200 units without tuning: 10 +- 3 below 0.05; more than 23 is 4.2 SD."""
    found = tuning(made(noise(100, 200, seed=3), x=noise(100, seed=4)), "x", permutations=199)
    assert (found.p <= 0.05).sum() < 23
    assert (found.q < 0.05).sum() <= 1


def test_a_drift_over_sessions_is_no_tuning_within_them():
    session = np.repeat([0, 1], 150)
    x = session + 0.1 * noise(300, seed=5)
    activity = made(session[:, None] * 3 + noise(300, 10, seed=6), x=x, session=session)
    assert (tuning(activity, "x", neighbours=300).q < 0.05).all()  # the naive one
    assert (tuning(activity, "x", within="session").q > 0.05).all()


def drifting(blocks, drift, seed):
    """Counts of 20 units whose rates drift, with a side that has no effect, in blocks or not."""
    rng = np.random.default_rng(seed)
    side = np.repeat(rng.permutation(np.arange(10) % 2), 20) if blocks else rng.integers(0, 2, 200)
    level = np.cumsum(0.1 * rng.standard_normal((200, 20)), axis=0)
    if drift == "linear":
        level = np.linspace(-2, 2, 200)[:, None] * rng.choice([-1, 1], 20)
    return made(rng.poisson(4 * np.exp(0.3 * level)), side=side)


@pytest.mark.parametrize("blocks", [True, False])
@pytest.mark.parametrize("drift", ["random walk", "linear"])
def test_a_drift_within_a_session_is_no_tuning(blocks, drift):
    """A quarter to a half of the units followed blocks of trials; 5 % of them may.

    With 12 sessions of 20 units, a correct test fails in less than 1 of 100 seeds.
    """
    shares = [
        (tuning(drifting(blocks, drift, seed), "side", permutations=99).p <= 0.05).mean()
        for seed in range(12)
    ]
    assert np.mean(shares) < 0.1


def test_tuning_to_blocks_is_found_beside_noise():
    side = np.repeat(np.arange(20) % 2, 10)
    rates = noise(200, 20, seed=8) + np.outer(side, np.arange(20) < 10)
    found = tuning(made(rates, side=side), "side", permutations=399)
    assert (found.q[:10] < 0.05).all()
    assert (found.q[10:] < 0.05).sum() <= 1


def test_a_condition_in_few_runs_follows_nothing():
    """Nothing distinguishes tuning to two blocks from a drift."""
    side = np.repeat([0, 1], 100)
    rates = noise(200, 10, seed=9) + 3 * side[:, None]
    assert (tuning(made(rates, side=side), "side").p > 0.3).all()


def test_windows_are_within_groups_and_of_about_equal_size():
    from neurogym_neural.coding import _windows

    windows = _windows(np.repeat([0, 1, 2], [45, 3, 40]), 20)
    assert (np.diff(windows) >= 0).all()
    assert np.bincount(windows).tolist() == [23, 22, 3, 20, 20]
    with pytest.raises(InvalidValueError, match="neighbours=1"):
        tuning(made(noise(4, 1), x=[1, 2, 3, 4]), "x", neighbours=1)


def test_three_texts_have_no_order():
    with pytest.raises(InvalidValueError, match="3 values"):
        tuning(made(noise(3, 1), x=["a", "b", "c"]), "x")


# ---- decoding ----


def test_decoding_is_of_other_trials():
    side = np.arange(80) % 2
    # More units than trials: weights that are tested on their own trials reach 1.
    assert abs(decode(made(noise(80, 200, seed=1), side=side), "side") - 0.5) < 0.2
    assert decode(made(noise(80, 20, seed=1) + 2 * side[:, None], side=side), "side") > 0.95


def test_rare_values_count_as_much_as_frequent_ones():
    side = (np.arange(200) % 10 == 0) * 1
    assert abs(decode(made(noise(200, 5, seed=2), side=side), "side") - 0.5) < 0.2


def test_a_stable_code_generalises_over_time_and_a_dynamic_one_does_not():
    side = np.arange(120) % 2 * 2 - 1
    axis = noise(30, seed=1)
    stable = side[:, None, None] * axis + noise(120, 6, 30, seed=2)
    accuracy = cross_temporal(made(stable, side=side), "side")
    assert accuracy.min() > 0.9
    axes = np.linalg.qr(noise(30, 6, seed=3))[0].T * 5
    dynamic = side[:, None, None] * axes + noise(120, 6, 30, seed=4)
    accuracy = cross_temporal(made(dynamic, side=side), "side")
    assert np.diag(accuracy).min() > 0.9
    assert abs(accuracy[~np.eye(6, dtype=bool)].mean() - 0.5) < 0.1


def test_slow_noise_of_trials_is_not_decoded():
    """With folds of time points, the trials themselves would be distinguished: accuracy 1."""
    side = np.arange(60) % 2
    slow = np.repeat(noise(60, 1, 100, seed=5), 6, axis=1)
    accuracy = cross_temporal(made(slow, side=side), "side")
    assert abs(accuracy.mean() - 0.5) < 0.2


def test_trials_that_end_early_are_refused():
    rates = noise(20, 3, 4)
    rates[0, 2] = np.nan
    with pytest.raises(InvalidValueError, match="lack steps"):
        cross_temporal(made(rates, side=np.arange(20) % 2), "side")
    with pytest.raises(InvalidValueError, match="a trial in each fold"):
        decode(made(noise(6, 3), side=np.arange(6) % 2), "side")


# ---- dimensions ----


@pytest.mark.parametrize("k", [1, 3, 8])
def test_dimensions_are_counted(k):
    axes = np.linalg.qr(noise(50, k, seed=1))[0]
    assert abs(participation_ratio(made(noise(4000, k, seed=2) @ axes.T, a=np.zeros(4000))) - k) < (
        0.05 * k + 1e-6
    )


# ---- generalisation ----


def factorial(n=400, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 2, n), rng.integers(0, 2, n)


def test_a_common_axis_generalises():
    side, context = factorial()
    axes = noise(2, 50, seed=1)
    rates = side[:, None] * axes[0] + context[:, None] * axes[1] + noise(400, 50, seed=2)
    found = generalisation(made(rates, side=side, context=context), "side", "context")
    assert found.accuracy > 0.9
    assert found.p < 0.05


def test_conditions_at_random_places_are_decoded_and_do_not_generalise():
    side, context = factorial()
    places = 2 * noise(4, 50, seed=7)
    rates = places[2 * side + context] + noise(400, 50, seed=4)
    activity = made(rates, side=side, context=context)
    assert decode(activity, "side") > 0.95  # the naive verdict
    assert generalisation(activity, "side", "context").p > 0.05


def test_a_missing_combination_is_said():
    with pytest.raises(InvalidValueError, match="3 combinations"):
        generalisation(made(noise(3, 2), a=[0, 0, 1], b=[0, 1, 1]), "a", "b")


# ---- similarity ----


@pytest.mark.parametrize("measure", ["cka", "procrustes"])
def test_a_rotation_changes_nothing_and_other_trials_everything(measure):
    rates = noise(200, 5, 20, seed=1)
    turn = np.linalg.qr(noise(20, 20, seed=2))[0]
    one, turned = made(rates, a=np.zeros(200)), made(3 * rates @ turn, a=np.zeros(200))
    assert similarity(one, turned, measure) == pytest.approx(1, abs=1e-5)
    other = made(rates[::-1], a=np.zeros(200))
    assert similarity(one, other, measure) < 0.3


@pytest.mark.parametrize("measure", ["cka", "procrustes"])
def test_a_random_network_is_like_a_trained_one_only_through_its_inputs(measure):
    inputs = noise(200, 10, 3, seed=1)
    memory = np.cumsum(inputs, axis=1) ** 2  # the part that a trained network adds
    trained = inputs @ noise(3, 40, seed=2) * 3 + memory @ noise(3, 40, seed=3) * 0.3
    random = inputs @ noise(3, 40, seed=4) * 3 + 0.3 * noise(200, 10, 40, seed=5)
    twin = trained @ np.linalg.qr(noise(40, 40, seed=6))[0]
    a, b, c = (made(x, a=np.zeros(200)) for x in (trained, random, twin))
    assert similarity(a, b, measure) > 0.5  # the naive verdict
    assert similarity(a, b, measure, without=inputs) < 0.2
    assert similarity(a, c, measure, without=inputs) == pytest.approx(1, abs=1e-4)


def test_activities_of_other_steps_are_refused():
    with pytest.raises(InvalidValueError, match="same trials and steps"):
        similarity(made(noise(4, 3, 2), a=np.zeros(4)), made(noise(4, 2, 2), a=np.zeros(4)))


def test_steps_that_are_equal_in_all_trials_decode_nothing():
    """Rounding of the mean made units of them, on which decoders of these steps relied later."""
    rng = np.random.default_rng(0)
    side = np.arange(200) % 2
    rates = np.full((200, 4, 20), 0.3, np.float32) * rng.random(20).astype(np.float32)
    rates[:, 2:] += (side[:, None, None] - 0.5) * rng.standard_normal(20)
    rates += 1e-8 * rng.standard_normal(rates.shape)  # of single precision
    activity = Activity(rates - rates.mean(axis=0), {"side": side}, step=10)
    found = cross_temporal(activity, "side")
    np.testing.assert_array_equal(found[:2], 0.5)
    np.testing.assert_array_equal(found[2:, 2:], 1)
