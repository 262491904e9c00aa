"""`TypeIndex`: trials with the same conditions are of one type, which is built once.

If the conditions determine a trial but for its noise (no duration is drawn, `new_trial` draws
nothing), a task has as many types of trials as its conditions have combinations. Looking a type up
is several times as fast as building it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from neurogym_core.tasks.building import build_trials
from neurogym_core.tasks.task import Task
from neurogym_core.trials.arrays import Array, Bools, Columns, Ints, Wholes, one_row
from neurogym_core.trials.tables import Tables

FEW = 16
"""Largest number of trials whose types are looked up one by one, in a dict."""
TRIED = 256
"""Number of types that are built before the index is checked for types that never recur."""
COMBINATIONS = 1 << 20
"""Largest size of the look-up table: one entry for each combination of known values."""


class TypeIndex:
    """The types of trials of a task that have occurred so far."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.useless = False
        """Whether the index is off: types rarely recur, or conditions do not determine a trial."""
        self._types: Tables | None = None
        self._conditions: Columns = {}  # of the types
        self._asked = 0  # number of trials so far

    def find(
        self, conditions: Columns, n: int, rng: np.random.Generator, durations: Columns
    ) -> tuple[Tables, Ints]:
        """Return the types of `n` trials with these conditions, and (n,) each one's type.

        Imposed durations are no conditions, so trials with them are always built.
        """
        self._asked += n
        found = None
        if not self.useless and not durations:
            found = (
                self._first(conditions, n, rng)
                if self._types is None
                else self._known(conditions, rng)
            )
        return found or (
            build_trials(self.task, conditions, rng, n, durations).tables,
            np.arange(n),
        )

    def _first(self, conditions: Columns, n: int, rng: np.random.Generator) -> tuple[Tables, Ints]:
        """Build all trials; keep their types if equal conditions give equal trials."""
        # The state of the generator shows whether `new_trial` or a duration has drawn from it. If
        # so, looking trials up instead of building them would also change all later draws.
        before = str(rng.bit_generator.state)
        tables = build_trials(self.task, conditions, rng, n, {}).tables
        if (
            tables.random
            or len(tables.script)
            or not conditions
            or str(rng.bit_generator.state) != before
        ):
            self.useless = True
        else:
            first, kind = _distinct(_flat(conditions))
            # `new_trial` may use state other than the conditions, so the trials are compared.
            self.useless = len(first) > max(TRIED, n // 2) or not _alike(tables, first, kind)
        if self.useless:
            return tables, np.arange(n)
        return self._keep(
            tables.take(first), {name: values[first] for name, values in conditions.items()}
        ), kind

    def _known(self, conditions: Columns, rng: np.random.Generator) -> tuple[Tables, Ints] | None:
        """Look the types up, and build those that are new; None if that is not possible."""
        types, kind = self._types, self._find(_flat(conditions))
        assert types is not None
        new = np.flatnonzero(kind < 0)
        if len(new):
            new = new[_distinct([values[new] for values in _flat(conditions)])[0]]
            added = {name: values[new] for name, values in conditions.items()}
            tables = build_trials(self.task, added, rng, len(new), {}).tables
            known = self._conditions
            types = self._keep(
                Tables.concatenate([types, tables]),
                {name: np.concatenate([known[name], values]) for name, values in added.items()},
            )
            kind = self._find(_flat(conditions))
            # A type that was just added is not found if a condition is NaN, which differs from
            # itself.
            self.useless = self.useless or bool((kind < 0).any())
        return None if self.useless and (kind < 0).any() else (types, kind)

    def _keep(self, types: Tables, conditions: Columns) -> Tables:
        self._types, self._conditions = types, conditions
        columns = _flat(conditions)
        # A type is found by the position of its values among the known ones of each condition, as
        # an index into a table of all combinations; a dict serves calls with few trials.
        self._levels = [np.unique(values) for values in columns]
        combinations = math.prod(len(levels) for levels in self._levels)
        many = len(types) > TRIED and 2 * len(types) > self._asked
        self.useless = many or combinations > COMBINATIONS
        self._by_values = {values: kind for kind, values in enumerate(_rows(columns))}
        self._type_of = np.full(1 if self.useless else combinations, -1)
        if not self.useless:
            self._type_of[self._codes(columns)[0]] = np.arange(len(types))
        return types

    def _codes(self, columns: list[Array]) -> tuple[Ints, Bools]:
        """Return (n,) the index of each combination of values, and (n,) whether all are known."""
        code, known = np.zeros(len(columns[0]), np.int64), np.ones(len(columns[0]), np.bool_)
        for levels, values in zip(self._levels, columns, strict=True):
            at = np.minimum(levels.searchsorted(values), len(levels) - 1)
            known &= levels[at] == values
            code = code * len(levels) + at
        return code, known

    def _find(self, columns: list[Array]) -> Ints:
        """Return (n,) the type of each trial, -1 if it is not known."""
        if len(columns) != len(self._levels) or self.useless:
            return np.full(len(columns[0]), -1)
        if len(columns[0]) <= FEW:
            return np.array([self._by_values.get(values, -1) for values in _rows(columns)])
        code, known = self._codes(columns)
        return np.where(known, self._type_of[np.where(known, code, 0)], -1)


def _flat(conditions: Columns) -> list[Array]:
    """Return all conditions as columns (n,); conditions with several values give several."""
    return [
        part
        for values in conditions.values()
        for part in ([values] if values.ndim == 1 else values.reshape(len(values), -1).T)
    ]


def _rows(columns: list[Array]) -> Iterator[tuple[Any, ...]]:
    return zip(*(values.tolist() for values in columns), strict=True)


def _distinct(columns: list[Array]) -> tuple[Ints, Ints]:
    """Return (k,) the first row of each combination of values, and (n,) each row's combination."""
    # np.unique cannot sort rows of different types, so the values are numbered column by column.
    codes = np.stack(
        [np.unique(values, return_inverse=True)[1].reshape(-1) for values in columns], axis=1
    )
    _, first, kind = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    return first, kind.reshape(-1)


def _alike(tables: Tables, first: Wholes, kind: Wholes) -> bool:
    """Return whether all trials of a type have equal durations, observations, targets and notes."""
    seen = (tables.duration, tables.target, tables.weight, tables.shown, tables.sd)
    return all(
        len(one_row(values)) == 1 or np.array_equal(values, values[first][kind])
        for values in (*seen, *tables.notes.values())
    )
