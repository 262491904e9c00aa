"""Two ways to play a single env.

`ScalarPlayer` is for tasks that are tables with discrete actions: its step is plain Python over lists, because calls of
NumPy cost more than the step. `SinglePlayer` is a `Player` of one env, for hooks and continuous actions. Tests hold both to
the vector env.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from neurogym_core.errors import InvalidValueError
from neurogym_core.play.finished import FinishedTrials, SlotState
from neurogym_core.play.library import OneByOne
from neurogym_core.play.player import CORRECT, ERROR, NEVER, Player, check_actions, scored_period, scored_target
from neurogym_core.play.stream import TrialStream
from neurogym_core.play.table import ANSWER, EXPIRE, LEAVE, PlayTable, Rules
from neurogym_core.tasks.task import Task
from neurogym_core.trials.record import RESTING
from neurogym_core.trials.trial import END, STAY

Result = tuple[np.ndarray, float, bool, bool, dict[str, Any]]
NAN = float("nan")
NOTHING, ABORTS, HAPPENS, ENDS = 0, 1, 2, 3
"""What a key's byte says: nothing special; it counts as an abort; look closer; the trial is over, and that is all."""
FIRST = np.zeros(1, np.int64)
"""The only env there is."""
SMALL = 1 << 14
"""Tables of up to so many numbers are lists."""
Answer = tuple[int, int, float, float]
UNANSWERED: Answer = (0, RESTING, NAN, 0.0)
"""Outcome, choice, reaction time and score of a slot."""


