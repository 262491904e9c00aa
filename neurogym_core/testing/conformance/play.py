"""Playing an env step by step with fixed actions, and writing down all that it shows."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

Policy = Callable[[Any], Any]
"""What to do: env -> action."""


def fingerprint(value: Any) -> str:
    """A short text that is equal for equal nested values: arrays, numbers, texts, mappings, sequences."""
    digest = hashlib.blake2b(digest_size=8)
    _feed(digest, value)
    return digest.hexdigest()


def _feed(digest: Any, value: Any) -> None:
    if isinstance(value, Mapping):
        for key in sorted(value, key=str):
            digest.update(f"{key}=".encode())
            _feed(digest, value[key])
    elif isinstance(value, np.ndarray) and value.dtype.kind != "O":
        digest.update(f"{value.dtype.str}{value.shape}".encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, list | tuple | np.ndarray):
        digest.update(f"[{len(value)}".encode())
        for item in value:
            _feed(digest, item)
    elif isinstance(value, str | bytes | int | float | bool | np.generic) or value is None:
        digest.update(f"{type(value).__name__}:{value!r};".encode())
    # Anything else (a figure, a generator) has no value to compare.


def mixed(seed: int) -> Policy:
    """Half of the time at random, else what is right where the env says it: random play alone rarely gets far."""
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


def constant(action: Any) -> Policy:
    """Always the same."""
    return lambda env: action


def oracle(env: Any) -> Any:
    """What is right."""
    return env.unwrapped.target


def steps(env: Any, policy: Policy, count: int, seed: int | None = None) -> Iterator[tuple[Any, tuple]]:
    """(action, what `step` returned) for so many steps after a reset; a session that ended is followed by the next."""
    env.reset(seed=seed)
    yield from go_on(env, policy, count)


def go_on(env: Any, policy: Policy, count: int) -> Iterator[tuple[Any, tuple]]:
    """As `steps`, from where the env is."""
    for _ in range(count):
        action = policy(env)
        result = env.step(action)
        yield action, result
        if result[2] or result[3]:
            env.reset()


def seen(result: tuple) -> str:
    """Fingerprint of what one step returned."""
    observation, reward, terminated, truncated, info = result
    kept = {key: dict(value) if isinstance(value, Mapping) else value for key, value in info.items()}
    return fingerprint((observation, float(reward), bool(terminated), bool(truncated), kept))


def trajectory(env: Any, policy: Policy, count: int, seed: int | None = None) -> list[str]:
    """Fingerprints of the first observation and of what every step returned."""
    first, _ = env.reset(seed=seed)
    return [fingerprint(first), *(seen(result) for _, result in go_on(env, policy, count))]


def first_difference(one: list[str], other: list[str]) -> int | None:
    """The step at which two trajectories part, or None."""
    return next((step for step, (a, b) in enumerate(zip(one, other, strict=True)) if a != b), None)
