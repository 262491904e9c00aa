"""`Timing`: the durations of a task's periods."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from neurogym_core.errors import TrialLayoutError
from neurogym_core.trials.arrays import Array, Ints
from neurogym_core.trials.distributions import Constant, Distribution
from neurogym_core.trials.layout import Layout, to_steps

SHORTEST = 3.0
"""Times below this, in ms, are probably seconds."""
CHANGE = 0.1
"""The largest change of a time, relative to it, without a warning."""


class TimeWarning(UserWarning):
    """A time of a task is rounded, or is probably given in seconds."""


def seconds_text(lasts: str, ms: Array) -> str | None:
    """Return a warning if times are probably seconds; `lasts` begins it: "Period 'cue' lasts"."""
    longest = float(np.max(ms))
    if not 0 < longest < SHORTEST:
        return None
    return (
        f"{lasts} {longest:g} ms. Expected {SHORTEST:g} ms or more, or 0. If these are seconds,"
        f" write {1000 * longest:g}: all times are in ms."
    )


def rounding_text(lasts: str, ms: Array, dt: float) -> str | None:
    """Return a warning if `dt` changes one of several times, (m,) or one, by over 10 %."""
    ms = np.atleast_1d(ms).astype(np.float64)
    ms = ms[np.isfinite(ms) & (ms > 0)]
    played = whole_steps(ms, dt) * dt
    change = np.abs(played - ms) / ms
    if not (change > CHANGE + 1e-9).any():
        return None
    i = int(np.argmax(change))
    return (
        f"{lasts} {ms[i]:g} ms, which dt={dt:g} ms rounds to {played[i]:g} ms. Use a smaller dt, or"
        " times that are multiples of it."
    )


@dataclass(frozen=True, eq=False)
class Timing:
    """Durations of periods, in ms.

    Attributes:
        declared: period -> distribution.
        given: periods whose distribution the user gave; it overrides a duration that `new_trial`
            computes.
    """

    declared: Mapping[str, Distribution]
    given: frozenset[str] = frozenset()

    def set_steps(
        self, layout: Layout, period: str, rng: np.random.Generator, computed: Mapping[str, Any]
    ) -> None:
        """Set the steps of a period: as imposed, else by the user, `new_trial`, or the class."""
        if period in layout.durations:
            ms: Any = layout.durations[period]
        elif period in self.given or period not in computed:
            ms = self._drawn(layout, period, rng)
        else:
            ms = computed[period]
            ms = ms() if callable(ms) else ms
            ms = float(ms) if isinstance(ms, int | float) else ms
        timeline, dt = layout.timeline, layout.dt
        if isinstance(ms, float) and 0 <= ms < math.inf:
            # Most durations are one number: `whole_steps` without arrays.
            timeline.given[period] = ms
            steps = max(int(ms / dt + 0.5 + 1e-9), int(ms > 0))
            timeline.steps[period] = np.full(layout.n, steps)
            return
        try:
            ms = np.asarray(ms, dtype=np.float64)
        except (TypeError, ValueError):
            raise TrialLayoutError(
                f"Period {period!r} of {layout.name} was given the duration {ms!r}; durations are"
                " numbers of ms."
            ) from None
        _check_ms(layout, period, ms)
        if np.isposinf(ms).all():
            timeline.untimed.add(period)
            ms = np.zeros(ms.shape)
        timeline.given[period] = ms
        timeline.steps[period] = np.broadcast_to(whole_steps(ms, dt), (layout.n,))

    def _drawn(self, layout: Layout, period: str, rng: np.random.Generator) -> float | Array:
        if period not in self.declared:
            raise TrialLayoutError(
                f"Period {period!r} of {layout.name} has no duration: add it to timing = {{…}}, or"
                f" compute it in trial.periods(…, {period}=ms). Periods in timing:"
                f" {', '.join(self.declared) or 'none'}."
            )
        distribution = self.declared[period]
        return (
            float(distribution.value)
            if isinstance(distribution, Constant)
            else distribution.sample(rng, layout.n)
        )


def whole_steps(ms: Array, dt: float) -> Ints:
    """Round durations in ms to steps; a positive duration has at least one step."""
    return np.maximum(to_steps(ms, dt), ms > 0)


def _check_ms(layout: Layout, period: str, ms: Array) -> None:
    if ms.ndim > 1 or (ms.ndim == 1 and ms.shape != (layout.n,)):
        raise TrialLayoutError(
            f"Period {period!r} of {layout.name} was given durations of shape {ms.shape}; give one"
            f" number, or shape ({layout.n},)."
        )
    bad = ms[~(ms >= 0)]  # also NaN
    if bad.size:
        raise TrialLayoutError(
            f"Period {period!r} of {layout.name} was given the duration {float(bad.flat[0])} ms;"
            " durations are 0 or more."
        )
    if np.isposinf(ms).any() and not np.isposinf(ms).all():
        raise TrialLayoutError(
            f"Period {period!r} of {layout.name} was given inf (no timer) in some trials only; give"
            " inf for all of them, or a number for all."
        )
