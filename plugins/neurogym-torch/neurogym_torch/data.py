"""`TorchDataset`: supervised batches as tensors on a device."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import IterableDataset, get_worker_info

from neurogym_core import Dataset, InvalidValueError, TrialRecord
from neurogym_core.players import Batch, Chunk, Placed
from neurogym_torch.packing import ARRAYS, made_once, pack, unpack
from neurogym_torch.prefetching import Ahead
from neurogym_torch.rendering import moved, render


@dataclass(frozen=True, eq=False)
class Window:
    """Finds the trials of one batch among those of a chunk, when it is called."""

    placed: Callable[[], Placed]
    begin: int
    steps: int

    def __call__(self) -> Placed:
        return self.placed().window(self.begin, self.steps)


class TorchBatch(Batch):
    """A batch of `Dataset` with inputs, targets, weights and new_trial as tensors.

    The positions of its trials (row, start, stop, conditions, trials) remain in NumPy.
    """

    inputs: Tensor
    targets: Tensor
    weights: Tensor
    new_trial: Tensor

    def __reduce__(self) -> tuple[Any, ...]:
        return _only, (pack([self]),)

    def place(self) -> Any:
        """Return the places of the trials, or the window of the chunk in which they are found."""
        window = self.__dict__.get("_place")
        return window if isinstance(window, Window) else self._placed

    def head(self) -> dict[str, Any]:
        """Return all of the batch but its arrays and its trials, for `packing.pack`."""
        return {"kind": self.kind, "task": pickle.dumps(self.task)}

    def take_head(self, head: dict[str, Any]) -> None:
        """Take the values that `head` of another process returned."""
        self.kind, self.task = head["kind"], made_once(head["task"])

    def __copy__(self) -> TorchBatch:
        copied = object.__new__(type(self))
        copied.__dict__.update(self.__dict__)
        return copied

    def to(self, device: torch.device | str, non_blocking: bool = False) -> TorchBatch:
        """Return the batch with its tensors on a device."""
        return self._with(lambda tensor: tensor.to(device, non_blocking=non_blocking))

    def pin_memory(self) -> TorchBatch:
        """Return the batch with its tensors in pinned memory, as DataLoader wants it."""
        return self._with(Tensor.pin_memory)

    def _with(self, change: Callable[[Tensor], Tensor]) -> TorchBatch:
        changed = copy.copy(self)
        for name in ARRAYS:
            setattr(changed, name, change(getattr(self, name)))
        return changed

    def score(self, outputs: Any) -> TrialRecord:
        """Score outputs as `Batch.score` does; tensors may be on any device."""
        return super().score(_array(outputs) if isinstance(outputs, Tensor) else outputs)


def _only(packed: dict[str, Any]) -> TorchBatch:
    (batch,) = unpack(packed)
    return batch


class BatchStream(IterableDataset):
    """An endless stream of batches, which has a position, and other batches in every worker."""

    device: torch.device
    n_inputs: int
    n_outputs: int
    _worker_seed: int | None = None

    def __iter__(self) -> Iterator[TorchBatch]:
        worker = get_worker_info()
        # Here this is a copy in a worker. DataLoader draws the seed of a worker from the generator
        # of torch, once per epoch; a persistent worker keeps it, and continues its stream.
        if worker is not None and worker.seed != self._worker_seed:
            self._worker_seed = worker.seed
            self.split_off(worker.seed)
        while True:
            yield next(self)

    def __next__(self) -> TorchBatch:
        """Return the next batch."""
        raise NotImplementedError

    def restart(self) -> None:
        """Return to the beginning of the stream: the same batches follow again."""
        raise NotImplementedError

    def split_off(self, number: int) -> None:
        """Begin a stream of other batches, determined by the seed and `number`."""
        raise NotImplementedError

    def state(self) -> dict[str, Any]:
        """Return the position in the stream; ``torch.load(weights_only=True)`` can read it."""
        raise NotImplementedError

    def go_to(self, state: dict[str, Any]) -> None:
        """Return to the position `state`; the batches that follow are the same."""
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        """Return `state()`, under the name that Lightning and torchdata look for."""
        return self.state()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Call `go_to(state)`."""
        self.go_to(state)


def split_seed(seed: int, number: int) -> int:
    """Return another seed, determined by a seed and a number."""
    return int(np.random.SeedSequence([seed, number]).generate_state(1, np.uint64)[0]) >> 1


