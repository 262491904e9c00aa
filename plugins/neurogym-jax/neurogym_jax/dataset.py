"""`DeviceDataset`: supervised batches that are drawn and rendered on the device, inside jit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from neurogym_core import NotSupportedError
from neurogym_core.players import TaskView
from neurogym_jax.env import TaskEnv, first_serial, raw_key, type_of
from neurogym_jax.noise import gaussian
from neurogym_jax.packing import NEVER, SEGMENT
from neurogym_jax.params import DECK, Decks, Params, whole_number


class Batch(NamedTuple):
    """B rows of T steps.

    Attributes:
        inputs: (B, T, U) float32.
        targets: (B, T) int32, correct actions; (B, T, D) float32 in [-1, 1], continuous ones.
        weights: (B, T) float32; 0: the step is masked.
        new_trial: (B, T) bool, the first step of a trial.
        type: (B, T) int32, the type of the trial, for its conditions; padding has -1.
    """

    inputs: jax.Array
    targets: jax.Array
    weights: jax.Array
    new_trial: jax.Array
    type: jax.Array


@jax.tree_util.register_dataclass
@dataclass(frozen=True, eq=False)
class Rows:
    """State of the rows of a dataset.

    Attributes:
        key: (B, 2) uint32, key of the noise and of the draws of each row.
        serial: (B,) uint32, serial number of the next trial, or of the one that was cut.
        done: (B,) int32, steps of that trial in earlier batches.
    """

    key: jax.Array
    serial: jax.Array
    done: jax.Array


class DeviceDataset:
    """Endless supervised batches as a pure function: ``rows, batch = dataset.next(rows, params)``.

    Every period lasts to its end, and answers are those of the oracle, as in the core's `Dataset`.
    A row whose key is ``neurogym_jax.key(seed)`` has the trials and the noise of a core's dataset
    of one row with this seed, if the params are the first deck of the seed.

    Args:
        task: an id, a task or a class of tasks.
        batch_size: number of rows.
        seq_len: None: each row is one whole trial, padded with weight 0 to the longest
            possible trial; T: rows are continuous streams of trials, cut every T steps.
        seed: seed of the deck of `params`.
        trials: trials of that deck.
        split: None, "train", "validation" or "test", as in `TaskEnv`.
        wrap, settings: as in `neurogym_core.make_task`.

    Attributes:
        params: the trials, as in `TaskEnv.default_params`.
        n_inputs, n_outputs: number of input and output units that a network needs.

    Raises:
        NotSupportedError: the task is no table, or has no correct actions.

    Example:
        >>> import jax
        >>> from neurogym_jax import DeviceDataset
        >>> task = "perceptual/PerceptualDecisionMaking-v0"
        >>> data = DeviceDataset(task, batch_size=4, seq_len=50)
        >>> rows = data.init(jax.random.key(0))
        >>> rows, batch = jax.jit(data.next)(rows, data.params)
        >>> batch.inputs.shape, batch.targets.shape
        ((4, 50, 3), (4, 50))
    """

    def __init__(
        self,
        task: Any,
        batch_size: int = 16,
        seq_len: int | None = None,
        *,
        seed: int = 0,
        trials: int = DECK,
        split: str | None = None,
        wrap: Any = (),
        **settings: Any,
    ) -> None:
        self.batch_size = whole_number("DeviceDataset()", "batch_size", batch_size)
        self.seq_len = (
            None if seq_len is None else whole_number("DeviceDataset()", "seq_len", seq_len)
        )
        self.env = TaskEnv(task, seed=seed, trials=trials, split=split, wrap=wrap, **settings)
        self.task = self.env.task
        if not self.task.supervised:
            raise NotSupportedError(
                f"{self.task.name} was given to neurogym_jax.DeviceDataset, but it has no correct"
                " actions. Expected a task with answers. Train with rewards (neurogym_jax.make)."
            )
        self.params = self.env.default_params
        self.n_inputs, self.n_outputs = self.task.channels.size, self.task.actions.size
        self._longest = TaskView(self.task).max_steps

    def decks(self, seed: int | None = None, trials: int = DECK) -> Decks:
        """Return an endless iterator of params: the trials of a seed, in order."""
        return self.env.decks(seed, trials)

    def init(self, key: jax.Array, params: Params | None = None) -> Rows:
        """Return the first state of the rows.

        Args:
            key: one key for all rows, or (batch_size,) keys.
            params: as in `next`.
        """
        params = self.params if params is None else params
        typed = jnp.issubdtype(key.dtype, jax.dtypes.prng_key)
        if key.ndim == (0 if typed else 1):
            key = jax.random.split(key, self.batch_size)
        words = jax.vmap(partial(raw_key, split=self.env.split))(key)
        serial = jax.vmap(first_serial, (0, None))(words, params)
        return Rows(words, serial, jnp.zeros(self.batch_size, jnp.int32))

    def __repr__(self) -> str:
        return (
            f"DeviceDataset({self.task!r}, batch_size={self.batch_size}, seq_len={self.seq_len},"
            f" split={self.env.split!r})"
        )

    def next(self, rows: Rows, params: Params | None = None) -> tuple[Rows, Batch]:
        """Return the next state of the rows, and a batch.

        Args:
            rows: the state, from `init` or the last `next`.
            params: the trials; None: the dataset's own.
        """
        params = self.params if params is None else params
        steps = self.seq_len or self._longest
        row = jax.vmap(_whole if self.seq_len is None else _stream, (0, None, None))
        rows, batch = row(rows, params, steps)
        rules = self.env.continuous
        if rules is None:
            return rows, batch
        targets = rules.from_task_units(batch.targets)
        if self.seq_len is None:  # padding
            targets = jnp.where(batch.type[..., None] < 0, 0.0, targets)
        return rows, batch._replace(targets=targets)


def _stream(rows: Rows, params: Params, steps: int) -> tuple[Rows, Batch]:
    """Return `steps` steps of trials that follow each other, of one row."""
    n = -(-steps // params.shortest) + 1
    serials = rows.serial + jnp.arange(n, dtype=jnp.uint32)
    kinds = jax.vmap(type_of, (None, 0, None))(rows.key, serials, params)
    lengths = params.path[kinds].sum(axis=1)
    stops = jnp.cumsum(lengths) - rows.done
    step = jnp.arange(steps)
    which = jnp.searchsorted(stops, step, side="right")
    clock = step - (stops[which] - lengths[which])
    batch = _rendered(rows.key, serials[which], kinds[which], clock, params)
    last = jnp.searchsorted(stops, steps, side="right")
    done = steps - (stops[last] - lengths[last])
    return Rows(rows.key, serials[last], done), batch


def _whole(rows: Rows, params: Params, steps: int) -> tuple[Rows, Batch]:
    """Return one whole trial, of one row."""
    kind = type_of(rows.key, rows.serial, params)
    clock = jnp.arange(steps)
    serial = jnp.broadcast_to(rows.serial, (steps,))
    batch = _rendered(rows.key, serial, jnp.broadcast_to(kind, (steps,)), clock, params)
    real = clock < params.path[kind].sum()
    batch = Batch(
        *(jnp.where(real.reshape(-1, *[1] * (one.ndim - 1)), one, 0) for one in batch[:-1]),
        jnp.where(real, batch.type, -1),
    )
    return Rows(rows.key, rows.serial + 1, rows.done), batch


def _rendered(
    key: jax.Array, serial: jax.Array, kind: jax.Array, clock: jax.Array, params: Params
) -> Batch:
    """Render some steps of trials on the oracle's path: (T,) serial numbers, types and clocks."""
    edges = jnp.cumsum(params.path[kind], axis=1)
    column = jnp.minimum((clock[:, None] >= edges).sum(axis=1), edges.shape[1] - 1)
    segment = column % params.shown.shape[1]
    inputs = params.shown[kind, segment]
    columns = params.segment[kind, segment]
    continuous = params.target.shape[2] > 0
    targets = columns[:, SEGMENT.index("target")]
    if continuous:
        targets = params.target[kind, segment]
    if params.script.shape[0]:
        onset = edges[jnp.arange(len(kind)), column] - params.path[kind, column]
        at = columns[:, SEGMENT.index("script_at")]
        endless = columns[:, SEGMENT.index("duration")] == NEVER
        row = jnp.maximum(at, 0) + jnp.where(endless, 0, clock - onset)
        inputs = jnp.where((at < 0)[:, None], inputs, params.script[row])
        if continuous:
            targets = jnp.where((at < 0)[:, None], targets, params.target_script[row])
    units = slice(*params.noisy)
    if units.stop > units.start:
        noise = gaussian(jnp.broadcast_to(key, (len(kind), 2)), serial, clock, units)
        inputs = inputs.at[:, units].add(params.sd[kind, segment] * noise)
    return Batch(inputs, targets, params.weight[kind, segment], clock == 0, kind)
