"""Fuzz the compiled kernel with random tables, state, logs, arguments and callbacks.

    python tests/play/kernel_fuzz.py [--seconds 60] [--seed 0]

Two kinds of examples alternate; each depends only on the seed and its number:

- *Valid* ones: both kernels play the same random tables; their results, logs and states must have
  the same bits.
- *Broken* ones: the compiled kernel gets nonsense, as Python code could pass it. Each call must
  work or raise an exception. It must not end the process (`test_sanitizers.py` runs this under the
  sanitizers) or leak memory.

A failure names its example; ``--only NUMBER`` runs that one alone.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import gc
import pickle
import sys
import threading
import time
import tracemalloc
import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from neurogym_core.play.blocks import Block, Log, carved
from neurogym_core.play.kernel import NEVER, STATE, VERSION, Given, Kernel
from neurogym_core.play.results import TrialInfo, TrialResults, VectorInfo
from neurogym_core.players import kernel_in_use
from neurogym_core.trials.layout import END, STAY
from neurogym_core.trials.rendering import Steps
from neurogym_core.trials.rendering import fill as plain_fill
from neurogym_core.trials.tables import Tables

I64 = np.iinfo(np.int64)
LONGEST = 40
"""Largest number of steps of a trial of valid tables."""

Rng = np.random.Generator

# ---------------------------------------------------------------------- valid tables


class Made(SimpleNamespace):
    """The arrays of `Tables`, not made by a task."""

    landing = Tables.landing
    n_units = property(lambda self: self.shown.shape[2])
    n_slots = property(lambda self: len(self.needs))

    def __len__(self) -> int:
        return getattr(self, "n", len(self.shown))

    def but(self, **changed: Any) -> Made:
        """Return these tables with other arrays."""
        return Made(**vars(self) | changed)


PER_TYPE = (
    "duration", "limit", "shown", "target", "weight", "reward", "aborts", "goto", "slot", "outcome",
    "score", "window", "asked", "miss_reward", "miss_outcome", "error_reward", "error_goto", "due",
    "tolerance", "graded", "graded_from", "best",
)  # fmt: skip


def narrow(tables: Made) -> Made:
    """Return tables whose arrays have one row in memory where all types are alike."""
    alike = {
        name: np.broadcast_to(value[:1].copy(), value.shape)
        for name in PER_TYPE
        for value in [getattr(tables, name)]
        if all(row.tobytes() == value[0].tobytes() for row in value)
    }
    return tables.but(**alike)


def valid_tables(rng: Rng) -> Made:
    """Random tables that follow the rules of `Tables`: loops, empty and endless segments, scripts,
    timed answers.
    """
    n_types, n_segments, n_slots, n_units = (
        int(rng.integers(low, high)) for low, high in ((1, 5), (1, 7), (0, 4), (1, 10))
    )
    n_periods, n_graded = int(rng.integers(1, n_segments + 1)), int(rng.integers(0, 4))
    size = int(rng.integers(1, 4)) if rng.random() < 0.35 else 0
    trigger = not size or rng.random() < 0.5
    n_actions = (2 if trigger else 1) if size else int(rng.integers(1, 6))
    segments, cells, slots = (
        (n_types, n_segments),
        (n_types, n_segments, n_actions),
        (n_types, n_slots),
    )

    def whole(low: int, high: int, shape: tuple[int, ...], kind: Any) -> Any:
        return rng.integers(low, high, shape).astype(kind)

    def sometimes(chance: float, values: Any, otherwise: Any) -> Any:
        return np.where(rng.random(values.shape) < chance, values, otherwise).astype(values.dtype)

    period = np.sort(
        np.append(np.arange(n_periods), rng.integers(0, n_periods, n_segments - n_periods))
    ).astype(np.int32)
    follows = np.append(np.arange(1, n_segments), END).astype(np.int32)
    follows = sometimes(0.15, whole(0, n_segments, (n_segments,), np.int32), follows)
    limit = whole(1, LONGEST + 1, (n_types,), np.int32)
    endless = rng.random(n_segments) < 0.1
    duration = sometimes(0.7, whole(1, 7, segments, np.int32), 0)
    n_rows = 3 * LONGEST if rng.random() < 0.3 else 0
    spread = rng.choice(
        [0.0, 1.0], (n_types if rng.random() < 0.5 else 1, n_segments, n_units), p=[0.6, 0.4]
    )
    due = sometimes(0.3, 20.0 * whole(1, 6, slots, np.float64), np.nan)
    tables = Made(
        period=period,
        follows=follows,
        endless=endless,
        entry=np.searchsorted(period, np.arange(n_periods)).astype(np.int32),
        duration=duration,
        limit=limit,
        shown=rng.random((*segments, n_units), np.float32),
        sd=np.broadcast_to(
            (spread * rng.random(spread.shape)).astype(np.float32), (*segments, n_units)
        ),
        script=rng.random((n_rows, n_units), np.float32),
        script_at=whole(0, LONGEST, segments, np.int64) if n_rows else np.full(segments, -1),
        target=(
            rng.random((*segments, size), np.float32)
            if size
            else whole(0, n_actions, segments, np.int64)
        ),
        target_script=rng.random((n_rows if size and rng.random() < 0.5 else 0, size), np.float32),
        weight=rng.random(segments, np.float32),
        reward=rng.normal(size=cells),
        aborts=rng.random(cells) < 0.05,
        goto=sometimes(0.1, whole(END, n_periods, cells, np.int16), STAY),
        slot=sometimes(0.3, whole(-1, n_slots, cells, np.int8), -1),
        outcome=whole(0, 6, cells, np.int8),
        score=rng.random(cells),
        window=rng.random((*segments, n_slots)) < 0.4,
        asked=rng.random(slots) < 0.8,
        miss_reward=rng.normal(size=slots),
        miss_outcome=whole(0, 6, slots, np.int8),
        error_reward=rng.normal(size=slots),
        error_goto=sometimes(0.3, whole(END, n_periods, slots, np.int16), STAY),
        due=due,
        tolerance=rng.random(slots) * 40,
        graded=rng.normal(size=(*slots, n_graded)),
        graded_from=sometimes(0.5, whole(1, 6, slots, np.int32), 0) * bool(n_graded),
        aim=rng.random((*slots, size)),
        best=sometimes(0.5, rng.normal(size=n_types), np.nan),
        needs=whole(-1, n_slots, (n_slots,), np.int32),
        first_action=whole(0, n_actions, (n_slots,), np.int32),
        again=rng.random(n_slots) < 0.3,
        dt=float(rng.choice([1, 20, 100])),
        trigger=trigger,
    )
    for name in PER_TYPE:
        if rng.random() < 0.3:
            getattr(tables, name)[:] = getattr(tables, name)[0]
    if (tables.landing(np.arange(n_types), np.zeros(n_types, np.int64)) == END).any():
        return valid_tables(rng)  # over before its first step: the compiler of tasks refuses that
    return tables


def block_of(tables: Made, kind: Any, first_serial: int, stride: int) -> Block:
    """Return a block of tables that were not made by a task."""
    return Block(tables, np.asarray(kind, np.int64), first_serial, {}, stride)  # type: ignore[arg-type]


# ---------------------------------------------------------------------- both kernels play the same


class Game:
    """The input of a valid example: tables, number of envs, sessions, and the way of dealing."""

    def __init__(self, rng: Rng) -> None:
        self.tables = valid_tables(rng)
        self.n = int(rng.choice([1, 1, 2, 3, 7, 70, 300], p=[0.3, 0.1, 0.2, 0.2, 0.14, 0.04, 0.02]))
        self.way = str(rng.choice(["shared", "per session", "on demand"]))
        self.per_session = int(rng.choice([1, 2, 5, NEVER]))
        self.next_step, self.key = bool(rng.random() < 0.5), int(rng.integers(0, 1 << 63))
        self.n_actions = self.tables.reward.shape[2]
        self.names = np.array([f"p{i}" * (i + 1) for i in range(len(self.tables.entry))])
        self.seed = int(rng.integers(0, 1 << 31))
        self.full, self.own = bool(rng.random() < 0.5), bool(rng.random() < 0.5)


class Player:
    """A kernel and its blocks; for equal games it deals equal trials."""

    def __init__(self, kernel_class: Any, game: Game) -> None:
        self.game, self.blocks, self.drawn = game, {}, 0
        self.tables = game.tables if kernel_class is Kernel else narrow(game.tables)
        self.kernel = kernel_class(
            game.n,
            game.key,
            game.names,
            game.per_session,
            game.next_step,
            self.deal,
            self.check,
            self.check_all,
        )
        self.kernel.full, self.kernel.own = game.full, game.own

    def check(self, action: Any) -> int:
        value = int(action)
        if not 0 <= value < self.game.n_actions:
            raise ValueError("out of range")
        return value

    def check_all(self, actions: Any) -> Any:
        array = np.asarray(actions)
        if array.shape != (self.game.n,) or array.min() < 0 or array.max() >= self.game.n_actions:
            raise ValueError("out of range")
        return array.astype(np.int64, copy=False)

    def new_block(self) -> int:
        """Return an index for a new block; reuse those of blocks that no env is in."""
        game, rng = self.game, np.random.default_rng([self.game.seed, self.drawn])
        stride = {"shared": 1, "per session": game.n, "on demand": 0}[game.way]
        kind = rng.integers(0, len(game.tables), game.n * int(rng.integers(1, 5)))
        used = set(self.kernel.get("block").tolist())
        for index in [index for index in self.blocks if index not in used]:
            self.kernel.attach(index, None)
            del self.blocks[index]
        index = next(index for index in range(len(self.blocks) + 1) if index not in self.blocks)
        self.blocks[index] = block_of(self.tables, kind, 1000 * self.drawn, stride)
        self.drawn += 1
        self.kernel.attach(index, self.blocks[index])
        return index

    def deal(self, envs: list[int]) -> None:
        if self.game.way == "shared" or self.game.n == 1:
            for env in envs:
                if not self.blocks or self.kernel.cursor(self.kernel.current) == len(
                    self.blocks[self.kernel.current]
                ):
                    self.kernel.current = self.new_block()
                row = self.kernel.cursor(self.kernel.current)
                self.kernel.begin(env, self.kernel.current, row)
                self.kernel.cursor(self.kernel.current, row + 1)
        else:
            index = self.new_block()
            for env in envs:
                self.kernel.begin(env, index, env)

    def seen(self) -> list[Any]:
        """Return the observable state."""
        self.kernel.sync()
        return [
            [(name, flat(self.kernel.get(name))) for name in STATE],
            [(index, self.kernel.cursor(index), [flat(array) for array in vars(block.log).values()])
             for index, block in sorted(self.blocks.items())],
            flat(self.kernel.observe()), flat(self.kernel.last_reward) if self.game.n > 1 else None,
        ]  # fmt: skip


def flat(value: Any) -> Any:
    """Return a value that is equal if all bits are equal."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, float):
        return np.float64(value).tobytes()
    if isinstance(value, TrialResults):
        return value.rows.tolist(), [block.first_serial for block, _ in value._parts]
    if isinstance(value, (TrialInfo, VectorInfo)):
        return type(value).__name__
    if isinstance(value, dict):
        return [(name, flat(item)) for name, item in value.items()]
    if isinstance(value, (tuple, list)):
        return [flat(item) for item in value]
    return value


