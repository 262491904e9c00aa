"""`Dataset`: supervised batches of a task."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from neurogym_core.ecosystem.discovery import missing
from neurogym_core.errors import InvalidValueError, NotSupportedError, unknown
from neurogym_core.play.blocks import Block
from neurogym_core.play.dealer import Dealer
from neurogym_core.play.env import whole_number
from neurogym_core.play.kernels import fill_function
from neurogym_core.play.make import bare_env, form_of, is_env_class, make_task, resolve
from neurogym_core.play.replay import replay
from neurogym_core.play.stepper import Stepper
from neurogym_core.tasks.state import interface_of, state_of
from neurogym_core.trials.arrays import Array, Bools, Columns, Singles, Wholes, per_row
from neurogym_core.trials.batch import TrialBatch
from neurogym_core.trials.noise import checked_split, sequence_of
from neurogym_core.trials.record import TrialRecord
from neurogym_core.trials.rendering import Steps
from neurogym_core.trials.tables import Tables

TARGETS = ("action", "units", "best")
CHUNK_STEPS = 1 << 15
"""Approximate number of steps that are rendered together; small batches share a chunk."""
CALLED = (
    "dataset() was called, as in NeuroGym. Expected next(dataset). Write batch = next(dataset),"
    " then batch.inputs and batch.targets, (batch, time, …)."
)


@dataclass(frozen=True, eq=False)
class Placed:
    """m trials and their places in a batch.

    Attributes:
        row, start, stop: (m,) row of each trial, its first step there, and its last step + 1.
        conditions, notes: name -> (m, …).
        trials: the trials; None for a task that is stepped.
    """

    row: Array
    start: Array
    stop: Array
    conditions: Columns
    trials: Callable[[], TrialBatch] | None = None

    def take(self, which: Array) -> Placed:
        """Return some of the trials, in this order.

        Args:
            which: indices of trials, or a mask.
        """
        trials = self.trials
        return Placed(
            self.row[which],
            self.start[which],
            self.stop[which],
            {name: values[which] for name, values in self.conditions.items()},
            None if trials is None else lambda: trials().take(which),
        )

    def window(self, begin: int, steps: int) -> Placed:
        """Return the trials that overlap with the `steps` steps from `begin`, relative to it."""
        inside = self.take(np.flatnonzero((self.stop > begin) & (self.start < begin + steps)))
        return replace(inside, start=inside.start - begin, stop=inside.stop - begin)

    def __getstate__(self) -> dict[str, Any]:
        trials = None if self.trials is None else partial(_itself, self.trials())
        return {**vars(self), "trials": trials}


def _itself(trials: TrialBatch) -> TrialBatch:
    return trials


@dataclass(frozen=True, eq=False)
class Part:
    """Trials of one block, and their places in a chunk.

    Attributes:
        block: the block.
        rows: (m,) rows of the trials in the block.
        steps: types, serial numbers and steps of the trials.
        row, start: (m,) row of each trial in the chunk, and its first step there (negative: the
            trial began in an earlier chunk).
    """

    block: Block
    rows: Array
    steps: Steps
    row: Array
    start: Array

    @property
    def types(self) -> Tables:
        """The types of the block's trials."""
        return self.block.tables

    @property
    def trials(self) -> TrialBatch:
        """The trials."""
        block, rows = self.block, self.rows
        return TrialBatch(block.tables, block.kind, block.conditions, block.columns).take(rows)


