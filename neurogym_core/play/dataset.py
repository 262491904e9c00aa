"""`Dataset`: supervised batches of a task."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from neurogym_core.errors import InvalidValueError, NotSupportedError, unknown
from neurogym_core.play.player import NO_ROWS, Player
from neurogym_core.play.replay import replay
from neurogym_core.play.stream import TrialStream
from neurogym_core.tasks.task import Task
from neurogym_core.trials.batch import TrialBatch
from neurogym_core.trials.encoders import Ring
from neurogym_core.trials.record import TrialRecord

SPLITS = ("train", "validation")
TARGETS = ("action", "units", "best")


@dataclass(frozen=True, eq=False)
class Placed:
    """Trials and where they lie: which row (m,), first step there and last + 1 (m,)."""

    row: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    conditions: dict[str, np.ndarray]
    trials: TrialBatch | None = None

    def window(self, begin: int, steps: int) -> Placed:
        """The trials that lie at least partly within `steps` steps from `begin` on, counted from there."""
        inside = np.flatnonzero((self.stop > begin) & (self.start < begin + steps))
        trials = None if self.trials is None else self.trials.take(inside)
        conditions = {name: values[inside] for name, values in self.conditions.items()}
        return Placed(self.row[inside], self.start[inside] - begin, self.stop[inside] - begin, conditions, trials)


@dataclass(frozen=True, eq=False)
class Table:
    """Trials and where they go, not rendered yet: what a GPU needs to render them by itself.

    Attributes:
        trials: the m trials.
        duration: (m, S) int, steps of every segment to render; the parts of a trial that lie elsewhere are left out.
        skip: (m,) steps of each trial that were rendered before.
        row, start: (m,) which row each trial goes to, and its first step there (negative: it began before).
        shape: (rows, steps). Rows of whole trials may be shorter than that, and are to be padded.
    """

    trials: TrialBatch
    duration: np.ndarray
    skip: np.ndarray
    row: np.ndarray
    start: np.ndarray
    shape: tuple[int, int]

    @property
    def new_trial(self) -> np.ndarray:
        """(rows, steps) bool, the first step of a trial."""
        mask = np.zeros(self.shape, bool)
        here = self.start >= 0
        mask[self.row[here], self.start[here]] = True
        return mask

    def placed(self) -> Placed:
        """Where the trials lie, as a batch tells it."""
        return Placed(self.row, self.start, self.start + self.trials.steps, self.trials.conditions, self.trials)


class Batch:
    """One supervised batch; B rows (streams or trials), T steps. The arrays are the caller's to keep.

    Attributes:
        inputs: (B, T, obs) float32.
        targets: (B, T) int64 action ids, (B, T, k) float32 for continuous actions, or (B, T, units) float32 bumps.
        weights: (B, T) float32, 0 = masked.
        new_trial: (B, T) bool, the first step of a trial.
        row, start, stop: (m,) which row each trial is in, its first step there and its last + 1; a trial that began in an
            earlier batch has a negative start, one that goes on in the next has stop > T.
        conditions: name -> (m, …) of these trials.
        trials: the trials as a table; None where they were stepped through.
    """

    def __init__(
        self, inputs: np.ndarray, targets: np.ndarray, weights: np.ndarray, new_trial: np.ndarray, placed: Callable[[], Placed], dataset: Dataset
    ) -> None:
        self.inputs, self.targets, self.weights, self.new_trial = inputs, targets, weights, new_trial
        self._place = placed
        self.task, self.kind = dataset.task, dataset.targets

    @cached_property
    def _placed(self) -> Placed:
        placed = self._place()
        del self._place
        return placed

    row = property(lambda self: self._placed.row)
    start = property(lambda self: self._placed.start)
    stop = property(lambda self: self._placed.stop)
    conditions = property(lambda self: self._placed.conditions)
    trials = property(lambda self: self._placed.trials)

    def __getstate__(self) -> dict[str, Any]:
        placed = self._placed  # noqa: F841 -- worked out now: what it is worked out from does not pickle
        return self.__dict__

    def __repr__(self) -> str:
        return f"<Batch: inputs {self.inputs.shape}, targets {self.targets.shape}, {len(self.row)} trials>"

    @property
    def complete(self) -> np.ndarray:
        """(m,) whether all steps of a trial are in this batch."""
        return (self.start >= 0) & (self.stop <= self.inputs.shape[1])

    def score(self, outputs: Any) -> TrialRecord:
        """The trial record of a subject that gave these outputs; trials that are not wholly in the batch are left out.

        Args:
            outputs: action ids (B, T), or one output per action unit (B, T, units), of which the largest is chosen (with
                ``targets="units"``: rest while the resting output is above 0.5, else what the others point to).
                Continuous actions: (B, T, k) in [-1, 1].

        Raises:
            NotSupportedError: the task was stepped through, since what it shows depends on what the subject does.
        """
        if self.trials is None:
            raise NotSupportedError(
                f"{self.task.name} shows what depends on the subject's actions, so outputs cannot be scored afterwards; "  # type: ignore[union-attr]
                "play it instead: run(task, subject, n_trials=…)."
            )
        actions = self._actions(np.asarray(outputs))
        which = np.flatnonzero(self.complete)
        if not len(which):  # the columns of a record, without rows
            return replay(self.trials.take([0]), actions[:1])[:0]
        trials = self.trials.take(which)
        steps = int((self.stop - self.start)[which].max())
        at = np.minimum(self.start[which, None] + np.arange(steps), actions.shape[1] - 1)
        return replay(trials, actions[self.row[which, None], at])

    def _actions(self, outputs: np.ndarray) -> np.ndarray:
        actions = self.task.actions  # type: ignore[union-attr]
        shape = self.inputs.shape[:2]
        if actions.continuous:
            if outputs.shape != (*shape, actions.size):
                raise InvalidValueError(f"score() was given outputs of shape {outputs.shape}; give {(*shape, actions.size)}, in [-1, 1].")
            return np.clip(outputs, -1, 1)
        if outputs.shape == shape and outputs.dtype.kind in "iu":
            if outputs.min() < 0 or outputs.max() >= actions.size:
                raise InvalidValueError(
                    f"score() was given action ids from {outputs.min()} to {outputs.max()}; {self.task.name} has those "  # type: ignore[union-attr]
                    f"from 0 to {actions.size - 1}."
                )
            return outputs
        if outputs.shape != (*shape, actions.size):
            raise InvalidValueError(
                f"score() was given outputs of shape {outputs.shape} and type {outputs.dtype}; give action ids of shape {shape}, "
                f"or one output per action unit, {(*shape, actions.size)}."
            )
        return decode_units(self.task, outputs) if self.kind == "units" else outputs.argmax(axis=2)


def decode_units(task: Task, outputs: np.ndarray) -> np.ndarray:
    """Action ids that unit outputs (…, units) stand for: rest above 0.5, else the direction or unit pointed to."""
    actions = task.actions
    groups = [name for name in actions if name != actions.rest_name]
    rest = actions.rest
    first = 0 if rest is None else 1
    only = actions.parts[groups[0]] if len(groups) == 1 else None
    if isinstance(only, Ring):
        chosen = first + only.nearest(only.population_vector(outputs[..., first:]))
    else:
        chosen = first + outputs[..., first:].argmax(axis=-1)
    return chosen if rest is None else np.where(outputs[..., rest] > 0.5, rest, chosen)


def unit_targets(task: Task) -> np.ndarray:
    """(actions, units) float32: what every action looks like on the output units: its encoder's bump, or one-hot."""
    actions = task.actions
    table = np.eye(actions.size, dtype=np.float32)
    for name, encoder in actions.parts.items():
        if isinstance(encoder, Ring):
            table[actions[name], actions[name]] = encoder.encode(np.arange(encoder.size))
    return table


