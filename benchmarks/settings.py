"""Numbers that both sides share. Standard library only: the peer's environment has nothing else of
ours.
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
ON_PEER = {"pennies": "bandit"}  # what stands for tasks that the peer does not have


class Case(NamedTuple):
    """What a worker runs.

    Attributes:
        kind: "single", "vector", "dataset", or one of the kinds that only the core's worker has
            (`core_side.made`).
        task: a key of the side's TASKS; of "random" and "resting" a task's id.
        size: envs of a vector env, rows of a dataset's batch.
    """

    kind: str
    task: str = ""
    size: int = 1


def drawn_actions(n_actions: int, n: int) -> list[int]:
    """The action ids of a run; by Python's generator, which gives both sides the same whatever
    their NumPy.
    """
    return random.Random(1).choices(range(n_actions), k=n)
