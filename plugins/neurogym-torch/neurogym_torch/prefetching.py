"""`Ahead`: makes batches in a thread while the caller trains on an earlier one."""

from __future__ import annotations

import queue
import threading
import weakref
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

import torch

Item = TypeVar("Item")
_PATIENCE = 0.1  # seconds between looks whether the thread has to end


class _Made(NamedTuple):
    """An item, with the CUDA event of its completion; or the error that ended the thread."""

    item: Any
    done: torch.cuda.Event | None = None
    error: BaseException | None = None


class Ahead(Generic[Item]):
    """Makes items in their order in a thread, some of them ahead of their use.

    On a CUDA device, the thread queues its work in a separate CUDA stream, which the device can run
    beside the training; `get` lets the caller's stream wait for the item, not the caller.

    Args:
        make: returns the next item. It is called in the thread only.
        tensors_of: returns the tensors of an item.
        ahead: number of items that may be ready.
        device: device of the tensors.
    """

    def __init__(
        self,
        make: Callable[[], Item],
        tensors_of: Callable[[Item], list[torch.Tensor]],
        ahead: int,
        device: torch.device,
    ) -> None:
        self._tensors_of, self._device = tensors_of, device
        self._ready: queue.Queue[_Made] = queue.Queue(ahead)
        stop = threading.Event()
        stream = torch.cuda.Stream(device) if device.type == "cuda" else None
        # The thread refers to none of the objects that use it, so that it ends with them.
        self._thread = threading.Thread(
            target=_produce, args=(make, self._ready, stop, stream), daemon=True
        )
        self._thread.start()
        self.close = weakref.finalize(self, _end, self._thread, stop)

    def get(self) -> Item:
        """Return the next item.

        Raises:
            Exception: whatever `make` raised, at this item and at all later ones.
        """
        made = self._ready.get()
        if made.error is not None:
            self._ready.put(made)
            raise made.error
        if made.done is not None:
            current = torch.cuda.current_stream(self._device)
            current.wait_event(made.done)
            for tensor in self._tensors_of(made.item):
                tensor.record_stream(current)  # so that its memory is not used again too early
        item: Item = made.item
        return item


def _produce(
    make: Callable[[], Any],
    ready: queue.Queue[_Made],
    stop: threading.Event,
    stream: torch.cuda.Stream | None,
) -> None:
    while not stop.is_set():
        try:
            if stream is None:
                made = _Made(make())
            else:
                with torch.cuda.stream(stream):
                    item, done = make(), torch.cuda.Event()
                    done.record(stream)
                made = _Made(item, done)
        except BaseException as error:  # raised in the caller's thread
            made = _Made(None, error=error)
        while not stop.is_set():
            try:
                ready.put(made, timeout=_PATIENCE)
                break
            except queue.Full:
                continue
        if made.error is not None:
            return


def _end(thread: threading.Thread, stop: threading.Event) -> None:
    stop.set()
    # In a forked process, the thread does not exist.
    if thread is not threading.current_thread() and thread.is_alive():
        thread.join()
