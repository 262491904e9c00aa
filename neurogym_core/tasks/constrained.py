"""Draw a task's coming trials with some of their conditions, or what is right in them, decided by
somebody else.

Wrappers that decide which trials come (schedules, trial history) stand on each other: each hands
what it decides to the task that it wraps, down to the task that draws the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np

from neurogym_core.errors import InvalidValueError, NotSupportedError
from neurogym_core.tasks.drawing import (
    answer_condition,
    answer_of,
    draw_overriding,
    fresh_session,
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
    """The coming trials of all sessions, with conditions that are given.

    Args:
        task: the task that draws the others.
        trials: how many trials of each session. `session.trial` is left as it was.
        imposed: values, (trials, sessions, …) each.
        answer: which answer is right, (trials, sessions).

    Raises:
        InvalidValueError: the task decides itself what is given here.
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
    """As `draw_constrained`, for tasks that draw one trial after another."""
    before, rows = session.trial.copy(), []
    for k in range(trials):
        now = {name: values[k] for name, values in imposed.items()}
        rows.append(_draw_one(task, session, rng, now, None if answer is None else answer[k]))
        session.trial += 1
    session.trial[:] = before
    return {name: np.stack([row[name] for row in rows]) for name in rows[0]}


def _draw_one(
    task: TaskLike,
    session: Session,
    rng: np.random.Generator,
    imposed: dict[str, Array],
    answer: Array | None,
) -> dict[str, Array]:
    if not imposed and answer is None:
        return task.draw(session, rng)
    drawn = _asking(task, imposed, answer).draw(session, rng)
    for name, values in imposed.items():
        if not np.array_equal(drawn[name], values):
            raise InvalidValueError(f"the draw() of {task.name} decides {name!r} itself.")
    if answer is not None and not np.array_equal(answer_of(task, drawn), answer):
        raise InvalidValueError(f"the draw() of {task.name} decides the right answer itself.")
    return drawn


def _asking(task: TaskLike, imposed: dict[str, Array], answer: Array | None) -> TaskLike:
    """A view of a task whose `draw_conditions` draws what is given beside what the task's `draw`
    imposes.
    """
    view: TaskLike = object.__new__(type(task))
    state = state_of(task)
    inner = None if state.wraps is None else _asking(state.wraps, imposed, answer)
    view.__dict__.update(task.__dict__)
    view.__dict__[STATE] = replace(state, wraps=inner, known=dict(state.known))
    view.__dict__["draw_conditions"] = partial(_draw_asked, task, imposed, answer)
    return view


def _draw_asked(
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


def require_undecided(
    task: TaskLike,
    owner: str,
    imposed: Mapping[str, Array] | None = None,
    answer: Array | None = None,
) -> None:
    """Refuse a task that decides itself what `owner` wants to decide: draw values, (n,) each, in
    sessions of their own.

    Raises:
        NotSupportedError: it does, and says why.
    """
    if not stateful(task) or (not imposed and answer is None):
        return
    rng = np.random.default_rng(0)
    values = {name: np.asarray(given) for name, given in (imposed or {}).items()}
    n = len(answer) if answer is not None else len(next(iter(values.values())))
    session = fresh_session(task, rng, n)
    given = {name: one[None] for name, one in values.items()}
    try:
        draw_constrained(
            task, session, rng, 1, given, None if answer is None else np.asarray(answer)[None]
        )
    except InvalidValueError as error:
        raise NotSupportedError(
            f"{owner} cannot be applied to {task.name}: what that draws leaves no choice"
            f" ({str(error).rstrip('.')}). Leave one of the two out."
        ) from error
