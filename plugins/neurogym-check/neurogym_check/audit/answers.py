"""Score every answer that can be given to each of some trials, slot by slot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from neurogym_core import Outcome, Task, TrialBatch
from neurogym_core.players import TaskView, TrialsOnce

MOMENTS = 16
"""Moments of an answer that are tried, where the moment counts."""
VALUES = 16
"""Continuous answers that are tried: targets of other trials."""
LIMIT = 3000
"""Steps after which a play is stopped."""


@dataclass(frozen=True, eq=False)
class Answers:
    """The performance of all answers, and how the slots make up that of a trial.

    Attributes:
        scores: (K,) arrays (n, answers); the first answer of each slot is no answer, unless the
            task has no action of resting.
        asked: (n, K) whether the trial has the slot.
        needs: (K,) index of the slot that must be correct first, or -1.
        first, last: (K,) index of the first and last segment of each window.
        timed: whether answers differ in their moments.
    """

    scores: tuple[np.ndarray, ...]
    asked: np.ndarray
    needs: tuple[int, ...]
    first: tuple[int, ...]
    last: tuple[int, ...]
    timed: bool

    def performance(self, choices: list[np.ndarray], rows: np.ndarray) -> np.ndarray:
        """Return (m,) the performance of the chosen answers, one array (m,) per slot."""
        earned = np.zeros((len(rows), len(self.scores)))
        for k, (scores, chosen) in enumerate(zip(self.scores, choices, strict=True)):
            earned[:, k] = scores[rows, chosen]
            if self.needs[k] >= 0:
                earned[:, k] *= earned[:, self.needs[k]] >= 1
        asked = self.asked[rows]
        return np.clip((earned * asked).sum(axis=1) / np.maximum(asked.sum(axis=1), 1), 0, 1)


def answers_of(task: Task, batch: TrialBatch, seed: int) -> Answers:
    """Return the scores of all answers to these trials: from their tables, or by playing."""
    path = batch.first_round
    slots = len(batch.tables.slots.names)
    window = batch.table("window") & (path > 0)[:, :, None]
    asked = batch.table("asked") & window.any(axis=1)
    first_of_trial = window.argmax(axis=1)
    timed = bool(np.isfinite(batch.table("due")).any())
    actions = task.actions
    if timed:
        scores = [_timed(task, batch, k, first_of_trial[:, k]) for k in range(slots)]
    elif TaskView(task).hooks or actions.continuous:
        scores = _played(task, batch, seed)
    else:
        scores = [_tabled(task, batch, k, first_of_trial[:, k]) for k in range(slots)]
    segments = [np.flatnonzero(window[:, :, k].any(axis=0)) for k in range(slots)]
    return Answers(
        scores=tuple(scores),
        asked=asked,
        needs=tuple(batch.tables.slots.needs),
        first=tuple(int(found[0]) if len(found) else 0 for found in segments),
        last=tuple(int(found[-1]) if len(found) else 0 for found in segments),
        timed=timed,
    )


def _tabled(task: Task, batch: TrialBatch, k: int, segment: np.ndarray) -> np.ndarray:
    """Return (n, answers) the scores of all actions on the first step of a window.

    If the right action changes within the window, as where one of several stimuli has to be
    answered, later actions are separate answers.
    """
    scores = _at(task, batch, k, segment)
    window = batch.table("window")[:, :, k] & (batch.duration > 0)
    later = []
    for place in np.flatnonzero(window.any(axis=0)):
        there = np.where(window[:, [place]], _at(task, batch, k, np.full(len(batch), place)), 0)
        if not np.array_equal(there[window[:, place]], scores[window[:, place]]):
            later.append(there[:, 1:] if task.actions.rest == 0 else there)
    return np.concatenate([scores, *later], axis=1)


def _at(task: Task, batch: TrialBatch, k: int, segment: np.ndarray) -> np.ndarray:
    """Return (n, actions) the scores of all actions in one segment (n,) of each trial."""
    rows = np.arange(len(batch))
    answers = batch.table("slot")[rows, segment] == k
    scores = batch.table("score")[rows, segment]
    rewarded = np.isfinite(batch.table("best")) & (batch.table("best") > 0)
    if rewarded.any():
        share = (
            batch.table("reward")[rows, segment]
            / np.where(rewarded, batch.table("best"), 1)[:, None]
        )
        scores = np.where(rewarded[:, None], share, scores)
    scores = np.where(answers, scores, 0.0)
    rest = task.actions.rest
    if rest is not None:
        missed = (batch.table("miss_outcome")[:, k] == Outcome.CORRECT).astype(float)
        scores[:, rest] = np.where(answers[:, rest], scores[:, rest], missed)
    return np.clip(scores, 0, 1)


def _timed(task: Task, batch: TrialBatch, k: int, segment: np.ndarray) -> np.ndarray:
    """Return (n, 1 + moments x actions) the scores of no answer, and of answers at moments."""
    due, tolerance = batch.table("due")[:, k], batch.table("tolerance")[:, k]
    known = due[np.isfinite(due)]
    moments = (
        np.unique(np.round(np.quantile(known, np.linspace(0, 1, MOMENTS)) / task.dt)) * task.dt
    )
    hits = np.abs(moments - due[:, None]) <= tolerance[:, None] + 1e-9
    if task.actions.continuous:
        right = np.ones((len(batch), 1))
    else:
        right = _at(task, batch, k, segment)[:, batch.tables.slots.units[k]]
    resting = (batch.table("miss_outcome")[:, k] == Outcome.CORRECT).astype(float)
    timed = (hits[:, :, None] * right[:, None]).reshape(len(batch), -1)
    return np.column_stack([resting, timed])


# ---------------------------------------------------------------------- by playing


Play = Callable[[TrialsOnce], np.ndarray]
"""A function from the current step of all trials to the actions (n,) or (n, k)."""


def played_once(task: Task, batch: TrialBatch, play: Play) -> tuple[np.ndarray, np.ndarray]:
    """Play each trial once; return performance (n,), and the scores of the slots (n, K)."""
    stepper = TrialsOnce(task, batch)
    for _ in range(LIMIT):
        running = stepper.running.copy()
        if not running.any():
            break
        stepper.kernel.set("waiting", (~running).astype(np.int64))
        actions = play(stepper)
        stepper.step(np.where(per_row(running, actions), actions, 0))
    stepper.stop(np.flatnonzero(stepper.running))
    log, n = stepper.trials.log, len(batch)
    return log.performance[:n].copy(), log.slot_score[:n].copy()


def per_row(values: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Return values (n,) as (n, 1, …), with as many dimensions as `like`."""
    return values.reshape(-1, *[1] * (like.ndim - 1))


