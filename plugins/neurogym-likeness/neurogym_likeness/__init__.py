"""Subjects with parameters and their fits, signatures, comparisons, and scores beside animals.

Names are imported on first use."""

from __future__ import annotations

from neurogym_core.tools import lazy_names

_HOMES = {
    "DiffusionObserver": "learners",
    "Hybrid": "learners",
    "Integrator": "learners",
    "QLearner": "learners",
    "WinStayLoseShift": "learners",
    "compare_with": "comparison",
}

__all__ = [*_HOMES]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
