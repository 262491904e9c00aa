"""Core of NeuroGym: the protocol of neuroscience tasks, their players, and their discovery.

Names are imported on first access, so that listing tasks stays fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "1.0.0"

_HOMES = {
    "make": "neurogym_core.play.make",
    "make_vec": "neurogym_core.play.make",
    "make_task": "neurogym_core.play.make",
    "Dataset": "neurogym_core.play.dataset",
    "TaskEnv": "neurogym_core.play.env",
    "TaskVectorEnv": "neurogym_core.play.vector_env",
    "run": "neurogym_core.play.run",
    "load": "neurogym_core.play.experiment",
    "Experiment": "neurogym_core.play.experiment",
    "Task": "neurogym_core.tasks.task",
    "TaskWrapper": "neurogym_core.tasks.wrapper",
    "Session": "neurogym_core.tasks.session",
    "TrialBuilder": "neurogym_core.trials.builder",
    "TrialBatch": "neurogym_core.trials.batch",
    "TrialRecord": "neurogym_core.trials.record",
    "Outcome": "neurogym_core.trials.record",
    "STAY": "neurogym_core.trials.layout",
    "END": "neurogym_core.trials.layout",
    "Distribution": "neurogym_core.trials.distributions",
    "Constant": "neurogym_core.trials.distributions",
    "Uniform": "neurogym_core.trials.distributions",
    "Choice": "neurogym_core.trials.distributions",
    "TruncatedExponential": "neurogym_core.trials.distributions",
    "parse": "neurogym_core.trials.distributions",
    "Encoder": "neurogym_core.trials.encoders",
    "Scalar": "neurogym_core.trials.encoders",
    "OneHot": "neurogym_core.trials.encoders",
    "Ring": "neurogym_core.trials.encoders",
    "circular_distance": "neurogym_core.trials.encoders",
    "PowerLaw": "neurogym_core.trials.graded_rewards",
    "InverseSquare": "neurogym_core.trials.graded_rewards",
    "Angle": "neurogym_core.trials.interface",
    "Axis": "neurogym_core.trials.interface",
    "hookimpl": "neurogym_core.ecosystem.hooks",
    "NeurogymError": "neurogym_core.errors",
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        from neurogym_core.tasks.old_names import OF_MODULE  # imported for this error only

        use = f" NeuroGym's {name!r} is here: {OF_MODULE[name]}." if name in OF_MODULE else ""
        raise AttributeError(f"module 'neurogym_core' has no attribute {name!r}.{use}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
