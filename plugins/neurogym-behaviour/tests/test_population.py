"""Several animals are a population: means over them, with the spread between animals.

The simulated mice have the spread of the bias that mice of the International Brain Laboratory have.
"""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_behaviour.analyses import accuracy_per_condition, history, psychometric, side_bias
from neurogym_behaviour.behaviour import Behaviour, Roles
from neurogym_behaviour.population import over_subjects, population

from neurogym_core import TrialRecord, run

CONTRASTS = np.array([0, 6.25, 12.5, 25, 100])
SPREAD = 8.4
"""Standard deviation of the bias between mice, % contrast (IBL 2021, doi:10.7554/eLife.63711)."""


def mice(biases, trials, seed, *, slope=0.12, lapse=0.05):
    """Return the record of mice with these biases."""
    rng = np.random.default_rng(seed)
    shape = (len(biases), trials)
    right = rng.random(shape) < 0.5
    contrast = rng.choice(CONTRASTS, shape)
    drive = slope * (np.where(right, contrast, -contrast) - np.asarray(biases)[:, None])
    chose = rng.random(shape) < lapse + (1 - 2 * lapse) / (1 + np.exp(-drive))
    columns = {
        "subject": np.repeat([f"m{k}" for k in range(len(biases))], trials),
        "trial": np.tile(np.arange(trials), len(biases)),
        "side": np.where(right, "right", "left").ravel(),
        "contrast": contrast.ravel(),
        "p_left": np.tile(np.repeat([0.2, 0.8], trials // 2), len(biases)),
        "outcome": np.where(chose == right, "correct", "error").ravel(),
    }
    return TrialRecord(columns)


def interval_of(behaviour: Behaviour, name: str = "bias") -> tuple[float, float]:
    """Return the interval that the report of `ngym evaluate` prints."""
    said = next(note for note in psychometric(behaviour).notes if f"{name} " in note)
    text = said.split(f"{name} ", 1)[1].split("95 % interval ", 1)[1]
    low, high = text.split(";")[0].split(")")[0].split(" to ")
    return float(low), float(high)


@pytest.mark.parametrize("seed", [0])
def test_five_different_mice_are_not_one(seed):
    """Cheat: pooled as one, five mice give an interval that denies their differences."""
    biases = SPREAD * np.array([-1.6, -0.5, 0.1, 0.7, 1.3])
    record = mice(biases, 600, seed)
    low, high = interval_of(Behaviour(record))
    tight = interval_of(Behaviour(record, Roles(pool=True)))
    assert high - low > 4 * (tight[1] - tight[0])
    assert low < 0 < high


def test_alike_mice_give_about_the_binomial_interval():
    """Ideal: 20 mice without differences; their interval is that of all trials, within 40 %.

    The ratio is that of an SD estimated from 20 values: beyond 1.4 in 1 % of the seeds.
    """
    record = mice([2.0] * 20, 400, seed=4)
    low, high = interval_of(Behaviour(record))
    pooled = interval_of(Behaviour(record, Roles(pool=True)))
    assert 1 / 1.4 < (high - low) / (pooled[1] - pooled[0]) < 1.4


def test_tables_have_means_over_mice_and_the_spread():
    record = mice([0, 5, 10], 300, seed=1)
    rows = accuracy_per_condition(Behaviour(record)).table
    shares = [
        np.mean(record["outcome"][record["subject"] == f"m{k}"] == "correct") for k in range(3)
    ]
    first = rows.iloc[0]
    assert first["accuracy"] == pytest.approx(np.mean(shares))
    assert first["deviation"] == pytest.approx(np.std(shares, ddof=1))
    assert first["answered"] == 900
    half = 4.3027 * np.std(shares, ddof=1) / np.sqrt(3)
    assert first["high"] - first["low"] == pytest.approx(2 * half, rel=1e-3)
    shift = side_bias(Behaviour(record))
    assert set(shift.table["subjects"]) == {3}
    pooled = accuracy_per_condition(Behaviour(record, Roles(pool=True))).table
    assert "subjects" not in pooled


def test_one_animal_is_no_population():
    assert np.isnan(population([3.0]).low)
    assert population([np.nan, 1.0, 3.0])[:2] == pytest.approx((2, 2 - 12.7062), abs=1e-3)
    record = mice([3.0], 200, seed=0)
    assert "subjects" not in accuracy_per_condition(Behaviour(record)).table
    assert "mean over subjects" not in " ".join(psychometric(Behaviour(record)).notes)


@pytest.mark.parametrize("n", [5, 10, 20])
def test_coverage_of_the_population_mean(n):
    """93 to 97 % of 4,000 populations of mice: the share of one rule, in sampling error of 0.35 %.

    The fractions of rightward choices at 0 % contrast of mice that differ as SPREAD, with 60 trials
    each; a rule with 95 % fails in fewer than 1 of 10,000 seeds.
    """
    rng = np.random.default_rng(n)
    shares = 1 / (1 + np.exp(0.12 * rng.normal(0, SPREAD, (4000, n))))
    found = rng.binomial(60, shares) / 60
    truth = 0.5
    hits = [one.low <= truth <= one.high for one in map(population, found)]
    assert 0.93 < np.mean(hits) < 0.97


@pytest.mark.slow
@pytest.mark.parametrize("n", [5, 10, 20])
def test_coverage_of_bias_and_slope_of_the_report(n):
    """The report's own intervals, 200 populations of mice with 400 trials each.

    A rule with 95 % has fewer than 0.9 in 0.2 % of the seeds (binomial, n = 200).
    """
    rng = np.random.default_rng(n)
    hits = {"bias": [], "slope": []}
    for seed in range(200):
        behaviour = Behaviour(mice(rng.normal(0, SPREAD, n), 400, seed))
        for name, truth in (("bias", 0.0), ("slope", 0.12)):
            low, high = interval_of(behaviour, name)
            hits[name].append(low <= truth <= high)
    assert np.mean(hits["bias"]) >= 0.9
    assert np.mean(hits["slope"]) >= 0.88  # a fit to 400 trials overestimates slopes a little


def test_animals_that_cannot_be_analysed_are_left_out():
    record = mice([0, 5, 10], 300, seed=1)

    def rows_of(part):
        return [{"what": "trials", "n": len(part), "value": 1.0 * len(part), "low": 0, "high": 0}]

    rows = over_subjects(Behaviour(record), rows_of, ("what",), "value")
    assert rows[0]["value"] == 300
    assert rows[0]["n"] == 900


def test_history_counts_the_trials_that_the_weights_come_from():
    """Not those of a mouse with too few."""
    record = mice([0, 0, 0], 400, 3, slope=1, lapse=0)
    record = record[(record["subject"] != "m2") | (record["trial"] < 20)]
    parts = [Behaviour(record[record["subject"] == name]) for name in ("m0", "m1")]
    counts = [int(history(part).notes[0].split()[0]) for part in parts]
    note = history(Behaviour(record)).notes[0]
    assert int(note.split()[0]) == sum(counts) == 798


def test_an_animal_without_results_is_left_out_and_said():
    record = run("PerceptualDecisionMaking-v0", "guess", 300, seed=1)
    columns = {name: record[name] for name in record if name not in ("steps", "subject")}
    columns["subject"] = np.repeat(["a", "b", "c"], 100)
    columns["outcome"] = np.where(columns["subject"] == "a", "miss", columns["outcome"])
    behaviour = Behaviour(TrialRecord(columns, meta=record.meta))
    assert list(behaviour.per_subject()) == ["b", "c"]
    assert behaviour.left_out == {"answer by a": 100}


def test_an_interval_ends_at_the_limits_of_its_number():
    """Lapse rates of five mice had an interval from -0.07 on."""
    lapses = [0, 0, 0.0, 0.01, 0.2]
    assert population(lapses).low < 0
    assert population(lapses, (0, 1)).low == 0
    assert population(lapses, (0, 1)).high == population(lapses).high
