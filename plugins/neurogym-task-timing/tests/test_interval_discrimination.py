"""IntervalDiscrimination: the paper's durations, no ties, both answers equally often."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_timing.interval_discrimination import IntervalDiscrimination
from neurogym_task_timing.observers import LongerOne

from neurogym_core import InvalidValueError, run
from neurogym_core.players import TaskView


@pytest.mark.parametrize("dt", [10, 20, 80, 100])
def test_durations_are_the_papers_and_never_tie(dt):
    batch = IntervalDiscrimination(dt=dt, weber=0).sample(600, seed=1)
    assert set(batch.conditions["durations"].ravel()) == {200, 400, 600, 800, 1000, 1200}
    assert (batch.period_steps["first"] != batch.period_steps["second"]).all()
    for name, durations in (("first", 0), ("second", 1)):
        np.testing.assert_allclose(
            batch.period_steps[name] * dt, batch.conditions["durations"][:, durations], atol=dt / 2
        )


def test_delays_are_the_papers():
    batch = IntervalDiscrimination(dt=100).sample(300, seed=2)
    assert set(batch.period_steps["delay1"]) == {4, 8}
    assert set(batch.period_steps["delay2"]) == {0, 4, 8}
    assert (batch.period_steps["fixation"].min(), batch.period_steps["fixation"].max()) == (4, 8)


def test_the_side_of_the_colour_that_lasted_longer_is_right():
    """Read from the observations: count the steps of each colour, then find its side."""
    task = IntervalDiscrimination(weber=0)
    batch = task.sample(200, seed=3)
    obs = np.split(batch.render(None), np.cumsum(batch.steps)[:-1])
    targets = np.split(batch.render_targets(), np.cumsum(batch.steps)[:-1])
    for seen, target in zip(obs, targets, strict=True):
        longer = seen[:, task.channels["stimulus"]].sum(axis=0).argmax()
        left, right = seen[-1, task.channels["left"]], seen[-1, task.channels["right"]]
        assert left.argmax() != right.argmax()
        assert target[-1] - 1 == (right.argmax() == longer)


def test_both_answers_are_equally_common_whatever_order_and_colour():
    """3,000 trials: shares within 0.05 of a half, more than 5 SD."""
    task = IntervalDiscrimination()
    drawn = task.draw_conditions(np.random.default_rng(4), 3000)
    first_longer = drawn["durations"][:, 0] > drawn["durations"][:, 1]
    for share in (
        first_longer,
        TaskView(task).answer(drawn),
        (drawn["first_colour"] == "red") == first_longer,
    ):
        assert abs(np.mean(share) - 0.5) < 0.05


def test_an_imposed_duration_is_the_one_that_counts(oracle):
    options = {"conditions": {"duration.first": 700, "durations": (400, 600)}}
    for trial in oracle(IntervalDiscrimination(), 5, options=options):
        assert trial["duration.first"] == 700
        red_longer = trial["first_colour"] == "red"
        red_right = trial["red_side"] == "right"
        assert trial["choice"] == ("right" if red_longer == red_right else "left")


def test_lengths_that_are_the_same_number_of_steps_are_refused():
    with pytest.raises(InvalidValueError, match="differ by a step"):
        IntervalDiscrimination(lengths=(200, 220), dt=100)


def test_imposed_answers_are_honoured():
    task = IntervalDiscrimination()
    wanted = np.arange(60) % 2
    drawn = task.draw_conditions(np.random.default_rng(5), 60, correct_choice=wanted)
    np.testing.assert_array_equal(task.sample(drawn, seed=6).target[:, -1] - 1, wanted)


def test_an_observer_that_counts_the_steps_of_both_stimuli_is_limited_by_their_noise():
    """4,000 trials; five SEs are 0.02: false alarms 1 in 10**6."""
    noisy = run(IntervalDiscrimination(), LongerOne(), 4000, num_envs=100, seed=1)
    assert noisy["performance"].mean() == pytest.approx(0.937, abs=0.02)
    exact = run(IntervalDiscrimination(weber=0), LongerOne(), 1000, num_envs=100, seed=1)
    assert exact["performance"].mean() == 1
