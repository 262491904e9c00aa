"""What a task was made with: the keywords that make it again, what makes two tasks equal, and how
it is printed.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeVar, cast

import numpy as np

from neurogym_core.tasks.parameters import OVERRIDES
from neurogym_core.tasks.state import TaskLike, state_of
from neurogym_core.trials.distributions import Distribution

SomeTask = TypeVar("SomeTask", bound=TaskLike)


def keywords(task: TaskLike) -> dict[str, Any]:
    """Keywords that make this task again: parameters that differ from their defaults, and
    overrides.

    Of a task wrapper those that, after the wrapped task, make it again: its own parameters.
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
    """`keywords` in plain form, as TOML, JSON and Gymnasium's specs can hold them."""
    return plain_settings(keywords(task))


def with_settings(task: SomeTask, **settings: Any) -> SomeTask:
    """The same task with some parameters, or entries of `timing`, `rewards` and `conditions`,
    changed.

    Of a task wrapper its own parameters, or else those of the wrapped task.
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


def parameters_of(task: TaskLike) -> Mapping[str, Any]:
    """Parameters by name, all of them; of a task wrapper its own beside those of the wrapped
    task.
    """
    return MappingProxyType(state_of(task).parameters)


def identity(task: TaskLike) -> tuple[Any, ...]:
    """What equal tasks have in common; hashable."""
    state = state_of(task)
    if state.wraps is not None:
        return (type(task), identity(state.wraps), _hashable(state.settings))
    # What was meant, not how it was written: Uniform(1, 2) is {"uniform": [1, 2]}.
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
    """The call that makes the task."""
    state = state_of(task)
    if state.wraps is not None:
        return f"{type(task).__name__}({state.wraps!r}{''.join(f', {_equals(one)}' for one in state.settings.items())})"
    shown = {
        **state.parameters,
        **{name: value for name, value in state.overrides.items() if value},
    }
    return f"{state.name}({', '.join(_equals(one) for one in shown.items())})"


def _equals(one: tuple[str, Any]) -> str:
    return f"{one[0]}={one[1]!r}"


def plain_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with distributions and arrays in their written form."""
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
