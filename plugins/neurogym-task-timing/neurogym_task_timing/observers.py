"""Ideal observers of measured intervals, which give the ideals of the manifest."""

from __future__ import annotations

import numpy as np

from neurogym_core import Subject, TaskVectorEnv

LEARNED = 40_000
"""Trials from which the observer learns when to answer."""


class BestMoment(Subject):
    """Answers at the moment that is right most often after its measurement.

    It counts the steps of all periods of variable length that come before the answer: its
    measurement, which includes the noise of the trial. From `LEARNED` trials of another seed, it
    learns for each measurement the step on which most answers are right, on the grid of steps.
    With intervals whose noise is independent, their sum is all that they tell.
    """

    carries_state = False

    def begin(self, env: TaskVectorEnv) -> None:
        task = env.task
        batch = task.sample(LEARNED, seed=[7, 0])
        lengths, names = batch.period_steps, list(batch.period_names)
        self._measured = [
            name for name in names if np.ptp(lengths[name]) and name != names[-1]
            and not name.startswith(("fixation", "target", "wait"))
        ]  # fmt: skip
        self._names = np.asarray(names)
        key = np.sum([lengths[name] for name in self._measured], axis=0)
        due, tolerance = batch.table("due")[:, 0], batch.table("tolerance")[:, 0]
        moments = np.arange(1, int(np.nanmax(due + tolerance) / task.dt) + 2)
        hits = np.abs(moments * task.dt - due[:, None]) <= tolerance[:, None] + 1e-9
        counts = np.zeros((int(key.max()) + 1, len(moments)))
        np.add.at(counts, key, hits)
        self._best = moments[counts.argmax(axis=1)]
        self._count, self._waited = np.zeros((2, env.num_envs), int)
        self._trial = env.trial_number.copy()

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        fresh = env.trial_number != self._trial
        self._trial = env.trial_number.copy()
        self._count[fresh] = self._waited[fresh] = 0
        self._count += np.isin(env.period, self._measured)
        self._waited += env.is_asked
        known = self._best[np.minimum(self._count, len(self._best) - 1)]
        return np.where(env.is_asked & (self._waited >= known), 1, 0)


__all__ = ["BestMoment"]
