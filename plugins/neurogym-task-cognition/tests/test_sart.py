"""SART: presses at all digits but one, and errors that a drifting attention announces."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from neurogym_task_cognition.observers import BestPress, Drifter
from neurogym_task_cognition.sart import SART

from neurogym_core import InvalidValueError, run

TRIALS = 22_500  # 100 sessions


@cache
def drifted(stays):
    return run(SART(), Drifter(stays), TRIALS, num_envs=100, seed=1)


def faster_before_errors(record):
    """Mean reaction time of the last four presses, before rests at the 3 minus before errors."""
    times = {True: [], False: []}
    for env in np.unique(record["env"]):
        rows = record["env"] == env
        digit, time = record["digit"][rows], record["reaction_time"][rows]
        pressed = record["choice"][rows] == "press"
        for k in np.flatnonzero(digit == 3):
            last = np.arange(k)[digit[:k] != 3][-4:]
            if len(last) == 4:
                times[bool(pressed[k])].append(time[last].mean())
    return np.mean(times[False]) - np.mean(times[True])


def test_a_digit_is_shown_for_250_ms_and_a_mask_for_900():
    task = SART()
    seen = task.sample(1, seed=1, digit=7).render(None)
    shown = seen[:, task.channels["digit"]]
    np.testing.assert_array_equal(shown.any(axis=1), np.arange(23) < 5)
    assert (shown.argmax(axis=1)[:5] == 6).all()
    np.testing.assert_array_equal(seen[:, task.channels["mask"]][:, 0], np.arange(23) >= 5)


def test_a_session_has_225_digits_each_equally_likely_and_independent():
    """5 SEs of 22,500 trials, or of 2,500: false alarms 1 in 10**5 each."""
    record = drifted(0.9)
    assert np.unique(record["session"]).size == 1
    digits = np.stack([record["digit"][record["env"] == env] for env in range(100)])
    assert digits.shape == (100, 225)
    for digit in range(1, 10):
        assert (digits == digit).mean() == pytest.approx(1 / 9, abs=0.011)
    again = (digits[:, 1:] == 3)[digits[:, :-1] == 3].mean()
    assert again == pytest.approx(1 / 9, abs=0.032)


def test_the_ideal_observer_earns_1():
    record = run(SART(), BestPress(), 2000, num_envs=20, seed=1)
    assert (record["performance"] == 1).all()
    assert (record["choice"][record["digit"] == 3] == "none").all()


class Always(BestPress):
    """Presses at once, whatever the digit."""

    def __call__(self, env, observations):
        return observations[:, env.task.channels["digit"]].any(axis=1) * 1


def test_always_going_earns_what_the_page_says():
    """4 SEs of 9,000 trials: false alarms 6 in 10**5."""
    record = run(SART(), Always(), 9000, num_envs=100, seed=1)
    assert record["performance"].mean() == pytest.approx(0.889, abs=0.0135)
    assert (record["outcome"][record["digit"] == 3] == "error").all()


def test_presses_before_errors_are_faster_if_attention_is_elsewhere_for_long():
    """4 SEs of about 700 and 1,700 means of four times (SDs below 45 ms) are 8 ms."""
    lasting, single = drifted(0.9), drifted(0.3)
    for record in (lasting, single):
        commissions = record["choice"][record["digit"] == 3] == "press"
        assert commissions.mean() == pytest.approx(0.3, abs=0.06)
    assert faster_before_errors(lasting) == pytest.approx(64, abs=8)
    assert abs(faster_before_errors(single)) < 8


def test_a_press_earns_less_the_later_it_comes():
    record = drifted(0.9)
    right = (record["digit"] != 3) & (record["outcome"] == "correct")
    early, late = (right & (record["reaction_time"] == ms) for ms in (250, 350))
    np.testing.assert_allclose(record["reward"][early], 1 - 0.5 * 200 / 1150)
    np.testing.assert_allclose(record["reward"][late], 1 - 0.5 * 300 / 1150)
    assert (run(SART(price=0.0), "late_oracle", 50, seed=1)["reward"] == 1).all()


def test_a_press_does_not_change_the_pace():
    record = run(SART(), "oracle", 50, seed=1)
    np.testing.assert_allclose(record["steps"], 1150 / 50)


def test_an_impossible_price_is_refused():
    with pytest.raises(InvalidValueError, match="SART"):
        SART(price=2.0)
