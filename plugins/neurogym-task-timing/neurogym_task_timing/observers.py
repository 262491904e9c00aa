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


class LongerOne(Subject):
    """Of IntervalDiscrimination: counts the steps of both stimuli, and takes the longer one.

    From `LEARNED` trials of another seed, it learns which of the two was the longer one most often
    after the same two measurements.
    """

    carries_state = False

    def begin(self, env: TaskVectorEnv) -> None:
        batch = env.task.sample(LEARNED, seed=[7, 0])
        steps = [batch.period_steps[name] for name in ("first", "second")]
        durations = batch.conditions["durations"]
        counts = np.zeros((steps[0].max() + 1, steps[1].max() + 1))
        np.add.at(counts, tuple(steps), np.sign(durations[:, 0] - durations[:, 1]))
        apart = np.arange(counts.shape[0])[:, None] - np.arange(counts.shape[1])
        self._first = np.where(counts == 0, apart, counts) > 0
        self._steps = np.zeros((env.num_envs, 2), int)  # red, blue
        self._red_first, self._begun = np.zeros((2, env.num_envs), bool)

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        channels, rows = env.task.channels, np.arange(env.num_envs)
        on = observations[:, channels["stimulus"]] > 0.5
        self._red_first = np.where(on.any(axis=1) & ~self._begun, on[:, 0], self._red_first)
        self._begun |= on.any(axis=1)
        self._steps += on
        asked = observations[:, channels["fixation"]][:, 0] < 0.5
        first, second = self._steps[rows, np.stack([~self._red_first, self._red_first]).astype(int)]
        largest = np.array(self._first.shape) - 1
        longer = self._first[np.minimum(first, largest[0]), np.minimum(second, largest[1])]
        red_right = observations[:, channels["right"]][:, 0] > 0.5
        right = (longer == self._red_first) == red_right
        self._begun &= ~asked
        self._steps[asked] = 0
        return np.where(asked, 1 + right, 0)


__all__ = ["BestMoment", "LongerOne"]
