"""The noise generator of the core in a bare loop: an upper bound for tasks with noise."""

from __future__ import annotations

import ctypes
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from neurogym_core.trials import noise

_WRAPPER = """
#include "_noise.h"
void rows(const float *table, uint64_t key, size_t n, const uint64_t *serial, const uint32_t *step,
          int first, int stop, float *out)
{
    noise_rows(table, key, n, serial, step, first, stop, out);
}
"""


def noise_filler(n: int, units: slice) -> Callable[[], Any]:
    """Return a function that makes the noise of n steps for some units.

    It calls compiled code, or NumPy's if there is no compiler.
    """
    serial, step = np.arange(n, dtype=np.uint64) // 20, np.arange(n, dtype=np.uint32) % 20
    compiled = _compiled()
    if compiled is None:
        return lambda: noise.gaussian(1, serial, step, units)
    table, out = noise.table(), np.empty((n, units.stop - units.start), np.float32)
    arrays = [array.ctypes.data for array in (table, serial, step, out)]

    # The default argument keeps the arrays alive whose addresses are passed.
    def fill(kept: Any = (table, serial, step, out)) -> None:
        compiled(arrays[0], 1, n, arrays[1], arrays[2], units.start, units.stop, arrays[3])

    return fill


@cache
def _compiled() -> Any:
    """Compile and return `noise_rows` of the core's header, or None if there is no compiler."""
    command = (
        shlex.split(os.environ.get("CC", ""))
        or [name for name in ("cc", "gcc", "clang") if shutil.which(name)][:1]
    )
    if not command:
        return None
    header = Path(noise.__file__).parents[1] / "play" / "_noise.h"
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "rows.c", Path(folder) / "rows.so"
        source.write_text(_WRAPPER)
        options = [
            "-O3",
            "-ffp-contract=off",
            "-fPIC",
            "-shared",
            f"-I{header.parent}",
            "-o",
            str(library),
        ]
        subprocess.run([*command, *options, str(source)], check=True)
        found = ctypes.CDLL(str(library)).rows
    address, whole = ctypes.c_void_p, ctypes.c_int
    found.argtypes = [
        address,
        ctypes.c_uint64,
        ctypes.c_size_t,
        address,
        address,
        whole,
        whole,
        address,
    ]
    found.restype = None
    return found