class TorchDataset(BatchStream):
    """An endless iterable of supervised batches as tensors.

    Use ``next(dataset)``, ``for batch in dataset``, or ``DataLoader(dataset, batch_size=None)``.

    The batches are those of a `Dataset` with the same seed, noise included. The tables of the
    trials are small; they are copied to the device and rendered there. Tasks that have to be
    stepped (with hooks, or outcome-dependent) are played on the CPU, and their batches are copied.

    Args:
        task, batch_size, seq_len, seed, split, targets, wrap, params: as in `Dataset`.
        device: device of the tensors. Workers of a DataLoader need "cpu"; each has a separate
            stream, and another one in every epoch. The seed and ``torch.manual_seed`` determine
            them.
        prefetch: number of batches (with `seq_len`: of blocks of batches) that a thread makes while
            the last one is used; 0: none. On CUDA, they are made in a separate stream. The batches
            and `state` do not depend on it.

    Attributes:
        task: the task.
        n_inputs, n_outputs: numbers of units that a network needs.
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
        prefetch: int = 0,
        wrap: Any = (),
        **params: Any,
    ) -> None:
        super().__init__()
        if isinstance(prefetch, bool) or not isinstance(prefetch, int) or prefetch < 0:
            raise InvalidValueError(
                f"TorchDataset was given prefetch={prefetch!r}. Expected a number of batches, 0 or"
                " more. Give one, such as 2."
            )
        self.source = Dataset(
            task, batch_size, seq_len, seed, split, targets=targets, wrap=wrap, **params
        )
        self.task = self.source.task
        self.n_inputs, self.n_outputs = self.source.n_inputs, self.source.n_outputs
        self.device, self.prefetch = torch.device(device), prefetch
        self._ahead: Ahead[list[TorchBatch]] | None = None
        self.restart()

    def restart(self) -> None:
        """Return to the beginning of the stream: the same batches follow again."""
        self._pause()
        self.source.restart()
        self._given = 0  # number of batches returned
        self._ready: list[TorchBatch] = []  # rendered batches that come next

    def split_off(self, number: int) -> None:
        self.source.seed = split_seed(self.source.seed, number)
        self.restart()

    def __next__(self) -> TorchBatch:
        if not self._ready:
            self._ready = self._next_made()
        self._given += 1
        return self._ready.pop(0)

    if not TYPE_CHECKING:
        __getattr__ = Dataset.__getattr__  # errors about names of NeuroGym's datasets
        __call__ = Dataset.__call__

    def __repr__(self) -> str:
        return f"Torch{self.source!r} on {self.device}"

    # ---- position in the stream ----

    def state(self) -> dict[str, Any]:
        """Return the position in the stream; ``torch.load(weights_only=True)`` can read it."""
        return {"given": self._given}

    def go_to(self, state: dict[str, Any]) -> None:
        """Return to the position `state`; the batches that follow are the same.

        The dataset must have the same settings. The trials before the position are drawn again,
        which takes a small part of the time of rendering them.
        """
        self.restart()
        while self._given < state["given"]:
            left = state["given"] - self._given
            if not self.source.from_tables:
                next(self.source)
                self._given += 1
                continue
            chunk = self.source.next_chunk()
            if left < self._batches_of(chunk):
                self._ready = self._rendered(chunk)[left:]
            self._given += min(left, self._batches_of(chunk))

    # ---- batches ahead ----

    def _next_made(self) -> list[TorchBatch]:
        if not self.prefetch:
            return self._coming()
        if self._ahead is None:
            # A copy makes the batches, so that the thread does not keep this dataset alive.
            maker = copy.copy(self)
            self._ahead = Ahead(maker._coming, _tensors_of, self.prefetch, self.device)
        return self._ahead.get()

    def _pause(self) -> None:
        """End the thread; the source is then ahead of the batches that were returned."""
        if self._ahead is not None:
            self._ahead.close()
            self._ahead = None

    def __copy__(self) -> TorchDataset:
        copied = object.__new__(type(self))
        copied.__dict__.update(self.__dict__, _ahead=None)
        return copied

    def __getstate__(self) -> dict[str, Any]:
        # A pickle has the position instead of the thread, whose source is ahead.
        state = dict(self.__dict__, _ahead=None)
        return state if self._ahead is None else state | {"_ready": [], "_behind": True}

    def __setstate__(self, state: dict[str, Any]) -> None:
        behind = state.pop("_behind", False)
        self.__dict__.update(state)
        if behind:
            self.go_to(self.state())

    # ---- making batches ----

    def _coming(self) -> list[TorchBatch]:
        """Return the batches that are made together: one of whole trials, or several of streams."""
        if self.source.from_tables:
            return self._rendered(self.source.next_chunk())
        batch = next(self.source)
        arrays = (batch.inputs, batch.targets, batch.weights, batch.new_trial)
        return [self._batch(map(self._put, arrays), lambda: batch._placed)]

    def _batch(self, arrays: Iterable[Tensor], placed: Callable[[], Placed]) -> TorchBatch:
        own: Any = tuple(arrays)  # tensors in place of the arrays of a `Batch`
        inputs, targets, weights, new_trial = own
        return TorchBatch(inputs, targets, weights, new_trial, placed, self.source)

    def _batches_of(self, chunk: Chunk) -> int:
        return chunk.shape[1] // (self.source.seq_len or chunk.shape[1])

    def _rendered(self, chunk: Chunk) -> list[TorchBatch]:
        new_trial = self._put(chunk.new_trial)
        if self.device.type == "cpu":  # the core renders faster on the CPU
            arrays = [*map(self._put, chunk.rendered(self.source.encode)[:3]), new_trial]
        else:
            arrays = [*render(chunk, self.device, targets=self.source.targets), new_trial]
        if self._batches_of(chunk) == 1:
            return [self._batch(arrays, chunk.placed)]
        steps = self.source.seq_len
        assert steps is not None, "a chunk of several batches is one of streams"
        return [
            self._batch(
                (array[:, begin : begin + steps].clone() for array in arrays),
                Window(chunk.placed, begin, steps),
            )
            for begin in range(0, chunk.shape[1], steps)
        ]

    def _put(self, array: np.ndarray) -> Tensor:
        return moved(torch.from_numpy(np.ascontiguousarray(array)), self.device)


def _tensors_of(batches: list[TorchBatch]) -> list[Tensor]:
    return [getattr(batch, name) for batch in batches for name in ARRAYS]


def _array(tensor: Tensor) -> np.ndarray:
    # NumPy has no bfloat16, in which autocast returns outputs.
    tensor = tensor.detach().cpu()
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()
