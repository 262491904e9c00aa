"""Draw the conditions of a task's trials, and compute the right answers from them.

Wrappers that decide about the next trials (schedules, trial history) can be nested. Each passes its
decisions on to the task that it wraps, down to the innermost task, which draws the rest."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any, NamedTuple, cast

import numpy as np

from neurogym_core.errors import InvalidValueError, NotSupportedError, TaskDefinitionError
from neurogym_core.tasks.session import RECORDED, Session
from neurogym_core.tasks.state import Conditions, Drawn, TaskLike, TaskState, state_of
from neurogym_core.trials.arrays import Array, as_texts
from neurogym_core.trials.distributions import Distribution
from neurogym_core.trials.record import DURATION

TRIES = 1000
"""Maximum number of redraws of conditions for a given right answer that the task computes."""


# ---------------------------------------------------------------------- conditions and answers


def answer_of(task: TaskLike, conditions: Mapping[str, Array]) -> Array:
    """Return the right answer of each trial, (n,); see `TaskView.answer`."""
    answer = state_of(task).correct_choice
    if answer is None:
        raise NotSupportedError(
            f"{task.name} declares no correct choice; call self.correct_choice(…) in its define()."
        )
    return conditions[answer] if isinstance(answer, str) else answer(conditions)


def evidence_of(task: TaskLike, conditions: Mapping[str, Array]) -> Array | None:
    """Return the signed evidence of each trial, (n,), or None; see `TaskView.evidence`."""
    evidence = state_of(task).evidence
    if evidence is None:
        wrapped = state_of(task).wraps
        return None if wrapped is None else evidence_of(wrapped, conditions)
    values = conditions[evidence] if isinstance(evidence, str) else evidence(conditions)
    return np.asarray(values, float)


def answers_of(task: TaskLike) -> Array:
    """Return the possible right answers, (m,); cached."""
    state, rng = state_of(task), np.random.default_rng(0)
    name = state.answer_condition
    if "answers" not in state.known:
        declared = None if name is None else state.declared[name]
        answers = declared.support() if isinstance(declared, Distribution) else None
        if answers is None:
            only_drawn = any(isinstance(one, Drawn) for one in state.declared.values())
            answers = answer_of(
                task,
                draw_independent(task, rng, TRIES, {})
                if only_drawn
                else task.draw_conditions(rng, TRIES),
            )
        state.known["answers"] = np.unique(answers)
    known: Array = state.known["answers"]
    return known


def dimensions_of(task: TaskLike, condition: str) -> int:
    """Return 0 for a condition of one value per trial, 1 for one of several values."""
    state = state_of(task)
    declared = state.declared[condition]
    support = declared.support() if isinstance(declared, Distribution) else None
    return state.dimensions.get(condition, 0) if support is None else support.ndim - 1


# ---------------------------------------------------------------------- independent draws


class Prior(dict[str, Array]):
    """The conditions drawn so far; `n` is the number of trials."""

    def __init__(self, drawn: Mapping[str, Array], n: int) -> None:
        super().__init__(drawn)
        self.n = n


def draw_conditions(
    task: TaskLike,
    rng: np.random.Generator,
    n: int,
    imposed: Mapping[str, Any] | None = None,
    answer: Array | None = None,
) -> Conditions:
    """Draw the conditions of `n` independent trials; see `Task.draw_conditions`."""
    imposed, name = dict(imposed or {}), state_of(task).answer_condition
    if answer is None:
        return draw_once(task, rng, n, imposed)
    if name is not None:
        return draw_once(task, rng, n, {**imposed, name: answer})
    return _draw_until(task, rng, n, imposed, answer)


class _Given(NamedTuple):
    """Values that a wrapper has decided for the trial that these tasks draw."""

    tasks: tuple[TaskLike, ...]
    conditions: Mapping[str, Array]
    answer: Array | None


# The `draw` of an author calls `self.draw_conditions` without its session: the values that a
# wrapper gives come in beside the call, in each thread apart.
_GIVEN: ContextVar[_Given | None] = ContextVar("given", default=None)


def draw_as_imposed(
    task: TaskLike,
    rng: np.random.Generator,
    n: int,
    imposed: Mapping[str, Any],
    answer: Array | None,
) -> Conditions:
    """Draw `n` trials as a `draw` asks: `make` overrides it, and a wrapper adds to it."""
    fixed, name, given = state_of(task).imposed, state_of(task).answer_condition, _GIVEN.get()
    kept = {one: value for one, value in imposed.items() if one not in fixed}
    wanted = None if name in fixed else answer
    if given is not None and any(task is one for one in given.tasks):
        if answer is not None and given.answer is not None:
            raise InvalidValueError(f"the draw() of {task.name} imposes the right answer.")
        decided = {*imposed, *([name] if answer is not None else [])}
        taken = {*given.conditions, *([name] if given.answer is not None else [])}
        if both := sorted(str(one) for one in decided & taken if one is not None):
            raise InvalidValueError(f"the draw() of {task.name} imposes {', '.join(both)}.")
        kept |= given.conditions
        wanted = given.answer if wanted is None else wanted
    before = _GIVEN.set(None)  # nothing is given to the draws that show the possible answers
    try:
        return draw_conditions(task, rng, n, kept, wanted)
    finally:
        _GIVEN.reset(before)


def draw_overriding(
    task: TaskLike,
    rng: np.random.Generator,
    n: int,
    imposed: Mapping[str, Any] | None = None,
    answer: Array | None = None,
) -> Conditions:
    """Draw the conditions of `n` independent trials; `imposed` overrides the user's values."""
    if state_of(task).wraps is not None:  # a task wrapper may override the method
        return task.draw_conditions(rng, n, imposed, answer)
    return draw_conditions(task, rng, n, imposed, answer)


