"""Policies that are played one trial at a time: held answers, and fixed answers of other envs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from neurogym_check.audit.answers import per_row, played_once, resting
from neurogym_core import Task, TrialBatch
from neurogym_core.players import TrialsOnce

ANSWERS = 4
"""Most fixed answers that are compared in an env that is no Task."""
ENV_STEPS = 4_000
"""Steps of a play of an env that is no Task, e.g. with images."""


def held(task: Task, batch: TrialBatch) -> np.ndarray:
    """Return the performance (n,) if the last target of each trial is given on all of its steps."""
    answer = resting(task, len(batch)).astype(float)

    def record(stepper: TrialsOnce) -> np.ndarray:
        nonlocal answer
        target = np.asarray(stepper.targets())
        asked = stepper.is_asked() & stepper.running
        answer = np.where(per_row(asked, target), target, answer)
        return target

    played_once(task, batch, record)
    return played_once(task, batch, lambda stepper: answer)[0]


def play_env(env: Any, seed: int) -> dict[str, np.ndarray]:
    """Return the performance of an env that is no Task: the oracle, rest, the best fixed answer.

    Its observations may be images, of which no columns are made. A fixed answer is given on the
    steps whose target is another action than rest.
    """
    space = env.unwrapped.action_space
    rest = np.zeros_like(np.asarray(space.sample()))
    targets: list[bytes] = []

    def oracle(target: np.ndarray) -> np.ndarray:
        if not np.array_equal(target, rest):
            targets.append(target.tobytes())
        return target

    def always(answer: np.ndarray) -> Play:
        return lambda target: rest if np.array_equal(target, rest) else answer

    found = {"oracle": _of_env(env, seed, oracle), "rest": _of_env(env, seed, lambda target: rest)}
    common = sorted(set(targets), key=lambda one: (-targets.count(one), one))[:ANSWERS]
    answers = [np.frombuffer(one, rest.dtype).reshape(rest.shape) for one in common]
    compared = [_of_env(env, seed + 1, always(one)).mean() for one in answers]
    if answers:
        best = answers[int(np.argmax(compared))]
        found["constant"] = _of_env(env, seed + 2, always(best))
    return {name: one for name, one in found.items() if len(one)}


Play = Callable[[np.ndarray], np.ndarray]
"""A function from the target to the action."""


def _of_env(env: Any, seed: int, play: Play) -> np.ndarray:
    """Return the performance (m,) of the trials of `ENV_STEPS` steps."""
    space = env.unwrapped.action_space
    env.reset(seed=seed)
    scores: list[float] = []
    for _ in range(ENV_STEPS):
        action = play(np.asarray(env.unwrapped.target, dtype=np.asarray(space.sample()).dtype))
        _, _, terminated, truncated, info = env.step(action if space.shape else int(action))
        if info.get("new_trial"):
            scores.append(float(info.get("performance", 0)))
        if terminated or truncated:
            env.reset()
    return np.array(scores)


__all__ = ["held", "play_env"]