@dataclass(frozen=True, eq=False)
class Chunk:
    """Trials and their places, before rendering; enough for a device to render them itself.

    Attributes:
        parts: the trials, by block.
        shape: (rows, steps).
        padded: whether each row is one whole trial, which can be shorter than `steps`.
        key: key of the noise.
    """

    parts: tuple[Part, ...]
    shape: tuple[int, int]
    padded: bool
    key: int

    @property
    def new_trial(self) -> Bools:
        """(rows, steps), the first step of a trial."""
        mask = np.zeros(self.shape, np.bool_)
        for part in self.parts:
            here = part.start >= 0
            mask[part.row[here], part.start[here]] = True
        return mask

    def placed(self) -> Placed:
        """Return the places of the trials, in order of their rows; they are found once."""
        return self._placed

    @cached_property
    def _placed(self) -> Placed:
        parts = self.parts

        def joined(values: Sequence[Array]) -> Array:
            return np.concatenate(values)

        row, start = joined([part.row for part in parts]), joined([part.start for part in parts])
        return Placed(
            row,
            start,
            start + joined([part.types.steps[part.steps.kind] for part in parts]),
            {
                name: joined([part.block.conditions[name][part.rows] for part in parts])
                for name in parts[0].block.conditions
            },
            lambda: TrialBatch.concatenate([part.trials for part in parts]),
        ).take(np.lexsort((start, row)))

    def rendered(self, encode: Callable[[Array], Array]) -> tuple[Array, Array, Array, Array]:
        """Render inputs, targets, weights and first steps of trials, each (rows, steps, …).

        Args:
            encode: turns targets of steps into those of the batch.
        """
        # Streams fill every step, so their arrays need no zeros.
        tables, made = self.parts[0].types, np.zeros if self.padded else np.empty
        inputs = made((*self.shape, tables.n_units), np.float32)
        targets = made((*self.shape, *tables.target.shape[2:]), tables.target.dtype)
        weights = made(self.shape, np.float32)
        real = np.zeros(self.shape, np.bool_) if self.padded else None
        fill = fill_function()
        for part in self.parts:
            offset = part.row * self.shape[1] + np.maximum(part.start, 0)
            fill(part.block.tables, part.steps, offset, self.key, inputs, targets, weights, real)
        wanted = encode(targets)
        if real is not None and not real.all():
            wanted = wanted * real.reshape(*self.shape, *[1] * (wanted.ndim - 2))
        return inputs, wanted, weights, self.new_trial


ARRAYS = ("inputs", "targets", "weights", "new_trial")
"""Attributes of a batch that have one value for every step."""


@lru_cache(maxsize=64)
def made_once(pickled: bytes) -> Any:
    """Return an object of batches from other processes, such as their task, which never changes."""
    return pickle.loads(pickled)


def _of_placed(name: str) -> Any:
    """Make a property that is a fact of the placed trials."""
    return property(lambda batch: getattr(batch._placed, name))


