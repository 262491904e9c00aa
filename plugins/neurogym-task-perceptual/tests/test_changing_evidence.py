"""Stars of two sources: hazards by session, and reports that depend on earlier stars."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from neurogym_task_perceptual.changing_evidence import ChangingEvidence
from neurogym_task_perceptual.observers import HazardFilter

from neurogym_core import InvalidValueError, run
from neurogym_core.tools import find_task

IDEAL = 0.781
HAZARDS = (0.1, 0.3, 0.5, 0.7, 0.9)


@cache
def played(hazard=None, trials=40_000):
    return run(ChangingEvidence(), HazardFilter(hazard), trials, num_envs=400, seed=1)


def test_sources_change_with_the_hazard_of_the_session():
    """About 12,000 stars of each hazard: 5 SEs are below 0.03, as those of 5,000 first stars."""
    record = played(None, 5000)
    source, hazard = record["source"], record["hazard"]
    sessions = np.unique(np.stack([record["env"], record["session"], hazard]), axis=1)
    assert sessions.shape[1] == len(
        np.unique(np.stack([record["env"], record["session"]]), axis=1).T
    )
    assert set(hazard) == set(HAZARDS)
    for one in HAZARDS:
        changes = np.diff(source[hazard == one], axis=1) != 0
        assert changes.mean() == pytest.approx(one, abs=0.03)
    assert source[:, 0].mean() == pytest.approx(0.5, abs=0.036)


def test_positions_are_gaussian_about_their_sources():
    """24,000 stars: 5 SEs of the means and of the SD."""
    drawn = ChangingEvidence().sample(2000, seed=1).conditions
    off = drawn["star"] - (2 * drawn["source"] - 1)
    assert off.mean() == pytest.approx(0, abs=0.05)
    assert off.std() == pytest.approx(1.5, abs=0.035)


def test_the_source_of_the_last_star_is_right_whatever_was_before():
    record = run(ChangingEvidence(), "oracle", 500, seed=2)
    last = record["source"][np.arange(500), record["number"].astype(int) - 1]
    np.testing.assert_array_equal(record.codes(), last)
    assert set(record["number"]) == set(range(3, 13))


@pytest.mark.parametrize("dt", [50, 100, 150])
def test_stars_are_shown_one_after_the_other(dt):
    task = ChangingEvidence(dt=dt)
    batch = task.sample(10, seed=3)
    shown = np.split(batch.render(None), np.cumsum(batch.steps)[:-1])
    for trial, seen in enumerate(shown):
        steps = 300 // dt
        number = int(batch.conditions["number"][trial])
        assert batch.period_steps["stimulus"][trial] == number * steps
        begin = int(batch.period_steps["fixation"][trial])
        star = seen[:, task.channels["star"]][:, 0]
        expected = np.repeat(batch.conditions["star"][trial, :number], steps)
        np.testing.assert_allclose(star[begin : begin + number * steps], expected, rtol=1e-5)
        assert not np.delete(star, np.arange(begin, begin + number * steps)).any()


def test_the_ideal_observer_reaches_the_ideal_of_the_manifest():
    """40,000 trials of 800 sessions: 4 SEs of trials, and as much for sessions."""
    assert find_task("perceptual/ChangingEvidence-v0").ideal["value"] == IDEAL
    assert played()["performance"].mean() == pytest.approx(IDEAL, abs=0.012)


def test_reports_by_the_ideal_are_best_at_extreme_hazards():
    """8,000 trials of each hazard, about: 4 SEs, and the rounding of the page."""
    record = played()
    found = [record["performance"][record["hazard"] == one].mean() for one in HAZARDS]
    np.testing.assert_allclose(found, [0.82, 0.76, 0.75, 0.76, 0.82], atol=0.026)


@pytest.mark.parametrize(("hazard", "expected"), [(0.5, 0.748), (1e-9, 0.62)])
def test_the_last_star_and_the_sum_earn_what_the_page_says(hazard, expected):
    """A filter for a hazard of 0.5 forgets all before, one for 0 adds up; 40,000 trials: 5 SEs."""
    record = played(hazard)
    assert record["performance"].mean() == pytest.approx(expected, abs=0.013)
    if hazard == 0.5:
        last = record["star"][np.arange(40_000), record["number"].astype(int) - 1]
        np.testing.assert_array_equal(record.codes(), last > 0)


def test_what_the_ideal_believes_from_earlier_stars_turns_around_at_a_hazard_of_one_half():
    """Weight of the star before the last on choices: positive, none, negative; 10 SEs or more."""
    record = played()
    row, number = np.arange(40_000), record["number"].astype(int)
    before, last = record["star"][row, number - 2], record["star"][row, number - 1]
    near = np.abs(last) < 1
    weights = []
    for hazard in HAZARDS:
        one = near & (record["hazard"] == hazard)
        weights.append(np.corrcoef(before[one], record.codes()[one])[0, 1])
    assert (np.diff(weights) < 0).all()
    assert weights[0] > 0.15
    assert weights[2] == pytest.approx(0, abs=0.1)
    assert weights[4] < -0.15


def test_single_env_and_vector_env_agree(same_in_both):
    same_in_both(ChangingEvidence())


@pytest.mark.parametrize(
    "wrong", [{"hazards": ()}, {"hazards": (1.5,)}, {"sigma": 0}, {"fewest": 0}, {"most": 2}]
)
def test_impossible_parameters_are_refused(wrong):
    with pytest.raises(InvalidValueError, match="ChangingEvidence"):
        ChangingEvidence(**wrong)
