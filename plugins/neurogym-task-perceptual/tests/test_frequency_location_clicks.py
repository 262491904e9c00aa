"""Pulses with two features, one of which counts."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_perceptual.frequency_location_clicks import KINDS, FrequencyLocationClicks
from neurogym_task_perceptual.observers import PulseCounter

from neurogym_core import InvalidValueError, run
from neurogym_core.tools import find_task

IDEAL = 0.874


def earned(subject, trials=10_000, **given):
    record = run(FrequencyLocationClicks(**given), subject, trials, num_envs=200, seed=1)
    return record["performance"].mean()


def test_both_features_have_their_rates_and_do_not_depend_on_each_other():
    """About 2,600 s of pulses, 52 of a trial; false alarms below 1 in 10**5."""
    drawn = FrequencyLocationClicks(misheard=0.0).sample(2000, seed=1).conditions
    counts = {kind: drawn[kind].sum(axis=1) for kind in KINDS}
    total = sum(counts.values())
    assert total.mean() == pytest.approx(52, abs=5 * np.sqrt(52 / 2000))
    right = counts["right_low"] + counts["right_high"]
    high = counts["left_high"] + counts["right_high"]
    for found, name in ((right, "right"), (high, "high")):
        off = found - drawn[name] * 1.3
        assert abs(off.sum()) < 5 * np.sqrt((drawn[name] * 1.3).sum())
    both = total * (right / total) * (high / total)
    assert abs((counts["right_high"] - both).mean()) < 5 * np.sqrt(3.5 / 2000)


def test_noise_brings_the_rates_of_both_features_closer_to_one_half():
    task = FrequencyLocationClicks()
    drawn = task.sample(2000, seed=1, right=39, high=1).conditions
    heard = [drawn[kind].sum() / 2000 / 52 for kind in KINDS]
    side, pitch = 0.35 + 0.3 * 39 / 40, 0.35 + 0.3 / 40
    expected = [(1 - side) * (1 - pitch), (1 - side) * pitch, side * (1 - pitch), side * pitch]
    np.testing.assert_allclose(heard, expected, atol=5 * np.sqrt(0.4 / 2000 / 52))


def test_the_cue_says_which_rate_is_right():
    record = run(FrequencyLocationClicks(), "oracle", 300, seed=2)
    located = record["context"] == "location"
    rate = np.where(located, record["right"], record["high"])
    np.testing.assert_array_equal(record["choice"], np.where(rate > 20, "right", "left"))
    assert 0.3 < located.mean() < 0.7


@pytest.mark.parametrize("dt", [10, 50])
def test_pulses_are_heard_on_their_units(dt):
    task = FrequencyLocationClicks(dt=dt)
    batch = task.sample(5, seed=3)
    seen = batch.render(None).reshape(5, -1, 7)
    start, stop = 1000 // dt, 2300 // dt
    for unit, kind in enumerate(KINDS):
        heard = seen[:, :, task.channels["stimulus"]][:, :, unit]
        np.testing.assert_array_equal(heard[:, start:stop], batch.conditions[kind])
        assert not heard[:, :start].any()
        assert not heard[:, stop:].any()


def test_the_ideal_observer_reaches_the_ideal_of_the_manifest():
    """4,000 trials: 4 SEs."""
    assert find_task("perceptual/FrequencyLocationClicks-v0").ideal["value"] == IDEAL
    assert earned(PulseCounter(), 4000) == pytest.approx(IDEAL, abs=0.021)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        (PulseCounter("location"), 0.687),
        (PulseCounter("frequency"), 0.687),
        (PulseCounter("stronger"), 0.72),
    ],
)
def test_counters_that_ignore_the_cue_earn_what_the_page_says(subject, expected):
    """10,000 trials: 4 SEs."""
    assert earned(subject) == pytest.approx(expected, abs=0.02)


def test_single_env_and_vector_env_agree(same_in_both):
    same_in_both(FrequencyLocationClicks(dt=50))


@pytest.mark.parametrize(
    "wrong", [{"rates": ()}, {"rates": (20,)}, {"rates": (41,)}, {"misheard": 0.5}]
)
def test_impossible_parameters_are_refused(wrong):
    with pytest.raises(InvalidValueError, match="FrequencyLocationClicks"):
        FrequencyLocationClicks(**wrong)
