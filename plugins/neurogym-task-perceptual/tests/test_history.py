"""Blocks of repeating and alternating answers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from neurogym_task_perceptual.history import HistoryPerceptualDecisionMaking, PriorBlocks

from neurogym_core import Dataset, TaskEnv, run
from neurogym_core.errors import InvalidValueError

KINDS = [HistoryPerceptualDecisionMaking, PriorBlocks]


def drawn(task, sessions: int, trials: int, seed: int = 1) -> dict:
    """Conditions of some sessions drawn side by side, name -> (trials, sessions)."""
    rng = np.random.default_rng(seed)
    session = task.fresh_session(rng, sessions)
    return task.draw_ahead(session, rng, trials)


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_last_200_trials_and_take_turns(kind):
    block = drawn(kind(), 40, 400)["block"]
    for part in (block[:200], block[200:]):
        assert (part == part[0]).all()
    assert (block[0] != block[200]).all()
    assert set(block[0]) == {"repeating", "alternating"}  # all 40 alike: 2 in 10^12


@pytest.mark.parametrize("kind", KINDS)
def test_answers_repeat_as_often_as_the_block_says(kind):
    """About 4,000 transitions in each kind of block: 5 SD, false alarms below 1 in a million."""
    conditions = drawn(kind(), 40, 200)
    repeats = conditions["direction"][1:] == conditions["direction"][:-1]
    for block, p in (("repeating", 0.8), ("alternating", 0.2)):
        mine = repeats[conditions["block"][1:] == block]
        assert abs(mine.mean() - p) < 5 * math.sqrt(p * (1 - p) / len(mine))
    assert 0.4 < conditions["direction"].mean() < 0.6


def test_with_more_directions_the_others_are_equally_likely():
    """8,000 transitions: shares within 0.03, more than 5 SD."""
    conditions = drawn(HistoryPerceptualDecisionMaking(directions=4, p_repeat=(0.4, 0.4)), 40, 200)
    step = (conditions["direction"][1:] - conditions["direction"][:-1]) % 4
    np.testing.assert_allclose(np.bincount(step.ravel()) / step.size, [0.4, 0.2, 0.2, 0.2], atol=0.03)


@pytest.mark.parametrize("kind", KINDS)
def test_history_is_what_is_played_in_every_player(kind):
    task = kind(p_repeat=(1.0, 0.0), block_length=10, trials_per_session=40)
    record = run(task, "rest", n_trials=40, num_envs=1, seed=2)
    check_blocks(record["block"], record["direction"])
    batch = next(iter(Dataset(task, 2, seq_len=40 * task.max_steps, seed=3)))
    for row in range(2):
        mine = batch.row == row
        check_blocks(batch.conditions["block"][mine][:40], batch.conditions["direction"][mine][:40])


def check_blocks(block: np.ndarray, direction: np.ndarray) -> None:
    block, repeats = np.asarray(block), np.diff(np.asarray(direction)) == 0
    np.testing.assert_array_equal(block[::10], [block[0], block[10]] * 2)
    np.testing.assert_array_equal(repeats, block[1:] == "repeating")


def test_imposed_directions_win():
    env = TaskEnv(PriorBlocks())
    env.reset(seed=4, options={"conditions": {"direction": 1}})
    assert env.trial["direction"] == 1


def test_early_answers_cost_as_much_as_a_right_one_pays():
    env = TaskEnv(HistoryPerceptualDecisionMaking())
    env.reset(seed=5)
    assert env.step(1)[1] == -1


def test_the_streams_have_the_means_and_the_sd_that_were_published():
    task = PriorBlocks(dt=100)
    batch = task.sample(300, seed=6)
    shown = batch.shown[:, batch.period == 1][:, 0][:, task.channels["stimulus"]]
    np.testing.assert_array_equal(shown.argmax(axis=1), batch.conditions["direction"])
    np.testing.assert_allclose(shown.max(axis=1), 1)
    assert 0.5 <= shown.min() < 0.52
    noise = np.broadcast_to(batch.noise, batch.shown.shape)[:, batch.period == 1]
    np.testing.assert_allclose(noise[:, :, task.channels["stimulus"]], 1)


def test_impossible_blocks_are_refused():
    with pytest.raises(InvalidValueError, match="two probabilities"):
        PriorBlocks(p_repeat=(1.2, 0.1))
    with pytest.raises(InvalidValueError, match="at least one trial"):
        HistoryPerceptualDecisionMaking(block_length=0)
