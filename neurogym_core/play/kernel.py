"""The kernel: one step of a trial. This file is the definition of a step, and its only text.

`Kernel` moves N envs through the tables of their blocks. The file runs as it is in plain Python,
and Cython compiles it, as it is, to the module `_kernel`; `kernels.py` chooses between the two. The
rules of a step are in `advance_one`, with `_answer`, `_close`, `_enter` and `_end`, and nowhere
else. The builds differ in the form of their memory: `plain.py` has lists and objects, `_memory.pxd`
has C structs under the same names. `_kernel.pxd` has the C types of this file.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from neurogym_core.play.blocks import Block
from neurogym_core.play.plain import STATE
from neurogym_core.play.results import (
    Given,
    Moved,
    TrialInfo,
    TrialResults,
    VectorInfo,
)
from neurogym_core.trials.arrays import Array, Ints, Singles
from neurogym_core.trials.noise import lines

try:  # for the compiler, which reads this line; nothing else needs the package
    import cython
except ImportError:
    cython = SimpleNamespace(compiled=False, nogil=nullcontext())

if cython.compiled:
    from cython.cimports.neurogym_core.play import _memory as memory

    memory.import_array()

    def fill(shown, steps, offset, key, inputs, targets, weights, real):  # type: ignore
        """Write the steps of m trials into a batch, as `fill` of rendering.py does."""
        memory.fill_trials(shown, steps, offset, key, inputs, targets, weights, real, lines())

else:
    from neurogym_core.play import plain as memory

VERSION = 14
"""Version of this file and of the memory of the compiled kernel. A compiled kernel of another
version was built from other sources, and is not used."""
STAY, END = -1, -2
NONE, CORRECT, ERROR, ABORT, MISS = 0, 1, 2, 3, 4
RESTING, OUTCOMES = -1, 6
BADNESS = [0, 1, 4, 5, 3, 2]
"""The outcome of a trial is the worst outcome of its slots: rank of each `Outcome`."""
# Far below 2**63, so that sums with it cannot overflow in C; exact as a float.
NEVER = 1 << 52
"""Number of trials of an endless session; duration of an endless segment."""
NAN = float("nan")
MANY = 256
"""From so many envs on, steps and observations release Python's lock."""
MOST_BLOCKS = 4096
"""Largest number of blocks; a larger index is a mistake of the caller."""
# Results of a step of one env, and of the start of a trial; those below 0 are errors.
ON, OVER, DRY, BAD_STATE, BAD_GIVEN = 0, 1, 2, -1, -2

POSITION = 6
"""The first names of `STATE`: those of the position of an env within its trial."""

Stepped = tuple[Array, float, bool, bool, dict[str, Any]]
VectorStepped = tuple[Array, Array, Array, Array, dict[str, Any]]


