"""`Block`: trials that are dealt together, as rows of one table, and the log of their results."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from neurogym_core.trials.arrays import Array, Bools, Columns, Reals, Wholes
from neurogym_core.trials.record import RESTING
from neurogym_core.trials.tables import Tables

NOT_VISITED = -1
"""Onset and offset of periods that were not played."""


class Log:
    """Results of the trials of a block; the kernel fills a row while it plays the trial.

    Attributes:
        env, number, session: (n,) int64, the env of the trial, its number there, and the number
            of its session.
        steps, aborts: (n,) int64, steps played, and actions that broke the hold.
        reward, performance: (n,) float64.
        outcome: (n,) int8, the trial's `Outcome`; set when it ends.
        ended: (n,) bool.
        opened: (n, K) int64, the clock at the opening of the response window.
        slot_outcome, slot_choice: (n, K) int8, int64; RESTING: no choice.
        slot_time: (n, K) float64, ms from the opening to the answer; NaN: no answer.
        slot_score: (n, K) float64.
        values: (n, K, D) float64, continuous answers in task units.
        onset, offset: (n, P) int64, the clock at the first onset and the last offset of each
            period as played; NOT_VISITED for others.
        answers, first_outcome, first_choice, first_time: (n, K) int64, int8, int64, float64, number
            of answers and the first of them, where a slot can be answered again; else (n, 0).
    """

    env: Wholes
    number: Wholes
    session: Wholes
    steps: Wholes
    aborts: Wholes
    reward: Reals
    performance: Reals
    outcome: Wholes
    ended: Bools
    opened: Wholes
    slot_outcome: Wholes
    slot_choice: Wholes
    slot_time: Reals
    slot_score: Reals
    values: Reals
    onset: Wholes
    offset: Wholes
    answers: Wholes
    first_outcome: Wholes
    first_choice: Wholes
    first_time: Reals

    def __init__(
        self, n: int, slots: int, dimensions: int, periods: int, *, again: bool = False
    ) -> None:
        whole, real, each, slot, period = np.int64, np.float64, (n,), (n, slots), (n, periods)
        first = slot if again else (n, 0)
        shapes: dict[str, tuple[tuple[int, ...], type[np.generic]]] = {
            "env": (each, whole), "number": (each, whole), "session": (each, whole),
            "steps": (each, whole), "aborts": (each, whole), "reward": (each, real),
            "performance": (each, real), "opened": (slot, whole), "slot_choice": (slot, whole),
            "slot_time": (slot, real), "slot_score": (slot, real),
            "values": ((n, slots, dimensions), real), "onset": (period, whole),
            "offset": (period, whole), "answers": (first, whole), "first_choice": (first, whole),
            "first_time": (first, real), "first_outcome": (first, np.int8),
            "slot_outcome": (slot, np.int8), "outcome": (each, np.int8), "ended": (each, np.bool_),
        }  # fmt: skip
        self.__dict__.update(carved(shapes))
        self.slot_choice.fill(RESTING)
        self.onset.fill(NOT_VISITED)
        self.offset.fill(NOT_VISITED)
        self.slot_time.fill(np.nan)
        self.first_choice.fill(RESTING)
        self.first_time.fill(np.nan)

    def __getstate__(self) -> dict[str, Any]:
        return {name: values.copy() for name, values in self.__dict__.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(
            carved({name: (values.shape, values.dtype.type) for name, values in state.items()})
        )
        for name, values in state.items():
            getattr(self, name)[...] = values


def carved(shapes: Mapping[str, tuple[tuple[int, ...], type[np.generic]]]) -> dict[str, Array]:
    """Return arrays of zeros that are consecutive views of one new bytearray.

    The compiled kernel keeps pointers into them, so their memory must not move. Python refuses to
    resize a bytearray that exports a buffer, and NumPy to resize an array that is a view.
    Types of 8 bytes come before those of 1, so that all arrays are aligned."""
    sizes = {
        name: math.prod(shape) * np.dtype(kind).itemsize for name, (shape, kind) in shapes.items()
    }
    memory, arrays, at = bytearray(sum(sizes.values()) or 1), {}, 0
    for name, (shape, kind) in shapes.items():
        arrays[name] = np.frombuffer(memory, kind, math.prod(shape), at).reshape(shape)
        at += sizes[name]
    return arrays


class Block:
    """n trials: rows (type, serial number, conditions), and their log.

    Args:
        tables: the types of trials.
        kind: (n,) int64, the type of each trial.
        first_serial: serial number of row 0; the others follow. The noise of a trial depends on
            its serial number.
        conditions: name -> (n, …).
        stride: 1: every env takes the next row that was not dealt yet; N: row r belongs to env
            r % N; 0: rows are filled and dealt one at a time, on demand.
    """

    def __init__(
        self, tables: Tables, kind: Wholes, first_serial: int, conditions: Columns, stride: int
    ) -> None:
        self.tables, self.first_serial, self.stride = tables, first_serial, stride
        self.kind = carved({"kind": (kind.shape, np.int64)})["kind"]
        self.kind[:] = kind
        self.conditions = conditions
        self.columns: Columns = {}
        """Name -> (n, …), columns that `session.record` adds to the record."""
        self.states: dict[str, Array] = {}
        """Name -> (n, …), last values of the arrays of `trial_state` that are recorded."""
        self.events: dict[int, list[tuple[float, str, float]]] = {}
        """Row -> events of the trial that hooks wrote: ms since it began, name, value."""
        self.after: Any = None
        """State of the dealer after it drew this block, if trials depend on earlier ones."""
        self.following: Any = None
        """A weak reference to the next block of the chain, if it was drawn."""

    @cached_property
    def log(self) -> Log:
        """Results of the trials."""
        tables = self.tables
        return Log(
            len(self), tables.n_slots, tables.aim.shape[2], len(tables.entry),
            again=bool(np.any(tables.again)),
        )  # fmt: skip

    @cached_property
    def names(self) -> dict[str, tuple[str, ...]]:
        """Names of the values of conditions, and of choices, by column of the record."""
        tables, interface = self.tables, self.tables.interface
        names = {
            name: one
            for name, one in interface.names.items()
            if name in self.conditions and self.conditions[name].dtype.kind in "iu"
        }
        if interface.actions.continuous:
            return names
        slots = tables.slots
        for slot, units, again in zip(slots.names, slots.units, slots.again, strict=True):
            prefix = f"{slot}." if len(slots.names) > 1 else ""
            if one := interface.actions.choices(units):
                names |= {f"{prefix}choice": one} | (
                    {f"{prefix}first_choice": one} if again else {}
                )
        return names

    def __len__(self) -> int:
        return len(self.kind)

    def __getstate__(self) -> dict[str, Any]:
        # Weak references cannot be pickled; the dealer draws the next block again, from `after`.
        return {**self.__dict__, "kind": self.kind.copy(), "following": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.kind = carved({"kind": (state["kind"].shape, np.int64)})["kind"]
        self.kind[:] = state["kind"]
