"""`TaskMix`: batches of several tasks in random order, for one network with rule inputs."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from neurogym_core import InvalidValueError, TrialRecord, make_task
from neurogym_core.tools import unknown
from neurogym_torch.data import BatchStream, TorchBatch, TorchDataset, split_seed
from neurogym_torch.layout import NetworkLayout
from neurogym_torch.packing import made_once


class MixBatch(TorchBatch):
    """A batch of one of several tasks, in the units of one network.

    Attributes:
        which: index of the task.
        inputs, targets: (B, T, …) in the network's units; see `NetworkLayout`.
    """

    @classmethod
    def widened(cls, batch: TorchBatch, which: int, layout: NetworkLayout) -> MixBatch:
        """Return the batch of one task in the units of the network."""
        wide = cls.__new__(cls)
        wide.__dict__.update(batch.__dict__)
        wide.which, wide._layout = which, layout
        wide.inputs, wide.targets = (
            layout.inputs(which, batch.inputs),
            layout.targets(which, batch.targets),
        )
        return wide

    def head(self) -> dict[str, Any]:
        return super().head() | {"which": self.which, "layout": pickle.dumps(self._layout)}

    def take_head(self, head: dict[str, Any]) -> None:
        super().take_head(head)
        self.which, self._layout = head["which"], made_once(head["layout"])

    def score(self, outputs: Tensor) -> TrialRecord:
        """Score the network's outputs (B, T, n_outputs), without actions that the task lacks."""
        return super().score(self._layout.outputs(self.which, torch.as_tensor(outputs)))


class TaskMix(BatchStream):
    """An endless iterable of batches, each of one task, drawn at random.

    After Yang, Joglekar, Song, Newsome & Wang (2019), Nat. Neurosci. 22:297,
    doi:10.1038/s41593-018-0310-2. Their network learns twenty tasks, one per batch, and a rule
    input indicates the current one.

    Args:
        tasks: ids, classes or tasks.
        shares: relative frequencies of the tasks, one each, or by name, with 1 for the others;
            default: equal.
        seed: seed of all tasks, and of their order.
        rule: whether to add one input per task that indicates it; default: if there are several.
        batch_size, seq_len, split, targets, device, prefetch: as in `TorchDataset`.

    Attributes:
        layout: the `NetworkLayout` of the network's units.
        datasets: one `TorchDataset` per task.
    """

    def __init__(
        self,
        tasks: Sequence[Any],
        batch_size: int = 16,
        seq_len: int | None = None,
        seed: int = 0,
        split: str | None = None,
        *,
        shares: Sequence[float] | Mapping[str, float] | None = None,
        rule: bool | None = None,
        targets: str = "action",
        device: torch.device | str = "cpu",
        prefetch: int = 0,
    ) -> None:
        super().__init__()
        self.seed = seed
        seeds = [
            int(np.random.SeedSequence([seed, k]).generate_state(1)[0]) for k in range(len(tasks))
        ]
        self.datasets = [
            TorchDataset(
                make_task(task),
                batch_size,
                seq_len,
                own,
                split,
                targets=targets,
                device=device,
                prefetch=prefetch,
            )
            for task, own in zip(tasks, seeds, strict=True)
        ]
        self.layout = NetworkLayout([dataset.task for dataset in self.datasets], rule)
        self.n_inputs, self.n_outputs = self.layout.n_inputs, self.layout.n_outputs
        self.device = self.datasets[0].device
        self.shares = self._checked(shares)
        self.restart()

    def _checked(self, shares: Sequence[float] | Mapping[str, float] | None) -> np.ndarray:
        if isinstance(shares, Mapping):
            names = [dataset.task.name for dataset in self.datasets]
            for name in shares:
                if name not in names:
                    raise unknown("task", name, names, of="the tasks with shares")
            shares = [shares.get(name, 1.0) for name in names]
        given = np.ones(len(self.datasets)) if shares is None else np.asarray(shares, float)
        if given.shape != (len(self.datasets),) or not (
            np.isfinite(given).all() and (given >= 0).all() and given.sum() > 0
        ):
            raise InvalidValueError(
                f"TaskMix was given shares={shares!r} for {len(self.datasets)} tasks; give one"
                " number for each, 0 or more, not all 0."
            )
        return given / given.sum()

    def restart(self) -> None:
        """Return to the beginning of the stream: the same batches follow again."""
        for dataset in self.datasets:
            dataset.restart()
        self._rng = np.random.default_rng([self.seed, len(self.datasets)])
        self._batches = 0

    def split_off(self, number: int) -> None:
        self.seed = split_seed(self.seed, number)
        for dataset in self.datasets:
            dataset.split_off(number)
        self.restart()

    def __next__(self) -> MixBatch:
        which = self._draw()
        return MixBatch.widened(next(self.datasets[which]), which, self.layout)

    def _draw(self) -> int:
        self._batches += 1
        return int(self._rng.choice(len(self.datasets), p=self.shares))

    def state(self) -> dict[str, Any]:
        """Return the position in the stream; see `TorchDataset.state`."""
        return {
            "batches": self._batches,
            "datasets": [dataset.state() for dataset in self.datasets],
        }

    def go_to(self, state: dict[str, Any]) -> None:
        """Return to the position `state`."""
        self.restart()
        for _ in range(state["batches"]):
            self._draw()
        for dataset, own in zip(self.datasets, state["datasets"], strict=True):
            dataset.go_to(own)
