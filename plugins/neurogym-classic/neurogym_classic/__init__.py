"""The classic form: task files written for NeuroGym run when their imports name this package.

::

    from neurogym_classic import TrialEnv, TrialWrapper, TruncExp, spaces

`PeriodEnv` says how such a task is written, what it gains and what it lacks; the page
docs/bring-your-task.md lists every import of NeuroGym's task files and what replaces it.
"""

from __future__ import annotations

import logging

from neurogym_classic import spaces, tasktools
from neurogym_classic.base_env import BaseEnv, InvalidOperationError
from neurogym_classic.durations import TruncExp
from neurogym_classic.period_env import PeriodEnv, TrialWrapper

TrialEnv = PeriodEnv
"""The name that most NeuroGym files use."""

logger = logging.getLogger("neurogym_classic")
"""Python's own logger, for what NeuroGym's files write to theirs."""

__all__ = [
    "BaseEnv",
    "InvalidOperationError",
    "PeriodEnv",
    "TrialEnv",
    "TrialWrapper",
    "TruncExp",
    "logger",
    "spaces",
    "tasktools",
]
