"""Ways to play that the tests of this package share."""

from __future__ import annotations

import numpy as np
import pytest

from neurogym_core import Task, TaskEnv, TaskVectorEnv


@pytest.fixture
def same_in_both():
    """Assert that a single env and a vector env of one say the same under random play."""

    def check(task: Task, steps: int = 1000, seed: int = 3) -> None:
        single, vector = TaskEnv(task), TaskVectorEnv(task, 1, autoreset_mode="SameStep")
        a, b = single.reset(seed=seed)[0], vector.reset(seed=seed)[0]
        single.action_space.seed(seed)
        for _ in range(steps):
            np.testing.assert_array_equal(a, b[0])
            np.testing.assert_array_equal(single.target, vector.target[0])
            action = single.action_space.sample()
            a, reward, *_, over, info = single.step(action)
            b, rewards, *_, infos = vector.step(np.asarray(action)[None])
            assert reward == pytest.approx(rewards[0], abs=1e-12)
            assert info["new_trial"] == infos["new_trial"][0]
            if info["new_trial"]:
                _same_record(info["trial"], infos["trial"])
            if over:
                a = single.reset()[0]

    def _same_record(one: dict, several: dict) -> None:
        for name, value in one.items():
            if name == "reward":  # the sum of the trial's rewards, added up in another order
                assert value == pytest.approx(several[name][0], abs=1e-9)
            else:
                np.testing.assert_array_equal(value, several[name][0], err_msg=name)

    return check
