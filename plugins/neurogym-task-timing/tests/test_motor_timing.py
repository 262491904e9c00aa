"""MotorTiming: two intervals, two effectors, a Set of at least one step."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_timing.motor_timing import MotorTiming

from neurogym_core import InvalidValueError, TaskEnv

EYE, HAND = 1, 2


def produce(ms: float, action: int, **conditions) -> dict:
    """The record of a trial in which the subject acts so many ms after the onset of Set."""
    env = TaskEnv(MotorTiming(dt=10))
    env.reset(seed=1, options={"conditions": conditions})
    elapsed = 0.0
    while True:
        elapsed += 10 if env.period == "production" else 0
        *_, info = env.step(action if elapsed and elapsed >= ms else 0)
        if info["new_trial"]:
            return info["trial"]


def test_the_four_combinations_are_interleaved():
    """400 trials: each 100 expected, SD 8.7; the limits are 5 SD."""
    drawn = MotorTiming().sample(400, seed=1).conditions
    for interval in ("short", "long"):
        for effector in ("eye", "hand"):
            assert (
                56 < ((drawn["interval"] == interval) & (drawn["effector"] == effector)).sum() < 144
            )


@pytest.mark.parametrize("dt", [10, 20, 80, 100, 200])
def test_set_is_seen_in_every_trial_with_the_onset_of_production(dt):
    task = MotorTiming(dt=dt)
    batch = task.sample(50, seed=2)
    shown = batch.shown[:, :, task.channels["set"]][..., 0] * batch.duration
    steps = max(int(50 / dt + 0.5), 1)
    np.testing.assert_array_equal(shown.sum(axis=1), steps)
    first = np.flatnonzero(batch.period == batch.period_names.index("production"))[0]
    np.testing.assert_array_equal(shown[:, first], steps)


@pytest.mark.parametrize("effector", ["eye", "hand"])
@pytest.mark.parametrize(("interval", "ms"), [("short", 800), ("long", 1500)])
def test_only_the_cued_interval_and_effector_are_rewarded(interval, ms, effector):
    conditions = {"interval": interval, "effector": effector}
    right, wrong = (EYE, HAND) if effector == "eye" else (HAND, EYE)
    trial = produce(ms, right, **conditions)
    assert (trial["outcome"], trial["reward"], trial["reaction_time"]) == ("correct", 1, ms)
    assert trial["wanted"] == ms
    assert produce(ms, wrong, **conditions)["outcome"] == "error"
    other = 2300 - ms  # the other interval
    late = produce(other, right, **conditions)
    assert (late["outcome"], late["reward"]) == ("error", 0)


@pytest.mark.parametrize(
    ("ms", "reward"),
    [(770, (1 - 30 / 64) ** 1.5), (830, (1 - 30 / 64) ** 1.5), (860, 0.1), (870, 0)],
)
def test_the_reward_falls_with_the_error(ms, reward):
    assert produce(ms, EYE, interval="short", effector="eye")["reward"] == pytest.approx(reward)


def test_cues_show_interval_and_effector_from_their_onset_on():
    task = MotorTiming()
    batch = task.sample(40, seed=3)
    for channel, names in (("interval", ("short", "long")), ("effector", ("eye", "hand"))):
        shown = batch.shown[:, :, task.channels[channel]]
        wanted = np.stack([batch.conditions[channel] == name for name in names], axis=1)
        for p, period in enumerate(batch.period_names):
            for segment in np.flatnonzero(batch.period == p):
                np.testing.assert_array_equal(shown[:, segment], wanted * (period != "fixation"))


def test_intervals_in_the_wrong_order_are_refused():
    with pytest.raises(InvalidValueError, match="shorter one first"):
        MotorTiming(short=1500, long=800)
