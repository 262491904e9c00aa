"""Wrappers for neurogym-core, one file each, imported on first use.

A `TaskWrapper` takes a task and gives a task: it changes the coming trials or their contents.
Wrappers of envs (`Monitor`, `TTLPulse`) change the results of a step; their form for vector envs is
in their attribute `vector`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "AdaptiveNoise": "adaptive_noise",
    "AnswerProbabilities": "answer_probabilities",
    "CatchTrials": "catch_trials",
    "Combine": "combine",
    "Curriculum": "curriculum",
    "EvolvingHistory": "evolving_history",
    "MissPenalty": "miss_penalty",
    "Mixture": "mixture",
    "Monitor": "monitor",
    "Schedule": "schedule",
    "SideBias": "side_bias",
    "TTLPulse": "ttl_pulse",
    "TimeOut": "time_out",
    "Transfer": "transfer",
    "TrialHistory": "trial_history",
    "VariableChoices": "variable_choices",
    "VariableMapping": "variable_mapping",
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
