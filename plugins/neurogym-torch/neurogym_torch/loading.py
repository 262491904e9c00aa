"""`BatchLoader`: batches that worker processes make, several in one message."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from neurogym_core import InvalidValueError, NotSupportedError
from neurogym_torch.data import BatchStream, TorchBatch
from neurogym_torch.packing import ARRAYS, pack, unpack

MESSAGE = 1 << 20
"""Approximate size of a message, bytes."""
MOST = 32
"""Largest number of batches in a message."""


class BatchLoader:
    """An endless iterable of the batches that worker processes make ahead of their use.

    A `DataLoader` with ``batch_size=None`` sends one batch in a message, which costs the main
    process about as much as making a small batch. Here, small batches share a message of about
    1 MiB. The workers stay when an epoch ends, and the next epoch goes on in the stream: no batch
    is repeated, and none is lost. `Epochs` makes epochs of a fixed number of batches.

    Every worker has a separate stream, determined by the seed of the dataset and the number of the
    worker; the messages of the workers follow each other in turn. So the batches differ from those
    of the dataset, and depend on the number of workers.

    Args:
        dataset: a `TorchDataset` or `TaskMix` on the CPU; it stays where it is.
        workers: number of processes, at least 1.

    Raises:
        InvalidValueError: `workers` is no such number.
        NotSupportedError: the dataset is on another device.
    """

    def __init__(self, dataset: BatchStream, workers: int = 1) -> None:
        if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
            raise InvalidValueError(
                f"BatchLoader was given workers={workers!r}. Expected a whole number, at least 1."
                " Give one, or use the dataset itself, which needs no worker."
            )
        if dataset.device.type != "cpu":
            raise NotSupportedError(
                f"BatchLoader was given a dataset on {dataset.device}. Expected one on the CPU,"
                " because its batches pass between processes. Leave device= out, and move the"
                " batches with batch.to(device)."
            )
        self.dataset, self.workers = dataset, workers
        self.n_inputs, self.n_outputs = dataset.n_inputs, dataset.n_outputs
        self.restart()

    def restart(self) -> None:
        """Return to the beginning of the streams: the same batches follow again."""
        # The position of every worker before its next message; None: at the beginning.
        self._positions: list[dict[str, Any] | None] = [None] * self.workers
        self._turn = 0  # the worker whose message is in use, or comes next
        self._taken = 0  # number of batches that were taken from this message
        self._stop()

    def __iter__(self) -> Iterator[TorchBatch]:
        while True:
            yield next(self)

    def __next__(self) -> TorchBatch:
        while not self._ready:
            self._receive()
        self._taken += 1
        return self._ready.popleft()

    def _receive(self) -> None:
        if self._messages is None:
            source = _Messages(self.dataset, self._positions, self._turn)
            self._messages = iter(DataLoader(source, batch_size=None, num_workers=self.workers))
        else:
            self._positions[self._turn] = self._after
            self._turn = (self._turn + 1) % self.workers
            self._taken = 0
        message = next(self._messages)
        self._after = message.after
        self._ready.extend(unpack(message.packed)[self._taken :])

    def _stop(self) -> None:
        # DataLoader ends its workers when its iterator is deleted.
        self._messages: Iterator[_Message] | None = None
        self._after: dict[str, Any] | None = None  # the position after the message in use
        self._ready: deque[TorchBatch] = deque()

    def close(self) -> None:
        """End the workers; the next batch starts them again, where they were."""
        self._stop()

    def state(self) -> dict[str, Any]:
        """Return the position in the streams; ``torch.load(weights_only=True)`` can read it."""
        return {
            "positions": list(self._positions),
            "turn": self._turn,
            "taken": self._taken,
        }

    def go_to(self, state: dict[str, Any]) -> None:
        """Return to the position `state`; the batches that follow are the same.

        Raises:
            InvalidValueError: the position is that of a loader with another number of workers.
        """
        number = len(state["positions"])
        if number != self.workers:
            raise InvalidValueError(
                f"BatchLoader with workers={self.workers} was given the position of one with"
                f" workers={number}, whose batches differ. Expected the same number. Make a"
                f" BatchLoader with workers={number}."
            )
        self._stop()
        self._positions, self._turn = list(state["positions"]), state["turn"]
        self._taken = state["taken"]


class _Message:
    """Several batches, and the position of the worker's stream after them."""

    def __init__(self, packed: dict[str, Any], after: dict[str, Any]) -> None:
        self.packed, self.after = packed, after


class _Messages(IterableDataset):
    """The messages of one worker."""

    def __init__(
        self, dataset: BatchStream, positions: list[dict[str, Any] | None], turn: int
    ) -> None:
        super().__init__()
        self.dataset, self.positions, self.turn = dataset, positions, turn

    def __iter__(self) -> Iterator[_Message]:
        info = get_worker_info()
        assert info is not None, "DataLoader iterates in its workers"
        # DataLoader begins with its worker 0, which takes the stream whose turn it is.
        own = (info.id + self.turn) % info.num_workers
        dataset, position = self.dataset, self.positions[own]
        dataset.split_off(own)
        # From the first batch of the stream, also if it goes on later: messages are then the same.
        first = next(dataset)
        size = sum(getattr(first, name).nbytes for name in ARRAYS)
        number = max(1, min(MESSAGE // size, MOST))
        dataset.restart()
        if position is not None:
            dataset.go_to(position)
        while True:
            batches = [next(dataset) for _ in range(number)]
            yield _Message(pack(batches), dataset.state())
