"""Axes, components, clusters, rotations, distances: ideals, and cheats that must not pass."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_neural import (
    Activity,
    clusters,
    demixed,
    dissimilarity,
    marginalisations,
    representation,
    rotations,
    shattering,
    targeted,
    task_variance,
)
from scipy.linalg import solve_sylvester

from neurogym_core import InvalidValueError


def noise(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


# ---- targeted dimensionality reduction ----


def test_axes_of_planted_variables_are_found_and_shuffled_variables_have_none():
    variables = noise(400, 2)
    planted = np.linalg.qr(noise(30, 2, seed=1))[0].T
    rates = variables @ planted + 0.1 * noise(400, 30, seed=2)
    found = targeted(rates[:200], variables[:200])
    assert np.abs((found.axes * planted).sum(axis=1)).min() > 0.98
    test = rates[200:] @ found.axes.T
    assert np.corrcoef(test[:, 0], variables[200:, 0])[0, 1] > 0.95
    cheat = targeted(rates[:200], variables[np.random.default_rng(3).permutation(200)])
    assert np.linalg.norm(cheat.weights) < 0.3 * np.linalg.norm(found.weights)


def test_dependent_variables_are_refused():
    with pytest.raises(InvalidValueError, match="depend on each other"):
        targeted(noise(50, 5), np.ones((50, 1)))


# ---- demixed components ----


def two_factors(seed=0):
    side, place = np.tile([0, 1], 80), np.repeat([0, 1], 80)
    time = np.arange(12)
    signals = np.zeros((160, 12, 3))
    signals[..., 0] = (2 * side[:, None] - 1) * time / 6
    signals[..., 1] = 2 * place[:, None] - 1
    signals[..., 2] = np.sin(time / 2)
    rates = signals @ noise(3, 30, seed=seed) + 0.3 * noise(160, 12, 30, seed=5)
    return Activity(rates, {"side": side, "place": place}, step=10)


def test_marginalisations_sum_to_the_means():
    means = two_factors().mean(["side", "place"])
    parts = marginalisations(means)
    assert set(parts) == {
        "side", "place", "time", "side x place", "side x time", "place x time",
        "side x place x time",
    }  # fmt: skip
    total = sum(parts.values()) + means.mean.mean(axis=(0, 1))
    np.testing.assert_allclose(total, means.mean, atol=1e-5)


def test_each_factor_is_in_its_own_components_and_an_absent_one_in_none():
    means = two_factors().mean(["side", "place"])
    found = demixed(means, components=1)
    assert min(found[name].share for name in ("side", "place", "time")) > 0.1
    assert found["side x place"].share < 0.02
    along = means.mean @ found["side"].decoder[:, 0]
    by_side, by_place = (
        np.abs(along[means.conditions[name] == 1] - along[means.conditions[name] == 0]).mean()
        for name in ("side", "place")
    )
    assert by_side > 0.5
    # Conditions of equal side, at the last step.
    last = along[:, -1].reshape(2, 2)
    assert np.ptp(last, axis=1).max() < 0.1 * np.ptp(last, axis=0).min()
    assert by_place > 0


# ---- groups of units ----


def tasks(groups, seed=0):
    """Units that serve a task each, or all tasks alike."""
    rng = np.random.default_rng(seed)
    task = np.repeat(np.arange(4), 60)
    gain = np.ones((4, 48)) if not groups else (np.arange(48) % 4 == np.arange(4)[:, None]) * 1.0
    rates = rng.standard_normal((240, 10, 48)) * (0.2 + gain[task])[:, None]
    return Activity(rates, {"task": task}, step=10)


@pytest.mark.parametrize(("groups", "separate"), [(True, True), (False, False)])
def test_groups_are_separate_in_held_out_trials_only_if_there_are_some(groups, separate):
    one, other = (task_variance(half) for half in tasks(groups).halves())
    labels, value = clusters(one, other, 4)
    assert (value > 0.7) == separate
    if separate:
        assert len(set(zip(labels, np.arange(48) % 4, strict=True))) == 4
    else:
        assert clusters(one, one, 4)[1] > value + 0.1  # the trials in which they were found


# ---- dimensions ----


def test_a_copy_of_labels_shatters_less_than_mixed_units():
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2, (400, 3)) * 2.0 - 1
    record = {name: bits[:, k] for k, name in enumerate("abc")}
    mixed = np.maximum(bits @ noise(3, 80) + noise(80, seed=1), 0)
    found = [
        shattering(Activity(rates[:, None] + 0.1 * noise(400, 1, rates.shape[1]), record, step=10),
                   ("a", "b", "c"))
        for rates in (mixed, bits)
    ]  # fmt: skip
    assert found[0] > 0.95
    assert found[1] < 0.85
    with pytest.raises(InvalidValueError, match="Expected 4, 6, 8 or 10"):
        shattering(Activity(noise(10, 1, 3), {"a": np.arange(10) % 2}, step=10), ("a",))


# ---- rotations ----


def rotating(kind):
    t, c = np.arange(30), 8
    if kind == "rotation":
        angle = 0.2 * t
        first = noise(c, 2)
        planes = np.stack([np.cos(angle), -np.sin(angle), np.sin(angle), np.cos(angle)])
        states = np.einsum("ijt,cj->cti", planes.reshape(2, 2, 30), first)
        rates = states @ noise(2, 40, seed=1)
    else:  # bumps with lags, of random size in each condition and unit
        lag = np.linspace(0, 30, 40)
        rates = noise(c, 1, 40) * np.exp(-0.5 * ((t[:, None] - lag) / 6) ** 2)
    rates = np.repeat(rates, 5, axis=0) + 0.01 * noise(40, 30, 40, seed=2)
    return Activity(rates, {"condition": np.repeat(np.arange(c), 5)}, step=10).mean("condition")


def test_rotations_beat_permuted_conditions_and_lagged_bumps_do_not():
    turn, bumps = (rotations(rotating(kind), permutations=49) for kind in ("rotation", "bumps"))
    assert turn.ratio > 0.9
    assert turn.p <= 0.02
    assert bumps.ratio > 0.3  # they rotate …
    assert bumps.p > 0.05  # … no more than any conditions do


def test_skew_symmetric_dynamics_are_the_solution_of_their_equation():
    """No package of jPCA installs: the least squares solve x'x M + M x'x = x'c - c'x."""
    states = noise(6, 25, 5, seed=3).cumsum(axis=1)
    states -= states.mean(axis=0)
    x, change = states[:, :-1].reshape(-1, 5), np.diff(states, axis=1).reshape(-1, 5)
    gram = x.T @ x
    best = solve_sylvester(gram, gram, x.T @ change - change.T @ x)
    np.testing.assert_allclose(best, -best.T, atol=1e-10)
    r2 = 1 - ((change - x @ best) ** 2).sum() / (change**2).sum()
    plain = np.linalg.lstsq(x, change, rcond=None)[0]
    linear = 1 - ((change - x @ plain) ** 2).sum() / (change**2).sum()
    rates = Activity(states, {"c": np.arange(6)}, step=10).mean("c")
    found = rotations(rates, components=5, permutations=1)
    assert (found.r2, found.ratio) == pytest.approx((r2, r2 / linear), rel=1e-4)


def test_growth_is_no_rotation():
    grows = 1.1 ** np.arange(20)[None, :, None] * noise(6, 1, 4, seed=4)
    rates = Activity(grows, {"c": np.arange(6)}, step=10).mean("c")
    assert rotations(rates, components=4, permutations=1).r2 < 1e-6


# ---- distances ----


def test_distances_of_equal_conditions_are_zero_on_average_and_ceilings_bound_the_model():
    labels = np.arange(120) % 6
    means = noise(6, 20, seed=3)
    means[1] = means[0]
    found = [
        dissimilarity(
            Activity(
                means[labels][:, None] + noise(120, 1, 20, seed=10 + k), {"c": labels}, step=9
            ),
            "c",
        )
        for k in range(4)
    ]
    assert abs(np.mean([one[0] for one in found])) < 0.15
    good = representation(found[0], found[1:])
    assert good.correlation > 0.8
    assert good.low <= good.high
    cheat = representation(found[0][np.random.default_rng(1).permutation(15)], found[1:])
    assert cheat.correlation < good.low - 0.2
