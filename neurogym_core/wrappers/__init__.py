"""The five wrappers of the core, one file each, imported on first use.

`TaskWrapper`s (task in, task out) change which trials come or what is in them; wrappers of envs
change what a step returns, and have a twin for vector envs in their attribute `vector`. All other
wrappers are in the package neurogym-wrappers."""

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
        # Not an AttributeError: `from neurogym_core.wrappers import …` would replace its message.
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
