"""Reaction times per condition, separately for correct answers and errors."""

import numpy as np
import pytest
from neurogym_behaviour import reaction_times

from neurogym_core import InvalidValueError, TrialRecord, UnknownNameError


def make_record(times, outcomes, coherence=10.0):
    n = len(times)
    return TrialRecord(
        {
            "coherence": np.full(n, coherence),
            "reaction_time": np.array(times, float),
            "outcome": outcomes,
        }
    )


def test_mean_median_and_error_against_a_textbook_sample():
    # Student's sample of differences in sleep, drug 2 - drug 1 (1908), in tenths of hours,
    # used as ms here: mean 15.8, standard error 3.89, t interval (7.0, 24.6).
    sleep = [12, 24, 13, 13, 0, 10, 18, 8, 46, 14]
    (row,) = reaction_times(make_record(sleep, ["correct"] * 10))
    assert (row.value, row.outcome, row.n, row.mean, row.median) == (
        10.0,
        "correct",
        10,
        15.8,
        13.0,
    )
    assert row.sem == pytest.approx(3.8896, abs=1e-4)
    assert (row.low, row.high) == pytest.approx((7.0, 24.6), abs=0.01)


def test_correct_and_error_are_separate_and_the_rest_is_left_out():
    record = TrialRecord.concatenate(
        [
            make_record(
                [300, 310, 500, np.nan, 900], ["correct", "correct", "error", "correct", "abort"]
            ),
            make_record([np.nan, 400], ["miss", "correct"], coherence=5.0),
        ]
    )
    rows = reaction_times(record)
    assert [(row.outcome, row.value, row.n, row.mean) for row in rows] == [
        ("correct", 5.0, 1, 400.0),
        ("correct", 10.0, 2, 305.0),
        ("error", 10.0, 1, 500.0),
    ]
    assert rows[1].without_time == 1
    assert np.isnan([rows[0].sem, rows[0].low, rows[0].high]).all()


def test_the_interval_covers_the_mean():
    """In 400 samples of 12, the coverage of 0.95 is within 3 binomial SDs, 0.917 to 0.983.

    False alarms: 1 in 370.
    """
    rng = np.random.default_rng(5)
    covered = 0
    for _ in range(400):
        (row,) = reaction_times(make_record(rng.normal(400, 50, 12), ["correct"] * 12), by=None)
        covered += row.low <= 400 <= row.high
    assert 0.917 <= covered / 400 <= 0.983


def test_no_times_no_rows():
    assert reaction_times(make_record([np.nan], ["correct"])) == []
    assert reaction_times(make_record([], np.zeros(0, str))) == []


def test_bad_input():
    record = make_record([300], ["correct"])
    with pytest.raises(UnknownNameError, match="column 'contrast'"):
        reaction_times(record, by="contrast")
    with pytest.raises(UnknownNameError, match=r"rule\.reaction_time"):
        reaction_times(record, slot="rule")
    with pytest.raises(InvalidValueError, match="confidence=2"):
        reaction_times(record, confidence=2)
