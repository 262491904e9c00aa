"""Batches as one block of memory, in which they pass between processes and into files."""

from __future__ import annotations

import math
import pickle
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

if TYPE_CHECKING:
    from neurogym_torch.data import TorchBatch

ARRAYS = ("inputs", "targets", "weights", "new_trial")
"""Attributes of a batch that have one value for every step."""
SHARED = 1 << 18
"""Bytes from which the block passes through the shared memory of torch, not through a pipe."""
ALIGNED = 8
"""Every array begins at a multiple of so many bytes, the largest size of an item."""


@lru_cache(maxsize=64)
def made_once(pickled: bytes) -> Any:
    """Return an object of batches from other processes, such as their task, which never changes."""
    return pickle.loads(pickled)


def pack(batches: Sequence[TorchBatch]) -> dict[str, Any]:
    """Return the batches as a few large objects, which pickle fast.

    The trials of batches that come from one chunk are pickled once.
    """
    arrays = [getattr(batch, name).cpu().numpy() for batch in batches for name in ARRAYS]
    forms = [(array.dtype.char, array.shape) for array in arrays]
    views, block = _carved(forms)
    for view, array in zip(views, arrays, strict=True):
        view[...] = array
    # Batches of one chunk share its trials; one alone has only those that it shows.
    alone = len(batches) == 1
    places = [batch._placed if alone else batch.place() for batch in batches]
    return {
        # Through the shared memory of torch, a small block takes a worker longer than its copy.
        "block": block if block.nbytes < SHARED else torch.from_numpy(block),
        "forms": forms,
        "device": str(batches[0].inputs.device),
        "heads": [(type(batch), batch.head()) for batch in batches],
        "places": pickle.dumps(places),
    }


def unpack(packed: dict[str, Any]) -> list[TorchBatch]:
    """Return the batches of `pack`; their tensors share the block, and their trials are read when
    they are asked for.
    """
    block = packed["block"]
    arrays, _ = _carved(packed["forms"], block if isinstance(block, np.ndarray) else block.numpy())
    places = _Places(packed["places"])
    batches = []
    for number, (kind, head) in enumerate(packed["heads"]):
        batch = kind.__new__(kind)
        batch.take_head(head)
        own = arrays[number * len(ARRAYS) : (number + 1) * len(ARRAYS)]
        for name, array in zip(ARRAYS, own, strict=True):
            tensor = torch.from_numpy(array)
            setattr(
                batch, name, tensor if packed["device"] == "cpu" else tensor.to(packed["device"])
            )
        batch._place = partial(places.of, number)
        batches.append(batch)
    return batches


class _Places:
    """The places of the trials of several batches, unpickled on the first access."""

    def __init__(self, pickled: bytes) -> None:
        self._pickled: bytes | None = pickled
        self._made: list[Any] = []

    def of(self, number: int) -> Any:
        """Return the places of the trials of one batch."""
        if self._pickled is not None:
            self._made, self._pickled = pickle.loads(self._pickled), None
        place = self._made[number]
        return place() if callable(place) else place


def _carved(
    forms: Sequence[tuple[str, tuple[int, ...]]], block: np.ndarray | None = None
) -> tuple[list[np.ndarray], np.ndarray]:
    """Return arrays of these dtypes and shapes in one block of bytes, and the block."""
    sizes = [np.dtype(dtype).itemsize * math.prod(shape) for dtype, shape in forms]
    starts = [0]
    for size in sizes:
        starts.append(-(-(starts[-1] + size) // ALIGNED) * ALIGNED)
    block = np.empty(starts[-1], np.uint8) if block is None else block
    return [
        block[start : start + size].view(dtype).reshape(shape)
        for start, size, (dtype, shape) in zip(starts, sizes, forms, strict=False)
    ], block
