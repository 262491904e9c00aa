"""`TrialResults`: results of ended trials, and the ``info["trial"]`` dicts. Both compute their
columns on first access. Numeric infos have results of trials as numbers.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import cached_property, partial, wraps
from typing import Any, NamedTuple

import numpy as np

from neurogym_core.play.blocks import NOT_VISITED, Block
from neurogym_core.trials.arrays import Array, Bools, Floats, Ints
from neurogym_core.trials.events import Events
from neurogym_core.trials.record import (
    DURATION,
    OFFSET,
    ONSET,
    OUTCOME_NAMES,
    RESTING,
    Outcome,
    TrialRecord,
)
from neurogym_core.trials.slot_columns import NAMES, REST_CORRECT, SLOTS, joined_names, named


class Given(NamedTuple):
    """Contributions of hooks and continuous actions to a step of N envs; None: no contribution.

    Attributes:
        reward: (N,) float64, total reward of the step; replaces everything else.
        extra: (N,) float64, added to the reward of the table.
        goto: (N,) int64, destinations; STAY leaves the decision to the table.
        distance: (N, K) float64, distance of a continuous action from the target of each slot; NaN
            for slots that only the hook answers.
        graded: (N, K) float64, reward if the distance is tolerated; NaN: reward of the table.
            Without a trigger: reward of the answer when the window closes, whatever its distance.
        score: (N, K) float64, score of the answer where `graded` is not NaN.
        values: (N, D) float64, the action in task units.
    """

    reward: Floats | None = None
    extra: Floats | None = None
    goto: Ints | None = None
    distance: Floats | None = None
    graded: Floats | None = None
    score: Floats | None = None
    values: Floats | None = None


class Moved(NamedTuple):
    """Results of one step of N envs.

    Attributes:
        reward: (N,) float64.
        ended, over: (N,) bool, whether a trial, and whether a session ended.
        performance: (N,) float64, of the trials that ended; 0 elsewhere.
        finished: the trials that ended, or None.
    """

    reward: Floats
    ended: Bools
    over: Bools
    performance: Floats
    finished: TrialResults | None


class TrialResults:
    """Results of m trials that ended.

    Args:
        rows: (m,) rows of the trials in their blocks.
        blocks: the block of all trials, or one block per trial.
    """

    def __init__(self, rows: Ints, blocks: Block | Sequence[Block]) -> None:
        self.rows = rows
        self._blocks = blocks

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def block(self) -> Block:
        """The block of the first trial."""
        return self._parts[0][0]

    @cached_property
    def _parts(self) -> list[tuple[Block, Array]]:
        """The blocks, and the indices of the trials of each."""
        if isinstance(self._blocks, Block):
            return [(self._blocks, np.arange(len(self.rows)))]
        which: dict[int, list[int]] = {}
        for place, block in enumerate(self._blocks):
            which.setdefault(id(block), []).append(place)
        return [(self._blocks[places[0]], np.array(places)) for places in which.values()]

    @cached_property
    def _order(self) -> Array:
        """(m,) index of each trial in the concatenation of all parts."""
        return np.argsort(np.concatenate([places for _, places in self._parts]), kind="stable")

    def _gather(self, values_of: Callable[[Block, Array], Array]) -> Array:
        """Return (m, …) values of the trials, by one call ``values_of(block, rows)`` per block."""
        if isinstance(self._blocks, Block):
            return values_of(self._blocks, self.rows)
        parts = [values_of(block, self.rows[places]) for block, places in self._parts]
        if len(parts) == 1:
            return parts[0]
        return np.concatenate(parts)[self._order]

    def _logged(self, name: str) -> Array:
        def values_of(block: Block, rows: Array) -> Array:
            values: Array = getattr(block.log, name)[rows]
            return values

        return self._gather(values_of)

    @property
    def envs(self) -> Array:
        """(m,) int64, the env of each trial."""
        return self._logged("env")

    @property
    def number(self) -> Array:
        """(m,) int64, number of each trial in its env."""
        return self._logged("number")

    @property
    def session(self) -> Array:
        """(m,) int64, number of each trial's session."""
        return self._logged("session")

    @property
    def reward(self) -> Array:
        """(m,) float64, total reward of each trial."""
        return self._logged("reward")

    @property
    def aborts(self) -> Array:
        """(m,) int64, number of actions that broke the hold."""
        return self._logged("aborts")

    @property
    def steps(self) -> Array:
        """(m,) int64, number of steps played."""
        return self._logged("steps")

    @property
    def outcome(self) -> Array:
        """(m,) int8, `Outcome` of each trial."""
        return self._logged("outcome")

    @property
    def performance(self) -> Array:
        """(m,) float64, from 0 to 1."""
        return self._logged("performance")

    @property
    def choice(self) -> Array:
        """(m,) int64, choice in the first slot; -1: none."""
        return self._gather(
            lambda block, rows: (
                block.log.slot_choice[rows, 0]
                if block.tables.n_slots
                else np.full(len(rows), RESTING)
            )
        )

    @cached_property
    def conditions(self) -> dict[str, Array]:
        """Conditions of the trials, name -> (m, …)."""
        names = self._parts[0][0].conditions
        return {name: self._gather(partial(_condition, name)) for name in names}

    def keep(self, name: str, values: Array) -> None:
        """Store the last values of an array of `trial_state`, (m, …), for the record."""
        for block, places in self._parts:
            kept = block.states[name]
            if kept.dtype != values.dtype:  # a hook may assign fractions to an array of ints
                kept = block.states[name] = kept.astype(np.result_type(kept, values))
            kept[self.rows[places]] = values[places]

    @cached_property
    def columns(self) -> dict[str, Array]:
        """All columns of the trial record, name -> (m, …)."""
        return self._table(timed=False)

    def _table(self, *, timed: bool) -> dict[str, Array]:
        if len(self._parts) == 1:
            block = self._parts[0][0]
            return _columns(block, self.rows) | (_times(block, self.rows) if timed else {})
        records = [
            TrialResults(self.rows[places], block).record(timed=timed)
            for block, places in self._parts
        ]
        joined = TrialRecord.concatenate(records)
        return {name: joined[name][self._order] for name in joined.columns}

    def record(self, *, timed: bool = False) -> TrialRecord:
        """Return the trials as a record.

        Args:
            timed: whether it has the columns ``trial_start``, ``trial_stop``, ``answer_time``,
                ``onset.<period>`` and ``offset.<period>``, ms since the trial began, and
                ``rest_correct``.
        """
        names = dict.fromkeys(name for block, _ in self._parts for name in block.tables.slots.names)
        columns = self._table(timed=True) if timed else self.columns
        order = joined_names(
            [{NAMES: block.names, SLOTS: block.tables.slots.names} for block, _ in self._parts],
            columns,
        )
        meta = {SLOTS: tuple(names), NAMES: order}
        return TrialRecord(columns, meta=meta, events=self._events())

    def _events(self) -> dict[str, list[Any]] | None:
        """Return the events of the trials, ms since each began; None without any."""
        found = [
            (place, *event)
            for block, places in self._parts
            if block.events
            for place in places.tolist()
            for event in block.events.get(int(self.rows[place]), ())
        ]
        if not found:
            return None
        return dict(zip(Events._fields, map(list, zip(*found, strict=True)), strict=True))

    def row(self, i: int) -> dict[str, Any]:
        """Return trial `i` as Python values, without the keys of absent reaction times."""
        row = {name: values[i].tolist() for name, values in self.columns.items()}
        return {
            name: value
            for name, value in row.items()
            if not (name.endswith("reaction_time") and value != value)
        }


