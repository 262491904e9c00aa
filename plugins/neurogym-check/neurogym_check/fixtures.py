"""Fixtures for the tests of task packages: ways to play. Needs pytest; in a package's
`conftest.py`::

    from neurogym_check.fixtures import constant, oracle, premature, same_in_both  # noqa: F401
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

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
    """Assert that a single env and a vector env of one say the same under random play."""

    def check(task: Task, steps: int = 800, seed: int = 3) -> None:
        rng = np.random.default_rng(seed)
        single, vector = TaskEnv(task), TaskVectorEnv(task, 1, autoreset_mode="SameStep")
        a, b = single.reset(seed=seed)[0], vector.reset(seed=seed)[0]
        for step in range(steps):
            np.testing.assert_array_equal(a, b[0])
            np.testing.assert_array_equal(single.target, vector.target[0])
            # Half of the time at random, else right: random play alone would hardly ever reach the
            # later answers.
            action = _anything(task, rng) if rng.random() < 0.5 else single.target
            a, reward, *_, truncated, info = single.step(action)
            b, rewards, *_, infos = vector.step(np.array([action]))
            assert reward == pytest.approx(rewards[0], abs=1e-9), step
            assert info["new_trial"] == infos["new_trial"][0]
            if info["new_trial"]:
                _same_record(info["trial"], infos["trial"])
            if truncated:
                a = single.reset()[0]

    return check


def _anything(task: Task, rng: np.random.Generator) -> Any:
    if task.actions.continuous:
        return rng.uniform(-1, 1, task.actions.size).astype(np.float32)
    return int(rng.integers(task.actions.size))


def _same_record(one: Mapping, several: Mapping) -> None:
    for name, value in one.items():
        if name == "reward":  # the sum of the trial's rewards, added up in another order
            assert value == pytest.approx(several[name][0], abs=1e-9)
        else:
            np.testing.assert_array_equal(value, several[name][0], err_msg=name)