class Batch:
    """One supervised batch of B rows (streams or trials) and T steps, in new arrays.

    Attributes:
        inputs: (B, T, obs) float32.
        targets: (B, T) int64 action ids, (B, T, k) float32 for continuous actions, or (B, T, units)
            float32 bumps.
        weights: (B, T) float32, 0 = masked.
        new_trial: (B, T) bool, the first step of a trial.
        row, start, stop: (m,) row of each trial, its first step there, and its last step + 1. A
            trial that began in an earlier batch has start < 0; one that continues in the next has
            stop > T.
        conditions: name -> (m, …), conditions of these trials.
    """

    def __init__(
        self,
        inputs: Singles,
        targets: Array,
        weights: Singles,
        new_trial: Bools,
        placed: Callable[[], Placed],
        dataset: Dataset,
    ) -> None:
        self.inputs, self.targets = inputs, targets
        self.weights, self.new_trial = weights, new_trial
        self._place = placed
        self.task, self.kind = dataset.task, dataset.targets

    row = _of_placed("row")
    start = _of_placed("start")
    stop = _of_placed("stop")
    conditions = _of_placed("conditions")

    @cached_property
    def _placed(self) -> Placed:
        placed = self._place()
        del self._place
        return placed

    @cached_property
    def trials(self) -> TrialBatch | None:
        """The trials as a `TrialBatch`; None if the task was stepped."""
        return None if self._placed.trials is None else self._placed.trials()

    def __getstate__(self) -> dict[str, Any]:
        # Separate pickles: loading a batch then takes little more than copying its arrays.
        pickled = {"task": pickle.dumps(self.task), "placed": pickle.dumps(self._placed)}
        return {name: getattr(self, name) for name in (*ARRAYS, "kind")} | pickled

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name in (*ARRAYS, "kind"):
            setattr(self, name, state[name])
        self.task = made_once(state["task"])
        self._place = partial(pickle.loads, state["placed"])

    def __repr__(self) -> str:
        return (
            f"<Batch: inputs {self.inputs.shape}, targets {self.targets.shape}, {len(self.row)}"
            " trials>"
        )

    @property
    def complete(self) -> Array:
        """(m,) whether all steps of each trial are in this batch."""
        whole: Array = (self.start >= 0) & (self.stop <= self.inputs.shape[1])
        return whole

    def score(self, outputs: Any) -> TrialRecord:
        """Score outputs; return the record of the trials that are completely in the batch.

        Args:
            outputs: action ids (B, T), or one output per action unit (B, T, units), of which the
                largest is chosen (with ``targets="units"``: rest if the resting output is above
                0.5, else the direction or unit of the other outputs). Continuous actions: (B, T, k)
                in [-1, 1].

        Raises:
            NotSupportedError: the observations of the task depend on the actions of the subject.
            InvalidValueError: the outputs have a wrong shape, or ids that are out of range.
        """
        if self.trials is None:
            raise NotSupportedError(
                f"Outputs of {self.task.name} were given to score(), but its observations depend on"
                " the subject's actions. Expected a task with fixed observations. Play this one:"
                " run(task, subject, n_trials=…)."
            )
        actions = self._actions(np.asarray(outputs))
        which = np.flatnonzero(self.complete)
        if not len(which):  # the columns of a record, without rows
            one = self.trials.take(np.zeros(1, np.int64))
            none: TrialRecord = replay(self.task, one, actions[:1])[:0]
            return none
        trials = self.trials.take(which)
        steps = int((self.stop - self.start)[which].max())
        at = np.minimum(self.start[which, None] + np.arange(steps), actions.shape[1] - 1)
        return replay(self.task, trials, actions[self.row[which, None], at])

    def _actions(self, outputs: Array) -> Array:
        actions = self.task.actions
        shape = self.inputs.shape[:2]
        if actions.continuous:
            if outputs.shape != (*shape, actions.size):
                raise InvalidValueError(
                    f"score() was given outputs of shape {outputs.shape}. Expected"
                    f" {(*shape, actions.size)}. Give one value in [-1, 1] per dimension and step."
                )
            return np.clip(outputs, -1, 1)
        if outputs.shape == shape and outputs.dtype.kind in "iu":
            if outputs.min() < 0 or outputs.max() >= actions.size:
                raise InvalidValueError(
                    f"score() was given action ids from {outputs.min()} to {outputs.max()}."
                    f" Expected those of {self.task.name}, 0 to {actions.size - 1}. Correct them."
                )
            return outputs
        if outputs.shape != (*shape, actions.size):
            raise InvalidValueError(
                f"score() was given outputs of shape {outputs.shape} and type {outputs.dtype}."
                f" Expected integer action ids {shape}, or one output per action unit"
                f" {(*shape, actions.size)}. Give one of these."
            )
        units = self.kind == "units"
        ids: Array = actions.decode_units(outputs) if units else outputs.argmax(axis=2)
        return ids


