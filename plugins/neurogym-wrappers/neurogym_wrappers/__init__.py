"""Wrappers for neurogym-core, one file each, imported on first use.

A `TaskWrapper` takes a task and gives a task: it changes the coming trials or their contents.
Wrappers of envs (`Monitor`, `TTLPulse`) change the results of a step; their form for vector envs is
in their attribute `vector`."""

from __future__ import annotations

from neurogym_core.tools import lazy_names

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

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
