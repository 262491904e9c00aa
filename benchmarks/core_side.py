"""Cases as this project makes them."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

import neurogym_core as ngym
from neurogym_core.trials.noise import Noise

from . import slices
from .settings import ANTI_REACH, CONTEXT, DOTS, DT, RANDOM_DELAY, REACHING, SEQ_LEN, SIGMA, YANG19, Case, drawn_actions

_DELAY = {"truncated_exponential": list(RANDOM_DELAY)}

TASKS: dict[str, tuple[str, dict[str, Any]]] = {
    "dots": ("PerceptualDecisionMaking-v0", {"timing": DOTS, "sigma": SIGMA, "dt": DT}),
    # Wrappers that change which trials come and what they pay, and leave their length alone: the same steps are compared.
    "dots, three wrappers": (
        "PerceptualDecisionMaking-v0",
        {
            "timing": DOTS,
            "sigma": SIGMA,
            "dt": DT,
            "wrap": [("TrialHistory", {"probs": 0.8}), "CatchTrials", "MissPenalty"],
        },
    ),
    "dots, random delay": (
        "PerceptualDecisionMaking-v0",
        {"timing": {**DOTS, "delay": _DELAY}, "sigma": SIGMA, "dt": DT},
    ),
    "dots, 32 directions": (
        "PerceptualDecisionMaking-v0",
        {"timing": DOTS, "sigma": SIGMA, "dt": DT, "directions": 32},
    ),
    "context": ("ContextDecisionMaking-v0", {"timing": {**CONTEXT, "delay": _DELAY}, "sigma": SIGMA, "dt": DT}),
    "anti-reach": ("AntiReach-v0", {"timing": ANTI_REACH, "dt": DT, "directions": 32}),
    "two-step": ("DawTwoStep-v0", {"dt": DT}),
    "bandit": ("Bandit-v0", {"dt": DT, "probabilities": (0.5, 0.5)}),
    "reaching": ("Reaching1D-v0", {"timing": REACHING, "dt": DT}),
    "pennies": ("MatchingPennies-v0", {"dt": DT}),
    # As many channels as the peer's has: 16 units a modality, and no rule units.
    "yang19": (
        "yang19/DM1-v0",
        {
            "timing": {**YANG19, "fixation": {"uniform": list(YANG19["fixation"])}},
            "dt": DT,
            "units": 16,
            "rule_input": False,
        },
    ),
}


def made(case: Case) -> slices.Slice:
    """The loop that runs a case; raises DiscoveryError where its task is not installed."""
    kinds = {"single": _single, "vector": _vector, "dataset": _dataset, "noise": _noise, "needed": _needed, "looked up": _looked_up, "cartpole": _cartpole}
    return kinds[case.kind](case)


def _single(case: Case) -> slices.Slice:
    name, params = TASKS[case.task]
    env = ngym.make(name, **params)
    return slices.single(env, _alone(env.action_space))


def _alone(space: Any) -> list:
    if isinstance(space, gymnasium.spaces.Discrete):
        return drawn_actions(int(space.n), 4000)
    # A continuous action stands for the ids -, 0, + of the peer's discrete one.
    return [np.full(space.shape, step - 1, np.float32) for step in drawn_actions(3, 4000)]


def _vector(case: Case) -> slices.Slice:
    name, params = TASKS[case.task]
    env = ngym.make_vec(name, case.size, **params)
    drawn = _alone(env.single_action_space)
    return slices.vector(env, [np.resize(np.roll(drawn, row, axis=0), env.action_space.shape) for row in range(50)])


def _dataset(case: Case) -> slices.Slice:
    name, params = TASKS[case.task]
    return slices.dataset(ngym.Dataset(name, case.size, SEQ_LEN, seed=1, **params), case.size * SEQ_LEN)


def _noise(case: Case) -> slices.Slice:
    """Draw noise for every channel of such batches, and nothing else: from the same source, an array a batch."""
    name, params = TASKS[case.task]
    shape = (case.size, SEQ_LEN, ngym.make_task(name, **params).channels.size)
    generator = np.random.Generator(np.random.SFC64(1))
    return slices.repeated(lambda: generator.standard_normal(shape, dtype=np.float32), case.size * SEQ_LEN)


def _looked_up(case: Case) -> slices.Slice:
    """The same from the source that the core has, into an array that is there."""
    name, params = TASKS[case.task]
    numbers = np.empty((case.size, SEQ_LEN, ngym.make_task(name, **params).channels.size), np.float32)
    noise = Noise(np.random.Generator(np.random.SFC64(1)))
    return slices.repeated(lambda: noise.fill(numbers), case.size * SEQ_LEN)


def _needed(case: Case) -> slices.Slice:
    """Draw only the numbers that end up in such batches, into an array that is there: what nothing can beat."""
    name, params = TASKS[case.task]
    trials = ngym.make_task(name, **params).sample(2000, seed=1)
    noisy = (np.broadcast_to(trials.noise, trials.shown.shape) > 0).sum(axis=2)
    per_step = (noisy * trials.path).sum() / trials.path.sum()
    steps = case.size * SEQ_LEN
    numbers = np.empty(round(steps * per_step), np.float32)
    generator = np.random.Generator(np.random.SFC64(1))
    return slices.repeated(lambda: generator.standard_normal(out=numbers, dtype=np.float32), steps)


def _cartpole(case: Case) -> slices.Slice:
    env = gymnasium.make_vec("CartPole-v1", case.size, vectorization_mode="vector_entry_point")
    drawn = drawn_actions(2, 50 * case.size)
    return slices.vector(env, list(np.reshape(drawn, (50, case.size))))