def random_given(rng: Rng, game: Game) -> Given | None:
    tables, n = game.tables, game.n
    size = tables.aim.shape[2]
    if not size and rng.random() < 0.5:
        return None

    def maybe(values: Any) -> Any:
        return values if rng.random() < 0.3 else None

    slots = (n, tables.n_slots)
    given = Given(
        reward=maybe(rng.normal(size=n)),
        extra=maybe(rng.normal(size=n)),
        goto=maybe(np.where(rng.random(n) < 0.2, rng.integers(END, len(tables.entry), n), STAY)),
    )
    if size or rng.random() < 0.2:
        graded = np.where(rng.random(slots) < 0.5, rng.normal(size=slots), np.nan)
        pays = rng.random() < 0.3
        if not tables.trigger:  # the answer is paid when its window closes, whatever its distance
            graded, pays = np.nan_to_num(graded), True
        given = given._replace(
            distance=np.where(rng.random(slots) < 0.1, np.nan, rng.random(slots) * 40),
            graded=graded if pays else None,
            score=rng.random(slots) if pays else None,
        )
    return given._replace(values=rng.normal(size=(n, size))) if size else given


def random_call(rng: Rng, game: Game) -> Callable[[Player], Any]:
    """A call of a kernel, with equal arguments for each player."""
    n, tables = game.n, game.tables
    actions = rng.integers(0, game.n_actions, n)
    plays = tables.aim.shape[2] == 0
    what = rng.random()
    if what < 0.1:
        envs = np.flatnonzero(rng.random(n) < 0.4).tolist()
        return lambda player: player.kernel.stop(envs)
    if what < 0.15:
        envs = np.flatnonzero(rng.random(n) < 0.2).tolist()
        return lambda player: player.kernel.begin_next(envs)
    if what < 0.2:
        return lambda player: [player.kernel.set(name, player.kernel.get(name)) for name in STATE]
    if what < 0.25:
        left, waiting = rng.integers(1, 4, n), rng.integers(0, 2, n)
        return lambda player: (
            player.kernel.set("left", left),
            player.kernel.set("waiting", waiting),
        )
    if plays and what < 0.6:
        if n == 1:
            value = int(actions[0])
            action = rng.choice(
                np.array([value, np.int64(value), np.array(value), float(value)], dtype=object)
            )
            return lambda player: player.kernel.step(action)
        given_actions = rng.choice(4)
        spread = np.repeat(actions, 2)[::2] if given_actions == 1 else actions
        other = (
            actions.astype(np.int8)
            if given_actions == 2
            else actions.tolist()
            if given_actions == 3
            else spread
        )
        return lambda player: player.kernel.vector_step(other)
    given = random_given(rng, game)
    spread = np.repeat(actions, 2)[::2] if rng.random() < 0.2 else actions
    return lambda player: player.kernel.advance(spread, given)


