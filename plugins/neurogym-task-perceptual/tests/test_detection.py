"""Detection: pulses at random times, correct withholding, equal noise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from neurogym_task_perceptual.detection import Detection

from neurogym_core import TaskEnv

GO = 1


def options(**conditions) -> dict:
    return {"conditions": conditions}


@pytest.mark.parametrize("dt", [10, 20, 100])
def test_oracle_is_always_right_and_paid_in_full(oracle, dt):
    trials = oracle(Detection(dt=dt), 50)
    assert {trial["signal"] for trial in trials} == {"present", "absent"}
    assert all(trial["performance"] == 1 and trial["reward"] == 1 for trial in trials)


def test_withholding_without_a_signal_is_correct_and_paid(constant):
    for trial in constant(Detection(), 0, 20, options=options(signal="absent")):
        assert (trial["outcome"], trial["performance"], trial["reward"], trial["choice"]) == (
            "correct",
            1,
            1,
            "none",
        )


def test_withholding_with_a_signal_is_a_miss(constant):
    for trial in constant(Detection(), 0, 20, options=options(signal="present")):
        assert (trial["outcome"], trial["performance"], trial["reward"]) == ("miss", 0, -1)


def play_until_go(task: Detection, signal: str, moment: float, go_after: float) -> dict:
    """The record of a trial in which the subject goes so many ms after the onset of the noise."""
    env = TaskEnv(task)
    env.reset(seed=1, options=options(signal=signal, moment=moment))
    elapsed = -task.dt
    while True:
        elapsed += task.dt if env.period == "stimulus" else 0
        *_, info = env.step(GO if elapsed >= go_after else 0)
        if info["new_trial"]:
            return info["trial"]


@pytest.mark.parametrize("dt", [10, 20, 100])
def test_going_is_right_from_the_onset_of_the_pulse_on(dt):
    task = Detection(dt=dt, timing={"stimulus": 1000})
    onset = play_until_go(task, "present", 0.5, 0)["pulse_onset"]
    early = play_until_go(task, "present", 0.5, onset - dt)
    first = play_until_go(task, "present", 0.5, onset)
    last = play_until_go(task, "present", 0.5, 1000 - dt)
    assert (early["outcome"], early["reward"]) == ("error", -1)
    assert (first["outcome"], first["reward"]) == ("correct", 1)
    assert (last["outcome"], last["reward"]) == ("correct", 1)


def test_going_without_a_signal_is_an_error_and_ends_the_trial(constant):
    task = Detection(timing={"fixation": 0})
    for trial in constant(task, GO, 20, options=options(signal="absent")):
        assert (trial["outcome"], trial["reward"], trial["steps"]) == ("error", -1, 1)


@pytest.mark.parametrize("dt", [10, 20, 100])
def test_the_pulse_fits_into_the_noise_and_may_come_at_any_moment(dt):
    task = Detection(dt=dt, timing={"stimulus": 1000})
    batch = task.sample(3000, seed=2, signal="present")
    seen = batch.render(None).reshape(3000, -1, 2)[:, :, 1] > 0
    steps = 100 // dt
    np.testing.assert_array_equal(seen.sum(axis=1), steps)
    onset = seen.argmax(axis=1) - batch.period_steps["fixation"]
    np.testing.assert_array_equal(onset * dt, batch.notes["pulse_onset"])
    possible = 1000 // dt - steps + 1
    assert set(onset) == set(range(possible))
    # All onsets are equally likely; 5 standard errors, false alarms below 1 in 10,000 for 91
    # onsets.
    counts = np.bincount(onset, minlength=possible)
    expected = 3000 / possible
    assert (abs(counts - expected) < 5 * math.sqrt(expected)).all()


def test_noise_has_the_same_variance_with_and_without_a_signal():
    task = Detection(dt=10)
    batch = task.sample(400, seed=3)
    present = batch.conditions["signal"] == "present"
    noise = np.broadcast_to(batch.noise, batch.shown.shape)[:, :, task.channels["stimulus"]]
    noise = noise[:, batch.period == 1]
    played = batch.duration[:, batch.period == 1] > 0
    expected = 1 / math.sqrt(10)
    np.testing.assert_allclose(noise[present][played[present]], expected, rtol=1e-6)
    np.testing.assert_allclose(noise[~present][played[~present]], expected, rtol=1e-6)


def test_rendered_noise_has_the_same_variance_too():
    """Ratio of two variances of about 40,000 values each: 4 standard errors.

    False alarms 6 in 100,000.
    """
    task = Detection(dt=10, strength=0.0, timing={"stimulus": 1000, "fixation": 0})
    variance = {}
    for signal in ("present", "absent"):
        rendered = task.sample(400, seed=4, signal=signal).render(
            np.random.default_rng(5 if signal == "present" else 6)
        )
        variance[signal] = rendered[:, 1].var()
    assert abs(variance["present"] / variance["absent"] - 1) < 4 * math.sqrt(4 / 40_000)


def test_durations_and_conditions_are_those_declared():
    batch = Detection(dt=10).sample(2000, seed=7)
    ms = batch.period_steps["stimulus"] * 10
    assert set(batch.period_steps["fixation"] * 10) == {500}
    assert 500 <= ms.min() < 520
    assert 1480 < ms.max() <= 1500


@pytest.mark.parametrize("stimulus", [10, 50, 100])
def test_noise_shorter_than_the_pulse_is_possible(oracle, stimulus):
    trials = oracle(Detection(dt=10, timing={"stimulus": stimulus}), 40)
    assert all(trial["performance"] == 1 for trial in trials)


def test_single_env_and_vector_env_agree(same_in_both):
    same_in_both(Detection(dt=10))
