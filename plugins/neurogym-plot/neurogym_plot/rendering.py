"""Envs that draw: wrappers that keep the steps of the current trial, for `render`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np

from neurogym_plot.frames import frame_of
from neurogym_plot.trial import Steps, trace_so_far


class RenderedEnv(gymnasium.Wrapper):
    """A `TaskEnv` whose `render` returns the figure of the trial so far.

    Nothing is drawn before `render` is called: a client can make its envs with a render mode and
    never render, as Stable-Baselines3 does by default.
    """

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self._begin(np.zeros(env.task.channels.size, np.float32))

    def _begin(self, observation: np.ndarray) -> None:
        self._steps = Steps(observation)

    def reset(self, **options: Any) -> tuple[np.ndarray, dict[str, Any]]:
        result = self.env.reset(**options)
        self._begin(result[0])
        return result

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        env: Any = self.env
        now = env.target, env.period
        result = env.step(action)
        if result[4]["new_trial"]:
            self._begin(result[0])
        else:
            self._steps.add(action, result[1], *now, result[0])
        return result

    def render(self) -> np.ndarray:
        """Return the figure of the trial so far, (height, width, 3) uint8."""
        return _frame(self.env, self._steps, self.env.conditions)


class RenderedVectorEnv(gymnasium.vector.VectorWrapper):
    """A `TaskVectorEnv` whose `render` returns the figures of the trials so far."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        nothing = np.zeros((env.num_envs, env.task.channels.size), np.float32)
        self._steps = [Steps(row) for row in nothing]
        self._sits_out = np.zeros(env.num_envs, np.bool_)

    def reset(self, **options: Any) -> tuple[np.ndarray, dict[str, Any]]:
        mask = (options.get("options") or {}).get("reset_mask", np.ones(self.num_envs, np.bool_))
        result = self.env.reset(**options)
        for k in np.flatnonzero(mask):
            self._steps[k] = Steps(result[0][k])
        return result

    def step(self, actions: Any) -> tuple[np.ndarray, ...]:
        env: Any = self.env
        targets, periods = env.target, env.period
        result = observations, rewards, terminated, truncated, info = env.step(actions)
        # With NextStep, an env whose session has ended sits out a step, and then shows a new trial.
        fresh = info["new_trial"] | self._sits_out
        waits = env.autoreset_mode is gymnasium.vector.AutoresetMode.NEXT_STEP
        self._sits_out = (terminated | truncated) & waits
        for k, steps in enumerate(self._steps):
            if fresh[k]:
                self._steps[k] = Steps(observations[k])
            else:
                steps.add(actions[k], rewards[k], targets[k], periods[k], observations[k])
        return result

    def render(self) -> tuple[np.ndarray, ...]:
        """Return the figures of the trials so far, each (height, width, 3) uint8."""
        now = self.env.conditions
        return tuple(
            _frame(self.env, steps, {name: values[k].tolist() for name, values in now.items()})
            for k, steps in enumerate(self._steps)
        )


def _frame(env: Any, steps: Steps, conditions: Mapping[str, Any]) -> np.ndarray:
    return frame_of(env.task, trace_so_far(env.task, replace(steps, conditions=conditions)))
