"""Learning subjects, on the tasks that distinguish them."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_likeness import Hybrid, QLearner, WinStayLoseShift
from neurogym_task_value.bandit import Bandit
from neurogym_task_value.daw_two_step import DawTwoStep
from neurogym_task_value.drifting_bandit import DriftingBandit
from neurogym_task_value.matching_pennies import MatchingPennies

from neurogym_core import run


def stay_probabilities(subject, trials=8000, **settings):
    """P(same first choice), by reward and transition of the previous trial, with its error.

    Keys are (reward, common).
    """
    record = run(DawTwoStep(**settings), subject, trials, num_envs=40, seed=1)
    order = np.lexsort((record["trial"], record["env"]))
    column = {
        name: record[name][order] for name in ("env", "session", "first.choice", "reward", "common")
    }
    follows = (np.diff(column["env"]) == 0) & (np.diff(column["session"]) == 0)
    stay = column["first.choice"][1:] == column["first.choice"][:-1]
    table = {}
    for reward in (True, False):
        for common in (True, False):
            chosen = (
                follows
                & ((column["reward"][:-1] == 1) == reward)
                & (column["common"][:-1] == common)
            )
            table[reward, common] = stay[chosen].mean()
    return table


def effects(table):
    """Main effect of reward, and its interaction with the transition, of the stay probabilities."""
    rewarded, unrewarded = (
        table[True, True] + table[True, False],
        table[False, True] + table[False, False],
    )
    common = table[True, True] - table[False, True]
    rare = table[True, False] - table[False, False]
    return (rewarded - unrewarded) / 2, (common - rare) / 2


# Each of the four fractions comes from more than 1,000 trials, so the SD of an effect is below
# 0.016: five SDs, 1 false alarm in 2e6, are 0.08.


def test_model_free_subjects_stay_after_reward_whatever_the_transition():
    reward, interaction = effects(stay_probabilities(QLearner(seed=2)))
    assert reward > 0.25
    assert interaction == pytest.approx(0, abs=0.08)


def test_model_based_subjects_stay_after_common_rewarded_trials_and_switch_after_rare_ones():
    table = stay_probabilities(Hybrid(seed=3, weight=1.0, perseveration=0.0))
    reward, interaction = effects(table)
    assert interaction > 0.15
    assert reward == pytest.approx(0, abs=0.08)
    assert table[True, False] < table[False, False]


def test_a_mixture_shows_both_effects():
    reward, interaction = effects(stay_probabilities(Hybrid(seed=4, weight=0.7, trace=1.0)))
    assert reward > 0.08
    assert interaction > 0.08


def test_a_subject_that_ignores_reward_shows_neither_effect():
    reward, interaction = effects(stay_probabilities("random"))
    assert reward == pytest.approx(0, abs=0.08)
    assert interaction == pytest.approx(0, abs=0.08)


def test_perseverating_subjects_stay_without_any_reward():
    table = stay_probabilities(QLearner(seed=5, alpha=0.0, perseveration=0.4), trials=4000)
    # Both values are 0: P(stay) = 1 / (1 + exp(-5 * 0.4)).
    np.testing.assert_allclose(list(table.values()), 0.881, atol=5 * 0.5 / np.sqrt(600))


def test_the_model_counts_the_transitions_of_the_task():
    subject = Hybrid(seed=6)
    run(DawTwoStep(), subject, 6000, num_envs=20, seed=7)
    led = subject.led.sum(axis=0)
    first, a, b = (subject.state_of(np.array(obs)) for obs in ([1, 0, 0], [0, 1, 0], [0, 0, 1]))
    shares = led[first] / led[first].sum(axis=1, keepdims=True)
    np.testing.assert_allclose(
        shares[0, [a, b]], [0.7, 0.3], atol=5 * 0.46 / np.sqrt(led[first, 0].sum())
    )
    np.testing.assert_allclose(
        shares[1, [a, b]], [0.3, 0.7], atol=5 * 0.46 / np.sqrt(led[first, 1].sum())
    )
    assert led[[a, b]].sum() == 0  # the second stage ends the trial


def test_values_converge_to_the_reward_probabilities():
    """With a small learning rate the values of arms are running means of their rewards."""
    subject = QLearner(seed=8, alpha=0.02, beta=0.0)
    run(Bandit(probabilities=(0.2, 0.5, 0.9)), subject, 40 * 500, num_envs=40, seed=9)
    # SD of one value: sqrt(p (1 - p) alpha / (2 - alpha)) < 0.051; of the mean over 40 < 0.0081.
    np.testing.assert_allclose(subject.values[:, 0].mean(axis=0), [0.2, 0.5, 0.9], atol=5 * 0.0081)


def test_learners_beat_chance_where_there_is_something_to_learn():
    for task in (Bandit(), DriftingBandit()):
        chance = run(task, "random", 2000, num_envs=20, seed=10)["performance"].mean()
        for name in ("q_learner", "hybrid", "win_stay_lose_shift"):
            learned = run(task, name, 2000, num_envs=20, seed=10)["performance"].mean()
            if name == "win_stay_lose_shift" and isinstance(task, DriftingBandit):
                continue  # every payoff is positive, so that it always stays
            assert learned > chance + 0.05, (task, name)


def test_win_stay_lose_shift_stays_after_wins_and_shifts_after_losses():
    record = run(
        Bandit(probabilities=(0.3, 0.5, 0.6)), WinStayLoseShift(seed=11), 3000, num_envs=3, seed=12
    )
    for env in range(3):
        mine = record[np.flatnonzero(record["env"] == env)]
        mine = mine[np.argsort(mine["trial"])]
        stay = mine.codes()[1:] == mine.codes()[:-1]
        np.testing.assert_array_equal(stay, mine["reward"][:-1] > 0)
    # It shifts to the other options with equal probability.
    shifts = (np.diff(mine.codes()) % 3)[~stay]
    assert (shifts == 1).mean() == pytest.approx(0.5, abs=5 * 0.5 / np.sqrt(len(shifts)))


@pytest.mark.parametrize(
    ("algorithm", "low", "high"), [(0, 0.47, 0.53), (1, 0.4, 0.6), (2, 0.0, 0.1)]
)
def test_matching_pennies_opponents_exploit_win_stay_lose_shift_if_they_look_at_outcomes(
    algorithm, low, high
):
    """Barraclough et al. 2004: algorithm 0 exploits nothing (four SDs), 1 no dependence on
    outcomes, 2 that too.
    """
    won = run(
        MatchingPennies(algorithm=algorithm), "win_stay_lose_shift", 6000, num_envs=40, seed=13
    )["reward"].mean()
    assert low <= won <= high
