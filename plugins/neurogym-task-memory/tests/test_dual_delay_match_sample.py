"""DualDelayMatchSample: two answers that are rewarded once each, and cues."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_memory.dual_delay_match_sample import DualDelayMatchSample

from neurogym_core import run
from neurogym_core.errors import InvalidValueError

MATCH = 1


def test_each_test_pays_once(constant):
    """Answering on every step must not be rewarded on every step."""
    options = {"conditions": {"test1": "match", "test2": "match"}}
    trial = constant(DualDelayMatchSample(rewards={"abort": 0}), MATCH, 1, options=options)[0]
    assert trial["reward"] == 2
    assert trial["performance"] == 1


def test_one_right_answer_of_two_is_half_a_performance(constant):
    options = {"conditions": {"test1": "match", "test2": "nonmatch"}}
    trial = constant(DualDelayMatchSample(rewards={"abort": 0}), MATCH, 1, options=options)[0]
    assert (trial["performance"], trial["reward"], trial["outcome"]) == (0.5, 1, "error")


def test_guessing_is_at_chance():
    """Two answers in each of 600 trials: SD of the mean performance 0.0144.

    5 SD, false alarms below 1 in a million.
    """
    record = run(DualDelayMatchSample(), "guess", n_trials=600, seed=1)
    assert abs(np.mean(record["performance"]) - 0.5) < 5 * 0.0144


def test_a_test_is_shown_where_its_item_was_and_matches_it_or_not():
    task = DualDelayMatchSample(sigma=0.0)
    batch = task.sample(200, seed=2)
    names = batch.period_names
    drawn = batch.conditions
    for test, cue in (("test1", "cue1"), ("test2", "cue2")):
        segment = np.flatnonzero(batch.period == names.index(test))[0]
        for k, item in enumerate(("first", "second")):
            cued = drawn[cue] == item
            shown = batch.shown[:, segment, task.channels[item]]
            match = drawn[test] == "match"
            wanted = np.where(match, drawn[item], 1 - drawn[item])
            coded = np.where(wanted[:, None] == 0, [1.0, 0.0], [0.0, 1.0])
            np.testing.assert_allclose(shown[cued], coded[cued], atol=1e-6)
            assert not shown[~cued].any()
            assert (batch.shown[cued, segment, task.channels["cue"].start + k] == 1).all()


def test_the_second_cue_names_either_item_or_the_other_one():
    either = DualDelayMatchSample().sample(400, seed=3).conditions
    assert 0.4 < np.mean(either["cue1"] == either["cue2"]) < 0.6
    other = DualDelayMatchSample(second_cue="other").sample(100, seed=3).conditions
    assert (other["cue1"] != other["cue2"]).all()
    with pytest.raises(InvalidValueError, match="'either' or 'other'"):
        DualDelayMatchSample(second_cue="first")