def play_both(rng: Rng, compiled: Any) -> None:
    """Let both kernels play a random game; compare their results, logs and states."""
    game = Game(rng)
    players = [Player(kernel_class, game) for kernel_class in (Kernel, compiled)]
    for player in players:
        player.deal(list(range(game.n)))
    for _ in range(int(rng.integers(5, 60))):
        call = random_call(rng, game)
        plain, other = (flat(call(player)) for player in players)
        assert plain == other, "The kernels return different bits."
        plain, other = (player.seen() for player in players)
        assert plain == other, "The kernels keep different bits."


def fill_both(rng: Rng, compiled_fill: Any) -> None:
    """Let both `fill` functions render parts of random trials into a batch."""
    tables = valid_tables(rng)
    m, size = int(rng.integers(1, 6)), tables.aim.shape[2]
    kind = rng.integers(0, len(tables), m)
    whole = tables.duration[kind].astype(np.int64)
    if rng.random() < 0.4:  # further rounds of the segments, each with its own steps
        rounds = int(rng.integers(2, 4))
        whole = np.tile(whole, rounds) * (rng.random((m, rounds * whole.shape[1])) < 0.7)
    lengths = whole.sum(axis=1)
    skip = rng.integers(0, lengths + 1)
    played = rng.integers(0, lengths - skip + 1)
    if rng.random() < 0.3:
        skip, played, steps = None, lengths, Steps(kind, rng.integers(0, 1 << 40, m), whole)
    else:
        steps = Steps(kind, rng.integers(0, 1 << 40, m), whole, skip, played)
    places, key = int(played.sum()) + 3, int(rng.integers(0, 1 << 63))
    offset, padded = np.cumsum(played) - played, rng.random() < 0.5

    def outputs() -> list[Any]:
        targets = (
            np.zeros((1, places, size), np.float32) if size else np.zeros((1, places), np.int64)
        )
        return [
            np.zeros((1, places, tables.n_units), np.float32),
            targets,
            np.zeros((1, places), np.float32),
            np.zeros((1, places), np.bool_) if padded else None,
        ]

    plain, other = outputs(), outputs()
    plain_fill(tables, steps, offset, key, *plain)
    compiled_fill(narrow(tables), steps, offset, key, *other)
    assert flat(plain) == flat(other), "The kernels fill in different bits."


