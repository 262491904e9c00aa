"""CPU time of the main process per batch of `TorchDataset`, with and without a worker.

``python -m benchmarks.workers`` prints a table. The time without a worker is the time in which a
batch is made; with one, the time in which it is received. A worker pays where the second is smaller
and another core is free. CPU times of the main process do not count other programs.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

import torch
from neurogym_torch import TorchDataset
from torch.utils.data import DataLoader

CASES = (
    ("perceptual/PerceptualDecisionMaking-v0", 64, 26),
    ("perceptual/PerceptualDecisionMaking-v0", 1024, 100),
    ("timing/ReadySetGo-v0", 256, None),
    ("ibl/IBL-v0", 64, None),
    ("yang19/DM1-v0", 512, 100),
    ("motor/Reaching1D-v0", 64, None),
    ("perceptual/PoissonClicks-v0", 1024, None),
)
"""Task, batch size, and steps of a stream; None: whole trials."""
SECONDS, LEAST, BEFORE = 3.0, 10, 6
"""Time of a measurement, least number of its batches, and number of batches before it."""


def cpu_per_batch(batches: Iterable[object]) -> float:
    """Return the CPU time of this process per batch, ms."""
    stream = iter(batches)
    for _ in range(BEFORE):
        next(stream)
    number, began, before = 0, time.perf_counter(), time.process_time()
    while number < LEAST or time.perf_counter() - began < SECONDS:
        next(stream).inputs.sum()  # type: ignore[attr-defined]  # reads shared memory, as a network does
        number += 1
    return (time.process_time() - before) / number * 1e3


def main() -> None:
    """Print the table."""
    torch.set_num_threads(1)
    print("| task | inputs | no worker (ms) | one worker (ms) |\n|---|---|---|---|")
    for task, batch_size, seq_len in CASES:
        shape = tuple(next(TorchDataset(task, batch_size, seq_len, seed=0)).inputs.shape)
        times = [
            cpu_per_batch(
                DataLoader(
                    TorchDataset(task, batch_size, seq_len, seed=0),
                    batch_size=None,
                    num_workers=workers,
                )
            )
            for workers in (0, 1)
        ]
        print(f"| `{task}` | {shape} | {times[0]:.2f} | {times[1]:.2f} |", flush=True)


if __name__ == "__main__":
    main()
