"""Claims of the task."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_core import make, run

TASK = "{{ cookiecutter.lab }}/{{ cookiecutter.task_name }}-v0"


def test_the_oracle_has_perfect_performance():
    assert run(TASK, "oracle", 50, seed=1)["performance"].mean() == pytest.approx(1.0)


def test_the_point_drifts_away_if_the_subject_rests():
    assert run(TASK, "rest", 50, seed=1)["performance"].mean() < 0.5


def test_the_first_push_is_the_answer():
    record = run(TASK, "random", 200, seed=1)
    right = record["choice"] == np.where(record["drift"] > 0, "down", "up")
    assert (right == (record["outcome"] == "correct")).all()
    assert (record["reaction_time"] >= 100).all()


@pytest.mark.parametrize(("action", "expected"), [(0, 0.2), (1, 0.0), (2, 0.4)])
def test_drift_and_push_move_the_point(action, expected):
    env = make(TASK, conditions={"drift": 0.2})
    env.reset(seed=1)
    observation, *_ = env.step(action)
    np.testing.assert_allclose(observation, [expected], atol=1e-6)
