"""The memory of the plain kernel: tables as lists, states as objects, observations in NumPy.

`_memory.pxd` has the same names for the compiled kernel; `kernel.py` is written for both.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import Any, NamedTuple

import numpy as np

from neurogym_core.play.blocks import Block
from neurogym_core.trials.arrays import Array, Ints, Singles
from neurogym_core.trials.layout import STAY
from neurogym_core.trials.rendering import Steps, observation, render

STATE = (
    "block", "row", "type", "segment", "entered", "clock", "period_at",
    "number", "session", "left", "waiting", "last_block", "last_row", "ended",
)  # fmt: skip
"""The state of an env: integers, described in `Place`. `get`, `set` and pickles use these names."""


class Place:
    """State of one env.

    Attributes:
        block, row: the current trial: index of its block (-1: none yet), and its row there.
        type, segment: row of the tables that applies to the current step.
        clock: steps played of this trial.
        entered, period_at: clock at the onset of the segment, and of the period.
        number, session: number of the trial in this env, and of the session.
        left: remaining trials of the session, including the current one.
        waiting: 1 if the env sits out the next step, because its session ended on the last one.
        last_block, last_row: the trial that ended last.
        ended: 1 if the current trial has ended and the next one has not begun: between the two, or
            after an exception (such as Ctrl-C) between the two.
        rules: the block in the form that the kernel reads; None until the position is checked.
        until: clock at which the segment or the trial runs out of time.
        here: type * segments + segment, the row in flat tables; `cells`, `terms`, `windows`: the
            first entries of the segment, or of the type, in those tables.
        total: reward so far; written to the log when the trial ends.
        on_tape: row of the block's rendered observations for clock 0; -1 if the trial does not
            follow the rendered order.
    """

    __slots__ = (
        "block", "cells", "clock", "ended", "entered", "here", "last_block", "last_row", "left",
        "number", "on_tape", "period_at", "row", "rules", "segment", "session", "terms", "total",
        "type", "until", "waiting", "windows",
    )  # fmt: skip

    def __init__(self, left: int) -> None:
        for name in self.__slots__:
            setattr(self, name, 0)
        self.block = self.last_block = self.last_row = self.on_tape = -1
        self.left, self.rules, self.total = left, None, 0.0


class Cell(NamedTuple):
    """One action on one segment of one type; `acts`: it has an effect beyond its reward."""

    reward: float
    score: float
    goto: int
    slot: int
    outcome: int
    aborts: bool
    acts: bool


class Spot(NamedTuple):
    """One segment of one type."""

    duration: int
    period: int
    target: int


class Terms(NamedTuple):
    """One slot of one type."""

    asked: bool
    miss_reward: float
    miss_outcome: int
    error_reward: float
    error_goto: int
    due: float
    tolerance: float
    graded_from: int


class _Entries(dict[int, Any]):
    """Entries of tables that are made when they are read first."""

    def __init__(self, make: Callable[[int], Any]) -> None:
        self._make = make

    def __missing__(self, i: int) -> Any:
        self[i] = made = self._make(i)
        return made


class Rules:
    """A block in the form that the plain kernel reads: flat tables and logs."""

    LOGGED = (
        "env", "number", "session", "steps", "aborts", "reward", "performance", "outcome", "ended",
        "opened", "slot_outcome", "slot_choice", "slot_time", "slot_score", "values", "onset",
        "offset", "answers", "first_outcome", "first_choice", "first_time",
    )  # fmt: skip

    def __init__(self, block: Block, key: int) -> None:
        self.block, self.tables = block, block.tables
        tables, k = self.tables, len(self.tables)
        self.types, self.rows, self.units = k, len(block), tables.n_units
        _, self.n_segments, self.n_actions = tables.reward.shape
        self.n_slots, self.n_periods = tables.n_slots, len(tables.entry)
        self.n_grades, self.dimensions = tables.graded.shape[2], tables.aim.shape[2]
        self.dt, self.trigger, self.continuous = tables.dt, tables.trigger, tables.target.ndim == 3
        self.stride, self.first_serial, self.cursor = block.stride, block.first_serial, 0
        for name in ("period", "follows", "endless", "entry", "needs", "first_action", "again"):
            setattr(self, name, getattr(tables, name).tolist())
        self.limit, self.best = _flat(tables.limit), _flat(tables.best)
        self.window, self.graded = _flat(tables.window), _flat(tables.graded)
        self.cells_apart = self.n_segments * self.n_actions
        self.terms_apart, self.window_apart = self.n_slots, self.n_segments * self.n_slots
        self.cells, self.spots, self.terms = self._cells(), self._spots(), self._terms()
        for name in self.LOGGED:
            setattr(self, f"log_{name}", getattr(block.log, name).reshape(-1).data)
        # A view, not a copy: the rows of a block on demand are filled while it is played.
        self.kind = block.kind.data
        # Blocks on demand (stride 0) are filled row by row: there is nothing to render ahead.
        self.tape: Singles | None = None
        if block.stride:
            self.tape, self.tape_at = self._rendered(key)

    def _cells(self) -> _Entries:
        names = ("reward", "score", "goto", "slot", "outcome", "aborts")
        flat = [_flat(getattr(self.tables, name)) for name in names]

        def made(i: int) -> Cell:
            reward, score, goto, slot, outcome, aborts = (values[i] for values in flat)
            return Cell(reward, score, goto, slot, outcome, aborts, slot >= 0 or goto != STAY)

        return _Entries(made)

    def _spots(self) -> _Entries:
        period, many = self.tables.period, self.n_segments
        duration = _flat(self.tables.duration)
        target = None if self.continuous else _flat(self.tables.target)

        def made(i: int) -> Spot:
            return Spot(duration[i], period.item(i % many), 0 if target is None else target[i])

        return _Entries(made)

    def _terms(self) -> _Entries:
        flat = [_flat(getattr(self.tables, name)) for name in Terms._fields]
        return _Entries(lambda i: Terms(*(values[i] for values in flat)))

    def _rendered(self, key: int) -> tuple[Singles, memoryview]:
        """Render all rows with their periods in order; return the observations, and where each row
        begins.
        """
        block = self.block
        duration = block.tables.duration[block.kind]
        lengths = duration.sum(axis=1)
        steps = Steps(block.kind, block.first_serial + np.arange(len(block)), duration)
        return render(block.tables, steps, key), (np.cumsum(lengths) - lengths).data


def _flat(values: Array) -> Any:
    return np.ascontiguousarray(values).reshape(-1).data


# ------------------------------------------------------------------ blocks and states


def new_rules(block: Block, key: int, locks: list[Any]) -> Rules:
    """Return a block in the form that the kernel reads."""
    return Rules(block, key)


def free_rules(rules: Rules | None) -> None:
    """Free what `new_rules` made."""


def more_rules(rules: list[Any] | None, n: int, many: int) -> list[Any]:
    """Make room for `many` blocks; there are n."""
    return (rules or []) + [None] * (many - n)


def new_places(n: int, left: int) -> list[Place]:
    """Return the states of n envs."""
    return [Place(left) for _ in range(n)]


def read_state(places: list[Place], n: int, which: int) -> Ints:
    """Return (N,) one of `STATE`."""
    return np.array([getattr(place, STATE[which]) for place in places], np.int64)


def write_state(places: list[Place], n: int, which: int, values: Ints) -> None:
    """Set one of `STATE`."""
    for place, value in zip(places, values.tolist(), strict=True):
        setattr(place, STATE[which], value)


def release_memory(*of: Any) -> None:
    """Free the memory of a kernel."""


def follow(place: Any) -> None:
    """Find the rendered observations of a place that entered a segment."""
    rules, place.on_tape = place.rules, -1
    # Noise belongs to (serial number, clock), so the rendered observations are those of this trial
    # only while it is in order. An endless segment may outlast its rendered steps.
    if rules.tape is not None and not rules.endless[place.segment]:
        begin = place.type * rules.n_segments
        offset = sum(rules.spots[begin + i].duration for i in range(place.segment))
        if offset == place.entered:
            place.on_tape = rules.tape_at[place.row]


# ------------------------------------------------------------------ threads


def new_turn() -> Any:
    """Return a lock whose holder can take it again."""
    return RLock()


def take(turn: Any) -> bool:
    """Keep other threads out until `leave`; return whether none was in. Calls nest."""
    taken: bool = turn.acquire(blocking=False)
    return taken


def leave(turn: Any) -> None:
    """Let other threads in again."""
    turn.release()


# ------------------------------------------------------------------ arguments and results


class Contributions:
    """The arrays of a `Given`, flat; those that are absent, and empty ones, are false."""

    NAMES = ("reward", "extra", "goto", "distance", "graded", "score", "values")

    def __init__(self) -> None:
        self.read(None, 1)

    def read(self, values: Any, n: int) -> None:
        """Read the fields of a `Given`."""
        self.used = values is not None
        for name, field in zip(self.NAMES, values or [None] * len(self.NAMES), strict=True):
            setattr(self, name, None if field is None else _flat(field))
        distance, field = getattr(self, "distance"), getattr(self, "values")  # noqa: B009
        self.slots = len(distance) // n if distance else 0
        self.dimensions = len(field) // n if field else 0
        self.whole = all(getattr(self, name) is not None for name in self.NAMES[3:])


def new_given() -> Contributions:
    """Return room for the contributions of hooks and continuous actions to a step."""
    return Contributions()


def read_given(given: Contributions, values: Any, n: int) -> None:
    """Read the fields of a `Given`."""
    given.read(values, n)


def whole(action: Any) -> int:
    """Return an action that is an int, or -1."""
    return action if isinstance(action, int) else -1


def are_actions(values: Any, n: int) -> bool:
    """Return whether values are (N,) int64."""
    return type(values) is np.ndarray and values.dtype == np.int64 and values.shape == (n,)


def read_actions(actions: memoryview, values: Ints, n: int) -> None:
    """Copy the actions of all envs."""
    np.asarray(actions)[:] = values


def reals(array: Array) -> memoryview:
    """Return the items of an array, in the form that Python indexes fastest."""
    return array.data


wholes = flags = reals


def singles(array: Singles) -> Singles:
    """Return observations as the kernel writes them."""
    return array


def twice(n: int, kind: Any) -> tuple[Array, Array]:
    """Return n zeros, and the same memory as a second array: one for the kernel, one for callers.

    The memory cannot move, whatever a caller does with the second one.
    """
    memory = bytearray(n * np.dtype(kind).itemsize)
    return np.frombuffer(memory, kind), np.frombuffer(memory, kind)


def fresh(array: Array) -> Array:
    """Return a copy of an array, for the caller."""
    return array.copy()


def truths(n: int, value: bool) -> Array:
    """Return (n,) bool, all of one value."""
    return np.full(n, value)


def named(names: Array, period: memoryview, n: int) -> Array:
    """Return the (n,) names of periods."""
    taken: Array = names[np.asarray(period)]
    return taken


def new_seen(n: int, units: int, dimensions: int) -> Singles:
    """Return room for the observations of all envs, or (units,) for those of the only one."""
    return np.empty(units if dimensions == 1 else (n, units), np.float32)


# ------------------------------------------------------------------ observations


def new_room() -> None:
    """Return the memory that noise needs."""


def has_noise(rules: Rules) -> bool:
    """Return whether the noise needs memory."""
    return False


def make_room(room: None, rules: Rules, lines: bytes) -> None:
    """Make room for the noise of a block."""


def observe(places: list[Any], n: int, key: int, room: None, out: Singles, units: int) -> bool:
    """Write the observations of all envs, (n, units) float32."""
    rules, out = places[0].rules, out.reshape(n, units)
    # The usual case, in one call of NumPy: all envs in one block, in the rendered order.
    if all(place.on_tape >= 0 and place.rules is rules for place in places):
        rules.tape.take([place.on_tape + place.clock for place in places], axis=0, out=out)
        return True
    for env, place in enumerate(places):
        rules = place.rules
        if place.on_tape >= 0:
            out[env] = rules.tape[place.on_tape + place.clock]
            continue
        serial, within = rules.first_serial + place.row, place.clock - place.entered
        out[env] = observation(
            rules.tables, place.type, place.segment, within, key, serial, place.clock
        )
    return True
