"""`TaskEnv`: one env of a task, for Gymnasium."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium import spaces

from neurogym_core.ecosystem.discovery import missing
from neurogym_core.ecosystem.names import brought, comes_with
from neurogym_core.errors import (
    InvalidValueError,
    MissingDependencyError,
    NotSupportedError,
    unknown,
)
from neurogym_core.play.actions import checked_all, checked_one
from neurogym_core.play.kernel import Stepped
from neurogym_core.play.results import TrialInfo, numeric_info, of_one
from neurogym_core.play.stepper import Stepper
from neurogym_core.tasks.state import state_of
from neurogym_core.tasks.task import Task
from neurogym_core.trials.arrays import Array, Bools
from neurogym_core.trials.noise import checked_split


class BoundStep:
    """Bind the step of a kernel or inner env as ``self.step`` if nothing is added to it.

    That saves a call per step. Copies and pickles bind the step of the copied one.
    """

    def _kernel_step(self) -> Callable[..., Any] | None:
        """Return the step to bind, or None if something is added to it."""
        raise NotImplementedError

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            return missing(self, name, "env")

    def _bind(self) -> None:
        step = self._kernel_step()
        if step is not None:
            self.__dict__["step"] = step

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "step"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._bind()


def observation_space(task: Task) -> spaces.Box:
    """Return the space of observations: float32 vectors, unbounded because noise is Gaussian."""
    return spaces.Box(-np.inf, np.inf, (task.channels.size,), np.float32)


def action_space(task: Task) -> spaces.Discrete | spaces.Box:
    """Return the space of actions: discrete ids, or float32 vectors in [-1, 1]."""
    if task.actions.continuous:
        return spaces.Box(-1.0, 1.0, (task.actions.size,), np.float32)
    return spaces.Discrete(task.actions.size)


class TaskEnv(BoundStep, gymnasium.Env[Array, Any]):
    """A Gymnasium env of one task, for one subject that plays trial after trial.

    ``step(action)`` scores the action on the current observation and returns the next one. `info`
    has `new_trial` (whether a trial ended); if a trial ended, also `trial` (its record, as a dict)
    and `performance`. The properties `target`, `period` and `conditions` belong to the current
    observation.

    Args:
        task: the task.
        render_mode: None, or "rgb_array": `render` draws the trial so far, of envs that
            `neurogym_core.make` made.
        seed: seed until `reset` is given another one.
        split: None, "train", "validation" or "test": disjoint streams of trials, of every seed.
        info: "small", as above; "full": with `gt` and `period` (target and period of the step
            that was scored, as in NeuroGym); or "numeric" for clients that store infos: the same
            keys on every step and reset, and numbers only. These are `gt`, `period` (its index),
            `new_trial`, and, 0 until a trial ends, `performance`, `trial_reward`, `outcome` (an
            `Outcome`), `choice` (of the first slot), `trial_steps` and `aborts`.

    Raises:
        InvalidValueError: `render_mode` is neither None nor "rgb_array", or `info` is not one of
            these.
        UnknownNameError: there is no such split.

    Example:
        >>> from neurogym_core import TaskEnv, make_task
        >>> env = TaskEnv(make_task("perceptual/PerceptualDecisionMaking-v0"))
        >>> observation, info = env.reset(seed=0)
        >>> while not info.get("new_trial"):
        ...     observation, reward, terminated, truncated, info = env.step(env.target)
        >>> info["trial"]["outcome"], reward
        ('correct', 1.0)
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012

    def __init__(
        self,
        task: Task,
        *,
        render_mode: str | None = None,
        seed: int | None = None,
        split: str | None = None,
        info: str = "small",
    ) -> None:
        self.task = task
        self.split = checked_split(split, type(self).__name__)
        self.render_mode = checked_render_mode(render_mode)
        self.observation_space = observation_space(task)
        self.action_space = action_space(task)
        self.stepper = Stepper(task, 1, seed, split=self.split)
        self._once = task.trials_per_session == 1
        self._names, self._size = state_of(task).period_names, task.actions.size
        self._numeric, self._full = checked_form(info) == "numeric", info != "small"
        self.stepper.full = self.stepper.kernel.full = self._full
        self._bind()

    def _kernel_step(self) -> Callable[..., Any] | None:
        adds = self.stepper.hooked or self._numeric or type(self).step is not TaskEnv.step
        return None if adds else self.stepper.kernel.step

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Start a session; return the first observation, (obs,), and `info`.

        Without `seed` and `options` the stream of trials continues with the next one.

        Args:
            seed: determines all following trials and noise.
            options: ``{"conditions": {name: value}}``, imposed until the next `reset` with a seed
                or options; of (m,) values the trials take one after the other.
        """
        super().reset(seed=seed)
        observation = self.stepper.reset(seed, read_options(options))[0]
        if self._numeric:
            stepper = self.stepper
            return observation, of_one(numeric_info(1, stepper.targets(), stepper.period))
        return observation, {"period": self.period} if self._full else {}

    def step(self, action: Any) -> Stepped:
        """Play one step; return observation, reward, terminated, truncated, `info` (see the class).

        Args:
            action: an action id, or (k,) values in [-1, 1].

        Raises:
            InvalidValueError: the action is not in the action space.
        """
        if self.stepper.hooked:
            with self.stepper.kernel:
                result = self._step_with_hooks(action)
        else:
            result = self.stepper.kernel.step(action)
        return (*result[:4], self._numbers(result[4])) if self._numeric else result

    def _numbers(self, info: dict[str, Any]) -> dict[str, Any]:
        finished = info["trial"].finished if info["new_trial"] else None
        period = np.array([self._names.index(info["period"])])
        return of_one(numeric_info(1, np.asarray(info["gt"])[None], period, finished))

    def _step_with_hooks(self, action: Any) -> Stepped:
        stepper = self.stepper
        if not stepper.begun:
            stepper.reset()
        if self.task.actions.continuous:
            actions = checked_all(self.task, 1, np.asarray(action)[None])
        else:
            known = type(action) is int and 0 <= action < self._size
            actions = np.array([action if known else checked_one(self.task, action)])
        info: dict[str, Any] = {"gt": self.target, "period": self.period} if self._full else {}
        moved = stepper.step(actions)
        info["new_trial"] = moved.finished is not None
        if moved.finished is not None:
            info["trial"] = TrialInfo.of(moved.finished)
            info["performance"] = moved.performance.item(0)
        over = moved.over.item(0)
        return (
            stepper.observations()[0],
            moved.reward.item(0),
            over and self._once,
            over and not self._once,
            info,
        )

    def render(self) -> Array | None:
        """Return the figure of the trial so far, (height, width, 3) uint8.

        None without a render mode. A package draws it (hook ``ngym_render``).

        Raises:
            MissingDependencyError: no installed package draws it.
            NotSupportedError: the env was not made by `neurogym_core.make`.
        """
        return None if self.render_mode is None else no_renderer("make")

    # ------------------------------------------------------------------ the current observation

    @property
    def target(self) -> Any:
        """Correct action: an action id, or (k,) float32 in [-1, 1]."""
        target = self.stepper.targets()[0]
        return target if np.ndim(target) else target.item()

    @property
    def period(self) -> str:
        """Name of the current period."""
        return self._names[self.stepper.period.item(0)]

    @property
    def conditions(self) -> dict[str, Any]:
        """Conditions of the current trial, name -> value."""
        conditions = self.stepper.conditions
        return {name: conditions[name][0].tolist() for name in conditions}

    @property
    def is_asked(self) -> bool:
        """Whether a slot can be answered on the current step."""
        return bool(self.stepper.is_asked()[0])

    @property
    def can_wait(self) -> bool:
        """Whether a slot can be answered on the current step and also on the next one."""
        return bool(self.stepper.can_wait()[0])


def read_options(options: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return the conditions that the options of `reset` impose, or None."""
    if not options:
        return None
    for name in options:
        if name != "conditions":
            raise unknown("option", name, ["conditions"], of="reset()")
    conditions = options["conditions"]
    if not isinstance(conditions, Mapping):
        raise InvalidValueError(
            f"reset() was given conditions={conditions!r}. Expected a mapping from names to values."
            " Give them by name, e.g. {'coherence': 51.2}."
        )
    return conditions


