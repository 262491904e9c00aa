"""Read imposed conditions: of `conditions=`, experiment files, schedules, `reset` and `sample`."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from neurogym_core.errors import InvalidValueError, listed, unknown
from neurogym_core.tasks.state import Drawn, TaskLike, interface_of, state_of
from neurogym_core.trials.arrays import Array, as_texts
from neurogym_core.trials.distributions import Choice, Constant, Distribution, parse
from neurogym_core.trials.record import DURATION
from neurogym_core.trials.slot_columns import NO_CHOICE
from neurogym_core.trials.timing import TimeWarning, rounding_text, seconds_text


def read_condition(
    owner: str,
    name: str,
    spec: Any,
    declared: Any,
    drawn: Array | None = None,
    names: Sequence[str] = (),
) -> Distribution:
    """Return the distribution of an imposed condition; `drawn` is its value in one trial."""
    if names:
        spec = _without_names(owner, name, spec, names)
    support = declared.support() if isinstance(declared, Distribution) else None
    one = np.asarray(drawn) if support is None or drawn is not None else support[0]
    kind: str | None = "f" if isinstance(declared, Distribution) else None  # None: computed
    if support is not None:
        kind = support.dtype.kind
    try:
        if one.ndim:
            found = _several(spec, one)
        elif isinstance(spec, Distribution | Mapping):
            found = parse(spec)
        elif support is not None and kind == "U":
            return _named(owner, name, spec, support)
        else:
            found = _one(spec, kind)
        values = found.support()
        whole = _check_possible(
            np.asarray(found.bounds) if values is None else values,
            declared,
            None if drawn is None else one,
            enumerated=values is not None,
        )
        if whole and isinstance(found, Constant) and isinstance(found.value, float):
            return Constant(int(found.value))
        if whole and isinstance(found, Choice) and found.support().dtype.kind == "f":
            return Choice(found.support().astype(int), found.p)
        return found
    except InvalidValueError as error:
        raise InvalidValueError(
            f"{owner} was given the condition {name}={spec!r}. {error}"
        ) from None


def _without_names(owner: str, name: str, spec: Any, names: Sequence[str]) -> Any:
    """Return a distribution in any written form, with indices instead of names of values."""
    if isinstance(spec, str) and "(" in spec and spec not in names:
        spec = parse(spec)
    found = parse(spec) if isinstance(spec, Mapping) else spec
    if isinstance(found, Choice):
        return Choice(_indices(owner, name, found.support(), names), found.p)
    return _indices(owner, name, found.value if isinstance(found, Constant) else found, names)


def _indices(owner: str, name: str, values: Any, names: Sequence[str]) -> Any:
    """Return indices instead of names, int; values that are no texts come back unchanged."""
    texts = as_texts(np.asarray(values))
    if texts.dtype.kind != "U":
        return values
    known = {**{one: k for k, one in enumerate(names)}, NO_CHOICE: -1}
    for one in np.unique(texts).tolist():
        if one not in known:
            raise unknown(f"value of {name!r}", one, names, of=owner)
    indices = np.vectorize(known.__getitem__, otypes=[np.int64])(texts)
    return indices if indices.ndim else int(indices)


def _check_possible(
    values: Array, declared: Any, drawn: Array | None, *, enumerated: bool = True
) -> bool:
    """Check that a condition can have these values (or bounds); return whether it has integers."""
    # Quantities may lie between the declared values; in place of a `Constant`, a default, any
    # number may be imposed.
    support = declared.support() if isinstance(declared, Distribution) else None
    kind: str
    low, high = -np.inf, np.inf
    if support is not None:
        kind = support.dtype.kind
        if kind != "U" and not isinstance(declared, Constant):
            low, high = support.min(), support.max()
    elif isinstance(declared, Distribution):
        kind, (low, high) = "f", declared.bounds
    elif isinstance(declared, Drawn):
        kind = Drawn.KINDS[declared.kind][-1]
    else:
        kind = "f" if drawn is None else drawn.dtype.kind
    if kind == "U":
        known = None if support is None else support.ravel().tolist()
        if known is not None and not np.isin(values, known).all():
            raise InvalidValueError(f"Expected one of {listed(known)}. Give one of them.")
        return False
    if kind == "b":
        low, high = 0, 1
    values = np.asarray(values, np.float64)
    if np.isnan(values).any():
        raise InvalidValueError("NaN is no number. Expected numbers. Give other values.")
    whole = kind in "iub"
    margin = 1e-9 * max(abs(low), abs(high)) if np.isfinite([low, high]).all() else 0.0
    inside = (values >= low - margin) & (values <= high + margin)
    if inside.all() and not (whole and not (enumerated and (values % 1 == 0).all())):
        return kind in "iu"
    numbers = "whole numbers" if whole else "numbers"
    span = f" from {low:g} to {high:g}" if margin or (low, high) == (0, 1) else ""
    raise InvalidValueError(
        f"Expected {numbers}{span}, as declared. Give such values, or declare others."
    )


def _one(spec: Any, kind: str | None) -> Distribution:
    """One value in every trial; `kind` is None for computed conditions, which may be texts."""
    truth = isinstance(spec, bool | np.bool_) or (
        kind == "b" and isinstance(spec, int | float | np.number) and spec in (0, 1)
    )
    if truth and kind in ("b", None):
        return Constant(bool(spec))
    try:
        found = parse(spec)
        values = found.support()
    except InvalidValueError:
        if kind is None and isinstance(spec, str) and "(" not in spec:
            return Constant(spec)
        raise
    except ValueError:  # NumPy refuses rows of unequal lengths
        if kind is None:
            raise
        found, values = Constant(0), np.asarray(None)
    several = values is not None and (values.ndim != 1 or values.dtype.kind not in "biuf")
    if kind is not None and several:
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
    """Check imposed values, name -> value of one trial, or (m, …); return them as arrays."""
    state = state_of(task)
    periods = [DURATION + name for name in state.period_names]
    if not isinstance(given, Mapping):
        raise InvalidValueError(
            f"{state.name} was given conditions={given!r}; give them by name, e.g."
            f" {{{next(iter(state.declared), 'condition')!r}: …}}."
        )
    values: dict[str, Array] = {}
    for name, value in given.items():
        if name in state.declared:
            drawn = np.asarray(state.example[name])
            if names := interface_of(task).names.get(name):
                value = _indices(state.name, name, value, names)
            values[name] = _values(state.name, name, value, drawn)
            try:
                _check_possible(values[name], state.declared[name], drawn)
            except InvalidValueError as error:
                raise InvalidValueError(f"{_given(state.name, name, value)}. {error}") from None
        elif name in periods:
            values[name] = _values(state.name, name, value, np.zeros(()))
            what = f"Period {name.removeprefix(DURATION)!r}"
            lasts = f"{what} of {state.name} lasts"
            text = seconds_text(lasts, values[name])
            text = text or rounding_text(lasts, values[name], interface_of(task).dt)
            if text is not None and what not in state.warned:
                state.warned.add(what)
                warnings.warn(text, TimeWarning, stacklevel=2)
        else:
            raise unknown("condition", name, [*state.declared, *periods], of=state.name)
    return values


def _values(owner: str, name: str, given: Any, drawn: Array) -> Array:
    """Return values as an array, of the shape of one trial's value `drawn`, or (m, …)."""
    start = _given(owner, name, given)
    word, kinds = ("text", "U") if drawn.dtype.kind == "U" else ("number", "biuf")
    one = f"{drawn.shape[0]} {word}s" if drawn.ndim else f"a {word}"
    rows = "an array of one row" if drawn.ndim else "a list of one"
    expected = f"Expected {one} in every trial. Give {one}, or {rows} per trial."
    try:
        values = as_texts(np.asarray(given))
    except ValueError:
        raise InvalidValueError(f"{start}, whose rows have unequal lengths. {expected}") from None
    if not values.size:
        raise InvalidValueError(f"{start}, which has no values. {expected}")
    if values.dtype.kind not in kinds:
        raise InvalidValueError(f"{start}. {expected}")
    more = values.ndim - drawn.ndim
    if more not in (0, 1) or values.shape[more:] != drawn.shape:
        raise InvalidValueError(f"{start} of shape {values.shape}. {expected}")
    # 3.0 for an integer condition: tasks use such values as indices.
    if values.dtype.kind == "f" and drawn.dtype.kind in "iu" and (values % 1 == 0).all():
        return values.astype(drawn.dtype)
    return values


def _given(owner: str, name: str, given: Any) -> str:
    text = " ".join(repr(given).split())
    return f"{owner} was given the condition {name}={text if len(text) <= 60 else text[:57] + '…'}"
