"""Train networks and agents on tasks: what all trainers share, the folder of a run, and ``ngym train``.

Trainers come from other packages, found through the entry-point group ``neurogym.trainers``; nothing here imports
torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "Experiment": "experiment",
    "Run": "runs",
    "Trainer": "training",
    "Watch": "training",
    "trainer_named": "trainers",
}

__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'neurogym_study' has no attribute {name!r}")
    value = getattr(import_module(f"neurogym_study.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