def reset_mask(
    options: Mapping[str, Any] | None, num_envs: int
) -> tuple[Bools, Mapping[str, Any] | None]:
    """Return (num_envs,) which envs `reset` resets, and its other options."""
    if not isinstance(options, Mapping) or "reset_mask" not in options:
        return np.ones(num_envs, np.bool_), options
    mask = np.asarray(options["reset_mask"])
    if mask.shape != (num_envs,) or mask.dtype != np.bool_ or not mask.any():
        raise InvalidValueError(
            f"reset() was given reset_mask={options['reset_mask']!r}. Expected {num_envs} bools, at"
            " least one of them True. Give one per env."
        )
    return mask.copy(), {name: value for name, value in options.items() if name != "reset_mask"}


def checked_form(info: str) -> str:
    """Return the form of infos: "small", "full" or "numeric"."""
    if info not in ("small", "full", "numeric"):
        raise InvalidValueError(
            f"info={info!r} was given. Expected 'small', 'full' or 'numeric'. Use one of them."
        )
    return info


def checked_render_mode(render_mode: str | None) -> str | None:
    """Return the render mode, None or "rgb_array"."""
    if render_mode not in (None, "rgb_array"):
        raise InvalidValueError(
            f"render_mode={render_mode!r} was given. Expected None or 'rgb_array'. Use one of them."
        )
    return render_mode


def no_renderer(maker: str) -> Any:
    """Raise the error of `render` on an env that no package wrapped; `maker` makes such envs."""
    from neurogym_core.ecosystem.hooks import has_hook  # imports pluggy

    if not has_hook("ngym_render"):
        raise MissingDependencyError(comes_with("render()", brought("plugins").get("ngym_render")))
    raise NotSupportedError(
        f"render() was called on an env of its class. Expected an env of neurogym_core.{maker},"
        f" which draws. Make it with {maker}(task, render_mode='rgb_array')."
    )


def whole_number(owner: str, name: str, value: Any, least: int = 1) -> int:
    """Return an argument of the function `owner` as an int of at least `least`, or raise."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InvalidValueError(
            f"{owner} was given {name}={value!r}. Expected a whole number, at least {least}."
            " Give one."
        )
    return int(value)
