"""Pytest fixtures that play tasks, for the tests of task packages. In a package's `conftest.py`::

from neurogym_check.fixtures import constant, oracle, premature, same_in_both  # noqa: F401
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from neurogym_check.single_and_vector import play_both
from neurogym_core import Task, TaskEnv, TaskVectorEnv

__all__ = ["constant", "oracle", "premature", "same_in_both"]


@pytest.fixture
def oracle():
    """Function that returns records of trials in which the oracle plays."""

    def play(task: Task, trials: int, seed: int = 1, options: dict | None = None) -> list[dict]:
        env = TaskEnv(task, info="full")
        env.reset(seed=seed, options=options)
        return _run(env, lambda: env.target, trials)

    return play


@pytest.fixture
def constant():
    """Function that returns records of trials in which the subject repeats one action."""

    def play(
        task: Task, action: int, trials: int, seed: int = 1, options: dict | None = None
    ) -> list[dict]:
        env = TaskEnv(task, info="full")
        env.reset(seed=seed, options=options)
        return _run(env, lambda: action, trials)

    return play


def _run(env: TaskEnv, act: Callable[[], Any], trials: int) -> list[dict]:
    records: list[dict] = []
    while len(records) < trials:
        target = env.target
        *_, truncated, info = env.step(act())
        np.testing.assert_array_equal(info["gt"], target)
        if info["new_trial"]:
            records.append(dict(info["trial"]))
        if truncated:
            env.reset()
    return records


@pytest.fixture
def premature():
    """Function that returns the rewards of action 1 in one period; otherwise the oracle plays."""

    def play(task: Task, period: str, trials: int = 10, seed: int = 6) -> set[float]:
        env = TaskEnv(task)
        env.reset(seed=seed)
        seen, done = set(), 0
        while done < trials:
            hasty = env.period == period
            _, reward, *_, truncated, info = env.step(1 if hasty else env.target)
            done += info["new_trial"]
            if hasty:
                seen.add(round(reward, 9))
            if truncated:
                env.reset()
        return seen

    return play


@pytest.fixture
def same_in_both():
    """Function that requires a single env and a vector env of one to agree.

    Use it for other settings than the defaults, which the check G003 plays."""

    def check(task: Task, steps: int = 800, seed: int = 3) -> None:
        mode = "SameStep"
        vector = TaskVectorEnv(task, 1, autoreset_mode=mode, info="full")
        play_both(TaskEnv(task, info="full"), vector, mode, steps, seed)

    return check
