"""Perturbations of a network: pulses, inputs that stand still, and silent units.

A perturbation belongs to trials as their noise does: recorded with the same seed, trials with and
without it are pairs, whose difference is its effect.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from neurogym_core import InvalidValueError
from neurogym_core.tools import unknown
from neurogym_neural.activity import Activity, indices


@dataclass(frozen=True)
class Pulse:
    """A pulse to some units: of the inputs, or of the states of a network.

    ``record_activity(…, change=Pulse(…))`` adds it to inputs, and ``record_activity(…,
    push=Pulse(…))`` to states. Trials that lack the event have none.

    Args:
        units: indices of the units, or a mask of all.
        size: added on each step, in the unit of the inputs or states: a number, or one for each
            unit, which is a direction in their space.
        at: the event, or the onset of a period, with which it begins.
        after: ms from the event to the pulse.
        ms: its duration; a step counts if its onset is within it.

    Raises:
        InvalidValueError: other numbers of sizes than of units, or no duration.

    Example:
        >>> import numpy as np
        >>> from neurogym_neural import Activity, Pulse
        >>> shown = Activity(np.zeros((1, 4, 2)), {"a": [0]}, step=10, events={"light": [10]})
        >>> Pulse([1], 0.5, at="light", ms=20)(shown)[0].tolist()
        [[0.0, 0.0], [0.0, 0.5], [0.0, 0.5], [0.0, 0.0]]
    """

    units: Sequence[int]
    size: float | Sequence[float]
    at: str
    after: float = 0.0
    ms: float = 100.0

    def __post_init__(self) -> None:
        sizes, units = np.shape(self.size), np.asarray(self.units)
        count = int(units.sum()) if units.dtype == bool else units.size
        known = np.isfinite(self.size).all() and np.isfinite(self.after)
        if sizes not in ((), (count,)) or not self.ms > 0 or not known:
            raise InvalidValueError(
                f"Pulse was given {count} units, size={self.size!r}, after={self.after!r} and"
                f" ms={self.ms!r}. Expected one size, or one for each unit, numbers, and ms above"
                " 0. Give these."
            )

    def added(self, shown: Activity, width: int | None = None) -> np.ndarray:
        """Return the pulse of each trial, (n, T, width).

        Args:
            shown: activity in the trials; its times and events count.
            width: number of units; None: those of `shown`.

        Raises:
            UnknownNameError: the trials have no such event.
            InvalidValueError: there is no such unit.
        """
        size = shown.rates.shape[2] if width is None else width
        found = np.zeros((*shown.rates.shape[:2], size), np.float32)
        since = shown.time - _times(shown, self.at)[:, None] - self.after
        during = (since >= -1e-6) & (since < self.ms - 1e-6)  # False where the event is NaN
        found[..., _units(self.units, size, "Pulse")] = during[..., None] * np.asarray(
            self.size, np.float32
        )
        return found

    def __call__(self, shown: Activity) -> np.ndarray:
        """Return the inputs with the pulse, (n, T, units)."""
        changed: np.ndarray = shown.rates + self.added(shown)
        return changed


@dataclass(frozen=True)
class Freeze:
    """Inputs that stand still during a period, as they were on its first step.

    ``record_activity(…, change=Freeze("stimulus"))`` shows the dynamics of a network for a
    constant input: it moves to the fixed points of this input.

    Args:
        during: the period.
        units: indices of the inputs that stand still, or a mask of all inputs; None: all.
    """

    during: str
    units: Sequence[int] | None = None

    def __call__(self, shown: Activity) -> np.ndarray:
        """Return the inputs, (n, T, units).

        Raises:
            UnknownNameError: the trials have no such period.
            InvalidValueError: there is no such unit.
        """
        width = shown.rates.shape[2]
        units = _units(range(width) if self.units is None else self.units, width, "Freeze")
        onset = _times(shown, self.during, "period")
        known = np.isfinite(onset)
        first = np.rint((np.where(known, onset, 0) - shown.start) / shown.step).astype(int)
        during = _during(shown, self.during)
        found = shown.rates.copy()
        held = shown.rates[np.arange(len(shown)), first][:, None, units]
        found[..., units] = np.where(during[..., None], held, found[..., units])
        return found


@dataclass(frozen=True)
class Silence:
    """Units of a network that are silent: lesioned, or during one period.

    With ``record_activity(…, silence=Silence(…))`` their rates and states are 0, so that neither
    other units nor the outputs hear them.

    Args:
        units: indices of the units, or a mask of all.
        during: a period of the task; None: the whole trial, a lesion.
    """

    units: Sequence[int]
    during: str | None = None

    def mask(self, shown: Activity, width: int) -> np.ndarray:
        """Return where units are silent, (n, T, width) bool.

        Args:
            shown: activity in the trials; its times and events count.
            width: number of units.

        Raises:
            UnknownNameError: the trials have no such period.
            InvalidValueError: there is no such unit.
        """
        found = np.zeros((*shown.rates.shape[:2], width), bool)
        units = _units(self.units, width, "Silence")
        found[..., units] = True if self.during is None else _during(shown, self.during)[..., None]
        return found


def _times(shown: Activity, event: str, kind: str = "event") -> np.ndarray:
    if event not in shown.events:
        raise unknown(kind, event, shown.events, of="the task")
    return shown.events[event] - shown.events[shown.event]


def _during(shown: Activity, period: str) -> np.ndarray:
    """Return which steps lie in a period, (n, T) bool; none where it is absent."""
    onset, end = (_times(shown, name, "period") for name in (period, f"{period}.end"))
    # A comparison with NaN is False.
    inside: np.ndarray = shown.time >= onset[:, None] - 1e-6
    return inside & (shown.time < end[:, None] - 1e-6)


def _units(given: Sequence[int], width: int, of: str) -> np.ndarray:
    units = indices(given, width, f"{of} was given units")
    counted = np.asarray(given).dtype == bool or (np.asarray(given) >= 0).all()
    if not len(units) or len(np.unique(units)) < len(units) or not counted:
        raise InvalidValueError(
            f"{of} was given units={list(given)!r}. Expected one unit at least, and each once, of"
            f" {width}. Give others."
        )
    return units


__all__ = ["Freeze", "Pulse", "Silence"]