class Dataset:
    """An endless iterable of supervised batches; ``next(dataset)`` or ``for batch in dataset``.

    Supervised trials run every period they visit to its end; where the path depends on the subject it is the oracle's.

    Args:
        task: an id, a Task, a Task class, or ``"file.py:Class"``; also of a classic env (`PeriodEnv`), see
            `ClassicDataset`.
        batch_size: rows of a batch.
        seq_len: None: every row is one whole trial, padded with weight 0; T: rows are continuous streams of back-to-back
            trials, cut every T steps.
        seed: fixes everything; `restart` returns to it.
        split: None, "train" or "validation": disjoint streams of the same seed.
        targets: "action" (ids; values for continuous actions), "units" (one output per action unit), or "best" (the
            best-paid action, for tasks where nothing is right).
        wrap, params: as in `make_task`.

    Attributes:
        n_inputs, n_outputs: what a network needs.
    """

    def __new__(cls, task: Any = None, *args: Any, **settings: Any) -> Dataset:
        from neurogym_core.play.make import is_classic, resolve

        if cls is Dataset and task is not None and is_classic(resolve(task)):
            from neurogym_core.play.classic_dataset import ClassicDataset

            return super().__new__(ClassicDataset)
        return super().__new__(cls)

    def __init__(
        self, task: Any, batch_size: int = 16, seq_len: int | None = None, seed: int | None = None, split: str | None = None,
        *, targets: str = "action", wrap: Any = (), **params: Any,
    ) -> None:  # fmt: skip
        from neurogym_core.play.make import make_task

        self.task = make_task(task, wrap=wrap, **params)
        self.batch_size = _whole("batch_size", batch_size)
        self.seq_len = None if seq_len is None else _whole("seq_len", seq_len)
        self.split = _known("split", split, (None, *SPLITS))
        self.targets = _known("targets", targets, TARGETS)
        self._check_supervised()
        self.seed = int(np.random.SeedSequence().entropy % 2**63) if seed is None else _seed(seed)  # type: ignore[operator]
        self.n_inputs = self.task.channels.size
        self.n_outputs = self.task.actions.size
        self._units = unit_targets(self.task) if targets == "units" and not self.task.actions.continuous else None
        self.restart()

    def _check_supervised(self) -> None:
        if not self.task.supervised and self.targets != "best":
            raise NotSupportedError(
                f"In {self.task.name} nothing is right or wrong, so there are no targets to train on. Use targets='best' for the "
                "best-paid action, or train with rewards (make, make_vec)."
            )

    def restart(self) -> None:
        """Return to the seed: the same batches again."""
        sequence = np.random.SeedSequence(self.seed, spawn_key=() if self.split is None else (100 + SPLITS.index(self.split),))
        stepped = self.task.hooked or self.task.reads_outcomes
        self._source: Any = _Stepped(self, sequence) if stepped else _Streams(self, sequence) if self.seq_len else _Trials(self, sequence)

    def __iter__(self) -> Iterator[Batch]:
        while True:
            yield next(self)

    def __next__(self) -> Batch:
        return self._source.next_batch()

    @property
    def from_table(self) -> bool:
        """Whether batches can be had as tables: not where the task has to be stepped through."""
        return not isinstance(self._source, _Stepped)

    def next_table(self) -> Table:
        """What comes next, not rendered: one batch of whole trials, or a run of `seq_len` steps several times over.

        It takes the trials that ``next(dataset)`` would have had.

        Raises:
            NotSupportedError: the task has to be stepped through (`from_table` is False).
        """
        if not self.from_table:
            raise NotSupportedError(
                f"{self.task.name} is stepped through, since what comes depends on what is done: it has no table ahead. "
                "Use next(dataset)."
            )
        return self._source.next_table()

    def __repr__(self) -> str:
        return f"Dataset({self.task!r}, batch_size={self.batch_size}, seq_len={self.seq_len}, seed={self.seed}, split={self.split!r})"

    def encode(self, targets: np.ndarray) -> np.ndarray:
        """Targets as they are wanted: ids, units, or [-1, 1]."""
        if self.task.actions.continuous:
            return self.task.actions.from_task_units(targets)
        return targets if self._units is None else self._units[targets]


