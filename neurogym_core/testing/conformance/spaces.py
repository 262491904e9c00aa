"""S: what an env shows, pays and tells stays what it declares, under any kind of play."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

import gymnasium
import numpy as np

from neurogym_core.testing.conformance.candidate import Candidate
from neurogym_core.testing.conformance.play import Policy, constant, fingerprint, mixed, oracle, steps
from neurogym_core.testing.conformance.records import check, require


def _plays(candidate: Candidate) -> Iterator[tuple[str, Policy]]:
    """Kinds of play by name: random, some constant ones, and the oracle where there is one."""
    env = candidate.env()
    yield "random", mixed_without_target(11)
    for name, action in _constants(env.action_space):
        yield name, constant(action)
    if hasattr(env.unwrapped, "target"):
        yield "oracle", oracle
        yield "mixed", mixed(11)


def mixed_without_target(seed: int) -> Policy:
    """Any action of the space."""
    spaces: list[Any] = []

    def act(env: Any) -> Any:
        if not spaces:
            spaces.append(copy.deepcopy(env.action_space))
            spaces[0].seed(seed)
        return spaces[0].sample()

    return act


def _constants(space: gymnasium.Space) -> list[tuple[str, Any]]:
    if isinstance(space, gymnasium.spaces.Discrete):
        first, last = int(space.start), int(space.start + space.n - 1)
        return [(f"always {action}", action) for action in dict.fromkeys((first, first + 1, last)) if action <= last]
    if isinstance(space, gymnasium.spaces.Box) and np.isfinite(space.low).all() and np.isfinite(space.high).all():
        middle = ((space.low + space.high) / 2).astype(space.dtype)
        return [("always in the middle", middle), ("always at the top", space.high)]
    space = copy.deepcopy(space)
    space.seed(0)
    return [("always the same", space.sample())]


def _count(candidate: Candidate) -> int:
    return candidate.several(300, 3000)


@check("S001")
def observations_stay_in_their_space(candidate: Candidate) -> None:
    """Every observation is in the observation space, of exactly its dtype and shape, and finite.

    A hook `step_observation` returns what it was given with some units changed; an env of its own casts to the dtype
    of its space before it returns. Look for divisions by zero where values are not finite.
    """
    for name, policy in _plays(candidate):
        env = candidate.env()
        first, _ = env.reset(seed=3)
        _check_observation(env, first, f"after reset ({name} play)")
        for step, (_, result) in enumerate(steps(env, policy, _count(candidate), seed=3)):
            _check_observation(env, result[0], f"after step {step} of {name} play")


def _check_observation(env: Any, observation: Any, when: str) -> None:
    space = env.observation_space
    if isinstance(space, gymnasium.spaces.Box):
        dtype, shape = getattr(observation, "dtype", type(observation).__name__), np.shape(observation)
        fits = (dtype, shape) == (space.dtype, space.shape)
        require(fits, f"The observation {when} is {dtype} {shape}, the space says {space.dtype} {space.shape}.")
        require(np.isfinite(observation).all(), f"The observation {when} is not finite: {observation}.")
    require(observation in space, f"The observation {when} is outside of {space}.")


@check("S002")
def rewards_and_flags_are_plain(candidate: Candidate) -> None:
    """Rewards are finite Python numbers, flags are bools, and nothing in `info` is NaN.

    Cast with float(…) and bool(…): arrays and NumPy scalars break JSON logs and `is True`. What is not known is left
    out of `info` (an absent reaction time is an absent key).
    """
    plain = candidate.kind == "env"
    for name, policy in _plays(candidate):
        for step, (_, result) in enumerate(steps(candidate.env(), policy, _count(candidate), seed=4)):
            _, reward, terminated, truncated, info = result
            when = f"at step {step} of {name} play"
            number = isinstance(reward, int | float | np.number) and np.ndim(reward) == 0 if plain else type(reward) is float
            require(number and np.isfinite(reward), f"The reward {when} is {reward!r} ({type(reward).__name__}).")
            kinds = bool | np.bool_ if plain else bool
            flags = isinstance(terminated, kinds) and isinstance(truncated, kinds)
            require(flags, f"terminated and truncated {when} are {terminated!r} and {truncated!r}, expected bools.")
            found = _nan_in(info)
            require(not found, f"info[{found!r}] {when} is NaN.")


def _nan_in(info: Mapping[str, Any], prefix: str = "") -> str:
    for key, value in info.items():
        if isinstance(value, Mapping):
            if found := _nan_in(value, f"{prefix}{key}."):
                return found
        elif isinstance(value, float | np.floating | np.ndarray | list | tuple):
            array = np.asarray(value)
            if array.dtype.kind == "f" and np.isnan(array).any():
                return f"{prefix}{key}"
    return ""


@check("S003")
def observations_are_not_reused(candidate: Candidate) -> None:
    """What was returned stays as it is: the env does not write into it later.

    Return a copy. Replay buffers, lists of observations and vector envs would otherwise hold the last one many times.
    """
    env = candidate.env()
    kept: list[tuple[int, Any, str]] = []
    first, _ = env.reset(seed=5)
    kept.append((0, first, fingerprint(first)))
    for step, (_, result) in enumerate(steps(env, mixed(5), min(_count(candidate), 500), seed=5)):
        kept.append((step + 1, result[0], fingerprint(result[0])))
    for step, observation, before in kept:
        require(fingerprint(observation) == before, f"The observation returned at step {step} was changed later.")


@check("S004", kinds=("task", "classic"))
def trials_end(candidate: Candidate) -> None:
    """A trial ends, whatever the subject does.

    Give every period a duration, or the task a `max_duration` (ms) after which a trial is a miss. Who never answers
    would otherwise never see a second trial, and a random subject hardly ever.
    """
    limit = candidate.several(3000, 10000)
    if candidate.kind == "task":
        limit = min(limit, int(20 * candidate.task.typical_steps) + 200)
    for name, policy in _plays(candidate):
        if not any(result[4].get("new_trial") for _, result in steps(candidate.env(), policy, limit, seed=6)):
            require(False, f"No trial ends within {limit} steps of {name} play.", steps=limit)


@check("S005", kinds=("task", "classic"))
def targets_are_actions(candidate: Candidate) -> None:
    """What is right on a step, `info["gt"]`, is an action of the action space.

    The hook `step_target` returns action ids, (N,), or for continuous actions values in the units of the axes, (N, k);
    an env in the classic form sets the ground truth to actions that exist.
    """
    env = candidate.env()
    space = env.action_space
    for step, (_, result) in enumerate(steps(env, mixed(12), _count(candidate), seed=7)):
        target = result[4].get("gt")
        fits = target is not None and np.asarray(target, dtype=space.dtype) in space
        require(fits, f"The target of step {step} is {target!r}, which is none of {space}.")
        require(np.array_equal(np.asarray(target, dtype=space.dtype), target), f"The target of step {step} is {target!r}.")
