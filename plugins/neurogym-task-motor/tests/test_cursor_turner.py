"""Cursor and angles are shown without noise: a subject that sees only them reaches the ideal."""

from __future__ import annotations

import pytest
from neurogym_task_motor.angle_reproduction import AngleReproduction
from neurogym_task_motor.observers import CursorTurner
from neurogym_task_motor.reaching_1d import Reaching1D, Reaching1DWithSelfDistraction

from neurogym_core import run


@pytest.mark.parametrize("task", [Reaching1D, Reaching1DWithSelfDistraction, AngleReproduction])
def test_turning_the_shorter_way_to_what_is_shown_is_the_best_policy(task):
    record = run(task(), CursorTurner(), 200, num_envs=20, seed=1)
    assert record["performance"].min() > 0.99
    assert set(record["outcome"]) == {"correct"}


def test_it_reads_the_observations():
    """Without the signal of the target it has nothing to turn to."""
    hidden = Reaching1DWithSelfDistraction(share=0)
    assert run(hidden, CursorTurner(), 200, num_envs=20, seed=1)["performance"].mean() < 0.3
