"""CardSorting: the deck, the hidden rule, and the criterion of consecutive correct sorts."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_control.card_sorting import RULES, CardSorting, FixedCardSorting
from neurogym_task_control.observers import RuleFilter

from neurogym_core import InvalidValueError, run


class Sorter:
    """Sorts by one rule; with `shifts`, by the next one after "wrong"."""

    def __init__(self, shifts):
        self.shifts = shifts

    def begin(self, env):
        self.rule = np.zeros(env.num_envs, int)
        self.told = np.zeros(env.num_envs, bool)

    def __call__(self, env, obs):
        wrong = obs[:, 12] > 0
        self.rule = (self.rule + (self.shifts & wrong & ~self.told)) % 3
        self.told = wrong
        card = obs[:, :12].reshape(-1, 3, 4)[np.arange(len(obs)), self.rule]
        return np.where(env.is_asked, 1 + card.argmax(axis=1), 0)


def test_every_card_is_dealt_twice_in_a_session():
    record = run(FixedCardSorting(), "oracle", 256, num_envs=1, seed=1)
    for session in (0, 1):
        rows = record["session"] == session
        cards = np.ravel_multi_index([record.codes(name)[rows] for name in RULES], (4, 4, 4))
        np.testing.assert_array_equal(np.bincount(cards, minlength=64), 2)


def test_the_rule_changes_after_ten_correct_sorts_in_a_row():
    record = run(FixedCardSorting(), "oracle", 256, num_envs=1, seed=2)
    rules = np.take(RULES, np.arange(128) // 10 % 3)
    np.testing.assert_array_equal(record["rule"], np.tile(rules, 2))
    right = np.select([record["rule"] == name for name in RULES], [record.codes(n) for n in RULES])
    np.testing.assert_array_equal(record.codes(), right)


def test_an_error_starts_the_run_again():
    """The subject errs on trial 5, and so reaches the criterion on trial 14, not 9."""

    def errs_once(env, obs):
        right = env.target
        return np.where((env.trial_number == 5) & (right > 0), right % 4 + 1, right)

    rule = run(FixedCardSorting(), errs_once, 40, num_envs=1, seed=3)["rule"]
    assert np.flatnonzero(rule[1:] != rule[:-1]).tolist() == [15, 25, 35]


def test_a_subject_that_perseverates_stays_at_the_second_rule():
    record = run(FixedCardSorting(), Sorter(shifts=False), 128, num_envs=1, seed=4)
    assert set(record["rule"][:10]) == {"colour"}
    assert set(record["rule"][10:]) == {"form"}
    same = record.codes("colour") == record.codes("form")
    np.testing.assert_array_equal(record["outcome"][10:] == "correct", same[10:])


def test_feedback_alone_is_enough_to_complete_six_rules():
    record = run(FixedCardSorting(), Sorter(shifts=True), 128, num_envs=1, seed=5)
    rule = record["rule"]
    assert (rule[1:] != rule[:-1]).sum() >= 6
    assert record["performance"].mean() > 0.75


@pytest.mark.parametrize(("which", "feedback"), [("correct", 1), ("error", 0), ("miss", 0)])
def test_feedback_says_whether_the_sort_was_right(which, feedback):
    shown = []

    def plays(env, obs):
        shown.append(obs[0, 12:].copy())
        right = env.target
        return (
            right
            if which == "correct"
            else np.where(right > 0, right % 4 + 1, 0) * (which == "error")
        )

    record = run(FixedCardSorting(), plays, 1, num_envs=1, seed=6)
    assert record["outcome"][0] == which
    seen = np.array(shown).sum(axis=0)
    np.testing.assert_array_equal(seen, np.eye(2)[feedback] * 5)


def test_runs_of_subjects_side_by_side_are_separate():
    def errs_in_one_env(env, obs):
        right = env.target
        first = np.arange(env.num_envs) == 0
        return np.where(first & (right > 0), right % 4 + 1, right)

    record = run(FixedCardSorting(), errs_in_one_env, 60, num_envs=3, seed=7)
    rules = [record["rule"][record["env"] == env] for env in range(3)]
    assert set(rules[0]) == {"colour"}
    for rule in rules[1:]:
        np.testing.assert_array_equal(rule, np.take(RULES, np.arange(20) // 10))


def test_a_criterion_below_one_is_refused():
    with pytest.raises(InvalidValueError, match="criterion"):
        FixedCardSorting(criterion=0)


class Counts:
    """Sorts a number of cards by each feature in turn, and ignores the feedback."""

    carries_state = True

    def __init__(self, period):
        self.period = period

    def begin(self, env):
        self.sorted = np.zeros(env.num_envs, int)

    def __call__(self, env, obs):
        alike = obs[:, :12].reshape(-1, 3, 4).argmax(axis=2)
        chosen = alike[np.arange(len(obs)), self.sorted // self.period % 3]
        self.sorted += env.is_asked
        return np.where(env.is_asked, 1 + chosen, 0)


def played(task, subject, sessions=100):
    """Mean performance of one session of each of 100 subjects."""
    return run(task, subject, 128 * sessions, num_envs=sessions, seed=1)["performance"].mean()


def test_counting_to_ten_needs_no_feedback_in_the_fixed_version():
    assert played(FixedCardSorting(), Counts(10), sessions=4) == 1


def test_counting_cards_without_the_feedback_earns_at_most_055():
    """The best of all periods is known from 2,000 sessions: 0.550, with 14 cards.

    Five SEs of 0.008: false alarms 1 in 10**6."""
    earned = {period: played(CardSorting(), Counts(period)) for period in (10, 14, 20)}
    assert earned[14] == pytest.approx(0.55, abs=0.04)
    assert max(earned.values()) < 0.59


def test_an_observer_that_follows_bayes_rule_is_correct_in_93_percent():
    """Five SEs of 0.002: false alarms 1 in 10**6."""
    assert played(CardSorting(), RuleFilter()) == pytest.approx(0.935, abs=0.01)


def test_rules_come_in_random_order_and_change_at_or_after_the_criterion():
    """100 first rules, and about 5 changes in each session of 128 trials.

    Five SEs (1 in 10**6 each): 0.24 of a third, 0.11 of a half, and 2.2 of the mean row of correct
    sorts, which is 10 + 9 long; 1,000 trials cut less than 0.5 of it."""
    record = run(CardSorting(), "oracle", 128 * 100, num_envs=100, seed=2)
    first = record["rule"][record["trial"] == 0]
    for name in RULES:
        assert (first == name).mean() == pytest.approx(1 / 3, abs=0.24)
    record = run(CardSorting(trials_per_session=1000), "oracle", 10_000, num_envs=10, seed=2)
    moves, rows = [], []
    for env in range(10):
        rule = np.array([RULES.index(name) for name in record["rule"][record["env"] == env]])
        moves += np.diff(rule)[np.diff(rule) != 0].tolist()
        rows += np.diff(np.flatnonzero(np.diff(rule)), prepend=-1).tolist()
    assert (np.array(moves) % 3 == 1).mean() == pytest.approx(0.5, abs=0.11)
    assert min(rows) >= 10
    assert np.mean(rows) == pytest.approx(10 + 0.9 / 0.1, abs=2.7)


def test_an_impossible_hazard_is_refused():
    with pytest.raises(InvalidValueError, match="hazard"):
        CardSorting(hazard=2)
