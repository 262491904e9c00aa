"""Wrappers for neurogym-core, one file each, imported on first use.

`TaskWrapper`s (task in, task out) change which trials come or what is in them; wrappers of envs
(`Monitor`, `TTLPulse`) change what a step returns, and have a twin for vector envs in their
attribute `vector`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "AdaptiveNoise": "adaptive_noise",
    "Schedule": "schedule",
    "SideBias": "side_bias",
    "RandomAnswers": "random_answers",
    "VariableChoices": "variable_choices",
    "TrialHistory": "trial_history",
    "EvolvingHistory": "evolving_history",
    "CatchTrials": "catch_trials",
    "MissPenalty": "miss_penalty",
    "TimeOut": "time_out",
    "VariableMapping": "variable_mapping",
    "Mixture": "mixture",
    "Transfer": "transfer",
    "Curriculum": "curriculum",
    "Combine": "combine",
    "Monitor": "monitor",
    "TTLPulse": "ttl_pulse",
}

__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'neurogym_wrappers' has no attribute {name!r}")
    value = getattr(import_module(f"neurogym_wrappers.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
