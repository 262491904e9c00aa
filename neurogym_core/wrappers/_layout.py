"""What wrappers that change a trial's layout look at when they are applied."""

from __future__ import annotations

import numpy as np

from neurogym_core.tasks.drawing import draw_sessionless
from neurogym_core.tasks.laying_out import lay_out
from neurogym_core.tasks.task import Task
from neurogym_core.trials.layout import Layout, Slot


def laid_out(task: Task, n: int = 20) -> list[Layout]:
    """What `new_trial` of a task says of a few trials."""
    rng = np.random.default_rng(0)
    batch = lay_out(task, draw_sessionless(task, rng, n, {}), rng, n)
    return [source.layout for source in batch.sources]


def asked(slot: Slot) -> np.ndarray:
    """(n,) in which trials a slot is asked."""
    return np.ones(len(slot.miss), bool) if slot.span.where is None else slot.span.where
