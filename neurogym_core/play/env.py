"""`TaskEnv`: one env of a task, for Gymnasium."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import gymnasium
import numpy as np

from neurogym_core.errors import InvalidValueError
from neurogym_core.play.finished import FinishedTrials
from neurogym_core.play.options import read_options
from neurogym_core.play.scalar import ScalarPlayer, SinglePlayer
from neurogym_core.play.spaces import action_space, observation_space
from neurogym_core.tasks.task import Task


class TaskEnv(gymnasium.Env):
    """One subject playing one task, trial after trial.

    ``step(action)`` scores the action against the observation it was chosen on and returns the coming one. `info`: `gt`
    (target of the step scored), `period`, `new_trial`; when a trial ended also `trial` (its record, as a dict) and
    `performance`. For the observation in hand there are `target`, `trial` and `period`.

    Args:
        task: the task.
        render_mode: None, or "rgb_array": `render` draws the trial so far.
        seed: seed used until `reset` is given one.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012

    def __init__(self, task: Task, *, render_mode: str | None = None, seed: int | None = None) -> None:
        if render_mode not in (None, "rgb_array"):
            raise InvalidValueError(f"render_mode={render_mode!r} was given; give None or 'rgb_array'.")
        self.task = task
        self.render_mode = render_mode
        self.observation_space = observation_space(task)
        self.action_space = action_space(task)
        scalar = not (task.hooked or task.actions.continuous)
        self.player: Any = ScalarPlayer(task, seed) if scalar else SinglePlayer(task, seed)
        self._trace = _Trace(self) if render_mode else None
        if self._trace is None:
            # One call less on every step; with a trace, `step` below writes it.
            self.step = self.player.step  # type: ignore[method-assign]

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        """A new session; without seed or options it goes on with the coming trial.

        Args:
            seed: fixes everything that follows.
            options: ``{"conditions": {name: value or (m,) values in turn}}`` for the coming session.
        """
        super().reset(seed=seed)
        obs = self.player.reset(seed, read_options(options))
        if self._trace is not None:
            self._trace.begin(obs)
        return obs, {"period": self.period}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """One step; see the class."""
        result = self.player.step(action)
        if self._trace is not None:
            self._trace.add(action, result)
        return result

    def render(self) -> np.ndarray | None:
        """The figure of the trial so far, (height, width, 3) uint8; needs matplotlib."""
        return self._trace.picture() if self._trace is not None else None

    # ------------------------------------------------------------------ the observation in hand

    @property
    def target(self) -> Any:
        """What is right on the observation in hand: an action id, or (k,) float32 in [-1, 1]."""
        return self.player.target

    @property
    def period(self) -> str:
        """Name of the period of the observation in hand."""
        return self.player.period

    @property
    def trial(self) -> dict[str, Any]:
        """Conditions of the trial in hand."""
        return self.player.trial

    @property
    def is_asked(self) -> bool:
        """Whether a question is open on the observation in hand."""
        return self.player.is_asked

    @property
    def can_wait(self) -> bool:
        """Whether the question in hand may also be answered on a later step."""
        return self.player.can_wait

    @property
    def last_trial(self) -> FinishedTrials | None:
        """The trial that ended on the last step, or None."""
        return self.player.finished

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        state.pop("step", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self._trace is None:
            self.step = self.player.step  # type: ignore[method-assign]

    def __deepcopy__(self, memo: dict[int, Any]) -> TaskEnv:
        import copy

        clone = type(self).__new__(type(self))
        memo[id(self)] = clone
        clone.__setstate__(copy.deepcopy(self.__getstate__(), memo))
        return clone


class _Trace:
    """What was seen and done in the trial in hand, for `render`."""

    names: ClassVar = ("observations", "actions", "rewards", "targets", "periods")

    def __init__(self, env: TaskEnv) -> None:
        self.env = env
        self.begin(np.zeros(env.task.channels.size, np.float32))

    def begin(self, observation: np.ndarray) -> None:
        for name in self.names:
            setattr(self, name, [])
        self.pending = observation
        self.conditions: dict[str, Any] = {}

    def add(self, action: Any, result: tuple) -> None:
        observation, reward, _, _, info = result
        self.observations.append(self.pending)  # type: ignore[attr-defined]
        self.actions.append(action)  # type: ignore[attr-defined]
        self.rewards.append(reward)  # type: ignore[attr-defined]
        self.targets.append(info["gt"])  # type: ignore[attr-defined]
        self.periods.append(info["period"])  # type: ignore[attr-defined]
        self.pending = observation
        self.conditions = self.env.trial
        if info["new_trial"]:
            self.begin(observation)

    def picture(self) -> np.ndarray:
        from neurogym_core.study.traces import picture_of

        return picture_of(self.env.task, self)
