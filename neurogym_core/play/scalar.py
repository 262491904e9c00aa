"""Two ways to play a single env.

`ScalarPlayer` is for tasks that are tables with discrete actions: its step is plain Python over lists, because calls of
NumPy cost more than the step. `SinglePlayer` is a `Player` of one env, for hooks, continuous actions, and tasks that read
outcomes. Tests hold both to the vector env.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from neurogym_core.errors import InvalidValueError
from neurogym_core.play.finished import FinishedTrials, SlotState
from neurogym_core.play.player import Player, check_values
from neurogym_core.play.stream import TrialStream
from neurogym_core.play.table import ANSWER, EXPIRE, LEAVE, PlayTable
from neurogym_core.tasks.task import Task
from neurogym_core.trials.payoffs import RESTING
from neurogym_core.trials.record import Outcome
from neurogym_core.trials.trial import END, STAY

Result = tuple[np.ndarray, float, bool, bool, dict[str, Any]]
NAN = float("nan")
NOTHING, ABORTS, HAPPENS = 0, 1, 2
"""What a key's byte says: nothing special; it counts as an abort; look closer."""


class TrialRow(Mapping):
    """``info["trial"]`` of a single env: the record of the trial that just ended, worked out when looked at.

    A mapping from column to Python value; an absent reaction time is an absent key. It pickles and copies as a dict.
    """

    __slots__ = ("_row", "finished")

    def __init__(self, finished: FinishedTrials) -> None:
        self.finished = finished
        self._row: dict[str, Any] | None = None

    @property
    def row(self) -> dict[str, Any]:
        if self._row is None:
            self._row = self.finished.row(0)
        return self._row

    def __getitem__(self, name: str) -> Any:
        return self.row[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.row)

    def __len__(self) -> int:
        return len(self.row)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mapping) and self.row == dict(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self.row)

    def __reduce__(self) -> tuple:
        return dict, (self.row,)


class SinglePlayer:
    """One env, played by a `Player` of one."""

    def __init__(self, task: Task, seed: int | None) -> None:
        self.player = Player(task, 1, seed)
        self.task = task
        self.finished: FinishedTrials | None = None
        self._once = task.trials_per_session == 1

    def reset(self, seed: int | None, conditions: Mapping[str, Any] | None) -> np.ndarray:
        self.finished = None
        return self.player.reset(seed, conditions)[0]

    def step(self, action: Any) -> Result:
        if self.player.table is None:
            self.reset(None, None)
        step = self.player.step(self._checked(action))
        target = step.target[0]
        info = {
            "gt": target if np.ndim(target) else target.item(),
            "period": str(step.period[0]),
            "new_trial": step.finished is not None,
        }
        self.finished = step.finished
        if step.finished is not None:
            info["trial"] = TrialRow(step.finished)
            info["performance"] = float(step.finished.performance[0])
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
    def is_asked(self) -> bool:
        return bool(self.player.is_asked()[0])

    @property
    def can_wait(self) -> bool:
        return bool(self.player.can_wait()[0])


