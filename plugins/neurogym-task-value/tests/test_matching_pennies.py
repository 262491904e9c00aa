"""MatchingPennies: an opponent that exploits predictable choices."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_value.matching_pennies import MatchingPennies
from neurogym_task_value.opponent import LARGEST, Opponent, critical_counts

from neurogym_core import InvalidValueError, Session, TaskEnv, run


def wins(algorithm, subject, trials=8_000):
    return run(MatchingPennies(algorithm=algorithm), subject, trials, num_envs=40, seed=1)[
        "reward"
    ].mean()


class Biased:
    """Chooses side 1 in 70 % of trials."""

    def __init__(self):
        self.rng = np.random.default_rng(2)

    def __call__(self, env, observations):
        return (self.rng.random(env.num_envs) < 0.7).astype(int)


class Alternating:
    """Side 0, side 1, side 0, …: no bias, but a pattern in the choices."""

    def __call__(self, env, observations):
        return env.trial_number % 2


class WinStayLoseShift:
    """Repeats the opponent's last choice; random opponents leave no pattern in its choices."""

    def __init__(self):
        self.rng = np.random.default_rng(3)

    def __call__(self, env, observations):
        last = observations[:, 1:]
        return np.where(
            last.any(axis=1), last.argmax(axis=1), self.rng.integers(0, 2, env.num_envs)
        )


@pytest.mark.parametrize("algorithm", [0, 1, 2])
def test_a_random_subject_wins_half_of_the_trials(algorithm):
    # 8,000 trials: 4 SDs are 0.023 (1 in 16,000).
    assert wins(algorithm, "random") == pytest.approx(0.5, abs=0.023)


@pytest.mark.parametrize("subject", [Biased, Alternating, WinStayLoseShift])
def test_algorithm_0_exploits_no_subject(subject):
    assert wins(0, subject()) == pytest.approx(0.5, abs=0.023)


def test_algorithms_1_and_2_exploit_a_bias():
    # With P(1) known to be 0.7, the subject wins 0.7 * 0.3 + 0.3 * 0.7 = 0.42 of the trials.
    for algorithm in (1, 2):
        assert wins(algorithm, Biased()) < 0.45


def test_algorithms_1_and_2_exploit_a_pattern_of_choices():
    for algorithm in (1, 2):
        assert wins(algorithm, Alternating()) < 0.1


def test_only_algorithm_2_exploits_a_dependence_on_outcomes():
    """The patterns that algorithm 1 tests hardly show a dependence on outcomes."""
    assert wins(1, WinStayLoseShift()) > 0.4
    assert wins(2, WinStayLoseShift()) < 0.1


def test_the_opponents_last_choice_is_shown():
    env = TaskEnv(MatchingPennies(trials_per_session=5))
    obs, _ = env.reset(seed=4)
    rng = np.random.default_rng(0)
    np.testing.assert_array_equal(obs, [1, 0, 0])
    for k in range(1, 13):
        opponent, choice = env.conditions["opponent"], int(rng.integers(2))
        obs, reward, _, over, info = env.step(choice)
        assert reward == float(choice == opponent)
        assert info["trial"]["outcome"] == ("correct" if reward else "error")
        assert over == (k % 5 == 0)
        wanted = [1, 0, 0] if over else [1, opponent == 0, opponent == 1]
        np.testing.assert_array_equal(obs, wanted)
        if over:
            env.reset()


@pytest.mark.parametrize("dt", [10, 20, 100])
def test_the_oracle_is_at_its_maximum(dt):
    record = run(MatchingPennies(dt=dt), "oracle", 500, seed=5)
    assert (record["performance"] == 1).all()
    assert (record["steps"] == 1).all()


def test_a_new_session_forgets_the_subject():
    """A subject that is exploited in a session wins half of the first trials of the next one."""
    record = run(
        MatchingPennies(trials_per_session=40), Alternating(), 40 * 40 * 10, num_envs=40, seed=6
    )
    within = record["trial"] % 40
    first, late = record["reward"][within < 4].mean(), record["reward"][within >= 20].mean()
    assert first == pytest.approx(0.5, abs=0.05)  # 1,600 trials: 4 SDs
    assert late < 0.1


def test_the_opponent_equals_a_direct_implementation():
    """Compare with a direct implementation of the paper, trial by trial, over the whole history."""
    rng = np.random.default_rng(7)
    choice = (rng.random(60) < 0.65).astype(int)
    won = rng.random(60) < np.where(choice == 1, 0.7, 0.3)
    for algorithm in (1, 2):
        opponent, session = Opponent(algorithm, 0.05), Session(1)
        opponent.forget(session)
        for t in range(60):
            assert opponent.bias(session)[0] == pytest.approx(
                slow_bias(choice[:t], won[:t], algorithm)
            )
            opponent.learn(session, choice[t : t + 1], won[t : t + 1], np.array([True]))


def slow_bias(choice, won, algorithm):
    stats = pytest.importorskip("scipy.stats")
    symbols = [list(choice)] + ([list(zip(choice, won, strict=True))] if algorithm == 2 else [])
    best = 0.0
    for kind, sequence in enumerate(symbols):
        for depth in range(kind, 5):
            if len(sequence) < depth:
                continue
            now = sequence[len(sequence) - depth :]
            after = [
                choice[t] for t in range(depth, len(sequence)) if sequence[t - depth : t] == now
            ]
            if after and stats.binomtest(int(sum(after)), len(after)).pvalue <= 0.05:
                deviation = np.mean(after) - 0.5
                best = deviation if abs(deviation) > abs(best) else best
    return 0.5 - best


def test_critical_counts_are_those_of_the_binomial_test():
    stats = pytest.importorskip("scipy.stats")
    critical = critical_counts(200, 0.05)
    for n in (*range(1, 30), 57, 200):
        rejected = [k for k in range((n + 1) // 2, n + 1) if stats.binomtest(k, n).pvalue <= 0.05]
        assert critical[n] == (rejected[0] if rejected else n + 1)
    opponent = Opponent(1, 0.05)
    trials = np.array([LARGEST, 4 * LARGEST])
    grown = opponent.critical(trials, trials)
    assert grown[1] == pytest.approx(stats.binom.isf(0.025, 4 * LARGEST, 0.5), abs=2)


def test_impossible_settings_are_refused():
    for wrong in ({"algorithm": 3}, {"significance": 0.0}):
        with pytest.raises(InvalidValueError):
            MatchingPennies(**wrong)
