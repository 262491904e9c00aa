"""The classic form: task files written for NeuroGym run when their imports say this instead.

::

    from neurogym_core.classic import TrialEnv, TrialWrapper, TruncExp, spaces

See `PeriodEnv` for what such a task is, what it gains and what it cannot have, and
docs/bring-your-task.md."""

from __future__ import annotations

from neurogym_core.tasks import named_spaces as spaces
from neurogym_core.tasks.period_env import PeriodEnv, TrialWrapper
from neurogym_core.tasks.timing_specs import TruncExp

TrialEnv = PeriodEnv
"""The name that most NeuroGym files use."""

__all__ = ["PeriodEnv", "TrialEnv", "TrialWrapper", "TruncExp", "spaces"]
