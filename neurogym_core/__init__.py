"""Core of NeuroGym: the protocol of neuroscience tasks, their players, and their discovery.

Names are imported on first access, so that listing tasks stays fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurogym_core.lazy import lazy_names

if TYPE_CHECKING:  # the names of `_HOMES`, for type checkers and editors
    from neurogym_core.ecosystem.hooks import hookimpl as hookimpl
    from neurogym_core.errors import NeurogymError as NeurogymError
    from neurogym_core.play.dataset import Dataset as Dataset
    from neurogym_core.play.env import TaskEnv as TaskEnv
    from neurogym_core.play.make import make as make
    from neurogym_core.play.make import make_task as make_task
    from neurogym_core.play.make import make_vec as make_vec
    from neurogym_core.play.run import run as run
    from neurogym_core.play.vector_env import TaskVectorEnv as TaskVectorEnv
    from neurogym_core.tasks.session import Session as Session
    from neurogym_core.tasks.task import Task as Task
    from neurogym_core.tasks.wrapper import TaskWrapper as TaskWrapper
    from neurogym_core.trials.batch import TrialBatch as TrialBatch
    from neurogym_core.trials.builder import TrialBuilder as TrialBuilder
    from neurogym_core.trials.distributions import Choice as Choice
    from neurogym_core.trials.distributions import Constant as Constant
    from neurogym_core.trials.distributions import Distribution as Distribution
    from neurogym_core.trials.distributions import TruncatedExponential as TruncatedExponential
    from neurogym_core.trials.distributions import Uniform as Uniform
    from neurogym_core.trials.distributions import parse as parse
    from neurogym_core.trials.encoders import Encoder as Encoder
    from neurogym_core.trials.encoders import OneHot as OneHot
    from neurogym_core.trials.encoders import Ring as Ring
    from neurogym_core.trials.encoders import Scalar as Scalar
    from neurogym_core.trials.encoders import circular_distance as circular_distance
    from neurogym_core.trials.graded_rewards import InverseSquare as InverseSquare
    from neurogym_core.trials.graded_rewards import PowerLaw as PowerLaw
    from neurogym_core.trials.interface import Angle as Angle
    from neurogym_core.trials.interface import Axis as Axis
    from neurogym_core.trials.layout import END as END
    from neurogym_core.trials.layout import STAY as STAY
    from neurogym_core.trials.record import Outcome as Outcome
    from neurogym_core.trials.record import TrialRecord as TrialRecord

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
        if name.startswith("_"):
            raise
        from neurogym_core.tasks.former_names import former_name  # imported for this error only

        if not (said := former_name("module", name)):
            raise
        raise AttributeError(f"{error}.{said}") from None
