"""The state of the interpreter that all code shares, for comparing it before and after an import.

Importing a task must not change it: the change would reach every other task and every program that
lists or imports tasks."""

from __future__ import annotations

import atexit
import builtins
import contextlib
import gc
import locale
import logging
import math
import multiprocessing
import os
import random
import signal
import socket
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium
import numpy as np
import pluggy

from neurogym_check.trajectories import fingerprint

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

MODULES: tuple[ModuleType, ...] = (
    builtins, gymnasium, gymnasium.spaces, math, np, np.linalg, np.random, os, pluggy, random, time,
)  # fmt: skip
_OF_PYTHON = frozenset(
    # Python itself sets these on a class when they are first asked for.
    ["__abstractmethods__", "__annotate_func__", "__annotations__", "__annotations_cache__"]
)


def global_state() -> dict[str, Any]:
    """Return {effect: state}; a changed state means that the import had the effect."""
    return {
        "changed the state of Python's global random numbers": random.getstate(),
        "changed the state of NumPy's global random numbers": fingerprint(
            np.random.get_state(legacy=False)["state"]  # noqa: NPY002
        ),
        "started a thread": threading.active_count(),
        "changed the working directory": os.getcwd(),
        "changed sys.path": list(sys.path),
        "changed how Python finds modules": (list(sys.meta_path), list(sys.path_hooks)),
        "replaced sys.stdin, sys.stdout or sys.stderr": (
            id(sys.stdin), id(sys.stdout), id(sys.stderr)
        ),
        "changed the filters of warnings": (
            [tuple(map(str, row)) for row in warnings.filters], id(warnings.showwarning)
        ),
        "changed NumPy's handling of floating-point errors": np.geterr(),
        "changed how NumPy prints arrays": repr(np.get_printoptions()),
        "changed the handler of a signal": {
            number: id(signal.getsignal(number)) for number in signal.valid_signals()
        },
        "changed the locale": locale.setlocale(locale.LC_ALL),
        "changed the time zone": time.tzname,
        "changed the recursion limit": sys.getrecursionlimit(),
        "changed the switch interval of threads": sys.getswitchinterval(),
        "changed a resource limit of the process": dict(_limits()),
        "changed the priority of the process": _priority(),
        "changed the umask": _umask(),
        "replaced a hook of sys or threading": (
            id(sys.excepthook), id(sys.displayhook), id(sys.unraisablehook), id(sys.gettrace()),
            id(sys.getprofile()), id(threading.excepthook),
        ),
        "registered a function with atexit": atexit._ncallbacks(),
        "changed the garbage collector": (gc.isenabled(), gc.get_threshold(), len(gc.callbacks)),
        "changed the start method of multiprocessing": multiprocessing.get_start_method(
            allow_none=True
        ),
        "changed the root logger": (logging.root.level, len(logging.root.handlers)),
        "changed the default time-out of sockets": socket.getdefaulttimeout(),
    }  # fmt: skip


class NamedObjects:
    """The objects behind the names of `MODULES`, of their classes, and of the core's modules."""

    def __init__(self) -> None:
        self.loaded = dict(sys.modules)
        self.names = dict(_names())

    def changed(self) -> list[str]:
        """Return the names that now lead to another object, and the new names of builtins."""
        now = dict(_names())
        # Modules that were imported since then add names, so that only builtins may not grow.
        added = [name for name in now if name not in self.names and name.startswith("builtins.")]
        swapped = [
            f"sys.modules[{name!r}]"
            for name, module in self.loaded.items()
            if name != "__main__" and sys.modules.get(name, module) is not module
        ]
        replaced = [name for name, found in self.names.items() if now.get(name) is not found]
        return sorted([*replaced, *added, *swapped])


def peak_memory() -> int:
    """Return the peak memory of this process in bytes; 0 on systems that do not report it."""
    # On Linux, `getrusage` of a new process begins with the peak of the process that started it,
    # so that a large parent would hide its child's peak.
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text("ascii", "replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    if resource is None:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak if sys.platform == "darwin" else peak * 1024)


def _names() -> Iterator[tuple[str, Any]]:
    for module in MODULES:
        for name, value in vars(module).copy().items():
            if name != "_":  # Python's interactive result
                yield f"{module.__name__}.{name}", value
            if isinstance(value, type) and value.__module__.startswith(("gymnasium", "pluggy")):
                yield from _of_class(value)
    for name, module in sys.modules.copy().items():
        if name.partition(".")[0] == "neurogym_core":
            for key, value in vars(module).copy().items():
                if callable(value):
                    yield f"{name}.{key}", value
                if isinstance(value, type) and value.__module__ == name:
                    yield from _of_class(value)


def _of_class(found: type) -> Iterator[tuple[str, Any]]:
    for name, value in vars(found).copy().items():
        if callable(value) and name not in _OF_PYTHON:
            yield f"{found.__module__}.{found.__qualname__}.{name}", value


def _limits() -> Iterator[tuple[str, Any]]:
    for name in dir(resource) if resource is not None else ():
        if name.startswith("RLIMIT_"):
            with contextlib.suppress(OSError, ValueError):
                yield name, resource.getrlimit(getattr(resource, name))


def _priority() -> int:
    return os.getpriority(os.PRIO_PROCESS, 0) if hasattr(os, "getpriority") else 0


def _umask() -> int:
    mask = os.umask(0)  # the only way to read it
    os.umask(mask)
    return mask