def _condition(name: str, block: Block, rows: Array) -> Array:
    return block.conditions[name][rows]


def _columns(block: Block, rows: Array) -> dict[str, Array]:
    log, types, kind = block.log, block.tables, block.kind[rows]
    columns: dict[str, Array] = {
        "trial": log.number[rows],
        "env": log.env[rows],
        "session": log.session[rows],
    }
    names = block.names
    columns |= {
        name: named(values[rows], names.get(name, ())) for name, values in block.conditions.items()
    }
    columns |= {name: values[kind] for name, values in types.notes.items()}
    columns |= {name: values[rows] for name, values in block.states.items()}
    columns |= {name: values[rows] for name, values in block.columns.items()}
    for k, name in enumerate(types.slots.names):
        prefix = f"{name}." if types.n_slots > 1 else ""
        choice = f"{prefix}choice"
        columns[choice] = named(_choice(block, rows, k), names.get(choice, ()))
        columns[f"{prefix}outcome"] = OUTCOME_NAMES[log.slot_outcome[rows, k]]
        columns[f"{prefix}reaction_time"] = log.slot_time[rows, k]
        if types.slots.again[k]:
            if not log.values.shape[2]:
                first = log.first_choice[rows, k]
                columns[f"{prefix}first_choice"] = named(first, names.get(choice, ()))
            columns[f"{prefix}first_outcome"] = OUTCOME_NAMES[log.first_outcome[rows, k]]
            columns[f"{prefix}first_reaction_time"] = log.first_time[rows, k]
            columns[f"{prefix}answers"] = log.answers[rows, k]
    columns |= {
        "outcome": OUTCOME_NAMES[log.outcome[rows]], "performance": log.performance[rows],
        "reward": log.reward[rows], "aborts": log.aborts[rows], "steps": log.steps[rows],
    }  # fmt: skip
    columns |= {
        DURATION + name: steps[kind] * types.dt for name, steps in types.period_steps.items()
    }
    return columns


