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
from neurogym_core.play.player import Player, check_actions
from neurogym_core.play.stream import TrialStream
from neurogym_core.play.table import ANSWER, EXPIRE, LEAVE, PlayTable, Rules
from neurogym_core.tasks.task import Task
from neurogym_core.trials.payoffs import RESTING
from neurogym_core.trials.record import Outcome
from neurogym_core.trials.trial import END, STAY

Result = tuple[np.ndarray, float, bool, bool, dict[str, Any]]
NAN = float("nan")
NOTHING, ABORTS, HAPPENS = 0, 1, 2
"""What a key's byte says: nothing special; it counts as an abort; look closer."""
UNANSWERED = (0, RESTING, NAN, 0.0)
"""Outcome, choice, reaction time and score of a slot."""


class TrialRow(Mapping):
    """``info["trial"]`` of a single env: the record of the trial that just ended, worked out when looked at.

    A mapping from column to Python value; an absent reaction time is an absent key. It pickles and copies as a dict.

    Args:
        ended: the finished trial, or the arguments of `_finished`, which makes it.
    """

    __slots__ = ("_ended", "_row")

    def __init__(self, ended: FinishedTrials | tuple) -> None:
        self._ended = ended
        self._row: dict[str, Any] | None = None

    @property
    def finished(self) -> FinishedTrials:
        """The trial, as the vector env reports it."""
        if isinstance(self._ended, tuple):
            self._ended = _finished(*self._ended)
        return self._ended

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
            return check_actions(np.asarray(action)[None], 1, self.task)
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
        self._ended: TrialRow | None = None
        self._aborted = False
        self._dt = task.dt
        self.table: PlayTable | None = None  # type: ignore[assignment]
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
        """Draw the coming trials. What a step looks up is read through memoryviews: they make no objects ahead."""
        block = self.stream.block()
        table = PlayTable.render(block, self.stream.noise) if self.table is None else self.table.renew(block, self.stream.noise)
        self._start_table(table)
        self._row = -1
        self._next_trial()

    def _start_table(self, table: PlayTable) -> None:
        if self.table is None or table.rules is not self.table.rules:
            self._start_rules(table.rules)
        self.table = table
        self._tape = np.concatenate([table.tape, table.tape[-1:]])  # one step more: the last one looks ahead
        self._cells = memoryview(table.cell)
        self._starts = memoryview(table.start)

    def _start_rules(self, rules: Rules) -> None:
        pay = rules.payoffs
        self._rewards = memoryview(rules.reward)
        # Where a trial may last too long, every step is looked at.
        self._codes = np.where((rules.code > 0) | rules.can_exceed, HAPPENS, rules.aborts).astype(np.uint8).tobytes()
        self._targets = memoryview(rules.cell_target)
        self._periods = rules.cell_period.tolist()
        self._simple, self._can_exceed = rules.simple, rules.can_exceed
        self._aborting = rules.aborts.tobytes()
        self._scored = rules.scored
        if rules.scored:
            self._performance = memoryview(rules.performance)
        if not rules.simple:
            self._slot_of, self._outcome_of = memoryview(pay.slot.reshape(-1)), memoryview(pay.outcome.reshape(-1))
            self._score_of, self._leads = memoryview(pay.score.reshape(-1)), memoryview(rules.leads)
            self._since, self._expiry = memoryview(rules.since), memoryview(rules.expire.reshape(-1))
            self._bits = rules.code.tobytes()
            self._unanswered = [UNANSWERED] * len(pay.slot_names)
            self._needs = pay.needs
            self._first_units = [units.start for units in pay.units]
            self._graded = bool(np.isfinite(pay.due).any())
            self._all_asked = bool(pay.slot_names) and bool(pay.asked.all()) and bool(np.isnan(pay.best).all())
            self._closes_any = rules.closes.any(axis=2).reshape(-1).tobytes()

    def __getstate__(self) -> dict[str, Any]:
        """Memoryviews do not pickle: they are taken again."""
        return {name: value for name, value in self.__dict__.items() if not isinstance(value, memoryview)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self.table is not None:
            tape = self._tape
            self._start_rules(self.table.rules)
            self._start_table(self.table)
            self._tape = tape

    def _next_trial(self) -> None:
        self._row += 1
        if self._row == len(self._starts):
            self._lay_out()
            return
        self._at = self._from = self._starts[self._row]
        self._before = self._aborts = 0
        self._return = 0.0
        if not self._simple:
            self._slots = self._unanswered.copy()
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
            cell = self._cells[at]
            key = cell * self._n_actions + action
            reward = self._rewards[key]
            code = self._codes[key]
        except (AttributeError, TypeError, ValueError, IndexError):
            return self._step_slowly(action)
        self._at = after = at + 1
        if code:
            if code == HAPPENS:
                return self._event(cell, int(key), int(action), reward)
            self._aborts += 1
        self._return += reward
        info = {"gt": self._targets[cell], "period": self._periods[cell], "new_trial": False}
        return self._tape[after], reward, False, False, info

    def _step_slowly(self, action: Any) -> Result:
        """Everything unusual: a step before the first reset, an action that is no plain number."""
        action = check_action(action, self.task)
        if self.table is None:
            self.reset(None, None)
        return self.step(action)

    def _event(self, cell: int, key: int, action: int, reward: float) -> Result:
        """Something happens on this step. Where trials are short this is most steps, hence written out."""
        if not self._simple:
            reward, goto = self._general_event(cell, key, action, reward)
            if goto != END:
                self._return += reward
                self._aborts += self._aborting[key]
                if goto >= 0:
                    self._jump(goto)
                info = {"gt": self._targets[cell], "period": self._periods[cell], "new_trial": False}
                return self._tape[self._at], reward, False, False, info
        at = self._at
        facts = (
            self.table, self._row, self._number, self._session, self._before + at - self._from, self._return + reward,
            self._aborts + self._aborting[key], key, at, None if self._simple else self._slots, self._aborted,
        )  # fmt: skip
        self._ended = row = TrialRow(facts)
        performance = self._performance[key] if self._scored else self._performance_of(row)
        info = {
            "gt": self._targets[cell], "period": self._periods[cell], "new_trial": True, "trial": row, "performance": performance,
        }  # fmt: skip
        self._number += 1
        over = False
        if self._limit:
            self._left -= 1
            if not self._left:
                over = True
                self._left = self._limit
                self._session += 1
        self._next_trial()
        return self._tape[self._at], reward, over and self._once, over and not self._once, info

    def _performance_of(self, row: TrialRow) -> float:
        if self._simple or not self._all_asked:
            return row.finished.performance.item()
        slots = self._slots
        score = slots[0][3]
        if len(slots) > 1:
            score = sum([slot[3] for slot in slots]) / len(slots)
        return score if 0.0 <= score <= 1.0 else min(max(score, 0.0), 1.0)

    def _jump(self, place: int) -> None:
        """Go to another place of the tape; where steps are played again their noise is drawn anew."""
        self._before = self._steps()
        if place < self._at and self.table.batch.noisy is not None:
            self.table.refresh_noise(self._row, place, self.stream.play)
            self._tape = np.concatenate([self.table.tape, self.table.tape[-1:]])  # a new one: observations that were given out stay
        self._at = self._from = place

    # ------------------------------------------------------------------ events of general tables

    def _general_event(self, cell: int, key: int, action: int, reward: float) -> tuple[float, int]:
        """Answers, jumps and expiries; returns what is paid, and STAY, END or a place."""
        segment = cell >> 1
        flat = segment * self._n_actions + action
        bits, goto = self._bits[key], STAY
        if bits & ANSWER:
            reward, goto = self._answer(segment, flat, action, reward)
        elif bits & LEAVE:
            goto = self._leads[flat]
            self._aborted = goto == END
        if goto == STAY and bits & EXPIRE:
            if self._closes_any[segment]:
                reward = self._close(segment, reward)
            goto = self._expiry[segment]
        if goto >= 0:
            goto += self.table.row_start.item(self._row)
        if self._can_exceed and self._steps() >= self.table.rules.limit[self.table.kind[self._row]]:
            goto = END
        return reward, goto

    def _answer(self, segment: int, flat: int, action: int, reward: float) -> tuple[float, int]:
        k = self._slot_of[flat]
        if self._slots[k][0]:
            return 0.0, STAY
        outcome, score, goto = self._outcome_of[flat], self._score_of[flat], self._leads[flat]
        elapsed = (self._at - self.table.row_start.item(self._row) - self._since[segment, k]) * self._dt
        needs = self._needs[k]
        wrong = needs >= 0 and outcome == Outcome.CORRECT and self._slots[needs][0] != Outcome.CORRECT
        if self._graded and outcome == Outcome.CORRECT:  # the wrong choice is wrong at any moment
            reward, late = self._graded_pay(k, elapsed, reward)
            wrong = wrong or late
        if wrong:
            pay, kind = self.table.rules.payoffs, self.table.kind[self._row]
            outcome, score, reward = int(Outcome.ERROR), 0.0, float(pay.error_reward[kind, k])  # type: ignore[assignment]
            goto = self.table.rules.steps_to(kind, pay.error_goto[kind, k]).item()
        self._slots[k] = (outcome, action - self._first_units[k], elapsed, score)
        return reward, goto

    def _graded_pay(self, k: int, elapsed: float, reward: float) -> tuple[float, bool]:
        """What a timed answer pays, and whether it is out of tolerance."""
        pay, kind = self.table.rules.payoffs, self.table.kind[self._row]
        due, tolerance = pay.due.item(kind, k), pay.tolerance.item(kind, k)
        if due != due:
            return reward, False
        distance = abs(elapsed - due)
        if distance > tolerance + 1e-9:
            return reward, True
        if pay.pays[k] is not None:
            reward = float(np.asarray(pay.pays[k](np.array([distance]), np.array([tolerance])))[0])
        return reward, False

    def _close(self, segment: int, reward: float) -> float:
        """Windows that close unanswered; returns what is paid."""
        pay, kind = self.table.rules.payoffs, self.table.kind[self._row]
        closing = self.table.rules.closing(segment)
        for k in np.flatnonzero(closing).tolist():
            if not self._slots[k][0]:
                outcome = int(pay.miss_outcome[kind, k])
                self._slots[k] = (outcome, RESTING, NAN, float(outcome == Outcome.CORRECT))
                reward += float(pay.miss_reward[kind, k])
        return reward

    # ------------------------------------------------------------------ the observation in hand

    @property
    def finished(self) -> FinishedTrials | None:
        """The last trial that ended."""
        return None if self._ended is None else self._ended.finished

    @property
    def target(self) -> int:
        return self._targets[self._cells[self._at]]

    @property
    def period(self) -> str:
        return self._periods[self._cells[self._at]]

    @property
    def trial(self) -> dict[str, Any]:
        return {name: values[self._row].tolist() for name, values in self.table.batch.conditions.items()}

    def _open(self) -> np.ndarray:
        """(K,) which questions are open and unanswered."""
        is_open = self.table.rules.open(self.table.cell[self._at] >> 1)
        return is_open if self.table.rules.simple else is_open & np.array([slot[0] == 0 for slot in self._slots], bool)

    @property
    def is_asked(self) -> bool:
        return bool(self._open().any())

    @property
    def can_wait(self) -> bool:
        cell = self.table.cell[self._at]
        closing = self.table.rules.closing(cell >> 1) & bool(cell & 1)
        timed = np.isfinite(self.table.rules.payoffs.due[self.table.kind[self._row]])
        return bool((self._open() & ~timed & ~closing).any())


def _finished(
    table: PlayTable, row: int, number: int, session: int, steps: int, paid: float, aborts: int, key: int, place: int,
    answers: list[tuple] | None, aborted: bool,
) -> FinishedTrials:  # fmt: skip
    """One finished trial, as the vector env reports it."""
    slots = None
    if answers is not None:
        slots = SlotState(1, len(answers), 0)
        for k, (outcome, choice, time, score) in enumerate(answers):
            slots.outcome[0, k], slots.choice[0, k], slots.reaction_time[0, k], slots.score[0, k] = outcome, choice, time, score
    counts, total = np.array([[row], [place], [0]]), np.array([[paid], [aborts]], np.float64)
    return FinishedTrials(
        table, np.array([0]), counts, total, (np.array([number]), np.array([session])), steps=np.array([steps]),
        aborted=None if answers is None else np.array([aborted]), slots=slots, keys=np.array([key]),
    )  # fmt: skip


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
