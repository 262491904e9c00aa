"""DualDelayMatchSample: two answers that are rewarded once each, and cues."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_memory.dual_delay_match_sample import DualDelayMatchSample

from neurogym_core import InvalidValueError, run

MATCH = 1


def test_each_test_pays_once(constant):
    """Answering on every step must not be rewarded on every step."""
    options = {"conditions": {"test1": "match", "test2": "match"}}
    trial = constant(DualDelayMatchSample(rewards={"abort": 0}), MATCH, 1, options=options)[0]
    assert trial["reward"] == 2
    assert trial["performance"] == 1


def test_one_right_answer_of_two_is_half_a_performance(constant):
    options = {"conditions": {"test1": "match", "test2": "lure"}}
    trial = constant(DualDelayMatchSample(rewards={"abort": 0}), MATCH, 1, options=options)[0]
    assert (trial["performance"], trial["reward"], trial["outcome"]) == (0.5, 1, "error")


def test_guessing_is_at_chance():
    """Two answers in each of 600 trials: SD of the mean performance 0.0144.

    5 SD, false alarms below 1 in a million.
    """
    record = run(DualDelayMatchSample(), "guess", n_trials=600, seed=1)
    assert abs(np.mean(record["performance"]) - 0.5) < 5 * 0.0144


def shown_tests(task, n=4000, seed=2):
    """Directions of the items and of the first test, and which item is cued, each (n,)."""
    batch = task.sample(n, seed=seed)
    segment = {name: batch.period == batch.period_names.index(name) for name in ("sample", "test1")}

    def direction(channel, period):
        x, y = batch.shown[:, segment[period]][:, 0][:, task.channels[channel]].T
        return np.rint(np.arctan2(y, x) / (2 * np.pi / task.directions)) % task.directions

    cue = batch.shown[:, segment["test1"]][:, 0][:, task.channels["cue"]].argmax(axis=1)
    right = batch.target[:, segment["test1"]][:, 0] - 1
    items = np.stack([direction("first", "sample"), direction("second", "sample")], axis=1)
    return items, direction("test", "test1"), cue, right


def test_the_test_matches_the_cued_item_or_not():
    items, test, cue, right = shown_tests(DualDelayMatchSample())
    assert (items[:, 0] != items[:, 1]).all()
    np.testing.assert_array_equal(right == 0, test == items[np.arange(len(cue)), cue])


def test_where_a_test_appears_does_not_tell_the_cued_item():
    """In an earlier version a test was shown on the channel of the cued item."""
    task = DualDelayMatchSample()
    batch = task.sample(200, seed=2)
    for name in ("test1", "test2"):
        shown = batch.shown[:, batch.period == batch.period_names.index(name)][:, 0]
        assert not shown[:, task.channels["first"]].any()
        assert not shown[:, task.channels["second"]].any()


def test_the_cue_and_both_items_are_needed():
    """Shortcuts earn the shares of the docstring; 4,000 tests, five SDs of a fraction at most 3.5
    %, false alarms below 1 in 10^6 for each."""
    items, test, cue, right = shown_tests(DualDelayMatchSample())
    without_cue = np.where((items == test[:, None]).any(axis=1), 0, 1)
    assert np.mean(without_cue == right) == pytest.approx(0.75, abs=0.035)
    same = test == items[:, 0]
    first_only = np.where(cue == 0, ~same, same)
    assert np.mean(first_only == right) == pytest.approx(0.875, abs=0.027)
    assert np.mean(right == 0) == pytest.approx(0.5, abs=0.04)


@pytest.mark.parametrize(("p_lure", "shares"), [(0.0, {"match", "new"}), (1.0, {"match", "lure"})])
def test_the_share_of_lures_can_be_set(p_lure, shares):
    drawn = DualDelayMatchSample(p_lure=p_lure).sample(200, seed=4).conditions
    assert set(drawn["test1"]) | set(drawn["test2"]) == shares


def test_an_ideal_observer_makes_no_errors(averages):
    """The nearest direction to each average, in 2,000 trials."""
    task = DualDelayMatchSample()
    batch = task.sample(2000, seed=5)
    step = 2 * np.pi / task.directions
    seen = [
        np.rint(np.arctan2(*averages(task, batch, *where).T[::-1]) / step) % task.directions
        for where in (("first", "sample"), ("second", "sample"), ("test", "test1"))
    ]
    cued = np.where(batch.conditions["cue1"] == "first", seen[0], seen[1])
    np.testing.assert_array_equal(cued == seen[2], batch.conditions["test1"] == "match")


@pytest.mark.parametrize("wrong", [{"directions": 2}, {"p_lure": 1.5}])
def test_impossible_tests_are_refused(wrong):
    with pytest.raises(InvalidValueError, match="at least 3 directions"):
        DualDelayMatchSample(**wrong)


def test_the_second_cue_names_either_item_or_the_other_one():
    either = DualDelayMatchSample().sample(400, seed=3).conditions
    assert 0.4 < np.mean(either["cue1"] == either["cue2"]) < 0.6
    other = DualDelayMatchSample(second_cue="other").sample(100, seed=3).conditions
    assert (other["cue1"] != other["cue2"]).all()
    with pytest.raises(InvalidValueError, match="'either' or 'other'"):
        DualDelayMatchSample(second_cue="first")
