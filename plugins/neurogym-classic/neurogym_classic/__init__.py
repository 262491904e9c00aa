"""The classic form: task files written for NeuroGym run after a change of imports.

::

    from neurogym_classic import TrialEnv, TrialWrapper, TruncExp, spaces

`PeriodEnv` describes how such a task is written, and its gains and limits. The page
docs/bring-your-task.md lists every import of NeuroGym's task files, and its replacement.
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
"""Logger of Python, for the messages that NeuroGym's files log."""

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
