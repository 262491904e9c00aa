"""Adaptive noise, misses, catch trials, time-outs and mappings: each changes one part of a task.

False alarms: frequencies are compared at 5 standard errors, below 1e-6 a comparison.
"""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from neurogym_wrappers import AdaptiveNoise, CatchTrials, MissPenalty, TimeOut, VariableMapping
from small_tasks import (
    Arms,
    Choosing,
    Counting,
    Going,
    Learning,
    Steering,
    Timed,
    TwoSides,
)

from neurogym_core import (
    Choice,
    InvalidValueError,
    NotSupportedError,
    ReactionTime,
    UnknownNameError,
    make_task,
    run,
)

# ---------------------------------------------------------------------- noise


def test_adaptive_noise_goes_up_with_success_and_down_with_failure():
    task = AdaptiveNoise(Choosing(trials_per_session=10), sigma_step=2.0, window=5, max_sigma=6.0)
    rising = run(task, "oracle", 60, num_envs=1, seed=0)["noise"]
    np.testing.assert_array_equal(rising, np.minimum(np.arange(60) // 5 * 2, 6))
    assert not run(task, "rest", 40, num_envs=1, seed=0)["noise"].any()


@pytest.mark.slow
def test_adaptive_noise_holds_performance_near_its_target():
    """The integrator makes no error without noise; with it, its performance is near 75 % (3,200
    trials, SE below 0.01).
    """
    task = AdaptiveNoise(
        TwoSides(trials_per_session=None),
        target_performance=0.75,
        sigma_step=4.0,
        max_sigma=200.0,
        window=20,
    )
    record = run(task, "integrator", 6400, num_envs=4, seed=0)
    late = record["performance"][record["trial"] >= 800]
    assert abs(late.mean() - 0.75) < 0.06
    assert record["noise"][record["trial"] >= 800].mean() > 4


# ------------------------------------------------------------ misses, catch trials, time-outs


def test_a_miss_has_a_penalty_and_correct_resting_has_none():
    record = run(MissPenalty(Going(), reward=-2.0), "rest", 60, seed=0)
    np.testing.assert_array_equal(record["reward"], np.where(record["go"] == 1, -2.0, 1.0))
    assert (run(MissPenalty(Choosing(), reward=-2.0), "oracle", 20, seed=0)["reward"] == 1).all()


def test_catch_trials_have_the_given_probability_and_reward():
    record = run(CatchTrials(Choosing(), probability=0.3, reward=-0.5), "oracle", 4000, seed=0)
    assert abs(record["catch"].mean() - 0.3) < 5 * np.sqrt(0.3 * 0.7 / 4000)
    np.testing.assert_array_equal(record["reward"], np.where(record["catch"], -0.5, 1.0))
    assert record["performance"].mean() == 1


def test_only_difficult_trials_after_the_warmup_are_catch_trials():
    task = CatchTrials(
        Choosing(trials_per_session=10),
        probability=1.0,
        condition="strength",
        below_quantile=0.5,
        warmup_trials=4,
    )
    record = run(task, "oracle", 200, num_envs=1, seed=0)
    expected = (record["strength"] <= 2) & (record["trial"] % 10 >= 4)
    np.testing.assert_array_equal(record["catch"], expected)


def test_catch_trials_can_be_imposed():
    assert run(CatchTrials(Choosing()), "oracle", 20, seed=0, conditions={"catch": True})[
        "catch"
    ].all()


def test_only_errors_lead_to_a_time_out():
    record = run(TimeOut(Choosing(), duration=700), "guess", 90, seed=0)
    wrong = record["outcome"] == "error"
    assert wrong.any()
    assert (~wrong).any()
    assert (record["steps"][~wrong] <= 6).all()
    np.testing.assert_array_equal(record["steps"][wrong] - 7 <= 6, True)
    assert (record["steps"][wrong] > 7 + 4).all()
    resting = run(TimeOut(Choosing()), "rest", 20, seed=0)
    assert set(resting["outcome"]) == {"miss"}
    assert (resting["steps"] == 6).all()


def test_misses_lead_to_a_time_out_if_asked():
    record = run(TimeOut(Choosing(), duration=700, after=("error", "miss")), "rest", 20, seed=0)
    assert (record["steps"] == 13).all()
    assert set(record["outcome"]) == {"miss"}
    assert (run(TimeOut(Choosing(), after=("miss",)), "oracle", 20, seed=0)["steps"] == 5).all()


def test_a_time_out_has_no_stimulus_no_slot_and_no_reward():
    task = TimeOut(Choosing(), duration=Choice((200, 400)))
    batch = task.sample(50, seed=0)
    assert set(batch.period_steps["timeout"]) == {2, 4}
    assert not batch.shown[:, batch.period == 3].any()
    assert (batch.steps == 6).all()  # the oracle never gets there

    def acting(env, _obs):
        wrong = task.actions["choose"].start + (env.conditions["side"] + 1) % 3
        return np.where(env.period == "stimulus", 0, np.where(env.period == "fixation", 0, wrong))

    record = run(task, acting, 40, seed=0)
    assert set(record["outcome"]) == {"error"}
    assert not record["aborts"].any()
    assert (record["reward"] == 0).all()


def test_wrappers_that_move_response_windows_can_be_stacked():
    record = run(TimeOut(ReactionTime(Choosing()), duration=700), "guess", 60, seed=0)
    wrong = record["outcome"] == "error"
    assert wrong.any()
    assert (record["steps"][wrong] == 1 + record["reaction_time"][wrong] / 100 + 7).all()


# ---------------------------------------------------------------------- mapping


def test_mappings_permute_the_correct_choices_and_change_on_time():
    task = VariableMapping(Choosing(trials_per_session=None), block_length=10, hazard_rate=1.0)
    record = run(task, "oracle", 200, num_envs=1, seed=0)
    mapping = record["mapping"]
    np.testing.assert_array_equal(mapping[:10], np.tile([0, 1, 2], (10, 1)))
    assert (np.sort(mapping, axis=1) == [0, 1, 2]).all()
    np.testing.assert_array_equal(
        np.flatnonzero((np.diff(mapping, axis=0) != 0).any(axis=1)) % 10, 9
    )
    assert len(np.flatnonzero((np.diff(mapping, axis=0) != 0).any(axis=1))) == 19
    np.testing.assert_array_equal(record.codes(), mapping[np.arange(200), record["side"]])
    assert record["performance"].mean() == 1


def test_a_mapping_can_be_imposed():
    record = run(
        VariableMapping(Choosing()), "oracle", 20, seed=0, conditions={"mapping": [2, 0, 1]}
    )
    np.testing.assert_array_equal(record.codes(), np.array([2, 0, 1])[record["side"]])


# ---------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (
            lambda: AdaptiveNoise(Choosing(), noisy_channels=("stimulis",)),
            UnknownNameError,
            "Did you mean 'stimulus'",
        ),
        (
            lambda: AdaptiveNoise(Choosing(), sigma_step=0.0),
            InvalidValueError,
            "give a step above 0",
        ),
        (
            lambda: AdaptiveNoise(Choosing(), target_performance=1.0),
            InvalidValueError,
            "between 0 and 1",
        ),
        (lambda: MissPenalty(Choosing(), reward=0.0), InvalidValueError, "other than 0"),
        (lambda: MissPenalty(Arms()), NotSupportedError, "no rest action"),
        (lambda: MissPenalty(Steering()), NotSupportedError, "without a trigger="),
        (lambda: CatchTrials(Choosing(), probability=0.0), InvalidValueError, "a number above 0"),
        (
            lambda: CatchTrials(Choosing(), reward=1.0),
            InvalidValueError,
            "gives for a correct answer already",
        ),
        (
            lambda: CatchTrials(Choosing(), condition="strngth"),
            UnknownNameError,
            "Did you mean 'strength'",
        ),
        (lambda: CatchTrials(Learning()), NotSupportedError, "a correct answer and a fixed reward"),
        (lambda: CatchTrials(Steering()), NotSupportedError, "on every step"),
        (lambda: TimeOut(Arms()), NotSupportedError, "no error ends its trials"),
        (lambda: TimeOut(Counting()), NotSupportedError, "on every step"),
        (lambda: TimeOut(TimeOut(Choosing())), NotSupportedError, "a period 'timeout' already"),
        (lambda: TimeOut(Going(), after=("miss",)), NotSupportedError, "resting is correct"),
        (
            lambda: TimeOut(Choosing(), after=("abort",)),
            InvalidValueError,
            "one or both of 'error', 'miss'",
        ),
        (lambda: TimeOut(Choosing(), duration=0), InvalidValueError, "ms above 0"),
        (
            lambda: VariableMapping(Going()),
            NotSupportedError,
            "several choices of which some are correct",
        ),
        (
            lambda: VariableMapping(Timed()),
            NotSupportedError,
            "several choices of which some are correct",
        ),
        (lambda: VariableMapping(Steering()), NotSupportedError, "not discrete choices"),
        (
            lambda: VariableMapping(Choosing(), action="chose"),
            UnknownNameError,
            "Did you mean 'choose'",
        ),
    ],
)
def test_impossible_settings_and_tasks_are_refused(make, error, says):
    with pytest.raises(error, match=says):
        make()


@pytest.mark.parametrize(
    "wrapper", [AdaptiveNoise, MissPenalty, CatchTrials, TimeOut, VariableMapping]
)
def test_each_is_a_value_and_is_found_by_name(wrapper):
    task = wrapper(Choosing())
    assert pickle.loads(pickle.dumps(task)) == task
    assert make_task(Choosing, wrap=wrapper.__name__) == task
    assert task.name == f"{wrapper.__name__}(Choosing)"


@pytest.mark.parametrize(
    "wrap", ["TimeOut", ["ReactionTime", "TimeOut"], ["TimeOut", "VariableMapping"], "ReactionTime"]
)
@pytest.mark.parametrize("task", [Choosing, TwoSides, Going])
def test_the_oracles_path_is_known_without_the_payoffs(task, wrap):
    """The oracle's path leaves out a last period that only errors lead to; these tasks have no
    other jumps.
    """
    batch = make_task(task, wrap=wrap if task is not Going else "TimeOut").sample(50, seed=0)
    assert not batch.tables.jumps
    walked = copy.copy(batch.tables)
    walked.jumps = True  # so that its path is found period by period
    np.testing.assert_array_equal(batch.path, walked.path)