class _Pool:
    """Trials drawn from a stream and not used yet."""

    def __init__(self, dataset: Dataset, sequence: np.random.SeedSequence) -> None:
        self.dataset = dataset
        self.stream = TrialStream(dataset.task, sequence, dataset.batch_size)
        self.trials: TrialBatch | None = None
        self.next = 0

    def refill(self, keep: np.ndarray) -> None:
        """Keep some of the trials, and lay out a block more."""
        block = self.stream.block()
        if self.trials is None:
            self.trials = block
        else:
            self.trials = TrialBatch.concatenate([self.trials.take(keep), block]) if len(keep) else block


class _Trials(_Pool):
    """Every row a whole trial."""

    def next_batch(self) -> Batch:
        return self._padded(self.next_table())

    def next_table(self) -> Table:
        size = self.dataset.batch_size
        while self.trials is None or self.next + size > len(self.trials):
            self.refill(np.arange(self.next, len(self.trials)) if self.trials is not None else NO_ROWS)
            self.next = 0
        trials = self.trials.take(np.arange(self.next, self.next + size))
        self.next += size
        rows, zeros = np.arange(size), np.zeros(size, np.int64)
        return Table(trials, trials.path, zeros, rows, zeros, (size, int(trials.steps.max())))

    def _padded(self, table: Table) -> Batch:
        trials = table.trials
        weights = np.repeat(trials.weight.ravel(), trials.path.ravel())
        arrays = (trials.render(self.stream.noise), self.dataset.encode(trials.render_targets()), weights)
        inputs, targets, weights = (pad(flat, trials.steps) for flat in arrays)
        return Batch(inputs, targets, weights, table.new_trial, table.placed, self.dataset)


