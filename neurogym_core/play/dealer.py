"""`Dealer`: draw trials, and deal them to envs and to rows of datasets.

Reproducibility depends on this file alone. A seed and a split determine three independent
generators (conditions and durations; sessions; hooks) and the key of the noise. There are three
ways to deal.
*Shared*: trials that depend on nothing go in order to the env that asks next. *Per session*: trials
that depend on earlier ones belong to an env; each env follows a chain of blocks at its own pace.
*On demand*: trials that depend on outcomes are drawn when the previous trial has ended.

Trials with the same conditions are of one type, which is built once if the conditions determine
them but for their noise. Looking a type up is several times as fast as building it.
"""

from __future__ import annotations

import copy
import math
import weakref
from collections.abc import Iterator, Mapping
from typing import Any, cast

import numpy as np

from neurogym_core.errors import InvalidValueError
from neurogym_core.play.blocks import Block
from neurogym_core.play.results import TrialResults
from neurogym_core.tasks.building import build_trials
from neurogym_core.tasks.drawing import (
    check_columns,
    dimensions_of,
    draw_next,
    draw_overriding,
    fresh_session,
    impose_on,
    without_columns,
)
from neurogym_core.tasks.imposed import read_values
from neurogym_core.tasks.session import Session
from neurogym_core.tasks.state import state_of
from neurogym_core.tasks.task import Task
from neurogym_core.tasks.wrapper import TaskWrapper
from neurogym_core.trials.arrays import Array, Bools, Columns, Ints, Wholes, one_row
from neurogym_core.trials.noise import noise_key, sequence_of
from neurogym_core.trials.record import DURATION
from neurogym_core.trials.tables import Tables

# A large block spreads the cost of building trials over many steps; these limits bound the memory,
# and the time until the first step. They are part of the stream: generators are used block by
# block, so other limits give other trials for the same seed.
BLOCK_STEPS = 1 << 15
"""Approximate number of steps of a block."""
BLOCK_UNITS = 1 << 21
"""Approximate number of values in the layout of a block."""
BLOCK_SEGMENTS = 16
"""Assumed largest number of segments of a trial."""
BLOCK_DRAWS = 1 << 10
"""Largest number of trials per env in a block, if each one is a call of `draw`."""
SMALLEST = 16
"""Smallest number of trials of a block."""
ROOM = 256
"""Rows of a block that is filled on demand."""
RANDOM_STATE = ("session", "subject", "conditions", "sessions", "serial", "_imposed_at")
"""The random state of a dealer, from which it draws the next block."""