def _times(block: Block, rows: Array) -> dict[str, Array]:
    """Return the columns of times as played, ms since each trial began, and of right rests."""
    log, types, kind = block.log, block.tables, block.kind[rows]
    dt = types.dt
    columns = {"trial_start": np.zeros(len(rows)), "trial_stop": log.steps[rows] * dt}
    for k, name in enumerate(types.slots.names):
        prefix = f"{name}." if types.n_slots > 1 else ""
        columns[f"{prefix}answer_time"] = log.opened[rows, k] * dt + log.slot_time[rows, k]
        if "step_action" not in types.interface.hooks:  # the hook may judge by itself
            missed = block.tables.miss_outcome[kind, k]
            columns[f"{prefix}{REST_CORRECT}"] = missed == Outcome.CORRECT
    for prefix, clock in ((ONSET, log.onset[rows]), (OFFSET, log.offset[rows])):
        ms = np.where(clock == NOT_VISITED, np.nan, clock * dt)
        columns |= {prefix + name: ms[:, k] for k, name in enumerate(types.period_names)}
    return columns


def _choice(block: Block, rows: Array, k: int) -> Array:
    """Return (m,) choices in a slot; continuous ones in task units, (m,) or (m, dimensions)."""
    log = block.log
    if not log.values.shape[2]:
        choice: Array = log.slot_choice[rows, k]
        return choice
    actions = block.tables.interface.actions
    values = actions.read(log.values[rows, k], block.tables.slots.units[k])
    # A point in the middle of a circle has no angle; only reaction times are NaN in records.
    values = np.where((log.slot_choice[rows, k, None] >= 0) & ~np.isnan(values), values, 0.0)
    whole: Array = values[:, 0] if values.shape[1] == 1 else values
    return whole


class LazyDict(dict[str, Any]):
    """A dict whose items are computed on first access.

    Gymnasium requires that `info["trial"]` is a dict, but few callers read it after every trial.
    Copies and pickles are plain dicts. A deep copy computes its items on access, too, because
    Stable-Baselines3 deep-copies every info.
    """

    __slots__ = ("_pending",)

    def __init__(self) -> None:
        self._pending = True

    def compute(self) -> dict[str, Any]:
        """Return the items."""
        raise NotImplementedError

    def _full(self) -> dict[str, Any]:
        if self._pending:
            self._pending = False
            dict.update(self, self.compute())
        return self

    def __missing__(self, name: str) -> Any:
        if not self._pending:
            raise KeyError(name)
        return self._full()[name]

    def __reduce__(self) -> tuple[type, tuple[dict[str, Any]]]:
        return dict, (self.copy(),)

    def again(self) -> LazyDict:
        """Return a new dict whose items are not computed yet."""
        raise NotImplementedError

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        # Ended trials do not change, so the copy can compute the items itself.
        return self.again() if self._pending else copy.deepcopy(self.copy(), memo)

    __hash__ = None