# ---------------------------------------------------------------------- nonsense

NUMBERS = (
    0,
    1,
    -1,
    -2,
    2,
    3,
    7,
    127,
    -128,
    1 << 15,
    1 << 31,
    -(1 << 31),
    1 << 32,
    1 << 52,
    (1 << 63) - 1,
    -(1 << 63),
    1 << 64,
)
"""Numbers near overflows and other limits."""


class Evil:
    """A number that runs code when it is read."""

    def __init__(self, value: int, act: Callable[[], Any]) -> None:
        self.value, self.act = value, act

    def __index__(self) -> int:
        self.act()
        return self.value

    def __float__(self) -> float:
        self.act()
        return float(self.value)

    def __bool__(self) -> bool:
        self.act()
        return bool(self.value)

    __int__ = __index__


class Tricky(np.ndarray):
    """An array of a subclass that keeps every copy made of it, and shrinks those that own their
    memory.
    """

    made: list[Any] = []

    def __array_finalize__(self, of: Any) -> None:
        Tricky.made.append(self)


def shrink(array: Any) -> None:
    """Free the memory of an array, as far as NumPy allows."""
    for take in (
        lambda: array.resize(0, refcheck=False),
        lambda: array.__setstate__((1, (1,), np.dtype(np.int8), False, b"x")),
        lambda: setattr(array, "data", bytearray(1 << 16)),
        lambda: array.base.base.release(),
        lambda: array.base.base.obj.clear(),
    ):
        # pytest would keep the warning of NumPy 1.26 about `data`, as if memory leaked.
        with contextlib.suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            take()


