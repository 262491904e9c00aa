"""Durations of classic tasks: numbers, functions, lists, and pairs of a name and numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from neurogym_core import InvalidValueError, NotSupportedError, parse

_drawing: ContextVar[np.random.Generator | None] = ContextVar("neurogym_classic_rng", default=None)
"""Generator of the env whose code is running, for a `TruncExp` that is called without one."""


@contextmanager
def drawing_from(rng: np.random.Generator) -> Iterator[None]:
    """Make durations that are called without a generator draw from `rng`."""
    token = _drawing.set(rng)
    try:
        yield
    finally:
        _drawing.reset(token)


class TruncExp:
    """An exponentially distributed duration, truncated to values from `vmin` to below `vmax`.

    It has no random numbers: ``timing["delay"] = TruncExp(600, 300, 3000)`` draws from the env, and
    so does a call within the env's methods.

    Args:
        vmean: mean of the exponential before truncation, ms.
        vmin, vmax: ms.

    Raises:
        InvalidValueError: a mean that is not positive, or bounds in the wrong order.
    """

    def __init__(self, vmean: float, vmin: float = 0, vmax: float = math.inf) -> None:
        if not (0 < vmean < math.inf and 0 <= vmin <= vmax and vmin < math.inf):
            raise InvalidValueError(
                f"TruncExp() was given vmean={vmean!r}, vmin={vmin!r}, vmax={vmax!r}; it needs a"
                " positive mean and 0 <= vmin <= vmax, in ms."
            )
        self.vmean, self.vmin, self.vmax = vmean, vmin, vmax

    def __call__(self, rng: np.random.Generator | None = None) -> float:
        """Draw one duration in ms.

        Raises:
            NotSupportedError: called without a generator outside of an env's methods.
        """
        rng = _drawing.get() if rng is None else rng
        if rng is None:
            raise NotSupportedError(
                f"{self!r} was called without a generator, outside of an env. Put it into"
                " self.timing, or call it with a generator: duration(self.rng)."
            )
        share = -math.expm1(-(self.vmax - self.vmin) / self.vmean)
        drawn = self.vmin - self.vmean * math.log1p(-rng.random() * share)
        return min(drawn, math.nextafter(self.vmax, self.vmin))

    def __repr__(self) -> str:
        return f"TruncExp({self.vmean!r}, {self.vmin!r}, {self.vmax!r})"


def is_until(spec: Any) -> bool:
    """Return whether `spec` is ``("until", T)``: the period ends T ms after the trial began."""
    return isinstance(spec, list | tuple) and len(spec) == 2 and spec[0] == "until"


def draw(spec: Any, rng: np.random.Generator) -> float:
    """Draw one duration in ms.

    `spec` is a number, a function without arguments, a list of choices, or any written
    distribution.
    """
    if isinstance(spec, TruncExp):
        return spec(rng)
    if callable(spec):
        with drawing_from(rng):
            return float(spec())
    return float(parse(spec).sample(rng, 1)[0])
