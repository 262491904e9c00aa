"""PneumostomeOpening: breathing, moving, oxygen and rewards."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_value.pneumostome_opening import PneumostomeOpening

from neurogym_core import Dataset, InvalidValueError, NotSupportedError, TaskEnv, run

SKIN, OPEN, UP, DOWN = range(4)


def play(actions, depth=0, phase="before", dt=100, **settings):
    env = TaskEnv(PneumostomeOpening(dt=dt, **settings))
    obs, _ = env.reset(seed=1, options={"conditions": {"depth": depth, "phase": phase}})
    seen, paid = [obs], []
    for action in actions:
        obs, reward, *_, info = env.step(action)
        seen.append(obs)
        paid.append(reward)
        if info["new_trial"]:
            break
    return np.array(seen), np.array(paid), info


@pytest.mark.parametrize("dt", [10, 100])
@pytest.mark.parametrize(("phase", "pays"), [("before", 1), ("training", 0.5), ("after", 0.1)])
def test_opening_at_the_surface_pays_by_phase(phase, pays, dt):
    _, paid, _ = play([OPEN] * (1000 // dt), phase=phase, dt=dt)
    assert paid.sum() == pytest.approx(10 * pays)
    _, paid, _ = play([OPEN] * (1000 // dt), phase=phase, depth=2, dt=dt)
    assert paid.sum() == 0
    assert play([SKIN, UP, DOWN, SKIN], phase=phase)[1].sum() == 0


@pytest.mark.parametrize("dt", [10, 20, 100])
def test_moving_changes_the_depth_by_a_level_in_100_ms(dt):
    n = 100 // dt
    seen, _, _ = play([UP] * 3 * n + [DOWN] * 2 * n + [UP] * 9 * n, depth=4, dt=dt)
    depth = seen[::n, :5].argmax(axis=1)
    assert depth[:11].tolist() == [4, 3, 2, 1, 2, 3, 2, 1, 0, 0, 0]
    assert (seen[:, :5].sum(axis=1) == 1).all()


def test_oxygen_is_used_and_gained():
    seen, _, _ = play([UP, SKIN, OPEN, OPEN, DOWN, OPEN], depth=0)
    np.testing.assert_allclose(np.diff(seen[:, 5]) * 100, [-2, -1, 3, 3, -2, -2], atol=1e-4)
    seen, _, _ = play([OPEN] * 59)
    assert seen[-1, 5] == 1  # the maximum


@pytest.mark.parametrize("dt", [20, 100])
def test_without_oxygen_the_trial_ends(dt):
    _, paid, info = play([UP] * 1000, depth=0, dt=dt)
    assert len(paid) * dt == 2000  # 40 units, 2 per 100 ms
    assert info["trial"]["outcome"] == "error"
    _, paid, info = play([SKIN] * 1000, depth=0, dt=dt)
    assert len(paid) * dt == 4000
    assert info["new_trial"]


def test_a_session_has_three_phases():
    env = TaskEnv(PneumostomeOpening(timing={"pond": 100}))
    env.reset(seed=2)
    phases = []
    for k in range(60):
        phases.append(env.conditions["phase"])
        *_, truncated, _ = env.step(SKIN)
        assert truncated == (k == 49)
        if truncated:
            env.reset()
    assert phases == ["before"] * 10 + ["training"] * 30 + ["after"] * 10 + ["before"] * 10


@pytest.mark.slow
@pytest.mark.parametrize("dt", [10, 20, 100])
def test_going_up_and_staying_open_is_best(dt):
    record = run(PneumostomeOpening(dt=dt), "oracle", 60, seed=3)
    np.testing.assert_allclose(record["performance"], 1)
    np.testing.assert_allclose(record["reward"], record["pays"] * (60 - record.codes("depth")))
    assert run(PneumostomeOpening(dt=dt), "random", 60, seed=3)["performance"].mean() < 0.4


def test_a_dataset_has_the_best_actions_as_targets():
    with pytest.raises(NotSupportedError):
        Dataset(PneumostomeOpening(), batch_size=2, seq_len=20)
    batch = next(Dataset(PneumostomeOpening(), batch_size=4, seq_len=30, seed=4, targets="best"))
    assert (batch.weights == 1).all()
    assert set(np.unique(batch.targets)) <= {OPEN, UP}


@pytest.mark.parametrize(
    "wrong", [{"levels": 1}, {"oxygen": 0.0}, {"pays": (1.0, 0.5)}, {"phase_trials": (1, 2)}]
)
def test_impossible_ponds_are_refused(wrong):
    with pytest.raises(InvalidValueError):
        PneumostomeOpening(**wrong)


class EverySecond:
    """Rises, then opens on every second step."""

    carries_state = False
    steps = 0

    def __call__(self, env, observations):
        self.steps += 1
        at_surface = observations[:, 0] == 1
        return np.where(at_surface, (SKIN, OPEN)[self.steps % 2], UP)


def test_events_are_the_beginnings_of_openings():
    assert len(run(PneumostomeOpening(), "oracle", 20, seed=1).events) == 20
    record = run(PneumostomeOpening(pays=(1, 1, 1)), EverySecond(), 20, seed=1)
    assert len(record.events) == round(record["reward"].sum())  # each lasts a step of 100 ms
    assert set(record.events["name"].tolist()) == {"opening"}
