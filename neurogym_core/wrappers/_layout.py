"""What wrappers that change a trial's layout look at when they are applied."""

from __future__ import annotations

import numpy as np

from neurogym_core.tasks.task import Task
from neurogym_core.trials.trial import Slot, Trial


def laid_out(task: Task, n: int = 20) -> list[Trial]:
    """What a few trials of a task were told."""
    rng = np.random.default_rng(0)
    batch = task.lay_out(task.draw_sessionless(rng, n, {}), rng, n)
    return [source._trial for source in batch.sources]  # type: ignore[attr-defined]


def asked(slot: Slot) -> np.ndarray:
    """(n,) in which trials a slot is asked."""
    return np.ones(len(slot.miss), bool) if slot.span.where is None else slot.span.where
