"""Claims of the task."""

from __future__ import annotations

import numpy as np
from neurogym_core import make_task, run

TASK = "{{ cookiecutter.lab }}/{{ cookiecutter.task_name }}-v0"


def test_the_oracle_is_always_correct():
    assert (run(TASK, "oracle", 200, seed=1)["outcome"] == "correct").all()


def test_blocks_favour_one_side_and_then_the_other():
    block = 12
    record = run(make_task(TASK, bias=1.0, block=block), "oracle", 4 * block, num_envs=1, seed=1)
    sides = np.asarray(record["side"]).reshape(4, block)
    assert (sides == sides[:, :1]).all()
    assert (sides[1:, 0] != sides[:-1, 0]).all()


def test_both_sides_are_equally_frequent():
    # 4000 trials in 20 sessions. Blocks are balanced within a session, so that the fraction differs
    # from 0.5 by more than 0.05 with a probability below 1e-9.
    sides = run(TASK, "oracle", 4000, num_envs=20, seed=1)["side"]
    assert abs(np.mean(sides == "left") - 0.5) < 0.05
