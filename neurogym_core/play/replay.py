"""`replay`: score actions that were chosen before, such as the outputs of a network on a batch."""

from __future__ import annotations

import numpy as np

from neurogym_core.play.blocks import Block
from neurogym_core.play.results import TrialResults
from neurogym_core.play.stepper import Stepper
from neurogym_core.tasks.task import Task
from neurogym_core.trials.arrays import Array, per_row
from neurogym_core.trials.batch import TrialBatch
from neurogym_core.trials.record import TrialRecord, is_clock_time


def replay(task: Task, trials: TrialBatch, actions: Array, *, timed: bool = False) -> TrialRecord:
    """Return the record of `n` trials that are played with the given actions.

    Args:
        task: the task of the trials.
        trials: the trials.
        actions: (n, T[, D]) actions on the observations along the oracle's path. A trial that
            leaves this path ends there, because the subject has not seen the steps that follow.
        timed: whether the record has the times of the answers and of the played periods, as that
            of `run`, in ms since the first trial began. The next one begins at the end of the
            oracle's path, also after an early answer.
    """
    stepper = TrialsOnce(task, trials)
    segment, within = _path(trials)
    for step in range(actions.shape[1]):
        # A copy: stopping a trial changes `running`.
        running = stepper.running.copy()
        if step < segment.shape[1]:
            on_path = segment[:, step] == stepper.state("segment")
            on_path &= within[:, step] == stepper.state("clock") - stepper.state("entered")
            stepper.stop(np.flatnonzero(running & ~on_path))
        else:
            stepper.stop(np.flatnonzero(running))
        if not stepper.running.any():
            break
        stepper.kernel.set("waiting", (~stepper.running).astype(np.int64))
        stepper.step(np.where(per_row(stepper.running, actions[:, step]), actions[:, step], 0))
    stepper.stop(np.flatnonzero(stepper.running))
    record = TrialResults(np.arange(len(trials)), stepper.trials).record(timed=timed)
    if not timed:
        return record
    begins = (np.cumsum(trials.steps) - trials.steps) * task.dt
    columns = {
        name: column + begins if is_clock_time(name) else column for name, column in record.items()
    }
    return TrialRecord(columns, meta=record.meta, events=record.event_log.shifted(begins))


def _path(trials: TrialBatch) -> tuple[Array, Array]:
    """Return (n, T) segment and step within it along the oracle's path; -1 after its end."""
    path, segments = trials.path, len(trials.period)
    lengths = path.sum(axis=1)
    segment, within = np.full((2, len(trials), int(lengths.max())), -1)
    flat = path.ravel()
    on = np.arange(segment.shape[1]) < lengths[:, None]
    segment[on] = np.repeat(np.tile(np.arange(path.shape[1]) % segments, len(trials)), flat)
    within[on] = np.arange(flat.sum()) - np.repeat(np.cumsum(flat) - flat, flat)
    return segment, within


class TrialsOnce(Stepper):
    """Play each of some trials once, one per env.

    Args:
        task: the task of the trials.
        trials: the trials.

    Attributes:
        trials: the block of the trials, and one more row: envs whose trial has ended wait there.
        running: (n,) whether the trial of each env has not ended.
    """

    def __init__(self, task: Task, trials: TrialBatch) -> None:
        n = len(trials)
        super().__init__(task, n, 0)
        self.may_wait = True  # envs whose trial has ended wait for the others
        rows = np.append(np.arange(n), 0)
        # Hooks read the conditions of all envs, also of those that wait.
        waiting = trials.take(rows)
        self.trials = Block(trials.tables, waiting.kind, 0, waiting.conditions, stride=0)
        self.trials.columns = waiting.columns
        self.running = np.ones(n, np.bool_)
        self.begun = True
        self._hold(0, self.trials)
        for env in range(n):
            self.kernel.begin(env, 0, env)
        self._one = self.trials

    def _deal(self, envs: list[int]) -> None:
        """Move envs whose trial has ended to the last row."""
        self.running[envs] = False
        for env in envs:
            self.kernel.begin(env, 0, self.n)

    def stop(self, envs: Array) -> None:
        """End the current trials of some envs; their unanswered slots stay unanswered."""
        if len(envs):
            self.kernel.stop(envs.tolist())
