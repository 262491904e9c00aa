"""`TaskVectorEnv`: many envs of one task as a native Gymnasium vector env."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from neurogym_core.errors import InvalidValueError
from neurogym_core.play.info import StepInfo, TrialInfo
from neurogym_core.play.options import read_options
from neurogym_core.play.player import NO_ROWS, Player, check_actions
from neurogym_core.play.spaces import action_space, observation_space
from neurogym_core.tasks.task import Task


class TaskVectorEnv(VectorEnv):
    """`num_envs` envs of one task in one set of arrays.

    ``step(actions)`` scores each action against the observation it was chosen on and returns the coming ones. `info`
    holds arrays (num_envs,): `gt` (target of the step scored), `period`, `new_trial`; where trials ended, `performance` and
    `trial` (column -> array) with the mask ``_trial``.

    Args:
        task: the task.
        num_envs: number of envs.
        autoreset_mode: ``"NextStep"`` (the step after a session's end ignores the action and pays 0) or ``"SameStep"``.
        seed: seed used until `reset` is given one.
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(self, task: Task, num_envs: int = 1, *, autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP, seed: int | None = None) -> None:
        if isinstance(num_envs, bool) or not isinstance(num_envs, int | np.integer) or num_envs < 1:
            raise InvalidValueError(f"num_envs={num_envs!r} was given; it needs a whole number, at least 1.")
        self.task = task
        self.num_envs = int(num_envs)
        self.autoreset_mode = _mode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.single_observation_space = observation_space(task)
        self.single_action_space = action_space(task)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.player = Player(task, self.num_envs, seed)
        self._shape, self._ids = (self.num_envs,), 0 if task.actions.continuous else task.actions.size
        self._nowhere = np.zeros(self.num_envs, bool)
        self._ends_episode = task.trials_per_session == 1
        self._names = np.asarray(task.period_names)
        self._waiting = NO_ROWS
        self._started = False
        self._last_reward = np.zeros(self.num_envs)

    # ------------------------------------------------------------------ Gymnasium

    def reset(self, *, seed: int | list[int | None] | None = None, options: Mapping[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        """New sessions on all envs.

        Args:
            seed: fixes everything that follows; a list of seeds (one per env) is joined to one.
            options: ``{"conditions": {name: value or (m,) values in turn}}`` for the coming sessions.
        """
        seed = _one_seed(seed)
        super().reset(seed=seed)
        conditions = read_options(options)
        obs = self.player.reset(seed, conditions)
        self._last_reward = np.zeros(self.num_envs)
        self._waiting = NO_ROWS
        self._started = True
        return obs, {"period": self._names[self.player.table.period[self.player.place]]}

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """One step of every env; see the class."""
        if not self._started:
            self.reset()
        # What is right for sure is not asked again; `check_actions` says what is wrong with the rest.
        array = np.asarray(actions)
        if array.shape != self._shape or array.dtype != np.int64 or array.item(array.argmin()) < 0 or array.item(array.argmax()) >= self._ids:
            array = check_actions(actions, self.num_envs, self.task)
        idle, self._waiting = self._waiting, NO_ROWS
        observations, reward, new_trial, _, finished, performance, over, scored = self.player.advance(array, idle)
        self._last_reward = reward
        info = StepInfo(scored)
        info["new_trial"] = new_trial
        ended, other = self._nowhere.copy(), self._nowhere.copy()
        if finished is not None:
            info["trial"], info["_trial"], info["performance"] = TrialInfo(finished, self.num_envs), new_trial, performance
            if over.size:
                self._end_sessions(over, ended, info, observations)
        terminated, truncated = (ended, other) if self._ends_episode else (other, ended)
        return observations, reward, terminated, truncated, info

    def _end_sessions(self, over: np.ndarray, ended: np.ndarray, info: dict[str, Any], observations: np.ndarray) -> None:
        ended[over] = True
        if self.autoreset_mode is AutoresetMode.NEXT_STEP:
            self._waiting = over
        else:
            self._add_final(info, over, observations)

    def _add_final(self, info: dict[str, Any], over: np.ndarray, observations: np.ndarray) -> None:
        """SameStep: what belongs to the session that ended goes under ``final_info``."""
        mask = np.zeros(self.num_envs, bool)
        mask[over] = True
        final = np.full(self.num_envs, None, dtype=object)
        for env in over.tolist():
            final[env] = observations[env].copy()
        info["final_obs"], info["_final_obs"] = final, mask
        kept = ("trial", "_trial", "performance", "gt", "period", "new_trial")
        info["final_info"], info["_final_info"] = {name: info[name] for name in kept}, mask

    # ------------------------------------------------------------------ the observation in hand

    @property
    def target(self) -> np.ndarray:
        """What is right on the observations in hand: (num_envs,) ids, or (num_envs, k) for continuous actions."""
        return self.player.targets()

    @property
    def period(self) -> np.ndarray:
        """Names of the periods of the observations in hand, (num_envs,)."""
        return self.player.period_names()

    @property
    def trial(self) -> dict[str, np.ndarray]:
        """Conditions of the trials in hand, name -> (num_envs, …)."""
        return {name: values[self.player.row] for name, values in self.player.table.batch.conditions.items()}

    @property
    def trial_number(self) -> np.ndarray:
        """(num_envs,) how many trials each env has finished."""
        return self.player.trial_number

    @property
    def last_reward(self) -> np.ndarray:
        """What the last step paid, (num_envs,); 0 after a reset."""
        return self._last_reward.copy()

    @property
    def is_asked(self) -> np.ndarray:
        """(num_envs,) whether a question is open on the observation in hand."""
        return self.player.is_asked()

    @property
    def can_wait(self) -> np.ndarray:
        """(num_envs,) whether the question in hand may also be answered on a later step."""
        return self.player.can_wait()


def _mode(mode: str | AutoresetMode) -> AutoresetMode:
    names = {"NextStep": AutoresetMode.NEXT_STEP, "SameStep": AutoresetMode.SAME_STEP}
    found = mode if isinstance(mode, AutoresetMode) else names.get(mode)
    if found not in names.values():
        raise InvalidValueError(f"autoreset_mode={mode!r} was given; give 'NextStep' or 'SameStep'.")
    return found


def _one_seed(seed: Any) -> int | None:
    if isinstance(seed, list | tuple):
        numbers = [item for item in seed if item is not None]
        return int(np.random.SeedSequence(numbers).generate_state(1)[0]) if numbers else None
    return seed