def broken_array(rng: Rng, array: Any) -> Any:
    """Return an array that is wrong in one way, or an object that is not an array."""
    array = np.array(array)
    what = int(rng.integers(0, 16))
    if what <= 3 and array.size:
        for _ in range(int(rng.integers(1, 4))):
            place = int(rng.integers(0, array.size))
            if array.dtype.kind == "f":
                array.flat[place] = rng.choice([np.nan, np.inf, -np.inf, 1e38, -1.0, 0.0])
            elif array.dtype.kind == "b":
                array.view(np.uint8).flat[place] = int(rng.integers(0, 256))
            else:
                info = np.iinfo(array.dtype)
                array.flat[place] = min(
                    max(NUMBERS[int(rng.integers(0, len(NUMBERS)))], info.min), info.max
                )
        return array
    if what == 4:
        return array.astype(
            rng.choice(np.array(["f4", "f8", "i1", "i2", "i4", "i8", "u8", "?", "c16", "O", "U3"]))
        )
    if what == 5:
        return array[..., :-1] if array.ndim else array
    if what == 6:
        return np.repeat(array, 2, axis=0) if array.ndim else array
    if what == 7:
        return array[None]
    if what == 8:
        return np.repeat(array, 2, axis=-1)[..., ::2] if array.ndim else array
    if what == 9:
        return array.astype(array.dtype.newbyteorder())
    if what == 10:
        shape = tuple(
            int(rng.choice([0, 1, 3, 1 << 20, 1 << 31, 1 << 57])) for _ in range(array.ndim)
        )
        try:
            return np.zeros((0, *shape[1:]), array.dtype) if array.ndim else array
        except ValueError:
            return np.zeros((0,) * array.ndim, array.dtype)
    if what == 11:
        memory = bytearray(array.nbytes + 1)
        return (
            np.frombuffer(memory, np.int8, offset=1).view(array.dtype).reshape(array.shape)
            if array.size
            else array
        )
    if what == 12:
        array.flags.writeable = False
        return array
    if what == 13:
        return array.view(Tricky)
    if what == 14:
        shape = (*array.shape[:-1], 1 << 40) if array.ndim else ()
        return np.broadcast_to(np.zeros(1, array.dtype), shape) if array.size else array
    return rng.choice(np.array([None, 3, "x", b"12345678", 1.5, bytearray(64)], dtype=object))


