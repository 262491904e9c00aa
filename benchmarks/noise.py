"""Upper bounds in C: the noise of the core in a bare loop, and the least work of a step."""

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

import neurogym_core
from neurogym_core.players import noise_table


def noise_filler(n: int, units: slice) -> Callable[[], Any]:
    """Return a function that makes the noise of n steps for some units.

    Raises:
        LookupError: there is no compiler.
    """
    serial, step = np.arange(n, dtype=np.uint64) // 20, np.arange(n, dtype=np.uint32) % 20
    compiled = _compiled()
    table, out = noise_table(), np.empty((n, units.stop - units.start), np.float32)
    arrays = [array.ctypes.data for array in (table, serial, step, out)]

    # The default argument keeps the arrays alive whose addresses are passed.
    def fill(kept: Any = (table, serial, step, out)) -> None:
        compiled(arrays[0], 1, n, arrays[1], arrays[2], units.start, units.stop, arrays[3])

    return fill


def least_work(n: int, steps: int) -> Callable[[], Any]:
    """Return a function that plays steps of n envs in C, with the least work (`least.c`).

    Raises:
        LookupError: there is no compiler.
    """
    library = _library()
    play, table = library.play_least, noise_table()
    play.argtypes, play.restype = [ctypes.c_void_p, ctypes.c_int, ctypes.c_long], ctypes.c_double
    return lambda: play(table.ctypes.data, n, steps)


def _compiled() -> Any:
    """Return `noise_rows` of the core's header."""
    library = _library()
    address, whole, big = ctypes.c_void_p, ctypes.c_int, ctypes.c_uint64
    rows = library.rows
    rows.argtypes = [address, big, ctypes.c_size_t, address, address, whole, whole, address]
    rows.restype = None
    return rows


@cache
def _library() -> Any:
    """Compile and return `least.c`.

    Raises:
        LookupError: there is no compiler.
    """
    command = (
        shlex.split(os.environ.get("CC", ""))
        or [name for name in ("cc", "gcc", "clang") if shutil.which(name)][:1]
    )
    if not command:
        raise LookupError("there is no C compiler")
    header = Path(neurogym_core.__file__).parent / "play" / "_noise.h"
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "least.so"
        options = ["-O3", "-ffp-contract=off", "-fPIC", "-shared", f"-I{header.parent}"]
        source = str(Path(__file__).with_name("least.c"))
        subprocess.run([*command, *options, source, "-o", str(library)], check=True)
        return ctypes.CDLL(str(library))
