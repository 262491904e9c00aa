"""`Block`: trials that are dealt together, as rows of one table, and what became of each."""

from __future__ import annotations

from typing import Any

import numpy as np

from neurogym_core.play.tables import Ints, Tables
from neurogym_core.play.types import Columns, Types
from neurogym_core.trials.record import RESTING


class Log:
    """What became of the trials of a block; rows are filled while they are played.

    Attributes:
        env, number, session: (n,) int64: where the trial was played, its number there, the session's number.
        steps, aborts: (n,) int64: steps played, actions that broke the hold.
        reward, performance: (n,) float64.
        outcome: (n,) int8, the trial's `Outcome`; set when it ends, as `ended` (n,) bool is.
        slot_outcome, slot_choice: (n, K) int8, int64; slot_time: (n, K) float64, ms, NaN: no answer; slot_score:
            (n, K) float64; opened: (n, K) int64, the clock when the window opened; values: (n, K, D) float64,
            continuous answers in task units.
    """

    PER_TRIAL = ("env", "number", "session", "steps", "aborts", "reward", "performance", "outcome", "ended")
    PER_SLOT = ("slot_outcome", "slot_choice", "slot_time", "slot_score", "opened", "values")

    def __init__(self, n: int, slots: int, dimensions: int) -> None:
        self.env, self.number, self.session, self.steps, self.aborts = np.zeros((5, n), np.int64)
        self.reward, self.performance = np.zeros((2, n))
        self.outcome = np.zeros(n, np.int8)
        self.ended = np.zeros(n, np.bool_)
        self.slot_outcome = np.zeros((n, slots), np.int8)
        self.slot_choice = np.full((n, slots), RESTING, np.int64)
        self.slot_time = np.full((n, slots), np.nan)
        self.slot_score = np.zeros((n, slots))
        self.opened = np.zeros((n, slots), np.int64)
        self.values = np.zeros((n, slots, dimensions))


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
        self.types, self.kind, self.first_serial, self.stride = types, kind, first_serial, stride
        self.conditions = conditions
        self.log = Log(len(kind), types.tables.n_slots, types.tables.aim.shape[2])
        self.after: Any = None
        """State of the dealer after this block was drawn (trials that depend on those before them)."""
        self.following: Any = None
        """A weak reference to the block after this one, where there is one."""

    @property
    def tables(self) -> Tables:
        """The tables of the types."""
        return self.types.tables

    def __len__(self) -> int:
        return len(self.kind)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "following": None}  # weak references do not pickle; it is drawn again
