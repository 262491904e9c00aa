"""What the task claims."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_core import make, run

TASK = "{{ cookiecutter.lab }}/{{ cookiecutter.task_name }}-v0"


def test_a_subject_that_knows_the_targets_earns_all_there_is():
    assert run(TASK, "oracle", 50, seed=1)["performance"].mean() == pytest.approx(1.0)


def test_doing_nothing_lets_the_point_drift_away():
    assert run(TASK, "rest", 50, seed=1)["performance"].mean() < 0.5


@pytest.mark.parametrize(("action", "expected"), [(0, 0.2), (1, 0.0), (2, 0.4)])
def test_the_point_moves_by_its_drift_and_the_push(action, expected):
    env = make(TASK, conditions={"drift": 0.2})
    env.reset(seed=1)
    observation, *_ = env.step(action)
    np.testing.assert_allclose(observation, [expected], atol=1e-6)