class TrialRow(Mapping):
    """``info["trial"]`` of a single env: the record of the trial that just ended, worked out when looked at.

    A mapping from column to Python value; an absent reaction time is an absent key. It pickles and copies as a dict.

    Args:
        ended: the finished trial, or the arguments of `_finished`, which makes it.
    """

    __slots__ = ("_ended", "_row")
    _row: dict[str, Any]

    def __init__(self, ended: FinishedTrials | tuple) -> None:
        self._ended = ended

    @property
    def finished(self) -> FinishedTrials:
        """The trial, as the vector env reports it."""
        if isinstance(self._ended, tuple):
            self._ended = _finished(*self._ended)
        return self._ended

    @property
    def row(self) -> dict[str, Any]:
        try:
            return self._row
        except AttributeError:
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
        target = scored_target(step.scored)[0]
        info = {
            "gt": target if np.ndim(target) else target.item(),
            "period": str(scored_period(step.scored)[0]),
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


class _Shown:
    """The tape of trials whose noise is drawn when they are played: indexing it gives what is seen at a place.

    Attributes:
        seen: what was given last.
    """

    def __init__(self, table: PlayTable, stream: TrialStream) -> None:
        self._clean, self._units, self._stream = table.tape, table.batch.noisy, stream
        self._noise = table.rules.noise[table.cell >> 1]

    def __getitem__(self, place: int) -> np.ndarray:
        seen, units = self._clean[place].copy(), self._units
        seen[units] += self._noise[place] * self._stream.fresh_noise(units.stop - units.start)[0]
        self.seen = seen
        return seen.copy()


class ScalarPlayer:
    """One env of a table with discrete actions. Trials come in the order of the table, or one by one as they depend on outcomes."""

    # Slots, because Python finds them faster than what is in a dict, from some 30 attributes on.
    __slots__ = (
        "_aborted", "_aborting", "_aborts", "_about", "_all_asked", "_at", "_before", "_bits", "_can_exceed", "_cells",
        "_closes_any", "_codes", "_dt", "_ended", "_expiry", "_first_units", "_fresh", "_from", "_graded", "_last_row",
        "_leads", "_left", "_limit", "_n_actions", "_needs", "_number_from", "_once", "_one_by_one", "_origin", "_origins",
        "_outcome_of", "_performance", "_periods", "_plain", "_return", "_rewards", "_row", "_score_of", "_scored", "_session",
        "_simple", "_since", "_slot_of", "_slots", "_starts", "_tape", "_targets", "_unanswered", "stream", "table", "task",
    )  # fmt: skip

    def __init__(self, task: Task, seed: int | None) -> None:
        self.task = task
        self.stream = TrialStream(task, seed, 1)
        self._n_actions = task.actions.size
        self._limit = task.trials_per_session or NEVER
        self._once = self._limit == 1
        self._one_by_one: OneByOne | None = None
        self._fresh = task.reads_outcomes and task.noisy_units is not None
        self._ended: TrialRow | None = None
        self._aborted = False
        self._dt = task.dt
        self.table: PlayTable | None = None  # type: ignore[assignment]
        self._at = 0

    # ------------------------------------------------------------------ beginning

    def reset(self, seed: int | None, conditions: Mapping[str, Any] | None) -> np.ndarray:
        self._ended = None
        if seed is not None:
            self.stream.seed(seed)
            self.stream.impose({})
        if conditions is not None:
            self.stream.impose(conditions)
        if seed is not None or conditions is not None or self.table is None:
            self._session = 0
            self._begin(0)
        elif not self._continue() and self._fresh:
            return self._tape.seen.copy()
        return self._tape[self._at]

    def _begin(self, number: int) -> None:
        """Begin a session with the trial of this number."""
        self._start_session(number, self._session)
        self.stream.new_sessions()
        if self.task.reads_outcomes:
            self._one_by_one = OneByOne(self.stream)
            self._draw()
        else:
            self._lay_out()

    def _continue(self) -> bool:
        """A reset without a seed: a trial under way is given up, and a new session begins with the coming one.

        Returns whether anything had to be done.
        """
        played = self._steps() > 0
        if not played and self._left == self._limit:
            return False
        number = self._number_from - self._left + played
        self._start_session(number, self._session + 1)
        if self.task.stateful:
            self._begin(number)
        elif played:
            self._next_trial()
        return True

    def _start_session(self, number: int, session: int) -> None:
        """The coming trials, from this number on, are of another session."""
        self._left, self._session = self._limit, session
        self._number_from = number + self._limit
        self._about = (self.table, self._number_from, session)

    def _lay_out(self) -> None:
        """Draw the coming trials."""
        block = self.stream.block()
        table = PlayTable.render(block, self.stream.noise) if self.table is None else self.table.renew(block, self.stream.noise)
        self._start_table(table)
        self._start_trial(0)

    def _draw(self) -> None:
        """Draw the coming trial, which depends on the last one."""
        row = self._one_by_one.draw(FIRST).item()
        if self._one_by_one.table is not self.table:
            self._start_table(self._one_by_one.table)
        self._start_trial(row)

    def _start_table(self, table: PlayTable) -> None:
        """What a step looks up is read through memoryviews where it is much: they make no objects ahead."""
        if self.table is None or table.rules is not self.table.rules:
            self._start_rules(table.rules)
        self.table = table
        self._about = (table, self._number_from, self._session)
        # One step more: the last one looks ahead.
        self._tape: Any = _Shown(table, self.stream) if self._fresh else np.concatenate([table.tape, table.tape[-1:]])
        self._cells = memoryview(table.cell)
        self._starts, self._origins = memoryview(table.start), memoryview(table.row_start)
        self._last_row = len(table.start) - 1 if self._one_by_one is None else -1

    def _start_rules(self, rules: Rules) -> None:
        pay = rules.payoffs
        self._rewards = _looked_up(rules.reward)
        # Where a trial may last too long, every step is looked at.
        happens = (rules.code > 0) | rules.can_exceed
        self._codes = np.where(happens, ENDS if rules.simple else HAPPENS, rules.aborts).astype(np.uint8).tobytes()
        self._targets = _looked_up(rules.cell_target)
        self._periods = [name for p in rules.batch.period.tolist() for name in [rules.batch.period_names[p]] * 2] * len(rules.batch)
        self._simple, self._can_exceed = rules.simple, rules.can_exceed
        self._aborting = rules.aborts.tobytes()
        self._scored = rules.scored
        if rules.scored:
            self._performance = _looked_up(rules.performance)
        if not rules.simple:
            self._slot_of, self._outcome_of = pay.slot.tobytes(), pay.outcome.tobytes()
            self._score_of, self._leads = _looked_up(pay.score.reshape(-1)), _looked_up(rules.leads)
            self._since, self._expiry = memoryview(rules.since.reshape(-1)), memoryview(rules.expire.reshape(-1))
            self._bits = rules.code.tobytes()
            self._unanswered = [UNANSWERED] * len(pay.slot_names)
            self._needs = pay.needs
            self._first_units = [units.start for units in pay.units]
            self._graded = bool(np.isfinite(pay.due).any())
            self._plain = not self._graded and max(pay.needs, default=-1) < 0
            self._all_asked = bool(pay.slot_names) and bool(pay.asked.all()) and bool(np.isnan(pay.best).all())
            self._closes_any = np.logical_or.reduce([*np.moveaxis(rules.closes, 2, 0)]).tobytes() if len(pay.slot_names) else bytes(rules.expire.size)

    def __getstate__(self) -> dict[str, Any]:
        """Memoryviews do not pickle: they are taken again."""
        values = {name: getattr(self, name) for name in self.__slots__ if hasattr(self, name)}
        return {name: value for name, value in values.items() if not isinstance(value, memoryview)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)
        if self.table is not None:
            tape = self._tape
            self._start_rules(self.table.rules)
            self._start_table(self.table)
            self._tape = tape

    def _next_trial(self) -> None:
        if self._row == self._last_row:
            self._lay_out()
        else:
            self._start_trial(self._row + 1)

    def _start_trial(self, row: int) -> None:
        self._row = row
        self._at = self._starts[row]
        self._aborts, self._return = 0, 0.0
        if not self._simple:
            self._from, self._before = self._at, 0
            self._origin = self._origins[row]
            self._slots = self._unanswered.copy()
            self._aborted = False

    def _steps(self) -> int:
        """Steps played of the trial in hand."""
        if self._simple:
            return self._at - self._starts[self._row]
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
            if code == ENDS:
                left, row = self._left, self._row
                if left == 1 or row >= self._last_row:
                    return self._end(cell, key, reward)
                # What `_end` does where nothing else ends, written out: where trials are short this is most steps.
                self._ended = trial = TrialRow((self._about, row, left, self._return + reward, self._aborts, key, after))
                info = {
                    "gt": self._targets[cell], "period": self._periods[cell], "new_trial": True, "trial": trial,
                    "performance": self._performance[key] if self._scored else self._performance_of(trial),
                }  # fmt: skip
                self._left, self._row = left - 1, row + 1
                self._at = at = self._starts[row + 1]
                self._aborts, self._return = 0, 0.0
                return self._tape[at], reward, False, False, info
            if code == HAPPENS:
                return self._event(cell, int(key), int(action), reward)
            self._aborts += 1
        self._return += reward
        return self._tape[after], reward, False, False, {"gt": self._targets[cell], "period": self._periods[cell], "new_trial": False}

    def _step_slowly(self, action: Any) -> Result:
        """Everything unusual: a step before the first reset, an action that is no plain number."""
        action = check_action(action, self.task)
        if self.table is None:
            self.reset(None, None)
        return self.step(action)

    def _event(self, cell: int, key: int, action: int, reward: float) -> Result:
        """Something happens on this step that is more than the end of a simple trial: an answer, a jump, time runs out."""
        segment, bits, goto = cell >> 1, self._bits[key], STAY
        if bits & ANSWER:
            flat = segment * self._n_actions + action
            k = self._slot_of[flat]
            if self._slots[k][0]:
                reward = 0.0
            else:
                goto = self._leads[flat]
                elapsed = (self._at - self._origin - self._since[segment * len(self._slots) + k]) * self._dt
                answer = (self._outcome_of[flat], action - self._first_units[k], elapsed, self._score_of[flat])
                if not self._plain:
                    answer, reward, goto = self._judged(k, answer, reward, goto)
                self._slots[k] = answer
        elif bits & LEAVE:
            goto = self._leads[segment * self._n_actions + action]
            self._aborted = goto == END
        if goto == STAY and bits & EXPIRE:
            if self._closes_any[segment]:
                reward = self._close(segment, reward)
            goto = self._expiry[segment]
        if self._can_exceed and self._steps() >= self.table.rules.limit[self.table.kind[self._row]]:
            goto = END
        if goto == END:
            return self._end(cell, key, reward)
        self._return += reward
        self._aborts += self._aborting[key]
        if goto >= 0:
            self._jump(self._origin + goto)
        return self._tape[self._at], reward, False, False, {"gt": self._targets[cell], "period": self._periods[cell], "new_trial": False}

    def _end(self, cell: int, key: int, reward: float) -> Result:
        """The trial is over with this step."""
        at, left = self._at, self._left
        facts: tuple = (self._about, self._row, left, self._return + reward, self._aborts, key, at)
        if not self._simple:
            facts += (self._before + at - self._from, self._slots, self._aborted)
        self._ended = row = TrialRow(facts)
        info = {
            "gt": self._targets[cell], "period": self._periods[cell], "new_trial": True, "trial": row,
            "performance": self._performance[key] if self._scored else self._performance_of(row),
        }  # fmt: skip
        over = left == 1
        if over:
            self._start_session(self._number_from, self._session + 1)
        else:
            self._left = left - 1
        if self._one_by_one is not None:
            self._draw_after(row.finished, over)
        else:
            self._next_trial()
        if over:
            return self._tape[self._at], reward, self._once, not self._once, info
        return self._tape[self._at], reward, False, False, info

    def _draw_after(self, finished: FinishedTrials, over: bool) -> None:
        """The coming trial of a task that reads outcomes."""
        self.stream.session.remember(FIRST, finished.as_previous())  # type: ignore[union-attr]
        if over:
            self.stream.renew_sessions(FIRST)
        self._draw()

    def _performance_of(self, row: TrialRow) -> float:
        if self._simple or not self._all_asked:
            return row.finished.performance.item()
        slots = self._slots
        score = slots[0][3]
        if len(slots) == 2:
            score = (score + slots[1][3]) / 2
        elif len(slots) > 2:
            score = sum([slot[3] for slot in slots]) / len(slots)
        return score if 0.0 <= score <= 1.0 else min(max(score, 0.0), 1.0)

    def _jump(self, place: int) -> None:
        """Go to another place of the tape; where steps are played again their noise is drawn anew."""
        self._before = self._steps()
        if place < self._at and self.table.batch.noisy is not None and not self._fresh:
            self.table.refresh_noise(self._row, place, self.stream.play)
            self._tape = np.concatenate([self.table.tape, self.table.tape[-1:]])  # a new one: observations that were given out stay
        self._at = self._from = place

    # ------------------------------------------------------------------ events of general tables

    def _judged(self, k: int, answer: Answer, reward: float, goto: int) -> tuple[Answer, float, int]:
        """An answer to a question that is timed or needs another one to be right, what it pays, and where it leads."""
        outcome, choice, elapsed, _ = answer
        needs = self._needs[k]
        wrong = needs >= 0 and outcome == CORRECT and self._slots[needs][0] != CORRECT
        if self._graded and outcome == CORRECT:  # the wrong choice is wrong at any moment
            reward, late = self._graded_pay(k, elapsed, reward)
            wrong = wrong or late
        if not wrong:
            return answer, reward, goto
        pay, kind = self.table.rules.payoffs, self.table.kind[self._row]
        goto = self.table.rules.steps_to(kind, pay.error_goto[kind, k]).item()
        return (ERROR, choice, elapsed, 0.0), float(pay.error_reward[kind, k]), goto

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
                self._slots[k] = (outcome, RESTING, NAN, float(outcome == CORRECT))
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


def _looked_up(values: np.ndarray) -> Any:
    """Numbers as a list, which is fastest, or as a memoryview, which need not make them all."""
    return values.tolist() if values.size <= SMALL else memoryview(values)


def _finished(
    about: tuple[PlayTable, int, int], row: int, left: int, paid: float, aborts: int, key: int, place: int,
    steps: int | None = None, answers: list[tuple] | None = None, aborted: bool = False,
) -> FinishedTrials:  # fmt: skip
    """One finished trial, as the vector env reports it; `aborts` before its last step."""
    table, number_from, session = about
    counts, sums = np.array([[row], [place]]), np.array([[paid], [aborts + table.rules.aborts[key]], [0.0], [left - 1.0]])
    numbers = (np.array([number_from]), np.array([session]))
    if answers is None:
        return FinishedTrials(table, FIRST, counts, sums, numbers, np.array([key]))
    slots = SlotState(1, len(answers), 0)
    for k, (outcome, choice, time, score) in enumerate(answers):
        slots.outcome[0, k], slots.choice[0, k], slots.reaction_time[0, k], slots.score[0, k] = outcome, choice, time, score
    return FinishedTrials(
        table, FIRST, counts, sums, numbers, np.array([key]), steps=np.array([steps]), aborted=np.array([aborted]), slots=slots,
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
