"""The hooks of a task: their values are checked here, and the reports of `step_action` are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from neurogym_core.errors import TaskDefinitionError, listed, unknown
from neurogym_core.tasks.task import Task
from neurogym_core.trials.arrays import Array, Bools, Floats, Ints
from neurogym_core.trials.interface import Angle
from neurogym_core.trials.layout import END, STAY
from neurogym_core.trials.record import OUTCOME_NAMES, RESTING, Outcome

if TYPE_CHECKING:
    from neurogym_core.play.blocks import Block
    from neurogym_core.play.stepper import Stepper

ROUNDING = 1e-9


# ---------------------------------------------------------------------- values of hooks


def from_hook(
    task: Task,
    hook: str,
    value: Any,
    shape: tuple[int, ...],
    *,
    what: str = "an array",
    whole: tuple[int, int] | None = None,
) -> Array:
    """Return a value of a hook as an array.

    Args:
        task, hook: whose hook it is.
        value: the value that it returned.
        shape: the shape that is expected; the first axis is that of envs.
        what: name of the value, if the hook returns several.
        whole: smallest and largest of the whole numbers that are expected; None: finite numbers.

    Raises:
        TaskDefinitionError: another shape, another type, or a number that is not allowed.
    """
    array = np.asarray(value)
    if array.shape != shape:
        raise _refusal(task, hook, f"{what} of shape {array.shape}", *_shaped(hook, shape))
    if whole is None:
        if array.dtype.kind not in "fiub" or not np.isfinite(array).all():
            raise _refusal(
                task, hook, f"{what} with {_odd(array)}", "finite numbers",
                "Look for divisions by zero, and for logarithms and roots of negative numbers.",
            )  # fmt: skip
        return array
    low, high = whole
    if array.dtype.kind not in "iub" or not ((array >= low) & (array <= high)).all():
        wrong = array if array.dtype.kind not in "iub" else array[(array < low) | (array > high)]
        raise _refusal(
            task, hook, f"{what} with {_odd(wrong)}", f"whole numbers from {low} to {high}",
            "Return STAY, END or now.number_of(name)." if what == "goto" else
            "Return indices of actions.",
        )  # fmt: skip
    return array


def _odd(array: Array) -> str:
    """The first entry that is no finite number, else the first one, and the type."""
    flat = array.ravel()
    if flat.dtype.kind == "f" and not np.isfinite(flat).all():
        flat = flat[~np.isfinite(flat)]
    return f"{flat[:1].tolist()[0]!r} (type {flat.dtype})" if flat.size else f"type {flat.dtype}"


def _shaped(hook: str, shape: tuple[int, ...]) -> tuple[str, str]:
    columns = "" if len(shape) == 1 else " and a column for each unit"
    if len(shape) == 2 and hook == "step_target":
        columns = " and a column for each axis, as now.target"
    expected = f"{shape}: a row for each of the {shape[0]} envs{columns}"
    example = ", for example to value[:, None]" if shape[1:] == (1,) else ""
    return expected, f"Change the value of the hook{example}."


def _refusal(
    task: Task, hook: str, returned: str, expected: str, remedy: str
) -> TaskDefinitionError:
    return TaskDefinitionError(
        f"{task.name}.{hook} returned {returned}. Expected {expected}. {remedy}"
    )


def acted(stepper: Stepper, action: Array) -> tuple[Array | None, Array | None]:
    """Call `step_action`; return the rewards and the destinations of a step, (N,) or None.

    Its reports are kept until `Reports.log`.
    """
    task, n = stepper.task, stepper.n
    assert task.step_action is not None
    stepper._reports.clear()
    returned = task.step_action(stepper.now, action)
    if not isinstance(returned, tuple) or not 1 <= len(returned) <= 2:
        kind = f"a tuple of {len(returned)}" if isinstance(returned, tuple) else None
        raise _refusal(
            task, "step_action", kind or type(returned).__name__,
            "a tuple: reward, goto, each (n,) or None",
            "Write return reward, None; report outcomes with now.answer(…).",
        )  # fmt: skip
    reward, goto = (*returned, None)[:2]
    last = len(stepper.number_of) - 1
    return (
        _each(task, "reward", reward, n, np.float64, None),
        _each(task, "goto", goto, n, np.int64, (END, last)),
    )


def _each(
    task: Task, what: str, value: Any, n: int, kind: Any, whole: tuple[int, int] | None
) -> Array | None:
    """Return a C-contiguous array of one value per env, or None."""
    if value is None:
        return None
    if np.shape(value) in ((), (1,)):
        value = np.broadcast_to(value, (n,))
    checked = from_hook(task, "step_action", value, (n,), what=what, whole=whole)
    return np.ascontiguousarray(checked, kind)


# ---------------------------------------------------------------------- reports of step_action


class Reports:
    """The answers and events that `step_action` reports on a step, until the step is played.

    Args:
        stepper: the envs.
    """

    def __init__(self, stepper: Stepper) -> None:
        self.stepper = stepper
        self.clear()

    def clear(self) -> None:
        """Forget the reports of the last step."""
        self.answers: list[tuple[Bools, Any, Any, Any, str | None]] = []
        self.events: list[tuple[Bools, str, Floats]] = []

    # -------------------------------------------------------------- checks

    def each(self, what: str, value: Any, kinds: str, expected: str) -> Array:
        """Return one value per env, (N, …), or raise an error that names the call."""
        n, array = self.stepper.n, np.asarray(value)
        if array.dtype.kind not in kinds or (array.ndim and len(array) not in (1, n)):
            raise TaskDefinitionError(
                f"{self.stepper.task.name}.step_action gave {what} of type {array.dtype} and shape"
                f" {array.shape}. Expected {expected}: one, or shape ({n}, …), a row for each of"
                f" the {n} envs. Write it with np.where, without if."
            )
        return np.broadcast_to(array, (n, *array.shape[1:]))

    def answer(
        self, where: Any, choice: Any, outcome: Any, reaction_time: Any, slot: str | None
    ) -> None:
        """See `Now.answer`."""
        task = self.stepper.task
        asked = self.each("now.answer() where=", where, "b", "bools")
        kinds = "fiu" if task.actions.continuous else "iu"
        chosen = self.each("now.answer() choice=", choice, kinds, "indices of choices, or values")
        if outcome is not None:
            outcome = self.each("now.answer() outcome=", outcome, "iu", "values of Outcome")
            if not ((outcome >= 0) & (outcome < len(OUTCOME_NAMES))).all():
                raise TaskDefinitionError(
                    f"{task.name}.step_action gave now.answer() outcome={outcome.tolist()}."
                    " Expected values of Outcome. Write Outcome.CORRECT, Outcome.ERROR, …."
                )
        if reaction_time is not None:
            reaction_time = self.each("now.answer() reaction_time=", reaction_time, "fiu", "ms")
        if asked.any():
            self.answers.append((asked, chosen, outcome, reaction_time, slot))

    def event(self, where: Any, name: Any, value: Any) -> None:
        """See `Now.event`."""
        if not isinstance(name, str) or not name:
            raise TaskDefinitionError(
                f"{self.stepper.task.name}.step_action gave now.event() name={name!r}. Expected a"
                ' text. Write now.event(where, "peck", value).'
            )
        happened = self.each("now.event() where=", where, "b", "bools")
        values = self.each("now.event() value=", value, "fiub", "numbers")
        if values.ndim != 1 or not np.isfinite(values).all():
            raise TaskDefinitionError(
                f"{self.stepper.task.name}.step_action gave now.event({name!r}) values with"
                f" {_odd(values)}, of shape {values.shape}. Expected a finite number, or one per"
                " env. Write several events for several numbers."
            )
        if happened.any():
            self.events.append((happened, name, values))

    def _place(self, block: Block, slot: str | None) -> int:
        """Return the index of a slot in a block."""
        names, task = block.tables.slots.names, self.stepper.task.name
        if not names:
            raise TaskDefinitionError(
                f"{task}.step_action called now.answer(), and its trials have no answer slot."
                " Expected a slot, in whose columns the record keeps the answer. Open one in"
                " new_trial: trial.answer(group, which, during=…, reported=True)."
            )
        if slot is not None and slot not in names:
            raise unknown("slot", slot, names, of=f"now.answer() of {task}")
        return 0 if slot is None else names.index(slot)

    # -------------------------------------------------------------- the step

    def log(self, sits_out: Bools | None) -> tuple[Floats | None, Ints | None]:
        """Write the answers into the logs; return the pay of the table for them, and their `then`.

        Args:
            sits_out: (N,) envs that do not play this step; None: all play.

        Returns:
            (N,) rewards and (N,) destinations; None without an answer.
        """
        stepper = self.stepper
        for happened, name, values in self.events:
            self._write(happened if sits_out is None else happened & ~sits_out, name, values)
        if not self.answers:
            return None, None
        paid, goto = np.zeros(stepper.n), np.full(stepper.n, STAY)
        for where, choice, outcome, time, slot in self.answers:
            playing = where if sits_out is None else where & ~sits_out
            for block, envs in stepper.parts():
                mine = np.arange(stepper.n)[envs][playing[envs]]
                if len(mine):
                    _Answers(stepper, block, mine, self._place(block, slot)).log(
                        choice[mine],
                        None if outcome is None else outcome[mine],
                        None if time is None else time[mine],
                        paid, goto,
                    )  # fmt: skip
        return paid, goto

    def _write(self, happened: Bools, name: str, values: Floats) -> None:
        """Write an event into the blocks of the envs in which it happened."""
        stepper = self.stepper
        row, ms = stepper.state("row"), (stepper.state("clock") + 1) * float(stepper.task.dt)
        for block, envs in stepper.parts():
            for env in np.arange(stepper.n)[envs][happened[envs]].tolist():
                event = (float(ms[env]), name, float(values[env]))
                block.events.setdefault(int(row[env]), []).append(event)


class _Answers:
    """Answers of some envs, all in one block, to one slot."""

    def __init__(self, stepper: Stepper, block: Block, envs: Ints, k: int) -> None:
        self.stepper, self.block, self.envs, self.k = stepper, block, envs, k
        self.tables, self.task = block.tables, stepper.task
        self.kind, self.row = stepper.state("type")[envs], stepper.state("row")[envs]
        windows = self.tables.window[self.kind, :, k]
        if not windows.any(axis=1).all():
            raise TaskDefinitionError(
                f"{self.task.name}.step_action called now.answer() for the slot"
                f" {self.tables.slots.names[k]!r} in trials that do not have it. Expected trials"
                f" that ask it. Leave the others out with where=, or name one of"
                f" {listed(self.tables.slots.names)}."
            )
        here = stepper.state("segment")[envs]
        self.open = windows[np.arange(len(envs)), here]
        self.segment = np.where(self.open, here, windows.argmax(axis=1))

    def log(
        self, choice: Array, outcome: Array | None, time: Array | None, paid: Floats, goto: Ints
    ) -> None:
        tables, log, k = self.tables, self.block.log, self.k
        continuous = self.task.actions.continuous
        values = self._values(choice) if continuous else None
        judged, score = self._judged(choice, values)
        if outcome is not None:
            judged, score = outcome, (outcome == Outcome.CORRECT).astype(float)
        if tables.slots.needs[k] >= 0:
            first = log.slot_outcome[self.row, tables.slots.needs[k]] == Outcome.CORRECT
            judged = np.where((judged == Outcome.CORRECT) & ~first, Outcome.ERROR, judged)
            score = np.where(judged == Outcome.ERROR, 0.0, score)
        clock, dt = self.stepper.state("clock")[self.envs], tables.dt
        opened = np.where(
            self.open, log.opened[self.row, k], self.stepper.state("period_at")[self.envs]
        )
        time = (clock + 1 - opened) * dt if time is None else time
        # Only the first answer counts, as in the kernel; the outcome NONE is none.
        new = (log.slot_outcome[self.row, k] == Outcome.NONE) & (judged != Outcome.NONE)
        row, mine = self.row[new], self.envs[new]
        log.slot_outcome[row, k], log.slot_score[row, k] = judged[new], score[new]
        log.opened[row, k] = opened[new]
        answered = np.full(len(choice), True) if continuous else choice != RESTING
        log.slot_time[row, k] = np.where(answered, time, np.nan)[new]
        log.slot_choice[row, k] = 0 if values is not None else choice[new]
        if values is not None:
            log.values[row, k] = values[new]
        if tables.slots.again[k]:
            once = new & (log.answers[self.row, k] == 0)
            log.answers[row, k] += 1
            log.first_outcome[self.row[once], k] = judged[once]
            for name in ("choice", "time"):
                last = getattr(log, f"slot_{name}")
                getattr(log, f"first_{name}")[self.row[once], k] = last[self.row[once], k]
        kind, outcomes = self.kind[new], (Outcome.CORRECT, Outcome.ERROR, Outcome.MISS)
        right, wrong, missed = (judged[new] == one for one in outcomes)
        pays = [
            getattr(tables, name)[kind, k]
            for name in ("correct_reward", "error_reward", "miss_reward")
        ]
        paid[mine] = np.select([right, wrong, missed], pays, 0.0)
        # A choice that is neither right nor wrong leads where the target does.
        leads = np.where(wrong, tables.error_goto[kind, k], tables.target_goto[kind, k])
        goto[mine] = np.where(missed, STAY, leads)

    def _values(self, choice: Array) -> Floats:
        """Return an answer in task units, (m, D)."""
        actions, units = self.task.actions, self.tables.slots.units[self.k]
        part = next(one for name, one in actions.parts.items() if actions[name] == units)
        own = Angle.points(choice) if isinstance(part, Angle) else choice.reshape(len(choice), -1)
        if own.shape[1] not in (1, units.stop - units.start) or not np.isfinite(own).all():
            raise TaskDefinitionError(
                f"{self.task.name}.step_action gave now.answer() choice= of shape {choice.shape}"
                f" with {_odd(own)}. Expected finite values of the slot"
                f" {self.tables.slots.names[self.k]!r}, in its units: one per env, or"
                f" {units.stop - units.start} columns. Give those of its axes alone."
            )
        values = np.zeros((len(choice), actions.size))
        values[:, units] = own
        return values

    def _judged(self, choice: Array, values: Floats | None) -> tuple[Array, Floats]:
        """Return the outcome of answers, and their score, as the right choices of the slot say."""
        tables, k = self.tables, self.k
        units = tables.slots.units[k]
        if values is not None:
            errors = self.task.actions.errors(values, tables.aim[self.kind, k], units)
            distance = np.sqrt((errors**2).sum(axis=1))
            right = distance <= tables.tolerance[self.kind, k] + ROUNDING
            return np.where(right, Outcome.CORRECT, Outcome.ERROR), right.astype(float)
        if ((choice < RESTING) | (choice >= units.stop - units.start)).any():
            raise TaskDefinitionError(
                f"{self.task.name}.step_action gave now.answer() choice={choice.tolist()}. Expected"
                f" indices of the choices of the slot {tables.slots.names[k]!r}, from 0 to"
                f" {units.stop - units.start - 1}, or -1 for none. Count them within the group, not"
                " as actions."
            )
        cell = self.kind, self.segment, units.start + np.maximum(choice, 0)
        chosen = choice != RESTING
        outcome = np.where(chosen, tables.outcome[cell], Outcome.MISS)
        return outcome, np.where(chosen, tables.score[cell], 0.0)
