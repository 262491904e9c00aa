"""Activities that no analysis can answer for are refused, and give no wrong number."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from neurogym_neural import (
    Activity,
    Freeze,
    Pulse,
    Silence,
    category_index,
    clusters,
    cross_temporal,
    decode,
    demixed,
    dissimilarity,
    generalisation,
    participation_ratio,
    pulse_effect,
    rotations,
    shattering,
    similarity,
    targeted,
    task_variance,
    temporal_scaling,
    tuning,
    weights_correlation,
)

from neurogym_core import InvalidValueError, NeurogymError, UnknownNameError


def recording(n=24, steps=6, units=5, change=None, **columns) -> Activity:
    rng = np.random.default_rng(0)
    rates, row = rng.random((n, steps, units)), np.arange(n)
    if change is not None:
        rates[change] = np.nan
    record = {
        "side": row % 2, "context": row // 2 % 2, "x": rng.random(n), "angle": row % 6 + 0.1,
        "category": row % 6 < 3, "lasts": np.repeat([200.0, 400.0], (n + 1) // 2)[:n],
    }  # fmt: skip
    periods = {"p": np.zeros(n), "p.end": np.full(n, 300.0)}
    return Activity(rates, record | columns, step=100, events=periods)


SAME = np.zeros(24, int)
KINDS = {
    "one unit": recording(units=1),
    "one trial": recording(1),
    "two trials": recording(2),
    "one step": recording(steps=1),
    "a unit without activity": recording(change=np.s_[:, :, 0]),
    "a trial without activity": recording(change=np.s_[0]),
    "a step without activity": recording(change=np.s_[:, 5]),
    "trials that end early": recording(change=np.s_[:9, 3:]),
    "no activity": recording(change=np.s_[:]),
    "no rates above 0": recording()._with(np.zeros((24, 6, 5))),
    "one value of all columns": recording(side=SAME, context=SAME, x=SAME, category=SAME),
    "no trial of a combination": recording().select(np.arange(24) % 4 != 3),
    "a number that is missing": recording(x=np.where(np.arange(24) == 3, np.nan, 1.0 * SAME)),
}
ANALYSES = {
    "tuning": lambda one: tuning(one, "x", permutations=19),
    "decode": lambda one: decode(one, "side"),
    "cross_temporal": lambda one: cross_temporal(one, "side"),
    "participation_ratio": participation_ratio,
    "participation_ratio by": lambda one: participation_ratio(one, "side"),
    "generalisation": lambda one: generalisation(one, "side", "context", repeats=3),
    "shattering": lambda one: shattering(one, ("side", "context")),
    "similarity": lambda one: similarity(one, one),
    "category_index": lambda one: category_index(one, "angle", "category"),
    "weights_correlation": lambda one: weights_correlation(one, "x", "side"),
    "temporal_scaling": lambda one: temporal_scaling(one, "lasts"),
    "pulse_effect": lambda one: pulse_effect(one, one._with(one.rates + 1), "side"),
    "targeted": lambda one: targeted(one.rates.mean(axis=1), one.record["x"][:, None]),
    "demixed": lambda one: demixed(one.mean(["side", "context"])),
    "clusters": lambda one: clusters(*(task_variance(half, "side") for half in one.halves()), 2),
    "rotations": lambda one: rotations(one.mean("angle"), permutations=3),
    "dissimilarity": lambda one: dissimilarity(one, "angle"),
    "mean": lambda one: one.mean("side", over="context").interval(),
    "zscore": lambda one: one.zscore(),
    "observed": lambda one: one.observed(),
    "pulse": lambda one: Pulse([0], 1.0, at="p")(one),
    "freeze": lambda one: Freeze("p")(one),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ANALYSES)
def test_an_error_has_three_parts_and_a_result_comes_without_a_warning(name, kind):
    said = "Expected. . "
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            ANALYSES[name](KINDS[kind])
        except NeurogymError as error:
            said = str(error)
    assert "Expected" in said
    assert said.count(". ") >= 2


@pytest.mark.parametrize("name", ["decode", "tuning", "generalisation", "shattering"])
def test_trials_without_activity_are_not_decoded(name):
    """They were predicted as the first value."""
    with pytest.raises(InvalidValueError, match=r"1 of 24 trials .* have no activity"):
        ANALYSES[name](KINDS["a trial without activity"])


def test_infinite_rates_and_empty_selections_are_refused():
    with pytest.raises(InvalidValueError, match="1 of them infinite"):
        Activity(np.array([[[np.inf]]]), {"a": [0]}, step=1)
    with pytest.raises(InvalidValueError, match="a trial, a step and a unit at least"):
        recording().select(np.zeros(24, bool))
    with pytest.raises(InvalidValueError, match="above 0"):
        recording().smooth(0)


def test_a_condition_in_one_half_only_has_no_distance():
    with pytest.raises(InvalidValueError, match="in one half"):
        dissimilarity(recording(7), "angle")


def test_missing_columns_and_periods_are_named():
    with pytest.raises(UnknownNameError, match="'side'"):
        decode(recording(), "sode")
    with pytest.raises(UnknownNameError, match="'p'"):
        recording().during("q")


MISSING = recording(side=np.where(np.arange(24) % 8 == 3, np.nan, np.arange(24) % 2))


@pytest.mark.parametrize(
    "analysis",
    [
        lambda a: decode(a, "side"),
        lambda a: cross_temporal(a, "side"),
        lambda a: tuning(a, "side"),
        lambda a: tuning(a, "x", within="side"),
        lambda a: generalisation(a, "side", "context"),
        lambda a: generalisation(a, "context", "side"),
        lambda a: shattering(a, ["side", "context"]),
        lambda a: a.mean("side"),
        lambda a: dissimilarity(a, "side"),
        lambda a: category_index(a, "angle", "side"),
        lambda a: task_variance(a, "side"),
    ],
)
def test_a_condition_without_a_value_in_some_trials_is_no_further_condition(analysis):
    """NaN was one of the decoded values."""
    with pytest.raises(
        InvalidValueError, match=r"3 of 24 trials without 'side' \(NaN, ''\): 3, 11, 19"
    ):
        analysis(MISSING)


class TestMasksOfUnits:
    """Masks were read as the indices 0 and 1."""

    mask = np.array([False, False, True, False, True])

    def test_a_mask_selects(self):
        shown = recording()
        pulse, same = (Pulse(units, 0.5, at="p") for units in (self.mask, [2, 4]))
        np.testing.assert_array_equal(pulse.added(shown), same.added(shown))
        masks = [Silence(units).mask(shown, 5) for units in (self.mask.tolist(), [2, 4])]
        np.testing.assert_array_equal(*masks)
        assert masks[0].any(axis=(0, 1)).tolist() == self.mask.tolist()
        frozen = [Freeze("p", units)(shown) for units in (self.mask, [2, 4])]
        np.testing.assert_array_equal(*frozen)
        assert shown.select(units=self.mask).units["id"].tolist() == [2, 4]
        assert Pulse(self.mask, [1.0, 2.0], at="p").added(shown)[0, 0].tolist() == [0, 0, 1, 0, 2]
        assert Pulse([4, 2], [1.0, 2.0], at="p").added(shown)[0, 0].tolist() == [0, 0, 2, 0, 1]

    @pytest.mark.parametrize("units", [[True, False], np.ones(6, bool), [0.9], [5], "1", [[1]]])
    def test_masks_of_another_length_and_other_units_are_refused(self, units):
        shown = recording()
        for refused in (
            lambda: Silence(units).mask(shown, 5),
            lambda: Freeze("p", units)(shown),
            lambda: shown.select(units=units),
            lambda: Pulse(units, 0.5, at="p").added(shown),
        ):
            with pytest.raises(InvalidValueError, match="Expected a mask of 5, or indices below 5"):
                refused()

    def test_a_mask_of_trials_of_another_length_is_refused(self):
        with pytest.raises(InvalidValueError, match="Expected a mask of 24"):
            recording().select(np.ones(7, bool))

    @pytest.mark.parametrize("units", [[], np.zeros(5, bool), [1, 1], [-1]])
    def test_no_unit_and_units_given_twice_are_refused(self, units):
        with pytest.raises(InvalidValueError, match="each once, of 5"):
            Silence(units).mask(recording(), 5)

    @pytest.mark.parametrize("given", [{"size": np.nan}, {"after": np.nan}, {"size": [1.0]}])
    def test_a_pulse_of_no_size_or_time_is_refused(self, given):
        with pytest.raises(InvalidValueError, match="Pulse was given 2 units"):
            Pulse([1, 2], **({"size": 0.5, "at": "p"} | given))