class Dataset:
    """An endless iterable of supervised batches: ``next(dataset)`` or ``for batch in dataset``.

    In supervised trials every period lasts to its end; if the path depends on the subject, it is
    the path of the oracle. A trial ends at `max_duration`.

    Args:
        task: an id, a Task, a Task class, or ``"file.py:Class"``; also a class of envs whose form
            has batches (see `EnvForm`).
        batch_size: number of rows of a batch.
        seq_len: None: each row is one whole trial, padded with weight 0; T: rows are continuous
            streams of trials, cut every T steps.
        seed: determines all batches; `restart` returns to it.
        split: None, "train", "validation" or "test": disjoint streams of trials, of every seed.
        targets: "action" (ids; values for continuous actions), "units" (one output per action
            unit), or "best" (the action with the largest reward, for tasks without correct
            actions).
        wrap, params: as in `make_task`.

    Attributes:
        n_inputs, n_outputs: number of input and output units that a network needs.

    Raises:
        InvalidValueError, UnknownNameError: a setting has a wrong value.
        NotSupportedError: the task has no correct actions, and `targets` is not "best"; or the task
            is an env without batches.

    Example:
        >>> from neurogym_core import Dataset
        >>> task = "perceptual/PerceptualDecisionMaking-v0"
        >>> dataset = Dataset(task, batch_size=4, seq_len=50, seed=0)
        >>> batch = next(dataset)
        >>> batch.inputs.shape, batch.targets.shape, dataset.n_outputs
        ((4, 50, 3), (4, 50), 3)
    """

    def __init__(
        self,
        task: Any,
        batch_size: int = 16,
        seq_len: int | None = None,
        seed: int | None = None,
        split: str | None = None,
        *,
        targets: str = "action",
        wrap: Any = (),
        **params: Any,
    ) -> None:
        self.batch_size = whole_number("Dataset()", "batch_size", batch_size)
        self.seq_len = None if seq_len is None else whole_number("Dataset()", "seq_len", seq_len)
        self.split = checked_split(split, "Dataset")
        if targets not in TARGETS:
            raise unknown("targets", targets, TARGETS, of="Dataset")
        self.targets = targets
        if seed is None:
            seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0]) >> 1
        self.seed = whole_number("Dataset()", "seed", seed, least=0)
        found = resolve(task)
        batches = form_of(found).batches if is_env_class(found) else None
        self._open: Callable[[Dataset, np.random.SeedSequence], _Streams | _Stepped]
        if batches is None:
            self.task: Any = make_task(found, wrap=wrap, **params)
            if not self.task.supervised and targets != "best":
                raise NotSupportedError(
                    f"{self.task.name} has no correct actions, so it has no targets to train on."
                    " Expected a task with answers. Use targets='best' for the action with the"
                    " largest reward, or train with rewards (make, make_vec)."
                )
            stepped = bool(interface_of(self.task).hooks) or self.task.reads_outcomes
            self._open = _Stepped if stepped else _Streams
        else:
            env = bare_env(found, wrap=wrap, **params)
            self.task = env.unwrapped
            self._open = partial(batches, env)
        self.restart()
        self.n_inputs, self.n_outputs = self._source.n_inputs, self._source.n_outputs

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            return missing(self, name, "dataset")

    def __call__(self) -> NoReturn:
        """Refuse to be called, as datasets of NeuroGym are."""
        raise NotSupportedError(CALLED)

    def restart(self) -> None:
        """Return to the seed: the same batches follow again."""
        self._source = self._open(self, sequence_of(self.seed, self.split))

    def __iter__(self) -> Iterator[Batch]:
        while True:
            yield next(self)

    def __next__(self) -> Batch:
        return self._source.next_batch()

    @property
    def from_tables(self) -> bool:
        """Whether `next_chunk` works: False for envs, and for tasks that have to be stepped."""
        return isinstance(self._source, _Streams)

    def next_chunk(self) -> Chunk:
        """Return the next trials before rendering: a batch of whole trials, or several batches of
        `seq_len` steps.

        These trials do not occur in ``next(dataset)`` any more.

        Raises:
            NotSupportedError: the task has to be stepped (`from_tables` is False).
        """
        if not isinstance(self._source, _Streams):
            raise NotSupportedError(
                f"next_chunk() was called for {self.task!r}, whose trials depend on actions."
                " Expected a task whose trials are known in advance. Use next(dataset)."
            )
        return self._source.next_chunk()

    def __repr__(self) -> str:
        return (
            f"Dataset({self.task!r}, batch_size={self.batch_size}, seq_len={self.seq_len},"
            f" seed={self.seed}, split={self.split!r})"
        )

    def encode(self, targets: Array) -> Array:
        """Return targets in the form of ``Dataset(targets=…)``: ids, units, or values in [-1, 1].

        Args:
            targets: action ids, or values of continuous actions in task units, of any shape.
        """
        return self._source.encode(targets)


class _TaskBatches:
    """Base of the batches of a `Task`, with the numbers of units that a network needs."""

    def __init__(self, dataset: Dataset) -> None:
        task = dataset.task
        self.dataset = dataset
        self.n_inputs, self.n_outputs = task.channels.size, task.actions.size
        as_units = dataset.targets == "units" and not task.actions.continuous
        self._units = task.actions.unit_targets() if as_units else None

    def encode(self, targets: Array) -> Array:
        """Return targets as ids, units, or values in [-1, 1]."""
        if self.dataset.task.actions.continuous:
            scaled: Array = self.dataset.task.actions.from_task_units(targets)
            return scaled
        return targets if self._units is None else self._units[targets]


