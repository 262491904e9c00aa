"""IBLTraining: stages, repetitions, bias correction."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_ibl.training import STAGES, IBLTraining

from neurogym_core import TaskEnv, run

SHORT = {"quiescence": 100, "response": 100, "timeout": 100, "reward": 100}
REST, LEFT, RIGHT = 0, 1, 2


def training(**settings):
    return IBLTraining(sigma=0.0, timing=SHORT, **settings)


def by_env(record):
    """Trials of every env in order."""
    for env in np.unique(record["env"]):
        rows = np.flatnonzero(record["env"] == env)
        yield record[rows[np.argsort(record["trial"][rows])]]


@pytest.fixture(scope="module")
def good():
    """Record of 1,500 trials of four subjects that are always correct."""
    return run(training(), "oracle", 6000, num_envs=4, seed=1)


def test_the_stages_are_those_of_the_protocol():
    assert [stage.contrasts for stage in STAGES] == [
        (100, 50),
        (100, 50, 25),
        (100, 50, 25, 12.5),
        (100, 50, 25, 12.5, 6.25),
        (100, 50, 25, 12.5, 6.25, 0),
        (100, 25, 12.5, 6.25, 0),
    ]
    assert [stage.trials for stage in STAGES[2:5]] == [200, 200, 200]


def test_a_subject_without_errors_passes_all_stages(good):
    for trials in by_env(good):
        stage = trials["stage"]
        assert (np.diff(stage) >= 0).all()
        assert stage[-1] == 5
        lengths = np.bincount(stage, minlength=6)
        assert lengths[2:5].tolist() == [200, 200, 200]
        # More than 80 % of the last 50 trials of each of four stimuli: 41 trials of the rarest.
        assert lengths[0] >= 4 * 41
        assert lengths[1] >= 2 * 41
        assert (trials["proficient"] == (stage == 5)).all()


def test_contrasts_are_those_of_the_stage_and_equally_likely(good):
    for number, stage in enumerate(STAGES):
        shown = good["contrast"][good["stage"] == number]
        values, counts = np.unique(shown, return_counts=True)
        assert values.tolist() == sorted(stage.contrasts)
        p = 1 / len(values)
        np.testing.assert_allclose(
            counts / len(shown), p, atol=5 * np.sqrt(p * (1 - p) / len(shown))
        )
    assert not good["repeated"].any()


def test_the_stage_persists_over_sessions_until_a_reset_with_a_seed():
    env = TaskEnv(training(trials_per_session=50))
    env.reset(seed=2)
    for _ in range(1500):
        *_, truncated, _ = env.step(env.target)
        if truncated:
            env.reset()
    stage = env.conditions["stage"]
    assert stage >= 2
    env.reset()
    assert env.conditions["stage"] == stage
    env.reset(seed=3)
    assert env.conditions["stage"] == 0


def test_one_trial_per_session_is_enough_to_learn():
    """The trial that ends a session counts too."""
    record = run(training(trials_per_session=1), "oracle", 1000, num_envs=2, seed=9)
    assert record["stage"].max() >= 2


def test_a_guessing_subject_stays_in_the_first_stage():
    """Guesses pass the criterion of one stimulus at one check in 1e6; four have to pass at once."""
    record = run(training(), "guess", 1800, num_envs=6, seed=4)
    assert set(record["stage"]) == {0}


def test_only_easy_errors_are_followed_by_the_same_contrast():
    record = run(training(), "guess", 1800, num_envs=6, seed=5)
    for trials in by_env(record):
        inner = trials["session"][1:] == trials["session"][:-1]
        wrong = (trials["outcome"][:-1] == "error") & (trials["contrast"][:-1] >= 50)
        np.testing.assert_array_equal(trials["repeated"][1:][inner], wrong[inner])
        again = inner & wrong
        np.testing.assert_array_equal(trials["contrast"][1:][again], trials["contrast"][:-1][again])


@pytest.mark.parametrize(("always", "wanted"), [(LEFT, "right"), (RIGHT, "left")])
def test_repetitions_counteract_a_bias(always, wanted):
    """A subject with one answer sees the other side in 84 % of repetitions: P(N(1, 0.5) > 0.5)."""
    record = run(training(), lambda env, obs: always * env.is_asked, 1800, num_envs=6, seed=6)
    late = record["repeated"] & (record["trial"] % 300 > 10)  # ten choices are known
    side = record["side"][late] == wanted
    assert len(side) > 500
    assert side.mean() == pytest.approx(0.841, abs=5 * 0.366 / np.sqrt(len(side)))
    fresh = record["side"][~record["repeated"]] == "right"
    assert fresh.mean() == pytest.approx(0.5, abs=5 * 0.5 / np.sqrt(len(fresh)))


def test_easy_misses_are_followed_by_the_same_contrast_too():
    """As in the rig software."""
    task = IBLTraining(timing={"quiescence": 200, "response": 500, "timeout": 100})
    trials = run(task, "rest", 60, seed=5)
    assert set(trials["outcome"]) == {"miss"}
    assert trials["repeated"][1:].all()


def test_hard_errors_and_those_of_the_proficient_are_not_repeated():
    task = training(conditions={"contrast": 25.0})
    assert not run(task, "guess", 500, seed=7)["repeated"].any()


def test_imposed_contrasts_outside_the_protocol_do_not_count():
    record = run(training(conditions={"contrast": 33.0}), "oracle", 600, num_envs=2, seed=8)
    assert set(record["stage"]) == {0}
    assert set(record["contrast"]) == {33.0}


def test_training_single_and_vector_env_agree(same_in_both):
    same_in_both(IBLTraining(timing={"response": 500}, trials_per_session=20))