def draw_once(
    task: TaskLike, rng: np.random.Generator, n: int, imposed: Mapping[str, Any]
) -> Conditions:
    """Draw the conditions that are not imposed, in the order of their declaration."""
    state, drawn = state_of(task), Conditions()
    for name, declared in state.declared.items():
        if name in imposed:
            values = np.asarray(imposed[name])
        elif name in state.imposed:
            values = state.imposed[name].sample(rng, n)
        elif isinstance(declared, Distribution):
            values = declared.sample(rng, n)
        elif isinstance(declared, Drawn):
            raise TaskDefinitionError(
                f"{task.name} declares {name}={declared.kind.__name__}, a condition that only"
                " draw() sets, and it was not given. Expected a value in every trial. Return it"
                " there, or declare a distribution."
            )
        else:
            values = np.asarray(declared(rng, Prior(drawn, n)))
        drawn[name] = for_each_trial(task, name, values, n)
    return drawn


def for_each_trial(task: TaskLike, name: str, values: Any, n: int) -> Array:
    """Return values of a condition, one or one per trial, as (n, …)."""
    values = as_texts(np.asarray(values))
    if not values.size:
        raise InvalidValueError(
            f"The condition {name!r} of {task.name} was given no values; give at least one."
        )
    if values.ndim <= dimensions_of(task, name):
        return np.broadcast_to(values, (n, *values.shape))
    if len(values) != n:
        raise InvalidValueError(
            f"The condition {name!r} of {task.name} was given {len(values)} values for {n} trials;"
            " give one, or one per trial."
        )
    return np.asarray(values)


def _draw_until(
    task: TaskLike, rng: np.random.Generator, n: int, imposed: Mapping[str, Any], wanted: Array
) -> Conditions:
    # Rejection sampling: redraw the trials with another answer, so that the accepted ones have the
    # distribution of the conditions given the answer.
    wanted = np.broadcast_to(wanted, (n,))
    drawn = {name: values.copy() for name, values in draw_once(task, rng, n, imposed).items()}
    for _ in range(TRIES):
        wrong = np.flatnonzero(answer_of(task, drawn) != wanted)
        if not len(wrong):
            return drawn
        left = {name: v if np.ndim(v) == 0 else np.asarray(v)[wrong] for name, v in imposed.items()}
        for name, values in draw_once(task, rng, len(wrong), left).items():
            drawn[name][wrong] = values
    raise InvalidValueError(
        f"{task.name} was given the right answer {np.unique(wanted)!r}, which 1,000 draws of its"
        f" conditions did not yield. Give one of its answers: {answers_of(task)!r}."
    )