class _Streams(_TaskBatches):
    """Batches of trials from tables: continuous streams in every row, or one trial per row."""

    def __init__(self, dataset: Dataset, sequence: np.random.SeedSequence) -> None:
        super().__init__(dataset)
        n = dataset.batch_size
        self.dealer = Dealer(dataset.task, n, sequence, dataset.split)
        self.batches = max(CHUNK_STEPS // (n * dataset.seq_len), 1) if dataset.seq_len else 1
        self._served = self.batches
        # Trials are numbered through all blocks. If they depend on earlier ones, the trials
        # r, r + n, r + 2 n, … belong to row r; else every row takes the next number.
        self._own = state_of(dataset.task).stateful
        # Each block with the number of its first trial, and the steps of all trials of the blocks.
        self._blocks: list[tuple[int, Block]] = []
        self._lengths: Wholes = np.zeros(0, np.int64)
        # Number of the first trial in the blocks, and of the first one that the chunk needs.
        self._first = self._least = 0
        # Number of the next trial of every row; if trials are shared, of all rows.
        self._next = np.arange(n)
        # Number of the trial that was cut at the end of every row, and its steps so far.
        self._unfinished = np.zeros(n, np.int64)
        self._done = np.zeros(n, np.int64)

    def next_batch(self) -> Batch:
        """Return the next batch."""
        steps = self.dataset.seq_len
        if steps is None or self.batches == 1:
            chunk = self.next_chunk()
            return Batch(*chunk.rendered(self.dataset.encode), chunk.placed, self.dataset)
        if self._served == self.batches:
            chunk = self.next_chunk()
            self._arrays, self._placed = chunk.rendered(self.dataset.encode), chunk.placed
            self._served = 0
        begin = self._served * steps
        self._served += 1
        inputs, targets, weights, new_trial = (
            array[:, begin : begin + steps].copy() for array in self._arrays
        )
        placed = self._placed  # of this chunk
        return Batch(
            inputs, targets, weights, new_trial, lambda: placed().window(begin, steps), self.dataset
        )

    def next_chunk(self) -> Chunk:
        """Return the next steps of every row, or its next trial."""
        n = self.dataset.batch_size
        steps = self.dataset.seq_len and self.dataset.seq_len * self.batches
        number, row = self._dealt(steps)
        counts = np.bincount(row, minlength=n)
        first = np.cumsum(counts) - counts
        length = self._lengths[number - self._first]
        skip = np.zeros(len(row), np.int64)
        skip[first] = self._done
        stop = length.copy()
        # First steps, as if all rows were one; then relative to the beginning of each row.
        start = np.cumsum(length - skip) - length
        start -= np.repeat((start + skip)[first], counts)
        if steps is None:
            shape = (n, int(length.max()))
        else:
            shape = (n, steps)
            # The last trial of a row goes over its end by `excess` steps.
            last = first + counts - 1
            excess = start[last] + length[last] - steps
            stop[last] -= excess
            self._unfinished = number[last]
            self._done = np.where(excess > 0, stop[last], 0)
        parts = tuple(self._parts(number, row, skip, stop - skip, start))
        return Chunk(parts, shape, steps is None, self.dealer.key)

    def _dealt(self, steps: int | None) -> tuple[Wholes, Wholes]:
        """Return the numbers of the chunk's trials, and their rows, in order of the rows."""
        # Every row goes on with its unfinished trial, then takes one trial per round until it is
        # full. In a round rows are served in order, which determines the trials of each row.
        begun = np.flatnonzero(self._done)
        self._least = min(self._next.min(), self._unfinished[begun].min(initial=self._next.min()))
        numbers: list[Array] = [self._unfinished[begun]]
        rows: list[Array] = [begun]
        need = np.full(self.dataset.batch_size, steps or 1)
        need[begun] -= self._lengths[numbers[0] - self._first] - self._done[begun]
        while (need > 0).any():
            rows.append(np.flatnonzero(need > 0))
            numbers.append(self._taken(rows[-1]))
            need[rows[-1]] -= self._lengths[numbers[-1] - self._first] if steps else 1
        row = np.concatenate(rows)
        order = np.argsort(row, kind="stable")
        return np.concatenate(numbers)[order], row[order]

    def _taken(self, rows: Wholes) -> Wholes:
        """Return the numbers of the next trials of some rows."""
        number = self._next[rows] if self._own else self._next[0] + np.arange(len(rows))
        while number.max() >= self._first + len(self._lengths):
            self._extend()
        if self._own:
            self._next[rows] += self.dataset.batch_size
        else:
            self._next += len(rows)
        return number

    def _extend(self) -> None:
        """Draw another block, and drop those that this chunk does not need."""
        needed = [
            (first, block) for first, block in self._blocks if first + len(block) > self._least
        ]
        stays = needed[0][0] if needed else self._first + len(self._lengths)
        block = self.dealer.block()
        kept = self._lengths[stays - self._first :]
        self._blocks = [*needed, (stays + len(kept), block)]
        self._lengths = np.concatenate([kept, block.tables.steps[block.kind]])
        self._first = stays

    def _parts(
        self, number: Wholes, row: Wholes, skip: Wholes, played: Wholes, start: Wholes
    ) -> Iterator[Part]:
        for first, block in self._blocks:
            here = np.flatnonzero((number >= first) & (number < first + len(block)))
            if not len(here):
                continue
            which = number[here] - first
            kind = block.kind[which]
            steps = Steps(
                kind, block.first_serial + which, block.tables.path[kind], skip[here], played[here]
            )
            yield Part(block, which, steps, row[here], start[here])


class _Stepped(_TaskBatches):
    """Batches of tasks that depend on actions, played by an oracle that answers at the end of every
    response window, so that each window is seen completely; in periods without a timer at once.
    """

    def __init__(self, dataset: Dataset, sequence: np.random.SeedSequence) -> None:
        super().__init__(dataset)
        self.stepper = Stepper(dataset.task, dataset.batch_size, sequence, split=dataset.split)
        self.stepper.may_wait = True  # rows of one trial wait for the longest
        self._observation = self.stepper.reset()
        self._lasted = np.zeros(dataset.batch_size, np.int64)  # steps of the current trials

    def next_batch(self) -> Batch:
        """Return the next batch."""
        n, limit = self.dataset.batch_size, self.dataset.seq_len
        columns: list[tuple[Array, ...]] = []
        trials: list[tuple[int, int, int, dict[str, Any]]] = []
        on = np.ones(n, np.bool_)
        while len(columns) < limit if limit else on.any():
            columns.append(self._step(on, len(columns), trials))
            if limit is None:
                on &= self._lasted > 0
        inputs, targets, weights, new_trial = (
            np.stack(values, axis=1) for values in zip(*columns, strict=True)
        )
        under_way = dict(self.stepper.conditions)
        # The end of current trials is not known; stop > T marks them as incomplete.
        for env in np.flatnonzero(self._lasted > 0).tolist():
            trials.append(
                (env, len(columns) - self._lasted[env], len(columns) + 1, _row_of(under_way, env))
            )
        row, start, stop, conditions = zip(*trials, strict=True)
        joined = {name: np.stack([one[name] for one in conditions]) for name in conditions[0]}
        placed = partial(Placed, np.array(row), np.array(start), np.array(stop), joined)
        return Batch(inputs, targets, weights.astype(np.float32), new_trial, placed, self.dataset)

    def _step(self, on: Array, step: int, trials: list[Any]) -> tuple[Array, ...]:
        """Play a step in the rows that are `on`; return inputs, targets, weights, first steps."""
        stepper = self.stepper
        target = stepper.targets()
        shown = target if stepper.task.actions.continuous else self.encode(target)
        column = (
            np.where(on[:, None], self._observation, 0),
            np.where(per_row(on, shown), shown, 0),
            np.where(on, stepper.table("weight"), 0),
            (self._lasted == 0) & on,
        )
        conditions = dict(stepper.conditions)  # before the step, which can begin the next trials
        stepper.kernel.set("waiting", (~on).astype(np.int64))
        moved = stepper.step(self._policy(target))
        self._lasted += on
        for env in np.flatnonzero(moved.ended).tolist():
            trials.append((env, step + 1 - self._lasted[env], step + 1, _row_of(conditions, env)))
            self._lasted[env] = 0
        self._observation = stepper.observations()
        return column

    def _policy(self, target: Array) -> Array:
        actions = self.stepper.task.actions
        if actions.rest is None:
            return target
        # Nothing but an answer leads out of a period without a timer, so it is given at once.
        waits = self.stepper.can_wait() & np.isfinite(self.stepper.remaining)
        if actions.continuous:
            return np.where(waits[:, None], actions.from_task_units(actions.rest_value), target)
        return np.where(waits, actions.rest, target)


def _row_of(columns: Columns, i: int) -> dict[str, Any]:
    return {name: values[i] for name, values in columns.items()}
