"""Choose the best candidate of each family on some trials, and play it on others."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from neurogym_check.audit.play import Bank, complete_trials, play
from neurogym_check.audit.policies import Family, Several, families
from neurogym_core import Task
from neurogym_core.players import TaskView

ENVS = 2048
"""Envs in which candidates are compared."""
ROUNDS = 4
"""Most rounds of a search among candidates that are like the best one."""
KEPT = 6
"""One of so many candidates is kept in each round of the comparison."""
SESSIONS = 64
"""Envs that play each chosen policy: so many sessions, or parts of them."""


class _Budget(NamedTuple):
    """Trials of each env in a comparison and in a test, and most steps per trial."""

    compared: int
    tested: int
    steps: int

    @classmethod
    def of(cls, task: Task) -> _Budget:
        view = TaskView(task)
        steps = max(view.typical_steps, 1)
        most = 150 if view.stateful else 32
        tested = int(np.clip(5000 // steps, 8, most))
        return cls(int(np.clip(800 // steps, 4, tested)), tested, 2 * steps)


def played(
    task: Task, seed: int, progress: Callable[[str], None] = lambda name: None
) -> dict[str, np.ndarray]:
    """Return the performance (envs, trials) of the best policy of each family.

    Candidates are compared on trials of other seeds than those of the result, so that the best
    one is not better by luck.

    Args:
        task: the task.
        seed: seed of trials and random choices.
        progress: called with the name of each family.
    """
    bank, budget = Bank(task, seed), _Budget.of(task)
    chosen = []
    for family in families(task, bank, seed + 1):
        progress(family.name)
        chosen.append(family._replace(rows=_searched(task, bank, family, budget, seed + 2)))
    progress("test")
    parts = [
        family.policy(bank, np.repeat(family.rows, SESSIONS, axis=0), seed + k)
        for k, family in enumerate(chosen)
    ]
    earned = play(
        task, Several(parts), SESSIONS * len(parts), budget.tested,
        budget.tested * budget.steps, seed + 20,
    )  # fmt: skip
    return {
        family.name: complete_trials(one)
        for family, one in zip(chosen, np.split(earned, len(parts)), strict=True)
    }


def _best(task: Task, bank: Bank, family: Family, budget: _Budget, seed: int) -> np.ndarray:
    """Return the row (1, P) of the best candidate: each round leaves fewer, with more trials."""
    rows = family.rows
    sessions = ENVS // 2 if TaskView(task).stateful else ENVS
    while len(rows) > 1:
        copies = int(np.clip(sessions // len(rows), 1, SESSIONS))
        policy = family.policy(bank, np.repeat(rows, copies, axis=0), seed)
        trials = budget.compared
        earned = play(task, policy, len(policy.rows), trials, trials * budget.steps, seed)
        means = np.array([complete_trials(one).mean() for one in np.split(earned, len(rows))])
        best = np.argsort(-means, kind="stable")[: max(len(rows) // KEPT, 1)]
        rows, seed = rows[best], seed + 1
    return rows


def _searched(task: Task, bank: Bank, family: Family, budget: _Budget, seed: int) -> np.ndarray:
    """Return the best of all candidates of a family, and of those that are like it, and so on."""
    best = _best(task, bank, family, budget, seed)
    for k in range(ROUNDS if family.near is not None else 0):
        again = _best(task, bank, family._replace(rows=family.near(best)), budget, seed + 10 * k)
        if np.array_equal(again, best):
            break
        best = again
    return best


__all__ = ["played"]