# ---------------------------------------------------------------------- imposing


def impose_on(
    task: TaskLike,
    drawn: Mapping[str, Array],
    rng: np.random.Generator,
    n: int,
    imposed: Mapping[str, Any],
) -> Conditions:
    """Return drawn conditions with those of `make`, and then of `imposed`; see `TaskView`."""
    state = state_of(task)
    given = {
        name: for_each_trial(task, name, value, n)
        for name, value in imposed.items()
        if name in state.declared
    }
    if state.wraps is not None:
        decided: Conditions = cast(Any, task).impose_on(drawn, rng, n, given)
        return decided
    fixed = {
        name: for_each_trial(task, name, dist.sample(rng, n), n)
        for name, dist in state.imposed.items()
        if name in state.declared
    }
    return {**drawn, **fixed, **given}


# ---------------------------------------------------------------------- sessions


def fresh_session(
    task: TaskLike, rng: np.random.Generator, n: int, subject: Session | None = None
) -> Session:
    """Return the state of `n` new sessions; see `TaskView.fresh_session`."""
    session = Session(n, subject if subject is not None else Session(n))
    if task.reads_outcomes:
        session.previous = {
            **_blank_conditions(task, n),
            "choice": np.full(n, -1),
            "outcome": np.zeros(n, np.int8),
            "reward": np.zeros(n),
            "performance": np.zeros(n),
        }
    task.new_session(session, rng)
    return session


def _blank_conditions(task: TaskLike, n: int) -> Conditions:
    """Zeros, False or "" for every condition, (n, …), in the shape and type of its values."""
    state = state_of(task)
    if not state.declared.keys() <= state.example.keys():  # no trial was drawn yet
        blank = {name: one.kind() for name, one in state.declared.items() if isinstance(one, Drawn)}
        drawn = draw_once(task, np.random.default_rng(0), 1, {**blank, **state.example})
        state.example = {name: values[0] for name, values in drawn.items()}
    return {
        name: np.zeros((n, *np.shape(value)), value.dtype) for name, value in state.example.items()
    }


def draw_next(task: TaskLike, session: Session, rng: np.random.Generator) -> Conditions:
    """Draw the next trial of all sessions, with the columns of `session.record`.

    The names of these columns have the prefix `RECORDED`; `without_columns` takes them out."""
    drawn = task.draw(session, rng)
    return {**drawn, **session.take_columns()}


def stacked(task: TaskLike, rows: list[Conditions]) -> Conditions:
    """Join trials of `draw_next`, one after the other: name -> (trials, sessions, …)."""
    first = column_shapes(without_columns(rows[0])[1])
    for row in rows:
        _check_shapes(task, first, column_shapes(without_columns(row)[1]))
    return {name: np.stack([row[name] for row in rows]) for name in rows[0]}


def without_columns(drawn: Mapping[str, Array]) -> tuple[Conditions, Conditions]:
    """Return the conditions of drawn trials, and the columns of `session.record`, by name."""
    columns = {
        name.removeprefix(RECORDED): values
        for name, values in drawn.items()
        if name.startswith(RECORDED)
    }
    if not columns:
        return dict(drawn), columns
    return {name: one for name, one in drawn.items() if not name.startswith(RECORDED)}, columns


def check_columns(task: TaskLike, columns: Conditions, session: Session) -> None:
    """Check that trials have the columns of the first trials, and the session none left."""
    if session.take_columns():
        raise TaskDefinitionError(
            f"{task.name}.draw_ahead() calls session.record(…), which records one trial. Expected a"
            " call in draw(). Remove draw_ahead(), or declare the column as a condition:"
            " vary(name=int)."
        )
    _check_shapes(task, state_of(task).columns, column_shapes(columns))


