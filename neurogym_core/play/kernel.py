"""The kernel: one step of a trial, in plain Python. This file is the definition of a step.

`PlainKernel` moves N envs through the tables of their blocks. `_kernel.c` is a compiled copy;
`kernels.py` chooses between them, and the tests compare the two bit by bit. The rules of a step are
in `PlainKernel.advance_one`, with `_answer`, `_close`, `_enter` and `_end`, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from math import isnan
from threading import RLock
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from neurogym_core.play.blocks import Block
from neurogym_core.play.render import Steps, observation, render
from neurogym_core.play.results import TrialInfo, TrialResults, VectorInfo, vector_info
from neurogym_core.trials.arrays import Array, Bools, Floats, Ints, Singles
from neurogym_core.trials.layout import END, STAY
from neurogym_core.trials.record import RESTING, Outcome

NONE, CORRECT, ERROR = int(Outcome.NONE), int(Outcome.CORRECT), int(Outcome.ERROR)
ABORT, MISS, OTHER = int(Outcome.ABORT), int(Outcome.MISS), int(Outcome.OTHER)
BADNESS = {NONE: 0, CORRECT: 1, OTHER: 2, MISS: 3, ERROR: 4, ABORT: 5}
"""The outcome of a trial is the worst outcome of its slots."""
# Far below 2**63, so that sums with it cannot overflow in C; exact as a float.
NEVER = 1 << 52
"""Number of trials of an endless session; duration of an endless segment."""

STATE = (
    "block", "row", "type", "segment", "entered", "clock", "period_at",
    "number", "session", "left", "waiting", "last_block", "last_row", "ended",
)  # fmt: skip
"""The state of an env: integers, described in `Place`. `get`, `set` and pickles use these names."""

WHERE = STATE[:6]
"""The part of the state that gives the position of an env within its trial."""

Stepped = tuple[Array, float, bool, bool, dict[str, Any]]
VectorStepped = tuple[Array, Array, Array, Array, dict[str, Any]]


class Place:
    """State of one env.

    Attributes:
        block, row: the current trial: index of its block (-1: none yet), and its row there.
        type, segment: row of the tables that applies to the current step.
        clock: steps played of this trial.
        entered, period_at: clock at the onset of the segment, and of the period.
        number, session: number of the trial in this env, and of the session.
        left: remaining trials of the session, including the current one.
        waiting: 1 if the env sits out the next step, because its session ended on the last one.
        last_block, last_row: the trial that ended last.
        ended: 1 if the current trial has ended and the next one has not begun: between the two, or
            after an exception (such as Ctrl-C) between the two.
        until: clock at which the segment or the trial runs out of time.
        on_tape: row of the block's rendered observations for clock 0; -1 if the trial does not
            follow the rendered order.
        rules: the block in the form that this kernel reads.
        here: type * segments + segment, the row in flat tables.
        total: reward so far; written to the log when the trial ends.
    """

    __slots__ = (*STATE, "here", "on_tape", "rules", "total", "until")

    def __init__(self, left: int) -> None:
        self.block = self.last_block = self.last_row = -1
        self.row = self.type = self.segment = self.clock = self.entered = self.period_at = 0
        self.number = self.session = self.waiting = self.until = self.ended = 0
        self.left, self.on_tape, self.here, self.total = left, -1, 0, 0.0
        self.rules: Any = None


class Given(NamedTuple):
    """Contributions of hooks and continuous actions to a step of N envs; None: no contribution.

    Attributes:
        reward: (N,) float64, total reward of the step; replaces everything else.
        extra: (N,) float64, added to the reward of the table.
        goto: (N,) int64, destinations; STAY leaves the decision to the table.
        outcome: (N,) int64, `Outcome` of the first slot; 0 leaves it to the table.
        distance: (N, K) float64, distance of a continuous action from the target of each slot.
        graded: (N, K) float64, reward if the distance is tolerated; NaN: reward of the table.
            Without a trigger: reward of the answer when the window closes, whatever its distance.
        score: (N, K) float64, score of the answer where `graded` is not NaN.
        values: (N, D) float64, the action in task units.
    """

    reward: Floats | None = None
    extra: Floats | None = None
    goto: Ints | None = None
    outcome: Ints | None = None
    distance: Floats | None = None
    graded: Floats | None = None
    score: Floats | None = None
    values: Floats | None = None


class Moved(NamedTuple):
    """Results of one step of N envs.

    Attributes:
        reward: (N,) float64.
        ended, over: (N,) bool, whether a trial, and whether a session ended.
        target: (N,) int64, correct action of the step that was scored; 0 for continuous actions.
        period: (N,) int64, period of that step.
        performance: (N,) float64, of the trials that ended; 0 elsewhere.
        finished: the trials that ended, or None.
    """

    reward: Floats
    ended: Bools
    over: Bools
    target: Ints
    period: Ints
    performance: Floats
    finished: TrialResults | None


class _Rules:
    """A block in the form that the plain kernel reads: flat lists, which Python indexes fastest."""

    TABLES = (
        "period", "follows", "endless", "entry", "duration", "limit", "reward", "aborts", "goto",
        "slot", "outcome", "score", "window", "asked", "miss_reward", "miss_outcome",
        "error_reward", "error_goto", "due", "tolerance", "graded", "graded_from", "best", "needs",
        "first_action", "again",
    )  # fmt: skip
    LOGGED = (
        "env", "number", "session", "steps", "aborts", "reward", "performance", "outcome", "ended",
        "opened", "slot_outcome", "slot_choice", "slot_time", "slot_score", "onset", "offset",
    )  # fmt: skip
    duration: Any
    FEW = 1 << 14
    """Largest table that becomes a list. Converting a larger one would take longer than it saves,
    so it is read through a memoryview.
    """

    def __init__(self, block: Block, key: int) -> None:
        self.block, self.log, tables = block, block.log, block.tables
        _, self.n_segments, self.n_actions = tables.reward.shape
        self.n_slots, self.n_periods = tables.n_slots, len(tables.entry)
        self.dt, self.trigger = tables.dt, tables.trigger
        self.continuous = tables.target.ndim == 3
        for name in self.TABLES:
            setattr(self, name, self._listed(getattr(tables, name)))
        for name in self.LOGGED:
            setattr(self, f"log_{name}", getattr(block.log, name).reshape(-1).data)
        # A view, not a copy: the rows of a block on demand are filled while it is played.
        self.type = block.kind.data
        # Cells in which an action has an effect beyond its reward and the count of aborts. Only
        # these, and the end of a segment, need the slow part of `advance_one`.
        self.acts = self._listed((tables.slot >= 0) | (tables.goto != STAY))
        self.target = None if self.continuous else self._listed(tables.target)
        self.n_grades = tables.graded.shape[2]
        self.cursor = 0
        self.tape: Singles | None = None
        self.tape_at: Any = None
        # Blocks on demand (stride 0) are filled row by row: there is nothing to render ahead.
        if block.stride:
            self.tape, self.tape_at = self._rendered(key)

    def _listed(self, values: Array) -> Any:
        flat = np.ascontiguousarray(values).reshape(-1)
        return flat.tolist() if flat.size <= self.FEW else flat.data

    def _rendered(self, key: int) -> tuple[Singles, memoryview]:
        """Render all rows with their periods in order; return the observations, and where each row
        begins.
        """
        block = self.block
        duration = block.tables.duration[block.kind]
        lengths = duration.sum(axis=1)
        tape = render(
            block.tables,
            Steps(block.kind, block.first_serial + np.arange(len(block)), duration),
            key,
        )
        begins = np.cumsum(lengths) - lengths
        return tape, begins.data

    def offset(self, kind: int, segment: int) -> int:
        """Return the step on which a segment begins if all segments are played in order."""
        begin = kind * self.n_segments
        return sum(self.duration[begin : begin + segment])


_P = ParamSpec("_P")
_R = TypeVar("_R")


def _alone(method: Callable[_P, _R]) -> Callable[_P, _R]:
    """Refuse calls of a method while another thread is in a step."""

    @wraps(method)
    def guarded(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        kernel: Any = args[0]
        kernel.claim()
        try:
            return method(*args, **kwargs)
        finally:
            kernel.release()

    return guarded


class PlainKernel:
    """The kernel of N envs.

    Args:
        n: number of envs.
        key: key of the noise.
        names: (P,) names of the periods.
        per_session: trials per session, or NEVER.
        next_step: whether an env sits out the step after the end of a session.
        deal: called with the envs whose block has no further trial; it calls `begin` for each.
        check: called with an action that is not an int in range; returns it as an int, or raises.
        check_all: called with the actions of all envs; returns them as (N,) int64, or raises.
    """

    def __init__(
        self, n: int, key: int, names: npt.NDArray[np.str_], per_session: int, next_step: bool,
        deal: Callable[[list[int]], None], check: Callable[[Any], int],
        check_all: Callable[[Any], Ints],
    ) -> None:  # fmt: skip
        self.n, self.key, self.names = n, key, names
        self.per_session, self.next_step, self.once = per_session, next_step, per_session == 1
        self.deal, self.check, self.check_all = deal, check, check_all
        self.rules: list[Any] = []
        self._lock = RLock()
        self.current = 0
        """Index of the block of stride 1 that trials are dealt from."""
        self.places = [Place(per_session) for _ in range(n)]
        self.last_reward = np.zeros(n)
        """(N,) reward of the last step; 0 after a reset."""
        self._period_names = names.tolist()

    # ------------------------------------------------------------------ threads, exceptions

    def claim(self) -> None:
        """Keep other threads out until `release`; calls nest.

        Raises:
            RuntimeError: another thread is in a step.
        """
        if not self._lock.acquire(blocking=False):
            raise RuntimeError("The env was used from two threads at once; give each its own env.")

    def release(self) -> None:
        """Let other threads in again, after `claim`."""
        self._lock.release()

    def _check_standing(self) -> None:
        """Raise `RuntimeError` unless every env is in a trial.

        An exception in `deal` (a Ctrl-C, mostly) comes after a trial has ended and was counted. To
        play it on would end it, and count it, a second time.
        """
        if any(place.ended for place in self.places):
            raise RuntimeError(
                "The last step was interrupted after a trial had ended, before the next one was"
                " drawn. Expected envs that are in a trial. Call reset(), or restart() of a"
                " Dataset."
            )

    # ------------------------------------------------------------------ blocks and state

    @_alone
    def attach(self, index: int, block: Block | None) -> None:
        """Attach a block under an index; None detaches the block that is there."""
        self.rules += [None] * (index + 1 - len(self.rules))
        self.rules[index] = None if block is None else _Rules(block, self.key)

    def get(self, name: str) -> Ints:
        """Return one of `STATE` for all envs, (N,), as a copy."""
        return np.array([getattr(place, name) for place in self.places], np.int64)

    @_alone
    def set(self, name: str, values: Ints) -> None:
        """Set one of `STATE` for all envs, (N,)."""
        for place, value in zip(self.places, values.tolist(), strict=True):
            setattr(place, name, value)
            # Everything else in a place follows from the position. The reward so far is only in
            # the log, to which `sync` wrote it before the state was read.
            if name in WHERE and place.block >= 0:
                place.rules = self.rules[place.block]
                place.total = place.rules.log_reward[place.row]
                self._set_time(place)

    @_alone
    def sync(self) -> None:
        """Write the rewards of the current trials to the logs, for a pickle or copy."""
        for place in self.places:
            if place.block >= 0:
                place.rules.log_reward[place.row] = place.total

    @_alone
    def cursor(self, index: int, row: int | None = None) -> int:
        """Return the next row to deal from a block of stride 1; `row` sets it."""
        if row is not None:
            self.rules[index].cursor = row
        return self.rules[index].cursor  # type: ignore[no-any-return]

    # ------------------------------------------------------------------ trials begin

    @_alone
    def begin(self, env: int, index: int, row: int) -> None:
        """Start the trial of a row in an env."""
        place, rules = self.places[env], self.rules[index]
        place.block, place.row, place.type = index, row, rules.type[row]
        place.rules, place.clock, place.total, place.ended = rules, 0, 0.0, 0
        self._enter(place, self._landing(place, 0), -1)

    @_alone
    def begin_next(self, envs: list[int]) -> None:
        """Start the next trial of each env: from its block, else from `deal`."""
        dry = []
        for env in envs:
            place = self.places[env]
            # Shared trials come from the current block, also for an env whose last trial was one
            # of an earlier block.
            index = self.current if self.rules[place.block].block.stride == 1 else place.block
            rules = self.rules[index]
            stride = rules.block.stride
            row = rules.cursor if stride == 1 else place.row + stride
            if stride and row < len(rules.type):
                rules.cursor = row + 1
                self.begin(env, index, row)
            else:
                dry.append(env)
        # One call for all: on demand, their trials are drawn together.
        if dry:
            self.deal(dry)

    @_alone
    def stop(self, envs: list[int]) -> None:
        """End the current trials of some envs, and start the next ones."""
        for env in envs:
            self._end(env, aborted=False)
        self.begin_next(envs)

    # ------------------------------------------------------------------ one step of one env

    def advance_one(self, env: int, action: int, given: Given | None) -> tuple[float, bool]:
        """Play one step of an env; return its reward, and whether the trial ended.

        The order of the parts is part of the definition; each comment says what depends on it.
        """
        place = self.places[env]
        rules = place.rules
        cell = place.here * rules.n_actions + action
        reward = rules.reward[cell]
        # An action takes effect at the end of its step, so the clock moves first: an answer on the
        # first step of a window has a reaction time of dt.
        place.clock = clock = place.clock + 1
        if rules.aborts[cell]:
            rules.log_aborts[place.row] += 1
        # Most steps end here.
        if given is None and clock < place.until and not rules.acts[cell]:
            place.total += reward
            return reward, False

        # The hook comes before the answer: `extra` is part of the reward that an answer may
        # replace, and an outcome that the hook sets counts as the first answer to that slot.
        if given is not None:
            if given.extra is not None:
                reward += given.extra.item(env)
            if given.outcome is not None and rules.n_slots:
                first, outcome = place.row * rules.n_slots, given.outcome.item(env)
                if outcome and not rules.log_slot_outcome[first]:
                    rules.log_slot_outcome[first] = outcome
                    rules.log_slot_score[first] = float(outcome == CORRECT)
        # The answer comes before the end of the segment: on the last step of a window an answer
        # still counts. `leaves` is True for a destination that is not the effect of an answer: the
        # action broke a hold. If the trial ends there, it was aborted. A hook's destination
        # overrides that of the table, and is never an abort.
        goto, leaves = STAY, False
        if rules.slot[cell] >= 0:
            reward, goto = self._answer(env, cell, action, reward, given)
        elif rules.goto[cell] != STAY:
            goto, leaves = rules.goto[cell], True
        if given is not None and given.goto is not None and given.goto[env] != STAY:
            goto, leaves = given.goto.item(env), False

        # A destination wins over time. Only time closes windows: a trial that an action takes out
        # of a window pays no miss for it.
        segment, moves = place.segment, True
        if goto >= 0:
            segment = self._landing(place, rules.entry[goto])
        elif goto == END:
            segment = END
        elif clock - place.entered >= rules.duration[place.here] and not rules.endless[segment]:
            segment = self._landing(place, rules.follows[segment])
            reward = self._close(env, segment, reward, given)
        else:
            moves = False
        # Known before the limit is applied: a trial that only ran out of steps was not aborted.
        aborted = leaves and segment < 0
        # The limit comes last, because a trial that has just ended needs none. Windows that were
        # closed above have an outcome, so no miss is paid twice.
        if segment >= 0 and clock >= rules.limit[place.type]:
            segment = END
            reward = self._close(env, END, reward, given)

        # The hook's reward replaces everything, also the rewards for misses.
        if given is not None and given.reward is not None:
            reward = given.reward.item(env)
        place.total += reward  # before `_end`, which computes the performance from it
        if segment < 0:
            self._end(env, aborted)
            return reward, True
        # `_enter` comes after `_close`, which needs the segment that is left. A window that spans
        # both segments stays open on the way forward; on the way back it opens again, and
        # reaction times count from the new opening.
        if moves:
            self._enter(place, segment, place.segment if segment > place.segment else -1)
        return reward, False

    def _answer(
        self, env: int, cell: int, action: int, reward: float, given: Given | None
    ) -> tuple[float, int]:
        """Score an answer to a slot; return the reward of the step, and the destination."""
        place = self.places[env]
        rules = place.rules
        k = rules.slot[cell]
        at, terms = place.row * rules.n_slots + k, place.type * rules.n_slots + k
        # Only the first answer counts; a later one has neither reward nor effect.
        if rules.log_slot_outcome[at]:
            return 0.0, STAY
        steps = place.clock - rules.log_opened[at]
        outcome, score, goto = rules.outcome[cell], rules.score[cell], rules.goto[cell]
        due, tolerance = rules.due[terms], rules.tolerance[terms]
        wrong, pay = False, float("nan")
        if not isnan(due):
            # A timed answer: the moment is judged, if the choice is correct. 1e-9 is for rounding,
            # since dt and the tolerance need not be exact in binary.
            if outcome == CORRECT or rules.continuous:
                wrong = abs(steps * rules.dt - due) > tolerance + 1e-9
                if rules.graded_from[terms]:
                    entry = min(max(steps - rules.graded_from[terms], 0), rules.n_grades - 1)
                    pay = rules.graded[terms * rules.n_grades + entry]
        elif given is not None and given.distance is not None:
            wrong = given.distance.item(env, k) > tolerance + 1e-9
            if given.graded is not None and given.score is not None:
                pay = given.graded.item(env, k)
                # Graded by distance, so that performance distinguishes near from very near.
                score = score if isnan(pay) else given.score.item(env, k)
        # A slot that needs another one is correct only if that one was answered correctly before.
        needs = rules.needs[k]
        if needs >= 0 and outcome == CORRECT:
            wrong |= rules.log_slot_outcome[place.row * rules.n_slots + needs] != CORRECT
        if wrong:
            outcome, score = ERROR, 0.0
            reward, goto = rules.error_reward[terms], rules.error_goto[terms]
        elif not isnan(pay):
            reward = pay
        rules.log_slot_outcome[at], rules.log_slot_score[at] = outcome, score
        rules.log_slot_time[at] = steps * rules.dt
        rules.log_slot_choice[at] = 0 if rules.continuous else action - rules.first_action[k]
        if given is not None and given.values is not None:
            rules.log.values[place.row, k] = given.values[env]
        return reward, goto

    def _close(self, env: int, coming: int, reward: float, given: Given | None) -> float:
        """Close the windows that are not open in the next segment (END: all); return the reward."""
        place = self.places[env]
        rules = place.rules
        window, opens = place.here * rules.n_slots, -1
        if coming >= 0:
            opens = (place.type * rules.n_segments + coming) * rules.n_slots
        for k in range(rules.n_slots):
            at, terms = place.row * rules.n_slots + k, place.type * rules.n_slots + k
            if not rules.window[window + k] or rules.log_slot_outcome[at]:
                continue
            if opens >= 0 and rules.window[opens + k]:
                continue
            if rules.trigger:
                outcome = rules.miss_outcome[terms]
                score = float(outcome == CORRECT)
                reward += rules.miss_reward[terms]
            else:  # without a trigger, the values on the last step of the window are the answer
                distance = given.distance.item(env, k)  # type: ignore[union-attr]
                outcome = CORRECT if distance <= rules.tolerance[terms] + 1e-9 else ERROR
                score = given.score.item(env, k)  # type: ignore[union-attr]
                reward += given.graded.item(env, k)  # type: ignore[union-attr]
                rules.log_slot_choice[at] = 0
                rules.log.values[place.row, k] = given.values[env]  # type: ignore[union-attr, index]
            rules.log_slot_outcome[at], rules.log_slot_score[at] = outcome, score
        return reward

    def _landing(self, place: Place, segment: int) -> int:
        """Return the segment that is played on entering `segment`: those of 0 steps are skipped."""
        rules = place.rules
        # Periods can lead back to each other. After so many skips the trial can only be in a cycle
        # of empty segments; it ends, instead of hanging the process.
        for _ in range(2 * rules.n_segments):
            if segment < 0 or rules.duration[place.type * rules.n_segments + segment]:
                return segment
            segment = rules.follows[segment]
        return END

    def _enter(self, place: Place, segment: int, before: int) -> None:
        """Enter a segment, coming from an earlier one (`before`), or from elsewhere (-1)."""
        rules = place.rules
        if before < 0 or rules.period[segment] != rules.period[before]:
            place.period_at = place.clock
        at = place.row * rules.n_periods
        # A trial begins at clock 0, when `place.segment` is still one of the last trial.
        if place.clock:
            rules.log_offset[at + rules.period[place.segment]] = place.clock
        if rules.log_onset[at + rules.period[segment]] < 0:
            rules.log_onset[at + rules.period[segment]] = place.clock
        first = place.type * rules.n_segments * rules.n_slots
        for k in range(rules.n_slots):
            was_open = before >= 0 and rules.window[first + before * rules.n_slots + k]
            if rules.window[first + segment * rules.n_slots + k] and not was_open:
                at = place.row * rules.n_slots + k
                # The record keeps the answer of the last visit; the reward of all is in the total.
                if rules.again[k]:
                    rules.log_slot_outcome[at], rules.log_slot_choice[at] = NONE, RESTING
                    rules.log_slot_time[at], rules.log_slot_score[at] = float("nan"), 0.0
                # Reaction times count from the opening of the window that was answered.
                if not rules.log_slot_outcome[at]:
                    rules.log_opened[at] = place.clock
        place.segment, place.entered = segment, place.clock
        self._set_time(place)

    def _set_time(self, place: Place) -> None:
        """Set the fields that depend on the segment: its row, its end, the rendered observation."""
        rules = place.rules
        place.here = place.type * rules.n_segments + place.segment
        endless = rules.endless[place.segment]
        duration = NEVER if endless else rules.duration[place.here]
        place.until = min(place.entered + duration, rules.limit[place.type])
        # Noise belongs to (serial number, clock), so the rendered observations are those of this
        # trial only while it is in order. An endless segment may outlast its rendered steps.
        timed = rules.tape is not None and not endless
        in_order = timed and rules.offset(place.type, place.segment) == place.entered
        place.on_tape = rules.tape_at[place.row] if in_order else -1

    def _end(self, env: int, aborted: bool) -> None:
        """End the trial: log its outcome and performance, and count it."""
        place = self.places[env]
        place.ended = 1
        rules, row = place.rules, place.row
        asked, score, worst = 0, 0.0, NONE
        for k in range(rules.n_slots):
            if rules.asked[place.type * rules.n_slots + k]:
                outcome = rules.log_slot_outcome[row * rules.n_slots + k]
                asked += 1
                score += rules.log_slot_score[row * rules.n_slots + k]
                worst = outcome if BADNESS[outcome] > BADNESS[worst] else worst
        # Slots whose windows never closed have no outcome; if no slot has one, that is a miss.
        if asked and worst == NONE:
            worst = MISS
        best = rules.best[place.type]
        if isnan(best):
            performance = score / asked if asked else 0.0
        else:
            performance = place.total / best if best > 0 else 0.0
        rules.log_outcome[row] = ABORT if aborted else worst
        rules.log_performance[row] = min(max(0.0, performance), 1.0)
        rules.log_reward[row] = place.total
        rules.log_env[row], rules.log_number[row] = env, place.number
        rules.log_session[row], rules.log_steps[row] = place.session, place.clock
        rules.log_offset[row * rules.n_periods + rules.period[place.segment]] = place.clock
        rules.log_ended[row] = True
        place.last_block, place.last_row = place.block, row
        place.number += 1
        place.left -= 1
        if not place.left:
            place.session += 1
            place.left = self.per_session
            place.waiting = int(self.next_step)

    # ------------------------------------------------------------------ one step of all envs

    @_alone
    def advance(self, actions: Ints, given: Given | None = None) -> Moved:
        """Play one step of every env that does not wait, and start the next trials.

        Args:
            actions: (N,) action ids, or columns of the tables for continuous actions; the caller
                has checked them.
            given: contributions of hooks and continuous actions.
        """
        self._check_standing()
        reward, performance = np.zeros((2, self.n))
        ended, over = np.zeros((2, self.n), np.bool_)
        target, period = np.zeros((2, self.n), np.int64)
        envs: list[int] = []
        for env, (place, action) in enumerate(zip(self.places, actions.tolist(), strict=True)):
            rules = place.rules
            # Read before the step: the action was chosen on the current observation.
            if rules.target is not None:
                target[env] = rules.target[place.here]
            period[env] = rules.period[place.segment]
            if place.waiting:
                place.waiting = 0
                continue
            reward[env], ended[env] = self.advance_one(env, action, given)
            if ended[env]:
                envs.append(env)
                performance[env] = rules.log_performance[place.last_row]
                # `_end` has set the count of the next session.
                over[env] = place.left == self.per_session
        finished = None
        # Only now, when all have played: trials on demand depend on the outcomes of this step.
        if envs:
            blocks = [self.rules[self.places[env].block].block for env in envs]
            one = all(block is blocks[0] for block in blocks)
            finished = TrialResults(
                np.array([self.places[env].row for env in envs]), blocks[0] if one else blocks
            )
            self.begin_next(envs)
        self.last_reward = reward
        return Moved(reward, ended, over, target, period, performance, finished)

    @_alone
    def observe(self) -> Singles:
        """Return the current observations, (N, U) float32, in a new array."""
        first = self.rules[self.places[0].block]
        # The usual case, in one call of NumPy: all envs in one block, in the rendered order.
        if all(place.on_tape >= 0 and place.block == self.places[0].block for place in self.places):
            rows = [place.on_tape + place.clock for place in self.places]
            return first.tape.take(rows, axis=0)  # type: ignore[no-any-return]
        return np.stack([self._observe_one(place) for place in self.places])

    def _observe_one(self, place: Place) -> Singles:
        rules = place.rules
        if place.on_tape >= 0:
            return rules.tape[place.on_tape + place.clock].copy()  # type: ignore[no-any-return]
        serial = rules.block.first_serial + place.row
        return observation(
            rules.block.tables,
            place.type,
            place.segment,
            place.clock - place.entered,
            self.key,
            serial,
            place.clock,
        )

    # ------------------------------------------------------------------ steps for Gymnasium

    @_alone
    def step(self, action: Any) -> Stepped:
        """Play a step of the only env; return the tuple of `gymnasium.Env.step`.

        Discrete actions only.
        """
        place = self.places[0]
        if place.ended:
            self._check_standing()
        if place.block < 0:
            self.deal([0])
        rules = place.rules
        # The bound step of an env is this method, without a caller that has checked the action.
        if not isinstance(action, int) or not 0 <= action < rules.n_actions:
            action = self.check(action)
        target, period = rules.target[place.here], self._period_names[rules.period[place.segment]]
        reward, ended = self.advance_one(0, action, None)
        info: dict[str, Any] = {"gt": target, "period": period, "new_trial": ended}
        if not ended:
            return self._observe_one(place), reward, False, False, info
        info["trial"] = TrialInfo(rules.block, place.row)
        info["performance"] = rules.log_performance[place.row]
        over = place.left == self.per_session
        self.begin_next([0])
        return self._observe_one(place), reward, over and self.once, over and not self.once, info

    @_alone
    def vector_step(self, actions: Any) -> VectorStepped:
        """Play a step of all envs; return the tuple of Gymnasium's `VectorEnv.step`.

        Discrete actions only.
        """
        self._check_standing()
        if self.places[0].block < 0:
            self.deal(list(range(self.n)))
        moved = self.advance(self.check_all(actions))
        info = vector_info(moved.target, self.names[moved.period], moved.ended)
        if moved.finished is not None:
            info["trial"], info["_trial"] = VectorInfo(moved.finished, self.n), moved.ended
            info["performance"], info["_performance"] = moved.performance, moved.ended
        terminated, truncated = (
            (moved.over, np.zeros(self.n, np.bool_))
            if self.once
            else (np.zeros(self.n, np.bool_), moved.over)
        )
        return self.observe(), moved.reward, terminated, truncated, info
