"""`TorchDataset`: supervised batches as tensors, straight from the period table."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import IterableDataset, get_worker_info

from neurogym_core import Dataset, TrialRecord
from neurogym_core.play.dataset import SPLITS, Batch, Table
from neurogym_torch.rendering import Rendered, render


class TorchBatch(Batch):
    """A batch of `Dataset` whose inputs, targets, weights and new_trial are tensors on a device.

    Where its trials lie (row, start, stop, conditions, trials) stays in NumPy.
    """

    inputs: Tensor
    targets: Tensor
    weights: Tensor
    new_trial: Tensor

    def score(self, outputs: Any) -> TrialRecord:
        """As `Batch.score`, also for tensors on any device."""
        return super().score(outputs.detach().cpu().numpy() if isinstance(outputs, Tensor) else outputs)


class TorchDataset(IterableDataset):
    """An endless iterable of supervised batches as tensors; ``next(dataset)``, ``for batch in dataset``, or
    ``DataLoader(dataset, batch_size=None)``.

    The table of the trials, which is small, goes to the device, and is rendered there. Conditions and durations are
    those of a `Dataset` of the same seed; the noise is torch's. Tasks that are stepped through (hooks,
    outcome-dependent ones) are played on the CPU and copied.

    Args:
        task, batch_size, seq_len, seed, split, targets, wrap, params: as in `Dataset`.
        device: where the tensors are made. Workers of a DataLoader need "cpu"; each has a stream of its own.

    Attributes:
        task: the task.
        n_inputs, n_outputs: what a network needs.
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
        device: torch.device | str = "cpu",
        wrap: Any = (),
        **params: Any,
    ) -> None:
        super().__init__()
        self.source = Dataset(task, batch_size, seq_len, seed, split, targets=targets, wrap=wrap, **params)
        self.task = self.source.task
        self.n_inputs, self.n_outputs = self.source.n_inputs, self.source.n_outputs
        self.device = torch.device(device)
        self.restart()

    def restart(self) -> None:
        """Return to the seed: the same batches again."""
        self.source.restart()
        split = () if self.source.split is None else (SPLITS.index(self.source.split),)
        sequence = np.random.SeedSequence(self.source.seed, spawn_key=(200, *split))
        self._noise = torch.Generator(self.device).manual_seed(int(sequence.generate_state(1, np.uint64)[0] >> 1))
        self._chunks = 0  # tables (or stepped batches) taken so far
        self._noise_before = self._noise.get_state()
        self._ready: list[TorchBatch] = []
        self._served = 0  # batches of the newest table given out

    def __iter__(self) -> Iterator[TorchBatch]:
        worker = get_worker_info()
        if worker is not None and worker.num_workers > 1:  # here this is the worker's own copy
            seed = np.random.SeedSequence([self.source.seed, worker.id + 1]).generate_state(1, np.uint64)[0]
            self.source.seed = int(seed >> 1)
            self.restart()
        while True:
            yield next(self)

    def __next__(self) -> TorchBatch:
        if self._served == len(self._ready):
            self._ready, self._served = self._next_chunk(), 0
        self._served += 1
        return self._ready[self._served - 1]

    def __repr__(self) -> str:
        return f"Torch{self.source!r} on {self.device}"

    # ------------------------------------------------------------------ where it is

    def state(self) -> dict[str, Any]:
        """Where it is, as ``torch.save`` can write and ``torch.load(weights_only=True)`` can read."""
        return {"chunks": self._chunks, "served": self._served, "noise": self._noise_before}

    def go_to(self, state: dict[str, Any]) -> None:
        """Return to a place that `state` gave, in a dataset made alike: the batches that follow are the same.

        The trials up to there are drawn again, which takes a small part of the time that rendering them took.
        """
        self.restart()
        for _ in range(state["chunks"] - 1):
            self._skip()
        if state["chunks"]:
            self._noise.set_state(state["noise"].cpu())
            self._ready, self._served = self._next_chunk(), state["served"]

    def _skip(self) -> None:
        self._chunks += 1
        if self.source.from_table:
            self.source.next_table()
        else:
            next(self.source)

    # ------------------------------------------------------------------ making batches

    def _next_chunk(self) -> list[TorchBatch]:
        """What one table holds: a batch of whole trials, or several batches of streams."""
        self._chunks += 1
        self._noise_before = self._noise.get_state()
        if not self.source.from_table:
            return [self._copied(next(self.source))]
        table = self.source.next_table()
        rendered = render(table, self.device, self._noise, self.source.targets)
        new_trial = torch.from_numpy(table.new_trial).to(self.device)
        steps = self.source.seq_len or table.shape[1]
        return [self._window(table, rendered, new_trial, begin, steps) for begin in range(0, table.shape[1], steps)]

    def _window(self, table: Table, rendered: Rendered, new_trial: Tensor, begin: int, steps: int) -> TorchBatch:
        if steps == table.shape[1]:
            return TorchBatch(*rendered, new_trial, table.placed, self.source)
        arrays = (array[:, begin : begin + steps].clone() for array in (*rendered, new_trial))
        return TorchBatch(*arrays, partial(_windowed, table, begin, steps), self.source)

    def _copied(self, batch: Batch) -> TorchBatch:
        arrays = (batch.inputs, batch.targets, batch.weights, batch.new_trial)
        on_device = (torch.from_numpy(np.ascontiguousarray(array)).to(self.device) for array in arrays)
        return TorchBatch(*on_device, lambda: batch._placed, self.source)


def _windowed(table: Table, begin: int, steps: int) -> Any:
    return table.placed().window(begin, steps)
