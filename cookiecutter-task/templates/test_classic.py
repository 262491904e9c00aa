"""Claims of the task."""

from __future__ import annotations

from typing import Any

import pytest
from neurogym_core import make

TASK = "{{ cookiecutter.lab }}/{{ cookiecutter.task_name }}-v0"


def play(side, choice, early=0):
    """Return the rewards of a trial with the action `early` on the first step."""
    env: Any = make(TASK)
    env.reset(seed=1, options={"conditions": {"side": side}})
    rewards = [env.step(early)[1]]
    for _ in range(30):
        *_, info = step = env.step(choice if env.unwrapped.in_period("decision") else 0)
        rewards.append(step[1])
        if info["new_trial"]:
            return rewards
    raise AssertionError("the trial never ended")


@pytest.mark.parametrize("side", [0, 1])
def test_choosing_the_side_of_the_light_is_correct_and_the_other_side_an_error(side):
    assert sum(play(side, 1 + side)) == 1.0
    assert sum(play(side, 2 - side)) == 0.0


def test_choosing_during_fixation_costs():
    assert play(0, 1, early=1)[0] == -0.1