def pad(flat: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """Rows of different lengths, one after another, as (rows, longest, …) filled with zeros."""
    longest = int(steps.max())
    if (steps == longest).all():
        return flat.reshape(len(steps), longest, *flat.shape[1:])
    out = np.zeros((len(steps), longest, *flat.shape[1:]), flat.dtype)
    out[np.arange(longest) < steps[:, None]] = flat
    return out


CHUNK_STEPS = 1 << 15
"""Small batches are rendered several at a time, about so many steps together."""


class _Streams(_Pool):
    """Continuous streams: trials back to back, cut every so many steps; what is cut off is rendered later."""

    def __init__(self, dataset: Dataset, sequence: np.random.SeedSequence) -> None:
        super().__init__(dataset, sequence)
        n = dataset.batch_size
        self.batches = max(CHUNK_STEPS // (n * dataset.seq_len), 1)
        self.steps = dataset.seq_len * self.batches
        self._served = self.batches
        self.queues = _SessionDeal(n) if dataset.task.stateful else _Deal(n)
        self.unfinished = np.full(n, -1)  # the trial that each stream is in the middle of
        self.done = np.zeros(n, np.int64)  # and how much of it was rendered

    def next_batch(self) -> Batch:
        if self._served == self.batches:
            self._chunk, self._placed = self._render()
            self._served = 0
        begin = self._served * self.dataset.seq_len
        self._served += 1
        if self.batches == 1:
            return Batch(*self._chunk, self._placed, self.dataset)  # type: ignore[call-arg]
        window = slice(begin, begin + self.dataset.seq_len)
        arrays = (array[:, window].copy() for array in self._chunk)
        return Batch(*arrays, partial(_windowed, self._placed, begin, self.dataset.seq_len), self.dataset)  # type: ignore[call-arg]

    def next_table(self) -> Table:
        """The coming `steps` steps of every stream."""
        if self.trials is None:
            self.refill(NO_ROWS)
            self.queues.add(self.trials, 0)
        rows, stream, skip, played = self._pieces(*self._deal())
        trials = self.trials.take(rows)
        start = np.cumsum(played) - played - stream * self.steps - skip
        duration = _cut(trials.path, skip, played, trials.steps)
        return Table(trials, duration, skip, stream, start, (self.dataset.batch_size, self.steps))

    def _render(self) -> tuple[tuple[np.ndarray, ...], Callable[[], Placed]]:
        """Inputs, targets, weights and trial onsets of the coming `steps` steps, and where the trials lie."""
        table = self.next_table()
        trials, duration, skip, shape = table.trials, table.duration, table.skip, table.shape
        inputs = trials.render(self.stream.noise, duration, skip).reshape(*shape, -1)
        targets = self.dataset.encode(trials.render_targets(duration, skip))
        weights = np.repeat(trials.weight.ravel(), duration.ravel()).reshape(shape)
        return (inputs, targets.reshape(*shape, *targets.shape[1:]), weights, table.new_trial), table.placed

    def _deal(self) -> tuple[np.ndarray, np.ndarray]:
        """New trials for every stream, until it has steps enough: (rows, how many of them each stream gets)."""
        while True:
            carried = np.where(self.unfinished >= 0, self.trials.steps[self.unfinished] - self.done, 0)
            dealt = self.queues.deal(self.trials, self.steps - carried)
            if dealt is not None:
                return dealt
            self._extend()

    def _extend(self) -> None:
        waiting = self.queues.waiting()
        under_way = self.unfinished[self.unfinished >= 0]
        self.refill(np.concatenate([under_way, waiting]))
        self.unfinished = np.where(self.unfinished >= 0, np.cumsum(self.unfinished >= 0) - 1, -1)
        self.queues.renumber(self.trials, len(under_way), len(under_way) + len(waiting))

    def _pieces(self, new: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The trials of this batch, stream by stream: (row, stream, steps to skip, steps to play)."""
        carries = self.unfinished >= 0
        totals = counts + carries
        stream = np.repeat(np.arange(len(totals)), totals)
        rows = np.empty(len(stream), np.int64)
        first = np.cumsum(totals) - totals
        is_carried = np.zeros(len(stream), bool)
        is_carried[first[carries]] = True
        rows[is_carried], rows[~is_carried] = self.unfinished[carries], new
        skip = np.zeros(len(stream), np.int64)
        skip[is_carried] = self.done[carries]
        left = self.trials.steps[rows] - skip
        reached = np.cumsum(left)
        before = np.concatenate([[0], reached])[first]
        last = first + totals - 1
        excess = reached[last] - before - self.steps
        played = left.copy()
        played[last] -= excess
        goes_on = excess > 0
        self.unfinished = np.where(goes_on, rows[last], -1)
        self.done = np.where(goes_on, skip[last] + played[last], 0)
        return rows, stream, skip, played


def _windowed(placed: Callable[[], Placed], begin: int, steps: int) -> Placed:
    return placed().window(begin, steps)


def _cut(path: np.ndarray, skip: np.ndarray, played: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """Segment durations (m, S) of which the first `skip` steps, and all beyond skip + played, are left out."""
    duration = path.copy()
    cut = np.flatnonzero(played != steps)
    edges = np.cumsum(path[cut], axis=1)
    inside = np.clip(edges, skip[cut, None], (skip + played)[cut, None])
    duration[cut, 1:] = np.diff(inside, axis=1)
    duration[cut, 0] = inside[:, 0] - skip[cut]
    return duration


class _Deal:
    """Independent trials, dealt in order: one stream after another takes as many as it needs."""

    def __init__(self, n: int) -> None:
        self.next = 0
        self.total = 0

    def add(self, trials: TrialBatch, first: int) -> None:
        self.next, self.total = first, len(trials)
        self.edges = [0, *np.cumsum(trials.steps).tolist()]
        self.longest = int(trials.steps.max())
        self.shortest = int(trials.steps.min())

    def renumber(self, trials: TrialBatch, waiting: int, added: int) -> None:
        self.add(trials, waiting)

    def waiting(self) -> np.ndarray:
        return np.arange(self.next, self.total)

    def deal(self, trials: TrialBatch, need: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """(rows, counts), or None when there are too few trials."""
        counts = -(-np.maximum(need, 0) // self.longest) if self.longest == self.shortest else self._counts(need)
        if counts is None or self.next + counts.sum() > self.total:
            return None
        rows = self.next + np.arange(counts.sum())
        self.next += len(rows)
        return rows, counts

    def _counts(self, need: np.ndarray) -> np.ndarray | None:
        edges, at, last = self.edges, self.next, self.total + 1
        most = (np.maximum(need, 0) // self.shortest + 1).tolist()
        reached = [at]
        for steps, ahead in zip(need.tolist(), most, strict=True):
            if steps > 0:
                at = bisect_left(edges, edges[at] + steps, at, min(at + ahead, last))
                if at == last:
                    return None
            reached.append(at)
        return np.diff(reached)


class _SessionDeal:
    """Trials that belong to a session: a block's row is trial * n + stream; every stream takes its own in order."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.queue = np.zeros((0, n), np.int64)  # rows, one column a stream, -1 = none
        self._at = np.zeros(n, np.int64)

    def add(self, trials: TrialBatch, first: int) -> None:
        block = first + np.arange(len(trials) - first).reshape(-1, self.n)
        left = [column[at:][column[at:] >= 0] for column, at in zip(self.queue.T, self._at, strict=True)]
        longest = max(map(len, left), default=0)
        queue = np.full((longest + len(block), self.n), -1)
        for stream, rows in enumerate(left):
            queue[: len(rows), stream] = rows
            queue[len(rows) : len(rows) + len(block), stream] = block[:, stream]
        self.queue, self._at = queue, np.zeros(self.n, np.int64)

    def renumber(self, trials: TrialBatch, waiting: int, added: int) -> None:
        order = self._order
        place = np.full(order.max(initial=-1) + 1, -1)
        place[order] = waiting + np.arange(len(order))
        self.queue = np.where(self.queue >= 0, place[np.maximum(self.queue, 0)] if len(place) else -1, -1)
        self.add(trials, added)

    def waiting(self) -> np.ndarray:
        ahead = np.arange(len(self.queue))[:, None] >= self._at
        self._order = self.queue[ahead & (self.queue >= 0)]
        self.queue = np.where(ahead, self.queue, -1)
        return self._order

    def deal(self, trials: TrialBatch, need: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        ahead = (np.arange(len(self.queue))[:, None] >= self._at) & (self.queue >= 0)
        reached = np.cumsum(np.where(ahead, trials.steps[np.maximum(self.queue, 0)], 0), axis=0)
        if (reached[-1] < need).any():
            return None
        counts = np.where(need > 0, (ahead & (reached < need)).sum(axis=0) + 1, 0)
        take = ahead & (np.arange(len(self.queue))[:, None] < self._at + counts)
        rows = self.queue.T[take.T]
        self._at = self._at + counts
        return rows, counts


class _Stepped:
    """Tasks that depend on what is done: played by the oracle, who answers at the end of every window."""

    def __init__(self, dataset: Dataset, sequence: np.random.SeedSequence) -> None:
        self.dataset = dataset
        self.player = Player(dataset.task, dataset.batch_size, sequence)
        self.observation = self.player.reset()
        self._fresh = np.ones(dataset.batch_size, bool)
        self._lasted = np.zeros(dataset.batch_size, np.int64)

    def next_batch(self) -> Batch:
        n, limit = self.dataset.batch_size, self.dataset.seq_len
        columns: dict[str, list] = {"inputs": [], "targets": [], "weights": [], "new_trial": []}
        self._trials: list[tuple] = []
        idle = NO_ROWS
        step = 0
        while step < limit if limit else len(idle) < n:
            ended = self._step(columns, idle, step)
            idle = np.union1d(idle, ended) if limit is None else idle
            step += 1
        arrays = {name: np.stack(values, axis=1) for name, values in columns.items()}
        self._add_unfinished(step)
        row, start, stop, conditions = (list(part) for part in zip(*self._trials, strict=True))
        joined = {name: np.stack([c[name] for c in conditions]) for name in conditions[0]}
        placed = partial(Placed, np.array(row), np.array(start), np.array(stop), joined)
        weights = arrays["weights"].astype(np.float32)
        return Batch(arrays["inputs"], arrays["targets"], weights, arrays["new_trial"], placed, self.dataset)

    def _step(self, columns: dict[str, list], idle: np.ndarray, step: int) -> np.ndarray:
        player = self.player
        target = player.targets()
        on = np.ones(player.n, bool)
        on[idle] = False
        segment = player.table.cell[player.place] >> 1
        columns["inputs"].append(np.where(on[:, None], self.observation, 0))
        shown = target if player.task.actions.continuous else self.dataset.encode(target)
        columns["targets"].append(np.where(on.reshape(-1, *[1] * (shown.ndim - 1)), shown, 0))
        columns["weights"].append(np.where(on, player.table.rules.batch.weight.reshape(-1)[segment], 0))
        columns["new_trial"].append(self._fresh & on)
        conditions = {name: values[player.row] for name, values in player.table.batch.conditions.items()}
        self._current = conditions
        result = player.step(self._policy(target), idle)
        self._lasted += on
        self._fresh = np.where(on, False, self._fresh)
        self._fresh[result.ended] = True
        for env in result.ended.tolist():
            self._trials.append((env, step + 1 - self._lasted[env], step + 1, {name: values[env] for name, values in conditions.items()}))
            self._lasted[env] = 0
        self.observation = result.observations
        return result.ended

    def _policy(self, target: np.ndarray) -> np.ndarray:
        actions = self.player.task.actions
        if actions.rest is None or not len(self.player.table.rules.payoffs.slot_names):
            return target
        waits = self.player.can_wait()
        if actions.continuous:
            rest = actions.from_task_units(actions.rest_value)
            return np.where(waits[:, None], rest, target)
        return np.where(waits, actions.rest, target)

    def _add_unfinished(self, steps: int) -> None:
        """Trials that go on in the next batch: their end is not known yet."""
        for env in np.flatnonzero(self._lasted > 0).tolist():
            self._trials.append((env, steps - self._lasted[env], steps + 1, {n: v[env] for n, v in self._current.items()}))


def _seed(seed: Any) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InvalidValueError(f"Dataset() was given seed={seed!r}; it needs a whole number, 0 or more, or None.")
    return int(seed)


def _whole(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InvalidValueError(f"Dataset was given {name}={value!r}; it needs a whole number, at least 1.")
    return int(value)


def _known(name: str, value: Any, allowed: tuple) -> Any:
    if value not in allowed:
        error = unknown(name, value, [item for item in allowed if item], of="Dataset")
        raise error
    return value
