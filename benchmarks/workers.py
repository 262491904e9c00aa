"""CPU time of the main process per batch, without workers and with one or two.

``python -m benchmarks.workers`` prints a table. The time without a worker is the time in which a
batch is made; with one, the time in which it is received. A worker pays where the second is smaller
and another core is free. CPU times of the main process do not count other programs, and all columns
of a row are measured in turn, in several rounds.

The column "copies" is the share of PyTorch itself: a `DataLoader` with one worker, which sends
copies of the four tensors of one batch.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Iterator
from statistics import median

import torch
from neurogym_torch import BatchLoader, TorchDataset
from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset

CASES = (
    ("perceptual/PerceptualDecisionMaking-v0", 16, 100),
    ("perceptual/PerceptualDecisionMaking-v0", 64, 26),
    ("perceptual/PerceptualDecisionMaking-v0", 64, None),
    ("perceptual/PerceptualDecisionMaking-v0", 1024, 100),
    ("timing/ReadySetGo-v0", 256, None),
    ("ibl/IBL-v0", 64, None),
    ("yang19/DM1-v0", 512, 100),
    ("motor/Reaching1D-v0", 64, None),
    ("perceptual/PoissonClicks-v0", 1024, None),
)
"""Task, batch size, and steps of a stream; None: whole trials."""
SECONDS, LEAST, BEFORE, ROUNDS = 1.0, 10, 6, 5
"""Time of a measurement, least number of its batches, number of batches before it, and rounds."""


class Copies(IterableDataset):
    """Copies of the tensors of a batch, without end."""

    def __init__(self, tensors: tuple[Tensor, ...]) -> None:
        super().__init__()
        self.tensors = tensors

    def __iter__(self) -> Iterator[tuple[Tensor, ...]]:
        while True:
            yield tuple(tensor.clone() for tensor in self.tensors)


def cpu_per_batch(batches: Iterable[object]) -> float:
    """Return the CPU time of this process per batch, ms."""
    stream = iter(batches)
    for _ in range(BEFORE):
        next(stream)
    number, began, before = 0, time.perf_counter(), time.process_time()
    while number < LEAST or time.perf_counter() - began < SECONDS:
        batch = next(stream)
        # Reads the memory, as a network does.
        (batch[0] if isinstance(batch, (tuple, list)) else batch.inputs).sum()  # type: ignore[attr-defined]
        number += 1
    return (time.process_time() - before) / number * 1e3


def ways(task: str, batch_size: int, seq_len: int | None) -> dict[str, Callable[[], object]]:
    """Return the ways to get the batches, by column; each call starts its own workers."""

    def data() -> TorchDataset:
        return TorchDataset(task, batch_size, seq_len, seed=0)

    def loader(dataset: IterableDataset, workers: int) -> DataLoader:
        return DataLoader(dataset, batch_size=None, num_workers=workers)

    batch = next(data())
    tensors = (batch.inputs, batch.targets, batch.weights, batch.new_trial)
    return {
        "no worker": lambda: loader(data(), 0),
        "`DataLoader`, 1": lambda: loader(data(), 1),
        "`DataLoader`, 2": lambda: loader(data(), 2),
        "copies, 1": lambda: loader(Copies(tensors), 1),
        "`BatchLoader`, 1": lambda: BatchLoader(data(), 1),
        "`BatchLoader`, 2": lambda: BatchLoader(data(), 2),
    }


def main() -> None:
    """Print the table."""
    torch.set_num_threads(1)
    names = list(ways(*CASES[0]))
    print(f"| task | inputs | {' | '.join(names)} |\n|---|---|{'---|' * len(names)}")
    for task, batch_size, seq_len in CASES:
        shape = tuple(next(TorchDataset(task, batch_size, seq_len, seed=0)).inputs.shape)
        times: dict[str, list[float]] = {name: [] for name in names}
        for _ in range(ROUNDS):
            for name, make in ways(task, batch_size, seq_len).items():
                times[name].append(cpu_per_batch(make()))  # type: ignore[arg-type]
                gc.collect()  # ends the workers
        shown = " | ".join(f"{median(values):.2g}" for values in times.values())
        print(f"| `{task}` | {shape} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
