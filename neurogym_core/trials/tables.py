"""`Tables`: all that can happen in trials of k types, as flat arrays of k rows.

A trial is a state machine over segments. Each segment has an observation, an SD of the noise and a
correct action; each action on a segment has a reward, an outcome, a slot that it answers and a
destination. A segment ends when its steps are played, or when an action has a destination. Players
and renderers interpret these arrays and know nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import InitVar, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from neurogym_core.errors import TrialLayoutError
from neurogym_core.trials.arrays import (
    Array,
    Bools,
    Columns,
    Floats,
    Ints,
    Reals,
    Wholes,
    one_row,
)
from neurogym_core.trials.interface import Interface
from neurogym_core.trials.layout import END, STAY, Layout, Pays
from neurogym_core.trials.record import Outcome

ARRAYS: dict[str, tuple[str, Any, Any]] = {
    "duration": ("S", np.int32, 0), "limit": ("", np.int32, 0),
    "shown": ("S", np.float32, 0), "sd": ("S", np.float32, 0), "weight": ("S", np.float32, 0),
    "target": ("S", None, 0), "script_at": ("S", np.int64, -1),
    "reward": ("S", np.float64, 0), "aborts": ("S", np.bool_, 0), "goto": ("S", np.int16, STAY),
    "slot": ("S", np.int8, -1), "outcome": ("S", np.int8, 0), "score": ("S", np.float64, 0),
    "window": ("SK", np.bool_, 0), "asked": ("K", np.bool_, 0),
    "miss_reward": ("K", np.float64, 0), "miss_outcome": ("K", np.int8, Outcome.MISS),
    "correct_reward": ("K", np.float64, 0), "error_reward": ("K", np.float64, 0),
    "due": ("K", np.float64, np.nan), "tolerance": ("K", np.float64, 0),
    "aim": ("K", np.float64, 0), "target_goto": ("K", np.int16, STAY),
    "error_goto": ("K", np.int16, STAY), "best": ("", np.float64, 0),
}  # fmt: skip
"""Arrays of k rows: axes after the rows, type, entry for a missing part."""
PAYOFFS = tuple(ARRAYS)[7:]
"""Payoffs and effects of actions, built on first access, since datasets mostly do without."""


@dataclass(frozen=True)
class Slots:
    """The K answer slots of a task.

    Attributes:
        names: (K,) names.
        units: (K,) the actions that answer each slot.
        needs: (K,) index of the slot that must be correct first, or -1.
        again: (K,) whether the slot can be answered again when its window opens again.
        pays: (K,) reward of graded answers, (error, tolerance) -> reward, or None.
        reported: (K,) whether only the hook `step_action` answers the slot.
    """

    names: tuple[str, ...] = ()
    units: tuple[slice, ...] = ()
    needs: tuple[int, ...] = ()
    again: tuple[bool, ...] = ()
    pays: tuple[Pays | None, ...] = ()
    reported: tuple[bool, ...] = ()


class _Arrays:
    duration: Wholes
    limit: Wholes
    shown: Reals
    sd: Reals
    script_at: Wholes
    target: Array
    weight: Reals
    reward: Reals
    aborts: Bools
    goto: Wholes
    slot: Wholes
    outcome: Wholes
    score: Reals
    window: Bools
    asked: Bools
    miss_reward: Reals
    miss_outcome: Wholes
    correct_reward: Reals
    error_reward: Reals
    error_goto: Wholes
    target_goto: Wholes
    due: Reals
    tolerance: Reals
    aim: Reals
    best: Reals


@dataclass(eq=False, repr=False)
class Tables(_Arrays):
    """k types of trials: S segments, P periods, U observation units, A actions, K answer slots.

    For continuous actions of D dimensions, A = 2 (resting, acting), or 1 without a trigger. A
    destination is the index of a period, STAY (-1) or END (-2). An array whose first axis is k is
    read-only, and one row in memory where all types are alike: its first stride is 0.

    Attributes:
        interface: channels, actions and rewards of the task.
        period_names: (P,) names of the periods.
        period: (S,) int32, the period of each segment.
        period_then: (P,) int16, the successor of each period: STAY (the next one), or a
            destination.
        untimed: names of the periods without a timer.
        endless: (S,) bool, segments without a timer: the last one of each untimed period.
        duration: (k, S) int32, steps; segments of 0 steps are skipped; of an endless one, those
            that the other periods leave it, or 1.
        limit: (k,) int32, steps after which the trial ends in any case.
        shown: (k, S, U) float32, the observation without noise.
        sd: (k, S, U) float32, SD of the noise.
        script: (R, U) float32, noiseless observations of types that change within a segment.
        script_at: (k, S) int64, row of `script` for the first step of a segment; -1: `shown` is
            used. A segment has a row for each of its steps; an endless one has a single row.
        target: (k, S) int64, the correct action; (k, S, D) float32 in task units for continuous
            actions.
        target_script: (R, D) float32, targets that change within a segment; empty if none does.
        weight: (k, S) float32, the weight of a step in a supervised loss.
        notes: name -> (k, …), covariates.
        slots: the answer slots.
        reward: (k, S, A) float64.
        aborts: (k, S, A) bool, the action breaks the hold.
        goto: (k, S, A) int16, destination.
        slot: (k, S, A) int8, the slot that the action answers, or -1.
        outcome: (k, S, A) int8, the `Outcome` of that answer.
        score: (k, S, A) float64: 1 for a correct answer, 0 for an error, worth / best for priced
            choices.
        window: (k, S, K) bool, the slot can be answered on this segment.
        asked: (k, K) bool, the slot exists in this type, and is scored.
        miss_reward, miss_outcome: (k, K) float64, int8, of a window that closes unanswered.
        correct_reward: (k, K) float64, of a right answer. Continuous actions without a trigger
            read it; others have it in `reward`.
        error_reward, error_goto: (k, K) float64, int16, of an answer that is too early, too late,
            too far off, or whose needed slot is not correct.
        target_goto: (k, K) int16, destination of the target.
        due: (k, K) float64, ms from the opening of the window to the correct moment; NaN: any.
        tolerance: (k, K) float64, ms around `due`, or the largest distance of a continuous answer.
        aim: (k, K, D) float64, correct values of continuous answers, task units.
        best: (k,) float64, the maximal reward of a trial, or NaN: performance is the mean score.
        random: whether `new_trial` drew from `rng`; trials with equal conditions may then differ.
        jumps: whether a trial may leave the order of its periods.
        unvisited: names of the last periods, if only errors lead there.
        layout: the calls that these types come from; None if they were joined or pickled.
    """

    n: int
    interface: Interface
    period_names: tuple[str, ...]
    period: Wholes
    period_then: Wholes
    untimed: frozenset[str]
    script: Reals
    target_script: Reals
    notes: Columns
    slots: Slots
    random: bool
    jumps: bool
    unvisited: frozenset[str]
    layout: Layout | None
    arrays: InitVar[dict[str, Array]]
    later: InitVar[Callable[[Tables], dict[str, Array]] | None] = None

    def __post_init__(
        self, arrays: dict[str, Array], later: Callable[[Tables], dict[str, Array]] | None
    ) -> None:
        self._later = later
        self._hold(arrays)

    def __getattr__(self, name: str) -> Any:
        if name not in PAYOFFS or self.__dict__.get("_later") is None:
            raise AttributeError(f"{type(self).__name__} has no {name!r}")
        self._hold(self._later(self))  # type: ignore[misc]
        self._later = None
        return self.__dict__[name]

    def _hold(self, arrays: dict[str, Array]) -> None:
        for name, values in arrays.items():
            values = np.ascontiguousarray(one_row(values), ARRAYS[name][1])
            # The first and the last row differ in most arrays that have several.
            alike = len(values) > 1 and values[0].tobytes() == values[-1].tobytes()
            if alike and _same(values, values[:1]):
                values = values[:1]
            self.__dict__[name] = np.broadcast_to(values, (self.n, *values.shape[1:]))

    def __len__(self) -> int:
        return self.n

    def __getstate__(self) -> dict[str, Any]:
        self.best  # noqa: B018 - builds the payoffs: a layout has functions, and many trials
        stored = {name: one_row(getattr(self, name)) for name in ARRAYS}
        return {**self.__dict__, **stored, "layout": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._hold({name: state[name] for name in ARRAYS})

    # ------------------------------------------------------------------ facts that follow

    @cached_property
    def endless(self) -> Bools:
        """(S,) the segment is the endless tail of a period without a timer."""
        return _last_segments(self.period) & np.isin(self.period, self.untimed_places)

    @property
    def untimed_places(self) -> list[int]:
        """Indices of the periods without a timer."""
        return [self.period_names.index(name) for name in self.untimed]

    @cached_property
    def entry(self) -> Wholes:
        """(P,) int32, the first segment of each period."""
        return np.searchsorted(self.period, np.arange(len(self.period_names))).astype(np.int32)

    @cached_property
    def follows(self) -> Wholes:
        """(S,) int32, the next segment when the time of a segment is over, or END."""
        follows = np.append(np.arange(1, len(self.period)), END).astype(np.int32)
        # The destination of a period applies at the end of its last segment.
        for segment in np.flatnonzero(_last_segments(self.period)):
            then = self.period_then[self.period[segment]]
            if then != STAY:
                follows[segment] = END if then == END else self.entry[then]
        return follows

    @property
    def needs(self) -> Wholes:
        """(K,) int32, see `Slots`."""
        return np.array(self.slots.needs, np.int32)

    @property
    def again(self) -> Bools:
        """(K,) see `Slots`."""
        return np.array(self.slots.again, np.bool_)

    @property
    def first_action(self) -> Wholes:
        """(K,) int32, the action that is choice 0 of the slot."""
        return np.array([units.start for units in self.slots.units], np.int32)

    @property
    def n_slots(self) -> int:
        """Number of answer slots, K."""
        return len(self.slots.names)

    @property
    def n_units(self) -> int:
        """Number of observation units, U."""
        units: int = self.script.shape[1]
        return units

    @property
    def dt(self) -> float:
        """ms per step."""
        return float(self.interface.dt)

    @property
    def trigger(self) -> bool:
        """False for continuous actions that are scored when the window closes."""
        actions = self.interface.actions
        return not actions.continuous or actions.trigger is not None

    @property
    def rows(self) -> Wholes:
        """(k, S) number of rows of each segment in `script`, where there is one."""
        return np.where(self.endless, 1, self.duration)

    @cached_property
    def _graded(self) -> tuple[Reals, Wholes]:
        """Rewards of timed answers by step, and the first step: kernels only look them up."""
        due, tolerances = np.broadcast_arrays(one_row(self.due), one_row(self.tolerance))
        dt, start = self.dt, np.zeros(due.shape, np.int32)
        finite = np.asarray(np.isfinite(due).any(axis=0))
        timed = [(k, pays) for k, pays in enumerate(self.slots.pays) if pays and finite[k]]
        if not timed:
            return np.zeros((*due.shape, 0)), start
        first = np.maximum(np.floor((due - tolerances) / dt), 1)
        last = np.ceil((due + tolerances) / dt)
        width = int(np.nanmax((last - first)[:, [k for k, _ in timed]])) + 1
        graded = np.zeros((*due.shape, max(width, 1)))
        for k, pays in timed:
            rows = np.isfinite(due[:, k])
            step = first[rows, k, None] + np.arange(graded.shape[-1])
            error = np.abs(step * dt - due[rows, k, None])
            tolerance = np.broadcast_to(tolerances[rows, k, None], error.shape)
            graded[rows, k] = pays(error.ravel(), tolerance.ravel()).reshape(error.shape)
            start[rows, k] = first[rows, k]
        return graded, start

    @property
    def graded(self) -> Reals:
        """(k, K, G) float64, reward of a correct timed answer, by its step in the window."""
        values = self._graded[0]
        return np.broadcast_to(values, (self.n, *values.shape[1:]))

    @property
    def graded_from(self) -> Wholes:
        """(k, K) int32, step in the window (from 1) of the first entry of `graded`; 0: none."""
        return np.broadcast_to(self._graded[1], (self.n, self.n_slots))

    @cached_property
    def share(self) -> Floats:
        """(k, S) the weight of a step as a share of those of the whole trial; 0 if all are 0."""
        weight = self.weight.astype(np.float64)
        total = (weight * self.duration).sum(axis=1, keepdims=True)
        share: Floats = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
        return share

    @cached_property
    def path(self) -> Ints:
        """(k, V) steps that the oracle plays in each segment, round after round of all S segments.

        V is S, or a multiple of S where the oracle returns to earlier periods. A path ends at the
        limit of its trial.
        """
        return np.ascontiguousarray(_path_of(self), np.int64)

    @cached_property
    def steps(self) -> Ints:
        """(k,) length of the path of the oracle."""
        return self.path.sum(axis=1)  # type: ignore[no-any-return]

    @cached_property
    def ahead(self) -> Floats:
        """(k, S) steps from the onset of a segment to the end of its period; inf: no timer."""
        places = np.arange(len(self.period))
        later = (self.period == self.period[:, None]) & (places >= places[:, None])
        steps: Floats = (self.duration @ later.T.astype(np.int64)).astype(np.float64)
        steps[:, np.isin(self.period, self.untimed_places)] = np.inf
        return steps

    @cached_property
    def period_steps(self) -> dict[str, Ints]:
        """Drawn steps of each period, name -> (k,); without a timer, those that others leave."""
        duration, limit = self.duration, self.limit
        steps = {
            name: duration[:, self.period == p].sum(axis=1)
            for p, name in enumerate(self.period_names)
        }
        timed = sum((steps[name] for name in steps if name not in self.untimed), 0)
        return steps | {name: np.maximum(limit - timed, 1) for name in self.untimed}

    def landing(self, kind: Wholes, segment: Wholes) -> Wholes:
        """Return (m,) the segments that are played on entering `segment`; empty ones are skipped.

        Args:
            kind: (m,) types of the trials.
            segment: (m,) segments, or END.
        """
        segment, duration, follows = np.array(segment), self.duration, self.follows
        # As `Kernel._landing`, for many trials: after so many skips it is a cycle.
        for _ in range(2 * len(follows)):
            passed = np.flatnonzero(segment >= 0)
            passed = passed[duration[kind[passed], segment[passed]] == 0]
            if not len(passed):
                return segment
            segment[passed] = follows[segment[passed]]
        segment[passed] = END
        return segment

    # ------------------------------------------------------------------ rows

    def take(self, rows: Wholes) -> Tables:
        """Return some of the types.

        Args:
            rows: (m,) indices of types.
        """
        if len(rows) == self.n and np.array_equal(rows, np.arange(self.n)):
            return self

        def taken(names: Iterable[str]) -> dict[str, Array]:
            arrays = ((name, one_row(getattr(self, name))) for name in names)
            return {
                name: values if len(values) == 1 else values.take(rows, axis=0)
                for name, values in arrays
            }

        built = tuple(ARRAYS) if self._later is None else tuple(ARRAYS)[:7]
        return replace(
            self, n=len(rows), arrays=taken(built), layout=None,
            notes={name: values[rows] for name, values in self.notes.items()},
            later=None if self._later is None else lambda _: taken(PAYOFFS),
        )  # fmt: skip

    @staticmethod
    def concatenate(parts: Sequence[Tables]) -> Tables:
        """Join types of one task; where they cut periods differently, align their segments.

        Raises:
            TrialLayoutError: the parts differ in the names of their periods.
        """
        first = parts[0]
        if len(parts) == 1:
            return first
        period, slots = _common_segments(parts), _common_slots([part.slots for part in parts])
        scripted = any(len(part.script) for part in parts)
        targeted = any(len(part.target_script) for part in parts)
        scripts = [_scripts_of(part, scripted, targeted) for part in parts]
        aligned = [
            part._aligned(period, slots, at)
            for part, (at, _, _) in zip(parts, scripts, strict=True)
        ]
        offset = 0
        for one, (_, script, targets) in zip(aligned, scripts, strict=True):
            one["script_at"] = np.where(one["script_at"] < 0, -1, one["script_at"] + offset)
            offset += max(len(script), len(targets))
        return replace(
            first, n=sum(map(len, parts)), period=period, slots=slots, layout=None,
            arrays={name: _stacked([one[name] for one in aligned]) for name in ARRAYS},
            script=np.concatenate([script for _, script, _ in scripts]),
            target_script=np.concatenate([targets for _, _, targets in scripts]),
            notes={
                name: np.concatenate([part.notes[name] for part in parts]) for name in first.notes
            },
            random=any(part.random for part in parts),
            # `unvisited` is one set for all; types that differ in it count as jumping.
            jumps=any(part.jumps or part.unvisited != first.unvisited for part in parts),
        )  # fmt: skip

    def _aligned(self, period: Array, slots: Slots, script_at: Array) -> dict[str, Array]:
        """Return the arrays over the segments of `period` and over `slots`."""
        places, arrays = [slots.names.index(name) for name in self.slots.names], {}
        # The first segment of the same period, and the rank within it. The tail stays the last one.
        rank = np.arange(len(self.period)) - np.searchsorted(self.period, self.period)
        at = np.searchsorted(period, self.period) + rank
        tails = self.endless
        at[tails] = np.searchsorted(period, self.period[tails], side="right") - 1
        for name, (axes, _, nothing) in ARRAYS.items():
            values = script_at if name == "script_at" else getattr(self, name)
            if "S" in axes and len(period) > len(at):
                values = _spread(values, 1, at, len(period), nothing)
            if "K" in axes and slots.names != self.slots.names:
                values = _spread(values, len(axes), places, len(slots.names), nothing)
            arrays[name] = values
        if slots.names != self.slots.names:
            renumber = np.array([*places, -1], np.int8)  # the last entry: -1, no slot, stays -1
            arrays["slot"] = renumber[arrays["slot"]]
        return arrays


def _same(one: Array, other: Array) -> bool:
    """Whether two arrays, which broadcast, have the same bits; so NaN is NaN, and 0 is not -0."""
    first, second = (np.ascontiguousarray(a).view(f"u{a.itemsize}") for a in (one, other))
    return bool((first == second).all())


def _spread(values: Array, axis: int, at: Any, size: int, nothing: Any) -> Array:
    """Copy entries along an axis to the places `at` of a longer one; `nothing` is elsewhere."""
    shape = (*values.shape[:axis], size, *values.shape[axis + 1 :])
    out = np.full(shape, nothing, values.dtype)
    out[(slice(None),) * axis + (at,)] = values
    return out


def _stacked(parts: list[Array]) -> Array:
    """Join arrays of k rows; a row that is the same in all parts stays one."""
    rows = [one_row(part) for part in parts]
    if all(len(row) == 1 and _same(row, rows[0]) for row in rows):
        return rows[0]
    return np.concatenate(parts)


def _last_segments(period: Wholes) -> Bools:
    """Return (S,) bool, whether each segment is the last one of its period."""
    return np.append(period[1:] != period[:-1], True)


def _scripts_of(tables: Tables, scripted: bool, targeted: bool) -> tuple[Array, Array, Array]:
    """Return `script_at` and scripts, also if nothing changes within the segments."""
    if not scripted:
        return tables.script_at, tables.script, tables.target_script
    at, script, targets = tables.script_at, tables.script, tables.target_script
    rows = tables.rows
    if not len(script):
        script = np.repeat(tables.shown.reshape(-1, tables.n_units), rows.ravel(), axis=0)
        at = (np.cumsum(rows.ravel()) - rows.ravel()).reshape(rows.shape)
    if targeted and not len(targets):
        target = tables.target
        targets = np.repeat(target.reshape(-1, target.shape[2]), rows.ravel(), axis=0)
    return at, script, targets


def _common_segments(parts: Sequence[Tables]) -> Array:
    """Period of each segment, where every period has the most segments of any part."""
    names = parts[0].period_names
    for part in parts[1:]:
        if part.period_names != names:
            raise TrialLayoutError(
                f"{part.interface.name}.new_trial named the periods {part.period_names} in one"
                f" trial and {names} in another; name all of them in every trial, and give skipped"
                " ones the duration 0."
            )
    counts = np.max([np.bincount(part.period, minlength=len(names)) for part in parts], axis=0)
    return np.repeat(np.arange(len(names), dtype=np.int32), counts)


def _common_slots(parts: list[Slots]) -> Slots:
    """The slots of all parts; each is that of the first part that has it."""
    if all(part == parts[0] for part in parts):
        return parts[0]
    names = tuple(dict.fromkeys(name for part in parts for name in part.names))
    owners = [
        next((one, one.names.index(name)) for one in parts if name in one.names) for name in names
    ]
    return Slots(
        names,
        tuple(one.units[k] for one, k in owners),
        tuple(
            -1 if one.needs[k] < 0 else names.index(one.names[one.needs[k]]) for one, k in owners
        ),
        tuple(one.again[k] for one, k in owners),
        tuple(one.pays[k] for one, k in owners),
        tuple(one.reported[k] for one, k in owners),
    )


# ---------------------------------------------------------------------- the oracle's path


def _path_of(tables: Tables) -> Array:
    """Return the steps that the oracle plays in each segment, (k, V), round after round.

    The oracle answers on the last step of every window, so that periods with a timer run to their
    end. Only an action leads out of a period without one: there it answers on the first step on
    which an answer leads out, or stays until the limit. It answers a slot once, unless the slot can
    be answered again. A move to the same or an earlier period begins another round of the S
    segments; where hooks decide, too, the path ends there.
    """
    if tables.jumps:
        return _Walk(tables).path()
    path = tables.duration
    if tables.unvisited:
        visited = np.array([name not in tables.unvisited for name in tables.period_names])
        path = np.where(visited[tables.period], path, 0)
    return until(path, tables.limit)


def until(path: Array, limit: Array) -> Array:
    """Return (n, S) the steps of segments up to a limit of each trial, (n,)."""
    if (path.sum(axis=1) <= limit).all():
        return path
    edges = np.minimum(np.cumsum(path, axis=1), limit[:, None])
    return np.diff(edges, axis=1, prepend=0)


class _Walk:
    """The oracle on its way through all types at once."""

    def __init__(self, tables: Tables) -> None:
        self.tables, actions = tables, tables.interface.actions
        self.period, self.duration = tables.period, tables.duration.astype(np.int64)
        self.goto, self.slot = tables.goto, tables.slot
        self.again = np.array(tables.slots.again, bool)
        # The column of the target of each segment.
        self.column = tables.target
        if actions.continuous:
            self.column = np.zeros(self.duration.shape, np.int64)
            if actions.trigger is not None:
                index, _ = actions.trigger
                acts = tables.target[:, :, index] == np.float32(actions.high[index])
                self.column = acts.astype(np.int64)

    def path(self) -> Array:
        tables, duration, period = self.tables, self.duration, self.period
        n, n_periods = len(duration), len(tables.period_names)
        closing, target_goto = self._closing(), tables.target_goto
        untimed = np.isin(np.arange(n_periods), tables.untimed_places)
        last = np.searchsorted(period, np.arange(n_periods), side="right") - 1
        answered = np.zeros((n, tables.n_slots), bool)
        left, idle = tables.limit.astype(np.int64), np.zeros(n, np.int64)
        path, turn = np.zeros((n, 1, duration.shape[1]), np.int64), np.zeros(n, np.int64)
        # The trials that are on the way, and their periods; all go from period to period together.
        rows, at = np.arange(n), np.zeros(n, np.int64)
        while len(rows):
            steps = np.where(period == at[:, None], duration[rows], 0)
            exits, by = tables.period_then[at].astype(np.int64), np.full(len(rows), -1)
            for k in range(tables.n_slots):
                goto = target_goto[rows, k]
                leads = closing[rows, at, k] & (goto != STAY) & ~answered[rows, k] & ~untimed[at]
                exits[leads], by[leads] = goto[leads], k
            leads = by >= 0
            answered[rows[leads], by[leads]] = ~self.again[by[leads]]
            waits = np.flatnonzero(untimed[at])
            if len(waits):
                steps[waits], exits[waits] = self._first_exit(rows[waits], steps[waits], answered)
                stays = waits[exits[waits] == STAY]
                steps[stays, last[at[stays]]], exits[stays] = left[rows[stays]], END
            steps = until(steps, left[rows])
            path[rows, turn[rows]] += steps
            played = steps.sum(axis=1)
            left[rows] -= played
            # Periods of 0 steps that lead to each other end the trial, as in the kernel.
            idle[rows] = np.where(played > 0, 0, idle[rows] + 1)
            following = np.where(exits == STAY, at + 1, exits)
            on = (following >= 0) & (following < n_periods) & (left[rows] > 0)
            on &= (idle[rows] <= 2 * n_periods) & ((following > at) | (not tables.interface.hooks))
            turn[rows] += on & (following <= at)
            rows, at = rows[on], following[on]
            if turn.max(initial=0) == path.shape[1]:
                path = np.concatenate([path, np.zeros_like(path)], axis=1)
        return path[:, : turn.max(initial=0) + 1].reshape(n, -1)

    def _first_exit(self, rows: Array, steps: Array, answered: Array) -> tuple[Array, Array]:
        """Return (m, S) steps until an answer leads out of an untimed period, and (m,) where to."""
        steps, exits = steps.copy(), np.full(len(rows), STAY, np.int64)
        for s in np.flatnonzero(steps.any(axis=0)).tolist():
            column = self.column[rows, s]
            k, goto = self.slot[rows, s, column], self.goto[rows, s, column]
            answers = (exits == STAY) & (steps[:, s] > 0) & (k >= 0)
            answers[answers] = ~answered[rows[answers], k[answers]]
            answered[rows[answers], k[answers]] = ~self.again[k[answers]]
            leaves = answers & (goto != STAY)
            exits[leaves] = goto[leaves]
            steps[leaves, s] = 1
            steps[leaves, s + 1 :] = 0
        return steps, exits

    def _closing(self) -> Array:
        """Whether the window of each slot closes in each period, (k, P, K)."""
        tables, period, played = self.tables, self.period, self.duration > 0
        n_periods = len(tables.period_names)
        closing = np.zeros((len(played), n_periods, tables.n_slots), bool)
        period_steps = np.stack(
            [self.duration[:, period == p].sum(axis=1) for p in range(n_periods)], axis=1
        )
        for k in range(tables.n_slots):
            window = tables.window[:, :, k] & played
            # A window closes in the last of its periods; there the oracle answers, and goes where
            # its answer leads. Elsewhere the period's own successor follows.
            for p in range(n_periods):
                closing[:, p, k] = window[:, period == p].any(axis=1) & ~self._open_after(
                    window, period_steps, p
                )
        return closing

    def _open_after(self, window: Array, period_steps: Array, p: int) -> Array:
        """Whether the window is still open in the period that follows period `p`, (k,)."""
        then = self.tables.period_then
        n_periods, rows = len(then), np.arange(len(window))
        follows = np.where(then == STAY, np.arange(1, n_periods + 1), then)
        follows[follows == n_periods] = END
        following = np.full(len(window), follows[p])
        for _ in range(n_periods):  # periods of 0 steps are passed over
            passed = (following >= 0) & (period_steps[rows, np.maximum(following, 0)] == 0)
            following = np.where(passed, follows[np.maximum(following, 0)], following)
        return np.asarray(
            (following >= 0) & (window & (self.period == following[:, None])).any(axis=1)
        )
