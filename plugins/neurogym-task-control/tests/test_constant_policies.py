"""Subjects that always do the same earn as much as the pages of the tasks say."""

from __future__ import annotations

import numpy as np
import pytest

from neurogym_core import make_task, run


@pytest.mark.parametrize(
    ("name", "action", "earns"),
    [
        ("GoNogo", 0, 0.5),
        ("GoNogo", 1, 0.5),
        ("AntiReach", 5, 1 / 32),
        ("NAltConditionalVisuomotor", 1, 0.5),
        ("ChangingEnvironment", 2, 0.25),
        ("ContextSwitch", 1, 0.5),
        ("StopSignal", 1, 0.375),
        ("StopSignal", 0, 0.25),
        ("CardSorting", 2, 0.25),
    ],
)
def test_one_answer_in_every_trial(name, action, earns):
    """1,500 trials; five SDs of a fraction are at most 6.5 % (false alarms 1 in 10^6)."""
    task = make_task(f"control/{name}-v0")
    rest = task.actions.rest

    def subject(env, observations):
        answer = np.full(env.num_envs, action)
        return answer if rest is None else np.where(env.is_asked, answer, rest)

    record = run(task, subject, 1500, num_envs=50, seed=1)
    assert record["performance"].mean() == pytest.approx(earns, abs=0.065)


def test_the_same_rule_and_side_earn_as_much_as_guessing():
    """1,500 trials; the SD of a trial is 0.415, so five SEs are 0.054."""
    task = make_task("control/HierarchicalReasoning-v0", dt=100, weber=0)

    def subject(env, observations):
        period = np.asarray(env.period)
        return np.select([period == "rule_report", period == "decision"], [1, 3], 0)

    record = run(task, subject, 1500, num_envs=50, seed=1)
    assert record["performance"].mean() == pytest.approx(0.375, abs=0.054)


def test_the_last_revealed_context_is_right_in_nine_of_ten_trials():
    """5,000 trials, five SDs are 2.1 %."""
    task = make_task("control/ContextSwitch-v0")
    record = run(task, "oracle", 5000, num_envs=50, seed=1)
    other = record["context"].reshape(50, -1) == "other"
    assert np.mean(other[:, 1:] == other[:, :-1]) == pytest.approx(0.9, abs=0.03)
