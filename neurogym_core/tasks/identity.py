"""Identity of a task: the keywords that make it, equality, and repr."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

import numpy as np

from neurogym_core.tasks.parameters import OVERRIDES
from neurogym_core.tasks.state import TaskLike, state_of
from neurogym_core.trials.distributions import Distribution

SomeTask = TypeVar("SomeTask", bound=TaskLike)


def keywords(task: TaskLike) -> dict[str, Any]:
    """Return the keywords that make a task: parameters that differ from the defaults, overrides.

    For a task wrapper, these are its parameters without those of the wrapped task.
    """
    state = state_of(task)
    if state.wraps is not None:
        return dict(state.settings)
    changed = {
        name: value
        for name, value in state.parameters.items()
        if value != getattr(type(task), name)
    }
    return {
        **changed,
        **{name: dict(override) for name, override in state.overrides.items() if override},
    }


def settings(task: TaskLike) -> dict[str, Any]:
    """Return `keywords` in plain form, for TOML, JSON and Gymnasium's specs."""
    return plain_settings(keywords(task))


def with_settings(task: SomeTask, **settings: Any) -> SomeTask:
    """Return a task with some parameters, or entries of `timing` and so on, changed.

    For a task wrapper, names that are not its parameters are those of the wrapped task.
    """
    state, make = state_of(task), cast(Any, type(task))
    merged = keywords(task)
    if state.wraps is not None:
        own = {name: settings.pop(name) for name in list(settings) if name in merged}
        inner = with_settings(state.wraps, **settings) if settings else state.wraps
        return cast(SomeTask, make(inner, **{**merged, **own}))
    for name, value in settings.items():
        merges = name in OVERRIDES and isinstance(value, Mapping)
        merged[name] = {**merged.get(name, {}), **value} if merges else value
    return cast(SomeTask, make(**merged))


def identity(task: TaskLike) -> tuple[Any, ...]:
    """Return a hashable value that is the same for equal tasks."""
    state = state_of(task)
    if state.wraps is not None:
        return (type(task), identity(state.wraps), _hashable(state.settings))
    # The distributions, not their written forms: Uniform(1, 2) equals {"uniform": [1, 2]}.
    meant: dict[str, Mapping[str, Any]] = {
        "timing": task.timing,
        "rewards": task.rewards,
        "conditions": state.imposed,
    }
    overrides = {
        kind: {name: meant[kind][name] for name in given} for kind, given in state.overrides.items()
    }
    return (type(task), _hashable(state.parameters), _hashable(overrides))


def written(task: TaskLike) -> str:
    """Return the call that makes the task, as its repr."""
    state = state_of(task)
    if state.wraps is not None:
        own = "".join(f", {name}={value!r}" for name, value in state.settings.items())
        return f"{type(task).__name__}({state.wraps!r}{own})"
    shown = {
        **state.parameters,
        **{name: value for name, value in state.overrides.items() if value},
    }
    return f"{state.name}({', '.join(f'{name}={value!r}' for name, value in shown.items())})"


def plain_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with distributions and arrays in their written form."""
    return {name: _plain(value) for name, value in settings.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Distribution):
        return value.to_plain()
    if isinstance(value, Mapping):
        return plain_settings(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def _hashable(value: Any) -> Any:
    if isinstance(value, Mapping):
        return tuple(sorted((key, _hashable(item)) for key, item in value.items()))
    if isinstance(value, np.ndarray):
        value = value.tolist()
    return tuple(_hashable(item) for item in value) if isinstance(value, list | tuple) else value
