"""Reaches in the plane: the plant, holding, and adaptation to fields and rotations."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from neurogym_task_motor.centre_out import minimum_jerk, turned
from neurogym_task_motor.delayed_centre_out import DelayedCentreOut
from neurogym_task_motor.force_field import ForceField
from neurogym_task_motor.observers import (
    BestRotationLearner,
    ForceLearner,
    Reacher,
    RotationLearner,
)
from neurogym_task_motor.random_target import BUMP, NEAREST, RandomTarget
from neurogym_task_motor.visuomotor_rotation import VisuomotorRotation

from neurogym_core import InvalidValueError, run
from neurogym_core.tools import find_task

TASKS = (DelayedCentreOut, ForceField, VisuomotorRotation)


@cache
def sessions(task, subject, count=4, **given):
    """Record of whole sessions, columns (sessions, trials), with the sign of each session."""
    made = task(**given)
    length = made.trials_per_session
    record = run(made, subject(), count * length, num_envs=count, seed=3)
    order = np.lexsort((record["trial"], record["env"]))
    return {
        name: record[name][order].reshape(count, length)
        for name in ("end_angle", "deviation", "performance", "field", "turn", "catch")
        if name in record
    }


def path(task, force, steps, **imposed):
    """Positions and velocities, (steps, 4), of a hand on which a force acts from the go cue on."""
    seen = []

    def push(env, observations):
        units = env.task.channels
        go = observations[:, units["hold"]] < 0.5
        hand = np.concatenate([observations[0, units[name]] for name in ("hand", "velocity")])
        seen.append((go[0, 0], hand))
        moved = np.where(go, np.asarray(force, float), 0.0)
        return env.task.actions.from_task_units(moved)

    known = {"duration.centre": 300, "duration.delay": 300, **imposed}
    run(task, push, 1, num_envs=1, seed=1, conditions=known)
    return np.array([hand for go, hand in seen if go])[:steps]


# ---------------------------------------------------------------------- the plant


def test_a_constant_force_moves_a_mass_of_1_kg_as_newton_says():
    """Of 2 N for 200 ms: 40 cm/s and 4 cm, but for the width of a step."""
    hand = path(DelayedCentreOut(dt=4), (0.0, 2.0), 51, direction=0)[-1]
    np.testing.assert_allclose(hand[2:], [0, 4.0], atol=1e-4)
    np.testing.assert_allclose(hand[:2], [0, 0.4], atol=0.01)


def test_a_force_field_pushes_at_a_right_angle_and_in_proportion_to_the_velocity():
    """It turns the velocity by field x time / mass, and does not change the speed."""
    task = ForceField(dt=4, conditions={"catch": False})
    hand = path(task, (0.0, 0.0), 10, direction=0, field=13.0)
    assert not hand.any()
    hand = path(task, (0.0, 1.0), 16, direction=0, field=13.0)
    speed = np.linalg.norm(hand[-1, 2:])
    turn = 13.0  # rad/s
    seconds = 0.06
    expected = 2 * 10 / turn * np.sin(turn * seconds / 2)  # of a constant force
    assert speed == pytest.approx(expected, rel=0.04)
    assert hand[-1, 2] > 0  # to the right of upward


def test_targets_are_on_a_circle_of_10_cm():
    at = DelayedCentreOut().at(np.arange(8))
    np.testing.assert_allclose(np.linalg.norm(at, axis=1), 1)
    np.testing.assert_allclose(at[1], [np.sqrt(0.5)] * 2)
    np.testing.assert_allclose(
        turned(at, np.full(8, 45.0)), at[[1, 2, 3, 4, 5, 6, 7, 0]], atol=1e-9
    )


def test_minimum_jerk_is_smooth_from_start_to_end():
    share = minimum_jerk(np.linspace(-1, 2, 3001))
    assert (share[:1001] == 0).all()
    assert share[2000:] == pytest.approx(1)
    assert np.diff(share).max() * 1000 == pytest.approx(1.875, abs=1e-3)


# ---------------------------------------------------------------------- from anywhere to anywhere


def test_starts_and_targets_lie_in_the_square_and_apart():
    drawn = RandomTarget().sample(2000, seed=1).conditions
    for name in ("start", "aim"):
        assert 0.99 < np.abs(drawn[name]).max() <= 1
    apart = np.linalg.norm(drawn["aim"] - drawn["start"], axis=1)
    assert NEAREST <= apart.min() < 0.45
    assert drawn["catch"].mean() == pytest.approx(0.2, abs=0.036)  # 4 SEs
    assert drawn["bumped"].mean() == pytest.approx(0.5, abs=0.045)


def test_the_hand_is_seen_where_it_starts_and_a_bump_moves_it():
    """3 N for 100 ms: 30 cm/s to the right."""
    known = {"catch": False, "bumped": True, "bump": (3.0, 0.0), "bump_at": 100.0}
    known |= {"start": (0.2, -0.4), "aim": (-0.8, 0.8)}
    task = RandomTarget(conditions=known)
    hand = path(task, (0.0, 0.0), 50)
    np.testing.assert_allclose(hand[0], [0.2, -0.4, 0, 0], atol=1e-6)
    assert not hand[:6, 2].any()
    steps = BUMP / task.dt
    np.testing.assert_allclose(hand[-1, 2:], [10 * 3 * steps * task.dt / 1000, 0], atol=1e-4)


def test_a_reacher_corrects_bumps_and_one_that_does_not_see_its_hand_misses():
    class Blind(Reacher):
        """Pushes as if nothing pushed it: by its own simulation of the hand."""

        def begin(self, env):
            super().begin(env)
            self.speed = np.zeros((env.num_envs, 2))

        def force(self, hand, ahead, velocity, dt):
            push = (velocity - self.speed) / (10 * dt)
            self.speed = velocity
            return push

    task = RandomTarget(conditions={"catch": False, "bumped": True})
    sees, blind = (run(task, one, 40, num_envs=10, seed=1) for one in (Reacher(), Blind()))
    assert (sees["performance"] == 1).all()
    assert blind["performance"].mean() < 0.3
    assert run(task, Blind(), 20, seed=2, conditions={"bumped": False})["performance"].mean() == 1


def test_without_a_go_cue_the_hand_has_to_stay():
    task = RandomTarget(conditions={"catch": True})
    for subject, expected in (("rest", 1), (Reacher(), 1), ("random", 0)):
        assert (run(task, subject, 20, num_envs=5, seed=1)["performance"] == expected).all()


def test_the_reacher_earns_1_and_resting_the_share_of_trials_without_a_go_cue():
    """300 trials: 4 SEs."""
    assert (run(RandomTarget(), Reacher(), 100, num_envs=20, seed=1)["performance"] == 1).all()
    rests = run(RandomTarget(), "rest", 300, num_envs=50, seed=2)["performance"].mean()
    assert rests == pytest.approx(0.2, abs=0.093)


@pytest.mark.parametrize(
    "wrong", [{"p_catch": 2.0}, {"p_bump": -1.0}, {"radius": 0.0}, {"radius": 0.4}, {"radius": 5.0}]
)
def test_impossible_random_targets_are_refused(wrong):
    with pytest.raises(InvalidValueError, match="RandomTarget"):
        RandomTarget(**wrong)


# ---------------------------------------------------------------------- the trial


@pytest.mark.parametrize("task", TASKS)
def test_the_oracle_earns_1_and_resting_and_guessing_nothing(task):
    for subject, expected in (("oracle", 1), ("rest", 0), ("guess", 0)):
        record = run(task(), subject, 40, num_envs=10, seed=1)
        assert (record["performance"] == expected).all(), subject


def test_leaving_the_centre_early_ends_the_trial():
    def pushes(env, observations):
        return np.ones((env.num_envs, 2))

    record = run(DelayedCentreOut(), pushes, 20, num_envs=5, seed=1)
    assert (record["outcome"] == "abort").all()
    assert (record["steps"] < 10).all()
    assert (record["performance"] == 0).all()
    assert record["reward"].max() <= -0.1


def test_the_hand_has_to_stay_in_the_target():
    class Through(Reacher):
        """Goes on through the target."""

        def goal(self):
            return 1.5 * self.target

    record = run(DelayedCentreOut(), Through(), 20, num_envs=5, seed=1)
    assert (record["outcome"] == "error").all()


def test_reaches_are_as_fast_as_those_of_animals_and_end_at_the_target():
    record = run(DelayedCentreOut(), Reacher(), 50, num_envs=10, seed=1)
    np.testing.assert_allclose(record["peak_speed"], 3.75, atol=0.02)  # 37.5 cm/s
    np.testing.assert_allclose(record["end_angle"], 0, atol=0.1)
    np.testing.assert_allclose(record["deviation"], 0, atol=1e-3)
    assert set(record["reaction_time"]) == {160}


def test_the_target_of_the_memory_task_disappears_after_300_ms():
    task = DelayedCentreOut(memory=True)
    batch = task.sample(1, seed=1, **{"duration.centre": 300, "duration.delay": 800})
    shown = batch.render(None)[:, task.channels["target"]].any(axis=1)
    np.testing.assert_array_equal(np.flatnonzero(shown), np.arange(15, 30))
    assert (run(task, Reacher(), 20, num_envs=5, seed=1)["performance"] == 1).all()


def test_effort_costs_reward_but_no_performance():
    rewards = [
        run(DelayedCentreOut(effort=effort), Reacher(), 20, num_envs=5, seed=1)
        for effort in (0.0, 0.1)
    ]
    assert (rewards[0]["reward"] == 1).all()
    assert (rewards[1]["reward"] < 0.95).all()
    assert (rewards[1]["performance"] == 1).all()


# ---------------------------------------------------------------------- force field


@pytest.mark.slow
def test_fields_come_in_the_middle_of_a_session_with_one_sign_and_catch_trials():
    found = sessions(ForceField, ForceLearner)
    field, catch = found["field"], found["catch"]
    assert not field[:, :40].any()
    assert not field[:, 152:].any()
    np.testing.assert_array_equal(field[:, 40:152] == 0, catch[:, 40:152])
    assert all(len(set(one[one != 0])) == 1 for one in field)
    assert catch[:, 40:152].mean() == pytest.approx(0.125, abs=0.08)  # 448 trials: 5 SEs
    assert not catch[:, :40].any()


@pytest.mark.slow
def test_the_observer_that_sees_its_hand_at_once_earns_1_without_learning():
    assert find_task("motor/ForceField-v0").ideal["value"] == 1.0
    found = sessions(ForceField, Reacher)
    assert found["performance"].mean() == 1
    assert np.abs(found["deviation"]).max() < 0.03


@pytest.mark.slow
def test_a_soft_learner_deviates_less_and_less_and_to_the_other_side_in_catch_trials():
    found = sessions(ForceField, ForceLearner)
    sign = np.sign(found["field"].sum(axis=1, keepdims=True))
    off, catch = -found["deviation"] * sign, found["catch"]  # positive: with the field
    late = np.broadcast_to(np.arange(192) > 100, off.shape) & (np.arange(192) < 152)
    assert off[:, 40][~catch[:, 40]].mean() == pytest.approx(0.11, abs=0.02)
    assert off[late & ~catch].mean() == pytest.approx(0.015, abs=0.02)
    assert off[late & catch].mean() == pytest.approx(-0.11, abs=0.03)
    assert off[:, 152].mean() < -0.05
    assert found["performance"].mean() > 0.95


# ---------------------------------------------------------------------- rotation


@pytest.mark.slow
def test_the_best_learner_misses_twice_in_a_session_and_without_adaptation_all_rotated_trials():
    best = sessions(VisuomotorRotation, BestRotationLearner)["performance"]
    np.testing.assert_array_equal(np.flatnonzero(best.mean(axis=0) < 1), [40, 140])
    stated = find_task("motor/VisuomotorRotation-v0").ideal["value"]
    assert best.mean() == pytest.approx(stated, abs=0.0006)
    fixed = sessions(VisuomotorRotation, Reacher)["performance"]
    assert fixed.mean() == pytest.approx(0.444, abs=0.0006)


@pytest.mark.slow
def test_a_learner_of_one_rate_adapts_as_the_equation_says_and_has_an_after_effect():
    """x <- 0.98 x + 0.1 e, without noise."""
    found = sessions(VisuomotorRotation, RotationLearner)
    sign = np.sign(found["turn"].sum(axis=1, keepdims=True))
    off, x, wanted = found["end_angle"] * sign, 0.0, []
    for turn in np.repeat((0.0, 30.0, 0.0), (40, 100, 40)):
        wanted.append(turn - x)
        x = 0.98 * x + 0.1 * wanted[-1]
    np.testing.assert_allclose(off, np.tile(wanted, (len(off), 1)), atol=0.05)
    np.testing.assert_allclose(off[0, [40, 49, 59, 119, 140]], [30, 12.9, 7.2, 5.0, -25], atol=0.05)


def test_the_cursor_is_seen_after_the_reach_only_where_the_hand_is_turned():
    seen = []

    class Watched(Reacher):
        def __call__(self, env, observations):
            units = env.task.channels
            seen.append([observations[0, units[name]].copy() for name in ("hand", "cursor")])
            return super().__call__(env, observations)

    known = {"turn": 30.0, "direction": 0, "duration.delay": 300}
    run(VisuomotorRotation(), Watched(), 1, num_envs=1, seed=1, conditions=known)
    hand, cursor = (np.array([one[k] for one in seen]) for k in (0, 1))
    assert not cursor[:70].any()
    np.testing.assert_allclose(hand[70, :2], [1, 0], atol=1e-3)
    np.testing.assert_allclose(cursor[70:95], np.tile([np.sqrt(0.75), 0.5], (25, 1)), atol=1e-3)
    missed = np.linalg.norm(cursor[70] - [1, 0])
    assert missed == pytest.approx(0.52, abs=0.005)  # dm


@pytest.mark.parametrize(
    ("task", "wrong"),
    [
        (DelayedCentreOut, {"directions": 0}),
        (DelayedCentreOut, {"radius": 2.0}),
        (DelayedCentreOut, {"effort": -1.0}),
        (DelayedCentreOut, {"keep": 0.0}),
        (DelayedCentreOut, {"keep": -1.0}),
        (RandomTarget, {"keep": 2000.0}),
        (RandomTarget, {"keep": 300.0, "timing": {"reach": 200}}),
        (ForceField, {"keep": 801.0}),
        (ForceField, {"p_catch": 1.5}),
        (ForceField, {"strength": -1.0}),
        (VisuomotorRotation, {"rotation": 200.0}),
    ],
)
def test_impossible_parameters_are_refused(task, wrong):
    with pytest.raises(InvalidValueError, match=task.__name__):
        task(**wrong)


@pytest.mark.parametrize("task", TASKS)
def test_single_env_and_vector_env_agree(task, same_in_both):
    same_in_both(task())
