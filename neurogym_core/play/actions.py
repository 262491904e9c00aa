"""Check actions, turn them into columns of the tables, and collect the `Given` of a step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from neurogym_core.errors import InvalidValueError, listed
from neurogym_core.play.hooked import acted
from neurogym_core.play.results import Given
from neurogym_core.tasks.task import Task
from neurogym_core.trials.arrays import Array, Bools, Floats, Ints
from neurogym_core.trials.layout import STAY

if TYPE_CHECKING:
    from neurogym_core.play.stepper import Stepper

ROUNDING = 1e-6
"""Largest error of an action, as a fraction of the range of its axis, that is due to rounding."""
FEW = 12
"""Largest number of actions whose names are listed in messages."""
NOBODY: Bools = np.zeros(0, bool)


def checked_one(task: Task, action: Any) -> int:
    """Return an action id as an int, or raise `InvalidValueError`."""
    array = np.asarray(action)
    whole = array.size == 1 and array.dtype.kind in "iu"
    if not whole or not 0 <= array.item() < task.actions.size:
        raise InvalidValueError(
            f"{task.name} was given the action {array.tolist()!r}. Expected a whole number from"
            f" {_range(task)}. Choose one of env.action_space."
        )
    return int(array.item())


def checked_all(task: Task, n: int, actions: Any) -> Array:
    """Return ids (N,) int64, or continuous actions (N, D) float64, or raise `InvalidValueError`."""
    array, name, size = np.asarray(actions), task.name, task.actions.size
    continuous = task.actions.continuous
    shape = (n, size) if continuous else (n,)
    kinds, expected = (
        ("fiu", "numbers in [-1, 1]") if continuous else ("iu", "whole numbers, one per env")
    )
    if array.dtype.kind not in kinds or array.shape != shape:
        raise InvalidValueError(
            f"{name} was given actions of type {array.dtype} and shape {array.shape}. "
            f"Expected {expected}, of shape {shape}. Choose them from env.action_space."
        )
    if continuous:
        if not (np.abs(array) <= 1 + 1e-6).all():
            raise InvalidValueError(
                f"{name} was given actions from {array.min()} to {array.max()}. "
                "Expected numbers in [-1, 1]. Clip them."
            )
        return array.astype(np.float64)
    if array.min() < 0 or array.max() >= size:
        raise InvalidValueError(
            f"{name} was given actions from {array.min()} to {array.max()}. "
            f"Expected whole numbers from {_range(task)}. Choose them from env.action_space."
        )
    return array.astype(np.int64, copy=False)


def _range(task: Task) -> str:
    """The numbers of the actions, and the names of a few."""
    size = task.actions.size
    names = f" ({listed(task.actions.labels())})" if size <= FEW else ""
    return f"0 to {size - 1}{names}"


def columns_of(task: Task, actions: Array) -> tuple[Ints, Floats | None]:
    """Return the columns of the tables, (N,), and continuous actions in task units, (N, D)."""
    declared = task.actions
    if not declared.continuous:
        return actions, None
    values = np.ascontiguousarray(declared.to_task_units(actions))
    # With a trigger axis the tables have two columns, resting and acting; without one, a single.
    if declared.trigger is None:
        return np.zeros(len(values), np.int64), values
    index, threshold = declared.trigger
    return (values[:, index] > threshold).astype(np.int64), values


def added_by(stepper: Stepper, action: Array, values: Floats | None) -> Given | None:
    """Return the contributions of hooks and continuous actions to the step, or None.

    `action` is (N,) ids, or (N, D) in task units, which are also the `values`.
    """
    task, given = stepper.task, None
    if values is not None:
        # A task that is tracked without a trigger is paid for its error, unless its hook pays.
        tracked = task.actions.trigger is None and task.step_action is None
        distance, graded, score = _judged(stepper, values)
        given = Given(
            extra=_tracking(stepper, values) if tracked else None,
            distance=distance,
            graded=graded,
            score=score,
            values=values,
        )
    if task.step_action is None:
        return given
    waiting = stepper.state("waiting") > 0 if stepper.may_wait else NOBODY
    if len(waiting) and waiting.all():
        return given
    # The hook computes all envs at once. Envs that sit out the step must not change, so their
    # trial state is restored afterwards.
    kept = {}
    if waiting.any():
        kept = {name: memory[waiting].copy() for name, memory in stepper.trial_state.items()}
    reward, goto = acted(stepper, action)
    for name, memory in kept.items():
        stepper.trial_state[name][waiting] = memory
    # Where the hook leaves reward or destination to the table, so it leaves those of its answers.
    paid, leads = stepper._reports.log(waiting if waiting.any() else None)
    if leads is not None and (goto is None or (goto == STAY).any()):
        goto = leads if goto is None else np.where(goto == STAY, leads, goto)
    return (given or Given())._replace(reward=reward, extra=paid, goto=goto)


def _tracking(stepper: Stepper, values: Floats) -> Floats:
    """Return (N,) the pay for tracking, where the weight is not 0: 0 on target, -correct at worst.

    It is minus the reward `correct` times the mean squared error, per 100 ms. Errors are fractions
    of the range of their axis, so that the pay does not depend on units. Where traces are scored,
    it is the share of the step in `correct`, for the axes that are on target.
    """
    task, everything = stepper.task, slice(0, stepper.task.actions.size)
    error = task.actions.errors(values, stepper.table_targets(), everything)
    if task.actions.traced:
        near: Floats = (np.abs(error) <= task.actions.tolerances()).mean(axis=1)
        return near * stepper.table("share") * task.rewards["correct"]
    error = error / task.actions.ranges()
    # Actions are float32: smaller differences are those of rounding.
    error = np.where(np.abs(error) < ROUNDING, 0.0, error)
    scale = task.rewards["correct"] * task.dt / 100
    paid: Floats = -(error**2).mean(axis=1) * (stepper.table("weight") > 0) * scale
    return paid + 0.0  # not -0.0


def _judged(stepper: Stepper, values: Floats) -> tuple[Floats, Floats | None, Floats | None]:
    """Return (N, K) the distance of the action from the aim of each slot, its reward, its score.

    Rewards are NaN for a slot whose reward does not depend on the distance. Without a trigger they
    are those of the answer, right or wrong.
    """
    types, kind, actions = stepper.any_block.tables, stepper.state("type"), stepper.task.actions
    aim = stepper.gathered(lambda block, envs: block.tables.aim[kind[envs]])
    tolerance = stepper.gathered(lambda block, envs: block.tables.tolerance[kind[envs]])
    distance = np.zeros(tolerance.shape)
    for k, units in enumerate(types.slots.units):
        errors = actions.errors(values, aim[:, k], units)
        distance[:, k] = np.sqrt((errors**2).sum(axis=1))
    graded, score = np.full((2, *tolerance.shape), np.nan)
    for k, pays in enumerate(types.slots.pays):
        if pays is not None:
            graded[:, k] = pays(distance[:, k], tolerance[:, k])
            most = pays(np.zeros(stepper.n), tolerance[:, k])
            share = np.divide(graded[:, k], most, out=np.ones(stepper.n), where=most != 0)
            score[:, k] = np.clip(share, 0, 1)
    if actions.trigger is None:
        pay = stepper.gathered(lambda block, envs: block.tables.correct_reward[kind[envs]])
        wrong = stepper.gathered(lambda block, envs: block.tables.error_reward[kind[envs]])
        right = distance <= tolerance + 1e-9
        flat = np.isnan(graded)
        graded = np.where(right, np.where(flat, pay, graded), wrong)
        score = np.where(right, np.where(flat, 1.0, score), 0.0)
    elif np.isnan(graded).all():
        graded = score = None
    # Only the hook answers these: the kernel must not judge the action.
    distance[:, list(types.slots.reported)] = np.nan
    return distance, graded, score
