"""A package that reads dealt tables: the trials of a stream without playing them."""

from __future__ import annotations

import numpy as np

from neurogym_core import Task
from neurogym_core.players import Dealer, TaskView


def planned(task: Task, n: int, seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return conditions, name -> (n,), and steps of the periods, (n, P), of a stream's trials."""
    dealer = Dealer(task, 1, seed)
    conditions: list[dict[str, np.ndarray]] = []
    steps: list[np.ndarray] = []
    block = None
    while sum(map(len, steps)) < n:
        block = dealer.block() if block is None else dealer.following(block)
        tables = block.tables
        of_period = tables.period == np.arange(len(TaskView(task).period_names))[:, None]
        steps.append((tables.duration[block.kind] @ of_period.T).astype(int))
        conditions.append({name: np.asarray(one) for name, one in block.conditions.items()})
    table = np.concatenate(steps)[:n]
    assert table.sum(axis=1).max() <= TaskView(task).max_steps
    names = conditions[0]
    return {name: np.concatenate([one[name] for one in conditions])[:n] for name in names}, table
