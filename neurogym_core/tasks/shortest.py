"""Refuse a task whose trials cannot be built for some durations, when it is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from neurogym_core.tasks.building import build_trials, layout_of
from neurogym_core.tasks.state import TaskLike, state_of
from neurogym_core.trials.arrays import Array
from neurogym_core.trials.batch import TrialBatch
from neurogym_core.trials.distributions import Constant, Distribution
from neurogym_core.trials.lay_out import lay_out
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


def check_bounds(task: TaskLike, conditions: Mapping[str, Array], n: int) -> None:
    """Build trials with all drawn durations at their shortest, and at their longest.

    Where trials depend on outcomes, they are built one at a time: a layout that does not fit to a
    rare duration would otherwise be found in the middle of a session.

    Raises:
        TrialLayoutError: a verb does not fit to these durations.
    """
    state = state_of(task)
    drawn = {
        name: one
        for name, one in state.timing.declared.items()
        if not isinstance(one, Constant) and DURATION + name not in state.imposed
    }
    for end in (0, 1):
        bounds = {name: float(one.bounds[end]) for name, one in drawn.items()}
        fixed = {name: Constant(ms) for name, ms in bounds.items() if ms < np.inf}
        if not fixed:
            continue
        timing = replace(state.timing, declared={**state.timing.declared, **fixed})
        layout = layout_of(task, conditions, np.random.default_rng(0), n, {}, timing)
        if sum(steps.min() for steps in layout.timeline.steps.values()):
            lay_out(layout)


def _may_be_nothing(duration: Distribution) -> bool:
    """Whether 0 ms may be drawn."""
    # Continuous distributions draw more than 0 ms, which is at least one step.
    support = duration.support()
    return not isinstance(duration, Constant) and support is not None and not np.all(support)
