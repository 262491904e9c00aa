"""Playing an env step by step with fixed actions, and writing down all that it shows."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import gymnasium
import numpy as np

Policy = Callable[[Any], Any]
"""What to do: env -> action."""


def fingerprint(value: Any) -> str:
    """A short text that is equal for equal nested values: arrays, numbers, texts, mappings,
    sequences.
    """
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
    # Anything else (a figure, a generator) has no value to compare.


def has_nan(value: Any) -> bool:
    """Whether a number or an array has a NaN."""
    array = np.asarray(value)
    return array.dtype.kind == "f" and bool(np.isnan(array).any())


def mixed(seed: int) -> Policy:
    """Half of the time at random, else what is right where the env says it: random play alone
    rarely gets far.
    """
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
    """Any action of the space, all equally likely."""
    spaces: list[Any] = []

    def act(env: Any) -> Any:
        if not spaces:
            spaces.append(copy.deepcopy(env.action_space))
            spaces[0].seed(seed)
        return spaces[0].sample()

    return act


def constant(action: Any) -> Policy:
    """Always the same."""
    return lambda env: action


def constants(space: gymnasium.Space) -> dict[str, Policy]:
    """Some kinds of play that never change, by name."""
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
    """What is right."""
    return env.unwrapped.target


def steps(
    env: Any, policy: Policy, count: int, seed: int | None = None
) -> Iterator[tuple[Any, tuple]]:
    """(action, what `step` returned) for so many steps after a reset; a session that ended is
    followed by the next.
    """
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


COUNTERS = ("trial", "session")
"""What a record counts up over sessions."""


def seen(result: tuple, counted: bool = True) -> str:
    """Fingerprint of what one step returned, with or without the numbers of trial and session."""
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
    """Fingerprints of the first observation and of what every step returned; `counted` as in
    `seen`.
    """
    first, _ = env.reset(seed=seed)
    return [fingerprint(first), *(seen(result, counted) for _, result in go_on(env, policy, count))]


def first_difference(one: list[str], other: list[str]) -> int | None:
    """The step at which two trajectories part, or None."""
    return next((step for step, (a, b) in enumerate(zip(one, other, strict=True)) if a != b), None)


class Recording:
    """What an env showed while somebody played: every step, what was shown with it, and how that
    looked then.

    Args:
        env: where; it is reset without a seed, and plays on when `extend` is called.
        policy: who.

    Attributes:
        observations: what `reset` and each `step` returned, (k + 1,), those after a session's end
            left out.
        prints: their fingerprints at the time.
        results: what each `step` returned, (k,), ``info["trial"]`` as a dict.
    """

    def __init__(self, env: Any, policy: Policy) -> None:
        self.env, self.policy = env, policy
        first, _ = env.reset()
        self.observations = [first]
        self.prints = [print_of(first)]
        self.results: list[tuple] = []

    def extend(self, count: int) -> Recording:
        """Play so many steps more."""
        for _, result in go_on(self.env, self.policy, count):
            self.results.append(
                (*result[:4], {name: _settled(value) for name, value in result[4].items()})
            )
            self.observations.append(result[0])
            self.prints.append(print_of(result[0]))
        return self

    @property
    def trials(self) -> list[dict[str, Any]]:
        """Records of the trials that ended."""
        return [result[4].get("trial", {}) for result in self.results if result[4].get("new_trial")]


def print_of(observation: Any) -> bytes | str:
    """What an observation is now, to see whether it changes."""
    return (
        observation.tobytes() if isinstance(observation, np.ndarray) else fingerprint(observation)
    )


def _settled(value: Any) -> Any:
    """A mapping that is worked out when looked at, looked at."""
    return dict(value) if isinstance(value, Mapping) else value
