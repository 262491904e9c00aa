"""Settings of both sides.

This module imports the standard library only, because it also runs in the peer's environment.
"""

from __future__ import annotations

import random
from typing import NamedTuple

DT = 100  # ms per step
SIGMA = 1.0  # SD of the evidence, times sqrt(ms)
DOTS = {"fixation": 300, "stimulus": 2000, "delay": 0, "decision": 300}  # ms
CONTEXT = {"fixation": 300, "stimulus": 750, "decision": 300}  # ms; the delay is random
RANDOM_DELAY = (600, 300, 3000)  # ms: scale, low, high of a truncated exponential
ANTI_REACH = {"fixation": 500, "stimulus": 500, "delay": 0, "decision": 500}  # ms
REACHING = {"fixation": 500, "reach": 500}  # ms
YANG19 = {
    "fixation": (200, 500),
    "stimulus": [200, 400, 600],
    "response": 200,
}  # ms: uniform, choice, constant
SEQ_LEN = 100  # steps of a dataset's batch
ON_PEER = {"pennies": "bandit"}  # replacements for tasks that the peer does not have


class Case(NamedTuple):
    """Case that a worker times.

    Attributes:
        kind: "single", "vector", "dataset", or a kind that only the core's worker has
            (`core_side.KINDS`).
        task: key of TASKS on its side; for "random" and "resting" the id of a task.
        size: number of envs in a vector env, or of rows in a batch.
    """

    kind: str
    task: str = ""
    size: int = 1


def drawn_actions(n_actions: int, n: int) -> list[int]:
    """Draw the actions of a run.

    Python's generator gives both sides the same actions, whichever NumPy they have.
    """
    return random.Random(1).choices(range(n_actions), k=n)
