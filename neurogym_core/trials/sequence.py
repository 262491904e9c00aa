"""`Items`: the moments of the items of a stream, which `trial.sequence` shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from neurogym_core.errors import TrialLayoutError
from neurogym_core.trials import arguments
from neurogym_core.trials.arrays import Array, Floats
from neurogym_core.trials.layout import Layout, to_steps


@dataclass(frozen=True, eq=False)
class Items:
    """The items of a stream, as `TrialBuilder.sequence` returns them.

    Attributes:
        during: the periods of the stream.
        onset: (n, K) ms from the onset of the (first) period to that of each item.

    Example:
        >>> from neurogym_core import Choice, Task, run
        >>> class Oddball(Task):
        ...     timing = {"tones": 1000, "silence": 500}
        ...
        ...     def define(self):
        ...         self.observe(tone=("low", "high"))
        ...         self.act(rest=1, press=1)
        ...         self.vary(rare=Choice(range(5)))
        ...
        ...     def new_trial(self, trial):
        ...         trial.periods("tones", "silence")
        ...         pitch = (trial["rare"][:, None] == range(5)) * 1
        ...         items = trial.sequence("tone", pitch, during=("tones", "silence"), soa=200)
        ...         trial.answer("press", 0, **items.after(trial["rare"], 500))
        >>> set(run(Oddball, "late_oracle", 20, seed=0)["reaction_time"].tolist())
        {500.0}
    """

    during: Any
    onset: Floats

    def after(self, item: Any, ms: Any, *, delay: Any = 0.0) -> dict[str, Any]:
        """Return `during`, `start` and `stop` of a window that follows an item.

        ``trial.answer("press", 0, **items.after(place, 1000))``. The window may be longer than the
        time from item to item, and ends with the periods of the stream at the latest. Windows that
        one action could answer must not overlap.

        Args:
            item: number of the item, from 0, one or (n,).
            ms: length of the window, one or (n,).
            delay: ms from the onset of the item to that of the window, one or (n,).
        """
        n, count = self.onset.shape
        item = np.asarray(item)
        if (
            item.shape not in ((), (n,))
            or item.dtype.kind not in "iu"
            or ((item < 0) | (item >= count)).any()
        ):
            raise TrialLayoutError(
                f"after() of a stream of {count} items was given {arguments.brief(item)}. Expected"
                f" numbers of items, from 0 to {count - 1}, one or shape ({n},). Count from 0."
            )
        start = self.onset[np.arange(n), np.broadcast_to(item, (n,))] + delay
        return {"during": self.during, "start": start, "stop": start + ms}


def onsets(layout: Layout, count: int, onset: Any, soa: Any) -> Floats:
    """Return the onsets of `count` items, (n, K) ms, or raise `TrialLayoutError`."""
    first = np.asarray(onset, np.float64)
    if first.ndim == 2:
        shape = (layout.n, count)
        if soa is not None or first.shape not in (shape, (1, count)):
            raise TrialLayoutError(
                f"onset= of sequence() of {layout.name} was given shape {first.shape} and"
                f" soa={soa!r}. Expected shape {shape} without soa=, or the onset of the first item"
                " with soa=. Give one of them."
            )
        at = np.broadcast_to(first, shape)
    else:
        if soa is None and count > 1:
            raise TrialLayoutError(
                f"sequence() of {layout.name} was given no soa=. Expected ms from the onset of an"
                " item to that of the next one, or onset= of each item, (n, K). Give one of them."
            )
        each = arguments.per_trial(layout, "soa", 0.0 if soa is None else soa)
        at = arguments.per_trial(layout, "onset", onset)[:, None]
        at = at + each[:, None] * np.arange(count)
    if count > 1 and (np.diff(to_steps(at, layout.dt), axis=1) < 1).any():
        gaps = np.diff(at, axis=1)
        raise TrialLayoutError(
            f"sequence() of {layout.name} was given items {gaps.min():g} ms apart, which begin on"
            f" the same step of {layout.dt:g} ms. Expected at least a step from item to item. Use a"
            " smaller dt, or a longer soa=."
        )
    return at


def encoded(layout: Layout, channel: str, items: Any) -> tuple[Array, Array]:
    """Return the values of items, (n or 1, K, k), and where there is one, (n or 1, K)."""
    encoder, n = layout.interface.channels.encoder(channel), layout.n
    values, k = np.asarray(items), layout.interface.channels.width(channel)
    if k == 1 and values.dtype.kind in "iuf" and values.ndim in (1, 2):  # one unit: strengths
        values = np.atleast_2d(values).astype(np.float64)[:, :, None]
        shown = np.full(values.shape[:2], True)
    elif values.dtype.kind in "iuU" and values.ndim in (1, 2):
        values = np.atleast_2d(values)
        shown = np.full(values.shape, True) if values.dtype.kind == "U" else values >= 0
        names = getattr(encoder, "names", ())
        if values.dtype.kind == "U":
            known = {name: index for index, name in enumerate(names)}
            _check_known(layout, channel, values, known)
            values = np.vectorize(known.__getitem__, otypes=[np.int64])(values)
        if values.max(initial=-1) >= k:
            _check_known(layout, channel, values, dict.fromkeys(range(k)))
        code = getattr(encoder, "encode", None)
        table = np.eye(k) if code is None else code(np.arange(k))
        values = table[np.maximum(values, 0)]
    elif values.dtype.kind == "f" and values.ndim == 3 and values.shape[2] in (1, k):
        shown = np.full(values.shape[:2], True)
    else:
        shown = np.zeros((0, 0), bool)
    if values.ndim != 3 or len(values) not in (1, n) or not values.shape[1]:
        raise TrialLayoutError(
            f"sequence({channel!r}) of {layout.name} was given items of type"
            f" {np.asarray(items).dtype} and shape {np.shape(items)}. Expected indices or names of"
            f" units, (K,) or ({n}, K), -1 for none; or values, ({n}, K, {k}). Give one row per"
            " trial."
        )
    return values, shown


def _check_known(layout: Layout, channel: str, values: Array, known: Any) -> None:
    for value in np.unique(values).tolist():
        if value not in known and value != -1:
            raise TrialLayoutError(
                f"sequence({channel!r}) of {layout.name} was given the item {value!r}. Expected"
                f" units of the channel, 0 to {layout.interface.channels.width(channel) - 1}, or"
                " their names. Declare more units, or give others."
            )
