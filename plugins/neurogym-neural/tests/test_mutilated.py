"""Activities that no analysis can answer for are refused, and give no wrong number."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from neurogym_neural import (
    Activity,
    Freeze,
    Pulse,
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
