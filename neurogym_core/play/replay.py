"""Judging actions after the fact: the record of trials in which a subject did what is written down."""

from __future__ import annotations

import numpy as np

from neurogym_core.play.finished import FinishedTrials, SlotState
from neurogym_core.play.player import Player, _Queue
from neurogym_core.play.table import PlayTable
from neurogym_core.trials.batch import TrialBatch
from neurogym_core.trials.record import TrialRecord


def replay(trials: TrialBatch, actions: np.ndarray) -> TrialRecord:
    """The record of `n` trials.

    Args:
        trials: the trials.
        actions: (n, T[, k]) what was done on each step along the oracle's path. A trial that leaves this path ends there,
            because what came after was never seen.
    """
    n = len(trials)
    player = _Replay(trials)
    path = _path_places(trials, player.table)
    finished: list[FinishedTrials] = []
    done = np.zeros(n, bool)
    for step in range(actions.shape[1]):
        running = ~done & (step < path.shape[1])
        running[running] = path[running, min(step, path.shape[1] - 1)] == player.place[running]
        left = np.flatnonzero(~done & ~running)
        if len(left):
            finished.append(player._finish_here(left))
            done[left] = True
        if done.all():
            break
        result = player.step(np.where(_wide(done, actions[:, step]), 0, actions[:, step]), np.flatnonzero(done))
        if result.finished is not None:
            finished.append(result.finished)
            done[result.ended] = True
    left = np.flatnonzero(~done)
    if len(left):
        finished.append(player._finish_here(left))
    record = TrialRecord.concatenate([part.record() for part in finished])
    return record[np.argsort(record["env"], kind="stable")]


def _wide(mask: np.ndarray, like: np.ndarray) -> np.ndarray:
    return mask.reshape(-1, *[1] * (like.ndim - 1))


def _path_places(trials: TrialBatch, table: PlayTable) -> np.ndarray:
    """(n, T) place on the tape of each step of the oracle's path; -1 after its end."""
    steps = trials.path.sum(axis=1)
    out = np.full((len(trials), int(steps.max())), -1)
    flat = trials.path.ravel()
    begin = np.cumsum(flat) - flat
    places = np.repeat(table.segment_start.ravel() - begin, flat) + np.arange(flat.sum())
    out[np.arange(out.shape[1]) < steps[:, None]] = places
    return out


class _Replay(Player):
    """A player of given trials, one per env, each once."""

    def __init__(self, trials: TrialBatch) -> None:
        super().__init__(trials.task, len(trials), 0)
        self._begin_with(PlayTable(trials, trials.render(None, trials.duration)))

    def _begin_with(self, table: PlayTable) -> None:
        self._table_given = table
        self._begin()

    def _start_streams(self) -> None:
        self._no_answers()
        self.use(self._table_given)
        self._queue = _Once()
        self._start(np.arange(self.n))

    def _next_trials(self, ended: np.ndarray, finished: FinishedTrials) -> np.ndarray:
        self.place[ended] = self.table.start[self.row[ended]]  # they sit out what is left, on some place of the tape
        return ended[:0]

    def _finish_here(self, envs: np.ndarray) -> FinishedTrials:
        """End trials where they are: questions that were not answered stay so."""
        slots = self.slots.take(envs) if not self.table.rules.simple else SlotState(len(envs), len(self.table.rules.payoffs.slot_names), 0)
        self._left[envs] -= 1
        return self._finished(envs, steps=self._steps()[envs], aborted=self._aborted[envs], slots=slots)


class _Once(_Queue):
    def take(self, player: Player, envs: np.ndarray) -> np.ndarray:
        return envs
