"""Parameters of tasks: their values, the identity that they give, and the names that are reserved.

The core keeps its state of a task under one name (`STATE`) and has no private methods, so that
authors may use every name that begins with "_". Of the public names of `Task`, they may define
those in `AUTHORS` and `BASE_PARAMETERS`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, TypeVar, cast

import numpy as np

from neurogym_core.ecosystem.discovery import elsewhere
from neurogym_core.errors import InvalidValueError, TaskDefinitionError, listed, unknown
from neurogym_core.tasks.state import STATE, TaskLike, state_of
from neurogym_core.trials.distributions import Distribution
from neurogym_core.trials.record import RECORD_NAMES

PLAYER_NAMES = frozenset((
    "task", "wrap", "seed", "num_envs", "render_mode", "autoreset_mode", "batch_size", "seq_len",
    "split", "targets", "plugins", "options", "conditions", "timing", "rewards", "id", "name",
    "info",
))  # fmt: skip
"""Names of arguments of `make`, `Dataset` and the players; parameters must have other names."""


def own_annotations(cls: type) -> dict[str, Any]:
    """Return the parameters that one class annotates, name -> annotation."""
    annotations = inspect.get_annotations(cls)
    return {
        name: kind
        for name, kind in annotations.items()
        if not name.startswith("_") and not str(kind).startswith(("ClassVar", "typing.ClassVar"))
    }


def parameter_types(cls: type) -> dict[str, Any]:
    """Return the parameters of a class and its bases, bases first, name -> annotation."""
    merged: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        if base is not object:
            merged.update(own_annotations(base))
    return merged


OVERRIDES = ("timing", "rewards", "conditions")
"""Arguments of a task in addition to its parameters."""


def signature_of(cls: type) -> inspect.Signature:
    """Return the signature of a task class: every parameter by keyword, then the overrides."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    overrides = [inspect.Parameter(name, keyword, default=None) for name in OVERRIDES]
    return inspect.Signature([*keywords_of(cls, parameter_types(cls)), *overrides])


