"""`Library`: trials that were laid out before, so that those with the same conditions need not be laid out again.

Where conditions say all of a trial but its noise (no duration is drawn, `new_trial` draws nothing), a task has as many
kinds of trials as its conditions have combinations. Looking one up is several times as fast as laying it out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from neurogym_core.play.table import PlayTable
from neurogym_core.trials.batch import KnownRows, TrialBatch, sorted_by_kind

if TYPE_CHECKING:
    from neurogym_core.play.stream import TrialStream

MANY = 256
"""Trials that are kept, of those that are drawn one by one."""


class Library:
    """One trial of every kind that was met.

    Attributes:
        kinds: these k trials.
    """

    def __init__(self, kinds: TrialBatch) -> None:
        self.kinds = kinds
        self._known = KnownRows(kinds.conditions.values())

    @classmethod
    def of(cls, batch: TrialBatch) -> Library | None:
        """The kinds of a batch, or None where too few of its trials are alike, or trials differ that should be alike."""
        if batch.random or batch.frames or not batch.conditions:
            return None
        first, kind = sorted_by_kind([*batch.conditions.values()])
        if first is None:
            return None
        columns = [batch.duration, batch.target, batch.weight, batch.shown, *batch.notes.values()]
        if len(batch.noise) > 1:
            columns.append(batch.noise)
        if not all(np.array_equal(values, values[first][kind]) for values in columns):
            return None
        library = cls(batch.take(first))
        batch.like = (library.kinds, kind)
        return library

    def find(self, conditions: Mapping[str, np.ndarray]) -> TrialBatch | None:
        """The trials with these conditions, (n, …) each; None if one of them is of no kind that was met."""
        if conditions.keys() != self.kinds.conditions.keys():
            return None
        kind = self._known.find(conditions.values())
        if kind is None:
            return None
        batch = self.kinds.take(kind, dict(conditions))
        batch.like = (self.kinds, kind)
        return batch


def _nobody() -> np.ndarray:
    return np.zeros(0, np.int64)


class OneByOne:
    """Trials that are drawn one by one, since they depend on the last outcome, on a table of those met so far.

    The table has no noise, because many trials share a row of it; whoever plays adds it.

    Attributes:
        table: the trials.
        moved: where the rows that were being played have gone with the last draw, None: nowhere.
    """

    def __init__(self, stream: TrialStream) -> None:
        self.stream = stream
        self.table: PlayTable | None = None
        self.moved: np.ndarray | None = None
        self._rows: dict[tuple, int] = {}
        self._known = self._new = 0  # how often trials were looked up, and laid out

    def draw(self, envs: np.ndarray, playing: Callable[[], np.ndarray] = _nobody) -> np.ndarray:
        """(m,) rows of the coming trials of these envs; `playing` gives the rows that others are in the middle of."""
        conditions = self.stream.draw_for(envs)
        keys = _keys(conditions, len(envs))
        self.moved = None
        rows = np.fromiter((self._rows.get(key, -1) for key in keys), np.int64, len(keys))
        if rows[rows.argmin()] >= 0:
            self._known += len(keys)
            return rows
        new = np.flatnonzero(rows < 0)
        self._known += len(rows) - len(new)
        self._new += len(new)
        batch, determined = self.stream.lay_out({name: values[new] for name, values in conditions.items()}, len(new))
        remembers = determined and (self._new < MANY or self._known > self._new)
        keep, rows = self._make_room(rows, playing(), len(new), remembers)
        self.table = self.table.extend(keep, batch, None) if len(keep) else PlayTable.render(batch, None)
        rows[new] = len(keep) + np.arange(len(new))
        if remembers:
            self._rows.update((keys[i], int(rows[i])) for i in new)
        return rows

    def _make_room(self, rows: np.ndarray, playing: np.ndarray, more: int, remembers: bool) -> tuple[np.ndarray, np.ndarray]:
        """Forget trials that nobody plays where there are too many: rows to keep, and the given ones as numbered then."""
        size = 0 if self.table is None else len(self.table.batch)
        if remembers and size + more <= MANY:
            return np.arange(size), rows
        keep = np.unique(np.concatenate([playing, rows[rows >= 0]]))
        self.moved = moved = np.full(size, -1)
        moved[keep] = np.arange(len(keep))
        self._rows = {key: int(moved[row]) for key, row in self._rows.items() if moved[row] >= 0}
        return keep, np.array([moved[row] if row >= 0 else -1 for row in rows])


def _keys(conditions: Mapping[str, np.ndarray], n: int) -> list[tuple[Any, ...]]:
    """What tells trials apart, one for each."""
    columns = [values.tolist() if values.ndim == 1 else [row.tobytes() for row in values] for values in conditions.values()]
    return list(zip(*columns, strict=True)) if columns else [()] * n
