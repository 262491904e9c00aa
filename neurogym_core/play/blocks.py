"""`Block`: trials that are dealt together, as rows of one table, and what became of each."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from neurogym_core.play.tables import Bools, Floats, Ints, Tables
from neurogym_core.play.types import Columns, Types
from neurogym_core.trials.record import RESTING


class Log:
    """What became of the trials of a block; rows are filled while they are played.

    Attributes:
        env, number, session: (n,) int64: where the trial was played, its number there, the session's number.
        steps, aborts: (n,) int64: steps played, actions that broke the hold.
        reward, performance: (n,) float64.
        outcome: (n,) int8, the trial's `Outcome`; set when it ends.
        ended: (n,) bool.
        opened: (n, K) int64, the clock when the window opened.
        slot_outcome, slot_choice: (n, K) int8, int64; RESTING: no choice.
        slot_time: (n, K) float64, ms from the opening to the answer; NaN: none.
        slot_score: (n, K) float64.
        values: (n, K, D) float64, continuous answers in task units.
    """

    env: Ints
    number: Ints
    session: Ints
    steps: Ints
    aborts: Ints
    reward: Floats
    performance: Floats
    outcome: Ints
    ended: Bools
    opened: Ints
    slot_outcome: Ints
    slot_choice: Ints
    slot_time: Floats
    slot_score: Floats
    values: Floats

    def __init__(self, n: int, slots: int, dimensions: int) -> None:
        whole, real, each, slot = np.int64, np.float64, (n,), (n, slots)
        shapes: dict[str, tuple[tuple[int, ...], type[np.generic]]] = {
            "env": (each, whole), "number": (each, whole), "session": (each, whole), "steps": (each, whole),
            "aborts": (each, whole), "reward": (each, real), "performance": (each, real),
            "opened": (slot, whole), "slot_choice": (slot, whole), "slot_time": (slot, real), "slot_score": (slot, real),
            "values": ((n, slots, dimensions), real), "slot_outcome": (slot, np.int8), "outcome": (each, np.int8),
            "ended": (each, np.bool_),
        }  # fmt: skip
        self.__dict__.update(carved(shapes))
        self.slot_choice.fill(RESTING)
        self.slot_time.fill(np.nan)

    def __getstate__(self) -> dict[str, Any]:
        return {name: values.copy() for name, values in self.__dict__.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(carved({name: (values.shape, values.dtype.type) for name, values in state.items()}))
        for name, values in state.items():
            getattr(self, name)[...] = values


def carved(shapes: Mapping[str, tuple[tuple[int, ...], type[np.generic]]]) -> dict[str, npt.NDArray[Any]]:
    """Arrays of zeros that lie one after another in memory of their own.

    The compiled kernel writes into them, and nothing in Python can move them: a bytearray that is in use keeps its
    size, and arrays that do not own their memory do too.

    Args:
        shapes: name -> (shape, type), types of 8 bytes before those of 1.
    """
    sizes = {name: math.prod(shape) * np.dtype(kind).itemsize for name, (shape, kind) in shapes.items()}
    memory, arrays, at = bytearray(sum(sizes.values()) or 1), {}, 0
    for name, (shape, kind) in shapes.items():
        arrays[name] = np.frombuffer(memory, kind, math.prod(shape), at).reshape(shape)
        at += sizes[name]
    return arrays


class Block:
    """n trials: rows (type, serial number, conditions), and their log.

    Args:
        types: the types of trials.
        kind: (n,) int64, the type of each trial.
        first_serial: serial number of row 0; the others follow. Noise belongs to serial numbers.
        conditions: name -> (n, …).
        stride: 1 where an env takes the row after the last one that was dealt; N where row r belongs to env r % N; 0
            where rows are dealt one at a time, on demand.
    """

    def __init__(self, types: Types, kind: Ints, first_serial: int, conditions: Columns, stride: int) -> None:
        self.types, self.first_serial, self.stride = types, first_serial, stride
        self.kind = carved({"kind": (kind.shape, np.int64)})["kind"]
        self.kind[:] = kind
        self.conditions = conditions
        self.after: Any = None
        """State of the dealer after this block was drawn (trials that depend on those before them)."""
        self.following: Any = None
        """A weak reference to the block after this one, where there is one."""

    @cached_property
    def log(self) -> Log:
        """What became of the trials."""
        return Log(len(self), self.tables.n_slots, self.tables.aim.shape[2])

    @property
    def tables(self) -> Tables:
        """The tables of the types."""
        return self.types.tables

    def __len__(self) -> int:
        return len(self.kind)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "kind": self.kind.copy(), "following": None}  # the block after it is drawn again

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.kind = carved({"kind": (state["kind"].shape, np.int64)})["kind"]
        self.kind[:] = state["kind"]
