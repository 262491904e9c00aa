"""How classic tasks write durations: numbers, functions, lists, and pairs of a name and numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from neurogym_core.errors import InvalidValueError, NotSupportedError
from neurogym_core.trials.distributions import parse

_drawing: ContextVar[np.random.Generator | None] = ContextVar("neurogym_classic_rng", default=None)
"""The generator of the env whose code is running: what a `TruncExp` that is called without one
draws from.
"""


@contextmanager
def drawing_from(rng: np.random.Generator) -> Iterator[None]:
    """Let durations that are called without a generator draw from `rng`."""
    token = _drawing.set(rng)
    try:
        yield
    finally:
        _drawing.reset(token)


class TruncExp:
    """A duration, exponential with mean `vmean` before it is cut: only values from `vmin` to below
    `vmax` are drawn.

    It owns no random numbers: ``timing["delay"] = TruncExp(600, 300, 3000)`` draws from the env,
    and so does a call within the env's own methods.

    Args:
        vmean: ms, mean of the exponential before truncation (not of what is drawn).
        vmin, vmax: ms.

    Raises:
        InvalidValueError: no positive mean, or bounds in the wrong order.
    """

    def __init__(self, vmean: float, vmin: float = 0, vmax: float = math.inf) -> None:
        if not (0 < vmean < math.inf and 0 <= vmin <= vmax and vmin < math.inf):
            raise InvalidValueError(
                f"TruncExp() was given vmean={vmean!r}, vmin={vmin!r}, vmax={vmax!r}; it needs a"
                " positive mean and 0 <= vmin <= vmax, in ms."
            )
        self.vmean, self.vmin, self.vmax = vmean, vmin, vmax

    def __call__(self, rng: np.random.Generator | None = None) -> float:
        """One duration in ms.

        Raises:
            NotSupportedError: called outside of an env's methods without a generator.
        """
        rng = _drawing.get() if rng is None else rng
        if rng is None:
            raise NotSupportedError(
                f"{self!r} has no random numbers of its own; put it into self.timing, or call it"
                " with a generator: duration(self.rng)."
            )
        share = -math.expm1(-(self.vmax - self.vmin) / self.vmean)
        drawn = self.vmin - self.vmean * math.log1p(-rng.random() * share)
        return min(drawn, math.nextafter(self.vmax, self.vmin))

    def __repr__(self) -> str:
        return f"TruncExp({self.vmean!r}, {self.vmin!r}, {self.vmax!r})"


def is_until(spec: Any) -> bool:
    """Whether this is ``("until", T)``: the period ends T ms after the trial began."""
    return isinstance(spec, list | tuple) and len(spec) == 2 and spec[0] == "until"


def draw(spec: Any, rng: np.random.Generator) -> float:
    """One duration in ms: of a number, a function without arguments, a list of choices, or any
    written distribution.
    """
    if isinstance(spec, TruncExp):
        return spec(rng)
    if callable(spec):
        with drawing_from(rng):
            return float(spec())
    return float(parse(spec).sample(rng, 1)[0])
