"""Ideal observers, which give the ideals of the manifest. They see observations only."""

from __future__ import annotations

import numpy as np

from neurogym_core import Subject, TaskVectorEnv
from neurogym_task_cognition.attentional_blink import LAGS
from neurogym_task_cognition.price import BIN

ODDS = np.linspace(-12, 12, 481)
"""Log odds of choice 1 against choice 0, on which waiting is valued."""


class BestStop(Subject):
    """Sums the evidence for one of two choices, and answers when waiting no longer pays.

    The value of waiting is computed backwards from the end of the window, for each log odds. The
    signal of a task is 1 in one of two units, with noise that is independent over steps and units.

    Args:
        channel: the channel whose evidence counts; None: the one that the task asks for.
    """

    carries_state = False

    def __init__(self, channel: str | None = None) -> None:
        self.channel = channel

    def begin(self, env: TaskVectorEnv) -> None:
        task = env.task
        gain = task.dt / task.sigma**2  # mean log odds of a step; their variance is twice that
        steps = round(float(task.timing["stimulus"].to_plain()) / task.dt)
        bins = max(round(BIN / task.dt), 1)
        starts = np.arange(steps) // bins * bins
        reward = 1 - task.price * starts / steps
        right = 1 / (1 + np.exp(-np.abs(ODDS)))
        moves = np.zeros((ODDS.size, ODDS.size))
        for sign, weight in ((1, 1 / (1 + np.exp(-ODDS))), (-1, 1 / (1 + np.exp(ODDS)))):
            reached = np.exp(-((ODDS - ODDS[:, None] - sign * gain) ** 2) / (4 * gain))
            moves += weight[:, None] * reached / reached.sum(axis=1, keepdims=True)
        self.bounds = np.zeros(steps)
        value = np.zeros(ODDS.size)
        for step in reversed(range(steps)):
            now, later = right * reward[step], moves @ value
            value = np.maximum(now, later)
            self.bounds[step] = np.min(np.abs(ODDS[now >= later]))
        self._scale = gain
        self._odds, self._step = np.zeros(env.num_envs), np.zeros(env.num_envs, int)

    def evidence(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        """Unit 1 minus unit 0 of the channel that is asked, (n,)."""
        channels = env.task.channels
        found = next(name for name in ("target", "colour", "ink") if name in channels)
        units = observations[:, channels[self.channel or found]]
        if "word" in channels and self.channel is None:
            read = observations[:, channels["cue"]][:, 1:] > 0.5
            units = np.where(read, observations[:, channels["word"]], units)
        return units[:, 1] - units[:, 0]  # type: ignore[no-any-return]

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        seen = observations[:, env.task.channels["fixation"]][:, 0] < 0.5
        self._odds[~seen] = self._step[~seen] = 0
        self._odds += np.where(seen, self._scale * self.evidence(env, observations), 0)
        sure = seen & (np.abs(self._odds) >= self.bounds[self._step])
        self._step[seen] = np.minimum(self._step[seen] + 1, len(self.bounds) - 1)
        return np.where(sure, 1 + (self._odds > 0), 0)


__all__ = ["BestStop"]


class BlinkObserver(Subject):
    """The ideal observer of `AttentionalBlink`, which knows on which steps each letter is shown.

    It names the letter with the most evidence while the target is white. Of the letters that
    follow, it compares how likely the evidence is with an X at one of the lags, and without.
    """

    carries_state = False

    def begin(self, env: TaskVectorEnv) -> None:
        units = env.task.channels["letter"]
        self._seen = np.zeros((env.num_envs, LAGS + 1, units.stop - units.start))
        self._step = np.full(env.num_envs, -1)

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        task, actions = env.task, env.task.actions
        part = {name: observations[:, units] for name, units in task.channels.items()}
        asked = part["question"].max(axis=1) > 0
        begins = (part["white"][:, 0] > 0) & (self._step < 0)
        self._step = np.where(begins | (self._step >= 0), self._step + 1, -1)
        self._seen[begins] = 0
        item = self._step // round(task.soa / task.dt)
        rows = np.flatnonzero((item >= 0) & (item <= LAGS) & ~asked)
        self._seen[rows, item[rows]] += part["letter"][rows]
        self._step[asked] = -1
        odds = self._seen * task.dt / task.sigma**2
        target = odds[:, 0, :-1].argmax(axis=1)
        others = np.exp(odds[:, 1:, :-1]).mean(axis=2)
        probe = (np.exp(odds[:, 1:, -1]) / others).mean(axis=1) > 1
        report, detect = (actions[name].start for name in ("report", "detect"))
        answer = np.where(part["question"][:, 0] > 0, report + target, detect + probe)
        return np.where(asked, answer, 0)
