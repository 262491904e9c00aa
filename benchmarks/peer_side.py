"""Cases as NeuroGym 2.3.1 makes them; runs in `.venv-peer`."""

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

# Name, parameters, how many of its actions are drawn from and which is the first of them: in
# DawTwoStep action 0 breaks the trial off, which the core's task does not know.
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


# Gymnasium would warn of how the peer reaches through its wrappers, once per trial; without, it is
# some 10 % faster.
gymnasium.logger.set_level(gymnasium.logger.ERROR)


def made(case: Case) -> slices.Slice:
    """The loop that runs a case."""
    return {"single": _single, "vector": _vector, "dataset": _dataset}[case.kind](case)


def _env(task: str) -> gymnasium.Env:
    name, params, _, _ = TASKS[task]
    if task in ("context", "dots, random delay"):
        # A fresh one for every env: it owns a generator.
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
