"""The five wrappers of the core, one file each, imported on first use.

A `TaskWrapper` makes a task from a task, and changes the trials. A wrapper of envs changes the
results of `step`; its attribute `vector` is the wrapper for vector envs. All other wrappers are in
the package neurogym-wrappers."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from neurogym_core.ecosystem import companions

_HOMES = {
    "ReactionTime": "reaction_time",
    "Noise": "noise",
    "PassAction": "pass_action",
    "PassReward": "pass_reward",
    "RecordTrials": "record_trials",
}

__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    if name in companions.WRAPPERS:
        package = companions.WRAPPERS[name]
        # `from neurogym_core.wrappers import …` would replace the message of an AttributeError.
        raise ImportError(
            f"{companions.comes_with(name, package)}, then `from {package.replace('-', '_')} import"
            f" {name}`."
        )
    if name not in _HOMES:
        raise AttributeError(f"module 'neurogym_core.wrappers' has no attribute {name!r}")
    value = getattr(import_module(f"neurogym_core.wrappers.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
