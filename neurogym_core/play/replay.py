"""Judging actions after the fact: the record of trials in which a subject did these."""

from __future__ import annotations

import numpy as np

from neurogym_core.play.blocks import Block
from neurogym_core.play.results import TrialResults
from neurogym_core.play.stepper import Stepper
from neurogym_core.play.types import Types
from neurogym_core.tasks.task import Task
from neurogym_core.trials.arrays import Array, per_row
from neurogym_core.trials.batch import TrialBatch
from neurogym_core.trials.record import TrialRecord


def replay(task: Task, trials: TrialBatch, actions: Array) -> TrialRecord:
    """The record of `n` trials.

    Args:
        task: the task whose trials these are.
        trials: the trials.
        actions: (n, T[, D]) what was done on each step along the oracle's path. A trial that leaves
            this path ends there, because what came after was never seen.
    """
    stepper = _Replay(task, trials)
    segment, within = _path(trials)
    for step in range(actions.shape[1]):
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
    return TrialResults(np.arange(len(trials)), stepper.trials).record()


def _path(trials: TrialBatch) -> tuple[Array, Array]:
    """(n, T) segment, and step within it, on each step of the oracle's path; -1 after its end."""
    path = trials.path
    lengths = path.sum(axis=1)
    segment, within = np.full((2, len(trials), int(lengths.max())), -1)
    flat = path.ravel()
    on = np.arange(segment.shape[1]) < lengths[:, None]
    segment[on] = np.repeat(np.tile(np.arange(path.shape[1]), len(trials)), flat)
    within[on] = np.arange(flat.sum()) - np.repeat(np.cumsum(flat) - flat, flat)
    return segment, within


class _Replay(Stepper):
    """Plays given trials, one in each env, each once.

    Attributes:
        trials: the block of the trials; one row more takes the envs whose trial has ended.
        running: (n,) whether the trial of each env goes on.
    """

    def __init__(self, task: Task, trials: TrialBatch) -> None:
        super().__init__(task, len(trials), 0)
        self.may_wait = True  # envs whose trial has ended
        n = len(trials)
        types = Types(trials)
        self.trials = Block(types, np.append(np.arange(n), 0), 0, trials.conditions, stride=0)
        self.running = np.ones(n, np.bool_)
        self.begun = True
        self._hold(0, self.trials)
        for env in range(n):
            self.kernel.begin(env, 0, env)
        self._one = self.trials

    def _deal(self, envs: list[int]) -> None:
        """Park envs whose trial has ended on the last row."""
        self.running[envs] = False
        for env in envs:
            self.kernel.begin(env, 0, self.n)

    def stop(self, envs: Array) -> None:
        """End trials where they are: slots that were not answered stay so."""
        if len(envs):
            self.kernel.stop(envs.tolist())
