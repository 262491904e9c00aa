"""`Stepper`: N envs of one task, made of a kernel, a dealer of trials, and the task's hooks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from typing import Any

import numpy as np

from neurogym_core.errors import NotSupportedError, unknown
from neurogym_core.play.actions import added_by, checked_all, checked_one, columns_of
from neurogym_core.play.blocks import Block
from neurogym_core.play.dealer import Dealer
from neurogym_core.play.hooked import Reports, from_hook
from neurogym_core.play.kernel import NEVER, Kernel
from neurogym_core.play.kernels import kernel_class
from neurogym_core.play.plain import STATE
from neurogym_core.play.results import Moved, TrialResults
from neurogym_core.tasks.session import Session
from neurogym_core.tasks.state import interface_of, state_of
from neurogym_core.tasks.task import Task
from neurogym_core.trials.arrays import Array, Bools, Ints, Reals, Singles

Envs = Ints | slice
"""Indices of envs, or a slice for all of them."""


class Now:
    """The current step of N envs, as passed to hooks.

    Attributes:
        n: number of envs.
        dt: ms per step.
        trial_state: name -> (N, …), state of the current trials; only `step_action` changes it.
        conditions: name -> (N, …), conditions and notes of the current trials.
    """

    def __init__(self, stepper: Stepper) -> None:
        self._stepper = stepper
        self.n, self.dt = stepper.n, float(stepper.task.dt)
        self.trial_state, self.conditions = stepper.trial_state, stepper.conditions

    @property
    def rng(self) -> np.random.Generator:
        """Generator of the hooks, independent of that of the trials; each seed gives a new one."""
        return self._stepper.dealer.hooks

    @property
    def session(self) -> Session | None:
        """The sessions of all envs; None for tasks without session state."""
        return self._stepper.dealer.session

    @property
    def period(self) -> Ints:
        """(N,) index of the current period."""
        return self._stepper.period

    def number_of(self, period: str) -> int:
        """Return the index of a period, to return it as `goto` or to compare it with `period`.

        Raises:
            UnknownNameError: the task has no such period.
        """
        numbers = self._stepper.number_of
        if period not in numbers:
            raise unknown("period", period, numbers, of=self._stepper.task.name)
        return numbers[period]

    def in_period(self, name: str) -> Bools:
        """Return (N,) whether each env is in a period."""
        is_it: Bools = self._stepper.period == self.number_of(name)
        return is_it

    @property
    def elapsed(self) -> Reals:
        """(N,) ms since the onset of the period; 0 on its first step."""
        return (self._stepper.state("clock") - self._stepper.state("period_at")) * self.dt

    @property
    def remaining(self) -> Reals:
        """(N,) ms until the end of the period; dt on its last step; inf for untimed periods."""
        return self._stepper.remaining * self.dt

    @property
    def target(self) -> Any:
        """(N,) or (N, D), the target of the tables, in task units."""
        return self._stepper.table_targets()

    def answer(
        self,
        where: Any,
        choice: Any,
        outcome: Any = None,
        *,
        reaction_time: Any = None,
        slot: str | None = None,
    ) -> None:
        """Report that the subject answered on this step; for `step_action`.

        The record gets choice, outcome, score and reaction time. Only the first answer to a slot
        counts, or, with ``again=True``, the first one of each visit. Where `step_action` returns
        None for reward or destination, the slot pays (`correct`, `error`) and leads (`then`).

        Args:
            where: (N,) bool, the envs in which the subject answered.
            choice: index of the choice in the slot's group, one or (N,), -1 for none; for
                continuous actions the answer in task units, (N,) or (N, axes), an `Angle` in
                radians.
            outcome: `Outcome`, one or (N,); NONE: no answer. By default it is judged as the slot's
                right choice (or target and tolerance) says.
            reaction_time: ms from the opening of the window to the answer, one or (N,); default:
                until the end of this step. Of a window that is not open, the onset of the current
                period counts.
            slot: name of the slot; default: the first one.

        Raises:
            TaskDefinitionError: there is no slot, the trial does not ask it, or a value of another
                shape or type.
            UnknownNameError: there is no slot of this name.
        """
        self._stepper._reports.answer(where, choice, outcome, reaction_time, slot)

    def event(self, where: Any, name: str, value: Any = 1.0) -> None:
        """Write an event of this step into the record's events; for `step_action`.

        Its time is the end of the step, as that of an answer. `TrialRecord.events` has the events:
        pecks, licks, entries, crossings.

        Args:
            where: (N,) bool, the envs in which it happened.
            name: its name.
            value: a number that goes with it, one or (N,).

        Raises:
            TaskDefinitionError: a value of another shape or type, or no name.
        """
        self._stepper._reports.event(where, name, value)


class _Conditions(Mapping[str, Array]):
    """Conditions and notes of the current trials, name -> (N, …), gathered on access.

    Only conditions are iterated over; notes are found by name.
    """

    def __init__(self, stepper: Stepper) -> None:
        self._stepper = stepper

    def __getitem__(self, name: str) -> Array:
        stepper = self._stepper

        def values_of(block: Block, envs: Envs) -> Array:
            if name in block.conditions:
                return block.conditions[name][stepper.state("row")[envs]]
            if name in block.columns:
                return block.columns[name][stepper.state("row")[envs]]
            return block.tables.notes[name][stepper.state("type")[envs]]

        return stepper.gathered(values_of)

    def __iter__(self) -> Iterator[str]:
        return iter(self._stepper.any_block.conditions)

    def __len__(self) -> int:
        return len(self._stepper.any_block.conditions)


class Stepper:
    """N envs of one task.

    Args:
        task: the task.
        n: number of envs.
        seed: seed of the `Dealer`.
        next_step: whether an env sits out the step after the end of a session.
        split: split of the `Dealer`.

    Attributes:
        hooked: whether hooks or continuous actions add to the steps of the kernel.
        may_wait: whether envs can sit out steps, on which hooks must not change their trial state.
    """

    def __init__(
        self,
        task: Task,
        n: int,
        seed: int | np.random.SeedSequence | None = None,
        next_step: bool = False,
        split: str | None = None,
    ) -> None:
        self.task, self.n = task, n
        self.number_of = {name: number for number, name in enumerate(state_of(task).period_names)}
        self.dealer = Dealer(task, n, seed, split)
        self.begun = False
        self.hooked = bool(interface_of(task).hooks) or task.actions.continuous
        self.trial_state = {
            name: np.repeat(np.asarray(initial)[None], n, axis=0)
            for name, initial in task.trial_state.items()
        }
        self._next_step = self.may_wait = next_step
        self._blocks: list[Block | None] = []
        self._current = 0  # index of the block that shared trials are dealt from
        self._one: Block | None = None  # the block of all envs, if they are in the same one
        self._attached = False  # whether `_one` has to be found again
        self.full, self.own = False, False  # of the kernel
        self._make_kernel()

    def _make_kernel(self) -> None:
        self.kernel: Kernel = kernel_class()(
            self.n, self.dealer.key, np.array(state_of(self.task).period_names),
            self.task.trials_per_session or NEVER, self._next_step, self._deal,
            partial(checked_one, self.task), partial(checked_all, self.task, self.n),
        )  # fmt: skip
        self.kernel.full, self.kernel.own = self.full, self.own
        self.conditions = _Conditions(self)
        self.now = Now(self)

    @cached_property
    def _reports(self) -> Reports:
        """The reports of hooks on the current step."""
        return Reports(self)

    # A kernel cannot be pickled (the compiled one has pointers). Its state can, in a form that both
    # kernels read, so that a pickle of one kernel can be loaded with the other.

    def __getstate__(self) -> dict[str, Any]:
        state = {
            name: value
            for name, value in self.__dict__.items()
            if name not in ("kernel", "conditions", "_reports", "now")
        }
        self.kernel.sync()
        cursors = [
            None if block is None else self.kernel.cursor(i) for i, block in enumerate(self._blocks)
        ]
        places = {name: self.kernel.get(name) for name in STATE}
        return {**state, "kernel": (places, cursors, self.kernel.last_reward)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        places, cursors, last_reward = state.pop("kernel")
        self.__dict__.update(state)
        self._make_kernel()
        self.kernel.current, self.kernel.last_reward = self._current, last_reward
        for index, (block, cursor) in enumerate(zip(self._blocks, cursors, strict=True)):
            if block is not None:
                self.kernel.attach(index, block)
                self.kernel.cursor(index, cursor)
        # After all blocks: the kernel checks the positions against their tables.
        for name, values in places.items():
            self.kernel.set(name, values)

    # ------------------------------------------------------------------ sessions begin

    def reset(
        self,
        seed: int | np.random.SeedSequence | None = None,
        conditions: Mapping[str, Any] | None = None,
    ) -> Singles:
        """Start sessions in all envs; return the first observations, (N, U).

        Without seed and conditions, current trials are dropped, and the new sessions begin with the
        next trials of the stream.
        """
        with self.kernel:
            # A trial that was begun and dropped keeps its number, so that the record shows the gap.
            number = self.state("number") + self._started
            session = self.state("session") + self._session_begun
            if seed is not None:
                self.dealer.seed(seed)
                self.kernel.key = self.dealer.key
                number, session = np.zeros((2, self.n), np.int64)
            if conditions is not None:
                self.dealer.impose(conditions)
            redraw = not self.begun or seed is not None or conditions is not None
            # A second reset in a row changes nothing: no trial is skipped.
            if not redraw and not (self._session_begun | self._ended).any():
                return self.observations()
            played = np.flatnonzero(self._started | self._ended)
            self.kernel.set("number", number)
            self.kernel.set("session", session)
            self.kernel.set("left", np.full(self.n, self.task.trials_per_session or NEVER))
            self.kernel.set("waiting", np.zeros(self.n, np.int64))
            self.kernel.last_reward = np.zeros(self.n)
            # Trials of a session depend on its earlier ones, so a new session needs new blocks.
            # Shared trials do not: an env whose trial was not started keeps it.
            if redraw or state_of(self.task).stateful:
                self._begin()
            else:
                self._reset_trial_state(played)
                self.kernel.begin_next(played.tolist())
            return self.observations()

    def reset_some(self, mask: Bools) -> Singles:
        """Start sessions in the envs of a mask; return the observations of all envs, (N, U).

        Raises:
            NotSupportedError: an env of the mask is within a session whose trials depend on each
                other.
        """
        if not self.begun:
            return self.reset()
        within = mask & (self._session_begun | self._ended)
        if within.any() and state_of(self.task).stateful:
            raise NotSupportedError(
                f"reset() was given a mask with envs {np.flatnonzero(within).tolist()} in the"
                f" middle of a session, and the trials of a session of {self.task.name} depend on"
                " each other. Expected envs whose session ended. Reset all envs, or wait for the"
                " end."
            )
        if within.any():
            played = np.flatnonzero(mask & (self._started | self._ended))
            length = self.task.trials_per_session or NEVER
            begun = mask & self._session_begun
            self.kernel.set("number", self.state("number") + (mask & self._started))
            self.kernel.set("session", self.state("session") + begun)
            self.kernel.set("left", np.where(begun, length, self.state("left")))
            self._reset_trial_state(played)
            self.kernel.begin_next(played.tolist())
        return self.observations()

    @property
    def _started(self) -> Bools:
        """(N,) whether at least one step of the current trial was played."""
        started: Bools = (self.state("clock") > 0) & ~self._ended & self.begun
        return started

    @property
    def _ended(self) -> Bools:
        """(N,) whether the trial has ended, and an exception came before the next one began."""
        ended: Bools = self.state("ended") > 0
        return ended

    @property
    def _session_begun(self) -> Bools:
        """(N,) whether at least one step of the current session was played."""
        fewer_left = self.state("left") != (self.task.trials_per_session or NEVER)
        begun: Bools = self._started | (fewer_left & self.begun)
        return begun

    def _begin(self) -> None:
        """Deal the first trial of a session to every env."""
        self.begun = True
        for index in range(len(self._blocks)):
            self._hold(index, None)
        self._reset_trial_state(np.arange(self.n))
        self.dealer.new_sessions()
        if self.task.reads_outcomes:
            self._deal_on_demand(np.arange(self.n), None)
        else:
            index = self._index(self.dealer.block())
            # Row `env` for both strides: the first n shared trials, or the first row of each env.
            for env in range(self.n):
                self.kernel.begin(env, index, env)
            self.kernel.cursor(index, self.n)
            self._current = self.kernel.current = index
        self._find_one()

    def _reset_trial_state(self, envs: Ints) -> None:
        for name, values in self.trial_state.items():
            values[envs] = np.asarray(self.task.trial_state[name])

    # ------------------------------------------------------------------ trials are dealt

    def _deal(self, envs: list[int]) -> None:
        """Deal the next trial to envs whose block has none left; the kernel calls this."""
        # The first step of an env that was never reset.
        if not self.begun:
            self.reset()
            return
        if self.task.reads_outcomes:
            rows = np.array(envs)
            self._deal_on_demand(rows, self._last_trials(rows))
        elif state_of(self.task).stateful:
            for env in envs:
                block = self.dealer.following(self._block(self.state("block").item(env)))
                index = self._index(block)
                self.kernel.begin(env, index, env)
                # One env has a stride of 1 = n, for which the kernel deals from the current block.
                if self.n == 1:
                    self._current = self.kernel.current = index
                    self.kernel.cursor(index, 1)
        else:
            for env in envs:
                row = self.kernel.cursor(self._current)
                if row == len(self._block(self._current)):
                    self._current = self.kernel.current = self._index(self.dealer.block())
                    row = 0
                self.kernel.begin(env, self._current, row)
                self.kernel.cursor(self._current, row + 1)
        self._find_one()

    def _deal_on_demand(self, envs: Ints, ended: TrialResults | None) -> None:
        block, row = self.dealer.on_demand(envs, ended)
        index = self._index(block)
        for offset, env in enumerate(envs.tolist()):
            self.kernel.begin(env, index, row + offset)

    def _last_trials(self, envs: Ints) -> TrialResults:
        if self._one is not None:
            return TrialResults(self.state("last_row")[envs], self._one)
        blocks = [self._block(index) for index in self.state("last_block")[envs].tolist()]
        return TrialResults(self.state("last_row")[envs], blocks)

    def _block(self, index: int) -> Block:
        block = self._blocks[index]
        assert block is not None
        return block

    def _index(self, block: Block) -> int:
        """Return the kernel's index of a block; attach the block if it has none."""
        blocks = self._blocks
        if block in blocks:
            return blocks.index(block)
        free = blocks.index(None) if None in blocks else len(blocks)
        self._hold(free, block)
        return free

    def _hold(self, index: int, block: Block | None) -> None:
        self._blocks[index : index + 1] = [block]
        self._attached = True
        if block is not None and not block.states:
            for name in state_of(self.task).trial_columns:
                initial = np.asarray(self.task.trial_state[name])
                block.states[name] = np.repeat(initial[None], len(block), axis=0)
        self.kernel.attach(index, block)

    def _find_one(self) -> None:
        """Detach blocks that no env is in, and set `_one` if a single block is left."""
        # With one block, and none attached since, nothing can have changed. This is checked on
        # every step on which trials end.
        if self._one is not None and not self._attached:
            return
        self._attached = False
        used = set(self.state("block").tolist())
        for index, block in enumerate(self._blocks):
            if block is not None and index not in used and index != self._current:
                self._hold(index, None)
        self._one = self._blocks[used.pop()] if len(used) == 1 else None

    # ------------------------------------------------------------------ the current step

    def state(self, name: str) -> Ints:
        """Return (N,) int64, one of the kernel's `STATE`; do not change it in place.

        Args:
            name: one of the kernel's `STATE`.
        """
        return self.kernel.get(name)

    @property
    def any_block(self) -> Block:
        """The block of the first env."""
        return self._block(self.state("block").item(0))

    def parts(self) -> Iterator[tuple[Block, Envs]]:
        """Yield each block that envs play, and these envs."""
        if self._one is not None:
            yield self._one, slice(None)
            return
        index = self.state("block")
        for k in np.unique(index).tolist():
            yield self._block(k), np.flatnonzero(index == k)

    def gathered(self, values_of: Callable[[Block, Envs], Array]) -> Array:
        """Return (N, …) values of all envs, from one call ``values_of(block, envs)`` per block."""
        if self._one is not None:
            return values_of(self._one, slice(None))
        parts = [(envs, values_of(block, envs)) for block, envs in self.parts()]
        out = np.zeros(
            (self.n, *parts[0][1].shape[1:]), np.result_type(*(values.dtype for _, values in parts))
        )
        for envs, values in parts:
            out[envs] = values
        return out

    def table(self, name: str) -> Array:
        """Return (N, …) the entries of a table (k, S, …) for the current step.

        Args:
            name: an array of `Tables`.
        """
        kind, segment = self.state("type"), self.state("segment")
        return self.gathered(
            lambda block, envs: getattr(block.tables, name)[kind[envs], segment[envs]]
        )

    @property
    def period(self) -> Ints:
        """(N,) index of the current period."""
        segment = self.state("segment")
        return self.gathered(lambda block, envs: block.tables.period[segment[envs]])

    @property
    def remaining(self) -> Array:
        """(N,) steps until the end of the period, including the current one."""
        kind, segment = self.state("type"), self.state("segment")
        ahead = self.gathered(lambda block, envs: block.tables.ahead[kind[envs], segment[envs]])
        return np.asarray(ahead - (self.state("clock") - self.state("entered")))

    def table_targets(self) -> Array:
        """Return (N,) or (N, D), the targets of the tables, in task units."""
        kind, segment = self.state("type"), self.state("segment")
        within = self.state("clock") - self.state("entered")

        def targets_of(block: Block, envs: Envs) -> Array:
            tables = block.tables
            if len(tables.target_script):
                into = np.where(tables.endless[segment[envs]], 0, within[envs])
                return tables.target_script[tables.script_at[kind[envs], segment[envs]] + into]
            return tables.target[kind[envs], segment[envs]]

        return self.gathered(targets_of)

    def targets(self) -> Array:
        """Targets: action ids (N,), or for continuous actions (N, D) in [-1, 1]."""
        if self.task.step_target is None:
            target = self.table_targets()
        else:
            actions, returned = self.task.actions, self.task.step_target(self.now)
            shape = (self.n, actions.size) if actions.continuous else (self.n,)
            whole = None if actions.continuous else (0, actions.size - 1)
            target = from_hook(self.task, "step_target", returned, shape, whole=whole)
        return self.task.actions.from_task_units(target) if self.task.actions.continuous else target

    def observations(self) -> Singles:
        """Return the current observations, (N, U) float32, in a new array."""
        seen = self.kernel.observe()
        if self.task.step_observation is not None:
            returned = self.task.step_observation(self.now, seen)
            seen = from_hook(self.task, "step_observation", returned, seen.shape).astype(
                np.float32, copy=False
            )
        return seen

    def open_slots(self) -> Bools:
        """Return (N, K) whether each slot can be answered on the current step."""
        row = self.state("row")
        answered = self.gathered(lambda block, envs: block.log.slot_outcome[row[envs]])
        is_open: Bools = self.table("window") & (answered == 0)
        return is_open

    def is_asked(self) -> Bools:
        """Return (N,) whether a slot can be answered on the current step, or a trace is scored."""
        if self.task.actions.traced:
            scored: Bools = self.table("weight") > 0
            return scored
        asked: Bools = np.any(self.open_slots(), axis=1)
        return asked

    def can_wait(self) -> Bools:
        """Return (N,) whether a slot can be answered now and on the next step.

        Slots that are due at a moment do not count: there a later answer is worth less.
        """
        clock = self.state("clock")
        kind, segment = self.state("type"), self.state("segment")
        within = self.state("clock") - self.state("entered")

        def stays(block: Block, envs: Envs) -> Array:
            tables, k, s = block.tables, kind[envs], segment[envs]
            # A window stays open over the end of a segment if the next one is part of it, too.
            last = (within[envs] + 1 >= tables.duration[k, s]) & ~tables.endless[s]
            coming = tables.landing(k, tables.follows[s])
            goes_on = tables.window[k, np.maximum(coming, 0)] & (coming >= 0)[:, None]
            lasts: Array = (goes_on | ~last[:, None]) & np.isnan(tables.due[k])
            # The last step of the trial is the last one of all windows.
            return lasts & (clock[envs] + 1 < tables.limit[k])[:, None]

        waits: Bools = np.any(self.open_slots() & self.gathered(stays), axis=1)
        return waits

    # ------------------------------------------------------------------ one step

    def step(self, actions: Any) -> Moved:
        """Play one step of every env that does not wait.

        Args:
            actions: (N,) action ids, or (N, D) in [-1, 1]; the caller has checked them.
        """
        with self.kernel:
            if not self.begun:
                self.reset()
            columns, values = columns_of(self.task, actions)
            given = added_by(self, actions if values is None else values, values)
            moved = self.kernel.advance(columns, given)
            # The next trials have begun already; their state must not be that of the last ones.
            if self.trial_state and moved.finished is not None:
                ended = np.flatnonzero(moved.ended)
                for name in state_of(self.task).trial_columns:
                    moved.finished.keep(name, self.trial_state[name][ended])
                self._reset_trial_state(ended)
            return moved
