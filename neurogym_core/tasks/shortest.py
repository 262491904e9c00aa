"""Refuse a task with trials that may last 0 steps, when it is made."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core.tasks.building import build_trials
from neurogym_core.tasks.state import TaskLike, state_of
from neurogym_core.trials.arrays import Array
from neurogym_core.trials.batch import TrialBatch
from neurogym_core.trials.distributions import Constant, Distribution
from neurogym_core.trials.record import DURATION


def check_shortest(task: TaskLike, batch: TrialBatch, conditions: Mapping[str, Array]) -> None:
    """Build the trials of `batch` again without all periods that may be skipped.

    Raises:
        TrialLayoutError: a trial may last 0 steps.
    """
    # A draw of 0 ms for all of these periods may be too rare to occur in a few trials.
    skipped = {
        name: 0
        for name in batch.period_names
        if name in task.timing
        and DURATION + name not in state_of(task).imposed
        and _may_be_nothing(task.timing[name])
    }
    others = sum(steps for name, steps in batch.period_steps.items() if name not in skipped)
    if skipped and not np.all(others):
        build_trials(task, conditions, np.random.default_rng(0), len(batch), skipped)


def _may_be_nothing(duration: Distribution) -> bool:
    """Whether 0 ms may be drawn."""
    # Continuous distributions draw more than 0 ms, which is at least one step.
    support = duration.support()
    return not isinstance(duration, Constant) and support is not None and not np.all(support)
