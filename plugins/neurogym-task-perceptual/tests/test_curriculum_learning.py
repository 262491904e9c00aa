"""CVLearning: five stages, and the criteria between them."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_perceptual.curriculum_learning import CVLearning

from neurogym_core import InvalidValueError, TaskEnv, run

FIXATE, LEFT, RIGHT = 0, 1, 2
SHORT = {"fixation": 0, "stimulus": 100, "decision": 100}


def short(**settings):
    return CVLearning(timing=SHORT, delays=(100, 300), **settings)


def in_order(record, env=0):
    rows = np.flatnonzero(record["env"] == env)
    return record[rows[np.argsort(record["trial"][rows])]]


@pytest.fixture(scope="module")
def taught():
    """Record of 1,600 trials of a subject that is always correct."""
    return in_order(run(short(), "oracle", 1600, num_envs=1, seed=1))


def test_a_subject_without_errors_reaches_the_last_stage_in_four_days(taught):
    assert taught["stage"].tolist() == np.repeat([0, 1, 2, 3, 4, 4], 300)[:1600].tolist()


def test_the_delay_grows_by_quarters_every_20_trials_in_stage_3(taught):
    share = taught["delay_share"]
    assert (share[:900] == 0).all()
    assert share[900:1020].tolist() == np.repeat([0, 0.25, 0.5, 0.75, 1, 1], 20).tolist()
    assert (share[1020:] == 1).all()
    assert set(taught["duration.delay"][:900]) == {0}
    assert set(taught["duration.delay"][1200:]) == {100, 300}


def test_coherences_are_the_easiest_until_the_last_stage(taught):
    assert set(taught["coherence"][:1200]) == {51.2}
    assert set(taught["coherence"][1200:]) == {0, 6.4, 12.8, 25.6, 51.2}


def test_the_delay_shrinks_again_when_it_is_too_long():
    """A subject that is correct only without a delay stays in stage 3 while its delays vary."""

    class Forgetful:
        def __call__(self, env, obs):
            right = env.target
            forgot = (env.conditions["delay_share"] > 0) & env.is_asked
            return np.where(forgot, 3 - right, right)

    record = in_order(run(short(first_stage=3), Forgetful(), 400, num_envs=1, seed=2))
    assert set(record["stage"]) == {3}
    assert record["delay_share"].tolist() == np.tile(np.repeat([0, 0.25], 20), 10)[:400].tolist()


def test_a_guessing_subject_stays_in_stage_1():
    """The fraction 0.7 of 300 guesses is reached on one day in 1e12."""
    record = run(short(first_stage=1), "guess", 1200, num_envs=2, seed=3)
    assert set(record["stage"]) == {1}


def test_both_sides_are_rewarded_at_first_but_not_the_same_one_permanently():
    record = in_order(run(short(), lambda env, obs: LEFT * env.is_asked, 12, num_envs=1, seed=4))
    assert record["reward"].tolist() == [1, 1, 1] + [0] * 9
    assert set(record["side"][3:]) == {"right"}
    env = TaskEnv(short())
    env.reset(seed=5)
    paid = []
    for choice in [LEFT, LEFT, LEFT, RIGHT, RIGHT, LEFT, RIGHT, RIGHT, RIGHT, LEFT]:
        while env.period != "decision":
            obs, *_ = env.step(FIXATE)
            assert not obs[1:].any()  # nothing is shown
        paid.append(env.step(choice)[1])
    assert paid == [1] * 10


def test_in_stage_1_a_side_is_repeated_until_it_is_chosen():
    record = in_order(run(short(first_stage=1), "guess", 280, num_envs=1, seed=6))
    wrong = record["outcome"][:-1] == "error"
    np.testing.assert_array_equal(record["again"][1:], wrong)
    np.testing.assert_array_equal(record["side"][1:][wrong], record["side"][:-1][wrong])
    assert wrong.sum() > 50
    fresh = record["side"][1:][~wrong] == record["side"][:-1][~wrong]
    assert fresh.mean() == pytest.approx(0.5, abs=5 * 0.5 / np.sqrt(len(fresh)))


@pytest.mark.parametrize(("stage", "cost"), [(0, 0), (1, 0), (2, -1), (3, -1), (4, -1)])
def test_errors_cost_from_stage_2_on(stage, cost):
    record = run(short(first_stage=stage), "guess", 150, num_envs=1, seed=7)
    assert set(record["reward"][record["outcome"] == "error"]) == {cost}
    if stage >= 2:
        assert not record["again"].any()


def test_days_continue_over_sessions_of_any_length():
    record = in_order(run(short(trials_per_session=1, day=30), "oracle", 100, num_envs=1, seed=8))
    assert record["stage"].tolist() == np.repeat([0, 1, 2, 3], 30)[:100].tolist()


def test_the_stage_lasts_until_a_reset_with_a_seed():
    env = TaskEnv(short(day=10))
    env.reset(seed=9)
    for _ in range(60):
        env.step(env.target)
    stage = env.conditions["stage"]
    assert stage > 0
    env.reset()
    assert env.conditions["stage"] == stage
    env.reset(seed=9)
    assert env.conditions["stage"] == 0


def test_a_seed_resets_the_curriculum():
    one, other = (run(short(), "guess", 200, num_envs=2, seed=10) for _ in range(2))
    for name in ("side", "delay", "outcome"):
        np.testing.assert_array_equal(one[name], other[name])


@pytest.mark.parametrize("dt", [10, 20, 50])
def test_durations_of_the_last_stage(dt):
    record = run(CVLearning(dt=dt, first_stage=4), "oracle", 40, seed=11)
    assert (record["performance"] == 1).all()
    assert set(record["duration.fixation"]) == {200}
    np.testing.assert_allclose(record["duration.stimulus"], 1150, atol=dt / 2)
    assert set(record["duration.delay"]) == {1000, 3000}


def test_curriculum_single_and_vector_env_agree(same_in_both):
    same_in_both(short(trials_per_session=20, day=30, first_stage=1))


@pytest.mark.parametrize("wrong", [{"day": 0}, {"threshold": 1.2}, {"first_stage": 5}])
def test_impossible_curricula_are_refused(wrong):
    with pytest.raises(InvalidValueError):
        CVLearning(**wrong)


def test_always_the_same_side_is_right_in_the_first_three_trials_only():
    record = run(CVLearning(), lambda env, obs: np.where(env.is_asked, 1, 0), 300, num_envs=1)
    assert record["performance"].tolist() == [1.0] * 3 + [0.0] * 297
