"""PostDecisionWager: directions, the sure target, and the reward of each."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_perceptual.post_decision_wager import PostDecisionWager

from neurogym_core import TaskEnv

SURE = 3


def answer(task: PostDecisionWager, action: int, **conditions) -> tuple[dict, float]:
    """Record and last reward of a trial with one action, after the go cue."""
    env = TaskEnv(task)
    env.reset(seed=1, options={"conditions": conditions})
    while env.period != "decision":
        env.step(0)
    paid = None
    while True:
        _, reward, *_, info = env.step(action)
        paid = reward if paid is None else paid
        if info["new_trial"]:
            return info["trial"], paid


@pytest.mark.parametrize("dt", [10, 20, 100])
def test_oracle_is_always_right_and_paid_in_full(oracle, dt):
    trials = oracle(PostDecisionWager(dt=dt), 60)
    assert {trial["wager"] for trial in trials} == {"offered", "withheld"}
    assert all(trial["performance"] == 1 and trial["reward"] == 1 for trial in trials)


@pytest.mark.parametrize("wager", ["offered", "withheld"])
@pytest.mark.parametrize("direction", [0, 1])
def test_each_answer_can_be_right_and_wrong(direction, wager):
    """Actions, targets and rewards use the same numbers, so each direction can be correct."""
    for choice in (0, 1):
        trial, paid = answer(PostDecisionWager(), 1 + choice, direction=direction, wager=wager)
        right = choice == direction
        assert (trial["choice"], trial["outcome"], paid) == (
            ("right", "left")[choice],
            "correct" if right else "error",
            float(right),
        )
        assert trial["performance"] == float(right)


def test_both_answers_are_asked_for():
    batch = PostDecisionWager().sample(200, seed=2)
    decision = batch.target[:, batch.period == batch.period_names.index("decision")]
    assert set(decision.ravel()) == {1, 2}
    np.testing.assert_array_equal(decision[:, 0] - 1, batch.conditions["direction"])


def test_the_sure_target_pays_less_and_is_neither_right_nor_wrong():
    trial, paid = answer(PostDecisionWager(), SURE, wager="offered")
    assert (trial["choice"], trial["outcome"], paid) == ("sure", "other", 0.8)
    assert trial["performance"] == pytest.approx(0.8)


def test_a_sure_target_that_is_not_offered_is_no_answer():
    trial, paid = answer(PostDecisionWager(), SURE, wager="withheld")
    assert paid == -0.1
    assert (trial["choice"], trial["outcome"], trial["performance"]) == ("none", "miss", 0)


def test_the_reward_of_the_sure_target_can_be_set():
    assert answer(PostDecisionWager(rewards={"sure": 0.5}), SURE, wager="offered")[1] == 0.5


@pytest.mark.parametrize("dt", [10, 20, 100])
def test_the_sure_target_appears_within_the_delay_and_stays(dt):
    task = PostDecisionWager(dt=dt)
    batch = task.sample(200, seed=3)
    rendered = batch.render(None)
    bounds = np.cumsum(batch.steps)[:-1]
    for row, obs in enumerate(np.split(rendered, bounds)):
        sure = obs[:, task.channels["sure"]][:, 0]
        if batch.conditions["wager"][row] == "withheld":
            assert (sure == 0).all()
            continue
        spans = {name: (start, stop) for name, start, stop in batch.spans(row)}
        wanted = spans["delay"][0] + int(batch.conditions["sure_onset"][row] / dt + 0.5)
        np.testing.assert_array_equal(np.flatnonzero(sure), np.arange(wanted, spans["decision"][1]))
        assert spans["delay"][0] < wanted < spans["decision"][0]


def test_the_sure_target_says_nothing_about_the_answer():
    """It is offered in half of the trials whatever the direction.

    4 standard errors, false alarms 1 in 10,000.
    """
    drawn = PostDecisionWager().sample(4000, seed=4).conditions
    for direction in (0, 1):
        offered = drawn["wager"][drawn["direction"] == direction] == "offered"
        assert abs(offered.mean() - 0.5) < 4 * 0.5 / np.sqrt(len(offered))


def test_durations_and_conditions_are_those_declared():
    batch = PostDecisionWager(dt=10).sample(3000, seed=5)
    ms = {name: steps * 10 for name, steps in batch.period_steps.items()}
    assert set(ms["fixation"]) == {100}
    assert (ms["stimulus"].min(), ms["delay"].min()) == (100, 1200)
    assert ms["stimulus"].max() <= 900
    assert ms["delay"].max() <= 1800
    assert set(batch.conditions["coherence"]) == {0, 3.2, 6.4, 12.8, 25.6, 51.2}


def test_noise_is_on_the_stimulus_alone():
    task = PostDecisionWager()
    noise = task.sample(50, seed=6).noise
    assert (noise[:, :, task.channels["stimulus"]] > 0).any()
    for name in ("fixation", "sure"):
        assert (noise[:, :, task.channels[name]] == 0).all()


def test_premature_answers_cost():
    env = TaskEnv(PostDecisionWager())
    env.reset(seed=7)
    paid = []
    while env.period != "decision":
        paid.append(env.step(1 + len(paid) % 3)[1])
    assert set(paid) == {-0.1}
