"""Cases of this project."""

from __future__ import annotations

import itertools
from time import process_time
from typing import Any

import gymnasium
import numpy as np

import neurogym_core as ngym
from benchmarks import slices
from benchmarks.noise import least_work, noise_filler
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
from neurogym_core import Task
from neurogym_core.players import TaskView, kernel_in_use
from neurogym_core.tools import installed, load_task

_DELAY = {"truncated_exponential": list(RANDOM_DELAY)}

TASKS: dict[str, tuple[str, dict[str, Any]]] = {
    "dots": ("PerceptualDecisionMaking-v0", {"timing": DOTS, "sigma": SIGMA, "dt": DT}),
    # These wrappers change the conditions and rewards of trials, but not their durations, so that
    # the steps are comparable.
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
    "context": (
        "ContextDecisionMaking-v0",
        {"timing": {**CONTEXT, "delay": _DELAY}, "sigma": SIGMA, "dt": DT},
    ),
    "anti-reach": ("AntiReach-v0", {"timing": ANTI_REACH, "dt": DT, "directions": 32}),
    "two-step": ("DawTwoStep-v0", {"dt": DT}),
    "bandit": ("Bandit-v0", {"dt": DT, "probabilities": (0.5, 0.5)}),
    "reaching": ("Reaching1D-v0", {"timing": REACHING, "dt": DT}),
    "pennies": ("MatchingPennies-v0", {"dt": DT}),
    # 16 units per modality and no rule units give as many channels as the peer's task has.
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
    """Return the loop of a case. Raise DiscoveryError if its task is not installed."""
    return KINDS[case.kind](case)


def _single(case: Case) -> slices.Slice:
    name, params = TASKS[case.task]
    env = ngym.make(name, **params)
    return slices.single(env, _alone(env.action_space))


def _alone(space: Any) -> list:
    if isinstance(space, gymnasium.spaces.Discrete):
        return drawn_actions(int(space.n), 4000)
    # The actions -1, 0, 1 correspond to the three actions of the peer's discrete space.
    return [np.full(space.shape, step - 1, np.float32) for step in drawn_actions(3, 4000)]


def _vector(case: Case) -> slices.Slice:
    name, params = TASKS[case.task]
    env = ngym.make_vec(name, case.size, **params)
    drawn = _alone(env.single_action_space)
    return slices.vector(
        env, [np.resize(np.roll(drawn, row, axis=0), env.action_space.shape) for row in range(50)]
    )


def _buffers(case: Case) -> slices.Slice:
    """Time a vector env whose steps are written into its own arrays."""
    name, params = TASKS[case.task]
    env = ngym.make_vec(name, case.size, out=True, **params)
    drawn = _alone(env.single_action_space)
    return slices.vector(
        env, [np.resize(np.roll(drawn, row, axis=0), env.action_space.shape) for row in range(50)]
    )


def _least(case: Case) -> slices.Slice:
    """Time `least.c`: the least work of as many envs in C, compiled as the kernel is."""
    if case.task != "dots":
        raise LookupError("least.c plays PerceptualDecisionMaking only")
    steps = max(20_000 // case.size, 100)
    return slices.repeated(least_work(case.size, steps), steps * case.size)


def _dataset(case: Case) -> slices.Slice:
    name, params = TASKS[case.task]
    return slices.dataset(
        ngym.Dataset(name, case.size, SEQ_LEN, seed=1, **params), case.size * SEQ_LEN
    )


def _numpy_noise(case: Case) -> slices.Slice:
    """Time NumPy's generator alone, which draws noise for every channel of a batch."""
    shape = (case.size, SEQ_LEN, _made(case.task).channels.size)
    generator = np.random.Generator(np.random.SFC64(1))
    return slices.repeated(
        lambda: generator.standard_normal(shape, dtype=np.float32), case.size * SEQ_LEN
    )


def _noise(case: Case) -> slices.Slice:
    """Time the noise of a batch alone, for the steps and units with noise."""
    trials = _made(case.task).sample(2000, seed=1)
    noisy = np.broadcast_to(trials.noise, trials.shown.shape) > 0
    units = np.flatnonzero(noisy.any(axis=(0, 1)))
    if not len(units):
        raise LookupError("no noise")
    share = (noisy.any(axis=2) * trials.path).sum() / trials.path.sum()
    steps = case.size * SEQ_LEN
    fill = noise_filler(round(steps * share), slice(int(units[0]), int(units[-1]) + 1))
    return slices.repeated(fill, steps)


def _written_by_a_dataset(case: Case) -> slices.Slice:
    task = _made(case.task)
    targets = 4 * task.actions.size if task.actions.continuous else 8
    return _written(
        case, 4 * task.channels.size + targets + 4 + 1
    )  # weights float32, new_trial bool


def _written_by_envs(case: Case) -> slices.Slice:
    return _written(
        case, 4 * _made(case.task).channels.size + 8 + 1 + 1
    )  # reward float64, terminated and truncated


def _written(case: Case, bytes_per_step: int) -> slices.Slice:
    """Time writing the bytes of a batch alone."""
    steps = case.size * SEQ_LEN
    room = np.empty(steps * bytes_per_step, np.uint8)
    return slices.repeated(lambda: room.fill(1), steps)


def _made(task: str) -> Task:
    name, params = TASKS[task]
    return ngym.make_task(name, **params)


def _acting(case: Case) -> slices.Slice:
    """Time one env of a task with its default settings, with a random or a resting subject."""
    return _subject(case.task, case.kind)


def _subject(task_id: str, kind: str) -> slices.Slice:
    env = ngym.make(task_id)
    actions = env.unwrapped.task.actions
    if kind == "random":
        rng = np.random.default_rng(1)
        values = list(rng.uniform(-1, 1, (500, actions.size)).astype(np.float32))
        return slices.single(
            env, values if actions.continuous else drawn_actions(actions.size, 500)
        )
    rest = actions.from_task_units(actions.rest_value) if actions.continuous else int(actions.rest)
    return slices.single(env, [rest] * 500)


def _cartpole(case: Case) -> slices.Slice:
    env = gymnasium.make_vec("CartPole-v1", case.size, vectorization_mode="vector_entry_point")
    drawn = drawn_actions(2, 50 * case.size)
    return slices.vector(env, list(np.reshape(drawn, (50, case.size))))


KINDS = {
    "single": _single,
    "vector": _vector,
    "buffers": _buffers,
    "least": _least,
    "dataset": _dataset,
    "random": _acting,
    "resting": _acting,
    "cartpole": _cartpole,
    "numpy noise": _numpy_noise,
    "noise": _noise,
    "written by a dataset": _written_by_a_dataset,
    "written by envs": _written_by_envs,
}


# ---------------------------------------------------------------------- every installed task

SIDE_BY_SIDE = 16


def swept(kind: str) -> list[str]:
    """Return the ids of the installed tasks in a sweep.

    Args:
        kind: "vector" for discrete tasks without hooks, "random" for tasks with an action of
            resting.
    """
    found = []
    for entry in installed().tasks:
        if entry.has("blocked") or not issubclass(load_task(entry.id), Task):
            continue
        task = ngym.make_task(entry.id)
        discrete = not (TaskView(task).hooks or task.actions.continuous)
        if discrete if kind == "vector" else task.actions.rest is not None:
            found.append(entry.id)
    return sorted(found)


def swept_pair(kind: str, task: str) -> tuple[slices.Slice, slices.Slice]:
    """Return the two loops of a task whose rates form the ratio."""
    if kind == "random":
        return _subject(task, "random"), _subject(task, "resting")
    env = ngym.make_vec(task, SIDE_BY_SIDE)
    drawn = drawn_actions(int(env.single_action_space.n), 4000)
    rows = [np.resize(np.roll(drawn, row), SIDE_BY_SIDE) for row in range(50)]
    return slices.vector(env, rows), _singles(task, drawn)


SPREAD = 1 << 15
"""Steps over which single envs are spread: about those of a block."""


def _singles(task: str, drawn: list[int]) -> slices.Slice:
    """Time single envs at different positions in their blocks.

    Otherwise all of them would build the next block on the same step.
    """
    envs = [ngym.make(task, seed=number) for number in range(SIDE_BY_SIDE)]
    timed = slices.loop(envs, drawn[:250])
    for number, env in enumerate(envs):
        limit = process_time() + 0.1
        for action in itertools.islice(itertools.cycle(drawn), number * SPREAD // SIDE_BY_SIDE):
            _, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                env.reset()
            if process_time() > limit:
                break
    return timed


def about() -> str:
    """Return the name of the kernel, with the reason if it is not the compiled one."""
    used = kernel_in_use()
    return used.name if used.module else f"{used.name}: {used.reason}"
