"""Fixtures for the tests of task packages: ways to play. Needs pytest; in a package's
`conftest.py`::

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
    """Records of trials in which the subject plays the target of every observation."""

    def play(task: Task, trials: int, seed: int = 1, options: dict | None = None) -> list[dict]:
        env = TaskEnv(task)
        env.reset(seed=seed, options=options)
        return _run(env, lambda: env.target, trials)

    return play


@pytest.fixture
def constant():
    """Records of trials in which the subject always does the same."""

    def play(
        task: Task, action: int, trials: int, seed: int = 1, options: dict | None = None
    ) -> list[dict]:
        env = TaskEnv(task)
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
    """The rewards of acting (with the first choice) in one period, playing right otherwise."""

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
    """Require that a single env and a vector env of one show, ask, pay and record the same.

    For other settings than the default ones, which the check G003 plays."""

    def check(task: Task, steps: int = 800, seed: int = 3) -> None:
        mode = "SameStep"
        play_both(TaskEnv(task), TaskVectorEnv(task, 1, autoreset_mode=mode), mode, steps, seed)

    return check
