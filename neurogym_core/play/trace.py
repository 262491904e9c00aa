"""`Trace` and `VectorTrace`: the steps of the current trials, kept for `render`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from neurogym_core.play.kernel import Stepped, VectorStepped
from neurogym_core.play.results import StepInfo
from neurogym_core.trials.arrays import Array


class Buffers(NamedTuple):
    """One entry per played step of a trial, the current observation, and the conditions."""

    observations: list[Array]
    actions: list[Any]
    rewards: list[float]
    targets: list[Any]
    periods: list[str]
    pending: Array
    conditions: Mapping[str, Any]


class Trace:
    """The steps of the trial so far of one env, as the kernel returned them.

    Nothing is computed from them until a frame is drawn: a client can make its envs with a render
    mode and never render, as Stable-Baselines3 does by default.
    """

    def __init__(self, first: Array) -> None:
        self.begin(first)

    def begin(self, observation: Array) -> None:
        """Begin a trial with its first observation."""
        self.first = observation
        self.played: list[tuple[Any, Stepped]] = []

    def add(self, action: Any, result: Stepped) -> None:
        """Keep a step, or begin the next trial."""
        if result[4]["new_trial"]:
            self.begin(result[0])
        else:
            self.played.append((action, result))

    def added_to(self, play: Callable[[Any], Stepped]) -> Callable[[Any], Stepped]:
        """Return a step that plays `play` and keeps its result."""

        def step(action: Any) -> Stepped:
            observation, reward, terminated, truncated, info = result = play(action)
            if info["new_trial"]:
                self.begin(observation)
            else:
                self.played.append((action, result))
            return observation, reward, terminated, truncated, StepInfo(info)

        return step

    def buffers(self, conditions: Mapping[str, Any]) -> Buffers:
        """Return the trial so far; `conditions` are those of the trial."""
        results = [result for _, result in self.played]
        seen = [self.first, *(result[0] for result in results)]
        return Buffers(
            seen[:-1],
            [action for action, _ in self.played],
            [result[1] for result in results],
            [result[4]["gt"] for result in results],
            [result[4]["period"] for result in results],
            seen[-1],
            conditions if results else {},
        )


class VectorTrace:
    """The steps since the oldest current trial of N envs began."""

    def __init__(self, n: int, first: Array) -> None:
        self.n = n
        self.begin(first, np.ones(n, np.bool_))

    def begin(self, observations: Array, fresh: Array) -> None:
        """Begin a trial in the envs `fresh`; these are their observations."""
        if fresh.all():
            self.played: list[tuple[Array, Any, VectorStepped]] = []
            self.starts = np.zeros(self.n, np.int64)
            self._waits = np.zeros(self.n, np.bool_)
        else:
            self.starts[fresh] = len(self.played)
        self.current = observations

    def add(self, actions: Any, result: VectorStepped, waits: bool) -> None:
        """Keep a step; with `waits`, envs sit out the step after the end of a session."""
        self.played.append((self.current, np.array(actions), result))
        self.current = result[0]
        self.starts[result[4]["new_trial"] | self._waits] = len(self.played)
        self._waits = (result[2] | result[3]) & waits
        unused = self.starts.min()
        if unused > 1000 or unused == len(self.played):
            self.played = self.played[unused:]
            self.starts -= unused

    def buffers(self, env: int, conditions: Mapping[str, Any]) -> Buffers:
        """Return the trial so far of an env; `conditions` are those of the trial."""
        played = self.played[self.starts[env] :]
        return Buffers(
            [seen[env] for seen, _, _ in played],
            [actions[env] for _, actions, _ in played],
            [result[1][env] for _, _, result in played],
            [result[4]["gt"][env] for _, _, result in played],
            [result[4]["period"][env] for _, _, result in played],
            self.current[env],
            conditions if played else {},
        )
