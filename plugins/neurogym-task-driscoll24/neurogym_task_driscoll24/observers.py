"""The observer that gives the ideals of the manifest. It sees the inputs, and knows the periods."""

from __future__ import annotations

import numpy as np

from neurogym_core import Subject, TaskVectorEnv, circular_distance
from neurogym_task_driscoll24.base import CIRCLE
from neurogym_task_driscoll24.integration import IntegrationFamily
from neurogym_task_driscoll24.match import MatchFamily, ReactCategoryPro


class Integrator(Subject):
    """Means the inputs of each period, and answers on the last step of the response.

    Args:
        modalities: those that it compares in integration; (): the ones that count.
        first: whether it compares the first stimulus with the mean strength, not with the second.
    """

    carries_state = False

    def __init__(self, modalities: tuple[int, ...] = (), first: bool = False) -> None:
        self.modalities, self.first = modalities, first

    def begin(self, env: TaskVectorEnv) -> None:
        n = env.num_envs
        self._sum = {name: np.zeros((2, n), complex) for name in env.task.timing}
        self._steps = {name: np.zeros(n) for name in env.task.timing}

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        period, channels = env.period, env.task.channels
        for name, steps in self._steps.items():
            begins, here = (period == "context") & (name != "context"), period == name
            self._sum[name][:, begins], steps[begins] = 0, 0
            for k in (0, 1):
                sine, cosine = observations[:, channels[f"modality_{k + 1}"]].T
                self._sum[name][k] += (cosine + 1j * sine) * here
            steps += here
        last = env.is_asked & ~env.can_wait
        angle, answers = self._decided(env)
        action = np.stack([np.full(len(angle), -1.0), np.cos(angle), np.sin(angle)], axis=1)
        action[:, 0] = np.where(last & answers, 1, -1)
        return action

    def mean(self, period: str) -> np.ndarray:
        """Return the means of both modalities, cos + i sin, (2, n)."""
        return np.asarray(self._sum[period] / np.maximum(self._steps[period], 1))

    def _decided(self, env: TaskVectorEnv) -> tuple[np.ndarray, np.ndarray]:
        task = env.task
        always = np.ones(env.num_envs, bool)
        if isinstance(task, IntegrationFamily):
            counts = self.modalities or (
                (1, 2) if task.attends == "both" else (int(task.attends[0]),)
            )
            one, two = (sum(self.mean(f"stimulus{k}")[m - 1] for m in counts) for k in (1, 2))
            other = len(counts) * sum(task.mean) / 2 if self.first else np.abs(two)
            return np.angle(np.where(np.abs(one) > other, one, two)), always
        if isinstance(task, MatchFamily):
            return self._matched(task)
        shown = self._stronger("response" if "stimulus" not in self._sum else "stimulus")
        return np.angle(shown) + np.pi * task.anti, always

    def _stronger(self, period: str) -> np.ndarray:
        means = self.mean(period)
        return np.where(np.abs(means[0]) > np.abs(means[1]), *means)

    def _matched(self, task: MatchFamily) -> tuple[np.ndarray, np.ndarray]:
        sample, test = self._stronger("sample"), self._stronger("response")
        if isinstance(task, ReactCategoryPro):
            same = (np.imag(sample) > 0) == (np.imag(test) > 0)
        else:
            noise = 2 * 100 * task.sigma_input**2 / task.dt
            steps = [np.maximum(self._steps[name], 1) for name in ("sample", "response")]
            size = np.maximum(noise * (1 / steps[0] + 1 / steps[1]), 1e-9)
            away = circular_distance(np.angle(sample), np.angle(test))
            match = np.exp(-(away**2) / (2 * size)) / np.sqrt(2 * np.pi * size)
            unlike = (away > np.pi / 9 - np.sqrt(size)) / (8 / 9 * CIRCLE)
            same = match > 2 * unlike
        return np.angle(test), same == task.answers_match


__all__ = ["Integrator"]
