"""Subjects that always do the same earn as much as the pages of the tasks say."""

from __future__ import annotations

import numpy as np
import pytest

from neurogym_core import make_task, run


def always(name: str, action: int, trials: int, **params) -> float:
    """Mean performance of subjects that repeat one action."""
    task = make_task(f"value/{name}-v0", **params)

    def subject(env, observations):
        return np.full(env.num_envs, action)

    return float(np.mean(run(task, subject, trials, num_envs=50, seed=1)["performance"]))


@pytest.mark.parametrize(("arm", "earns"), [(0, 1 / 3), (1, 1)])
def test_in_a_bandit_that_never_changes_the_best_arm_is_enough(arm, earns):
    assert always("Bandit", arm, 100) == pytest.approx(earns)


@pytest.mark.parametrize(
    ("name", "earns", "margin"),
    [
        ("DriftingBandit", 0.76, 0.04),
        ("DawTwoStep", 0.91, 0.03),
    ],
)
def test_in_restless_bandits_a_constant_choice_earns_as_much_as_guessing(name, earns, margin):
    """50 subjects and one session each; the SD of a session's mean is below 0.05 in the first and
    0.03 in the second task, so five SEs are 0.035 and 0.021."""
    task = make_task(f"value/{name}-v0")
    trials = 50 * task.trials_per_session
    assert always(name, 0, trials) == pytest.approx(earns, abs=margin)


@pytest.mark.parametrize(("algorithm", "wins"), [(0, 0.5), (1, 0.006), (2, 0.006)])
def test_an_opponent_that_analyses_choices_beats_a_constant_one(algorithm, wins):
    """25,000 trials: five SDs of a half are 1.6 %, of 0.6 % 0.25 %."""
    margin = 0.016 if algorithm == 0 else 0.004
    assert always("MatchingPennies", 0, 25_000, algorithm=algorithm) == pytest.approx(
        wins, abs=margin
    )


def test_a_constant_side_is_never_reversed_again():
    """Half of the subjects are correct in the first 8 of 200 trials; five SEs of 50 are 1.4 %."""
    assert always("ProbabilisticReversal", 0, 50 * 200) == pytest.approx(0.02, abs=0.0142)


def test_always_opening_pays_in_the_trials_that_begin_at_the_surface():
    """2,500 trials: five SDs are 4 %."""
    assert always("PneumostomeOpening", 1, 2500) == pytest.approx(0.2, abs=0.04)
