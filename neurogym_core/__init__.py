"""Core of NeuroGym: the protocol of neuroscience tasks, their players, and their discovery.

Names are imported on first access, so that listing tasks stays fast.
"""

from __future__ import annotations

from neurogym_core.lazy import lazy_names

__version__ = "1.0.0"

_HOMES = {
    "make": "play.make",
    "make_vec": "play.make",
    "make_task": "play.make",
    "Dataset": "play.dataset",
    "TaskEnv": "play.env",
    "TaskVectorEnv": "play.vector_env",
    "run": "play.run",
    "Task": "tasks.task",
    "TaskWrapper": "tasks.wrapper",
    "Session": "tasks.session",
    "TrialBuilder": "trials.builder",
    "TrialBatch": "trials.batch",
    "TrialRecord": "trials.record",
    "Outcome": "trials.record",
    "STAY": "trials.layout",
    "END": "trials.layout",
    "Distribution": "trials.distributions",
    "Constant": "trials.distributions",
    "Uniform": "trials.distributions",
    "Choice": "trials.distributions",
    "TruncatedExponential": "trials.distributions",
    "parse": "trials.distributions",
    "Encoder": "trials.encoders",
    "Scalar": "trials.encoders",
    "OneHot": "trials.encoders",
    "Ring": "trials.encoders",
    "circular_distance": "trials.encoders",
    "PowerLaw": "trials.graded_rewards",
    "InverseSquare": "trials.graded_rewards",
    "Angle": "trials.interface",
    "Axis": "trials.interface",
    "hookimpl": "ecosystem.hooks",
    "NeurogymError": "errors",
}

__all__ = ["__version__", *_HOMES]


_named, __dir__ = lazy_names(__name__, _HOMES)


def __getattr__(name: str) -> object:
    try:
        return _named(name)
    except AttributeError as error:
        from neurogym_core.tasks.old_names import OF_MODULE  # imported for this error only

        if name not in OF_MODULE:
            raise
        raise AttributeError(f"{error}. NeuroGym's {name!r} is here: {OF_MODULE[name]}.") from None