class Dealer:
    """Draws and deals the trials of `n` envs.

    Args:
        task: the task.
        n: number of envs.
        seed: as for `seed`.
        split: the split of all seeds; None: the stream without one.

    Attributes:
        key: key of the noise.
        hooks: generator of the hooks. It is separate, so that a subject's actions do not change
            the trials that follow.
    """

    def __init__(
        self,
        task: Task,
        n: int,
        seed: int | np.random.SeedSequence | None = None,
        split: str | None = None,
    ) -> None:
        self.task, self.n, self.split = task, n, split
        self.block_rows = _block_rows(task, n)
        self.types = TypeIndex(task)
        self.seed(seed)

    def seed(self, seed: int | np.random.SeedSequence | None) -> None:
        """Restart; `seed` determines all following trials (None: entropy of the system).

        A sequence is that of a seed and the split (`sequence_of`).
        """
        sequence = sequence_of(seed, self.split)
        # Not spawn(), which gives other children when the same sequence is used a second time.
        conditions, noise, sessions, hooks = (
            np.random.SeedSequence(sequence.entropy, spawn_key=(*sequence.spawn_key, k))
            for k in range(4)
        )
        self.conditions, self.sessions, self.hooks = (
            np.random.Generator(np.random.SFC64(one)) for one in (conditions, sessions, hooks)
        )
        self.key = noise_key(noise, self.split)
        self.serial = 0  # of the next trial
        self.session: Session | None = None
        self.subject: Session | None = None
        self.impose({})

    def impose(self, conditions: Mapping[str, Any]) -> None:
        """Impose conditions (and durations, as ``duration.<period>``) on all following trials.

        Args:
            conditions: name -> a value for every trial, or (m,) values that trials take in turn,
                over and over. Where trials depend on their session, each env gets all of them.

        Raises:
            UnknownNameError: the task has no such condition or period.
            InvalidValueError: the task cannot take a value, or it is NaN.
        """
        imposed = read_values(self.task, conditions) if conditions else {}
        for name, values in imposed.items():
            if values.dtype.kind == "f" and np.isnan(values).any():
                raise InvalidValueError(
                    f"The condition {name!r} of {self.task.name} was imposed as NaN. Expected a"
                    " number. Give one."
                )
        self.imposed, self._imposed_at = imposed, 0
        self._durations: Columns = {}
        # The block that is being filled on demand, and the number of its filled rows.
        self._open: Block | None = None
        self._used = 0

    # ------------------------------------------------------------------ sessions

    def new_sessions(self) -> None:
        """Start a session in every env."""
        if state_of(self.task).stateful:
            self.session = fresh_session(self.task, self.sessions, self.n, self.subject)
            self.subject = self.session.subject

    def _renew_sessions(self, envs: Ints) -> None:
        """Start another session in some envs; subjects remember the last trial before it."""
        assert self.session is not None
        subject = self.subject.take(envs)  # type: ignore[union-attr]
        subject.previous = {name: values[envs] for name, values in self.session.previous.items()}
        fresh = fresh_session(self.task, self.sessions, len(envs), subject)
        self.session.put(envs, fresh)
        self.session.remember(envs, fresh.previous)

    # ------------------------------------------------------------------ blocks

    def block(self) -> Block:
        """Draw the next block: of stride 1 if trials depend on nothing, else of stride n."""
        task, rows = self.task, self.block_rows
        if not state_of(task).stateful:
            drawn = draw_overriding(task, self.conditions, rows, self._next_imposed(rows))
            return self._build(drawn, rows, stride=1)
        trials = max(rows // self.n, 1)
        drawn = {
            name: values.reshape(-1, *values.shape[2:])
            for name, values in self._sessions(trials).items()
        }
        conditions, columns = without_columns(drawn)
        check_columns(task, columns, self.session)  # type: ignore[arg-type]
        block = self._build(
            self._with_imposed(conditions, trials * self.n), trials * self.n, stride=self.n
        )
        block.columns = columns
        # Envs reach the end of the block at different times. The first one draws the next block,
        # from this state; the others find it, or draw an equal one if it is gone (`following`).
        block.after = copy.deepcopy({name: getattr(self, name) for name in RANDOM_STATE})
        return block

    def following(self, block: Block) -> Block:
        """Return the next block of the chain; draw it unless an env plays it already."""
        # A weak reference: a block is freed when its last env has left it.
        known = block.following() if block.following is not None else None
        if known is None:
            for name, value in copy.deepcopy(block.after).items():
                setattr(self, name, value)
            known = self.block()
            block.following = weakref.ref(known)
        return known

    def _sessions(self, trials: int) -> Columns:
        """Draw `trials` trials of every env, (trials, n, …), with the sessions that they need."""
        limit, parts, left = self.task.trials_per_session, [], trials
        while left:
            if self.session is None or (limit is not None and self.session.trial[0] >= limit):
                self.new_sessions()
            session: Session = self.session  # type: ignore[assignment]
            now = left if limit is None else min(left, limit - int(session.trial[0]))
            before = session.trial.copy()
            parts.append(self.task.draw_ahead(session, self.sessions, now))
            session.trial = before + now
            left -= now
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def on_demand(self, envs: Ints, ended: TrialResults | None) -> tuple[Block, int]:
        """Draw the next trials of some envs; return a block, and their first row in it.

        Args:
            envs: (m,) the envs, whose trials have ended.
            ended: the results of these trials; None at the beginning.
        """
        session = self.session
        if session is None:
            self.new_sessions()
        elif ended is not None:
            last = ("choice", "outcome", "reward", "performance")
            history = {name: getattr(ended, name) for name in last}
            session.remember(envs, {**ended.conditions, **history})
            limit = self.task.trials_per_session
            over = envs[session.trial[envs] >= limit] if limit is not None else envs[:0]
            if len(over):
                self._renew_sessions(over)
        return self._add(*self._draw(envs), len(envs))

    def _draw(self, envs: Ints) -> tuple[Columns, Columns]:
        """Draw the next trial of some envs; return conditions, and columns of `session.record`."""
        session: Session = self.session  # type: ignore[assignment]
        if len(envs) == self.n:
            drawn = draw_next(self.task, session, self.sessions)
            session.trial += 1
        else:
            part = session.take(envs)
            drawn = draw_next(self.task, part, self.sessions)
            part.trial += 1
            session.put(envs, part)
        conditions, columns = without_columns(drawn)
        check_columns(self.task, columns, session)
        return self._with_imposed(conditions, len(envs)), columns

    def _add(self, conditions: Columns, columns: Columns, n: int) -> tuple[Block, int]:
        """Add trials on demand to the open block; begin another one if they do not fit into it."""
        types, kind = self.types.find(conditions, n, self.conditions, self._durations)
        block, used = self._open, self._used
        if (
            block is None
            or block.tables is not types
            or used + n > len(block)
            or not _fits(block.conditions, conditions)
            or not _fits(block.columns, columns)
        ):
            # If types do not recur, the next trials have other tables and cannot join this block.
            size = n if self.types.useless else max(n, ROOM)
            block = Block(
                types, np.zeros(size, np.int64), self.serial, _room(conditions, size), stride=0
            )
            block.columns = _room(columns, size)
            self._open, used = block, 0
        block.kind[used : used + n] = kind
        for name, values in conditions.items():
            block.conditions[name][used : used + n] = values
        for name, values in columns.items():
            block.columns[name][used : used + n] = values
        self._used = used + n
        # Rows that stay empty have no serial number: noise must not depend on the size of a block.
        self.serial += n
        return block, used

    def _build(self, conditions: Columns, n: int, stride: int) -> Block:
        types, kind = self.types.find(conditions, n, self.conditions, self._durations)
        block = Block(types, kind, self.serial, conditions, stride)
        self.serial += n
        return block

    # ------------------------------------------------------------------ imposing

    def _next_imposed(self, n: int) -> Columns:
        """Return the conditions imposed on the next `n` trials; put durations in `_durations`."""
        values = {name: self._slice(name, value, n) for name, value in self.imposed.items()}
        self._durations = {
            name.removeprefix(DURATION): value
            for name, value in values.items()
            if name.startswith(DURATION)
        }
        self._imposed_at += n
        return {name: value for name, value in values.items() if not name.startswith(DURATION)}

    def _slice(self, name: str, value: Array, n: int) -> Array:
        """Return the values of the next `n` trials, or the one value of all trials."""
        several = 0 if name.startswith(DURATION) else dimensions_of(self.task, name)
        if value.ndim <= several:
            return value
        turn = self._imposed_at + np.arange(n)
        if state_of(self.task).stateful and math.gcd(len(value), self.n) > 1:
            # Envs that keep pace would meet the same values in all of their trials: shift by one
            # whenever all values have come equally often.
            turn += turn // math.lcm(len(value), self.n)
        return value[turn % len(value)]

    def _with_imposed(self, drawn: Columns, n: int) -> Columns:
        return impose_on(
            self.task, drawn, self.conditions, n, self._next_imposed(n) if self.imposed else {}
        )


def _block_rows(task: Task, n: int) -> int:
    """Return the number of trials of a block."""
    steps = state_of(task).typical_steps
    wanted = max(BLOCK_STEPS // steps, 32 * n if n > 1 else 1)
    if _one_by_one(task):
        wanted = min(wanted, BLOCK_DRAWS * n)
    most = BLOCK_UNITS // (min(steps, BLOCK_SEGMENTS) * (task.channels.size + 4))
    return max(min(wanted, most, 1 << 15), n, SMALLEST)


def _one_by_one(task: Task) -> bool:
    """Return whether every trial is a call of `draw`."""
    constrained = False
    while (inner := state_of(task).wraps) is not None:
        # A wrapper that draws trials itself has those of a session drawn one by one below it.
        constrained |= type(task).draw_ahead is not TaskWrapper.draw_ahead
        task = cast(Task, inner)
    return state_of(task).stateful and (constrained or type(task).draw_ahead is Task.draw_ahead)


def _room(conditions: Columns, size: int) -> dict[str, Array]:
    """Return empty columns of `size` rows, of the same types and shapes."""
    return {
        name: np.zeros((size, *values.shape[1:]), values.dtype)
        for name, values in conditions.items()
    }


def _fits(there: Columns, coming: Columns) -> bool:
    """Return whether columns can take values without a change of their type or shape."""
    return all(
        there[name].shape[1:] == values.shape[1:] and there[name].dtype == values.dtype
        for name, values in coming.items()
    )


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
