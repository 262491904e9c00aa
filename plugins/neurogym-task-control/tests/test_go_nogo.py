"""GoNogo: correct withholding counts like correct going."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_control.go_nogo import GoNogo

from neurogym_core import TaskEnv

GO = 1


@pytest.mark.parametrize("dt", [10, 20, 100])
def test_oracle_is_always_right_and_paid_in_full(oracle, dt):
    trials = oracle(GoNogo(dt=dt), 150)
    assert {trial["stimulus"] for trial in trials} == {"go", "nogo"}
    assert all(trial["performance"] == 1 and trial["reward"] == 1 for trial in trials)


@pytest.mark.parametrize(
    ("stimulus", "action", "outcome", "performance", "reward", "choice"),
    [
        ("go", GO, "correct", 1, 1.0, "go"),
        ("go", 0, "miss", 0, -0.5, "none"),
        ("nogo", GO, "error", 0, -0.5, "go"),
        ("nogo", 0, "correct", 1, 1.0, "none"),
    ],
)
def test_going_and_withholding(stimulus, action, outcome, performance, reward, choice):
    env = TaskEnv(GoNogo())
    env.reset(seed=1, options={"conditions": {"stimulus": stimulus}})
    done = None
    while not (done and done["new_trial"]):
        *_, done = env.step(action if env.period == "decision" else 0)
    trial = done["trial"]
    assert (trial["outcome"], trial["choice"]) == (outcome, choice)
    assert (trial["performance"], trial["reward"]) == (performance, reward)
    assert done["performance"] == performance


def test_periods_stimuli_and_go_cue_are_as_declared():
    task = GoNogo()
    batch = task.sample(100, seed=2)
    assert {name: set(steps * 100) for name, steps in batch.period_steps.items()} == {
        "fixation": {0},
        "stimulus": {500},
        "delay": {500},
        "decision": {500},
    }
    obs = batch.render(None).reshape(100, 15, 3)
    np.testing.assert_array_equal(obs[:, :, 0], np.broadcast_to(np.arange(15) < 10, (100, 15)))
    for name in ("go", "nogo"):
        on = obs[:, :, task.channels[name]][..., 0]
        np.testing.assert_array_equal(
            on[:, :5], np.repeat((batch.conditions["stimulus"] == name)[:, None], 5, axis=1)
        )
        assert (on[:, 5:] == 0).all()


def test_going_before_the_cue_costs_and_ends_nothing():
    env = TaskEnv(GoNogo())
    env.reset(seed=3)
    paid = []
    while env.period != "decision":
        paid.append(env.step(GO)[1])
    assert paid == [-0.1] * 10
