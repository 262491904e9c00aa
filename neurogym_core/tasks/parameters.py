"""Typed parameters of tasks: annotated class attributes with defaults."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from neurogym_core.ecosystem.discovery import elsewhere
from neurogym_core.errors import InvalidValueError, unknown

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
    values = {name: getattr(cls, name) for name in known}
    for name, value in given.items():
        values[name] = _conform(cls, name, value, values[name], str(known[name]))
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
