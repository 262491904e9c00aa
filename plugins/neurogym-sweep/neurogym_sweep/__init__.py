"""Sweeps: many runs of one experiment with varied settings, on one machine or on a cluster.

The command ``ngym sweep`` is built from these names, which are imported on first use.
"""

from __future__ import annotations

from neurogym_core.tools import lazy_names

_HOMES = {
    "SweepAxis": "plan",
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

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
