"""SelfInitiatedChoice: the trial waits for the subject, and blocks follow its choices."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest
from neurogym_task_value.self_initiated_choice import BLOCKS, CENTRE, SelfInitiatedChoice

from neurogym_core import make, run


def test_a_trial_waits_for_the_poke_and_the_hold_begins_again_after_a_break():
    env = make(SelfInitiatedChoice, timing={"hold": 600}, seed=1, info="full")
    env.reset(seed=1, options={"conditions": {"choice_tone": True}})
    actions = [0] * 30 + [CENTRE] * 4 + [0] * 3 + [CENTRE] * 7 + [2]
    periods = [env.step(action)[4]["period"] for action in actions]
    assert periods == [
        *["ready"] * 31, *["hold"] * 4, *["ready"] * 3, *["hold"] * 6, "choose",
    ]  # fmt: skip
    for _ in range(5):
        *_, info = env.step(0)
    assert info["trial"]["breaks"] == 1
    assert info["trial"]["side.choice"] == "left"
    assert info["trial"]["start.reaction_time"] == 300  # of the last visit


def test_a_subject_that_never_pokes_ends_with_a_miss_and_hears_no_tone():
    env = make(SelfInitiatedChoice, seed=1)
    obs, _ = env.reset(seed=1)
    heard, info = 0.0, {}
    while "trial" not in info:
        heard += obs.sum()
        obs, *_, info = env.step(0)
    assert heard == 0
    assert info["trial"]["outcome"] == "miss"
    assert info["trial"]["steps"] == 600


def test_the_hold_lasts_500_to_1000_ms():
    record = run(SelfInitiatedChoice(), "oracle", 400, num_envs=20, seed=1)
    assert set(record["duration.hold"].tolist()) == {500, 600, 700, 800, 900, 1000}


def test_the_forced_tone_pays_after_a_second_without_a_choice():
    record = run(SelfInitiatedChoice(), "oracle", 200, num_envs=1, seed=1)
    forced = record[~record["choice_tone"]]
    assert (forced["reward"] == 1).all()
    assert (forced.codes("side.choice") == -1).all()
    assert (forced["duration.wait"] == 1000).all()


@pytest.mark.slow
@pytest.mark.parametrize("block", range(4))
def test_holes_pay_with_the_probabilities_of_the_block(block):
    """False alarms: below 1e-3 (3.5 standard errors of about 800 choices)."""
    task = SelfInitiatedChoice(conditions={"block": block, "choice_tone": True})
    record = run(task, "oracle", 800, num_envs=40, seed=2)
    p = max(BLOCKS[block])
    assert abs(record["reward"].mean() - p) < 3.5 * np.sqrt(p * (1 - p) / 800)


@pytest.mark.slow
@pytest.mark.parametrize("num_envs", [1, 4])
def test_blocks_change_when_16_of_the_last_20_choices_were_better(num_envs):
    record = run(SelfInitiatedChoice(), Mixed(), 250 * num_envs, num_envs=num_envs, seed=3)
    for subject in range(num_envs):
        mine = record[record["subject"] == subject]
        better, changes, session = deque(maxlen=20), 0, 0
        for trial, row in enumerate(mine.rows()):
            if row["session"] != session:
                better.clear()
                changes, session = 0, row["session"]
            elif len(better) == 20 and sum(better) >= 16:
                better.clear()
                changes += 1
                assert row["block"] != mine["block"][trial - 1]
            assert row["changes"] == changes
            if row["choice_tone"] and row["side.choice"] != "none":
                best = ("left", "right")[np.argmax(BLOCKS[row["block"]])]
                better.append(row["side.choice"] == best)
        assert mine["changes"].max() > 0


def test_performance_is_that_of_the_choice_and_not_of_the_start():
    task = SelfInitiatedChoice(conditions={"block": 3, "choice_tone": True})
    record = run(task, Left(), 50, num_envs=1, seed=1)
    assert set(record["start.outcome"]) == {"correct"}
    np.testing.assert_allclose(record["performance"], 0.1 / 0.5)


class Left:
    """Starts trials, and chooses the left hole."""

    def __call__(self, env, observations):
        return np.where(env.target >= 2, 2, env.target)


class Mixed:
    """Plays the target, but one choice in eight goes to the other side."""

    def __init__(self):
        self.rng = np.random.default_rng(1)

    def __call__(self, env, observations):
        target = env.target
        other = np.where(target >= 2, 5 - target, target)
        return np.where(self.rng.random(env.num_envs) < 0.125, other, target)


def test_events_are_the_broken_holds():
    record = run(SelfInitiatedChoice(), "random", 20, seed=1)
    assert (np.bincount(record.events["trial"], minlength=20) == record["breaks"]).all()
    assert record["breaks"].sum() > 20