def column_shapes(columns: Mapping[str, Array]) -> dict[str, tuple[int, ...]]:
    """Return the shape of one trial's values of each column: () or (k,)."""
    return {name: values.shape[1:] for name, values in columns.items()}


def _check_shapes(
    task: TaskLike, first: Mapping[str, tuple[int, ...]], other: Mapping[str, tuple[int, ...]]
) -> None:
    if sometimes := first.keys() ^ other.keys():
        raise TaskDefinitionError(
            f"The draw of {task.name} recorded {', '.join(sorted(sometimes))} in some trials, and"
            " not in others. Expected the same columns in all. Call session.record(…) with the"
            " same names in every draw."
        )
    for name, shape in first.items():
        if other[name] != shape:
            raise TaskDefinitionError(
                f"The draw of {task.name} recorded {name} with the shape {shape} in one trial, and"
                f" {other[name]} in another. Expected one shape in all. Record a fixed number of"
                " values, such as the length of a list."
            )


def draw_independent(
    task: TaskLike, rng: np.random.Generator, n: int, imposed: Mapping[str, Any]
) -> Conditions:
    """Draw `n` trials, each the first of a separate session; `imposed`: value, or (n, …)."""
    if not state_of(task).stateful:
        return draw_overriding(task, rng, n, imposed)
    session = fresh_session(task, rng, n)
    return impose_on(task, draw_next(task, session, rng), rng, n, imposed)


def imposed_durations(state: TaskState, rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Draw the durations that `make` imposes, period -> (n,) ms."""
    imposed = {name: dist for name, dist in state.imposed.items() if name.startswith(DURATION)}
    return {name.removeprefix(DURATION): dist.sample(rng, n) for name, dist in imposed.items()}


# ---------------------------------------------------------------------- constrained draws


def draw_constrained(
    task: TaskLike,
    session: Session,
    rng: np.random.Generator,
    trials: int,
    imposed: Mapping[str, Array] | None = None,
    answer: Array | None = None,
) -> Conditions:
    """Draw the next trials with some conditions given; see `TaskView`."""
    given = dict(imposed or {})
    if state_of(task).wraps is not None:
        drawn: Conditions = cast(Any, task).draw_constrained(session, rng, trials, given, answer)
        return drawn
    if state_of(task).stateful:
        return draw_one_by_one(task, session, rng, trials, given, answer)
    shape = (trials, len(session))
    n = trials * len(session)
    flat = {name: np.reshape(values, (n, *values.shape[2:])) for name, values in given.items()}
    wanted = None if answer is None else np.reshape(answer, n)
    independent = draw_overriding(task, rng, n, flat, wanted)
    return {name: values.reshape(*shape, *values.shape[1:]) for name, values in independent.items()}


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
        rows.append(_draw_given(task, session, rng, now, None if answer is None else answer[k]))
        session.trial += 1
    session.trial[:] = before
    return stacked(task, rows)


def _draw_given(
    task: TaskLike,
    session: Session,
    rng: np.random.Generator,
    imposed: dict[str, Array],
    answer: Array | None,
) -> Conditions:
    if not imposed and answer is None:
        return draw_next(task, session, rng)
    tasks = [task]
    while (inner := state_of(tasks[-1]).wraps) is not None:
        tasks.append(inner)
    before = _GIVEN.set(_Given(tuple(tasks), imposed, answer))
    try:
        drawn = draw_next(task, session, rng)
    finally:
        _GIVEN.reset(before)
    # A `draw` need not call `draw_conditions`, and may change its result.
    for name, values in imposed.items():
        if not np.array_equal(drawn[name], values):
            raise InvalidValueError(f"the draw() of {task.name} decides {name!r} itself.")
    if answer is not None and not np.array_equal(answer_of(task, drawn), answer):
        raise InvalidValueError(f"the draw() of {task.name} decides the right answer itself.")
    return drawn
