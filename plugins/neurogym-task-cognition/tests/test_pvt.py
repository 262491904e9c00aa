"""PVT: a light at an unpredictable time, false starts, and presses that expectation hastens."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from neurogym_task_cognition.observers import Watcher
from neurogym_task_cognition.pvt import PVT

from neurogym_core import InvalidValueError, Subject, run


class Press(Subject):
    """Presses once, a time after the onset of the light.

    Args:
        after: ms; the press comes with the step that begins then.
    """

    def __init__(self, after):
        self.after = after

    def begin(self, env):
        self.waited = np.zeros(env.num_envs)

    def __call__(self, env, observations):
        light = observations[:, env.task.channels["light"]][:, 0] > 0.5
        press = light & (self.waited == self.after)
        self.waited = np.where(light, self.waited + env.task.dt, 0)
        return press * 1


@cache
def watched(rising, sigma=4.0, trials=8000):
    return run(PVT(sigma=sigma), Watcher(rising), trials, num_envs=100, seed=1)


def hastening(record):
    """Mean reaction time after 2 to 4 s, minus after 8 to 10 s, ms."""
    right, wait = record["outcome"] == "correct", record["duration.wait"]
    soon, late = (right & (wait >= low) & (wait < low + 2000) for low in (2000, 8000))
    return record["reaction_time"][soon].mean() - record["reaction_time"][late].mean()


@pytest.mark.slow
def test_the_light_comes_at_any_time_from_2_to_10_s():
    """5 SEs of 8,000 trials: false alarms 1 in 10**5."""
    wait = watched(True)["duration.wait"]
    assert wait.min() >= 2000
    assert wait.max() <= 10_000
    for low in (2000, 4000, 6000, 8000):
        assert ((wait >= low) & (wait < low + 2000)).mean() == pytest.approx(0.25, abs=0.025)


@pytest.mark.parametrize(
    ("after", "outcome", "time"), [(0, "error", 25), (75, "error", 100), (100, "correct", 125)]
)
def test_a_press_in_the_first_100_ms_is_a_false_start(after, outcome, time):
    record = run(PVT(), Press(after), 20, seed=1)
    assert (record["outcome"] == outcome).all()
    assert (record["reaction_time"] == time).all()


def test_the_ideal_observer_earns_1_and_always_takes_the_same_time():
    for rising in (True, False):
        record = watched(rising, sigma=0.0, trials=500)
        assert (record["performance"] == 1).all()
        assert (record["reaction_time"] == 125).all()
        assert (record["aborts"] == 0).all()


@pytest.mark.slow
def test_with_noise_who_knows_when_to_expect_the_light_is_faster_the_later_it_comes():
    """4 SEs of two times 2,000 presses (SDs below 100 ms) are 13 ms."""
    assert hastening(watched(True)) == pytest.approx(34, abs=13)
    assert hastening(watched(False)) < 8


def test_a_press_at_a_fixed_time_after_the_ready_signal_earns_what_the_page_says():
    """4 SEs of 4,000 trials (SD 0.26): false alarms 6 in 10**5."""

    class Timed(Press):
        """Counts from the ready signal."""

        def __call__(self, env, observations):
            ready = observations[:, env.task.channels["ready"]][:, 0] > 0.5
            self.waited = np.where(ready, 0, self.waited + env.task.dt)
            return (self.waited == self.after) * 1

    found = run(PVT(), Timed(6000), 4000, num_envs=100, seed=1)["performance"].mean()
    assert found == pytest.approx(0.12, abs=0.017)


@pytest.mark.slow
def test_with_noise_presses_take_about_as_long_as_those_of_people():
    """The median of people is about 250 ms; that of the observer is ours."""
    record = watched(True)
    assert 200 <= np.median(record["reaction_time"][record["outcome"] == "correct"]) <= 250


def test_presses_before_the_light_cost_a_tenth_each_and_are_counted():
    class Restless(Press):
        """Presses on every step without a light, and in time."""

        def __call__(self, env, observations):
            light = observations[:, env.task.channels["light"]][:, 0] > 0.5
            return np.where(light, super().__call__(env, observations), 1)

    record = run(PVT(rewards={"abort": -0.4}), Restless(100), 5, seed=1)
    before = record["duration.ready"] + record["duration.wait"]
    np.testing.assert_allclose(record["aborts"], before / 25)
    np.testing.assert_allclose(record["reward"], 1 - 0.4 * before / 100, rtol=1e-6)


def test_a_press_earns_less_the_later_it_comes_and_none_is_a_miss():
    record = run(PVT(), Press(600), 20, seed=1)
    np.testing.assert_allclose(record["performance"], 1 - 500 / 1900)
    assert (run(PVT(price=0.0), Press(600), 20, seed=1)["performance"] == 1).all()
    assert (run(PVT(), "rest", 20, seed=1)["outcome"] == "miss").all()


def test_an_impossible_price_is_refused():
    with pytest.raises(InvalidValueError, match="PVT"):
        PVT(price=2.0)
