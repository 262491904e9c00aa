"""Proportions and Wilson's interval, with NumPy alone."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from neurogym_behaviour import accuracy, choice_proportions, signed_strength, wilson_interval

from neurogym_core import InvalidValueError, TrialRecord, UnknownNameError


@pytest.fixture
def record():
    return TrialRecord(
        {
            "coherence": [0, 0, 0, 10, 10, 10, 10],
            "direction": [0, 1, 1, 0, 1, 1, 0],
            "outcome": ["correct", "error", "miss", "correct", "correct", "other", "abort"],
            "choice": [0, 0, -1, 0, 1, 2, -1],
            "rule.outcome": ["none", "error", "error", "none", "correct", "correct", "correct"],
            "rule.choice": [-1, 0, 1, -1, 1, 1, 1],
        }
    )


class TestWilson:
    @pytest.mark.parametrize(
        ("k", "n", "low", "high"),
        [
            # Newcombe (1998), Statistics in Medicine 17:857, table I, method 3.
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ],
    )
    def test_published_values(self, k, n, low, high):
        assert wilson_interval(k, n) == pytest.approx((low, high), abs=5e-5)

    @given(
        st.integers(0, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
        st.floats(0.01, 0.999),
    )
    def test_it_contains_the_fraction_within_0_and_1_and_mirrors(self, counts, confidence):
        k, n = counts
        low, high = wilson_interval(k, n, confidence)
        assert 0 <= low <= high <= 1
        assert low - 1e-12 <= (k / n if n else 0.5) <= high + 1e-12
        mirrored = wilson_interval(n - k, n, confidence)
        assert (1 - high, 1 - low) == pytest.approx(mirrored, abs=1e-12)

    def test_its_ends_solve_the_score_equation(self):
        low, high = wilson_interval(37, 120)
        z = [(37 / 120 - p) / np.sqrt(p * (1 - p) / 120) for p in (low, high)]
        assert z == pytest.approx([1.959964, -1.959964], abs=1e-5)

    def test_arrays_are_one_interval_each(self):
        low, high = wilson_interval([0, 5, 10], 10)
        assert low.shape == high.shape == (3,)
        assert (low[0], high[2]) == (0.0, 1.0)

    def test_without_trials_the_interval_is_0_to_1(self):
        assert wilson_interval(0, 0) == (0.0, 1.0)

    @pytest.mark.parametrize(("k", "n"), [(3, 2), (-1, 2), (np.nan, 2), (1, np.inf)])
    def test_invalid_counts_are_refused(self, k, n):
        with pytest.raises(InvalidValueError, match="Expected 0 <= k <= n"):
            wilson_interval(k, n)

    @pytest.mark.parametrize("confidence", [0, 1, 95, np.nan])
    def test_an_invalid_confidence_is_refused(self, confidence):
        with pytest.raises(InvalidValueError, match="share between 0 and 1"):
            wilson_interval(1, 2, confidence)


class TestAccuracy:
    def test_unanswered_trials_are_left_out_and_counted(self, record):
        weak, strong = accuracy(record)
        assert (weak.value, weak.k, weak.n, weak.unanswered, weak.other) == (0, 1, 2, 1, 0)
        assert (strong.value, strong.k, strong.n, strong.unanswered, strong.other) == (
            10,
            2,
            2,
            1,
            1,
        )
        assert (weak.low, weak.high) == wilson_interval(1, 2)
        assert strong.fraction == 1.0

    def test_rows_account_for_every_trial(self, record):
        assert sum(row.n + row.unanswered + row.other for row in accuracy(record)) == len(record)

    def test_a_slot_has_its_own_outcome(self, record):
        (row,) = accuracy(record, by=None, slot="rule")
        assert (row.value, row.k, row.n, row.unanswered) == (None, 3, 5, 2)

    def test_a_value_without_answers_has_a_row(self):
        (row,) = accuracy(TrialRecord({"coherence": ["low"], "outcome": ["miss"]}))
        assert (row.value, row.n, row.low, row.high) == ("low", 0, 0.0, 1.0)
        assert np.isnan(row.fraction)

    def test_an_empty_record_has_no_rows(self, record):
        assert accuracy(record[:0]) == []

    def test_an_unknown_condition_is_refused(self, record):
        with pytest.raises(UnknownNameError, match="Did you mean 'coherence'"):
            accuracy(record, by="coherenc")

    @pytest.mark.parametrize("by", [np.zeros(3), np.zeros((7, 2)), [np.nan] * 7])
    def test_values_other_than_one_per_trial_are_refused(self, record, by):
        with pytest.raises(InvalidValueError, match="the given array"):
            accuracy(record, by=by)


class TestChoices:
    def test_signed_strength_has_the_sign_of_the_side(self, record):
        signed = signed_strength(record)
        assert signed.tolist() == [0, 0, 0, -10, 10, 10, -10]
        assert not np.signbit(signed[0])

    def test_choices_count_the_side(self, record):
        left, none, right = choice_proportions(record, signed_strength(record))
        assert [(row.value, row.k, row.n) for row in (left, none, right)] == [
            (-10, 0, 1),
            (0, 0, 2),
            (10, 1, 1),
        ]

    def test_sides_must_be_two(self, record):
        with pytest.raises(InvalidValueError, match="two sides"):
            signed_strength(record, side="rule.choice")


def test_proportions_need_numpy_only():
    code = (
        "import sys; from neurogym_behaviour import accuracy; "
        "print(sorted({'scipy', 'pandas', 'matplotlib'} & set(sys.modules)))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "[]"


def sessions_that_differ(seed, spread=0.5, n=1000, sessions=10, **more):
    rng = np.random.default_rng(seed)
    session = np.arange(n) * sessions // n
    p = 1 / (1 + np.exp(-1.4 - spread * rng.normal(size=sessions)[session]))
    outcome = np.where(rng.random(n) < p, "correct", "error")
    return TrialRecord({"session": session, "outcome": outcome, **more})


class TestSessions:
    def test_intervals_contain_the_truth_only_if_they_know_of_the_sessions(self):
        """The mean of logistic(1.4 + 0.5 z) is 0.7911; the seeds are fixed."""
        known, blind = 0, 0
        for seed in range(200):
            record = sessions_that_differ(seed)
            row = accuracy(record, None)[0]
            low, high = wilson_interval(row.k, row.n)
            known += row.low <= 0.7911 <= row.high
            blind += low <= 0.7911 <= high
        assert known >= 180
        assert blind <= 140

    @pytest.mark.parametrize("sessions", [1, 4])
    def test_few_sessions_leave_the_interval_of_wilson(self, sessions):
        row = accuracy(sessions_that_differ(1, sessions=sessions), None)[0]
        assert (row.low, row.high) == wilson_interval(row.k, row.n)

    def test_sessions_of_two_subjects_are_not_the_same(self):
        record = sessions_that_differ(1, sessions=3, subject=np.arange(1000) % 2)
        row = accuracy(record, None)[0]  # six sessions
        assert row.high - row.low > np.diff(wilson_interval(row.k, row.n))[0]

    def test_an_interval_of_trials_that_are_all_correct_ends_at_one(self):
        record = TrialRecord({"session": np.arange(50) // 5, "outcome": np.full(50, "correct")})
        row = accuracy(record, None)[0]
        assert row.high == 1
        assert row.low < wilson_interval(50, 50)[0]
