"""Ramps: the paper's intervals, the threshold and the target."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_timing.ramps import CueSetGo, ReadySetGoDoublePrior, ReadySetGoSinglePrior

from neurogym_core import Dataset, InvalidValueError, TaskEnv


def cross(task, ms: float, level: float = 1.0, before: float = 0.0, **conditions) -> dict:
    """The record of a trial in which the output rises to `level` `ms` after the onset of Set."""
    env = TaskEnv(task)
    env.reset(seed=1, options={"conditions": conditions})
    elapsed = 0.0
    while True:
        elapsed += task.dt if env.period == "production" else 0
        value = level if elapsed and elapsed >= ms else before
        *_, info = env.step(np.array([2 * value - 1], np.float32))
        if info["new_trial"]:
            return info["trial"]


@pytest.mark.parametrize(
    ("ms", "outcome", "reward"),
    [
        (640, "correct", 1.0),
        (620, "correct", (1 - 20 / 51.2) ** 1.5),
        (690, "correct", 0.1),
        (700, "error", 0),
        (580, "error", 0),
    ],
)
def test_the_reward_is_for_crossing_the_threshold_in_time(ms, outcome, reward):
    trial = cross(ReadySetGoSinglePrior(), ms, interval=640)
    assert (trial["outcome"], trial["reaction_time"], trial["wanted"]) == (outcome, ms, 640)
    assert trial["reward"] == pytest.approx(reward)
    assert trial["performance"] == (outcome == "correct")


def test_outputs_below_the_threshold_are_no_answer():
    trial = cross(ReadySetGoSinglePrior(), 640, level=0.9, before=0.9, interval=640)
    assert (trial["outcome"], trial["reward"], trial["aborts"]) == ("miss", 0, 0)


def test_crossing_before_set_costs():
    env = TaskEnv(CueSetGo())
    env.reset(seed=2)
    assert env.step(np.array([1.0], np.float32))[1] == pytest.approx(-0.01)


def test_the_ramp_is_proportional_to_time_and_crosses_the_threshold_at_the_target_time():
    task = CueSetGo(dt=10)
    batch = task.sample(20, seed=3)
    targets = np.split(batch.render_targets()[:, 0], np.cumsum(batch.steps)[:-1])
    for row, target in enumerate(targets):
        wanted = round(batch.notes["wanted"][row] / 10)
        production = target[-batch.period_steps["production"][row] :]
        np.testing.assert_allclose(
            production[: wanted - 1], 0.95 * np.arange(1, wanted) / wanted, atol=1e-6
        )
        assert (production[wanted - 1 :] == 1).all()
        assert (target[: -len(production)] == 0).all()


def test_without_a_ramp_the_steps_between_set_and_the_answer_have_no_weight():
    batch = next(
        iter(Dataset(ReadySetGoSinglePrior(ramp=False, intervals=(640,), weber=0), 4, seed=4))
    )
    for row in range(4):
        weight, target = batch.weights[row], (batch.targets[row, :, 0] + 1) / 2
        onset = np.flatnonzero(batch.inputs[row, :, 1])[0]  # Set
        due = onset + 63
        assert (weight[:onset] == 1).all()
        assert (weight[onset + 2 : due] == 0).all()
        assert weight[due] == 1
        assert target[due] == 1
        assert (target[:due] == 0).all()


@pytest.mark.parametrize("dt", [10, 20, 100])
@pytest.mark.parametrize("kind", [CueSetGo, ReadySetGoSinglePrior, ReadySetGoDoublePrior])
def test_pulses_are_seen_and_an_interval_apart(kind, dt):
    task = kind(dt=dt) if kind is CueSetGo else kind(dt=dt, weber=0)
    batch = task.sample(30, seed=5)
    steps = max(round(20 / dt), 1)
    for row, obs in enumerate(np.split(batch.render(None), np.cumsum(batch.steps)[:-1])):
        pulses = [
            np.flatnonzero(obs[:, task.channels[name]][:, 0])
            for name in ("ready", "set")
            if name in task.channels
        ]
        assert all(len(pulse) == steps for pulse in pulses)
        assert obs.max() <= 1
        if len(pulses) == 2:
            assert pulses[1][0] - pulses[0][0] == batch.notes["wanted"][row] / dt


def test_the_late_side_of_the_tolerance_fits_into_every_trial():
    for kind in (CueSetGo, ReadySetGoSinglePrior, ReadySetGoDoublePrior):
        batch = kind(dt=10).sample(500, seed=6)
        assert (batch.period_steps["production"] * 10 >= 1.08 * batch.notes["wanted"]).all()


def test_priors_are_those_of_the_paper_and_cued():
    task = ReadySetGoDoublePrior()
    batch = task.sample(400, seed=7)
    drawn = batch.conditions
    for prior, intervals in (
        ("short", {480, 560, 640, 720, 800}),
        ("long", {800, 900, 1000, 1100, 1200}),
    ):
        assert set(drawn["interval"][drawn["prior"] == prior]) == intervals
    context = batch.shown[:, :, task.channels["context"]]
    np.testing.assert_array_equal(
        context.argmax(axis=2), np.tile(drawn["prior"] == "long", (context.shape[1], 1)).T
    )


def test_the_cue_shows_the_interval():
    task = CueSetGo()
    batch = task.sample(100, seed=8)
    shown = batch.shown[:, 0, task.channels["context"]][:, 0]
    np.testing.assert_allclose(shown * 2000, batch.conditions["interval"], atol=1e-3)


def test_intervals_that_do_not_fit_are_refused():
    with pytest.raises(InvalidValueError, match="does not fit"):
        ReadySetGoSinglePrior(intervals=(1500,))
