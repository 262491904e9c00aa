"""Draw a task's coming trials with some of their conditions, or what is right in them, decided by somebody else.

Wrappers that decide which trials come (schedules, trial history) stand on each other: each hands what it decides to the
task that it wraps, down to the task that draws the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from neurogym_core.errors import InvalidValueError, NotSupportedError
from neurogym_core.tasks.session import Session
from neurogym_core.tasks.task import Task

Drawn = dict[str, np.ndarray]
"""Conditions by name, (trials, sessions, …) each."""


def draw_given(
    task: Task,
    session: Session,
    rng: np.random.Generator,
    trials: int,
    imposed: Mapping[str, np.ndarray] | None = None,
    answer: np.ndarray | None = None,
) -> Drawn:
    """The coming trials of all sessions, with conditions that are given.

    Args:
        task: the task that draws the others.
        trials: how many trials of each session. `session.trial` is left as it was.
        imposed: values, (trials, sessions, …) each.
        answer: which answer is right, (trials, sessions).

    Raises:
        InvalidValueError: the task decides itself what is given here.
    """
    own = getattr(task, "draw_given", None)
    if own is not None:
        return own(session, rng, trials, dict(imposed or {}), answer)
    if not task.stateful:
        return _draw_independent(task, rng, (trials, len(session)), imposed or {}, answer)
    return draw_in_turn(task, session, rng, trials, imposed or {}, answer)


def _draw_independent(
    task: Task, rng: np.random.Generator, shape: tuple[int, int], imposed: Mapping[str, np.ndarray], answer: Any
) -> Drawn:
    n = shape[0] * shape[1]
    flat = {name: np.asarray(values).reshape(n, *values.shape[2:]) for name, values in imposed.items()}
    drawn = task.draw_conditions(rng, n, flat, None if answer is None else np.asarray(answer).reshape(n))
    return {name: values.reshape(*shape, *values.shape[1:]) for name, values in drawn.items()}


def draw_in_turn(
    task: Task, session: Session, rng: np.random.Generator, trials: int, imposed: Mapping[str, np.ndarray], answer: Any
) -> Drawn:
    """As `draw_given`, for tasks that draw one trial after another."""
    before, rows = session.trial.copy(), []
    for k in range(trials):
        now = {name: values[k] for name, values in imposed.items()}
        rows.append(_draw_one(task, session, rng, now, None if answer is None else answer[k]))
        session.trial += 1
    session.trial[:] = before
    return {name: np.stack([row[name] for row in rows]) for name in rows[0]}


def _draw_one(
    task: Task, session: Session, rng: np.random.Generator, imposed: dict[str, np.ndarray], answer: np.ndarray | None
) -> dict[str, np.ndarray]:
    if not imposed and answer is None:
        return task.draw(session, rng)
    drawn = _asking(task, imposed, answer).draw(session, rng)
    for name, values in imposed.items():
        if not np.array_equal(drawn[name], values):
            raise InvalidValueError(f"the draw() of {task.name} decides {name!r} itself.")
    if answer is not None and not np.array_equal(task.answer_of(drawn), answer):
        raise InvalidValueError(f"the draw() of {task.name} decides the right answer itself.")
    return drawn


def _asking(task: Task, imposed: dict[str, np.ndarray], answer: np.ndarray | None) -> Any:
    """A view of a task whose `draw_conditions` draws what is given beside what the task's `draw` imposes."""
    view = object.__new__(type(task))
    view.__dict__.update(task.__dict__)
    if "task" in task.__dict__:
        view.__dict__["task"] = _asking(task.__dict__["task"], imposed, answer)
    view.__dict__["draw_conditions"] = partial(_draw_asked, task, imposed, answer)
    return view


def _draw_asked(
    task: Task,
    given: dict[str, np.ndarray],
    wanted: np.ndarray | None,
    rng: np.random.Generator,
    n: int,
    imposed: Mapping[str, Any] | None = None,
    answer: Any = None,
) -> dict[str, np.ndarray]:
    decided = {*(imposed or {}), *([task.answer_condition] if answer is not None else [])}
    taken = {*given, *([task.answer_condition] if wanted is not None else [])}
    if answer is not None and wanted is not None:
        raise InvalidValueError(f"the draw() of {task.name} imposes the right answer.")
    if both := sorted(str(name) for name in decided & taken if name is not None):
        raise InvalidValueError(f"the draw() of {task.name} imposes {', '.join(both)}.")
    return task.draw_conditions(rng, n, {**(imposed or {}), **given}, wanted if answer is None else answer)


def check_free(
    task: Task, owner: str, imposed: Mapping[str, np.ndarray] | None = None, answer: np.ndarray | None = None
) -> None:
    """Refuse a task that decides itself what `owner` wants to decide: draw values, (n,) each, in sessions of their own.

    Raises:
        NotSupportedError: it does, and says why.
    """
    if not task.stateful or (not imposed and answer is None):
        return
    rng = np.random.default_rng(0)
    values = {name: np.asarray(given) for name, given in (imposed or {}).items()}
    n = len(answer) if answer is not None else len(next(iter(values.values())))
    session = task.fresh_session(rng, n)
    given = {name: one[None] for name, one in values.items()}
    try:
        draw_given(task, session, rng, 1, given, None if answer is None else np.asarray(answer)[None])
    except InvalidValueError as error:
        raise NotSupportedError(
            f"{owner} cannot be applied to {task.name}: what that draws leaves no choice ({str(error).rstrip('.')}). Leave "
            "one of the two out."
        ) from error
