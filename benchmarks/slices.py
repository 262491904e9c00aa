"""Timed loops of both sides, in CPU time, which other programs on the machine do not change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from time import process_time
from typing import Any

Slice = Callable[[float], "tuple[int, float]"]
"""Function that runs for a minimum of seconds, and returns the env steps and the seconds."""


def single(env: Any, actions: Sequence[int]) -> Slice:
    """Time the `step` of one env."""
    env.reset(seed=1)

    def once() -> int:
        step = env.step
        for action in actions:
            _, _, terminated, truncated, _ = step(action)
            if terminated or truncated:
                env.reset()
        return len(actions)

    return lambda seconds: _repeated(once, seconds)


def loop(envs: Sequence[Any], actions: Sequence[int]) -> Slice:
    """Time several single envs, which step in turn."""
    for env in envs:
        env.reset()

    def once() -> int:
        for action in actions:
            for env in envs:
                _, _, terminated, truncated, _ = env.step(action)
                if terminated or truncated:
                    env.reset()
        return len(actions) * len(envs)

    return lambda seconds: _repeated(once, seconds)


def vector(env: Any, actions: Sequence[Any]) -> Slice:
    """Time a vector env; `actions` has one array (num_envs,) per step."""
    env.reset(seed=1)
    n = len(actions) * env.num_envs

    def once() -> int:
        step = env.step
        for row in actions:
            step(row)
        return n

    return lambda seconds: _repeated(once, seconds)


def dataset(batches: Iterable, steps: int) -> Slice:
    """Time an endless iterable of batches of `steps` steps each."""
    iterator = iter(batches)

    def once() -> int:
        next(iterator)
        return steps

    return lambda seconds: _repeated(once, seconds)


def repeated(work: Callable[[], Any], steps: int) -> Slice:
    """Time a function that counts as `steps` steps."""

    def once() -> int:
        work()
        return steps

    return lambda seconds: _repeated(once, seconds)


def _repeated(once: Callable[[], int], seconds: float) -> tuple[int, float]:
    done, start = 0, process_time()
    while True:
        done += once()
        elapsed = process_time() - start
        if elapsed >= seconds:
            return done, elapsed
