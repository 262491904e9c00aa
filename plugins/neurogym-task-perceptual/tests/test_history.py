"""Blocks of repeating and alternating answers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from neurogym_task_perceptual.history import (
    HistoryNAltPerceptualDecisionMaking,
    HistoryPerceptualDecisionMaking,
    PriorBlocks,
)

from neurogym_core import Dataset, InvalidValueError, TaskEnv, run
from neurogym_core.players import TaskView

KINDS = [HistoryPerceptualDecisionMaking, PriorBlocks]


def drawn(task, sessions: int, trials: int, seed: int = 1) -> dict:
    """Conditions of parallel sessions, name -> (trials, sessions)."""
    rng = np.random.default_rng(seed)
    session = TaskView(task).fresh_session(rng, sessions)
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
    """About 4,000 transitions in each type of block: 5 SD, false alarms below 1 in a million."""
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
    np.testing.assert_allclose(
        np.bincount(step.ravel()) / step.size, [0.4, 0.2, 0.2, 0.2], atol=0.03
    )


@pytest.mark.parametrize("kind", KINDS)
def test_every_player_plays_the_drawn_history(kind):
    task = kind(p_repeat=(1.0, 0.0), block_length=10, trials_per_session=40)
    record = run(task, "rest", n_trials=40, num_envs=1, seed=2)
    check_blocks(record["block"], record.codes("direction"))
    batch = next(iter(Dataset(task, 2, seq_len=40 * TaskView(task).max_steps, seed=3)))
    for row in range(2):
        mine = batch.row == row
        check_blocks(batch.conditions["block"][mine][:40], batch.conditions["direction"][mine][:40])


def check_blocks(block: np.ndarray, direction: np.ndarray) -> None:
    block, repeats = np.asarray(block), np.diff(np.asarray(direction)) == 0
    np.testing.assert_array_equal(block[::10], [block[0], block[10]] * 2)
    np.testing.assert_array_equal(repeats, block[1:] == "repeating")


def test_imposed_directions_override_the_history():
    env = TaskEnv(PriorBlocks())
    env.reset(seed=4, options={"conditions": {"direction": 1}})
    assert env.conditions["direction"] == 1


def test_early_answers_cost_as_much_as_a_correct_one_earns():
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


def test_with_several_alternatives_a_rule_holds_for_a_block():
    """In all trials of a block, each offered answer has one successor, and all differ.

    40 sessions of 5 blocks.
    """
    task = HistoryNAltPerceptualDecisionMaking(block_length=50)
    conditions = drawn(task, 40, 250)
    np.testing.assert_array_equal(
        conditions["block"], np.repeat(np.arange(5), 50)[:, None] * np.ones(40, int)
    )
    offered, strongest, expected = (
        conditions[name] for name in ("offered", "strongest", "expected")
    )
    assert set(offered.ravel()) == set(range(2, 9))
    assert (strongest < offered).all()
    assert (expected < offered).all()
    for first in range(0, 250, 50):
        block = slice(first + 1, first + 50)
        assert (offered[block] == offered[first]).all()
        for session in range(40):
            pairs = set(
                zip(strongest[first : first + 49, session], expected[block, session], strict=True)
            )
            assert (
                len(pairs)
                == len({before for before, _ in pairs})
                == len({after for _, after in pairs})
            )


def test_the_expected_answer_comes_with_the_probability_that_was_given():
    """10,000 trials: SD 0.003, 5 SD; the others are equally likely."""
    task = HistoryNAltPerceptualDecisionMaking(alternatives=4, fewest=4)
    conditions = drawn(task, 40, 250)
    ahead = (conditions["strongest"] - conditions["expected"]) % 4
    np.testing.assert_allclose(
        np.bincount(ahead.ravel()) / ahead.size, [0.9, 0.1 / 3, 0.1 / 3, 0.1 / 3], atol=0.015
    )


def test_rules_change_with_the_block():
    """With four alternatives one session in 24 keeps its rule by chance; all 40: never."""
    conditions = drawn(
        HistoryNAltPerceptualDecisionMaking(alternatives=4, fewest=4, p_follow=1.0), 40, 200
    )
    before, after = conditions["strongest"][:-1], conditions["expected"][1:]
    changed = 0
    for session in range(40):
        rules = [
            dict(zip(before[b, session], after[b, session], strict=True))
            for b in (slice(0, 99), slice(100, 199))
        ]
        changed += rules[0] != rules[1]
    assert changed > 20


def test_fewer_alternatives_can_be_imposed():
    env = TaskEnv(HistoryNAltPerceptualDecisionMaking())
    env.reset(seed=7, options={"conditions": {"offered": 2}})
    for _ in range(3):
        info = {"new_trial": False}
        while not info["new_trial"]:
            *_, info = env.step(env.target)
        assert info["trial"]["choice"] in ("A", "B")
        assert info["trial"]["outcome"] == "correct"


def test_impossible_rules_are_refused():
    with pytest.raises(InvalidValueError, match="a probability"):
        HistoryNAltPerceptualDecisionMaking(p_follow=1.5)


def test_one_direction_cannot_alternate():
    with pytest.raises(
        InvalidValueError, match="directions=1; repeating and alternating need at least 2"
    ):
        HistoryPerceptualDecisionMaking(directions=1)
