"""Distributions of durations and conditions, and their written forms.

A distribution is an immutable, comparable value. It holds no generator; `sample` takes one. These
forms are equivalent::

    Uniform(500, 1500)
    {"uniform": [500, 1500]}
    "uniform(500,1500)"
    ("uniform", (500, 1500))

`parse` reads each of them (also plain numbers, and lists of numbers as equally likely choices).
`to_plain` writes the second, which TOML, JSON and Gymnasium's specs can hold."""

from __future__ import annotations

import json
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from neurogym_core.errors import InvalidValueError, did_you_mean, listed

Plain = Any
"""A value for TOML and JSON: number, string, list, or dict of these."""


class Distribution(ABC):
    """Base of the distributions: ``sample(rng, n)`` draws `n` values.

    Example:
        >>> import numpy as np
        >>> from neurogym_core import parse
        >>> distribution = parse("uniform(500,1500)")
        >>> distribution.mean, distribution.sample(np.random.default_rng(0), 5).shape
        (1000.0, (5,))
    """

    name: str
    """Name of the distribution in its written form."""

    @abstractmethod
    def sample(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """Draw `n` independent values, (n,) or (n, k).

        Args:
            rng: generator of the draws.
            n: number of draws.
        """

    @abstractmethod
    def arguments(self) -> list[Any]:
        """Return the arguments of the written form."""

    @property
    @abstractmethod
    def mean(self) -> Any:
        """Expected value."""

    @property
    @abstractmethod
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest possible value."""

    def support(self) -> np.ndarray | None:
        """Return the possible values, (m,) or (m, k), or None if they cannot be enumerated."""
        return None

    def cdf(self, x: np.ndarray) -> np.ndarray | None:
        """Return P(value <= x), or None if the values have no order."""
        return None

    def to_plain(self) -> Plain:
        """Return the written form: a number, a list, or ``{name: [arguments]}``."""
        return {self.name: self.arguments()}


@dataclass(frozen=True)
class Constant(Distribution):
    """The same value in every draw.

    Args:
        value: a number, a string, or a tuple of numbers.

    Example:
        >>> from neurogym_core import Constant
        >>> Constant(500).bounds, Constant(500).to_plain()
        ((500.0, 500.0), 500)
    """

    value: Any
    name = "constant"

    def sample(self, rng: np.random.Generator, n: int) -> np.ndarray:
        value = np.asarray(self.value)
        return np.full((n, *value.shape), value)

    def arguments(self) -> list[Any]:
        return [self.to_plain()]

    @property
    def mean(self) -> Any:
        return self.value

    @property
    def bounds(self) -> tuple[float, float]:
        return float(np.min(self.value)), float(np.max(self.value))

    def support(self) -> np.ndarray:
        return np.asarray(self.value)[None]

    def cdf(self, x: np.ndarray) -> np.ndarray:
        values: np.ndarray = (np.asarray(x) >= self.value).astype(float)
        return values

    def to_plain(self) -> Plain:
        return _plain(self.value)


@dataclass(frozen=True)
class Uniform(Distribution):
    """Uniform on [low, high).

    Args:
        low, high: the bounds.

    Raises:
        InvalidValueError: `low` above `high`, or bounds that are not finite.

    Example:
        >>> from neurogym_core import Uniform
        >>> Uniform(500, 1500).mean, Uniform(500, 1500).to_plain()
        (1000.0, {'uniform': [500, 1500]})
    """

    low: float
    high: float
    name = "uniform"

    def __post_init__(self) -> None:
        _check_finite(self, low=self.low, high=self.high)
        _check_order(self, self.low, self.high)

    def sample(self, rng: np.random.Generator, n: int) -> np.ndarray:
        return self.low + (self.high - self.low) * rng.random(n)

    def arguments(self) -> list[Any]:
        return [_plain(self.low), _plain(self.high)]

    @property
    def mean(self) -> float:
        return 0.5 * (self.low + self.high)

    @property
    def bounds(self) -> tuple[float, float]:
        return float(self.low), float(self.high)

    def cdf(self, x: np.ndarray) -> np.ndarray:
        width = self.high - self.low
        if width == 0:
            return (np.asarray(x) >= self.low).astype(float)
        return np.clip((np.asarray(x) - self.low) / width, 0.0, 1.0)


@dataclass(frozen=True)
class Choice(Distribution):
    """One of some values, equally likely or with probabilities `p`.

    Args:
        values: the values: numbers, strings, or equally long tuples of numbers; a single int `k`
            means 0 … k - 1.
        p: probability of each value, with a sum of 1; or whole numbers, their relative weights.

    Raises:
        InvalidValueError: no values, or probabilities that do not fit them.

    Example:
        >>> from neurogym_core import Choice
        >>> Choice((0, 6.4, 51.2)).support().tolist()
        [0.0, 6.4, 51.2]
        >>> Choice(("left", "right"), p=(3, 1)).probabilities.tolist()
        [0.75, 0.25]
    """

    values: Any
    p: Any = None
    name = "choice"
    _table: np.ndarray = field(init=False, repr=False, compare=False)
    _cumulative: np.ndarray | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        values = range(self.values) if isinstance(self.values, int | np.integer) else self.values
        if not isinstance(values, Iterable) or isinstance(values, str):
            raise InvalidValueError(
                f"Choice() was given {values!r}. Expected several values. Pass a list of them, or"
                " an int k for 0 … k - 1."
            )
        values = tuple(_frozen(value) for value in values)
        object.__setattr__(self, "values", values)
        if not values:
            raise InvalidValueError(
                "Choice() was given no values; it needs at least one. Pass a list, or an int k for"
                " 0 … k - 1."
            )
        object.__setattr__(self, "_table", np.asarray(values))
        object.__setattr__(self, "_cumulative", None)
        if self.p is not None:
            self._set_probabilities()

    def _set_probabilities(self) -> None:
        p = np.asarray(self.p, dtype=float)
        valid = np.isfinite(p).all() and (p >= 0).all() and p.sum() > 0
        if p.shape != (len(self.values),) or not valid:
            raise InvalidValueError(
                f"Choice() was given p={self.p!r} for {len(self.values)} values; it needs one"
                " finite, non-negative probability per value, not all 0."
            )
        total = p.sum()
        if not math.isclose(total, 1, abs_tol=1e-6) and (p % 1).any():
            raise InvalidValueError(
                f"Choice() was given p={self.p!r}, whose sum is {total:g}. Expected probabilities"
                " with a sum of 1, or whole numbers as relative weights. Correct them, or divide"
                " them by their sum."
            )
        # Not by a sum that differs from 1 by rounding: it would change the numbers that were given.
        p = p if math.isclose(total, 1, abs_tol=1e-12) else p / total
        object.__setattr__(self, "p", tuple(p.tolist()))
        object.__setattr__(self, "_cumulative", np.cumsum(p)[:-1])

    def sample(self, rng: np.random.Generator, n: int) -> np.ndarray:
        values: np.ndarray = self._table[self.sample_index(rng, n)]
        return values

    def sample_index(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """Draw indices into `values`, (n,).

        Args:
            rng: generator of the draws.
            n: number of draws.
        """
        if self._cumulative is None:
            return rng.integers(0, len(self.values), n)
        return np.searchsorted(self._cumulative, rng.random(n), side="right")

    @property
    def probabilities(self) -> np.ndarray:
        """Probability of each value, shape (len(values),)."""
        n = len(self.values)
        return np.full(n, 1 / n) if self.p is None else np.asarray(self.p)

    def arguments(self) -> list[Any]:
        values = [_plain(value) for value in self.values]
        return [values] if self.p is None else [values, list(self.p)]

    @property
    def mean(self) -> Any:
        if self._table.dtype.kind not in "biuf":
            raise InvalidValueError(f"{self!r} has no mean: its values are not numbers.")
        return np.tensordot(self.probabilities, self._table, axes=1)

    @property
    def bounds(self) -> tuple[float, float]:
        return float(self._table.min()), float(self._table.max())

    def support(self) -> np.ndarray:
        return self._table

    def cdf(self, x: np.ndarray) -> np.ndarray | None:
        if self._table.dtype.kind not in "biuf" or self._table.ndim > 1:
            return None
        below = self._table <= np.asarray(x)[..., None]
        return np.asarray((self.probabilities * below).sum(axis=-1))


@dataclass(frozen=True)
class TruncatedExponential(Distribution):
    """Exponential distribution, conditional on low <= x <= high.

    Values are drawn by inverting the CDF. `mean` is the mean after truncation.

    Args:
        scale: mean of the exponential before truncation.
        low, high: smallest and largest value.

    Raises:
        InvalidValueError: a scale of 0 or less, `low` above `high`, or numbers that are not finite.

    Example:
        >>> from neurogym_core import TruncatedExponential
        >>> delay = TruncatedExponential(300, 100, 800)
        >>> delay.bounds, round(delay.mean)
        ((100.0, 800.0), 325)
    """

    scale: float
    low: float
    high: float
    name = "truncated_exponential"

    def __post_init__(self) -> None:
        _check_finite(self, scale=self.scale, low=self.low, high=self.high)
        _check_order(self, self.low, self.high)
        if self.scale <= 0:
            raise InvalidValueError(
                f"TruncatedExponential() was given scale={self.scale!r}; it needs a positive"
                " number."
            )

    @property
    def _mass(self) -> float:
        return -math.expm1(-(self.high - self.low) / self.scale)

    def sample(self, rng: np.random.Generator, n: int) -> np.ndarray:
        return np.minimum(self.low - self.scale * np.log1p(-rng.random(n) * self._mass), self.high)

    def arguments(self) -> list[Any]:
        return [_plain(self.scale), _plain(self.low), _plain(self.high)]

    @property
    def mean(self) -> float:
        width = self.high - self.low
        if width == 0:
            return float(self.low)
        return self.low + self.scale - width * (1 - self._mass) / self._mass

    @property
    def bounds(self) -> tuple[float, float]:
        return float(self.low), float(self.high)

    def cdf(self, x: np.ndarray) -> np.ndarray:
        inside = np.clip(np.asarray(x, dtype=float), self.low, self.high) - self.low
        if self.high == self.low:
            return (np.asarray(x) >= self.low).astype(float)
        return np.where(np.asarray(x) < self.low, 0.0, -np.expm1(-inside / self.scale) / self._mass)


KINDS: dict[str, Callable[..., Distribution]] = {
    kind.name: kind for kind in (Constant, Uniform, Choice, TruncatedExponential)
}
"""The distributions by their written names."""

_NEEDED = {
    "constant": "one value",
    "uniform": "low and high",
    "choice": "a list of values, and optionally their probabilities",
    "truncated_exponential": "scale, low and high",
}
_CALL = r"\s*([a-z_]+)\s*\((.*)\)\s*"


def parse(spec: Any) -> Distribution:
    """Read a distribution in any of its written forms.

    Args:
        spec: a number, a list of values, a string such as ``"uniform(500,1500)"``, a mapping such
            as ``{"uniform": [500, 1500]}``, a pair such as ``("uniform", (500, 1500))``, or a
            Distribution.

    Raises:
        InvalidValueError: `spec` has none of these forms, names an unknown distribution, or has
            invalid arguments.

    Example:
        >>> from neurogym_core import parse
        >>> parse(500), parse({"uniform": [500, 1500]})
        (Constant(value=500), Uniform(low=500, high=1500))
    """
    if isinstance(spec, Distribution):
        return spec
    given = spec
    if isinstance(spec, str):
        spec = _read_text(spec)
    elif isinstance(spec, list | tuple | range | np.ndarray):
        spec = list(spec)
        if len(spec) == 2 and isinstance(spec[0], str) and spec[0] in KINDS:
            spec = {spec[0]: spec[1]}
    if isinstance(spec, list):
        return Choice(spec)
    if isinstance(spec, dict) and len(spec) == 1:
        ((name, arguments),) = spec.items()
        several = isinstance(arguments, list | tuple | np.ndarray)
        return _build(name, list(arguments) if several else [arguments])
    if isinstance(spec, bool) or not isinstance(spec, int | float | np.number):
        raise _unreadable(given)
    if math.isnan(spec):
        raise InvalidValueError("A distribution was given NaN (not a number); give a number.")
    return Constant(spec)


def _read_text(text: str) -> Any:
    """Return the number, list of values, or {name: arguments} that a text spells."""
    call = re.fullmatch(_CALL, text, re.DOTALL)
    if call is None:
        with suppress(ValueError):
            value = float(text)
            whole = value.is_integer() and "." not in text and "e" not in text.lower()
            return int(value) if whole else value
        if "," not in text:
            raise _unreadable(text)
    inside = text if call is None else call[2]
    try:
        values = json.loads(f"[{inside.replace('(', '[').replace(')', ']')}]")
    except json.JSONDecodeError:
        raise _unreadable(text) from None
    return values if call is None else {call[1]: values}


def _build(name: str, arguments: list[Any]) -> Distribution:
    if name not in KINDS:
        raise InvalidValueError(
            f"Unknown distribution {name!r}.{did_you_mean(name, KINDS)} Known: {listed(KINDS)}. "
            "Write it as {uniform = [500, 1500]} or uniform(500,1500)."
        )
    if name == "choice" and not _is_choice_arguments(arguments):
        arguments = [arguments]
    try:
        return KINDS[name](*arguments)
    except TypeError:
        raise InvalidValueError(
            f"The distribution {name!r} was given {arguments!r}; it needs {_NEEDED[name]}."
        ) from None


def _is_choice_arguments(arguments: list[Any]) -> bool:
    """Whether these are (values,) or (values, p), rather than the values themselves."""
    # choice(1, 2) lists two values; choice([1, 2], [0.3, 0.7]) has probabilities; and
    # choice([1, 2], [3, 4]) lists two values of two numbers, since 3 and 4 do not sum to 1.
    if len(arguments) == 1:
        return isinstance(arguments[0], list | tuple | int)
    if len(arguments) != 2 or not all(isinstance(item, list | tuple) for item in arguments):
        return False
    values, p = arguments
    numbers = all(isinstance(item, int | float) for item in p)
    return len(values) == len(p) and numbers and math.isclose(sum(p), 1.0)


def _unreadable(spec: object) -> InvalidValueError:
    return InvalidValueError(
        f"Cannot read {spec!r} as a distribution. Give a number, a list of equally likely values,"
        f" or one of {listed(KINDS)}, e.g. {{uniform = [500, 1500]}} or uniform(500,1500)."
    )


def _check_finite(owner: Distribution, **values: float) -> None:
    for name, value in values.items():
        known = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if not known or not math.isfinite(value):
            raise InvalidValueError(
                f"{type(owner).__name__}() was given {name}={value!r}; it needs a finite number."
            )


def _check_order(owner: Distribution, low: float, high: float) -> None:
    if high < low:
        raise InvalidValueError(
            f"{type(owner).__name__}() was given low={low!r} above high={high!r}; swap them."
        )


def _frozen(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list):
        return tuple(value)
    return value.item() if isinstance(value, np.generic) else value


def _plain(value: Any) -> Plain:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return [_plain(item) for item in value] if isinstance(value, tuple | list) else value
