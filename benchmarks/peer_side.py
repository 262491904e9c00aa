"""Cases of NeuroGym 2.3.1; runs in `.venv-peer`."""

from __future__ import annotations

from typing import Any

import gymnasium
import neurogym
import numpy as np
from neurogym.utils.ngym_random import TruncExp

from benchmarks import slices
from benchmarks.settings import (
    ANTI_REACH,
    CONTEXT,
    DOTS,
    DT,
    RANDOM_DELAY,
    REACHING,
    SEQ_LEN,
    SIGMA,
    YANG19,
    Case,
    drawn_actions,
)

# Name, parameters, number of drawn actions, and the first of them. In DawTwoStep, action 0 aborts
# the trial, which is not an action of the core's task.
TASKS: dict[str, tuple[str, dict[str, Any], int, int]] = {
    "dots": ("PerceptualDecisionMaking-v0", {"timing": DOTS, "sigma": SIGMA, "dt": DT}, 3, 0),
    "dots, random delay": (
        "PerceptualDecisionMaking-v0",
        {"timing": DOTS, "sigma": SIGMA, "dt": DT},
        3,
        0,
    ),
    "dots, 32 directions": (
        "PerceptualDecisionMaking-v0",
        {"timing": DOTS, "sigma": SIGMA, "dt": DT, "dim_ring": 32},
        33,
        0,
    ),
    "context": ("ContextDecisionMaking-v0", {"timing": CONTEXT, "sigma": SIGMA, "dt": DT}, 3, 0),
    "anti-reach": ("AntiReach-v0", {"timing": ANTI_REACH, "dt": DT, "dim_ring": 32}, 33, 0),
    "two-step": ("DawTwoStep-v0", {"dt": DT}, 2, 1),
    "bandit": ("Bandit-v0", {"dt": DT, "n": 2, "p": (0.5, 0.5)}, 2, 0),
    "reaching": ("Reaching1D-v0", {"timing": REACHING, "dt": DT}, 3, 0),
    "yang19": (
        "yang19.dm1-v0",
        {
            "timing": {
                "fixation": ("uniform", YANG19["fixation"]),
                "stimulus": ("choice", YANG19["stimulus"]),
                "decision": YANG19["response"],
            },
            "dt": DT,
        },
        17,
        0,
    ),
}


# The peer reads attributes through its wrappers, and Gymnasium warns about it on every trial. The
# peer is about 10 % faster without the warnings.
gymnasium.logger.set_level(gymnasium.logger.ERROR)


def made(case: Case) -> slices.Slice:
    """Return the loop of a case."""
    return {"single": _single, "vector": _vector, "dataset": _dataset}[case.kind](case)


def _env(task: str) -> gymnasium.Env:
    name, params, _, _ = TASKS[task]
    if task in ("context", "dots, random delay"):
        # One for every env, because it has its own generator.
        params = {**params, "timing": {**params["timing"], "delay": TruncExp(*RANDOM_DELAY)}}
    return neurogym.make(name, **params)


def _single(case: Case) -> slices.Slice:
    _, _, n, first = TASKS[case.task]
    return slices.single(_env(case.task), [first + action for action in drawn_actions(n, 4000)])


def _vector(case: Case) -> slices.Slice:
    _, _, n, first = TASKS[case.task]
    env = gymnasium.vector.SyncVectorEnv([lambda: _env(case.task)] * case.size)
    drawn = first + np.array(drawn_actions(n, 4000))
    return slices.vector(env, [np.resize(np.roll(drawn, row), case.size) for row in range(50)])


def _dataset(case: Case) -> slices.Slice:
    batches = neurogym.Dataset(_env(case.task), batch_size=case.size, seq_len=SEQ_LEN)
    return slices.dataset(batches, case.size * SEQ_LEN)