class ScalarPlayer:
    """One env of a table with discrete actions. Independent or session-bound trials come in the order of the table."""

    def __init__(self, task: Task, seed: int | None) -> None:
        self.task = task
        self.stream = TrialStream(task, seed, 1)
        self._n_actions = task.actions.size
        self._limit = task.trials_per_session or 0
        self._once = self._limit == 1
        self._ended: tuple | None = None
        self.table: PlayTable | None = None  # type: ignore[assignment]
        self._steps_at: list[tuple[int, int, str]] = []
        self._at = 0

    # ------------------------------------------------------------------ beginning

    def reset(self, seed: int | None, conditions: Mapping[str, Any] | None) -> np.ndarray:
        if seed is not None:
            self.stream.seed(seed)
            self.stream.impose({})
        if conditions is not None:
            self.stream.impose(conditions)
        if seed is not None or conditions is not None or self.table is None:
            self._number = self._session = 0
            self._begin()
        else:
            self._continue()
        self._ended = None
        return self._tape[self._at]

    def _begin(self) -> None:
        self._left = self._limit
        self.stream.new_sessions()
        self._lay_out()

    def _continue(self) -> None:
        """A reset without a seed: a trial under way is given up, and a new session begins with the coming one."""
        played = self._steps() > 0
        if not played and self._left == self._limit:
            return
        self._number += played
        self._session += 1
        if self.task.stateful:
            self._begin()
            return
        self._left = self._limit
        if played:
            self._next_trial()

    def _lay_out(self) -> None:
        """Draw the coming trials, and take their table apart into lists."""
        self.table = table = PlayTable.render(self.stream.block(), self.stream.noise)
        self._tape = [*table.tape, table.tape[-1]]
        self._steps_at = self._step_facts(table)
        self._rewards = table.reward.tolist()
        self._codes = np.where(table.code > 0, HAPPENS, table.aborts > 0).astype(np.uint8).tobytes()
        self._starts = table.start.tolist()
        self._row = -1
        self._next_trial()

    def _step_facts(self, table: PlayTable) -> list[tuple[int, int, str]]:
        """For every step of the tape (base, target, name of the period); steps of one cell share one tuple."""
        batch = table.batch
        targets = np.repeat(batch.target.ravel(), 2).tolist()
        names = [name for p in batch.period.tolist() for name in [self.task.period_names[p]] * 2] * len(batch)
        facts = np.empty(len(targets), object)
        facts[:] = list(zip(range(0, len(targets) * self._n_actions, self._n_actions), targets, names, strict=True))
        return facts.take(table.cell).tolist()

    def _next_trial(self) -> None:
        self._row += 1
        if self._row == len(self._starts):
            self._lay_out()
            return
        self._at = self._from = self._starts[self._row]
        self._before = 0
        self._return = 0.0
        self._aborts = 0
        if not self.table.simple:
            self._slots = [[0, RESTING, NAN, 0.0] for _ in self.table.payoffs.slot_names]
            self._aborted = False

    def _steps(self) -> int:
        """Steps played of the trial in hand."""
        return self._before + self._at - self._from

    # ------------------------------------------------------------------ the step

    def step(self, action: Any) -> Result:
        at = self._at
        try:
            if not 0 <= action < self._n_actions:
                action = check_action(action, self.task)
            base, target, period = self._steps_at[at]
            key = base + action
            reward = self._rewards[key]
            code = self._codes[key]
        except (TypeError, ValueError, IndexError):
            return self._step_slowly(action)
        self._at = after = at + 1
        if code:
            if code == HAPPENS:
                return self._event(at, int(key), int(action), reward)
            self._aborts += 1
        self._return += reward
        return self._tape[after], reward, False, False, {"gt": target, "period": period, "new_trial": False}

    def _step_slowly(self, action: Any) -> Result:
        """Everything unusual: a step before the first reset, an action that is no plain number."""
        action = check_action(action, self.task)
        if self.table is None:
            self.reset(None, None)
        return self.step(action)

    def _event(self, at: int, key: int, action: int, reward: float) -> Result:
        """Something happens on this step."""
        table = self.table
        self._aborts += int(table.aborts[key])
        goto = END
        if not table.simple:
            reward, goto = self._general_event(at, key, action, reward)
        self._return += reward
        _, target, period = self._steps_at[at]
        info: dict[str, Any] = {"gt": target, "period": period, "new_trial": goto == END}
        over = False
        if goto == END:
            info["trial"] = TrialRow(self._finish(at, key))
            info["performance"] = table.performance.item(key) if table.scored else info["trial"].finished.performance.item()
            over = self._go_on()
        elif goto >= 0:
            self._jump(goto)
        return self._tape[self._at], reward, over and self._once, over and not self._once, info

    def _finish(self, at: int, key: int) -> FinishedTrials:
        """The trial that just ended."""
        table, slots, one = self.table, None, np.array
        if not table.simple:
            slots = SlotState(1, len(self._slots), 0)
            for k, (outcome, choice, time, score) in enumerate(self._slots):
                slots.outcome[0, k], slots.choice[0, k], slots.reaction_time[0, k], slots.score[0, k] = outcome, choice, time, score
        self._ended = finished = FinishedTrials(
            table, _ZERO, one([self._row]), one([self._number]), one([self._session]), one([self._steps()]),
            one([self._return]), one([self._aborts]), aborted=None if table.simple else one([self._aborted]),
            slots=slots, keys=one([key]), places=one([at + 1]),
        )  # fmt: skip
        return finished

    def _go_on(self) -> bool:
        """Start the coming trial; returns whether the session is over."""
        self._number += 1
        over = False
        if self._limit:
            self._left -= 1
            over = self._left == 0
            if over:
                self._left = self._limit
                self._session += 1
        self._next_trial()
        return over

    def _jump(self, place: int) -> None:
        """Go to another place of the tape; where steps are played again their noise is drawn anew."""
        self._before = self._steps()
        if place < self._at and self.table.batch.noisy is not None:
            self.table.refresh_noise(self._row, place, self.stream.play)
            stop = int(self.table.row_stop[self._row])
            self._tape[place:stop] = self.table.tape[place:stop].copy()
        self._at = self._from = place

    # ------------------------------------------------------------------ events of general tables

    def _general_event(self, at: int, key: int, action: int, reward: float) -> tuple[float, int]:
        """Answers, jumps and expiries; returns what is paid, and STAY, END or a place."""
        table = self.table
        cell = key // table.n_actions
        flat = (cell >> 1) * table.n_actions + action
        bits, goto = int(table.code[key]), STAY
        if bits & ANSWER:
            reward, goto = self._answer(at, cell >> 1, flat, action, reward)
        elif bits & LEAVE:
            goto = int(table.leads[flat])
            self._aborted = goto == END
        if bits & EXPIRE and goto == STAY:
            reward = self._close(cell >> 1, reward)
            goto = int(table.expiry(np.array(cell)))
        if table.can_exceed and self._steps() >= table.limit[self._row]:
            goto = END
        return reward, goto

    def _answer(self, at: int, segment: int, flat: int, action: int, reward: float) -> tuple[float, int]:
        table, pay, row = self.table, self.table.payoffs, self._row
        k = int(pay.slot.reshape(-1)[flat])
        slot = self._slots[k]
        if slot[0]:
            return 0.0, STAY
        outcome, score = int(pay.outcome.reshape(-1)[flat]), float(pay.score.reshape(-1)[flat])
        goto = int(table.leads[flat])
        elapsed = (at + 1 - int(table.since[segment, k])) * table.dt
        wrong = pay.needs[k] >= 0 and self._slots[pay.needs[k]][0] != Outcome.CORRECT and outcome == Outcome.CORRECT
        due = float(pay.due[row, k])
        if due == due:
            distance, tolerance = abs(elapsed - due), float(pay.tolerance[row, k])
            wrong = wrong or distance > tolerance + 1e-9
            if not wrong and pay.pays[k] is not None:
                reward = float(np.asarray(pay.pays[k](np.array([distance]), np.array([tolerance])))[0])
        if wrong:
            outcome, score, reward = int(Outcome.ERROR), 0.0, float(pay.error_reward[row, k])
            goto = int(table.destination(np.array([row]), pay.error_goto[row, k : k + 1].astype(np.int64))[0])
        slot[:] = [outcome, action - pay.units[k].start, elapsed, score]
        return reward, goto

    def _close(self, segment: int, reward: float) -> float:
        """Windows that close unanswered; returns what is paid."""
        pay, row = self.table.payoffs, self._row
        closing = self.table.closes.reshape(-1, len(self._slots))[segment]
        for k in np.flatnonzero(closing).tolist():
            if not self._slots[k][0]:
                outcome = int(pay.miss_outcome[row, k])
                self._slots[k][0], self._slots[k][3] = outcome, float(outcome == Outcome.CORRECT)
                reward += float(pay.miss_reward[row, k])
        return reward

    # ------------------------------------------------------------------ the observation in hand

    @property
    def finished(self) -> FinishedTrials | None:
        """The last trial that ended."""
        return self._ended

    @property
    def target(self) -> int:
        return self._steps_at[self._at][1]

    @property
    def period(self) -> str:
        return self._steps_at[self._at][2]

    @property
    def trial(self) -> dict[str, Any]:
        return {name: values[self._row].tolist() for name, values in self.table.batch.conditions.items()}

    def _open(self) -> np.ndarray:
        """(K,) which questions are open and unanswered."""
        windows = self.table.payoffs.window
        is_open = windows.reshape(-1, windows.shape[2])[self.table.cell[self._at] >> 1]
        return is_open if self.table.simple else is_open & np.array([slot[0] == 0 for slot in self._slots], bool)

    @property
    def is_asked(self) -> bool:
        return bool(self._open().any())

    @property
    def can_wait(self) -> bool:
        cell = self.table.cell[self._at]
        closing = self.table.closes.reshape(-1, self.table.closes.shape[2])[cell >> 1] & bool(cell & 1)
        timed = np.isfinite(self.table.payoffs.due[self._row])
        return bool((self._open() & ~timed & ~closing).any())


_ZERO = np.zeros(1, np.int64)


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