def _on_all_items(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method of `dict` that computes the items of every `LazyDict` that it is given."""

    @wraps(method)
    def called(self: LazyDict, *others: Any, **named: Any) -> Any:
        full = (one._full() if isinstance(one, LazyDict) else one for one in others)
        return method(self._full(), *full, **named)

    return called


# `__getitem__` needs no change: for a missing item it calls `__missing__`.
for _name in (
    "__contains__", "__delitem__", "__eq__", "__ior__", "__iter__", "__len__", "__ne__", "__or__",
    "__repr__", "__reversed__", "__ror__", "__setitem__", "clear", "copy", "get", "items", "keys",
    "pop", "popitem", "setdefault", "update", "values",
):  # fmt: skip
    setattr(LazyDict, _name, _on_all_items(getattr(dict, _name)))


class TrialInfo(LazyDict):
    """``info["trial"]`` of one env: column -> Python value, without absent reaction times."""

    __slots__ = ("_block", "_row")

    def __init__(self, block: Block, row: int) -> None:
        self._pending, self._block, self._row = True, block, row
        # json writes a dict whose C length is 0 as {}, without asking for its items.
        dict.__setitem__(self, "trial", block.log.number.item(row))

    @classmethod
    def of(cls, results: TrialResults) -> TrialInfo:
        """Return the info of results that are a single trial."""
        return cls(results.block, results.rows.item())

    @property
    def finished(self) -> TrialResults:
        """The trial as `TrialResults` of one row."""
        return TrialResults(np.array([self._row]), self._block)

    def again(self) -> TrialInfo:
        return TrialInfo(self._block, self._row)

    def compute(self) -> dict[str, Any]:
        return self.finished.row(0)


class VectorInfo(LazyDict):
    """``info["trial"]`` of a vector env, in the form to which Gymnasium joins infos of single envs:
    column -> (N,) array, and the mask ``_column``, True where the env has a value.
    """

    __slots__ = ("_n", "finished")

    def __init__(self, finished: TrialResults, n: int) -> None:
        self._pending, self.finished, self._n = True, finished, n

    def again(self) -> VectorInfo:
        return VectorInfo(self.finished, self._n)

    def compute(self) -> dict[str, Any]:
        envs, wide = self.finished.envs, {}
        ended = self._spread(np.ones(len(envs), np.bool_), envs)
        for name, values in self.finished.columns.items():
            mask = ended
            if name.endswith("reaction_time"):
                mask = self._spread(~np.isnan(values), envs)
                values = np.nan_to_num(values, nan=0.0)
            wide[name], wide[f"_{name}"] = self._spread(values, envs), mask
        return wide

    def _spread(self, values: Array, envs: Array) -> Array:
        out = np.zeros((self._n, *values.shape[1:]), values.dtype)
        out[envs] = values
        return out


# ------------------------------------------------------------------ the forms of infos

_OF_TRIALS = {
    "performance": np.float64,
    "trial_reward": np.float64,
    "outcome": np.int64,
    "choice": np.int64,
    "trial_steps": np.int64,
    "aborts": np.int64,
}
"""The infos that are 0 until a trial ends, and their types."""


def numeric_info(
    n: int, target: Array, period: Array, finished: TrialResults | None = None
) -> dict[str, Array]:
    """Return the numeric infos of a step of N envs, (N, …), or (N, D) targets; see `TaskEnv`."""
    # An int: `SyncVectorEnv` would store a bool of NumPy as an object.
    info: dict[str, Array] = {"gt": target, "period": period.astype(np.int64)}
    info["new_trial"] = np.zeros(n, np.int64)
    info |= {name: np.zeros(n, kind) for name, kind in _OF_TRIALS.items()}
    if finished is not None:
        envs = finished.envs
        info["new_trial"][envs] = 1
        for name in _OF_TRIALS:
            info[name][envs] = getattr(finished, name.removeprefix("trial_"))
    return info


def of_one(info: dict[str, Array]) -> dict[str, Any]:
    """Return the numeric infos of the only env: numbers of NumPy, because TorchRL reads types."""
    return {name: values[0] for name, values in info.items()}
