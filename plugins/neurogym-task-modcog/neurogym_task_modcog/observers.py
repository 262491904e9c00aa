"""The ideal observer of tasks with stimuli in noise, which gives the ideals of the manifest."""

from __future__ import annotations

from itertools import product

import numpy as np

from neurogym_core import InvalidValueError, Subject, TaskVectorEnv
from neurogym_task_modcog.base import HALF, STEP, UNITS, ModCog
from neurogym_task_modcog.match import MatchFamily
from neurogym_task_modcog.two_stimuli import TwoStimuli


class IdealObserver(Subject):
    """Gives the most probable answer, as soon as it is asked.

    It knows how trials are drawn. The rings are noisy during stimuli and silent otherwise, so that
    it sees when stimuli begin and how long a delay is. A stimulus is constant while it is shown, so
    that the sum of the observations says all; each of the possible trials is weighed by the
    probability of these sums.
    """

    carries_state = False

    def begin(self, env: TaskVectorEnv) -> None:
        task, n = env.task, env.num_envs
        means, answers = _possible(task)
        stimuli = means.shape[1]
        self.gives = (answers[:, None] == np.arange(-1, UNITS)).astype(float)  # (C, 1 + UNITS)
        name = "sample" if isinstance(task, MatchFamily) else task.noisy[0]
        self.lasts = max(round(float(task.timing[name].mean) / task.dt), 1)  # steps of a stimulus
        self.means = means.reshape(len(means), -1)
        self.power = (self.means**2).sum(axis=1) / 2
        self.variance = task.sigma**2 / task.dt / self.lasts
        self.sums = np.zeros((n, stimuli, 2 * UNITS))
        self.shown, self.delay, self.asked = np.zeros((3, n), np.int64)
        self.unit = np.zeros(n, np.int64)

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        task, channels = env.task, env.task.channels
        rings = np.concatenate(
            [observations[:, channels[f"modality_{m}"]] for m in (1, 2)], axis=1
        ).astype(float)
        asks = observations[:, channels["fixation"]][:, 0] < 0.5
        begins = ~asks & (self.asked > 0)
        for kept in (self.sums, self.shown, self.delay, self.asked):
            kept[begins] = 0
        noisy = np.flatnonzero((rings != 0).any(axis=1) & ~asks)
        at = np.minimum(self.shown[noisy] // self.lasts, self.sums.shape[1] - 1)
        self.sums[noisy, at] += rings[noisy]
        self.shown[noisy] += 1
        silent = ~(rings != 0).any(axis=1) & ~asks & (self.shown > 0)
        self.delay[silent] += 1
        first = np.flatnonzero(asks & (self.asked == 0))
        self.unit[first] = self._unit(task, first)
        later = self.asked * task.dt // STEP * task.sequence
        action = np.where(asks & (self.unit >= 0), 1 + (self.unit + later) % UNITS, 0)
        self.asked[asks] += 1
        return np.asarray(action.astype(np.int64))

    def _unit(self, task: ModCog, envs: np.ndarray) -> np.ndarray:
        """Return the most probable answer of some envs when the decision begins, -1 for none."""
        if not len(envs):
            return envs
        seen = self.sums[envs].reshape(len(envs), -1) / self.lasts
        weight = (seen @ self.means.T - self.power) / self.variance
        chances = np.exp(weight - weight.max(axis=1, keepdims=True)) @ self.gives
        unit = chances.argmax(axis=1) - 1
        turned = task.integrate * np.rint(self.delay[envs] * task.dt / STEP).astype(np.int64)
        return np.where(unit >= 0, (unit + turned) % UNITS, -1)


def _possible(task: ModCog) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean of the rings in each stimulus, (C, stimuli, 2 UNITS), and the answers (C,).

    The C possible trials are equally likely.
    """
    bumps = task.ring.bump(np.arange(UNITS), strength=np.ones(UNITS))
    if isinstance(task, MatchFamily):
        places = range(HALF) if task.categories else (0,)
        known = np.array(list(product(range(UNITS), (False, True), (1, 2), places)))
        conditions = dict(zip(("sample", "match", "modality", "place"), known.T, strict=True))
        test, (unit, answers) = task.test_of(conditions), task.answer_of(conditions)
        shown = np.zeros((len(known), 2, 2, UNITS))
        rows, modality = np.arange(len(known)), conditions["modality"] - 1
        shown[rows, 0, modality] = bumps[conditions["sample"]]
        shown[rows, 1, modality] = bumps[test]
        return shown.reshape(len(known), 2, -1), np.where(answers, unit, -1)
    if not isinstance(task, TwoStimuli):
        raise InvalidValueError(
            f"{task.name} has no stimuli in noise; expected a task of two stimuli or of matching."
            " Its oracle is the ideal observer."
        )
    known = np.array(list(product(range(UNITS), range(1, UNITS), range(len(task.levels)))))
    conditions = dict(zip(("first", "apart", "strengths"), known.T, strict=True))
    units = np.stack([known[:, 0], known[:, :2].sum(axis=1) % UNITS], axis=1)
    strengths = task.levels[known[:, 2]]  # (C, modality, stimulus)
    shown = np.einsum("cmk,cku->ckmu", strengths, bumps[units])
    shown = shown if task.delayed else shown.sum(axis=1, keepdims=True)
    return shown.reshape(len(known), shown.shape[1], -1), task.answer_of(conditions)[0]


__all__ = ["IdealObserver"]
