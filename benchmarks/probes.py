"""What is not a rate: start-up time, memory, steps generated. Fresh processes, one value a
round.
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
next(ngym.Dataset(name, 2, 100, seed=1, **params))  # what is imported and cached once is nobody's batch
tracemalloc.start()
dataset = ngym.Dataset(name, 256, 100, seed=1, **params)
for _ in range(30):
    batch = next(dataset)
    arrays = sum(array.nbytes for array in (batch.inputs, batch.targets, batch.weights, batch.new_trial))
    del batch
print((tracemalloc.get_traced_memory()[1] - arrays) / 2**20)
"""

_GENERATED = """
import neurogym_core as ngym
from benchmarks.core_side import TASKS
from neurogym_core.play import dataset as module
rendered = 0
fill_function = module.fill_function
def counting():
    fill = fill_function()
    def counted(tables, steps, *args):
        global rendered
        rendered += int(steps.duration.sum())
        fill(tables, steps, *args)
    return counted
module.fill_function = counting
name, params = TASKS["dots"]
dataset = ngym.Dataset(name, 256, 100, seed=1, **params)
delivered = sum(next(dataset).inputs.shape[0] * 100 for _ in range(50))
print(rendered / delivered)
"""

PLAYING = (
    "tables",
    "types",
    "blocks",
    "kernel",
    "kernels",
    "dealer",
    "stepper",
    "render",
    "results",
    "replay",
)
"""The modules of `neurogym_core.play` that play tables."""


def start() -> float:
    """CPU time of the import and a first make, over that of importing Gymnasium; the interpreter's
    own not counted.
    """
    ours = "import neurogym_core; neurogym_core.make('PerceptualDecisionMaking-v0')"
    return _printed(_CLOCK.format(ours)) / _printed(_CLOCK.format("import gymnasium"))


def memory() -> float:
    """MiB at the peak of 30 batches of 256 x 100, beyond the arrays of the batch in hand."""
    return _printed(_MEMORY)


def generated() -> float:
    """Steps rendered over steps delivered, in 50 batches."""
    return _printed(_GENERATED)


def lines() -> float:
    """Lines of the modules in PLAYING, all of them: also empty ones, comments and docstrings."""
    return float(sum(len(source.splitlines()) for source in _sources()))


def classes() -> float:
    """Classes that these modules define."""
    return float(
        sum(
            isinstance(node, ast.ClassDef)
            for source in _sources()
            for node in ast.walk(ast.parse(source))
        )
    )


def _sources() -> list[str]:
    folder = Path(__file__).resolve().parents[1] / "neurogym_core" / "play"
    return [(folder / f"{name}.py").read_text(encoding="utf-8") for name in PLAYING]


def _printed(code: str) -> float:
    """What the code prints, run twice: the first time leaves compiled modules behind, as an
    installation does.
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
