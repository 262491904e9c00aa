"""The classic form: task files written for NeuroGym run after a change of imports.

::

    from neurogym_classic import TrialEnv, TrialWrapper, TruncExp, spaces

`PeriodEnv` describes how such a task is written, and its gains and limits. The page
docs/bring-your-task.md lists every import of NeuroGym's task files, and its replacement. Names are
imported on first use, since errors about unknown names import the plug-in of this package.
"""

from __future__ import annotations

import logging

from neurogym_core.tools import lazy_names

_HOMES = {
    "BaseEnv": "base_env",
    "InvalidOperationError": "base_env",
    "PeriodEnv": "period_env",
    "TrialEnv": "period_env",
    "TrialWrapper": "period_env",
    "TruncExp": "durations",
    "spaces": "spaces",
    "tasktools": "tasktools",
}

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

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
