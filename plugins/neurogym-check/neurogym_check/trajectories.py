"""Play an env step by step with fixed policies, and record everything that it returns."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import gymnasium
import numpy as np

Policy = Callable[[Any], Any]
"""A function env -> action."""


def fingerprint(value: Any) -> str:
    """Return a short text that is equal for equal values.

    Values may be nested arrays, numbers, texts, mappings and sequences."""
    parts: list[bytes] = []
    _collect(parts, value)
    return hashlib.blake2b(b"".join(parts), digest_size=8).hexdigest()


def _collect(parts: list[bytes], value: Any) -> None:
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        parts += (f"{value.dtype.str}{value.shape}".encode(), value.tobytes())
    elif isinstance(value, str | bytes | int | float | bool | np.generic) or value is None:
        parts.append(f"{type(value).__name__}:{value!r};".encode())
    elif isinstance(value, Mapping):
        for key in sorted(value, key=str):
            parts.append(f"{key}=".encode())
            _collect(parts, value[key])
    elif isinstance(value, list | tuple | np.ndarray):
        parts.append(f"[{len(value)}".encode())
        for item in value:
            _collect(parts, item)
    # Other objects (a figure, a generator) have no value to compare.


def has_nan(value: Any) -> bool:
    """Whether a number or an array contains NaN."""
    array = np.asarray(value)
    return array.dtype.kind == "f" and bool(np.isnan(array).any())


def mixed(seed: int) -> Policy:
    """Return a policy that plays a random action half of the time, else the target of the env.

    Random play alone seldom completes a trial. Without a target all actions are random."""
    rng = np.random.default_rng(seed)
    spaces: dict[int, Any] = {}

    def act(env: Any) -> Any:
        if id(env) not in spaces:
            spaces.clear()
            spaces[id(env)] = copy.deepcopy(env.action_space)
            spaces[id(env)].seed(seed)
        sampled = spaces[id(env)].sample()
        target = getattr(env.unwrapped, "target", None)
        return sampled if target is None or rng.random() < 0.5 else target

    return act


def anything(seed: int) -> Policy:
    """Return a policy that samples the action space uniformly."""
    spaces: list[Any] = []

    def act(env: Any) -> Any:
        if not spaces:
            spaces.append(copy.deepcopy(env.action_space))
            spaces[0].seed(seed)
        return spaces[0].sample()

    return act


def constant(action: Any) -> Policy:
    """Return a policy that repeats one action."""
    return lambda env: action


def constants(space: gymnasium.Space) -> dict[str, Policy]:
    """Return some constant policies for an action space, by name."""
    if isinstance(space, gymnasium.spaces.Discrete):
        first, last = int(space.start), int(space.start + space.n - 1)
        chosen = [action for action in dict.fromkeys((first, first + 1, last)) if action <= last]
        return {f"always {action}": constant(action) for action in chosen}
    if (
        isinstance(space, gymnasium.spaces.Box)
        and np.isfinite(space.low).all()
        and np.isfinite(space.high).all()
    ):
        middle = ((space.low + space.high) / 2).astype(space.dtype)
        return {"always in the middle": constant(middle), "always at the top": constant(space.high)}
    space = copy.deepcopy(space)
    space.seed(0)
    return {"always the same": constant(space.sample())}


def oracle(env: Any) -> Any:
    """Return the target of the env."""
    return env.unwrapped.target


def steps(
    env: Any, policy: Policy, count: int, seed: int | None = None
) -> Iterator[tuple[Any, tuple]]:
    """Reset the env, and yield (action, result of `step`) for `count` steps.

    When a session ends, the next one begins."""
    env.reset(seed=seed)
    yield from go_on(env, policy, count)


def go_on(env: Any, policy: Policy, count: int) -> Iterator[tuple[Any, tuple]]:
    """Yield (action, result of `step`) like `steps`, without the reset."""
    for _ in range(count):
        action = policy(env)
        result = env.step(action)
        yield action, result
        if result[2] or result[3]:
            env.reset()


COUNTERS = ("trial", "session")
"""Keys of a record that count trials and sessions."""


def seen(result: tuple, counted: bool = True) -> str:
    """Return the fingerprint of a step's result, with or without the `COUNTERS`."""
    observation, reward, terminated, truncated, info = result
    kept = {
        key: dict(value) if isinstance(value, Mapping) else value for key, value in info.items()
    }
    if not counted and isinstance(kept.get("trial"), dict):
        kept["trial"] = {key: value for key, value in kept["trial"].items() if key not in COUNTERS}
    return fingerprint((observation, float(reward), bool(terminated), bool(truncated), kept))


def trajectory(
    env: Any, policy: Policy, count: int, seed: int | None = None, counted: bool = True
) -> list[str]:
    """Return fingerprints of the first observation and of every step; `counted` as in `seen`."""
    first, _ = env.reset(seed=seed)
    return [fingerprint(first), *(seen(result, counted) for _, result in go_on(env, policy, count))]


def first_difference(one: list[str], other: list[str]) -> int | None:
    """Return the first step at which two trajectories differ, or None."""
    return next((step for step, (a, b) in enumerate(zip(one, other, strict=True)) if a != b), None)


class Recording:
    """Everything that an env returned while a policy played.

    Args:
        env: the env; it is reset without a seed, and continues when `extend` is called.
        policy: the policy.

    Attributes:
        observations: returned by `reset` and each `step`, (k + 1,), without those of later resets.
        prints: fingerprints of the observations at the time they were returned.
        results: returned by each `step`, (k,), with ``info["trial"]`` as a dict.
    """

    def __init__(self, env: Any, policy: Policy) -> None:
        self.env, self.policy = env, policy
        first, _ = env.reset()
        self.observations = [first]
        self.prints = [print_of(first)]
        self.results: list[tuple] = []

    def extend(self, count: int) -> Recording:
        """Play `count` further steps."""
        for _, result in go_on(self.env, self.policy, count):
            # Mappings such as info["trial"] are lazily computed: keep their current values.
            info = {
                name: dict(value) if isinstance(value, Mapping) else value
                for name, value in result[4].items()
            }
            self.results.append((*result[:4], info))
            self.observations.append(result[0])
            self.prints.append(print_of(result[0]))
        return self

    @property
    def trials(self) -> list[dict[str, Any]]:
        """Records of the trials that ended."""
        return [result[4].get("trial", {}) for result in self.results if result[4].get("new_trial")]


def print_of(observation: Any) -> bytes | str:
    """Return a fingerprint of an observation, to notice later changes."""
    return (
        observation.tobytes() if isinstance(observation, np.ndarray) else fingerprint(observation)
    )
