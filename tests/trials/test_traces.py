"""Traces: outputs that are scored on every step, by the tolerance of each axis."""

from __future__ import annotations

import ngym_test_reference as reference
import numpy as np
import pytest

from neurogym_core import (
    Angle,
    Axis,
    Choice,
    Dataset,
    InvalidValueError,
    Task,
    TaskDefinitionError,
    TaskEnv,
    Uniform,
    make_task,
    run,
)


class Follow(Task):
    """Follow two numbers and a direction; the first steps count half, the last ones not."""

    dt = 20
    timing = {"wait": 200, "move": Uniform(400, 800), "after": 100}
    rewards = {"correct": 2.0}

    def define(self):
        self.observe(level=1)
        self.act(output=Axis(-2, 3, rest=0.5, size=2, tolerance=0.4), at=Angle(tolerance=0.6))
        self.vary(slope=Uniform(0.5, 2.0), sign=Choice((-1, 1)))

    def new_trial(self, trial):
        trial.periods("wait", "move", "after")
        ramp = trial["slope"][:, None] * np.linspace(0, 1, 40)
        both = np.stack([ramp, trial["sign"][:, None] * ramp], axis=-1)
        trial.timecourse("level", ramp[:, :, None], during="move", cut=True)
        trial.timecourse("output", both, during="move", cut=True)
        turn = trial["slope"][:, None] * np.linspace(0, 3, 50)
        trial.timecourse("at", turn[:, :, None], during=("wait", "move"), cut=True)
        trial.loss_weight(0.5, during="wait")
        trial.loss_weight(0, during="after")


def scored(change, seed=3, n=40):
    """Performance of trials whose actions are a function of the targets, and the reference's."""
    task = Follow()
    batch = next(Dataset(task, n, seed=seed))
    acted = np.clip(change(batch.targets.copy(), batch.inputs), -1, 1).astype(np.float32)
    found = batch.score(acted)
    layout, expected = batch.trials.tables.layout, []
    for row in range(n):
        written = reference.WrittenTrial(layout, batch.trials.kind[row])
        steps = acted[batch.row[row], batch.start[row] : batch.stop[row]]
        expected.append(written.traced(task.actions.to_task_units(steps).tolist()))
    return found, np.array(expected)


rng = np.random.default_rng(5)
CHEATS = {
    "rest": lambda target, _: np.broadcast_to([0, 0, 0, 0], target.shape),
    "a constant": lambda target, _: np.full_like(target, 0.4),
    "other trials": lambda target, _: target[::-1],
    "late by ten steps": lambda target, _: np.roll(target, 10, axis=1),
    "half of the axes": lambda target, _: target * [1, 0, 0, 0],
    "noise": lambda target, _: target + rng.normal(0, 0.15, target.shape),
}


def test_the_target_scores_1():
    found, expected = scored(lambda target, _: target)
    np.testing.assert_allclose(found["performance"], 1, atol=1e-12)
    np.testing.assert_allclose(found["reward"], 2, atol=1e-12)
    np.testing.assert_array_equal(expected, 1)


@pytest.mark.parametrize("cheat", CHEATS)
def test_cheats_score_what_the_reference_says(cheat):
    """The reference goes step by step through the calls of the trial."""
    found, expected = scored(CHEATS[cheat])
    np.testing.assert_allclose(found["performance"], expected, atol=1e-9)
    assert expected.mean() < 0.9
    assert expected.mean() > 0.02


def test_players_score_as_datasets_do():
    found, _ = scored(CHEATS["a constant"])
    task = Follow()
    constant = np.full(4, 0.4, np.float32)
    played = run(task, lambda env, seen: np.tile(constant, (len(seen), 1)), 40, seed=3)
    assert played["performance"].mean() == pytest.approx(found["performance"].mean(), abs=0.03)
    env, total = TaskEnv(task), 0.0
    env.reset(seed=1)
    while True:
        _, reward, _, _, info = env.step(env.target)
        total += reward
        if info["new_trial"]:
            break
    assert total == pytest.approx(2)
    assert info["performance"] == pytest.approx(1)


def test_a_trial_without_a_scored_step_scores_0():
    class Idle(Follow):
        def new_trial(self, trial):
            super().new_trial(trial)
            trial.loss_weight(0, during=("wait", "move", "after"))

    assert (run(Idle(), "oracle", 5, seed=0)["performance"] == 0).all()


def test_joined_types_keep_their_shares():
    """Blocks of sampled trials with different segments are joined; each keeps its own weights."""
    record = run(Follow(), "oracle", 300, num_envs=7, seed=2)
    np.testing.assert_allclose(record["performance"], 1, atol=1e-12)


@pytest.mark.parametrize(
    "axes",
    [
        {"one": Axis(tolerance=0.1), "other": Axis()},
        {"go": Axis(trigger=0.5, tolerance=0.1)},
    ],
)
def test_a_tolerance_is_one_of_all_axes_and_of_none_with_a_trigger(axes):
    class Wrong(Follow):
        def define(self):
            self.observe(level=1)
            self.act(**axes)

    with pytest.raises(TaskDefinitionError, match="tolerance of every axis, and no trigger"):
        make_task(Wrong)


@pytest.mark.parametrize("tolerance", [0, -1.0, float("nan")])
def test_a_tolerance_is_positive(tolerance):
    with pytest.raises(InvalidValueError, match="give a positive number"):
        Axis(tolerance=tolerance)


def test_only_axes_with_a_tolerance_describe_one():
    assert Axis().to_plain() == {"axis": [-1.0, 1.0], "rest": 0.0, "trigger": None, "size": 1}
    assert Axis(tolerance=0.5).to_plain()["tolerance"] == 0.5
    assert Angle(tolerance=0.5).to_plain()["tolerance"] == 0.5
    assert "tolerance" not in Angle().to_plain()
