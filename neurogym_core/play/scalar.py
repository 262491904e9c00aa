"""Two ways to play a single env.

`ScalarPlayer` is for tasks that are tables with discrete actions: its step is plain Python over lists, because NumPy's calls
cost more than the step. `SinglePlayer` is a `Player` of one env, for everything else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from neurogym_core.errors import InvalidValueError
from neurogym_core.play.finished import FinishedTrials
from neurogym_core.play.player import Player
from neurogym_core.play.vector_env import check_values
from neurogym_core.tasks.task import Task
from neurogym_core.trials.record import Outcome

Result = tuple[np.ndarray, float, bool, bool, dict[str, Any]]


class SinglePlayer:
    """One env, played by a `Player` of one."""

    def __init__(self, task: Task, seed: int | None) -> None:
        self.player = Player(task, 1, seed)
        self.task = task
        self.finished: FinishedTrials | None = None
        self._once = task.trials_per_session == 1
        self._started = False

    def reset(self, seed: int | None, conditions: Mapping[str, Any] | None) -> np.ndarray:
        self.finished = None
        self._started = True
        return self.player.reset(seed, conditions)[0]

    def step(self, action: Any) -> Result:
        if not self._started:
            self.reset(None, None)
        step = self.player.step(self._checked(action))
        target = step.target[0]
        info = {
            "gt": target if np.ndim(target) else target.item(),
            "period": self.task.period_names[int(step.period[0])],
            "new_trial": step.finished is not None,
        }
        self.finished = step.finished
        if step.finished is not None:
            info["trial"] = step.finished.row(0)
            info["performance"] = info["trial"]["performance"]
        over = bool(len(step.over))
        return step.observations[0], float(step.reward[0]), over and self._once, over and not self._once, info

    def _checked(self, action: Any) -> np.ndarray:
        if self.task.actions.continuous:
            return check_values(np.asarray(action)[None], (1, self.task.actions.size), self.task.name)
        return np.array([check_action(action, self.task)])

    @property
    def target(self) -> Any:
        target = self.player.targets()[0]
        return target if np.ndim(target) else target.item()

    @property
    def period(self) -> str:
        return str(self.player.period_names()[0])

    @property
    def trial(self) -> dict[str, Any]:
        row = self.player.row[0]
        return {name: values[row].tolist() for name, values in self.player.table.batch.conditions.items()}

    @property
    def can_wait(self) -> bool:
        return bool(self.player.can_wait()[0])


class ScalarPlayer:
    """One env of a table with discrete actions.

    It keeps a `Player` of one env for everything but the step: queue, table, sessions. What a step looks up lies in lists.
    """

    def __init__(self, task: Task, seed: int | None) -> None:
        self.player = Player(task, 1, seed)
        self.task = task
        self.finished: FinishedTrials | None = None
        self._n_actions = task.actions.size
        self._once = task.trials_per_session == 1
        self._table: Any = None
        self._started = False

    # ------------------------------------------------------------------ lists of the table in hand

    def _load(self) -> None:
        """Take the table in hand apart into lists."""
        table = self.player.table
        self._table = table
        self._tape = list(table.tape)
        self._base = (table.cell * table.n_actions).tolist()
        self._rewards = table.reward.tolist()
        # 0: nothing; 1: counts as an abort; 2 and more: something happens.
        self._codes = np.where(table.code > 0, 2, table.aborts > 0).astype(np.uint8).tobytes()
        self._targets = table.targets.tolist()
        names = self.task.period_names
        self._periods = [names[p] for p in table.period.tolist()]

    def reset(self, seed: int | None, conditions: Mapping[str, Any] | None) -> np.ndarray:
        if self._started:
            self._hand_over()
        self.player.reset(seed, conditions)
        self._started = True
        self.finished = None
        return self._take_over()

    def _take_over(self) -> np.ndarray:
        """Begin to play the trial that the player has in hand."""
        if self.player.table is not self._table:
            self._load()
        self._at = int(self.player.place[0])
        self._begun = self._at
        self._return = 0.0
        self._aborts = 0
        self._steps_before = 0
        return self._tape[self._at]

    def _hand_over(self) -> None:
        """Tell the player how far the trial in hand has come."""
        self.player._clock += self._at - self._begun + self._steps_before
        self.player.place[0] = self._at

    # ------------------------------------------------------------------ the step

    def step(self, action: Any) -> Result:
        at = self._at
        try:
            if not 0 <= action < self._n_actions:
                action = check_action(action, self.task)
            key = self._base[at] + action
            reward = self._rewards[key]
            code = self._codes[key]
        except (AttributeError, TypeError, ValueError, IndexError):
            return self._step_slowly(action)
        if code:
            if code == 2:
                return self._event(at, key, int(action))
            self._aborts += 1
        self._return += reward
        self._at = at + 1
        return self._tape[at + 1], reward, False, False, {"gt": self._targets[at], "period": self._periods[at], "new_trial": False}

    def _step_slowly(self, action: Any) -> Result:
        """Everything unusual: a step before the first reset, an action that is no plain number."""
        if not self._started:
            self.reset(None, None)
        return self.step(check_action(action, self.task))

    def _event(self, at: int, key: int, action: int) -> Result:
        """Something happens: let the player play this step."""
        player = self.player
        self._hand_over()
        player._total[0] += self._return
        player._aborts[0] += self._aborts
        step = player.step(np.array([action]))
        reward = step.reward.item()
        info: dict[str, Any] = {"gt": self._targets[at], "period": self._periods[at], "new_trial": step.finished is not None}
        self.finished = step.finished
        if step.finished is not None:
            info["trial"] = step.finished.row(0)
            info["performance"] = info["trial"]["performance"]
        over = bool(len(step.over))
        self._take_over()
        return step.observations[0], reward, over and self._once, over and not self._once, info

    # ------------------------------------------------------------------ the observation in hand

    @property
    def target(self) -> int:
        return self._targets[self._at]

    @property
    def period(self) -> str:
        return self._periods[self._at]

    @property
    def trial(self) -> dict[str, Any]:
        row = self.player.row[0]
        return {name: values[row].tolist() for name, values in self.player.table.batch.conditions.items()}

    @property
    def can_wait(self) -> bool:
        self._hand_over()
        self._begun = self._at
        return bool(self.player.can_wait()[0])


def check_action(action: Any, task: Task) -> int:
    """An action id as an int.

    Raises:
        InvalidValueError: not a whole number, or out of range.
    """
    array = np.asarray(action)
    if array.size != 1 or array.dtype.kind not in "iu":
        raise InvalidValueError(f"{task.name} was given the action {action!r}; give a whole number from 0 to {task.actions.size - 1}.")
    value = int(array.reshape(()))
    if not 0 <= value < task.actions.size:
        raise InvalidValueError(f"{task.name} was given the action {value}; it must be from 0 to {task.actions.size - 1}.")
    return value


__all__ = ["Outcome", "ScalarPlayer", "SinglePlayer", "check_action"]
