"""Observers of the decision and matching tasks, which give the ideals of the manifest."""

from __future__ import annotations

import numpy as np

from neurogym_core import InvalidValueError, Subject, TaskVectorEnv
from neurogym_task_yang19.families import DelayedDecision, MatchDirection, MatchFamily, TwoStimuli

FINE = 256
"""Directions that are compared."""
SHOWN = 0.4
"""Activity of a ring that only a stimulus reaches."""
APART = np.pi / 3
"""Least distance of two stimuli that are shown at once; those of the tasks are 90 degrees apart."""
LOOKS = 5
"""Steps for which a test is seen before the answer."""
MATCHES = np.pi / 18
"""Distance of sample and test that still counts as a match: other tests are 20 degrees away."""


class Observer(Subject):
    """Sums each stimulus over time, finds its direction and strength, and answers by them.

    Strengths and directions are those of the bump that is most similar to the sum, which is the
    most probable one. It sees when stimuli begin and end: they are far above the noise.
    """

    carries_state = False

    def begin(self, env: TaskVectorEnv) -> None:
        task, n = env.task, env.num_envs
        if not isinstance(task, TwoStimuli | MatchDirection):
            raise InvalidValueError(
                f"{task.name} is no task of two stimuli or of matching directions."
            )
        self.directions = np.arange(FINE) * 2 * np.pi / FINE
        bumps = task.ring.bump(angle=self.directions, strength=np.ones(FINE)).astype(float)
        self.templates = bumps / (bumps**2).sum(axis=1)[:, None]
        self.bumps = bumps
        self.attends = getattr(task, "attends", "both")[0]
        self.sums = np.zeros((n, 2, task.units))  # of the first stimulus, and of the second
        self.seen, self.action = np.zeros((n, 2), np.int64), np.zeros(n, np.int64)
        self.steps, self.number = np.zeros(n, np.int64), np.full(n, -1)
        self.gap = np.zeros(n, bool)

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        task, channels = env.task, env.task.channels
        begins = env.trial_number != self.number
        for kept in (self.sums, self.seen, self.gap):
            kept[begins] = 0
        self.number = env.trial_number.copy()
        one, two = (observations[:, channels[f"modality_{m}"]].astype(float) for m in (1, 2))
        ring = {"1": one, "2": two, "both": one + two}[
            "both" if self.attends == "b" else self.attends
        ]
        shown = np.maximum(one, two).max(axis=1) > SHOWN
        at_once = not isinstance(task, DelayedDecision | MatchFamily)
        which = (self.gap & (not at_once)).astype(int)
        rows = np.flatnonzero(shown)
        self.sums[rows, which[rows]] += ring[rows]
        self.seen[rows, which[rows]] += 1
        self.gap |= ~shown & (self.seen[:, 0] > 0)
        if isinstance(task, MatchFamily):
            asks = self.seen[:, 1] >= LOOKS
        else:
            asks = observations[:, channels["fixation"]][:, 0] < 0.5
        action = np.zeros(len(ring), np.int64)
        envs = np.flatnonzero(asks)
        if len(envs):
            action[envs] = self._answer(task, envs, at_once)
        return action

    def _answer(self, task, envs: np.ndarray, at_once: bool) -> np.ndarray:
        sums = self.sums[envs] / np.maximum(self.seen[envs], 1)[:, :, None]
        rows = np.arange(len(envs))
        if at_once:
            found = sums[:, 0] @ self.templates.T
            first = found.argmax(axis=1)
            off = np.abs(np.angle(np.exp(1j * (self.directions - self.directions[first][:, None]))))
            second = np.where(off > APART, found, -np.inf).argmax(axis=1)
            # Both strengths at once: the tails of the bumps overlap a little.
            pair = np.stack([self.bumps[first], self.bumps[second]], axis=2)
            gram = np.swapaxes(pair, 1, 2) @ pair
            strengths = np.linalg.solve(gram, np.swapaxes(pair, 1, 2) @ sums[:, 0, :, None])[..., 0]
            at = np.where(strengths[:, 0] > strengths[:, 1], first, second)
            return 1 + task.ring.nearest(self.directions[at])
        found = sums @ self.templates.T
        places = found.argmax(axis=2)
        if isinstance(task, MatchFamily):
            apart = self.directions[places[:, 1]] - self.directions[places[:, 0]]
            same = np.abs(np.angle(np.exp(1j * apart))) < MATCHES
            answers = same == task.answers_match
            return np.where(answers, 1 + task.ring.nearest(self.directions[places[:, 1]]), 0)
        strongest = found.max(axis=2).argmax(axis=1)
        return 1 + task.ring.nearest(self.directions[places[rows, strongest]])


__all__ = ["Observer"]