class Nonsense:
    """Malicious code around a compiled kernel.

    It uses broken arrays (`broken_array`), and callbacks and numbers that change the kernel during
    a call."""

    def __init__(self, rng: Rng, compiled: Any, fill: Any) -> None:
        self.rng, self.compiled, self.fill = rng, compiled, fill
        self.game, self.depth, self.blocks = Game(rng), 0, []
        self.quiet = rng.random() < 0.3  # callbacks work properly
        self.kernel = compiled.__new__(compiled)
        if rng.random() < 0.1:
            self.one_call()  # before __init__
        self.make(self.number(self.game.n) if rng.random() < 0.1 else self.game.n)

    def make(self, n: Any) -> None:
        game = self.game
        names: Any = game.names.view(Tricky) if self.rng.random() < 0.2 else game.names
        names = names[:1] if self.rng.random() < 0.1 else names
        if isinstance(n, int) and n > 1000:
            n = 1000
        with contextlib.suppress(Exception):
            self.kernel.__init__(
                n,
                game.key,
                names,
                game.per_session,
                self.evil(1) if self.rng.random() < 0.1 else game.next_step,
                self.deal,
                self.check,
                self.check_all,
            )

    # arguments

    def number(self, usual: int = 0) -> Any:
        what = self.rng.random()
        if what < 0.4:
            return usual
        if what < 0.9:
            return NUMBERS[int(self.rng.integers(0, len(NUMBERS)))]
        return (
            self.evil(usual)
            if what < 0.96
            else self.rng.choice(np.array([None, 1.5, "x", np.nan], dtype=object))
        )

    def evil(self, value: int) -> Evil:
        return Evil(value, self.mischief)

    def row(self) -> Any:
        return self.number(int(self.rng.integers(0, 8)))

    def envs(self) -> Any:
        envs: list[Any] = self.rng.integers(0, self.game.n, int(self.rng.integers(0, 4))).tolist()
        if self.rng.random() < 0.3:
            envs.append(self.number())
        return envs if self.rng.random() < 0.95 else tuple(envs)

    def actions(self) -> Any:
        actions = self.rng.integers(0, self.game.n_actions, self.game.n)
        return actions if self.rng.random() < 0.6 else broken_array(self.rng, actions)

    def given(self) -> Any:
        given: Any = random_given(self.rng, self.game)
        if given is None or self.rng.random() < 0.4:
            return given
        if self.rng.random() < 0.1:
            return (
                self.rng.choice(np.array([3, "x", None], dtype=object))
                if self.rng.random() < 0.5
                else given[:5]
            )
        name = str(self.rng.choice(Given._fields))
        value = getattr(given, name)
        return given._replace(
            **{name: broken_array(self.rng, np.zeros(self.game.n) if value is None else value)}
        )

    def block(self) -> Any:
        rng = self.rng
        if rng.random() < 0.1:
            return rng.choice(np.array([None, 3, SimpleNamespace()], dtype=object))
        tables = self.game.tables if rng.random() < 0.7 else valid_tables(rng)
        if rng.random() < 0.5:
            name = str(rng.choice(list(vars(tables))))
            value = getattr(tables, name)
            broken: Any = self.number(1) if name in ("dt", "trigger") else broken_array(rng, value)
            tables = tables.but(**{name: broken})
        if rng.random() < 0.1:
            tables = self.resizing(tables)
        kind = rng.integers(0, len(self.game.tables), self.game.n * 3)
        block: Any = SimpleNamespace(
            tables=tables,
            kind=carved({"kind": (kind.shape, np.int64)})["kind"],
            stride=int(rng.choice([0, 1, self.game.n])),
            first_serial=self.number(3),
            log=Log(
                len(kind),
                self.game.tables.n_slots,
                self.game.tables.aim.shape[2],
                len(self.game.tables.entry),
            ),
        )
        block.kind[:] = kind
        if rng.random() < 0.2:
            block.stride = self.number(1)
        if rng.random() < 0.2:
            block.kind[int(rng.integers(0, len(kind)))] = rng.choice([-1, 5, 1 << 40, -(1 << 63)])
        if rng.random() < 0.2:
            name = str(rng.choice(list(vars(block.log))))
            value = getattr(block.log, name)
            setattr(block.log, name, broken_array(rng, value) if rng.random() < 0.7 else block.kind)
        if rng.random() < 0.05:
            block.kind = broken_array(rng, block.kind)
        self.blocks.append(block)
        return block

    def resizing(self, tables: Made) -> Any:
        """Tables whose arrays lose their memory while others are read."""
        copies = {name: copy.copy(value) for name, value in vars(tables).items()}
        count, at = [0], int(self.rng.integers(0, 45))

        class Resizing:
            def __len__(self) -> int:
                return len(copies["shown"])

            def __getattr__(self, name: str) -> Any:
                count[0] += 1
                if count[0] == at:
                    for array in copies.values():
                        shrink(array)
                return copies[name]

        return Resizing()

    # callbacks

    def mischief(self) -> None:
        if self.depth > 2 or self.quiet:
            return
        self.depth += 1
        try:
            for _ in range(int(self.rng.integers(1, 3))):
                if self.rng.random() < 0.4:
                    for index in range(4):
                        self.kernel.attach(index, None)
                self.one_call()
        finally:
            self.depth -= 1

    def deal(self, envs: list[int]) -> Any:
        if self.rng.random() < 0.5:
            self.mischief()
        if not self.quiet and self.rng.random() < 0.1:
            raise KeyError("deal")
        for env in list(envs):
            if self.rng.random() < 0.97:
                with contextlib.suppress(Exception):
                    self.kernel.attach(0, self.block())
                with contextlib.suppress(Exception):
                    self.kernel.begin(env, 0, env)
        if not self.quiet:
            envs.clear()

    def check(self, action: Any) -> Any:
        self.mischief()
        return self.number(0)

    def check_all(self, actions: Any) -> Any:
        self.mischief()
        return self.actions()

    # calls

    def one_call(self) -> None:
        """A call that works or raises an exception."""
        rng, kernel = self.rng, self.kernel
        calls: list[Callable[[], Any]] = [
            lambda: kernel.attach(self.number(int(rng.integers(0, 3))), self.block()),
            lambda: kernel.begin(self.number(), self.number(), self.row()),
            lambda: kernel.begin(
                int(rng.integers(0, self.game.n)), int(rng.integers(0, 3)), int(rng.integers(0, 9))
            ),
            lambda: kernel.begin_next(self.envs()),
            lambda: kernel.stop(self.envs()),
            lambda: kernel.cursor(self.number(), self.row()),
            lambda: kernel.cursor(int(rng.integers(0, 3))),
            lambda: kernel.set(str(rng.choice(STATE)), self.state()),
            lambda: kernel.set(self.number(), self.state()),
            # After an exception in `deal`, steps are refused until all envs are in a trial.
            lambda: kernel.set("ended", np.zeros(self.game.n, np.int64)),
            lambda: kernel.set("ended", np.zeros(self.game.n, np.int64)),
            lambda: kernel.claim(),
            lambda: kernel.release(),
            lambda: kernel.get(str(rng.choice([*STATE, "x"]))),
            lambda: kernel.sync(),
            lambda: kernel.observe(),
            lambda: kernel.step(self.number(0)),
            lambda: kernel.vector_step(self.actions()),
            lambda: kernel.vector_step(self.actions()),
            lambda: kernel.advance(self.actions(), self.given()),
            lambda: kernel.advance(self.actions(), self.given()),
            lambda: kernel.advance(),
            lambda: setattr(
                kernel,
                str(rng.choice(["key", "current", "n", "last_reward", "full", "own"])),
                self.number(),
            ),
            lambda: self.make(self.game.n),
            lambda: rng.choice(
                np.array([copy.copy, pickle.dumps, copy.deepcopy, repr, vars], dtype=object)
            )(kernel),
            self.ruin_logs,
            self.broken_fill,
        ]
        with contextlib.suppress(Exception):
            calls[int(rng.integers(0, len(calls)))]()

    def state(self) -> Any:
        values = self.rng.integers(0, 4, self.game.n)
        return values if self.rng.random() < 0.5 else broken_array(self.rng, values)

    def ruin_logs(self) -> None:
        """Change the logs of a block that the kernel may hold: their numbers, their memory, their
        arrays.
        """
        rng = self.rng
        block = self.blocks[int(rng.integers(0, len(self.blocks)))]
        name = str(rng.choice(list(vars(block.log))))
        array = block.kind if rng.random() < 0.3 else getattr(block.log, name)
        if rng.random() < 0.6:
            array.view(np.uint8)[...] = rng.integers(0, 256, array.view(np.uint8).shape)
        else:
            shrink(array)

    def broken_fill(self) -> None:
        rng, tables = self.rng, self.game.tables
        kind = rng.integers(0, len(tables), 2)
        path = tables.duration[kind].astype(np.int64)
        played = path.sum(axis=1)
        if rng.random() < 0.3:  # the oracle returns: another round of the segments
            path, played = np.tile(path, 2), 2 * played
        # Trials that began in an earlier batch.
        skip = rng.integers(0, played + 1) if rng.random() < 0.5 else played * 0
        played = played - skip
        size, places = tables.aim.shape[2], int(played.sum())
        steps: Any = SimpleNamespace(
            kind=kind, serial=kind.copy(), path=path, skip=skip, played=played
        )
        targets = np.zeros((places, size), np.float32) if size else np.zeros(places, np.int64)
        arguments: list[Any] = [
            np.cumsum(played) - played,
            self.game.key,
            np.zeros((places, tables.n_units), np.float32),
            targets,
            np.zeros(places, np.float32),
            np.zeros(places, np.bool_),
        ]
        what = rng.random()
        if what < 0.35:
            name = str(rng.choice([*vars(steps)]))
            setattr(steps, name, broken_array(rng, getattr(steps, name)))
        elif what < 0.7:
            name = str(
                rng.choice(
                    ["shown", "sd", "script", "script_at", "target", "target_script", "weight"]
                )
            )
            value = getattr(tables, name)
            if name == "script_at" and rng.random() < 0.5:  # sums with it turn over
                value = np.full_like(value, rng.choice([I64.max, I64.max - 3, I64.min, 1 << 62]))
                if not len(tables.script):
                    script = np.zeros((3 * LONGEST, tables.n_units), np.float32)
                    tables = tables.but(script=script)
            else:
                value = broken_array(rng, value)
            tables = tables.but(**{name: value})
        elif what < 0.9:
            place = int(rng.choice([0, 2, 3, 4, 5]))
            arguments[place] = broken_array(rng, arguments[place])
        else:
            arguments[3 if size else 2] = tables.weight if size else tables.shown
            tables = self.resizing(tables) if rng.random() < 0.5 else tables
        self.fill(tables, steps, *arguments)

    def threads(self) -> None:
        """Several threads use the kernel at once; with many envs they run during a step."""
        actions = self.rng.integers(0, self.game.n_actions, self.game.n)

        def step() -> None:
            for _ in range(20):
                with contextlib.suppress(Exception):
                    self.kernel.vector_step(actions)
                with contextlib.suppress(Exception):
                    actions[:] = -1
                    actions[:] = 0

        def disturb() -> None:
            for _ in range(20):
                self.one_call()

        running = [threading.Thread(target=target) for target in (step, disturb)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()


def play_nonsense(rng: Rng, compiled: Any, fill: Any) -> None:
    """Let a compiled kernel survive a random sequence of nonsense."""
    player = Nonsense(rng, compiled, fill)
    with contextlib.suppress(Exception):
        player.deal(list(range(player.game.n)))
    for _ in range(int(rng.integers(5, 60))):
        player.one_call()
    player.threads()
    Tricky.made.clear()


# ---------------------------------------------------------------------- examples


def example(seed: int, number: int, module: Any) -> None:
    """Run one example.

    Raises:
        AssertionError: the kernels differ, or memory grows.
    """

    def rng() -> Rng:
        return np.random.default_rng([seed, number])

    with np.errstate(all="ignore"):
        if number % 8 == 0:
            fill_both(rng(), module.fill)
        elif number % 2:
            play_both(rng(), module.Kernel)
        else:
            play_nonsense(rng(), module.Kernel, module.fill)
            if number % 50 == 26:
                check_memory(lambda: play_nonsense(rng(), module.Kernel, module.fill))


LITTLE = 64
"""Bytes that measuring the memory takes itself."""


def check_memory(play: Callable[[], None], times: int = 12) -> None:
    """Play the same example repeatedly: memory that grows every time is a leak.

    The caches of Python and NumPy stop growing after some repetitions.
    """

    def kept() -> int:
        gc.collect()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            sys._clear_type_cache()  # which keeps the names of attributes that C code asks for
        return tracemalloc.get_traced_memory()[0]

    play()
    tracemalloc.start()
    try:
        memory = [kept()]
        while len(memory) < 2 or (memory[-1] - memory[-2] > LITTLE and len(memory) <= times):
            play()
            memory.append(kept())
    finally:
        tracemalloc.stop()
    assert memory[-1] - memory[-2] <= LITTLE, (
        f"Memory grew from each time to the next: {memory} bytes."
    )


def fuzz(seed: int, seconds: float = np.inf, examples: float = np.inf, first: int = 0) -> int:
    """Run examples for some time, or a number of them; return how many were run.

    Raises:
        AssertionError: an example failed; the message says which one.
    """
    module, number, end = kernel_in_use().module, first, time.monotonic() + seconds
    while number < first + examples and time.monotonic() < end:
        try:
            example(seed, number, module)
        except Exception as error:
            raise AssertionError(f"Example {number} of seed {seed} failed: {error}") from error
        number += 1
    return number - first


def main() -> None:
    """Run from the shell."""
    parser = argparse.ArgumentParser(description="Fuzzes the compiled kernel.")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int)
    given = parser.parse_args()
    kernel = kernel_in_use()
    assert kernel.module.VERSION == VERSION
    print(kernel, flush=True)
    count = (
        fuzz(given.seed, given.seconds)
        if given.only is None
        else fuzz(given.seed, examples=1, first=given.only)
    )
    print(f"{count} examples of seed {given.seed}: no fault")


if __name__ == "__main__":
    main()