def resting(task: Task, n: int) -> np.ndarray:
    """Return the action of resting, (n,) or (n, k)."""
    actions = task.actions
    if actions.continuous:
        return np.tile(actions.from_task_units(actions.rest_value), (n, 1))
    return np.full(n, actions.rest or 0)


def when_asked(task: Task, action: np.ndarray) -> Play:
    """Return a play that gives one action in response windows, and rests elsewhere."""

    def play(stepper: TrialsOnce) -> np.ndarray:
        rest = resting(task, stepper.n)
        given = np.broadcast_to(action, rest.shape)
        return np.where(per_row(stepper.is_asked(), rest), given, rest)

    return play


def _played(task: Task, batch: TrialBatch, seed: int) -> list[np.ndarray]:
    """Return the scores of actions that are given throughout the window, by playing the trials."""
    actions = task.actions
    tried = list(targets_of(task, batch, seed)) if actions.continuous else list(range(actions.size))
    if actions.continuous:
        tried.insert(0, resting(task, 1)[0])
    results = [played_once(task, batch, when_asked(task, np.asarray(action))) for action in tried]
    if len(batch.tables.slots.names) == 1:
        # Also where performance is a share of the largest reward.
        return [np.stack([performance for performance, _ in results], axis=1)]
    return [
        np.stack([slots[:, k] for _, slots in results], axis=1)
        for k in range(len(batch.tables.slots.names))
    ]


def targets_of(task: Task, batch: TrialBatch, seed: int) -> np.ndarray:
    """Return (VALUES, k) continuous actions that are right in some of the trials."""
    if task.actions.traced:  # on some of the steps
        values = batch.render_targets()
        order = np.argsort(values[:, 0], kind="stable")
        return task.actions.from_task_units(
            values[order[np.linspace(0, len(order) - 1, VALUES).astype(int)]]
        )
    rows = np.linspace(0, len(batch) - 1, VALUES).astype(int)
    found = []
    for place, row in enumerate(rows):
        slots = np.flatnonzero(batch.table("asked")[row])
        if not len(slots):
            continue
        k = slots[place % len(slots)]
        value = np.array(task.actions.rest_value, float)
        units = batch.table("aim")[row, k] != 0
        value[units] = batch.table("aim")[row, k][units]
        action = task.actions.from_task_units(value)
        if task.actions.trigger is not None:
            action[task.actions.trigger[0]] = 1.0
        found.append(action)
    return np.array(found).reshape(-1, task.actions.size)
