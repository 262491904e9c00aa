"""PulseDecisionMaking: several values per condition, pulses of at least one step, ties."""

from __future__ import annotations

import math

import numpy as np
import pytest
from neurogym_task_perceptual.pulse_decision_making import PulseDecisionMaking

from neurogym_core import InvalidValueError, TaskEnv


@pytest.mark.parametrize("dt", [10, 20, 100])
def test_oracle_is_always_right_and_paid_in_full(oracle, dt):
    trials = oracle(PulseDecisionMaking(dt=dt), 40)
    assert all(trial["performance"] == 1 and trial["reward"] == 1 for trial in trials)


def test_ten_ms_by_default_and_durations_as_declared():
    task = PulseDecisionMaking()
    assert task.dt == 10
    batch = task.sample(20, seed=1)
    ms = {name: set(steps * 10) for name, steps in batch.period_steps.items()}
    assert ms == {"fixation": {500}, "stimulus": {6 * 250}, "decision": {500}}


@pytest.mark.parametrize("dt", [10, 20, 100])
def test_every_pulse_drawn_is_seen_once_in_its_bin_and_no_other(dt):
    task = PulseDecisionMaking(dt=dt)
    batch = task.sample(60, seed=2)
    steps = batch.render(None).reshape(60, -1, 3)  # all trials are equally long
    onset = int(batch.period_steps["fixation"][0])
    bins = [onset + math.floor(250 * k / dt + 0.5) for k in range(6)]
    for side in ("left", "right"):
        seen = steps[:, :, task.channels[side]][..., 0]
        np.testing.assert_array_equal(seen[:, bins], batch.conditions[side])
        np.testing.assert_array_equal(seen.sum(axis=1), batch.conditions[side].sum(axis=1))


def test_the_side_with_more_pulses_is_right_and_ties_go_to_the_rich_side():
    batch = PulseDecisionMaking().sample(2000, seed=3)
    left, right = batch.conditions["left"].sum(axis=1), batch.conditions["right"].sum(axis=1)
    answer = batch.target[:, -1] - 1
    np.testing.assert_array_equal(answer[left > right], 0)
    np.testing.assert_array_equal(answer[right > left], 1)
    tied = left == right
    assert tied.any()
    np.testing.assert_array_equal(answer[tied], batch.conditions["rich"][tied] == "right")


def test_ties_are_fair():
    """False alarms: 1 in 10,000 (3.9 standard errors of a proportion), with this seed none."""
    batch = PulseDecisionMaking().sample(20_000, seed=4)
    tied = batch.conditions["left"].sum(axis=1) == batch.conditions["right"].sum(axis=1)
    share = (batch.target[tied, -1] == 1).mean()
    assert abs(share - 0.5) < 3.9 * 0.5 / math.sqrt(tied.sum())


def test_pulses_are_as_likely_as_declared_in_every_bin():
    """24 proportions of about 10,000 draws, each within 4.5 standard errors: false alarms 2 in
    10,000.
    """
    drawn = PulseDecisionMaking().sample(20_000, seed=5).conditions
    for rich in ("left", "right"):
        rows = drawn["rich"] == rich
        for side in ("left", "right"):
            p = 0.7 if side == rich else 0.3
            error = abs(drawn[side][rows].mean(axis=0) - p)
            assert (error < 4.5 * math.sqrt(p * (1 - p) / rows.sum())).all()


def test_imposed_pulses_and_answers_are_honoured():
    left, right = np.tile([1, 0, 0, 0, 0, 0], (9, 1)), np.tile([1, 1, 0, 0, 0, 0], (9, 1))
    batch = PulseDecisionMaking().sample(9, seed=6, left=left, right=right)
    np.testing.assert_array_equal(batch.conditions["left"], left)
    np.testing.assert_array_equal(batch.target[:, -1], 2)
    task = PulseDecisionMaking()
    drawn = task.draw_conditions(np.random.default_rng(0), 100, correct_choice=np.zeros(100, int))
    assert (drawn["left"].sum(axis=1) >= drawn["right"].sum(axis=1)).all()


def test_answers_before_the_go_cue_cost():
    env = TaskEnv(PulseDecisionMaking())
    env.reset(seed=7)
    costs = []
    while env.period != "decision":
        costs.append(env.step(1)[1])
    assert costs == pytest.approx([-0.01] * 200)  # -0.1 per 100 ms


def test_records_hold_one_value_per_bin(oracle):
    trial = oracle(PulseDecisionMaking(bins=4), 1)[0]
    assert len(trial["left"]) == len(trial["right"]) == 4


def test_single_env_and_vector_env_agree(same_in_both):
    same_in_both(PulseDecisionMaking(dt=50))


@pytest.mark.parametrize("wrong", [{"bins": 0}, {"p_poor": 0.8}, {"p_rich": 1.2}, {"dt": 300}])
def test_impossible_parameters_are_refused(wrong):
    with pytest.raises(InvalidValueError, match="PulseDecisionMaking"):
        PulseDecisionMaking(**wrong)
