"""`Activity`: events, periods, bins and simulated recordings keep their trials and times."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neurogym_neural import Activity

from neurogym_core import InvalidValueError, UnknownNameError


def counting(n=4, steps=12, step=50.0, seed=0, **more) -> Activity:
    """Trials whose rates are 1000 * trial + step, and whose ends, onsets and ends of light vary."""
    rng = np.random.default_rng(seed)
    rates = 1000.0 * np.arange(n)[:, None, None] + np.arange(steps)[:, None] + np.zeros((1, 1, 2))
    last = rng.integers(steps // 2, steps + 1, n)
    rates[np.arange(steps) >= last[:, None]] = np.nan
    on = rng.integers(0, steps // 2, n)
    off = np.minimum(on + rng.integers(1, steps // 2, n), last)
    events = {"light": on * step, "light.end": off * step}
    return Activity(rates, {"trial": np.arange(n)}, step=step, events=events, **more)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 1000), st.integers(0, 6), st.integers(1, 6))
def test_a_window_has_the_steps_around_the_event(seed, before, after):
    activity = counting(seed=seed)
    window = activity.align("light", before * 50, after * 50)
    assert window.time.tolist() == [50.0 * k for k in range(-before, after)]
    onset = (activity.events["light"] / 50).astype(int)
    for trial in range(4):
        for k, value in zip(range(-before, after), window.rates[trial, :, 0], strict=True):
            at = onset[trial] + k
            expected = activity.rates[trial, at, 0] if 0 <= at < 12 else np.nan
            np.testing.assert_equal(value, expected)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 1000))
def test_a_window_of_a_window_is_that_of_the_trial(seed):
    activity = counting(seed=seed)
    twice = activity.align("light", 600, 600).align("trial", 0, 600)
    np.testing.assert_array_equal(twice.rates, activity.rates)
    np.testing.assert_array_equal(
        activity.align("light.end", 600, 600).during("light").rates,
        activity.during("light").rates,
    )


def test_a_period_ends_in_each_trial():
    activity = counting(n=30)
    inside = np.isfinite(activity.during("light").rates[..., 0]).sum(axis=1)
    lasts = (activity.events["light.end"] - activity.events["light"]) / 50
    np.testing.assert_array_equal(inside, lasts)


def test_trials_without_the_event_are_empty():
    activity = counting()
    events = {"answer": [100.0, np.nan, 0.0, 150.0]}
    found = Activity(activity.rates, activity.record, step=50, events=events).align("answer", 0, 50)
    assert np.isnan(found.rates[:, 0, 0]).tolist() == [False, True, False, False]


@pytest.mark.parametrize(("kind", "expected"), [("rate", 0.5), ("count", 1.0)])
def test_bins_average_rates_and_add_counts(kind, expected):
    activity = Activity(np.arange(5.0)[None, :, None], {"a": [0]}, step=20, kind=kind)
    binned = activity.bin(40)
    assert (binned.step, binned.rates.shape) == (40, (1, 2, 1))
    assert binned.rates[0, 0, 0] == expected
    with pytest.raises(InvalidValueError, match="multiple of the step, 20 ms"):
        activity.bin(30)


def test_smoothing_keeps_a_constant_and_looks_back_only():
    flat = Activity(np.full((2, 30, 1), 3.0), {"a": [0, 1]}, step=10)
    np.testing.assert_allclose(flat.smooth(40).rates, 3, rtol=1e-6)
    impulse = np.zeros((1, 30, 1))
    impulse[0, 15] = 1
    causal = Activity(impulse, {"a": [0]}, step=10).smooth(20).rates[0, :, 0]
    assert (causal[:15] == 0).all()
    assert causal[15] > causal[16] > causal[18] > 0
    both = Activity(impulse, {"a": [0]}, step=10).smooth(20, causal=False).rates[0, :, 0]
    np.testing.assert_allclose(both[14], both[16], rtol=1e-5)
    gap = np.ones((1, 5, 1))
    gap[0, 3:] = np.nan
    np.testing.assert_allclose(
        Activity(gap, {"a": [0]}, step=10).smooth(20, causal=False).rates[0, :, 0],
        [1, 1, 1, np.nan, np.nan],
    )


def test_means_of_conditions_leave_out_trials_that_have_ended():
    rates = np.array([[1.0, 2], [3, np.nan], [10, 20]])[..., None]
    means = Activity(rates, {"side": ["l", "l", "r"]}, step=10).mean(by="side")
    assert means.conditions["side"].tolist() == ["l", "r"]
    assert means.mean[..., 0].tolist() == [[2, 2], [10, 20]]
    assert means.n[..., 0].tolist() == [[2, 1], [1, 1]]
    np.testing.assert_allclose(means.sem[..., 0], [[1, np.nan], [np.nan, np.nan]])


def test_means_over_subjects_count_each_subject_once():
    rates = np.array([1.0, 3, 10, 10, 10, 10])[:, None, None]
    record = {"side": ["l"] * 6, "animal": ["a", "a", "b", "b", "b", "b"]}
    activity = Activity(rates, record, step=10)
    means = activity.mean("side", over="animal")
    assert (means.over, means.mean.item(), means.n.item()) == ("animal", 6, 2)
    assert means.sem.item() == pytest.approx(4)  # SD of 2 and 10, over sqrt(2)
    low, high = means.interval()
    assert (low.item(), high.item()) == pytest.approx((6 - 12.7062 * 4, 6 + 12.7062 * 4), rel=1e-4)
    pooled = activity.mean("side")
    assert pooled.n.item() == 6
    assert pooled.interval(0.5)[0].item() < pooled.mean.item() < pooled.interval(0.5)[1].item()


def test_a_single_subject_has_no_interval_and_one_without_the_condition_does_not_count():
    rates = np.array([[1.0, 2], [3, np.nan], [10, 20]])[..., None]
    record = {"side": ["l", "l", "r"], "animal": ["a", "b", "b"]}
    means = Activity(rates, record, step=10).mean("side", over="animal")
    assert means.n[..., 0].tolist() == [[2, 1], [1, 1]]
    assert np.isnan(means.interval()[0][1]).all()
    with pytest.raises(UnknownNameError, match="animals"):
        Activity(rates, record, step=10).mean("side", over="animals")
    with pytest.raises(InvalidValueError, match="between 0 and 1"):
        means.interval(95)


def test_a_unit_that_is_missing_in_some_trials_leaves_the_others_their_error():
    """All units had the number of trials of the unit with the fewest."""
    rates = np.random.default_rng(0).poisson(2, (40, 3, 2)).astype(float)
    rates[20:, :, 1] = np.nan
    means = Activity(rates, {"s": np.zeros(40, int)}, step=10, kind="count").mean("s")
    np.testing.assert_array_equal(means.n[0], [[40, 20]] * 3)
    for unit, n in ((0, 40), (1, 20)):
        sem = rates[:n, :, unit].std(axis=0, ddof=1) / np.sqrt(n)
        np.testing.assert_allclose(means.sem[0, :, unit], sem, rtol=1e-5)


def test_an_empty_condition_is_named():
    activity = Activity(np.zeros((3, 1, 1)), {"a": [0, 0, 1], "b": [0, 1, 1]}, step=10)
    with pytest.raises(InvalidValueError, match="no trial with a=1, b=0"):
        activity.mean(by=("a", "b"))


def test_units_are_selected_by_their_table():
    units = {"layer": ["hidden", "hidden", "outputs"], "sign": [1, -1, 0]}
    activity = Activity(np.arange(6.0).reshape(1, 2, 3), {"a": [0]}, step=10, units=units)
    assert activity.layers == ("hidden", "outputs")
    assert activity["outputs"].tolist() == [[[2], [5]]]
    assert activity.select(layer="hidden", sign=-1).units["id"].tolist() == [1]
    with pytest.raises(UnknownNameError, match="hidden"):
        activity["hiden"]
    with pytest.raises(InvalidValueError, match="at least one unit"):
        activity.select(layer="none")


def test_halves_and_their_union_are_all_trials():
    activity = counting(n=9)
    one, other = activity.halves(3)
    assert (len(one), len(other)) == (5, 4)
    joined = Activity.concatenate([one, other])
    assert sorted(joined.record["trial"].tolist()) == list(range(9))
    order = np.argsort(joined.record["trial"])
    np.testing.assert_array_equal(joined.select(order).rates, activity.rates)
    with pytest.raises(InvalidValueError, match="same units"):
        Activity.concatenate([one, other.select(units=[0])])


def test_z_scores_may_be_those_of_other_trials():
    rng = np.random.default_rng(0)
    activity = Activity(rng.normal(5, 2, (50, 10, 3)), {"a": np.zeros(50)}, step=10)
    one, other = activity.halves()
    np.testing.assert_allclose(one.zscore().rates.mean(axis=(0, 1)), 0, atol=1e-5)
    assert (np.abs(other.zscore(of=one).rates.mean(axis=(0, 1))) > 1e-4).any()
    assert (Activity(np.ones((2, 2, 1)), {"a": [0, 1]}, step=1).zscore().rates == 0).all()


def test_z_scores_of_constant_rates_are_0_whatever_their_rounding():
    constant = Activity(np.full((6, 500, 3), 0.3), {"a": np.zeros(6)}, step=10)
    assert (constant.zscore().rates == 0).all()


@pytest.mark.parametrize("hz", [-1, 0, np.nan, np.inf])
def test_a_rate_that_no_recording_has_is_refused(hz):
    with pytest.raises(InvalidValueError, match="above 0"):
        counting().observed(hz)


def test_rates_below_0_are_counted_from_the_minimum_of_their_unit():
    """Bounds of 4.5 SE on 12 means: false alarms below 1e-4; the seed is fixed."""
    rates = np.tile(np.linspace(-1, 1, 12)[:, None], (4000, 1, 1))
    recorded = Activity(rates, {"a": np.zeros(4000)}, step=100).observed(hz=20, seed=3)
    assert recorded.kind == "count"
    mean = np.linspace(0, 2, 12) * 20 * 0.1
    assert (np.abs(recorded.rates[:, :, 0].mean(axis=0) - mean) <= 4.5 * np.sqrt(mean / 4000)).all()


def test_counts_have_the_mean_and_variance_of_poisson():
    """Bounds of 4.5 SE on 12 means and 12 variances: false alarms below 2e-4; the seed is fixed."""
    level = np.linspace(0.5, 2, 12)
    recorded = Activity(np.tile(level, (4000, 1, 1)), {"a": np.zeros(4000)}, step=200).observed(
        hz=10, seed=3
    )
    mean = level / level.mean() * 10 * 0.2
    counts = recorded.rates[:, 0]
    assert (np.abs(counts.mean(axis=0) - mean) < 4.5 * np.sqrt(mean / 4000)).all()
    spread = np.sqrt((mean + 2 * mean**2) / 4000)
    assert (np.abs(counts.var(axis=0) - mean) < 4.5 * spread).all()


def test_a_recording_has_some_units_and_trials():
    recorded = counting(n=20).observed(units=1, trials=7, seed=1)
    assert recorded.rates.shape == (7, 12, 1)
    assert len(set(recorded.record["trial"].tolist())) == 7
    with pytest.raises(InvalidValueError, match="Expected 1 to 20"):
        counting(n=20).observed(trials=21)


def test_axes_are_in_the_order_asked_for():
    activity = counting()
    assert activity.array("unit", "time", "trial").shape == (2, 12, 4)
    with pytest.raises(InvalidValueError, match="each once"):
        activity.array("unit", "time")


def test_xarray_has_times_and_conditions():
    pytest.importorskip("xarray", reason="xarray is not installed")
    array = counting().to_xarray()
    assert array.dims == ("trial", "time", "unit")
    assert array["trial_trial"].values.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"rates": np.zeros((2, 3))}, r"Expected \(trials, steps, units\)"),
        ({"step": 0}, "ms above 0"),
        ({"kind": "spikes"}, "'rate', 'count'|'rate' and 'count'|'rate' or 'count'"),
        ({"events": {"light": [1]}}, "one value per trial"),
        ({"units": {"area": ["a"]}}, "one value per unit"),
    ],
)
def test_wrong_shapes_are_said(arguments, said):
    given_ = {"rates": np.zeros((2, 3, 4)), "record": {"a": [0, 1]}, "step": 10} | arguments
    with pytest.raises(InvalidValueError, match=said):
        Activity(**given_)
    with pytest.raises(UnknownNameError, match="light"):
        Activity(np.zeros((2, 3, 4)), {"a": [0, 1]}, step=10, events={"light": [0, 1]}).align(
            "lihgt", 0, 10
        )
