"""Read imposed conditions: of `conditions=`, experiment files, schedules, `reset` and `sample`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from neurogym_core.errors import InvalidValueError, unknown
from neurogym_core.tasks.state import TaskLike, period_names_of, state_of
from neurogym_core.trials.arrays import Array
from neurogym_core.trials.distributions import Choice, Constant, Distribution, parse
from neurogym_core.trials.record import DURATION, as_texts


def read_condition(
    owner: str, name: str, spec: Any, declared: Any, drawn: Array | None = None
) -> Distribution:
    """Return the distribution of an imposed condition.

    Args:
        owner: name of the task, for errors.
        name: the condition.
        spec: a distribution in any written form. For a condition of bools or texts, or a computed
            one, also a bool or text, or a list of them. For a condition of k values per trial, k
            values, or a list of equally likely lists of k.
        declared: the declaration of the condition, as passed to `vary`.
        drawn: the value of one trial, (k,) for several values; not needed if the condition's values
            can be enumerated.

    Raises:
        UnknownNameError: a text that is not among the condition's values.
        InvalidValueError: another value that the condition cannot have.
    """
    support = declared.support() if isinstance(declared, Distribution) else None
    one = np.asarray(drawn) if support is None or drawn is not None else support[0]
    kind: str | None = "f" if isinstance(declared, Distribution) else None  # None: computed
    if support is not None:
        kind = support.dtype.kind
    try:
        if one.ndim:
            return _several(spec, one)
        if isinstance(spec, Distribution | Mapping):
            return parse(spec)
        if support is not None and kind == "U":
            return _named(owner, name, spec, support)
        return _single(spec, kind) if kind is None else _one_number(spec, kind)
    except InvalidValueError as error:
        raise InvalidValueError(
            f"{owner} was given the condition {name}={spec!r}. {error}"
        ) from None


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


def _one_number(spec: Any, kind: str) -> Distribution:
    try:
        found = _single(spec, kind)
        values = found.support()
    except ValueError as error:
        if isinstance(error, InvalidValueError):
            raise
        found, values = Constant(0), np.asarray(None)  # NumPy refuses rows of unequal lengths
    if values is not None and (values.ndim != 1 or values.dtype.kind not in "biuf"):
        raise InvalidValueError(
            "It is one number in every trial. Give a number, or a list of them."
        )
    return found


def _named(owner: str, name: str, spec: Any, support: np.ndarray) -> Distribution:
    known = support.tolist()
    for value in np.unique(np.asarray(spec)).tolist():
        if value not in known:
            raise unknown(f"value of {name!r}", value, known, of=owner)
    return Constant(spec) if isinstance(spec, str) else Choice(spec)


def _several(spec: Any, drawn: Array) -> Distribution:
    """Several values in every trial: a list of them, or a list of equally likely lists."""
    found = parse(spec) if isinstance(spec, Distribution | Mapping | str) else None
    try:
        values = np.asarray(spec if found is None else found.sample(np.random.default_rng(0), 1))
    except ValueError:  # rows of unequal lengths
        values = np.asarray(None)
    kinds, words = ("U", "texts") if drawn.dtype.kind == "U" else ("biuf", "numbers")
    shapes = (1, 2) if found is None else (2,)
    if values.dtype.kind not in kinds or values.ndim not in shapes:
        raise InvalidValueError(
            f"It is several {words} in every trial. Give a list of them, or a list of such lists."
        )
    if values.shape[-1] != len(drawn):
        raise InvalidValueError(
            f"It is {len(drawn)} {words} in every trial. Give a list of {len(drawn)}, or a list of"
            " such lists."
        )
    if found is not None:
        return found
    return Constant(tuple(values.tolist())) if values.ndim == 1 else Choice(values)


# ---------------------------------------------------------------------- values


def read_values(task: TaskLike, given: Mapping[str, Any]) -> dict[str, Array]:
    """Check imposed values of conditions and durations; return them as arrays.

    Args:
        given: name -> value of one trial, or (m, …); ``duration.<period>`` for ms.

    Raises:
        UnknownNameError: the task has no such condition or period.
        InvalidValueError: values of another type or shape than those of the task.
    """
    state, periods = state_of(task), [DURATION + name for name in period_names_of(task)]
    if not isinstance(given, Mapping):
        raise InvalidValueError(
            f"{state.name} was given conditions={given!r}; give them by name, e.g."
            f" {{{next(iter(state.declared), 'condition')!r}: …}}."
        )
    values: dict[str, Array] = {}
    for name, value in given.items():
        if name in state.declared:
            values[name] = _values(state.name, name, value, np.asarray(state.example[name]))
        elif name in periods:
            values[name] = _values(state.name, name, value, np.zeros(()))
        else:
            raise unknown("condition", name, [*state.declared, *periods], of=state.name)
    return values


def _values(owner: str, name: str, given: Any, drawn: Array) -> Array:
    """Return values as an array, of the shape of one trial's value or (m, …).

    Args:
        drawn: the value of one trial, as drawn by the task.
    """
    text = " ".join(repr(given).split())
    start = f"{owner} was given the condition {name}={text if len(text) <= 60 else text[:57] + '…'}"
    words, kinds = ("a text", "U") if drawn.dtype.kind == "U" else ("a number", "biuf")
    one = words if not drawn.ndim else f"{drawn.shape[0]} {words.split()[1]}s"
    expected = f"Expected {one} in every trial. Give {one}, or an array of one row per trial."
    if not drawn.ndim:
        expected = f"Expected {one} in every trial. Give {one}, or a list of one per trial."
    try:
        values = as_texts(np.asarray(given))
    except ValueError:
        raise InvalidValueError(f"{start}, whose rows have unequal lengths. {expected}") from None
    if not values.size:
        raise InvalidValueError(f"{start}, which has no values. {expected}")
    if values.dtype.kind not in kinds:
        raise InvalidValueError(f"{start}. {expected}")
    if (
        values.ndim - drawn.ndim not in (0, 1)
        or values.shape[values.ndim - drawn.ndim :] != drawn.shape
    ):
        raise InvalidValueError(f"{start} of shape {values.shape}. {expected}")
    # 3.0 for an integer condition: tasks use such values as indices.
    if values.dtype.kind == "f" and drawn.dtype.kind in "iu" and (values % 1 == 0).all():
        return values.astype(drawn.dtype)
    return values
