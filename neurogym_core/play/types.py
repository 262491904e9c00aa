"""`TypeIndex`: trials with the same conditions are of one type, which is laid out once.

Where conditions say all of a trial but its noise (no duration is drawn, `new_trial` draws nothing),
a task has as many types of trials as its conditions have combinations, and looking one up is
several times as fast as laying it out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from neurogym_core.play.tables import Shown, Tables, shown_of, tables_of
from neurogym_core.tasks.building import build_trials
from neurogym_core.tasks.task import Task
from neurogym_core.trials.arrays import Array, Bools, Columns, Floats, Ints, Wholes
from neurogym_core.trials.batch import TrialBatch

FEW = 16
"""Trials up to which their types are found one by one."""
TRIED = 256
"""Types that are laid out before it is asked whether any of them come again."""
COMBINATIONS = 1 << 20


class Types:
    """k types of trials: their tables, and what records, datasets and continuous answers need.

    Args:
        batch: one trial of each type.

    Attributes:
        shown: what they show and ask for.
    """

    shown: Shown

    def __init__(self, batch: TrialBatch) -> None:
        self.batch, self.shown = batch, shown_of(batch)

    @cached_property
    def tables(self) -> Tables:
        """All that can happen; datasets need it only to judge answers."""
        return tables_of(self.batch, self.shown)

    @property
    def period_names(self) -> tuple[str, ...]:
        """(P,) names of the periods."""
        return self.batch.period_names

    @property
    def slot_names(self) -> tuple[str, ...]:
        """(K,) names of the answer slots."""
        return self.batch.payoffs.slot_names

    @property
    def slot_units(self) -> tuple[slice, ...]:
        """(K,) slices of the action that answer each slot."""
        return self.batch.payoffs.units

    @property
    def pays(self) -> tuple[Any, ...]:
        """(K,) pay of a continuous answer, (distance, tolerance) -> reward, or None."""
        return self.batch.payoffs.pays

    @property
    def notes(self) -> Columns:
        """Name -> (k, …), covariates."""
        return self.batch.notes

    @cached_property
    def path(self) -> Wholes:
        """(k, S) steps of each segment that the oracle plays."""
        return np.ascontiguousarray(self.batch.path, np.int64)

    @cached_property
    def steps(self) -> Wholes:
        """(k,) steps that the oracle plays."""
        return self.path.sum(axis=1)  # type: ignore[no-any-return]

    @cached_property
    def ahead(self) -> Floats:
        """(k, S) steps from the first one of a segment to its period's end; inf: without a
        timer.
        """
        period, places = self.batch.period, np.arange(len(self.batch.period))
        later = (period == period[:, None]) & (places >= places[:, None])
        steps: Floats = (self.batch.duration @ later.T.astype(np.int64)).astype(np.float64)
        steps[:, np.isin(period, self.batch.untimed_places)] = np.inf
        return steps

    @cached_property
    def durations(self) -> Mapping[str, Floats]:
        """Name -> (k,) ms of each period."""
        return {
            name: steps * float(self.batch.interface.dt)
            for name, steps in self.batch.period_steps.items()
        }


class TypeIndex:
    """The types of trials of a task that were met so far."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.useless = False
        """Whether too few trials share a type, or conditions do not say all of a trial."""
        self._batch: TrialBatch | None = None  # one trial of each type
        self._asked = 0

    def find(
        self, conditions: Columns, n: int, rng: np.random.Generator, durations: Columns
    ) -> tuple[Types, Ints]:
        """The types of `n` trials with these conditions and durations; (n,) the type of each."""
        self._asked += n
        found = None
        if not self.useless and not durations:
            found = (
                self._first(conditions, n, rng)
                if self._batch is None
                else self._known(conditions, rng)
            )
        return found or (
            Types(build_trials(self.task, conditions, rng, n, durations)),
            np.arange(n),
        )

    def _first(self, conditions: Columns, n: int, rng: np.random.Generator) -> tuple[Types, Ints]:
        """Lay out all trials, and keep their types if those with equal conditions are equal."""
        before = str(rng.bit_generator.state)
        batch = build_trials(self.task, conditions, rng, n, {})
        if batch.random or batch.frames or not conditions or str(rng.bit_generator.state) != before:
            self.useless = True
        else:
            first, kind = _distinct(_flat(conditions))
            self.useless = len(first) > max(TRIED, n // 2) or not _alike(batch, first, kind)
        if self.useless:
            return Types(batch), np.arange(n)
        self._keep(batch.take(first))
        return self._types, kind

    def _known(self, conditions: Columns, rng: np.random.Generator) -> tuple[Types, Ints] | None:
        """Look the types up, and lay out those that are new."""
        kind = self._find(_flat(conditions))
        new = np.flatnonzero(kind < 0)
        if len(new):
            new = new[_distinct([values[new] for values in _flat(conditions)])[0]]
            batch = build_trials(
                self.task,
                {name: values[new] for name, values in conditions.items()},
                rng,
                len(new),
                {},
            )
            known = [self._batch] if self._batch is not None else []
            self._keep(TrialBatch.concatenate([*known, batch]))
            kind = self._find(_flat(conditions))
            self.useless = self.useless or bool((kind < 0).any())  # NaN is unlike itself
        return None if self.useless and (kind < 0).any() else (self._types, kind)

    def _keep(self, batch: TrialBatch) -> None:
        self._batch, self._types = batch, Types(batch)
        columns = _flat(batch.conditions)
        self._levels = [np.unique(values) for values in columns]
        combinations = math.prod(len(levels) for levels in self._levels)
        many = len(batch) > TRIED and 2 * len(batch) > self._asked
        self.useless = many or combinations > COMBINATIONS
        self._by_values = {values: kind for kind, values in enumerate(_rows(columns))}
        self._type_of = np.full(1 if self.useless else combinations, -1)
        if not self.useless:
            self._type_of[self._codes(columns)[0]] = np.arange(len(batch))

    def _codes(self, columns: list[Array]) -> tuple[Ints, Bools]:
        """(n,) a number for each combination of known values, and (n,) where all are known."""
        code, known = np.zeros(len(columns[0]), np.int64), np.ones(len(columns[0]), np.bool_)
        for levels, values in zip(self._levels, columns, strict=True):
            at = np.minimum(levels.searchsorted(values), len(levels) - 1)
            known &= levels[at] == values
            code = code * len(levels) + at
        return code, known

    def _find(self, columns: list[Array]) -> Ints:
        """(n,) the type of each trial, -1 where it is not known."""
        if len(columns) != len(self._levels) or self.useless:
            return np.full(len(columns[0]), -1)
        if len(columns[0]) <= FEW:
            return np.array([self._by_values.get(values, -1) for values in _rows(columns)])
        code, known = self._codes(columns)
        return np.where(known, self._type_of[np.where(known, code, 0)], -1)


def _flat(conditions: Columns) -> list[Array]:
    """All conditions as columns (n,)."""
    return [
        part
        for values in conditions.values()
        for part in ([values] if values.ndim == 1 else values.reshape(len(values), -1).T)
    ]


def _rows(columns: list[Array]) -> Iterator[tuple[Any, ...]]:
    return zip(*(values.tolist() for values in columns), strict=True)


def _distinct(columns: list[Array]) -> tuple[Ints, Ints]:
    """(k,) the first row of each combination of values; (n,) which of these each row is like."""
    codes = np.stack(
        [np.unique(values, return_inverse=True)[1].reshape(-1) for values in columns], axis=1
    )
    _, first, kind = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    return first, kind.reshape(-1)


def _alike(batch: TrialBatch, first: Wholes, kind: Wholes) -> bool:
    """Whether trials of one type are the same in what is shown, asked and noted."""
    columns = [batch.duration, batch.target, batch.weight, batch.shown, *batch.notes.values()]
    columns += [batch.noise] if len(batch.noise) > 1 else []
    return all(np.array_equal(values, values[first][kind]) for values in columns)
