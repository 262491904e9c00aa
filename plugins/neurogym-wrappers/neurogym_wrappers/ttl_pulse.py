"""Mark periods of a trial with TTL pulses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import VectorEnv, VectorWrapper

from neurogym_core import InvalidValueError, NotSupportedError
from neurogym_core.players import TaskView
from neurogym_core.tools import unknown


class _Lines:
    """The periods in which each line is high."""

    def __init__(self, periods: Any, task: Any) -> None:
        if task is None:
            raise NotSupportedError(
                "TTLPulse cannot be applied: the env has no task, and so no periods. Leave it out."
            )
        lines = (
            [[line] if isinstance(line, str) else list(line) for line in periods]
            if not isinstance(periods, str)
            else [[periods]]
        )
        if not lines or not all(lines):
            raise InvalidValueError(
                f"TTLPulse was given periods={periods!r}; give at least one period per line, e.g."
                " [['stimulus'], ['decision']]."
            )
        for name in (name for line in lines for name in line):
            if name not in TaskView(task).period_names:
                raise unknown("period", name, TaskView(task).period_names, of=task.name)
        self.lines = [np.asarray(line) for line in lines]

    def add(self, info: dict[str, Any], period: Any) -> dict[str, Any]:
        """Return `info` with ``signal_0``, ``signal_1``, …: 1 in the periods of the line, else 0.

        Args:
            info: the infos of a step, or of a reset.
            period: the name of its period; in a vector env (N,), and signals are (N,) ints.
        """
        period = np.asarray(period)
        high = [np.isin(period, line).astype(np.int64) for line in self.lines]
        return {
            **info,
            **{
                f"signal_{k}": signal if period.ndim else int(signal)
                for k, signal in enumerate(high)
            },
        }


class VectorTTLPulse(VectorWrapper, gymnasium.utils.RecordConstructorArgs):
    """`TTLPulse` for vector envs."""

    def __init__(self, env: VectorEnv, periods: Sequence[Any] = (("stimulus",),)) -> None:
        gymnasium.utils.RecordConstructorArgs.__init__(self, periods=periods)
        super().__init__(env)
        self._lines = _Lines(periods, getattr(env.unwrapped, "task", None))

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple:
        observations, info = self.env.reset(seed=seed, options=options)
        return observations, self._lines.add(info, self.env.unwrapped.period)

    def step(self, actions: Any) -> tuple:
        period = self.env.unwrapped.period
        *result, info = self.env.step(actions)
        return (*result, self._lines.add(info, period))


class TTLPulse(gymnasium.Wrapper, gymnasium.utils.RecordConstructorArgs):
    """Mark the steps of given periods in `info`: ``info["signal_0"]``, ``info["signal_1"]``, ….

    A signal is 1 in the periods of its line and 0 elsewhere, like the TTL pulses that align
    recordings with the events of a trial. It belongs to the step that was scored, like the rest of
    a step's `info`; after a reset, it belongs to the first observation.

    Args:
        env: any env of a task.
        periods: one group of period names per line.

    Raises:
        NotSupportedError: the env has no task.
        UnknownNameError: a period that the task does not have.
        InvalidValueError: no line, or a line without a period.
    """

    vector = VectorTTLPulse

    def __init__(self, env: gymnasium.Env, periods: Sequence[Any] = (("stimulus",),)) -> None:
        gymnasium.utils.RecordConstructorArgs.__init__(self, periods=periods)
        super().__init__(env)
        self._lines = _Lines(periods, getattr(env.unwrapped, "task", None))

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple:
        observation, info = self.env.reset(seed=seed, options=options)
        return observation, self._lines.add(info, self.env.unwrapped.period)

    def step(self, action: Any) -> tuple:
        period = self.env.unwrapped.period
        *result, info = self.env.step(action)
        return (*result, self._lines.add(info, period))
