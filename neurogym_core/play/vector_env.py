"""`TaskVectorEnv`: many envs of one task as a native Gymnasium vector env."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from neurogym_core.errors import InvalidValueError
from neurogym_core.play.actions import checked_all
from neurogym_core.play.env import (
    BoundStep,
    action_space,
    checked_form,
    checked_render_mode,
    no_renderer,
    observation_space,
    read_options,
    reset_mask,
    whole_number,
)
from neurogym_core.play.kernel import VectorStepped
from neurogym_core.play.results import VectorInfo, numeric_info
from neurogym_core.play.stepper import Stepper
from neurogym_core.tasks.state import state_of
from neurogym_core.tasks.task import Task
from neurogym_core.trials.arrays import Array
from neurogym_core.trials.noise import checked_split


class TaskVectorEnv(BoundStep, VectorEnv):
    """A native Gymnasium vector env: `num_envs` envs of one task, stepped together.

    ``step(actions)`` scores the actions on the current observations and returns the next ones.
    `info` has the array `new_trial`, (num_envs,), whether a trial ended; if trials ended, also
    `performance`, and `trial` (column -> array). Each `name` has a mask ``_name``, also within
    `trial`, as in the vector envs of Gymnasium.

    Args:
        task: the task.
        num_envs: number of envs.
        autoreset_mode: ``"NextStep"`` (the step after the end of a session ignores the action and
            has a reward of 0), ``"SameStep"``, or ``"Disabled"``: before the next step, reset the
            envs whose sessions ended, with ``reset(options={"reset_mask": mask})``.
        seed: seed until `reset` is given another one.
        split: None, "train", "validation" or "test": disjoint streams of trials, of every seed.
        render_mode: None, or "rgb_array": `render` draws the trial so far of every env
            that `neurogym_core.make_vec` made.
        info: "small", "full" or "numeric", as in `TaskEnv`; numeric infos have no masks.
        out: whether `step` may return arrays of the env, which the next `step` overwrites: faster,
            for code that is done with them, or has copied them, by then.

    Raises:
        InvalidValueError: `num_envs` is not an integer above 0, the mode is not one of these, or
            `out` is combined with a render mode.
        UnknownNameError: there is no such split.

    Example:
        >>> from neurogym_core import TaskVectorEnv, make_task
        >>> envs = TaskVectorEnv(make_task("perceptual/PerceptualDecisionMaking-v0"), 3)
        >>> observations, info = envs.reset(seed=0, options={"conditions": {"coherence": 51.2}})
        >>> envs.conditions["coherence"].tolist(), envs.period.tolist()
        ([51.2, 51.2, 51.2], ['fixation', 'fixation', 'fixation'])
    """

    metadata: dict[str, Any] = {  # noqa: RUF012
        "render_modes": ["rgb_array"],
        "render_fps": 10,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        task: Task,
        num_envs: int = 1,
        *,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        seed: int | None = None,
        split: str | None = None,
        render_mode: str | None = None,
        info: str = "small",
        out: bool = False,
    ) -> None:
        self.task = task
        self.split = checked_split(split, type(self).__name__)
        self.render_mode = checked_render_mode(render_mode)
        self.num_envs = whole_number(type(self).__name__, "num_envs", num_envs)
        self.autoreset_mode = _mode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.single_observation_space = observation_space(task)
        self.single_action_space = action_space(task)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        next_step = self.autoreset_mode is AutoresetMode.NEXT_STEP
        self.stepper = Stepper(task, self.num_envs, seed, next_step, self.split)
        self._names = np.asarray(state_of(task).period_names)
        self._numeric, self._full = checked_form(info) == "numeric", info != "small"
        if out and render_mode:
            raise InvalidValueError(
                f"out=True was given with render_mode={render_mode!r}. Expected one of them, since"
                " figures show all steps of a trial, and each step overwrites the last one. Leave"
                " one out."
            )
        self._over = np.zeros(self.num_envs, np.bool_)  # with "Disabled": not reset yet
        self.stepper.full = self.stepper.kernel.full = self._full
        self.stepper.own = self.stepper.kernel.own = out
        self._bind()

    def _kernel_step(self) -> Callable[..., Any] | None:
        plain = not self.stepper.hooked and self.autoreset_mode is AutoresetMode.NEXT_STEP
        plain = plain and not self._numeric
        own = type(self).step is not TaskVectorEnv.step
        return self.stepper.kernel.vector_step if plain and not own else None

    # ------------------------------------------------------------------ Gymnasium

    def reset(
        self,
        *,
        seed: int | list[int | None] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> tuple[Array, dict[str, Any]]:
        """Start sessions in all envs; return observations, (num_envs, obs), and `info`.

        Args:
            seed: determines all following trials and noise; a list of seeds (one per env) is
                combined into one.
            options: ``{"conditions": {name: value}}``, imposed until the next `reset` with a seed
                or options; of (m,) values the trials take one after the other.
                ``{"reset_mask": mask}`` resets the envs where the mask, (num_envs,) bool, is True.

        Raises:
            NotSupportedError: the mask has only some envs, of which one is within a session whose
                trials depend on each other.

        Example:
            >>> from neurogym_core import make_vec
            >>> envs = make_vec("perceptual/PerceptualDecisionMaking-v0", 2)
            >>> options = {"conditions": {"coherence": [6.4, 51.2]}}
            >>> observations, info = envs.reset(seed=0, options=options)
            >>> envs.conditions["coherence"].tolist()
            [6.4, 51.2]
        """
        mask, options = reset_mask(options, self.num_envs)
        seed = _one_seed(seed, self.num_envs)
        if mask.all():
            super().reset(seed=seed)
            observations = self.stepper.reset(seed, read_options(options))
        elif seed is None and not options:
            observations = self.stepper.reset_some(mask)
        else:
            raise InvalidValueError(
                f"reset() was given a mask of {int(mask.sum())} of {self.num_envs} envs with a seed"
                " or conditions, which all envs share. Expected the mask alone. Reset all envs, or"
                " leave them out."
            )
        self._over = self._over & ~mask
        if self._numeric:
            stepper = self.stepper
            return observations, numeric_info(self.num_envs, stepper.targets(), stepper.period)
        if not self._full:
            return observations, {}
        return observations, {"period": self.period, "_period": np.ones(self.num_envs, np.bool_)}

    def step(self, actions: Any) -> VectorStepped:
        """Play one step of every env; return arrays (num_envs, …) as described in the class.

        Args:
            actions: (num_envs,) ids, or (num_envs, k) values in [-1, 1].

        Raises:
            InvalidValueError: the actions are not in the action space, or (with "Disabled") an env
                whose session ended was not reset.
        """
        if self._over.any():
            raise InvalidValueError(
                f"step() was called, but the sessions of envs {np.flatnonzero(self._over).tolist()}"
                " have ended. Expected a reset, because autoreset_mode is 'Disabled'. Call"
                " reset(options={'reset_mask': terminated | truncated})."
            )
        if self.stepper.hooked:
            checked = checked_all(self.task, self.num_envs, actions)
            with self.stepper.kernel:
                result = self._step_with_hooks(checked)
        else:
            result = self.stepper.kernel.vector_step(actions)
        if self._numeric:
            result = (*result[:4], self._numbers(result[4]))
        if self.autoreset_mode is AutoresetMode.DISABLED:
            self._over = result[2] | result[3]
        if self.autoreset_mode is AutoresetMode.SAME_STEP and (result[2].any() or result[3].any()):
            self._add_final(result)
        return result

    def _numbers(self, info: dict[str, Any]) -> dict[str, Any]:
        finished = info["trial"].finished if "trial" in info else None
        order = np.argsort(self._names)
        period = order[np.searchsorted(self._names, info["period"], sorter=order)]
        return dict(numeric_info(self.num_envs, info["gt"], period, finished))

    def _step_with_hooks(self, actions: Array) -> VectorStepped:
        stepper = self.stepper
        if not stepper.begun:
            stepper.reset()
        always = np.ones(self.num_envs, np.bool_)
        info: dict[str, Any] = {}
        if self._full:
            info |= {"gt": stepper.targets(), "_gt": always, "period": self.period}
            info["_period"] = always
        moved = stepper.step(actions)
        info |= {"new_trial": moved.ended, "_new_trial": always}
        if moved.finished is not None:
            info["trial"], info["_trial"] = VectorInfo(moved.finished, self.num_envs), moved.ended
            info["performance"], info["_performance"] = moved.performance, moved.ended
        never = np.zeros(self.num_envs, np.bool_)
        over, cut = moved.over, never
        if self.task.trials_per_session != 1:
            over, cut = cut, over
        return stepper.observations(), moved.reward, over, cut, info

    def _add_final(self, result: VectorStepped) -> None:
        """Move the last observations and infos of sessions that ended to ``final_*`` (SameStep)."""
        observations, _, terminated, truncated, info = result
        mask = terminated | truncated
        final = np.full(self.num_envs, None, dtype=object)
        for env in np.flatnonzero(mask).tolist():
            final[env] = observations[env].copy()
        info["final_info"], info["_final_info"] = dict(info), mask
        info["final_obs"], info["_final_obs"] = final, mask

    def render(self) -> tuple[Array, ...] | None:
        """Return the figures of the trials so far, each (height, width, 3) uint8.

        None without a render mode; see `TaskEnv.render`.
        """
        return None if self.render_mode is None else no_renderer("make_vec")

    # ------------------------------------------------------------------ the current observations

    @property
    def target(self) -> Array:
        """Correct actions: (num_envs,) ids, or (num_envs, k) for continuous actions."""
        return self.stepper.targets()

    @property
    def period(self) -> Array:
        """(num_envs,) names of the current periods."""
        names: Array = self._names[self.stepper.period]
        return names

    @property
    def conditions(self) -> dict[str, Array]:
        """Conditions of the current trials, name -> (num_envs, …)."""
        conditions = self.stepper.conditions
        return {name: conditions[name] for name in conditions}

    @property
    def trial_number(self) -> Array:
        """(num_envs,) number of trials that each env has finished."""
        return self.stepper.state("number").copy()

    @property
    def last_reward(self) -> Array:
        """(num_envs,) rewards of the last step; 0 after a reset."""
        return self.stepper.kernel.last_reward.copy()

    @property
    def is_asked(self) -> Array:
        """(num_envs,) whether a slot can be answered on the current step."""
        return self.stepper.is_asked()

    @property
    def can_wait(self) -> Array:
        """(num_envs,) whether a slot can be answered on the current step and also on the next."""
        return self.stepper.can_wait()


def _mode(mode: str | AutoresetMode) -> AutoresetMode:
    try:
        return AutoresetMode(mode)
    except ValueError:
        raise InvalidValueError(
            f"autoreset_mode={mode!r} was given. Expected 'NextStep', 'SameStep' or 'Disabled'."
            " Use one."
        ) from None


def _one_seed(seed: Any, num_envs: int) -> int | None:
    if isinstance(seed, list | tuple):
        if len(seed) != num_envs:
            raise InvalidValueError(
                f"reset() was given {len(seed)} seeds for {num_envs} envs. Expected one per env."
                " Give as many, or one number for all."
            )
        if all(item is None for item in seed):
            return None
        # Shifted by 1, so that None and 0 differ.
        numbers = [0 if item is None else item + 1 for item in seed]
        # 128 bits, since 32 are few enough for two lists to meet.
        words = np.random.SeedSequence(numbers).generate_state(4)
        return int.from_bytes(words.astype("<u4").tobytes(), "little")
    return seed  # type: ignore[no-any-return]
