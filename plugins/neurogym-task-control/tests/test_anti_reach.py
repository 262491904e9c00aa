"""AntiReach: a ring of 32 units, and answers opposite of the stimulus."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_control.anti_reach import AntiReach

from neurogym_core import InvalidValueError, TaskEnv


@pytest.mark.parametrize("anti", [True, False])
@pytest.mark.parametrize("dt", [10, 20, 100])
def test_oracle_is_always_right_and_paid_in_full(oracle, dt, anti):
    trials = oracle(AntiReach(dt=dt, anti=anti), 80)
    assert all(trial["performance"] == 1 and trial["reward"] == 1 for trial in trials)


@pytest.mark.parametrize("anti", [True, False])
def test_the_stimulus_points_where_it_should_and_the_answer_away_from_it(anti):
    task = AntiReach(anti=anti)
    assert (task.channels.size, task.actions.size) == (33, 33)
    batch = task.sample(500, seed=1)
    shown = batch.shown[:, batch.period == 1][:, 0, task.channels["stimulus"]]
    seen = shown.argmax(axis=1)
    np.testing.assert_array_equal(seen, batch.conditions["direction"])
    np.testing.assert_allclose(shown.max(axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(shown.min(axis=1), -1, atol=1e-6)
    answer = batch.target[:, -1] - task.actions["reach"].start
    np.testing.assert_array_equal(answer, (seen + (16 if anti else 0)) % 32)
    assert set(answer) == set(range(32))


def test_only_one_direction_is_right():
    batch = AntiReach().sample(100, seed=2)
    right = batch.table("score")[:, batch.period == batch.period_names.index("decision")][:, 0] == 1
    np.testing.assert_array_equal(right.sum(axis=1), 1)


def test_periods_are_as_declared_and_the_cue_goes_off_at_the_decision():
    task = AntiReach(timing={"delay": 200})
    batch = task.sample(20, seed=3)
    assert {name: set(steps * 100) for name, steps in batch.period_steps.items()} == {
        "fixation": {500},
        "stimulus": {500},
        "delay": {200},
        "decision": {500},
    }
    cue = batch.render(None).reshape(20, 17, 33)[:, :, 0]
    np.testing.assert_array_equal(cue, np.broadcast_to(np.arange(17) < 12, (20, 17)))


def test_moving_before_the_cue_goes_off_costs():
    env = TaskEnv(AntiReach())
    env.reset(seed=4)
    paid = []
    while env.period != "decision":
        paid.append(env.step(env.conditions["direction"] + 1)[1])
    assert paid == [-0.1] * 10


def test_imposed_answers_are_honoured():
    drawn = AntiReach().draw_conditions(np.random.default_rng(0), 60, correct_choice=np.full(60, 3))
    assert (drawn["direction"] == 19).all()


def test_single_env_and_vector_env_agree(same_in_both):
    same_in_both(AntiReach(directions=4))


def test_an_odd_ring_has_no_opposite_directions():
    with pytest.raises(InvalidValueError, match="even"):
        AntiReach(directions=5)
    assert AntiReach(directions=5, anti=False).actions.size == 6
