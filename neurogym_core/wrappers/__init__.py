"""The five wrappers of the core, one file each, imported on first use.

A `TaskWrapper` makes a task from a task, and changes the trials. A wrapper of envs changes the
results of `step`; its attribute `vector` is the wrapper for vector envs. All other wrappers are in
the package neurogym-wrappers."""

from __future__ import annotations

from typing import Any

from neurogym_core.ecosystem import companions
from neurogym_core.lazy import lazy_names

_HOMES = {
    "ReactionTime": "reaction_time",
    "Noise": "noise",
    "PassAction": "pass_action",
    "PassReward": "pass_reward",
    "RecordTrials": "record_trials",
}

__all__ = [*_HOMES]

_own, __dir__ = lazy_names(__name__, _HOMES)


def __getattr__(name: str) -> Any:
    if name in companions.WRAPPERS:
        package = companions.WRAPPERS[name]
        # `from neurogym_core.wrappers import …` would replace the message of an AttributeError.
        raise ImportError(
            f"{companions.comes_with(name, package)}, then `from {package.replace('-', '_')} import"
            f" {name}`."
        )
    return _own(name)
