"""Attentional blink and oddball: their streams, windows, and ideals."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from neurogym_task_cognition.attentional_blink import LAGS, LETTERS, AttentionalBlink
from neurogym_task_cognition.observers import BlinkObserver
from neurogym_task_cognition.oddball import Oddball

from neurogym_core import InvalidValueError, run


def letters_of(task, **conditions):
    """The letters of the stream of one trial, -1 for none, and the number of the white one."""
    batch = task.sample(1, seed=1, **conditions)
    shown, each = batch.render(None), round(task.soa / task.dt)
    begin = round(300 / task.dt)
    steps = round(float(batch.period_steps["stream"][0]))
    stream = shown[begin : begin + steps].reshape(-1, each, shown.shape[1])
    assert (stream == stream[:, :1]).all()
    letter = stream[:, 0, task.channels["letter"]]
    white = stream[:, 0, task.channels["white"]][:, 0]
    return np.where(letter.any(axis=1), letter.argmax(axis=1), -1), np.flatnonzero(white)


@pytest.mark.parametrize(("before", "lag"), [(7, 1), (15, LAGS), (10, 3)])
@pytest.mark.parametrize("present", [0, 1])
def test_one_letter_is_white_and_the_x_follows_it_at_the_lag(before, lag, present):
    letters, white = letters_of(
        AttentionalBlink(), before=before, lag=lag, letter=2, present=present
    )
    assert len(letters) == before + 1 + LAGS
    assert white.tolist() == [before]
    assert letters[before] == 2
    assert np.flatnonzero(letters == len(LETTERS)).tolist() == [before + lag] * present


def test_the_observer_of_the_blink_reaches_the_ideal_at_all_lags():
    """4,000 trials: 5 SEs are 0.026 of the mean, and 0.08 of each of 8 lags."""
    record = run(AttentionalBlink(), BlinkObserver(), 4000, num_envs=100, seed=2)
    assert record["performance"].mean() == pytest.approx(0.842, abs=0.026)
    target, probe = (record[f"{slot}.outcome"] == "correct" for slot in ("target", "probe"))
    assert target.mean() == pytest.approx(0.838, abs=0.03)
    for lag in range(1, LAGS + 1):
        assert probe[target & (record["lag"] == lag)].mean() == pytest.approx(0.847, abs=0.09)


def test_windows_of_the_tones_follow_each_other_and_high_ones_ask_for_a_press():
    high = np.zeros((1, 10), bool)
    high[0, [2, 9]] = True
    record = run(Oddball(), "oracle", 1, seed=1, conditions={"high": high[0]})
    pressed = [record[f"tone{k}.choice"][0] != "none" for k in range(10)]
    assert np.flatnonzero(pressed).tolist() == [2, 9]
    assert record["performance"][0] == 1


def test_a_press_is_an_answer_to_the_tone_before_it():
    def late(env, observations):
        late.step += 1
        return np.where(late.step == round(3 * 1100 / 50) - 1, 1, 0) * np.ones(1, int)

    late.step = 0
    record = run(Oddball(), late, 1, seed=1, conditions={"high": np.arange(10) == 2})
    assert record["tone2.outcome"][0] == "correct"
    assert record["tone2.reaction_time"][0] == pytest.approx(1050, abs=50)


def test_the_ideal_of_the_oddball_is_that_of_signal_detection():
    d = (2 * 100) ** 0.5 / Oddball().sigma
    phi, prior = NormalDist().cdf, np.log(9)
    hits, rejections = phi((d**2 / 2 - prior) / d), phi((d**2 / 2 + prior) / d)
    assert 0.1 * hits + 0.9 * rejections == pytest.approx(0.961, abs=0.0006)
    assert (hits, 1 - rejections) == (
        pytest.approx(0.74, abs=0.005),
        pytest.approx(0.014, abs=5e-4),
    )


@pytest.mark.parametrize(
    ("task", "wrong"),
    [(AttentionalBlink, {"soa": 0.0}), (Oddball, {"p_rare": 1.5}), (Oddball, {"duration": 2000.0})],
)
def test_impossible_streams_are_refused(task, wrong):
    with pytest.raises(InvalidValueError, match=next(iter(wrong))):
        task(**wrong)
