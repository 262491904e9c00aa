"""Measurements that are not rates: start-up time, memory, generated steps, lines and classes.

Start-up time, memory and generated steps are measured in new processes, one value per round.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

_CLOCK = "import time; start = time.process_time(); {}; print(time.process_time() - start)"

_MEMORY = """
import tracemalloc
import neurogym_core as ngym
from benchmarks.core_side import TASKS
name, params = TASKS["dots"]
next(ngym.Dataset(name, 2, 100, seed=1, **params))  # imports and caches are not counted
tracemalloc.start()
dataset = ngym.Dataset(name, 256, 100, seed=1, **params)
for _ in range(30):
    batch = next(dataset)
    members = batch.inputs, batch.targets, batch.weights, batch.new_trial
    arrays = sum(array.nbytes for array in members)
    del members
    del batch
print((tracemalloc.get_traced_memory()[1] - arrays) / 2**20)
"""

_GENERATED = """
import neurogym_core as ngym
from benchmarks.core_side import TASKS
name, params = TASKS["dots"]
dataset = ngym.Dataset(name, 256, 100, seed=1, **params)
chunks = [dataset.next_chunk() for _ in range(50)]
rendered = sum(int(part.steps.played.sum()) for chunk in chunks for part in chunk.parts)
print(rendered / sum(rows * steps for rows, steps in (chunk.shape for chunk in chunks)))
"""

PLAYING = (
    "trials/tables",
    "trials/rendering",
    "play/blocks",
    "play/kernel",
    "play/plain",
    "play/kernels",
    "play/dealer",
    "play/stepper",
    "play/results",
    "play/replay",
)
"""Modules of `neurogym_core` that play tables."""


def start() -> float:
    """Return the CPU time of the import and the first `make`, relative to importing Gymnasium.

    The start of the interpreter is not counted.
    """
    ours = "import neurogym_core; neurogym_core.make('PerceptualDecisionMaking-v0')"
    return _printed(_CLOCK.format(ours)) / _printed(_CLOCK.format("import gymnasium"))


def memory() -> float:
    """Return the peak memory of 30 batches of 256 x 100 in MiB, without the arrays of one batch."""
    return _printed(_MEMORY)


def generated() -> float:
    """Return the ratio of rendered to delivered steps in 50 chunks."""
    return _printed(_GENERATED)


def lines() -> float:
    """Return the lines of the modules in PLAYING, with empty lines, comments and docstrings."""
    return float(sum(len(source.splitlines()) for source in _sources()))


def classes() -> float:
    """Return the number of classes in these modules."""
    return float(
        sum(
            isinstance(node, ast.ClassDef)
            for source in _sources()
            for node in ast.walk(ast.parse(source))
        )
    )


def _sources() -> list[str]:
    folder = Path(__file__).resolve().parents[1] / "neurogym_core"
    return [(folder / f"{name}.py").read_text(encoding="utf-8") for name in PLAYING]


def _printed(code: str) -> float:
    """Run code and return the number that it prints.

    It runs twice: the first run writes the bytecode that an installation would have.
    """
    with_bytecode = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            capture_output=True,
            text=True,
            env=with_bytecode,
        )
    return float(done.stdout)
