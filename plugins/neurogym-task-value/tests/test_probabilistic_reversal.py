"""ProbabilisticReversal: reversals at and after the criterion, and payment by chance."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest
from neurogym_task_value.observers import SideFilter
from neurogym_task_value.probabilistic_reversal import FixedReversal, ProbabilisticReversal

from neurogym_core import InvalidValueError, TaskEnv, run


class MostlyRight:
    """Chooses the better side in three of four trials."""

    def __init__(self):
        self.rng = np.random.default_rng(2)

    def __call__(self, env, observations):
        wrong = self.rng.random(env.num_envs) < 0.25
        return env.conditions["better"] ^ wrong


def expected_sides(record, criterion, window):
    """The better side of every trial, replayed subject by subject with plain Python, (n,)."""
    choice, better = record.codes(), record.codes("better")
    sides = np.empty(len(record), int)
    for env in np.unique(record["env"]):
        for session in np.unique(record["session"][record["env"] == env]):
            rows = np.flatnonzero((record["env"] == env) & (record["session"] == session))
            side, recent = better[rows[0]], deque(maxlen=window)
            for row in rows:
                sides[row] = side
                recent.append(choice[row] == side)
                if sum(recent) >= criterion:
                    side = 1 - side
                    recent.clear()
    return sides


@pytest.mark.parametrize(
    ("criterion", "window", "num_envs"), [(8, 8, 1), (8, 8, 8), (8, 10, 8), (16, 20, 8)]
)
def test_sides_reverse_at_the_criterion_of_each_subject_and_never_otherwise(
    criterion, window, num_envs
):
    task = FixedReversal(criterion=criterion, window=window)
    record = run(task, MostlyRight(), 400 * num_envs, num_envs=num_envs, seed=1)
    expected = expected_sides(record, criterion, window)
    np.testing.assert_array_equal(record.codes("better"), expected)
    assert 0.2 < expected.mean() < 0.8


def test_eight_correct_choices_in_a_row_reverse_the_sides_paid_or_not():
    record = run(FixedReversal(), "oracle", 200, num_envs=1, seed=2)
    reversals = (np.diff(record.codes("better"), prepend=record.codes("better")[0]) != 0).cumsum()
    np.testing.assert_array_equal(reversals, np.arange(200) // 8)
    assert (record["outcome"] == "correct").all()
    assert 0 < record["reward"].mean() < 1


def test_a_subject_that_alternates_never_meets_the_criterion():
    env = TaskEnv(FixedReversal())
    env.reset(seed=3)
    better = []
    for trial in range(199):
        better.append(env.conditions["better"])
        env.step(trial % 2)
    assert len(set(better)) == 1


def test_the_better_side_pays_in_80_percent_and_the_other_in_20_percent():
    record = run(FixedReversal(), "random", 20_000, num_envs=100, seed=4)
    right = record.codes() == record.codes("better")
    np.testing.assert_array_equal(right, record["outcome"] == "correct")
    # 10,000 trials each: five SDs are 0.02 (1 in 1.7 million).
    assert record["reward"][right].mean() == pytest.approx(0.8, abs=0.02)
    assert record["reward"][~right].mean() == pytest.approx(0.2, abs=0.02)
    assert set(record["reward"]) == {0, 1}
    # Payment says nothing about the next payment.
    paid = record["luck"][:, 0] < 0.8
    assert abs(np.corrcoef(paid[1:], paid[:-1])[0, 1]) < 5 / np.sqrt(len(paid))


def test_a_session_has_200_trials_and_starts_on_a_random_side_with_an_empty_window():
    record = run(FixedReversal(), "oracle", 20 * 400, num_envs=20, seed=5)
    starts = np.r_[True, np.diff(record["session"]) != 0] | np.r_[True, np.diff(record["env"]) != 0]
    assert set(np.unique(record["session"])) == {0, 1}
    first = record.codes("better")[starts]
    assert 0 < first.mean() < 1
    np.testing.assert_array_equal(record.codes("better"), expected_sides(record, 8, 8))


def test_a_learner_is_better_than_chance_and_worse_before_it_finds_a_reversal():
    record = run(FixedReversal(), "q_learner", 1000, num_envs=1, seed=6)
    right = record.codes() == record.codes("better")
    reversed_ = np.diff(record.codes("better")) != 0
    after = np.flatnonzero(reversed_ & (np.diff(record["session"]) == 0)) + 1
    assert right.mean() > 0.6
    assert right[after].mean() < 0.4


@pytest.mark.parametrize(
    "wrong",
    [{"criterion": 0}, {"criterion": 9}, {"p_better": 0.1}, {"p_better": 1.5}, {"p_worse": -0.1}],
)
def test_a_criterion_that_cannot_be_met_and_impossible_probabilities_are_refused(wrong):
    with pytest.raises(InvalidValueError, match="criterion"):
        FixedReversal(**wrong)


class Counts:
    """Changes sides after every `period` choices, and looks at nothing."""

    carries_state = True

    def __init__(self, period):
        self.period = period

    def begin(self, env):
        self.made = np.zeros(env.num_envs, int)

    def __call__(self, env, obs):
        side = self.made // self.period % 2
        self.made += 1
        return side


def played(task, subject, sessions=150):
    """Mean performance of one session of each of 150 subjects; its SE is at most 0.008."""
    record = run(task, subject, 200 * sessions, num_envs=sessions, seed=1)
    return record["performance"].mean()


def test_counting_choices_is_correct_in_98_percent_of_the_fixed_version():
    assert played(FixedReversal(), Counts(8)) == pytest.approx(0.98, abs=0.01)


def test_no_count_of_choices_is_much_better_than_guessing():
    """The best of all periods is known from 2,000 sessions each: 0.551, with 19 choices.

    Five SEs of 0.0035 of each mean: false alarms 1 in 10**6."""
    earned = {period: played(ProbabilisticReversal(), Counts(period)) for period in (1, 8, 12, 19)}
    assert earned[19] == pytest.approx(0.551, abs=0.0175)
    assert max(earned.values()) < 0.5685
    assert earned[1] == pytest.approx(0.5, abs=0.0175)


def test_an_observer_that_follows_bayes_rule_is_correct_in_88_percent():
    """Five SEs of 0.0045: false alarms 1 in 10**6."""
    assert played(ProbabilisticReversal(), SideFilter()) == pytest.approx(0.881, abs=0.0225)


def test_a_hazard_of_one_is_the_fixed_version():
    record = run(ProbabilisticReversal(hazard=1), "oracle", 200, num_envs=1, seed=1)
    reverses = np.diff(record.codes("better")) != 0
    np.testing.assert_array_equal(reverses, np.arange(1, 200) % 8 == 0)


@pytest.mark.slow
def test_from_the_criterion_on_each_correct_choice_may_reverse_the_sides():
    """Rows of correct choices are 8 + 19 long on average, cut by the end of 1,000 trials.

    40 subjects make about 1,400 of them; five SEs are 2.7 (1 in 10**6), and the cut takes 0.7."""
    task = ProbabilisticReversal(trials_per_session=1000)
    record = run(task, "oracle", 40_000, num_envs=40, seed=1)
    rows = []
    for env in range(40):
        better = record.codes("better")[record["env"] == env]
        rows += np.diff(np.flatnonzero(np.diff(better)), prepend=-1).tolist()
    assert min(rows) >= 8
    assert np.mean(rows) == pytest.approx(8 + 0.95 / 0.05, abs=3.4)


@pytest.mark.parametrize("hazard", [-0.1, 1.5])
def test_an_impossible_hazard_is_refused(hazard):
    with pytest.raises(InvalidValueError, match="hazard"):
        ProbabilisticReversal(hazard=hazard)
