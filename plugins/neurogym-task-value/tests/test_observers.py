"""Ideals of the value tasks: policies that know the rules earn more than those that know less.

Intervals are five SEs of the mean over sessions: false alarms 1 in 10**6."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_value.daw_two_step import DawTwoStep
from neurogym_task_value.drifting_bandit import DriftingBandit
from neurogym_task_value.matching_pennies import MatchingPennies
from neurogym_task_value.observers import ArmFilter, Counterpart, HoleFilter, Planner
from neurogym_task_value.self_initiated_choice import SelfInitiatedChoice

from neurogym_core import run


def earned(task, subject, sessions=40):
    """Mean performance of one session of each of several subjects."""
    length = task.trials_per_session
    record = run(task, subject, length * sessions, num_envs=sessions, seed=1)
    return record["performance"].mean()


def test_a_subject_that_foresees_the_opponent_wins_more_than_half():
    assert earned(MatchingPennies(), Counterpart()) == pytest.approx(0.584, abs=0.014)


def test_an_opponent_that_cannot_be_foreseen_wins_half():
    assert earned(MatchingPennies(algorithm=0), Counterpart()) == pytest.approx(0.5, abs=0.018)


def test_exploring_what_is_not_known_earns_more_than_the_best_known_arm():
    kalman, greedy = (earned(DriftingBandit(), ArmFilter(bonus)) for bonus in (1.0, 0.0))
    assert kalman == pytest.approx(0.963, abs=0.008)
    assert greedy < kalman - 0.01


def test_planning_with_the_transitions_earns_more_than_guessing():
    assert earned(DawTwoStep(), Planner()) == pytest.approx(0.96, abs=0.012)
    assert earned(DawTwoStep(), "guess") < 0.92


def test_a_planner_follows_the_transitions_and_not_the_side():
    """With rare transitions of 70 %, the same options lead elsewhere."""
    assert earned(DawTwoStep(common_probability=0.3), Planner()) > 0.945


@pytest.mark.slow
def test_bayes_rule_over_blocks_earns_more_than_always_the_same_hole():
    record = run(SelfInitiatedChoice(), HoleFilter(), 8000, num_envs=40, seed=1)
    assert record["performance"].mean() == pytest.approx(0.945, abs=0.02)
    free = record["choice_tone"]
    assert record["performance"][free].mean() > 0.86  # always the same hole: 0.78
    assert np.all(record["performance"][~free] == 1)
