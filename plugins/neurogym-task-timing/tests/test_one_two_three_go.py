"""OneTwoThreeGo and OneTwoGo: flashes in a rhythm, and one rewarded time."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_timing.one_two_three_go import OneTwoGo, OneTwoThreeGo

from neurogym_core import InvalidValueError, TaskEnv


@pytest.mark.parametrize("dt", [10, 20, 80, 100])
@pytest.mark.parametrize(("kind", "flashes"), [(OneTwoThreeGo, 3), (OneTwoGo, 2)])
def test_flashes_come_at_equal_intervals(kind, flashes, dt):
    task = kind(dt=dt, weber=0)
    batch = task.sample(40, seed=1)
    for row, obs in enumerate(np.split(batch.render(None), np.cumsum(batch.steps)[:-1])):
        flash = obs[:, task.channels["flash"]][:, 0]
        onsets = np.flatnonzero(np.diff(flash, prepend=0) == 1)
        assert len(onsets) == flashes
        interval = batch.notes["wanted"][row] / dt
        np.testing.assert_array_equal(np.diff(onsets), interval)
        assert abs(interval * dt - batch.conditions["interval"][row]) <= dt / 2
        np.testing.assert_array_equal(
            np.flatnonzero(obs[:, 0] == 0), np.arange(onsets[-1], len(obs))
        )


def test_intervals_are_the_five_of_the_paper():
    assert set(OneTwoThreeGo().sample(200, seed=2).conditions["interval"]) == {
        600,
        700,
        800,
        900,
        1000,
    }


@pytest.mark.parametrize(
    ("ms", "outcome", "reward"),
    [
        (800, "correct", 1.0),
        (770, "correct", (1 - 30 / 64) ** 1.5),
        (860, "correct", 0.1),
        (870, "error", 0),
        (100, "error", 0),
    ],
)
def test_reward_is_at_the_fourth_beat_and_not_all_the_time(ms, outcome, reward):
    env = TaskEnv(OneTwoThreeGo(dt=10))
    env.reset(seed=3, options={"conditions": {"interval": 800}})
    elapsed = 0
    while True:
        elapsed += 10 * (env.period == "production")
        *_, info = env.step(int(elapsed >= ms))
        if info["new_trial"]:
            break
    assert info["trial"]["outcome"] == outcome
    assert info["trial"]["reward"] == pytest.approx(reward)


def test_flashes_that_would_run_together_are_refused():
    with pytest.raises(InvalidValueError, match="longer than a flash"):
        OneTwoThreeGo(intervals=(100, 600))
