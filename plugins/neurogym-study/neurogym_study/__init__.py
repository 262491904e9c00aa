"""Train networks and agents on tasks, analyse how they behave, and put that beside real subjects.

``ngym train``, ``ngym evaluate`` and ``ngym compare`` are made of what is here.

Trainers come from other packages, found through the entry-point group ``neurogym.trainers``;
nothing here imports torch."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "Behaviour": "behaviour",
    "Experiment": "experiment",
    "Reference": "references",
    "Roles": "behaviour",
    "Run": "runs",
    "Trainer": "training",
    "Watch": "training",
    "analyse": "analyses",
    "compare_with": "comparison",
    "play_run": "playing",
    "play_task": "playing",
    "published": "references",
    "read_trials": "references",
    "trainer_named": "trainers",
    "write_report": "report",
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