class Kernel:
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

    Attributes:
        n, key: as above; setting the key changes the noise of all following steps.
        current: index of the block of stride 1 that trials are dealt from.
        last_reward: (N,) reward of the last step; 0 after a reset.
        full: whether the infos of a step have its target and period.
        own: whether `vector_step` returns the kernel's own arrays, which the next step overwrites.
    """

    def __init__(
        self, n: int, key: int, names: npt.NDArray[np.str_], per_session: int, next_step: bool,
        deal: Callable[[list[int]], None], check: Callable[[Any], int],
        check_all: Callable[[Any], Ints],
    ) -> None:  # fmt: skip
        # Copies, never of a subclass: no other code can change their size.
        names = np.array(names, order="C")
        if (
            not 1 <= n <= 1 << 28 or per_session < 1
            or names.ndim != 1 or not len(names) or names.dtype.kind != "U"
        ):  # fmt: skip
            raise ValueError("Kernel() was given envs, names or sessions that it cannot play.")
        if cython.compiled and self.n:  # type: ignore[has-type]
            raise TypeError("A kernel is made once.")
        self.key, self.next_step, self.current = key, next_step, 0
        self.per_session, self.once = per_session, per_session == 1
        self.deal, self.check, self.check_all = deal, check, check_all
        self.names, self.period_names = names, names.tolist()
        self.blocks: list[Block | None] = []
        self.locks: list[Any] = []
        self.n_blocks, self.units, self.ended, self.unchecked, self.count = 0, 0, 0, 1, 0
        self.last_reward, self.full, self.own = np.zeros(n), False, False
        # Arrays of the kernel, and their memory. Target and period are written when a segment is
        # entered.
        self.reward, self.out_reward = memory.twice(n, np.float64)
        self.over, self.out_over = memory.twice(n, np.bool_)
        self.never, self.out_never = memory.twice(n, np.bool_)
        self.seen: Any = None
        self.out_seen: Any = None
        self.performance, self.has_ended = np.zeros(n), np.zeros(n, np.bool_)
        self.target, self.period = np.zeros(n, np.int64), np.zeros(n, np.int64)
        self.actions, self.envs, self.rows = np.zeros((3, n), np.int64)
        self.o_reward, self.o_over = memory.reals(self.reward), memory.flags(self.over)
        self.o_performance = memory.reals(self.performance)
        self.o_ended = memory.flags(self.has_ended)
        self.o_target, self.o_period = memory.wholes(self.target), memory.wholes(self.period)
        self.o_actions, self.o_envs = memory.wholes(self.actions), memory.wholes(self.envs)
        self.o_rows = memory.wholes(self.rows)
        self.turn, self.room, self.given = memory.new_turn(), memory.new_room(), memory.new_given()
        self.places = memory.new_places(n, per_session)
        if not cython.compiled:
            self.rules, self.no_rules = memory.more_rules(None, 0, 0), None
        self.n = n

    def __dealloc__(self) -> None:
        memory.release_memory(
            self.places, self.rules, self.n_blocks, self.given, self.turn, self.room
        )  # fmt: skip

    # ------------------------------------------------------------------ threads, exceptions

    def claim(self) -> None:
        """Keep other threads out until `release`; calls nest. `RuntimeError` if one is in."""
        if cython.compiled and not self.n:
            raise RuntimeError("The kernel was not made; call Kernel(...).")
        if not memory.take(self.turn):
            raise RuntimeError("The env was used from two threads at once; give each its own env.")

    def release(self) -> None:
        """Let other threads in again, after `claim`."""
        if not cython.compiled or self.n:
            memory.leave(self.turn)

    def __enter__(self) -> None:
        self.claim()

    def __exit__(self, *error: object) -> None:
        self.release()

    def _check_standing(self) -> None:
        """Raise `RuntimeError` unless every env is in a trial.

        An exception in `deal` (a Ctrl-C, mostly) comes after a trial has ended and was counted. To
        play it on would end it, and count it, a second time.
        """
        if self.ended:
            raise RuntimeError(
                "The last step was interrupted after a trial had ended, before the next one was"
                " drawn. Expected envs that are in a trial. Call reset(), or restart() of a"
                " Dataset."
            )

    def _fail(self, code: int) -> None:
        """Raise the error of a code."""
        if code == BAD_GIVEN:
            raise ValueError(
                "A hook or a continuous action gave values that the tables do not have."
            )
        raise IndexError(
            "The state of an env was changed: it stands outside of its tables. Reset it."
        )

    # ------------------------------------------------------------------ blocks and state

    def attach(self, index: int, block: Block | None) -> None:
        """Attach a block under an index; None detaches the block that is there."""
        self.claim()
        try:
            self._attach(index, block)
        finally:
            self.release()

    def _attach(self, index: int, block: Block | None) -> None:
        if not 0 <= index < MOST_BLOCKS:
            raise ValueError(
                f"A block was attached under the index {index}, which is out of range."
            )
        rules: Any = self.no_rules
        locks: list[Any] = []
        if block is not None:
            rules = memory.new_rules(block, self.key, locks)
            try:
                self._prepare(rules)
            except BaseException:
                memory.free_rules(rules)
                raise
        # From here on no Python code of others can run.
        if index >= self.n_blocks:
            try:
                self.rules = memory.more_rules(self.rules, self.n_blocks, index + 1)
            except BaseException:
                memory.free_rules(rules)
                raise
            while self.n_blocks <= index:
                self.blocks.append(None)
                self.locks.append(None)
                self.n_blocks += 1
        old, old_locks, old_block = self.rules[index], self.locks[index], self.blocks[index]
        self.rules[index], self.locks[index], self.blocks[index] = rules, locks, block
        for env in range(self.n):
            place = self.places[env]
            if place.block == index:
                place.rules = self.no_rules
        self.unchecked = 1
        memory.free_rules(old)
        del old_locks, old_block  # which can run Python code

    def _prepare(self, rules: Any) -> None:
        """Make room for the noise and the observations of a block, before it is attached."""
        # Infos read the name of a period without looking at the number of names again.
        if rules.n_periods > len(self.names):
            raise ValueError(
                f"A block of {rules.n_periods} periods was attached to a kernel with"
                f" {len(self.names)} names of periods."
            )
        if memory.has_noise(rules):
            self.lines = lines()
            memory.make_room(self.room, rules, self.lines)
        if not self.units:
            seen, out = memory.twice(self.n * rules.units, np.float32)
            out = out.reshape(self.n, rules.units)
            if not self.units:  # making the arrays can have run Python code
                self.units, self.seen, self.out_seen = rules.units, seen, out
        if rules.units != self.units:
            raise ValueError(
                f"A block of {rules.units} units was attached to a kernel of {self.units} units."
            )

    def get(self, name: str) -> Ints:
        """Return one of `STATE` for all envs, (N,), as a copy."""
        values: Ints = memory.read_state(self.places, self.n, self._state_named(name))
        return values

    def set(self, name: str, values: Ints) -> None:
        """Set one of `STATE` for all envs, (N,)."""
        which = self._state_named(name)
        self.claim()
        try:
            memory.write_state(self.places, self.n, which, values)
            self.ended, self.unchecked = 0, 1
            for env in range(self.n):
                place = self.places[env]
                self.ended += place.ended != 0
                # Everything else in a place follows from the position.
                if which < POSITION:
                    place.rules = self.no_rules
        finally:
            self.release()

    def _state_named(self, name: str) -> int:
        if name not in STATE:
            raise AttributeError(f"An env has no state {name!r}.")
        return STATE.index(name)

    def _rules_of(self, index: int) -> Any:
        return self.rules[index] if 0 <= index < self.n_blocks else self.no_rules

    def _settle(self, env: int) -> bool:
        """Return whether an env stands within its tables; a state that was set is checked here."""
        place = self.places[env]
        if place.rules:
            return True
        rules = self._rules_of(place.block)
        if not rules:
            return False
        if not (
            0 <= place.row < rules.rows and 0 <= place.type < rules.types
            and 0 <= place.segment < rules.n_segments and 0 <= place.clock < NEVER
            and 0 <= place.entered <= place.clock
        ):  # fmt: skip
            return False
        place.rules = rules
        # The reward so far is only in the log, to which `sync` wrote it before the state was read.
        place.total = rules.log_reward[place.row]
        self._set_time(env)
        return True

    def _settle_all(self) -> int:
        """Check the states of all envs; return ON or BAD_STATE."""
        if self.unchecked:
            for env in range(self.n):
                if not self._settle(env):
                    return BAD_STATE
            self.unchecked = 0
        return ON

    def sync(self) -> None:
        """Write the rewards of the current trials to the logs, for a pickle or copy."""
        self.claim()
        for env in range(self.n):
            place = self.places[env]
            rules = place.rules
            if rules:
                rules.log_reward[place.row] = place.total
        self.release()

    def cursor(self, index: int, row: int | None = None) -> int:
        """Return the next row to deal from a block of stride 1; `row` sets it."""
        self.claim()
        try:
            return self._cursor(index, 0 if row is None else row, row is not None)
        finally:
            self.release()

    def _cursor(self, index: int, row: int, moves: bool) -> int:
        rules = self._rules_of(index)
        if not rules:
            raise IndexError(f"There is no block under the index {index}.")
        if moves:
            rules.cursor = row
        return int(rules.cursor)

    # ------------------------------------------------------------------ trials begin

    def begin(self, env: int, index: int, row: int) -> None:
        """Start the trial of a row in an env."""
        self.claim()
        try:
            if self._begin(env, index, row) != ON:
                raise IndexError(f"Env {env} cannot begin with row {row} of block {index}.")
        finally:
            self.release()

    def _begin(self, env: int, index: int, row: int) -> int:
        rules = self._rules_of(index)
        if not rules or not 0 <= env < self.n or not 0 <= row < rules.rows:
            return BAD_STATE
        place = self.places[env]
        kind = rules.kind[row]
        if not 0 <= kind < rules.types:
            return BAD_STATE
        first = self._landing(rules, kind, 0)
        if first < 0:
            return BAD_STATE
        place.rules, place.block, place.row, place.type = rules, index, row, kind
        place.clock, place.total = 0, 0.0
        self.ended -= place.ended != 0
        place.ended = 0
        self._enter(env, first, -1)
        return ON

    def _begin_next(self, env: int) -> int:
        """Start the next trial of an env from its block; return DRY if the block has none."""
        place = self.places[env]
        index = place.block
        rules = self._rules_of(index)
        # Shared trials come from the current block, also for an env whose last trial was one of
        # an earlier block.
        if rules and rules.stride == 1:
            index = self.current
            rules = self._rules_of(index)
        if not rules:
            return BAD_STATE
        row = rules.cursor if rules.stride == 1 else place.row + rules.stride
        if not rules.stride or not 0 <= row < rules.rows:
            return DRY
        rules.cursor = row + 1
        return self._begin(env, index, row)

    def _begin_all(self, count: int) -> None:
        """Start the next trials of the first `count` of the envs that ended."""
        dry = None
        for i in range(count):
            env = self.o_envs[i]
            code = self._begin_next(env)
            if code == DRY:
                dry = [] if dry is None else dry
                dry.append(env)
            elif code != ON:
                self._fail(code)
        # One call for all: on demand, their trials are drawn together.
        if dry is not None:
            self.deal(dry)

    def begin_next(self, envs: list[int]) -> None:
        """Start the next trial of each env: from its block, else from `deal`."""
        listed = self._listed(envs)
        self.claim()
        try:
            dry = []
            for env in listed:
                code = self._begin_next(env)
                if code == DRY:
                    dry.append(env)
                elif code != ON:
                    self._fail(code)
            if dry:
                self.deal(dry)
        finally:
            self.release()

    def stop(self, envs: list[int]) -> None:
        """End the current trials of some envs, and start the next ones."""
        listed = self._listed(envs)
        self.claim()
        try:
            for env in listed:
                if not self._settle(env):
                    self._fail(BAD_STATE)
                self._end(env, False)
            self.begin_next(listed)
        finally:
            self.release()

    def _listed(self, envs: list[int]) -> list[int]:
        """Return a copy of a list of envs, checked."""
        if cython.compiled and not self.n:
            self.claim()
        if not isinstance(envs, list):
            raise TypeError("Expected a list of envs.")
        listed = [int(env) for env in envs]
        if any(not 0 <= env < self.n for env in listed):
            raise IndexError("An env of the list is out of range.")
        return listed

    # ------------------------------------------------------------------ one step of one env

    def advance_one(self, env: int, action: int, given: Any) -> int:
        """Play one step of an env; set its reward, and return OVER if its trial ended, else ON.

        The order of the parts is part of the definition; each comment says what depends on it.
        """
        place = self.places[env]
        rules = place.rules
        cell = rules.cells[place.cells + action]
        reward = cell.reward
        # An action takes effect at the end of its step, so the clock moves first: an answer on the
        # first step of a window has a reaction time of dt.
        clock = place.clock + 1
        place.clock = clock
        if cell.aborts:
            rules.log_aborts[place.row] += 1
        # Most steps end here.
        if clock < place.until and not cell.acts and not given.used:
            place.total += reward
            self.o_reward[env] = reward
            return ON

        # `extra` comes before the answer, whose reward may replace it.
        if given.used:
            if (given.distance and given.slots != rules.n_slots) or (
                given.values and given.dimensions != rules.dimensions
            ):
                return BAD_GIVEN
            if given.extra:
                reward += given.extra[env]
        if not rules.trigger and rules.n_slots and not given.whole:
            return BAD_GIVEN
        # The answer comes before the end of the segment: on the last step of a window an answer
        # still counts. `leaves` is True for a destination that is not the effect of an answer: the
        # action broke a hold. If the trial ends there, it was aborted. A hook's destination
        # overrides that of the table, and is never an abort.
        goto, leaves = STAY, False
        if cell.slot >= 0:
            reward, goto = self._answer(env, action, reward, given)
        elif cell.goto != STAY:
            goto, leaves = cell.goto, True
        if given.goto and given.goto[env] != STAY:
            goto, leaves = given.goto[env], False
            if not END <= goto < rules.n_periods:
                return BAD_GIVEN

        # A destination wins over time. Only time closes windows: a trial that an action takes out
        # of a window pays no miss for it.
        before = place.segment
        segment, moves = before, True
        if goto >= 0:
            segment = self._landing(rules, place.type, rules.entry[goto])
        elif goto == END:
            segment = END
        elif (
            clock - place.entered >= rules.spots[place.here].duration and not rules.endless[segment]
        ):
            segment = self._landing(rules, place.type, rules.follows[segment])
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
        if given.reward:
            reward = given.reward[env]
        place.total += reward  # before `_end`, which computes the performance from it
        self.o_reward[env] = reward
        if segment < 0:
            self._end(env, aborted)
            return OVER
        # `_enter` comes after `_close`, which needs the segment that is left. Moving forward within
        # a window keeps it open; jumping back reopens it and restarts the reaction-time clock.
        if moves:
            self._enter(env, segment, before if segment > before else -1)
        return ON

    def _answer(self, env: int, action: int, reward: float, given: Any) -> tuple[float, int]:
        """Score an answer to a slot; return the reward of the step, and the destination."""
        place = self.places[env]
        rules = place.rules
        cell = rules.cells[place.cells + action]
        k = cell.slot
        first = place.row * rules.n_slots
        at, terms = first + k, rules.terms[place.terms + k]
        # Only the first answer counts; a later one has neither reward nor effect. The first one may
        # be one that the hook has just reported, and `extra` its pay.
        if rules.log_slot_outcome[at]:
            return given.extra[env] if given.extra else 0.0, STAY
        steps = place.clock - rules.log_opened[at]
        outcome, score, goto = cell.outcome, cell.score, cell.goto
        wrong, pay = False, NAN
        if terms.due == terms.due:
            # A timed answer: the moment is judged, if the choice is correct. 1e-9 is for rounding,
            # since dt and the tolerance need not be exact in binary.
            if outcome == CORRECT or rules.continuous:
                wrong = abs(steps * rules.dt - terms.due) > terms.tolerance + 1e-9
                if terms.graded_from:
                    entry = min(max(steps - terms.graded_from, 0), rules.n_grades - 1)
                    pay = rules.graded[(place.terms + k) * rules.n_grades + entry]
        elif given.distance:
            wrong = given.distance[env * rules.n_slots + k] > terms.tolerance + 1e-9
            if given.graded and given.score:
                pay = given.graded[env * rules.n_slots + k]
                # Graded by distance, so that performance distinguishes near from very near.
                if pay == pay:
                    score = given.score[env * rules.n_slots + k]
        # A slot that needs another one is correct only if that one was answered correctly before.
        needs = rules.needs[k]
        if needs >= 0 and outcome == CORRECT:
            wrong = wrong or rules.log_slot_outcome[first + needs] != CORRECT
        if wrong:
            outcome, score = ERROR, 0.0
            reward, goto = terms.error_reward, terms.error_goto
        elif pay == pay:
            reward = pay
        rules.log_slot_outcome[at], rules.log_slot_score[at] = outcome, score
        rules.log_slot_time[at] = steps * rules.dt
        rules.log_slot_choice[at] = 0 if rules.continuous else action - rules.first_action[k]
        if given.values:
            for d in range(rules.dimensions):
                rules.log_values[at * rules.dimensions + d] = given.values[
                    env * rules.dimensions + d
                ]
        if rules.again[k]:
            rules.log_answers[at] += 1
            if rules.log_answers[at] == 1:
                rules.log_first_outcome[at] = outcome
                rules.log_first_time[at] = rules.log_slot_time[at]
                rules.log_first_choice[at] = rules.log_slot_choice[at]
        return reward, goto

    def _close(self, env: int, coming: int, reward: float, given: Any) -> float:
        """Close the windows that are not open in the next segment (END: all); return the reward."""
        place = self.places[env]
        rules = place.rules
        n_slots = rules.n_slots
        for k in range(n_slots):
            at, terms = place.row * n_slots + k, rules.terms[place.terms + k]
            if not rules.window[place.windows + place.segment * n_slots + k]:
                continue
            if rules.log_slot_outcome[at]:
                continue
            if coming >= 0 and rules.window[place.windows + coming * n_slots + k]:
                continue
            # A NaN: only the hook can answer.
            distance = given.distance[env * n_slots + k] if given.distance else NAN
            if rules.trigger or distance != distance:
                outcome = terms.miss_outcome
                score = 1.0 if outcome == CORRECT else 0.0
                reward += terms.miss_reward
            else:  # without a trigger, the values on the last step of the window are the answer
                near = distance <= terms.tolerance + 1e-9
                outcome = CORRECT if near else ERROR
                score = given.score[env * n_slots + k]
                reward += given.graded[env * n_slots + k]
                rules.log_slot_choice[at] = 0
                for d in range(rules.dimensions):
                    rules.log_values[at * rules.dimensions + d] = given.values[
                        env * rules.dimensions + d
                    ]
            rules.log_slot_outcome[at], rules.log_slot_score[at] = outcome, score
        return reward

    def _landing(self, rules: Any, kind: int, segment: int) -> int:
        """Return the segment that is played on entering `segment`: those of 0 steps are skipped."""
        # Periods can lead back to each other. After so many skips the trial can only be in a cycle
        # of empty segments; it ends, instead of hanging the process.
        for _ in range(2 * rules.n_segments):
            if segment < 0 or rules.spots[kind * rules.n_segments + segment].duration:
                return segment
            segment = rules.follows[segment]
        return END

    def _enter(self, env: int, segment: int, before: int) -> None:
        """Enter a segment, coming from an earlier one (`before`), or from elsewhere (-1)."""
        place = self.places[env]
        rules = place.rules
        clock, n_slots = place.clock, rules.n_slots
        if before < 0 or rules.period[segment] != rules.period[before]:
            place.period_at = clock
        at = place.row * rules.n_periods
        # A trial begins at clock 0, when `place.segment` is still one of the last trial.
        if clock:
            rules.log_offset[at + rules.period[place.segment]] = clock
        if rules.log_onset[at + rules.period[segment]] < 0:
            rules.log_onset[at + rules.period[segment]] = clock
        place.segment, place.entered = segment, clock
        self._set_time(env)
        for k in range(n_slots):
            if not rules.window[place.windows + segment * n_slots + k]:
                continue
            if before >= 0 and rules.window[place.windows + before * n_slots + k]:
                continue
            at = place.row * n_slots + k
            # The record keeps the first and the last answer; the reward of all is in the total.
            if rules.again[k]:
                rules.log_slot_outcome[at], rules.log_slot_choice[at] = NONE, RESTING
                rules.log_slot_time[at], rules.log_slot_score[at] = NAN, 0.0
            # Reaction times count from the opening of the window that was answered.
            if not rules.log_slot_outcome[at]:
                rules.log_opened[at] = clock

    def _set_time(self, env: int) -> None:
        """Set all that depends on the segment: its place in the tables, and when it ends."""
        place = self.places[env]
        rules = place.rules
        place.here = place.type * rules.n_segments + place.segment
        place.cells = place.type * rules.cells_apart + place.segment * rules.n_actions
        place.terms, place.windows = place.type * rules.terms_apart, place.type * rules.window_apart
        spot = rules.spots[place.here]
        duration = NEVER if rules.endless[place.segment] else spot.duration
        place.until = min(place.entered + duration, rules.limit[place.type])
        self.o_target[env], self.o_period[env] = spot.target, spot.period
        memory.follow(place)

    def _end(self, env: int, aborted: bool) -> None:
        """End the trial: log its outcome and performance, and count it."""
        place = self.places[env]
        rules = place.rules
        row = place.row
        asked, score, worst = 0, 0.0, NONE
        for k in range(rules.n_slots):
            if rules.terms[place.terms + k].asked:
                # Python can write into the log, and BADNESS is indexed by the outcome.
                outcome = rules.log_slot_outcome[row * rules.n_slots + k]
                outcome = outcome if 0 <= outcome < OUTCOMES else NONE
                asked += 1
                score += rules.log_slot_score[row * rules.n_slots + k]
                worst = outcome if BADNESS[outcome] > BADNESS[worst] else worst
        # Slots whose windows never closed have no outcome; if no slot has one, that is a miss.
        if asked and worst == NONE:
            worst = MISS
        best, performance = rules.best[place.type], 0.0
        if best != best:
            performance = score / asked if asked else 0.0
        elif best > 0:
            performance = place.total / best
        performance = performance if performance > 0.0 else 0.0
        rules.log_outcome[row] = ABORT if aborted else worst
        rules.log_performance[row] = performance if performance < 1.0 else 1.0
        rules.log_reward[row] = place.total
        rules.log_env[row], rules.log_number[row] = env, place.number
        rules.log_session[row], rules.log_steps[row] = place.session, place.clock
        rules.log_offset[row * rules.n_periods + rules.period[place.segment]] = place.clock
        rules.log_ended[row] = True
        place.last_block, place.last_row = place.block, row
        self.ended += place.ended == 0
        place.ended = 1
        place.number += 1
        place.left -= 1
        if not place.left:
            place.session += 1
            place.left = self.per_session
            place.waiting = self.next_step

    # ------------------------------------------------------------------ one step of all envs

    def _play(self, given: Any) -> int:
        """Play a step of all envs, and count those whose trials end. It must not touch Python."""
        count, code = 0, self._settle_all()
        if code < 0:
            return code
        for env in range(self.n):
            place, action = self.places[env], self.o_actions[env]
            if not 0 <= action < place.rules.n_actions:
                return BAD_STATE
            if place.waiting:
                place.waiting, self.o_reward[env] = 0, 0.0
                continue
            code = self.advance_one(env, action, given)
            if code == ON:
                continue
            if code != OVER:
                return code
            self.o_ended[env], self.o_envs[count] = True, env
            # `_end` has set the count of the next session.
            self.o_over[env] = place.left == self.per_session
            self.o_rows[count] = place.row
            self.o_performance[env] = place.rules.log_performance[place.row]
            count += 1
            self.count = count
        return ON

    def _step_all(self, given: Any) -> None:
        """Play a step of all envs; the results are in the arrays of the kernel."""
        for i in range(self.count):
            env = self.o_envs[i]
            self.o_ended[env] = self.o_over[env] = False
            self.o_performance[env] = 0.0
        self.count = 0
        if self.n >= MANY and not given.used:
            with cython.nogil:
                code = self._play(given)
        else:
            code = self._play(given)
        if code < 0:
            self._fail(code)

    def _finished(self) -> TrialResults:
        """Return the trials that have just ended, before the next ones replace them."""
        rows, same, first = self.rows[: self.count].copy(), True, self.places[self.o_envs[0]].block
        for i in range(self.count):
            same = same and self.places[self.o_envs[i]].block == first
        if same:
            return TrialResults(rows, self.blocks[first])
        return TrialResults(
            rows, [self.blocks[self.places[env].block] for env in self.envs[: self.count].tolist()]
        )

    def advance(self, actions: Ints, given: Given | None = None) -> Moved:
        """Play one step of every env that does not wait, and start the next trials.

        `actions` are (N,) columns of the tables, which the caller has checked.
        """
        self.claim()
        try:
            self._check_standing()
            memory.read_actions(self.o_actions, actions, self.n)
            memory.read_given(self.given, given, self.n)
            try:
                self._step_all(self.given)
            finally:
                memory.read_given(self.given, None, self.n)
            finished = self._finished() if self.count else None
            reward, ended = memory.fresh(self.reward), memory.fresh(self.has_ended)
            over, performance = memory.fresh(self.over), memory.fresh(self.performance)
            moved = Moved(reward, ended, over, performance, finished)
            # Only now, when all have played: trials on demand depend on the outcomes of this step.
            if self.count:
                self._begin_all(self.count)
            self.last_reward = moved.reward
            return moved
        finally:
            self.release()

    def observe(self) -> Singles:
        """Return the current observations, (N, U) float32, in a new array."""
        self.claim()
        try:
            seen: Singles = memory.new_seen(self.n, self.units, 2)
            self._observe(seen)
            return seen
        finally:
            self.release()

    def _observe(self, seen: Singles) -> None:
        out = memory.singles(seen)
        if self.n >= MANY:
            with cython.nogil:
                done = self._see(out)
        else:
            done = self._see(out)
        if not done:
            self._fail(BAD_STATE)

    def _see(self, out: Any) -> bool:
        if self._settle_all() < 0:
            return False
        done: bool = memory.observe(
            self.places, self.n, self.key, self.room, out, self.units
        )  # fmt: skip
        return done

    # ------------------------------------------------------------------ steps for Gymnasium

    def step(self, action: Any) -> Stepped:
        """Play a step of the only env, with a discrete action, as `gymnasium.Env.step`."""
        self.claim()
        try:
            return self._step(action)
        finally:
            self.release()

    def _step(self, action: Any) -> Stepped:
        place, code = self.places[0], ON
        if self.n != 1:
            raise ValueError("step() plays one env; use vector_step() for several.")
        self._check_standing()
        if place.block < 0:
            self.deal([0])
        chosen = memory.whole(action)
        if not self._settle(0):
            self._fail(BAD_STATE)
        # The bound step of an env is this method, without a caller that has checked the action.
        if not 0 <= chosen < place.rules.n_actions:
            chosen = self.check(action)
            self._check_standing()  # checking the action can have run Python
            if not self._settle(0) or not 0 <= chosen < place.rules.n_actions:
                self._fail(BAD_STATE)
        info: dict[str, Any] = {"new_trial": False}
        # Before the step: the action was chosen on the current observation.
        if self.full:
            info["gt"] = self.o_target[0]
            info["period"] = self.period_names[self.o_period[0]]
        code = self.advance_one(0, chosen, self.given)
        if code < 0:
            self._fail(code)
        reward, over = self.o_reward[0], False
        if code == OVER:
            over = place.left == self.per_session
            info["new_trial"] = True
            info["trial"] = TrialInfo(self.blocks[place.block], place.row)
            info["performance"] = place.rules.log_performance[place.row]
            self.o_envs[0] = 0
            self._begin_all(1)
        seen = memory.new_seen(1, self.units, 1)
        self._observe(seen)
        if self.once:
            return seen, reward, over, False, info
        return seen, reward, False, over, info

    def vector_step(self, actions: Any) -> VectorStepped:
        """Play a step of all envs, with discrete actions, as Gymnasium's `VectorEnv.step`."""
        self.claim()
        try:
            return self._vector_step(actions)
        finally:
            self.release()

    def _vector_step(self, actions: Any) -> VectorStepped:
        self._check_standing()
        if self.places[0].block < 0:
            self.deal(list(range(self.n)))
        if not self._take(actions):
            memory.read_actions(self.o_actions, self.check_all(actions), self.n)
            self._check_standing()
        if self._settle_all() < 0:
            self._fail(BAD_STATE)
        info: dict[str, Any] = {}
        if self.full:
            info["gt"], info["_gt"] = memory.fresh(self.target), memory.truths(self.n, True)
            info["period"] = memory.named(self.names, self.o_period, self.n)
            info["_period"] = memory.truths(self.n, True)
        self._step_all(self.given)
        reward, over, never = self.out_reward, self.out_over, self.out_never
        seen, out = self.out_seen, self.seen
        if not self.own:
            reward, over = memory.fresh(self.reward), memory.fresh(self.over)
            seen = out = memory.new_seen(self.n, self.units, 2)
            never = memory.truths(self.n, False)
        ended = memory.fresh(self.has_ended)
        info["new_trial"], info["_new_trial"] = ended, memory.truths(self.n, True)
        if self.count:
            info["trial"], info["_trial"] = VectorInfo(self._finished(), self.n), ended
            info["performance"], info["_performance"] = memory.fresh(self.performance), ended
            self._begin_all(self.count)
        self.last_reward = reward
        self._observe(out)
        if self.once:
            return seen, reward, over, never, info
        return seen, reward, never, over, info

    def _take(self, actions: Any) -> bool:
        """Copy the actions of all envs if they are ids in range."""
        if not memory.are_actions(actions, self.n) or not self._settle(0):
            return False
        memory.read_actions(self.o_actions, actions, self.n)
        n_actions, env = self.places[0].rules.n_actions, 0
        while env < self.n and 0 <= self.o_actions[env] < n_actions:
            env += 1
        return env == self.n
