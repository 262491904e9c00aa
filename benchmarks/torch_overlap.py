"""Time of a training update of neurogym-torch, with and without batches made ahead.

    python -m benchmarks.torch_overlap [--device cuda] [--hidden 512] [--batch 256] [--updates 200]

A GRU is trained on perceptual/PerceptualDecisionMaking-v0 (streams of 100 steps), in four ways:
plain, with ``prefetch=2``, the same with bfloat16 (``torch.autocast``), and the same compiled
(``torch.compile``). The table has the milliseconds of an update, those of its batch alone, and
those of the update on one batch again and again. Where making batches and training overlap
completely, the update with ``prefetch`` takes as long as the larger of the two.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Iterator
from typing import Any

import torch
from neurogym_torch import GRU, TorchDataset, masked_loss

TASK, STEPS, WARM = "perceptual/PerceptualDecisionMaking-v0", 100, 20


def milliseconds(
    batches: Iterator[Any], said: argparse.Namespace, dtype: torch.dtype | None, compiled: bool
) -> float:
    """Return the mean time of an update; batches of None are not trained on, only taken."""
    network: Any = GRU(3, 3, hidden=said.hidden).to(said.device)
    called = torch.compile(network) if compiled else network
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    # On a CPU, CPU time of all threads, so that other programs on the machine are not counted.
    clock = time.perf_counter if said.device == "cuda" else time.process_time
    begin = 0.0
    for update, batch in enumerate(itertools.islice(batches, WARM + said.updates)):
        if update == WARM:
            _wait(said.device)
            begin = clock()
        if batch is None:
            continue
        with torch.autocast(said.device, dtype=dtype, enabled=dtype is not None):
            outputs, _ = called(batch.inputs)
        loss = masked_loss(outputs.float(), batch.targets, batch.weights)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    _wait(said.device)
    return (clock() - begin) / said.updates * 1e3


def _wait(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def _only_taken(data: TorchDataset) -> Iterator[None]:
    for _ in data:
        yield None


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    for name, default in (("hidden", 512), ("batch", 256), ("updates", 200)):
        parser.add_argument(f"--{name}", type=int, default=default)
    said = parser.parse_args()

    def data(prefetch: int = 0) -> TorchDataset:
        return TorchDataset(TASK, said.batch, STEPS, seed=1, device=said.device, prefetch=prefetch)

    torch.set_num_threads(1)  # several threads of a small network only wait for each other
    name = torch.cuda.get_device_name() if said.device == "cuda" else "CPU"
    print(f"{name}, torch {torch.__version__}; hidden {said.hidden}, batch {said.batch}")
    half = torch.bfloat16
    for label, batches, dtype, compiled in (
        ("batches alone", _only_taken(data()), None, False),
        ("training alone, on one batch", itertools.repeat(next(data())), None, False),
        ("plain", iter(data()), None, False),
        ("prefetch=2", iter(data(2)), None, False),
        ("prefetch=2, bfloat16", iter(data(2)), half, False),
        ("prefetch=2, compiled", iter(data(2)), None, True),
    ):
        print(f"  {label:30} {milliseconds(batches, said, dtype, compiled):8.2f} ms", flush=True)


if __name__ == "__main__":
    main()
