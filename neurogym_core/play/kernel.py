"""The kernel: one step of a trial, in plain Python. This file defines what a step does.

`PlainKernel` moves N envs through the tables of their blocks. `_kernel.c` is the same, compiled;
`kernels.py` chooses between them, and the tests hold the two together bit by bit. What a step does
is in `PlainKernel.advance_one`, with `_answer`, `_close`, `_enter` and `_end`, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isnan
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from neurogym_core.play.blocks import Block
from neurogym_core.play.render import Steps, observation, render
from neurogym_core.play.results import TrialInfo, TrialResults, VectorInfo
from neurogym_core.trials.arrays import Array, Bools, Floats, Ints, Singles
from neurogym_core.trials.layout import END, STAY
from neurogym_core.trials.record import Outcome

NONE, CORRECT, ERROR = int(Outcome.NONE), int(Outcome.CORRECT), int(Outcome.ERROR)
ABORT, MISS, OTHER = int(Outcome.ABORT), int(Outcome.MISS), int(Outcome.OTHER)
BADNESS = {NONE: 0, CORRECT: 1, OTHER: 2, MISS: 3, ERROR: 4, ABORT: 5}
"""A trial comes out as the worst of its slots."""
NEVER = 1 << 52
"""Trials of a session without end, and the clock at which an endless segment runs out."""

STATE = (
    "block", "row", "type", "segment", "entered", "clock", "period_at",
    "number", "session", "left", "waiting", "last_block", "last_row",
)  # fmt: skip
"""The state of an env, all whole numbers (see `Place`)."""

Stepped = tuple[Array, float, bool, bool, dict[str, Any]]
VectorStepped = tuple[Array, Array, Array, Array, dict[str, Any]]


class Place:
    """Where an env stands.

    Attributes:
        block, row: the trial that it plays: index of a block (-1: none yet), and a row of it.
        type, segment: the row of the tables that holds on the current step.
        clock: steps played of this trial.
        entered, period_at: clock when the segment, and when the period began.
        number, session: number of the trial in this env, and of the session.
        left: trials left of the session, the current one included.
        waiting: 1 if the env sits out the next step, because its session ended on the last one.
        last_block, last_row: the trial that ended last.
        until: clock on which time ends the segment or the trial.
        on_tape: row of the block's rendered observations for clock 0; -1 where the trial has left
            their order.
    """

    __slots__ = (*STATE, "on_tape", "until")

    def __init__(self, left: int) -> None:
        self.block = self.last_block = self.last_row = -1
        self.row = self.type = self.segment = self.clock = self.entered = self.period_at = 0
        self.number = self.session = self.waiting = self.until = 0
        self.left, self.on_tape = left, -1


class Given(NamedTuple):
    """What hooks and continuous actions add to a step of N envs; None where they add nothing.

    Attributes:
        reward: (N,) float64, all that the step pays.
        extra: (N,) float64, added to what the table pays.
        goto: (N,) int64, destinations; STAY: what the table says.
        outcome: (N,) int64, `Outcome` of the first slot; 0: what the table says.
        distance: (N, K) float64, how far a continuous action is from what each slot wants.
        graded: (N, K) float64, what it pays if it is near enough; NaN: what the table pays.
        values: (N, D) float64, the action in task units.
    """

    reward: Floats | None = None
    extra: Floats | None = None
    goto: Ints | None = None
    outcome: Ints | None = None
    distance: Floats | None = None
    graded: Floats | None = None
    values: Floats | None = None


class Moved(NamedTuple):
    """What a step of N envs brought.

    Attributes:
        reward: (N,) float64.
        ended, over: (N,) bool, where a trial and where a session ended.
        target: (N,) int64, the right action on the step that was scored; 0 for continuous actions.
        period: (N,) int64, its period.
        performance: (N,) float64, of the trials that ended; 0 elsewhere.
        finished: these trials, or None.
    """

    reward: Floats
    ended: Bools
    over: Bools
    target: Ints
    period: Ints
    performance: Floats
    finished: TrialResults | None


class _Rules:
    """A block as the plain kernel reads it: flat lists, which Python indexes fastest."""

    FEW = 1 << 14
    """Numbers up to which a list is made; more are read through a memoryview."""

    def __init__(self, block: Block, key: int) -> None:
        self.block, self.log, tables = block, block.log, block.tables
        _, self.n_segments, self.n_actions = tables.reward.shape
        self.n_slots = tables.n_slots
        self.dt, self.trigger = tables.dt, tables.trigger
        self.continuous = tables.target.ndim == 3
        self.duration, self.limit = map(self._listed, (tables.duration, tables.limit))
        self.type = block.kind.data  # on demand, rows are filled while the block is played
        self.reward, self.goto, self.slot = map(
            self._listed, (tables.reward, tables.goto, tables.slot)
        )
        self.outcome, self.score = self._listed(tables.outcome), self._listed(tables.score)
        self.aborts, self.window = self._listed(tables.aborts), self._listed(tables.window)
        # Does more than pay.
        self.acts = self._listed((tables.slot >= 0) | (tables.goto != STAY) | tables.aborts)
        self.target = None if self.continuous else self._listed(tables.target)
        self.follows, self.endless = tables.follows.tolist(), tables.endless.tolist()
        self.entry, self.period = tables.entry.tolist(), tables.period.tolist()
        self.needs, self.first_action = tables.needs.tolist(), tables.first_action.tolist()
        self.cursor = 0
        self.tape: Singles | None = None
        self.tape_at: Any = None
        if block.stride:
            self.tape, self.tape_at = self._rendered(key)

    def _listed(self, values: Array) -> Any:
        flat = np.ascontiguousarray(values).reshape(-1)
        return flat.tolist() if flat.size <= self.FEW else flat.data

    def _rendered(self, key: int) -> tuple[Singles, memoryview]:
        """The observations of all rows, periods in order, and where each row begins."""
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
        """Step on which a segment begins when all are played in order."""
        begin = kind * self.n_segments
        return sum(self.duration[begin : begin + segment])


class PlainKernel:
    """N envs.

    Args:
        n: number of envs.
        key: of the noise.
        names: (P,) names of the periods.
        per_session: trials of a session, or NEVER.
        next_step: whether envs sit out the step after a session's end.
        deal: called with the envs that need a trial and find none in their block; it calls `begin`
            for each.
        check: called with an action that is no plain number in range; returns it as a number, or
            raises.
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
        self.current = 0
        """Index of the block of stride 1 that trials are dealt from."""
        self.places = [Place(per_session) for _ in range(n)]
        self.last_reward = np.zeros(n)
        """(N,) what the last step paid; 0 after a reset."""
        self._period_names = names.tolist()

    # ------------------------------------------------------------------ blocks and state

    def attach(self, index: int, block: Block | None) -> None:
        """Hold a block under an index; None: hold none there any more."""
        self.rules += [None] * (index + 1 - len(self.rules))
        self.rules[index] = None if block is None else _Rules(block, self.key)

    def get(self, name: str) -> Ints:
        """(N,) one of `STATE`, a copy."""
        return np.array([getattr(place, name) for place in self.places], np.int64)

    def set(self, name: str, values: Ints) -> None:
        """Set one of `STATE`, (N,)."""
        for place, value in zip(self.places, values.tolist(), strict=True):
            setattr(place, name, value)
            if place.block >= 0:
                self._set_time(place, self.rules[place.block])

    def sync(self) -> None:
        """Bring the logs up to date; here they always are."""

    def cursor(self, index: int, row: int | None = None) -> int:
        """The row that is dealt next from a block of stride 1; `row` sets it."""
        if row is not None:
            self.rules[index].cursor = row
        return self.rules[index].cursor  # type: ignore[no-any-return]

    # ------------------------------------------------------------------ trials begin

    def begin(self, env: int, index: int, row: int) -> None:
        """Start a trial in an env."""
        place, rules = self.places[env], self.rules[index]
        place.block, place.row, place.type = index, row, rules.type[row]
        place.clock = 0
        self._enter(place, rules, self._landing(rules, place.type, 0), -1)

    def begin_next(self, envs: list[int]) -> None:
        """Start the coming trials of envs: the next of their blocks, else what `deal` deals."""
        dry = []
        for env in envs:
            place = self.places[env]
            index = self.current if self.rules[place.block].block.stride == 1 else place.block
            rules = self.rules[index]
            stride = rules.block.stride
            row = rules.cursor if stride == 1 else place.row + stride
            if stride and row < len(rules.type):
                rules.cursor = row + 1
                self.begin(env, index, row)
            else:
                dry.append(env)
        if dry:
            self.deal(dry)

    def stop(self, envs: list[int]) -> None:
        """End trials where they are, and start the coming ones."""
        for env in envs:
            self._end(env, self.rules[self.places[env].block], aborted=False)
        self.begin_next(envs)

    # ------------------------------------------------------------------ one step of one env

    def advance_one(self, env: int, action: int, given: Given | None) -> tuple[float, bool]:
        """Play one step of an env: what it pays, and whether the trial ended."""
        place = self.places[env]
        rules = self.rules[place.block]
        log, row = rules.log, place.row
        here = place.type * rules.n_segments + place.segment
        cell = here * rules.n_actions + action
        reward = rules.reward[cell]
        place.clock = clock = place.clock + 1
        if clock < place.until and not rules.acts[cell] and given is None:
            log.reward[row] += reward
            return reward, False

        if given is not None:
            if given.extra is not None:
                reward += given.extra.item(env)
            if (
                given.outcome is not None
                and rules.n_slots
                and given.outcome[env]
                and not log.slot_outcome[row, 0]
            ):
                log.slot_outcome[row, 0] = given.outcome[env]
                log.slot_score[row, 0] = given.outcome[env] == CORRECT
        log.aborts[row] += rules.aborts[cell]
        goto, leaves = STAY, False
        if rules.slot[cell] >= 0:
            reward, goto = self._answer(env, rules, cell, action, reward, given)
        elif rules.goto[cell] != STAY:
            goto, leaves = rules.goto[cell], True
        if given is not None and given.goto is not None and given.goto[env] != STAY:
            goto, leaves = given.goto.item(env), False

        segment, moves = place.segment, True
        if goto >= 0:
            segment = self._landing(rules, place.type, rules.entry[goto])
        elif goto == END:
            segment = END
        elif clock - place.entered >= rules.duration[here] and not rules.endless[segment]:
            segment = self._landing(rules, place.type, rules.follows[segment])
            reward = self._close(env, rules, segment, reward, given)
        else:
            moves = False
        aborted = leaves and segment < 0
        if segment >= 0 and clock >= rules.limit[place.type]:
            segment = END
            reward = self._close(env, rules, END, reward, given)

        if given is not None and given.reward is not None:
            reward = given.reward.item(env)
        log.reward[row] += reward
        if segment < 0:
            self._end(env, rules, aborted)
            return reward, True
        if moves:
            self._enter(place, rules, segment, place.segment if segment > place.segment else -1)
        return reward, False

    def _answer(
        self, env: int, rules: _Rules, cell: int, action: int, reward: float, given: Given | None
    ) -> tuple[float, int]:
        """The answer to a slot: what the step pays, and where it leads. The first answer counts."""
        place, log, k = self.places[env], rules.log, rules.slot[cell]
        tables, kind, row = rules.block.tables, place.type, place.row
        if log.slot_outcome[row, k]:
            return 0.0, STAY
        steps = place.clock - int(log.opened[row, k])
        outcome, score, goto = rules.outcome[cell], rules.score[cell], rules.goto[cell]
        due, tolerance = tables.due.item(kind, k), tables.tolerance.item(kind, k)
        wrong, pay = False, float("nan")
        if not isnan(due):
            if outcome == CORRECT or rules.continuous:  # the wrong choice is wrong at any moment
                wrong = abs(steps * rules.dt - due) > tolerance + 1e-9
                if tables.graded_from[kind, k]:
                    last = tables.graded.shape[2] - 1
                    pay = tables.graded.item(
                        kind, k, min(max(steps - tables.graded_from[kind, k], 0), last)
                    )
        elif given is not None and given.distance is not None:
            wrong = given.distance[env, k] > tolerance + 1e-9
            if given.graded is not None:
                pay = given.graded.item(env, k)
                score = score if isnan(pay) else pay  # a nearer value is better, not only right
        needs = rules.needs[k]
        if needs >= 0 and outcome == CORRECT and log.slot_outcome[row, needs] != CORRECT:
            wrong = True
        if wrong:
            outcome, score = ERROR, 0.0
            reward, goto = tables.error_reward.item(kind, k), tables.error_goto.item(kind, k)
        elif not isnan(pay):
            reward = pay
        log.slot_outcome[row, k], log.slot_score[row, k] = outcome, score
        log.slot_time[row, k] = steps * rules.dt
        log.slot_choice[row, k] = 0 if rules.continuous else action - rules.first_action[k]
        if given is not None and given.values is not None:
            log.values[row, k] = given.values[env]
        return reward, goto

    def _close(
        self, env: int, rules: _Rules, coming: int, reward: float, given: Given | None
    ) -> float:
        """Close windows not open in the coming segment (END: all); what the step pays then."""
        place, log = self.places[env], rules.log
        tables, kind, row = rules.block.tables, place.type, place.row
        for k in range(rules.n_slots):
            if not tables.window[kind, place.segment, k] or log.slot_outcome[row, k]:
                continue
            if coming >= 0 and tables.window[kind, coming, k]:
                continue
            if rules.trigger:
                outcome = tables.miss_outcome.item(kind, k)
                reward += tables.miss_reward.item(kind, k)
            else:  # a continuous action without a trigger answers by what it is at the end
                distance = given.distance[env, k]  # type: ignore[union-attr, index]
                near = distance <= tables.tolerance[kind, k] + 1e-9
                outcome = CORRECT if near else ERROR
                log.slot_choice[row, k] = 0
                log.values[row, k] = given.values[env]  # type: ignore[union-attr, index]
            log.slot_outcome[row, k], log.slot_score[row, k] = outcome, float(outcome == CORRECT)
        return reward

    def _landing(self, rules: _Rules, kind: int, segment: int) -> int:
        """The segment that a trial that enters one comes to: those of 0 steps are passed over."""
        for _ in range(2 * rules.n_segments):
            if segment < 0 or rules.duration[kind * rules.n_segments + segment]:
                return segment
            segment = rules.follows[segment]
        return END  # periods of no steps that lead to each other

    def _enter(self, place: Place, rules: _Rules, segment: int, before: int) -> None:
        """Come to a segment from another one before it, or from elsewhere (-1)."""
        clock, window, log = place.clock, rules.block.tables.window[place.type], rules.log
        if before < 0 or rules.period[segment] != rules.period[before]:
            place.period_at = clock
        for k in range(rules.n_slots):
            if window[segment, k] and (before < 0 or not window[before, k]):
                log.opened[place.row, k] = clock
        place.segment, place.entered = segment, clock
        self._set_time(place, rules)

    def _set_time(self, place: Place, rules: _Rules) -> None:
        """Note until when time does nothing, and where the rendered observation is."""
        duration = (
            NEVER
            if rules.endless[place.segment]
            else rules.duration[place.type * rules.n_segments + place.segment]
        )
        place.until = min(place.entered + duration, rules.limit[place.type])
        # Without a timer it may outlast what was rendered of it.
        timed = rules.tape is not None and not rules.endless[place.segment]
        in_order = timed and rules.offset(place.type, place.segment) == place.entered
        place.on_tape = rules.tape_at[place.row] if in_order else -1

    def _end(self, env: int, rules: _Rules, aborted: bool) -> None:
        """The trial is over: its outcome, performance and place among the env's trials."""
        place, log, tables = self.places[env], rules.log, rules.block.tables
        kind, row = place.type, place.row
        asked, score, worst = 0, 0.0, NONE
        for k in range(rules.n_slots):
            if tables.asked[kind, k]:
                asked += 1
                score += log.slot_score.item(row, k)
                worst = max(worst, log.slot_outcome.item(row, k), key=BADNESS.__getitem__)
        if asked and worst == NONE:
            worst = MISS
        best = tables.best.item(kind)
        if isnan(best):
            performance = score / asked if asked else 0.0
        else:
            performance = log.reward.item(row) / best if best > 0 else 0.0
        log.outcome[row] = ABORT if aborted else worst
        log.performance[row] = min(max(0.0, performance), 1.0)
        log.env[row], log.number[row] = env, place.number
        log.session[row], log.steps[row] = place.session, place.clock
        log.ended[row] = True
        place.last_block, place.last_row = place.block, row
        place.number += 1
        place.left -= 1
        if not place.left:
            place.session += 1
            place.left = self.per_session
            place.waiting = int(self.next_step)

    # ------------------------------------------------------------------ one step of all envs

    def advance(self, actions: Ints, given: Given | None = None) -> Moved:
        """Play one step of every env that does not wait, and start the coming trials.

        Args:
            actions: (N,) action ids, or columns of the tables for continuous actions; checked by
                the caller.
        """
        reward, performance = np.zeros((2, self.n))
        ended, over = np.zeros((2, self.n), np.bool_)
        target, period = np.zeros((2, self.n), np.int64)
        envs: list[int] = []
        for env, (place, action) in enumerate(zip(self.places, actions.tolist(), strict=True)):
            rules = self.rules[place.block]
            if rules.target is not None:
                target[env] = rules.target[place.type * rules.n_segments + place.segment]
            period[env] = rules.period[place.segment]
            if place.waiting:
                place.waiting = 0
                continue
            reward[env], ended[env] = self.advance_one(env, action, given)
            if ended[env]:
                envs.append(env)
                performance[env] = rules.log.performance[place.last_row]
                over[env] = place.left == self.per_session
        finished = None
        if envs:
            blocks = [self.rules[self.places[env].block].block for env in envs]
            one = all(block is blocks[0] for block in blocks)
            finished = TrialResults(
                np.array([self.places[env].row for env in envs]), blocks[0] if one else blocks
            )
            self.begin_next(envs)
        self.last_reward = reward
        return Moved(reward, ended, over, target, period, performance, finished)

    def observe(self) -> Singles:
        """The current observations, (N, U) float32, of the caller's own."""
        first = self.rules[self.places[0].block]
        if all(place.on_tape >= 0 and place.block == self.places[0].block for place in self.places):
            rows = [place.on_tape + place.clock for place in self.places]
            return first.tape.take(rows, axis=0)  # type: ignore[no-any-return]
        return np.stack([self._observe_one(env) for env in range(self.n)])

    def _observe_one(self, env: int) -> Singles:
        place = self.places[env]
        rules = self.rules[place.block]
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

    # ------------------------------------------------------------------ what Gymnasium is told

    def step(self, action: Any) -> Stepped:
        """One step of the only env, as `gymnasium.Env.step` returns it; discrete actions."""
        place = self.places[0]
        if place.block < 0:
            self.deal([0])
        rules = self.rules[place.block]
        if not isinstance(action, int) or not 0 <= action < rules.n_actions:
            action = self.check(action)
        here = place.type * rules.n_segments + place.segment
        info: dict[str, Any] = {
            "gt": rules.target[here],
            "period": self._period_names[rules.period[place.segment]],
        }
        reward, ended = self.advance_one(0, action, None)
        info["new_trial"] = ended
        over = False
        if ended:
            log, row = rules.log, place.row
            info["trial"] = TrialInfo(rules.block, row)
            info["performance"] = log.performance.item(row)
            over = place.left == self.per_session
            self.begin_next([0])
        return self._observe_one(0), reward, over and self.once, over and not self.once, info

    def vector_step(self, actions: Any) -> VectorStepped:
        """One step of all envs, as Gymnasium's `VectorEnv.step` returns it; discrete actions."""
        if self.places[0].block < 0:
            self.deal(list(range(self.n)))
        moved = self.advance(self.check_all(actions))
        info: dict[str, Any] = {
            "gt": moved.target,
            "period": self.names[moved.period],
            "new_trial": moved.ended,
        }
        if moved.finished is not None:
            info["trial"] = VectorInfo(moved.finished, self.n)
            info["_trial"], info["performance"] = moved.ended, moved.performance
        terminated, truncated = (
            (moved.over, np.zeros(self.n, np.bool_))
            if self.once
            else (np.zeros(self.n, np.bool_), moved.over)
        )
        return self.observe(), moved.reward, terminated, truncated, info
