"""Print progress and save figures while an env runs."""

from __future__ import annotations

import sys
import time
from collections import deque
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import VectorEnv, VectorWrapper

from neurogym_core import InvalidValueError, NotSupportedError, RecordTrials, TrialRecord


class _Watch:
    """Counts trials; after every `every` trials, prints a line and saves the figure of the last."""

    def __init__(self, task: Any, every: int, folder: Any, out: Any) -> None:
        if isinstance(every, bool) or not isinstance(every, int) or every < 1:
            raise InvalidValueError(
                f"Monitor was given every={every!r}; give a whole number of trials, at least 1."
            )
        if folder is not None and task is None:
            raise NotSupportedError(
                "Monitor was given folder=, but the env has no task, so that its trials cannot be"
                " drawn. Leave folder= out."
            )
        self.task, self.every, self._out = task, every, out
        self.folder = None if folder is None else Path(folder)
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
        self.trials = 0
        self._recent: deque[tuple[float, float]] = deque(maxlen=every)
        self._since = time.monotonic()
        self._trial, self._whole = _Buffers(), _Buffers()

    # ------------------------------------------------------------------ trials

    def add(self, finished: TrialRecord) -> None:
        """Count finished trials."""
        for performance, reward in zip(
            finished["performance"].tolist(), finished["reward"].tolist(), strict=True
        ):
            self.trials += 1
            self._recent.append((performance, reward))
            if self.trials % self.every == 0:
                self._report()

    @property
    def performance(self) -> float:
        """Mean performance of the last `every` trials; NaN before the first trial."""
        return (
            float(np.mean([performance for performance, _ in self._recent]))
            if self._recent
            else float("nan")
        )

    def _report(self) -> None:
        reward = np.mean([reward for _, reward in self._recent])
        speed = self.trials / max(time.monotonic() - self._since, 1e-9)
        line = (
            f"trials {self.trials:,}   performance {self.performance:.3f}   reward {reward:.3f}  "
            f" {speed:,.0f} trials/s"
        )
        out = sys.stderr if self._out is None else self._out
        print(line, file=out, end="\r" if out.isatty() else "\n", flush=True)
        if self.folder is not None and self._whole.observations:
            self._save()

    # ------------------------------------------------------------------ figures

    def begin(self, observation: np.ndarray) -> None:
        """Start a session with this observation."""
        self._trial = _Buffers(observation)

    def see(
        self,
        action: Any,
        reward: Any,
        target: Any,
        period: Any,
        observation: np.ndarray,
        ended: bool,
        conditions: Any,
    ) -> None:
        """Store a step of the env that is drawn.

        Args:
            action, reward, target, period: results of the step on the pending observation.
            observation: the observation after the step.
            ended: whether the step ended a trial.
            conditions: conditions of that trial.
        """
        trial = self._trial
        trial.observations.append(np.asarray(trial.pending)[: self.task.channels.size])
        for values, value in (
            (trial.actions, action),
            (trial.rewards, reward),
            (trial.targets, target),
            (trial.periods, period),
        ):
            values.append(value)
        if ended:
            trial.conditions = conditions
            self._whole, self._trial = trial, _Buffers(observation)
        else:
            trial.pending = observation

    def _save(self) -> None:
        from neurogym_plot import save_figure, trace_so_far, trial_figure

        figure = trial_figure(trace_so_far(self.task, self._whole))
        save_figure(figure, self.folder / f"trial-{self.trials:08d}.png")  # type: ignore[operator]


class _Buffers:
    """Steps of a trial, in the form that `plots` draws."""

    def __init__(self, pending: Any = None) -> None:
        self.pending = pending
        self.observations: list = []
        self.actions: list = []
        self.rewards: list = []
        self.targets: list = []
        self.periods: list = []
        self.conditions: Any = {}


class VectorMonitor(VectorWrapper, gymnasium.utils.RecordConstructorArgs):
    """`Monitor` for vector envs; its figures show the first env."""

    def __init__(
        self, env: VectorEnv, every: int = 100, folder: Any = None, out: Any = None
    ) -> None:
        gymnasium.utils.RecordConstructorArgs.__init__(self, every=every, folder=folder)
        super().__init__(env)
        self._watch = _Watch(getattr(env.unwrapped, "task", None), every, folder, out)

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple:
        observations, info = self.env.reset(seed=seed, options=options)
        self._watch.begin(observations[0])
        return observations, info

    def step(self, actions: Any) -> tuple:
        bare: Any = self.env.unwrapped
        if self._watch.folder is not None:
            target, period = bare.target[0], bare.period[0]
        observations, rewards, terminated, truncated, info = self.env.step(actions)
        finished = RecordTrials.vector.finished(info)
        if self._watch.folder is not None:
            ended = bool(info["new_trial"][0])
            conditions = (
                _first(finished, self._watch.task) if ended and finished is not None else {}
            )
            action = np.asarray(actions)[0]
            self._watch.see(action, rewards[0], target, period, observations[0], ended, conditions)
        if finished is not None:
            self._watch.add(finished)
        return observations, rewards, terminated, truncated, info

    @property
    def running_performance(self) -> float:
        """Mean performance of the last `every` trials; NaN before the first trial."""
        return self._watch.performance


class Monitor(gymnasium.Wrapper, gymnasium.utils.RecordConstructorArgs):
    """Print progress after every `every` trials, and save the figure of the last one.

    A line goes to stderr: number of trials so far, mean performance and reward of the last `every`
    trials, and speed. A terminal shows one line that is updated. ``env.running_performance`` is the
    mean performance. To keep the trials, use `RecordTrials`.

    Args:
        env: any env with the record of finished trials in its `info`.
        every: number of trials between two lines.
        folder: folder for the figures, as PNG; None: no figures.
        out: text stream for the lines; None: stderr.

    Raises:
        InvalidValueError: `every` is not a whole number of at least 1.
        NotSupportedError: `folder` is given, and the env has no task.
    """

    vector = VectorMonitor

    def __init__(
        self, env: gymnasium.Env, every: int = 100, folder: Any = None, out: Any = None
    ) -> None:
        gymnasium.utils.RecordConstructorArgs.__init__(self, every=every, folder=folder)
        super().__init__(env)
        self._watch = _Watch(getattr(env.unwrapped, "task", None), every, folder, out)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple:
        observation, info = self.env.reset(seed=seed, options=options)
        self._watch.begin(observation)
        return observation, info

    def step(self, action: Any) -> tuple:
        bare: Any = self.env.unwrapped
        if self._watch.folder is not None:
            target, period = bare.target, bare.period
        observation, reward, terminated, truncated, info = self.env.step(action)
        finished = RecordTrials.finished(info)
        if self._watch.folder is not None:
            conditions = {} if finished is None else _first(finished, self._watch.task)
            ended = info["new_trial"]
            self._watch.see(action, reward, target, period, observation, ended, conditions)
        if finished is not None:
            self._watch.add(finished)
        return observation, reward, terminated, truncated, info

    @property
    def running_performance(self) -> float:
        """Mean performance of the last `every` trials; NaN before the first trial."""
        return self._watch.performance


def _first(finished: TrialRecord, task: Any) -> dict[str, Any]:
    """Return the conditions of the first of these trials."""
    row = finished.row(0)
    return {name: row[name] for name in task.conditions if name in row}
