"""Draw the trials of three subjects with two courses of events, of which one subject sees the same.

The last subject gets the same results in both courses, and the others get different ones. In the
first course, all subjects draw every trial together. In the second, the last one draws most trials
alone, as when its trials end at other times. Its conditions must not change."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from neurogym_check.stable_generator import StableGenerator
from neurogym_core import Outcome, Task
from neurogym_core.players import TaskView

SUBJECTS, TRIALS = 3, 40
LAST = SUBJECTS - 1


class SameForAll(StableGenerator):
    """Random numbers that do not depend on the number of rows, nor on how many were drawn before.

    Tasks draw the numbers of all subjects from one generator, so that numbers of one subject depend
    on those of the others. With this generator, all rows get the same number."""

    CALLS = 512
    """Calls after which other numbers follow, so that loops until a certain number comes end."""

    def _unit(self, n: int) -> np.ndarray:
        return np.full(n, self._numbers(1)[0])

    def _shaped(self, size: Any, *like: Any) -> np.ndarray:
        shape = np.broadcast_shapes(*(np.shape(one) for one in like)) if size is None else size
        shape = (int(shape),) if isinstance(shape, int | np.integer) else tuple(shape)
        return np.broadcast_to(self._numbers(math.prod(shape[1:])).reshape(shape[1:]), shape).copy()

    def _numbers(self, n: int) -> np.ndarray:
        calls = int(self._at) + 1
        self._at = np.uint64(calls // self.CALLS * self.CALLS)
        numbers = super()._unit(n)
        self._at = np.uint64(calls)
        return numbers


def first_difference(task: Task) -> tuple[int, str, Any, Any] | None:
    """Return trial, condition and its two values where the last subject's trials first differ."""
    together, apart = _course(task, apart=False), _course(task, apart=True)
    for trial, (one, other) in enumerate(zip(together, apart, strict=True)):
        for name, value in one.items():
            if not np.array_equal(value, other[name]):
                return trial, name, value, other[name]
    return None


def _course(task: Task, apart: bool) -> Iterator[dict[str, Any]]:
    """Yield the conditions of each trial of the last subject."""
    session = TaskView(task).fresh_session(SameForAll(0), SUBJECTS)  # type: ignore[arg-type]
    for trial in range(min(TRIALS, task.trials_per_session or TRIALS)):
        groups = [[0, 1], [LAST]] if apart and trial % 3 else [[*range(SUBJECTS)]]
        for rows in map(np.array, groups):
            part = session.take(rows)
            rng: Any = SameForAll(trial + 1)
            drawn, columns = TaskView(task).draw_next(part, rng)
            part.trial += 1
            session.put(rows, part)
            if task.reads_outcomes:
                session.remember(rows, {**drawn, **_results(task, trial, rows, apart)})
        # Apart from conditions of the same name.
        named = {**drawn, **{f"session.record({name})": one for name, one in columns.items()}}
        yield {name: np.asarray(values)[-1].copy() for name, values in named.items()}


def _results(task: Task, trial: int, rows: np.ndarray, apart: bool) -> dict[str, np.ndarray]:
    """Return invented results: about 3/4 of the trials are correct, or 1/4 of the others' apart."""
    choices = max(task.actions.size - (1 if task.actions.rest == 0 else 0), 1)
    turned = apart & (rows != LAST)
    right = ((trial * 7 + rows * 3) % 11 < 8) ^ turned
    outcome = np.where(right, Outcome.CORRECT, Outcome.ERROR).astype(np.int8)
    return {
        "choice": (trial // (rows + 1) + turned) % choices,
        "outcome": outcome,
        "reward": right.astype(float),
        "performance": right.astype(float),
    }
