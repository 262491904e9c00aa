"""`Stepper`: N envs of one task: the kernel, the dealer that gives it trials, and the task's hooks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from neurogym_core.errors import InvalidValueError
from neurogym_core.play.blocks import Block
from neurogym_core.play.dealer import Dealer
from neurogym_core.play.kernel import NEVER, STATE, Given, Moved
from neurogym_core.play.kernels import kernel_class
from neurogym_core.play.results import TrialResults
from neurogym_core.tasks.drawing import stateful
from neurogym_core.tasks.session import Session
from neurogym_core.tasks.task import Task

Seen = npt.NDArray[np.float32]
Whole = npt.NDArray[np.int64]


class Now:
    """The current step of N envs, as hooks see it.

    Attributes:
        n: number of envs.
        dt: ms per step.
        memory: name -> (N, …), per-trial arrays; only `step_action` changes them.
        conditions: name -> (N, …), conditions and notes of the current trials.
    """

    def __init__(self, stepper: Stepper) -> None:
        self._stepper = stepper
        self.n, self.dt = stepper.n, stepper.task.dt
        self.memory, self.conditions = stepper.memory, stepper.conditions

    @property
    def rng(self) -> np.random.Generator:
        """Generator for what happens only when a subject acts; each seed gives a new one."""
        return self._stepper.dealer.hooks

    @property
    def session(self) -> Session | None:
        """The sessions of all envs; None for tasks without session state."""
        return self._stepper.dealer.session

    @property
    def period(self) -> Whole:
        """(N,) index of the period."""
        return self._stepper.period

    def in_period(self, name: str) -> npt.NDArray[np.bool_]:
        """(N,) whether this is the period."""
        return self._stepper.period == self._stepper.number_of[name]

    @property
    def elapsed(self) -> npt.NDArray[np.float64]:
        """(N,) ms since the onset of the period; 0 on its first step."""
        return (self._stepper.state("clock") - self._stepper.state("period_at")) * self.dt

    @property
    def remaining(self) -> npt.NDArray[np.float64]:
        """(N,) ms until the time of the period runs out; dt on its last step."""
        return self._stepper.remaining * self.dt

    @property
    def target(self) -> Any:
        """(N,) or (N, D), the target that the table holds, in task units."""
        return self._stepper.table_targets()


class _Conditions(Mapping[str, Any]):
    """Conditions and notes of the current trials, name -> (N, …)."""

    def __init__(self, stepper: Stepper) -> None:
        self._stepper = stepper

    def __getitem__(self, name: str) -> Any:
        stepper = self._stepper

        def values_of(block: Block, envs: Any) -> Any:
            if name in block.conditions:
                return block.conditions[name][stepper.state("row")[envs]]
            return block.types.notes[name][stepper.state("type")[envs]]

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
        next_step: whether an env sits out the step after a session's end.
    """

    def __init__(
        self, task: Task, n: int, seed: int | np.random.SeedSequence | None = None, next_step: bool = False
    ) -> None:
        self.task, self.n = task, n
        self.number_of = {name: number for number, name in enumerate(task.period_names)}
        self.dealer = Dealer(task, n, seed)
        self.begun = False
        self.memory = {name: self._blank_memory(name) for name in task.memory}
        self._next_step = next_step
        self._blocks: list[Block | None] = []
        self._current = 0  # index of the block that shared trials are dealt from
        self._one: Block | None = None  # the block that all envs are in
        self._attached = False  # whether there are blocks of which this is not known yet
        self._make_kernel()

    def _make_kernel(self) -> None:
        self.kernel: Any = kernel_class()(
            self.n, self.dealer.key, np.array(self.task.period_names), self.task.trials_per_session or NEVER,
            self._next_step, self._deal, self.check, self.checked,
        )  # fmt: skip
        self.conditions = _Conditions(self)
        self.now = Now(self)

    def _blank_memory(self, name: str) -> npt.NDArray[Any]:
        initial = np.asarray(self.task.memory[name])
        return np.broadcast_to(initial, (self.n, *initial.shape)).copy()

    def __getstate__(self) -> dict[str, Any]:
        state = {name: value for name, value in self.__dict__.items() if name not in ("kernel", "conditions", "now")}
        self.kernel.sync()
        cursors = [None if block is None else self.kernel.cursor(i) for i, block in enumerate(self._blocks)]
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
        for name, values in places.items():
            self.kernel.set(name, values)

    # ------------------------------------------------------------------ sessions begin

    def reset(self, seed: int | np.random.SeedSequence | None = None, conditions: Mapping[str, Any] | None = None) -> Seen:
        """New sessions in all envs; the first observations, (N, U).

        Without seed and conditions, trials under way are given up, and the sessions go on with the coming ones.
        """
        number, session = self.state("number") + self._started, self.state("session") + self._session_begun
        if seed is not None:
            self.dealer.seed(seed)
            self.kernel.key = self.dealer.key
            number, session = np.zeros((2, self.n), np.int64)
        if conditions is not None:
            self.dealer.impose(conditions)
        anew = not self.begun or seed is not None or conditions is not None
        if not anew and not self._session_begun.any():
            return self.observations()
        played = np.flatnonzero(self._started)
        self.kernel.set("number", number)
        self.kernel.set("session", session)
        self.kernel.set("left", np.full(self.n, self.task.trials_per_session or NEVER))
        self.kernel.set("waiting", np.zeros(self.n, np.int64))
        self.kernel.last_reward = np.zeros(self.n)
        if anew or stateful(self.task):
            self._begin()
        else:
            self._clear_memory(played)
            self.kernel.begin_next(played.tolist())
        return self.observations()

    @property
    def _started(self) -> npt.NDArray[np.bool_]:
        """(N,) whether a step of the current trial was played."""
        return (self.state("clock") > 0) & self.begun

    @property
    def _session_begun(self) -> npt.NDArray[np.bool_]:
        """(N,) whether a step of the current session was played."""
        return self._started | ((self.state("left") != (self.task.trials_per_session or NEVER)) & self.begun)

    def _begin(self) -> None:
        """Give every env the first trial of a session."""
        self.begun = True
        for index in range(len(self._blocks)):
            self._hold(index, None)
        self._clear_memory(np.arange(self.n))
        self.dealer.new_sessions()
        if self.task.reads_outcomes:
            self._deal_on_demand(np.arange(self.n), None)
        else:
            index = self._index(self.dealer.block())
            for env in range(self.n):
                self.kernel.begin(env, index, env)
            self.kernel.cursor(index, self.n)
            self._current = self.kernel.current = index
        self._find_one()

    def _clear_memory(self, envs: Whole) -> None:
        for name, values in self.memory.items():
            values[envs] = np.asarray(self.task.memory[name])

    # ------------------------------------------------------------------ trials are dealt

    def _deal(self, envs: list[int]) -> None:
        """Give envs that found no trial in their block the coming one."""
        if not self.begun:
            self.reset()
            return
        if self.task.reads_outcomes:
            rows = np.array(envs)
            self._deal_on_demand(rows, self._last_trials(rows))
        elif stateful(self.task):
            for env in envs:
                block = self.dealer.following(self._blocks[self.state("block")[env]])  # type: ignore[arg-type]
                index = self._index(block)
                self.kernel.begin(env, index, env)
                if self.n == 1:  # a stride of 1: the kernel deals from the current block
                    self._current = self.kernel.current = index
                    self.kernel.cursor(index, 1)
        else:
            for env in envs:
                row = self.kernel.cursor(self._current)
                if row == len(self._blocks[self._current]):  # type: ignore[arg-type]
                    self._current = self.kernel.current = self._index(self.dealer.block())
                    row = 0
                self.kernel.begin(env, self._current, row)
                self.kernel.cursor(self._current, row + 1)
        self._find_one()

    def _deal_on_demand(self, envs: Whole, ended: TrialResults | None) -> None:
        block, row = self.dealer.on_demand(envs, ended)
        index = self._index(block)
        for offset, env in enumerate(envs.tolist()):
            self.kernel.begin(env, index, row + offset)

    def _last_trials(self, envs: Whole) -> TrialResults:
        if self._one is not None:
            return TrialResults(self.state("last_row")[envs], self._one)
        blocks = [self._blocks[index] for index in self.state("last_block")[envs].tolist()]
        one = blocks[0] if all(block is blocks[0] for block in blocks) else None
        return TrialResults(self.state("last_row")[envs], one or blocks)  # type: ignore[arg-type]

    def _index(self, block: Block) -> int:
        """The index under which the kernel holds a block."""
        for index, held in enumerate(self._blocks):
            if held is block:
                return index
        free = next((index for index, held in enumerate(self._blocks) if held is None), len(self._blocks))
        self._hold(free, block)
        return free

    def _hold(self, index: int, block: Block | None) -> None:
        self._blocks += [None] * (index + 1 - len(self._blocks))
        self._blocks[index] = block
        self._attached = True
        self.kernel.attach(index, block)

    def _find_one(self) -> None:
        """Let go of blocks that no env is in, and see whether one is left."""
        if self._one is not None and not self._attached:
            return
        self._attached = False
        used = set(self.state("block").tolist())
        for index, block in enumerate(self._blocks):
            if block is not None and index not in used and index != self._current:
                self._hold(index, None)
        self._one = self._blocks[used.pop()] if len(used) == 1 else None

    # ------------------------------------------------------------------ the current step

    def state(self, name: str) -> Whole:
        """(N,) int64, one of the kernel's `STATE`; not to be changed."""
        return self.kernel.get(name)  # type: ignore[no-any-return]

    @property
    def any_block(self) -> Block:
        """A block that some env is in."""
        return self._blocks[self.state("block")[0]]  # type: ignore[return-value]

    def gathered(self, values_of: Any) -> Any:
        """(N, …) of ``values_of(block, envs)``, which is asked once for each block that envs are in."""
        if self._one is not None:
            return values_of(self._one, slice(None))
        index = self.state("block")
        parts = [(envs, values_of(self._blocks[k], envs)) for k in np.unique(index) for envs in [np.flatnonzero(index == k)]]
        out = np.zeros((self.n, *parts[0][1].shape[1:]), np.result_type(*(values.dtype for _, values in parts)))
        for envs, values in parts:
            out[envs] = values
        return out

    def table(self, name: str) -> Any:
        """(N, …) of a table (k, S, …) on the current step."""
        kind, segment = self.state("type"), self.state("segment")
        return self.gathered(lambda block, envs: getattr(block.tables, name)[kind[envs], segment[envs]])

    @property
    def period(self) -> Whole:
        """(N,) index of the period."""
        segment = self.state("segment")
        return self.gathered(lambda block, envs: block.tables.period[segment[envs]])  # type: ignore[no-any-return]

    @property
    def remaining(self) -> Whole:
        """(N,) steps until the time of the period runs out, the current one included."""
        kind, segment = self.state("type"), self.state("segment")
        ahead = self.gathered(lambda block, envs: block.types.ahead[kind[envs], segment[envs]])
        return ahead - (self.state("clock") - self.state("entered"))  # type: ignore[no-any-return]

    def table_targets(self) -> Any:
        """(N,) or (N, D), the targets that the tables hold, in task units."""
        kind, segment = self.state("type"), self.state("segment")
        within = self.state("clock") - self.state("entered")

        def targets_of(block: Block, envs: Any) -> Any:
            tables = block.tables
            if len(tables.target_script):
                return tables.target_script[tables.script_at[kind[envs], segment[envs]] + within[envs]]
            return tables.target[kind[envs], segment[envs]]

        return self.gathered(targets_of)

    def targets(self) -> Any:
        """Targets: action ids (N,), or for continuous actions (N, D) in [-1, 1]."""
        target = self.table_targets() if self.task.step_target is None else np.asarray(self.task.step_target(self.now))
        return self.task.actions.from_task_units(target) if self.task.actions.continuous else target

    def observations(self) -> Seen:
        """Current observations, (N, U) float32, of the caller's own."""
        seen = self.kernel.observe()
        if self.task.step_observation is not None:
            seen = np.asarray(self.task.step_observation(self.now, seen), dtype=np.float32)
        return seen  # type: ignore[no-any-return]

    def _open(self) -> npt.NDArray[np.bool_]:
        """(N, K) which slots may be answered."""
        row = self.state("row")
        answered = self.gathered(lambda block, envs: block.log.slot_outcome[row[envs]])
        return self.table("window") & (answered == 0)  # type: ignore[no-any-return]

    def is_asked(self) -> npt.NDArray[np.bool_]:
        """(N,) whether a slot may be answered."""
        return self._open().any(axis=1)

    def can_wait(self) -> npt.NDArray[np.bool_]:
        """(N,) whether a slot may be answered now and on the next step too, at no particular moment."""
        kind, segment = self.state("type"), self.state("segment")
        within = self.state("clock") - self.state("entered")

        def stays(block: Block, envs: Any) -> Any:
            tables, k, s = block.tables, kind[envs], segment[envs]
            last = (within[envs] + 1 >= tables.duration[k, s]) & ~tables.endless[s]
            coming = tables.landing(k, tables.follows[s])
            goes_on = tables.window[k, np.maximum(coming, 0)] & (coming >= 0)[:, None]
            return (goes_on | ~last[:, None]) & np.isnan(tables.due[k])

        return (self._open() & self.gathered(stays)).any(axis=1)  # type: ignore[no-any-return]

    # ------------------------------------------------------------------ one step

    def step(self, actions: Any) -> Moved:
        """Play one step of every env that does not wait.

        Args:
            actions: (N,) action ids, checked by the caller; or (N, D) in [-1, 1].
        """
        if not self.begun:
            self.reset()
        columns, values = self._columns(actions)
        given = self._given(actions if values is None else values, values)
        moved: Moved = self.kernel.advance(columns, given)
        if self.memory and moved.finished is not None:
            self._clear_memory(np.flatnonzero(moved.ended))
        return moved

    def _columns(self, actions: Any) -> tuple[Whole, npt.NDArray[np.float64] | None]:
        """Columns of the tables, and continuous actions in task units."""
        declared = self.task.actions
        if not declared.continuous:
            return actions, None
        values = declared.to_task_units(actions)
        if declared.trigger is None:
            return np.zeros(self.n, np.int64), values
        index, threshold = declared.trigger
        return (values[:, index] > threshold).astype(np.int64), values

    def _given(self, action: Any, values: npt.NDArray[np.float64] | None) -> Given | None:
        """What hooks and continuous actions add to the step."""
        task, given = self.task, None
        if values is not None:
            extra = self._squared_error(values) if task.actions.trigger is None and task.step_action is None else None
            distance, graded = self._judged(values)
            given = Given(extra=extra, distance=distance, graded=graded, values=values)
        if task.step_action is None:
            return given
        waiting = np.flatnonzero(self.state("waiting")) if self._next_step else ()
        if len(waiting) == self.n:
            return given
        kept = {name: memory[waiting].copy() for name, memory in self.memory.items()} if len(waiting) else {}
        reward, goto, outcome = (*task.step_action(self.now, action), None, None)[:3]
        for name, memory in kept.items():
            self.memory[name][waiting] = memory
        return (given or Given())._replace(
            reward=self._each(reward, np.float64), goto=self._each(goto, np.int64), outcome=self._each(outcome, np.int64)
        )

    def _each(self, value: Any, dtype: Any) -> Any:
        """A value for each env, or None."""
        if value is None or (type(value) is np.ndarray and value.dtype == dtype and value.shape == (self.n,)):
            return value if value is None or value.flags.c_contiguous else value.copy()
        return np.ascontiguousarray(np.broadcast_to(value, (self.n,)), dtype)

    def _squared_error(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Default payoff of continuous actions: minus the mean squared error, per 100 ms, where the weight is not 0."""
        error = ((values - self.table_targets()) ** 2).mean(axis=1)
        return -error * (self.table("weight") > 0) * self.task.dt / 100  # type: ignore[no-any-return]

    def _judged(self, values: npt.NDArray[np.float64]) -> tuple[Any, Any]:
        """(N, K) how far the action is from what each slot wants, and what graded slots pay for that (NaN: flat)."""
        types, kind = self.any_block.types, self.state("type")
        aim = self.gathered(lambda block, envs: block.tables.aim[kind[envs]])
        tolerance = self.gathered(lambda block, envs: block.tables.tolerance[kind[envs]])
        distance, graded = np.zeros(tolerance.shape), None
        for k, (units, pays) in enumerate(zip(types.slot_units, types.pays, strict=True)):
            distance[:, k] = np.sqrt(((values[:, units] - aim[:, k, units]) ** 2).sum(axis=1))
            if pays is not None:
                graded = np.full(tolerance.shape, np.nan) if graded is None else graded
                graded[:, k] = pays(distance[:, k], tolerance[:, k])
        return distance, graded

    # ------------------------------------------------------------------ actions from outside

    def check(self, action: Any) -> int:
        """An action id as a number.

        Raises:
            InvalidValueError: not a whole number, or out of range.
        """
        array, size, name = np.asarray(action), self.task.actions.size, self.task.name
        if array.size != 1 or array.dtype.kind not in "iu":
            raise InvalidValueError(f"{name} was given the action {action!r}; give a whole number from 0 to {size - 1}.")
        value = int(array.reshape(()))
        if not 0 <= value < size:
            raise InvalidValueError(f"{name} was given the action {value}; it must be from 0 to {size - 1}.")
        return value

    def checked(self, actions: Any) -> Any:
        """Actions of all envs: ids (N,) int64, or for continuous actions (N, D) float64.

        Raises:
            InvalidValueError: not whole numbers (numbers), of another shape, or out of range.
        """
        array, name, size = np.asarray(actions), self.task.name, self.task.actions.size
        shape = (self.n, size) if self.task.actions.continuous else (self.n,)
        kinds, what = ("fiu", "numbers in [-1, 1]") if self.task.actions.continuous else ("iu", "whole numbers, one per env")
        if array.dtype.kind not in kinds or array.shape != shape:
            raise InvalidValueError(
                f"{name} was given actions of type {array.dtype} and shape {array.shape}; give {what}: shape {shape}."
            )
        if self.task.actions.continuous:
            if not (np.abs(array) <= 1 + 1e-6).all():
                raise InvalidValueError(f"{name} was given actions from {array.min()} to {array.max()}; they must be in [-1, 1].")
            return array.astype(np.float64)
        if array.min() < 0 or array.max() >= size:
            raise InvalidValueError(f"{name} was given actions from {array.min()} to {array.max()}; they must be from 0 to {size - 1}.")
        return array.astype(np.int64, copy=False)
