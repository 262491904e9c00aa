"""`TaskVectorEnv`: many envs of one task as a native Gymnasium vector env."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from neurogym_core.errors import InvalidValueError
from neurogym_core.play.actions import checked_all
from neurogym_core.play.env_base import BoundStep, action_space, observation_space
from neurogym_core.play.kernel import VectorStepped
from neurogym_core.play.options import read_options, whole_number
from neurogym_core.play.results import VectorInfo
from neurogym_core.play.stepper import Stepper
from neurogym_core.tasks.state import period_names_of
from neurogym_core.tasks.task import Task
from neurogym_core.trials.arrays import Array


class TaskVectorEnv(BoundStep, VectorEnv):
    """A native Gymnasium vector env: `num_envs` envs of one task, stepped together.

    ``step(actions)`` scores the actions on the current observations and returns the next ones.
    `info` has arrays (num_envs,): `gt` and `period` (target and period of the step that was
    scored), and `new_trial` (whether a trial ended); if trials ended, also `performance`, and
    `trial` (column -> array) with the mask ``_trial``.

    Args:
        task: the task.
        num_envs: number of envs.
        autoreset_mode: ``"NextStep"`` (the step after the end of a session ignores the action and
            has a reward of 0) or ``"SameStep"``.
        seed: seed until `reset` is given another one.

    Raises:
        InvalidValueError: `num_envs` is not an integer above 0, or the mode is not one of these.

    Example:
        >>> from neurogym_core import TaskVectorEnv, make_task
        >>> envs = TaskVectorEnv(make_task("perceptual/PerceptualDecisionMaking-v0"), 3)
        >>> observations, info = envs.reset(seed=0, options={"conditions": {"coherence": 51.2}})
        >>> envs.conditions["coherence"].tolist(), envs.period.tolist()
        ([51.2, 51.2, 51.2], ['fixation', 'fixation', 'fixation'])
    """

    metadata: dict[str, Any] = {  # noqa: RUF012
        "render_modes": [],
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        task: Task,
        num_envs: int = 1,
        *,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        seed: int | None = None,
    ) -> None:
        self.task = task
        self.num_envs = whole_number(type(self).__name__, "num_envs", num_envs)
        modes: dict[Any, AutoresetMode] = {
            "NextStep": AutoresetMode.NEXT_STEP,
            "SameStep": AutoresetMode.SAME_STEP,
        }
        self.autoreset_mode = modes.get(autoreset_mode, autoreset_mode)
        if self.autoreset_mode not in modes.values():
            raise InvalidValueError(
                f"autoreset_mode={autoreset_mode!r} was given. Expected 'NextStep' or 'SameStep'."
                " Use one."
            )
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.single_observation_space = observation_space(task)
        self.single_action_space = action_space(task)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        next_step = self.autoreset_mode is AutoresetMode.NEXT_STEP
        self.stepper = Stepper(task, self.num_envs, seed, next_step=next_step)
        self._names = np.asarray(period_names_of(task))
        self._bind()

    def _kernel_step(self) -> Callable[..., Any] | None:
        plain = not self.stepper.hooked and self.autoreset_mode is AutoresetMode.NEXT_STEP
        own = type(self).step is not TaskVectorEnv.step
        return self.stepper.kernel.vector_step if plain and not own else None

    # ------------------------------------------------------------------ Gymnasium

    def reset(
        self,
        *,
        seed: int | list[int | None] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> tuple[Array, dict[str, Any]]:
        """Start sessions in all envs; return observations (num_envs, obs) and `info` with `period`.

        Args:
            seed: determines all following trials and noise; a list of seeds (one per env) is
                combined into one.
            options: ``{"conditions": {name: value}}``, imposed until the next `reset` with a seed
                or options; of (m,) values the trials take one after the other.

        Example:
            >>> from neurogym_core import make_vec
            >>> envs = make_vec("perceptual/PerceptualDecisionMaking-v0", 2)
            >>> options = {"conditions": {"coherence": [6.4, 51.2]}}
            >>> observations, info = envs.reset(seed=0, options=options)
            >>> envs.conditions["coherence"].tolist()
            [6.4, 51.2]
        """
        if isinstance(seed, list | tuple):
            if len(seed) != self.num_envs:
                raise InvalidValueError(
                    f"reset() was given {len(seed)} seeds for {self.num_envs} envs. Expected one"
                    " per env. Give as many, or one number for all."
                )
            # Shifted by 1, so that None and 0 differ.
            numbers = [0 if one is None else one + 1 for one in seed]
            seed = (
                int(np.random.SeedSequence(numbers).generate_state(1)[0]) if any(numbers) else None
            )
        super().reset(seed=seed)
        observations = self.stepper.reset(seed, read_options(options))
        return observations, {"period": self.period}

    def step(self, actions: Any) -> VectorStepped:
        """Play one step of every env; return arrays (num_envs, …) as described in the class.

        Args:
            actions: (num_envs,) ids, or (num_envs, k) values in [-1, 1].

        Raises:
            InvalidValueError: the actions are not in the action space.
        """
        if self.stepper.hooked:
            checked = checked_all(self.task, self.num_envs, actions)
            result = self._step_with_hooks(checked)
        else:
            result = self.stepper.kernel.vector_step(actions)
        if self.autoreset_mode is AutoresetMode.SAME_STEP and (result[2].any() or result[3].any()):
            self._add_final(result)
        return result

    def _step_with_hooks(self, actions: Array) -> VectorStepped:
        stepper = self.stepper
        if not stepper.begun:
            stepper.reset()
        target = stepper.targets()
        moved = stepper.step(actions)
        info: dict[str, Any] = {
            "gt": target,
            "period": self._names[moved.period],
            "new_trial": moved.ended,
        }
        if moved.finished is not None:
            info["trial"], info["_trial"] = VectorInfo(moved.finished, self.num_envs), moved.ended
            info["performance"] = moved.performance
        never = np.zeros(self.num_envs, np.bool_)
        ends = (moved.over, never) if self.task.trials_per_session == 1 else (never, moved.over)
        return stepper.observations(), moved.reward, *ends, info

    def _add_final(self, result: VectorStepped) -> None:
        """Move the last observations and infos of sessions that ended to ``final_*`` (SameStep)."""
        observations, _, terminated, truncated, info = result
        mask = terminated | truncated
        final = np.full(self.num_envs, None, dtype=object)
        for env in np.flatnonzero(mask).tolist():
            final[env] = observations[env].copy()
        info["final_obs"], info["_final_obs"] = final, mask
        kept = ("trial", "_trial", "performance", "gt", "period", "new_trial")
        info["final_info"], info["_final_info"] = {name: info[name] for name in kept}, mask

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
