"""IBLWheelGain: how far the grating follows the wheel changes by block."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_ibl.observers import Turner
from neurogym_task_ibl.wheel import AZIMUTHS
from neurogym_task_ibl.wheel_gain import IBLWheelGain

from neurogym_core import InvalidValueError, TaskEnv, run


@pytest.mark.parametrize(("gain", "degrees"), [(4.0, 2.5), (8.0, 5.0)])
def test_a_turn_moves_the_grating_by_the_gain(gain, degrees):
    """12.5 mm/s for 50 ms."""
    env = TaskEnv(IBLWheelGain(dt=50, sigma=0.0, timing={"quiescence": 200}))
    known = {"side": "left", "contrast": 100, "gain": gain}
    seen, _ = env.reset(seed=1, options={"conditions": known})
    while env.period == "quiescence":
        seen, *_ = env.step(0)
    azimuths = []
    for _ in range(4):
        azimuths.append(seen[: len(AZIMUTHS)] @ AZIMUTHS / seen[: len(AZIMUTHS)].sum())
        seen, *_ = env.step(2)
    np.testing.assert_allclose(np.diff(azimuths), degrees, atol=1e-4)


def test_gains_change_with_the_hazard_and_the_first_one_is_drawn():
    """40 sessions of 50 trials: limits are 4 SEs."""
    record = run(IBLWheelGain(trials_per_session=50), "oracle", 2000, num_envs=40, seed=2)
    order = np.lexsort((record["trial"], record["env"]))
    gains = record["gain"][order].reshape(40, 50)
    assert (gains[:, 0] == 8).mean() == pytest.approx(0.5, abs=0.32)
    assert (np.diff(gains, axis=1) != 0).mean() == pytest.approx(0.02, abs=0.013)
    assert set(np.unique(gains)) == {4.0, 8.0}


def test_the_smaller_gain_takes_300_ms_more():
    record = run(IBLWheelGain(), "oracle", 200, num_envs=20, seed=3)
    low, high = (record["reaction_time"][record["gain"] == gain] for gain in (4, 8))
    assert set(low) == {700.0}
    assert set(high) == {400.0}


def test_the_ideal_does_not_know_the_gain_and_earns_what_the_manifest_says():
    """1,000 trials: 4 SEs."""
    record = run(IBLWheelGain(), Turner(), 1000, num_envs=50, seed=4)
    assert record["performance"].mean() == pytest.approx(0.968, abs=0.023)


class Timed(Turner):
    """Turns for 400 ms, which is enough at the gain of 8, and then waits."""

    def begin(self, env):
        super().begin(env)
        self.turned = np.zeros(env.num_envs)

    def __call__(self, env, observations):
        action = super().__call__(env, observations)
        self.turned = np.where(self.acts, self.turned + env.task.dt, 0)
        return np.where(self.turned <= 400, action, 0)


def test_a_subject_that_turns_for_a_time_misses_at_the_smaller_gain():
    task = IBLWheelGain(timing={"response": 25_000})
    record = run(task, Timed(), 300, num_envs=50, seed=5)
    low, high = (record["performance"][record["gain"] == gain].mean() for gain in (4, 8))
    assert high > 0.9
    assert low == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"gains": (4.0,)},
        {"gains": (4.0, 4.0)},
        {"gains": (0.0, 8.0)},
        {"gains": (0.01, 8.0)},
        {"gains": (4.0, float("nan"))},
        {"gains": (4.0, float("inf"))},
        {"hazard": 2.0},
    ],
)
def test_impossible_gains_are_refused(wrong):
    with pytest.raises(InvalidValueError, match="IBLWheelGain"):
        IBLWheelGain(**wrong)
