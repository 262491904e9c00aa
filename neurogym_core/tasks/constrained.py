"""Draw the next trials of a task with some conditions, or the right answers, given.

Wrappers that decide about the next trials (schedules, trial history) can be nested. Each passes its
decisions on to the task that it wraps, down to the innermost task, which draws the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np

from neurogym_core.errors import InvalidValueError
from neurogym_core.tasks.drawing import (
    answer_condition,
    answer_of,
    draw_next,
    draw_overriding,
    stacked,
    stateful,
    without_imposed,
)
from neurogym_core.tasks.session import Session
from neurogym_core.tasks.state import STATE, Conditions, TaskLike, state_of
from neurogym_core.trials.arrays import Array


def draw_constrained(
    task: TaskLike,
    session: Session,
    rng: np.random.Generator,
    trials: int,
    imposed: Mapping[str, Array] | None = None,
    answer: Array | None = None,
) -> Conditions:
    """Draw the next trials of all sessions, with some conditions given.

    Args:
        task: the task that draws the other conditions.
        trials: number of trials of each session. `session.trial` is unchanged.
        imposed: given conditions, name -> (trials, sessions, …).
        answer: the right answers, (trials, sessions).
        rng: generator of the conditions.

    Raises:
        InvalidValueError: the `draw` of the task imposes a given condition itself.
    """
    if state_of(task).wraps is not None:
        drawn: Conditions = cast(Any, task).draw_constrained(
            session, rng, trials, dict(imposed or {}), answer
        )
        return drawn
    if not stateful(task):
        return _draw_flat(task, rng, (trials, len(session)), imposed or {}, answer)
    return draw_one_by_one(task, session, rng, trials, imposed or {}, answer)


def _draw_flat(
    task: TaskLike,
    rng: np.random.Generator,
    shape: tuple[int, int],
    imposed: Mapping[str, Array],
    answer: Any,
) -> Conditions:
    n = shape[0] * shape[1]
    flat = {
        name: np.asarray(values).reshape(n, *values.shape[2:]) for name, values in imposed.items()
    }
    drawn = draw_overriding(
        task, rng, n, flat, None if answer is None else np.asarray(answer).reshape(n)
    )
    return {name: values.reshape(*shape, *values.shape[1:]) for name, values in drawn.items()}


def draw_one_by_one(
    task: TaskLike,
    session: Session,
    rng: np.random.Generator,
    trials: int,
    imposed: Mapping[str, Array],
    answer: Any,
) -> Conditions:
    """Draw as `draw_constrained` does, for tasks that draw one trial after another."""
    before, rows = session.trial.copy(), []
    for k in range(trials):
        now = {name: values[k] for name, values in imposed.items()}
        rows.append(_draw_one(task, session, rng, now, None if answer is None else answer[k]))
        session.trial += 1
    session.trial[:] = before
    return stacked(task, rows)


def _draw_one(
    task: TaskLike,
    session: Session,
    rng: np.random.Generator,
    imposed: dict[str, Array],
    answer: Array | None,
) -> dict[str, Array]:
    if not imposed and answer is None:
        return draw_next(task, session, rng)
    drawn = draw_next(_constrained_view(task, imposed, answer), session, rng)
    # A `draw` need not call `draw_conditions`, and may change its result.
    for name, values in imposed.items():
        if not np.array_equal(drawn[name], values):
            raise InvalidValueError(f"the draw() of {task.name} decides {name!r} itself.")
    if answer is not None and not np.array_equal(answer_of(task, drawn), answer):
        raise InvalidValueError(f"the draw() of {task.name} decides the right answer itself.")
    return drawn


def _constrained_view(task: TaskLike, imposed: dict[str, Array], answer: Array | None) -> TaskLike:
    """A copy of a task whose `draw_conditions` adds the given values to those of its caller."""
    # The author's `draw` calls `self.draw_conditions`, where it may impose some values. The given
    # ones come in through another `self`, so that `draw` needs no argument for them.
    view: TaskLike = object.__new__(type(task))
    state = state_of(task)
    inner = None if state.wraps is None else _constrained_view(state.wraps, imposed, answer)
    view.__dict__.update(task.__dict__)
    view.__dict__[STATE] = replace(
        state, wraps=inner, known=dict(state.known), given=(task, imposed, answer)
    )
    view.__dict__["draw_conditions"] = partial(_draw_given, task, imposed, answer)
    return view


def view_of_subject(task: TaskLike, i: int) -> TaskLike:
    """Return the task, or a view of it with the values that are given for subject `i`."""
    given = state_of(task).given
    if given is None:
        return task
    whole, imposed, answer = given
    row = {name: values[i : i + 1] for name, values in imposed.items()}
    return _constrained_view(whole, row, None if answer is None else answer[i : i + 1])


def _draw_given(
    task: TaskLike,
    given: dict[str, Array],
    wanted: Array | None,
    rng: np.random.Generator,
    n: int,
    imposed: Mapping[str, Any] | None = None,
    answer: Any = None,
) -> dict[str, Array]:
    decided = {*(imposed or {}), *([answer_condition(task)] if answer is not None else [])}
    taken = {*given, *([answer_condition(task)] if wanted is not None else [])}
    if answer is not None and wanted is not None:
        raise InvalidValueError(f"the draw() of {task.name} imposes the right answer.")
    if both := sorted(str(name) for name in decided & taken if name is not None):
        raise InvalidValueError(f"the draw() of {task.name} imposes {', '.join(both)}.")
    kept, own = without_imposed(task, imposed or {}, answer)
    return draw_overriding(task, rng, n, {**kept, **given}, wanted if own is None else own)
