"""Sweeps: many runs of one experiment with varied settings, on one machine or on a cluster.

The command ``ngym sweep`` is built from these names, which are imported on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "Axis": "plan",
    "Draw": "plan",
    "Engine": "engines",
    "Function": "functions",
    "Job": "store",
    "Plan": "plan",
    "Play": "plays",
    "Found": "search",
    "Search": "search",
    "Store": "store",
    "Summary": "sweep",
    "Sweep": "sweep",
    "Training": "training",
    "Work": "base",
    "read_axis": "plan",
    "read_rows": "plan",
    "work_named": "works",
}

__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'neurogym_sweep' has no attribute {name!r}")
    value = getattr(import_module(f"neurogym_sweep.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
