"""Read what conditions are to be, where `conditions=`, an experiment's file or a block of a
schedule says it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from neurogym_core.errors import InvalidValueError, unknown
from neurogym_core.trials.distributions import Choice, Constant, Distribution, parse


def read_condition(
    owner: str, name: str, spec: Any, declared: Any, several: bool = False
) -> Distribution:
    """The distribution of a condition's values.

    Args:
        owner: name of the task, for errors.
        name: the condition.
        spec: a distribution in any written form; a single bool or text, or a list of them, where
            the condition has such values or is computed; k values, or equally likely lists of k,
            where it has several.
        declared: as given to `vary`.
        several: whether a trial has several values of it; known without saying where its values can
            be enumerated.

    Raises:
        UnknownNameError: a text that is none of the condition's.
        InvalidValueError: anything else that it cannot be; says which condition.
    """
    support = declared.support() if isinstance(declared, Distribution) else None
    several = several or (support is not None and support.ndim > 1)
    try:
        if isinstance(spec, Distribution | Mapping):
            return parse(spec)
        if several and isinstance(spec, list | tuple | np.ndarray):
            return _several(spec, _kind(declared, support))
        if support is not None and support.dtype.kind == "U":
            return _named(owner, name, spec, support)
        return _single(spec, _kind(declared, support))
    except InvalidValueError as error:
        raise InvalidValueError(
            f"{owner} was given the condition {name}={spec!r}. {error}"
        ) from None


def _kind(declared: Any, support: np.ndarray | None) -> str | None:
    """The NumPy kind of a condition's values; None: it is computed, nobody knows."""
    if support is not None:
        return support.dtype.kind
    return "f" if isinstance(declared, Distribution) else None


def _single(spec: Any, kind: str | None) -> Distribution:
    truth = isinstance(spec, bool | np.bool_) or (
        kind == "b" and isinstance(spec, int | float | np.number) and spec in (0, 1)
    )
    if truth and kind in ("b", None):
        return Constant(bool(spec))
    if isinstance(spec, str) and kind is None and "(" not in spec:
        try:
            return parse(spec)
        except InvalidValueError:
            return Constant(spec)
    return parse(spec)


def _named(owner: str, name: str, spec: Any, support: np.ndarray) -> Distribution:
    known = support.tolist()
    for value in np.unique(np.asarray(spec)).tolist():
        if value not in known:
            raise unknown(f"value of {name!r}", value, known, of=owner)
    return Constant(spec) if isinstance(spec, str) else Choice(spec)


def _several(spec: Any, kind: str | None) -> Distribution:
    """Several values in every trial: one trial's are a list, equally likely ones are a list of
    lists.
    """
    try:
        values = np.asarray(spec)
    except ValueError:
        values = np.asarray(None)
    if values.dtype.kind not in ("U" if kind == "U" else "biuf") or values.ndim not in (1, 2):
        words = "texts" if kind == "U" else "numbers"
        raise InvalidValueError(
            f"It is several {words} in every trial. Give a list of them, or a list of such lists."
        )
    return Constant(tuple(values.tolist())) if values.ndim == 1 else Choice(values)