def keywords_of(cls: type, kinds: Mapping[str, Any]) -> list[inspect.Parameter]:
    """Return parameters (name -> annotation) as keywords of a signature."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    return [
        inspect.Parameter(name, keyword, default=getattr(cls, name), annotation=kind)
        for name, kind in kinds.items()
    ]


def checked(
    cls: type,
    given: Mapping[str, Any],
    known: Mapping[str, Any] | None = None,
    overrides: tuple[str, ...] = OVERRIDES,
) -> dict[str, Any]:
    """Return the parameters of a class (`known`: name -> annotation), as given or by default."""
    known = parameter_types(cls) if known is None else known
    for name in given:
        if name not in known:
            names = [*known, *overrides]
            hint = elsewhere("argument", name, names)
            raise unknown("parameter", name, names, of=cls.__name__, hint=hint)
    values = {}
    for name, kind in known.items():
        default = getattr(cls, name)
        values[name] = (
            _conform(cls, name, given[name], default, str(kind)) if name in given else default
        )
    return values


def _conform(cls: type, name: str, value: Any, default: Any, annotation: str) -> Any:
    value = _python_value(value)
    # A distribution has many written forms, which the class itself reads.
    if annotation in ("Any", "typing.Any") or "Distribution" in annotation:
        return value
    if (
        isinstance(default, tuple)
        and isinstance(value, list | tuple | int | float)
        and not isinstance(value, bool)
    ):
        value = tuple(value) if isinstance(value, list | tuple) else (value,)
    if value is None and ("None" in annotation or default is None):
        return None
    if isinstance(value, float) and value != value:  # NaN
        raise InvalidValueError(
            f"{cls.__name__} was given {name}=nan; it needs a number. The default is {default!r}."
        )
    if isinstance(value, tuple) and "tuple" in annotation:
        return value
    if not _same_kind(value, default):
        raise InvalidValueError(
            f"{cls.__name__} was given {name}={value!r}; it needs {annotation}, like the default"
            f" {default!r}."
        )
    whole = isinstance(default, int) or re.search(r"\bint\b", annotation) is not None
    if whole and isinstance(value, float) and "float" not in annotation:
        if not value.is_integer():
            raise InvalidValueError(
                f"{cls.__name__} was given {name}={value!r}; it needs a whole number, like the"
                f" default {default!r}."
            )
        return int(value)
    return value


def _python_value(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return tuple(_python_value(item) for item in value)
    return value


def _same_kind(value: Any, default: Any) -> bool:
    if default is None:
        return True
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(value, bool) and isinstance(default, bool)
    kind = next((one for one in (int | float, str, tuple) if isinstance(default, one)), object)
    return isinstance(value, kind)


BASE_PARAMETERS = frozenset({"dt", "trials_per_session", "abort_ends_trial", "max_duration"})
"""The parameters that every task has."""

METHODS = (
    "define", "new_trial", "new_session", "draw", "draw_ahead", "step_action", "step_observation",
    "step_target",
)  # fmt: skip
DECLARATIONS = (
    "timing", "rewards", "supervised", "reads_outcomes", "evidence_periods", "go_cue",
    "trial_state",
)  # fmt: skip
AUTHORS = frozenset({*METHODS, *DECLARATIONS})
"""Methods and declarations that authors may define in a task class."""
REMOVED = {"draw_one": "draw", "new_session_one": "new_session"}
"""Methods of former versions, which nothing calls, and those that have their jobs."""


@cache
def public_names(cls: type) -> frozenset[str]:
    """Return the names in a class of the core that do not begin with "_"."""
    return frozenset(name for name in dir(cls) if not name.startswith("_"))


def check_class(cls: type, core: type, free: Iterable[str]) -> None:
    """Refuse a class that defines a name of the class `core`, in itself or in a mixin."""
    mixins = [
        base for base in cls.__mro__ if not (issubclass(base, core) or issubclass(core, base))
    ]
    for base in (cls, *mixins):
        _check_parameters(cls, own_annotations(base), public_names(core))
        taken = {STATE, *public_names(core)} - {*AUTHORS, *BASE_PARAMETERS, *free}
        for name in vars(base):
            if name in REMOVED:
                raise TaskDefinitionError(
                    f"{cls.__name__} defines {name!r}, which is never called. Expected"
                    f" {REMOVED[name]!r}, for all subjects at once. Write {REMOVED[name]}(self,"
                    " session, rng) with arrays of one row per subject: len(session)."
                )
            if name in taken:
                raise TaskDefinitionError(
                    f"{cls.__name__} defines {name!r}, a name that is taken by the core; choose"
                    f" another. A task class may define {listed(METHODS)}, and set"
                    f" {listed(DECLARATIONS)}."
                )


def _check_parameters(cls: type, declared: Mapping[str, Any], taken: Iterable[str]) -> None:
    for name, kind in declared.items():
        if name in PLAYER_NAMES or (name in taken and name not in BASE_PARAMETERS):
            raise TaskDefinitionError(
                f"{cls.__name__} declares the parameter {name!r}, a name that is taken by the core;"
                " choose another."
                + (
                    f" For the task's {name!r}, drop the annotation: {name} = …"
                    if name in AUTHORS
                    else ""
                )
            )
        if not hasattr(cls, name):
            raise TaskDefinitionError(
                f"{cls.__name__} declares the parameter {name!r} without a default; give it one:"
                f" {name}: {kind} = …"
            )
        default = getattr(cls, name)
        if kind in (int, "int") and isinstance(default, float):
            raise TaskDefinitionError(
                f"{cls.__name__} declares {name}: int = {default!r}. Expected a whole number as the"
                f" default, like its annotation. Write {name}: float = {default!r}."
            )


def check_assignment(task_name: str, name: str, core: type, free: Iterable[str]) -> None:
    """Refuse an assignment to an attribute of the core's base class."""
    if name == STATE or (
        name in public_names(core) and name not in {*AUTHORS, *BASE_PARAMETERS, *free}
    ):
        raise TaskDefinitionError(
            f"{task_name}.{name} was set in define(), a name that is taken by the core; choose"
            f" another, such as _{name}."
        )


def check_condition(task_name: str, name: str) -> None:
    """Raise `TaskDefinitionError` for a condition with the name of a column of every record."""
    if name in RECORD_NAMES:
        raise TaskDefinitionError(
            f"{task_name} declares the condition {name!r}, the name of a column that every record"
            " has; choose another."
        )


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
