"""Build trials from conditions: run `new_trial`, sample, make designs, find the longest trial."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from neurogym_core.errors import (
    InvalidValueError,
    NotSupportedError,
    TaskDefinitionError,
    listed,
    unknown,
)
from neurogym_core.tasks.drawing import (
    answer_of,
    draw_constrained,
    draw_independent,
    fresh_session,
    impose_on,
    imposed_durations,
    without_columns,
)
from neurogym_core.tasks.imposed import read_values
from neurogym_core.tasks.state import Conditions, TaskLike, interface_of, state_of
from neurogym_core.trials.arrays import Array
from neurogym_core.trials.batch import TrialBatch
from neurogym_core.trials.builder import TrialBuilder
from neurogym_core.trials.checks import check_periods
from neurogym_core.trials.distributions import Constant, Distribution
from neurogym_core.trials.lay_out import lay_out
from neurogym_core.trials.layout import Layout
from neurogym_core.trials.record import DURATION
from neurogym_core.trials.timing import Timing


def build_trials(
    task: TaskLike,
    conditions: Mapping[str, Array],
    rng: np.random.Generator,
    n: int,
    imposed: Mapping[str, Any] | None = None,
) -> TrialBatch:
    """Build a table of `n` trials with these conditions.

    Args:
        imposed: durations, period -> ms, number or (n,).
        task: a complete task.
        conditions: name -> (n, …).
        rng: generator of the draws in `new_trial`.
        n: number of trials.
    """
    conditions, columns = without_columns(conditions)
    # Of durations, the caller's override the user's.
    durations = {**imposed_durations(state_of(task), rng, n), **(imposed or {})}
    layout = layout_of(task, conditions, rng, n, durations)
    return TrialBatch(lay_out(layout), None, layout.conditions, columns)


def layout_of(
    task: TaskLike,
    conditions: Mapping[str, Array],
    rng: np.random.Generator,
    n: int,
    durations: Mapping[str, Any],
    timing: Timing | None = None,
) -> Layout:
    """Run `new_trial` for `n` trials and return their layout.

    Args:
        durations: imposed durations, period -> ms, number or (n,).
        timing: durations that are not imposed; None: those of the task.
        task: a complete task.
        conditions: name -> (n, …).
        rng: generator of the draws in `new_trial`.
        n: number of trials.

    Raises:
        TaskDefinitionError: `new_trial` uses an array as a truth value, or writes into conditions.
        TrialLayoutError: `new_trial` names no periods.
        UnknownNameError: there is no such period.
    """
    trial = TrialBuilder(
        interface_of(task),
        conditions,
        rng,
        n,
        timing=timing or state_of(task).timing,
        durations=durations,
        answer=lambda known: answer_of(task, known),
    )
    try:
        task.new_trial(trial)
    except ValueError as error:
        if why := _explained(conditions, n, str(error)):
            raise TaskDefinitionError(f"{task.name}.new_trial {why}") from error
        raise
    check_periods(trial.layout)
    for name in durations:
        if name not in trial.layout.timeline.names:
            raise unknown("period", name, trial.layout.timeline.names, of=task.name)
    return trial.layout


def _explained(conditions: Mapping[str, Array], n: int, error: str) -> str:
    """Return the mistake of `new_trial` that NumPy refuses; "" for other errors."""
    if "truth value of an array" in error:
        return (
            "uses an array as a truth value (if, and, or, not), but conditions have a value for"
            f" each of the {n} trials. Use np.where(condition, a, b) and where=."
        )
    if "read-only" in error:
        return (
            f"writes into a read-only array: {error}. Conditions keep the values that were drawn,"
            " since the record has them; write"
            f" x = trial[{next(iter(conditions), 'side')!r}].copy() and change x."
        )
    return ""


def example_layout(task: TaskLike) -> Layout:
    """Return the layout of 20 independent trials; see `TaskView.example_layout`."""
    rng = np.random.default_rng(0)
    batch = build_trials(task, draw_independent(task, rng, 20, {}), rng, 20)
    return batch.tables.layout  # type: ignore[return-value]


def build_imposed(
    task: TaskLike, rng: np.random.Generator, n: int, imposed: Mapping[str, Any]
) -> TrialBatch:
    """Build `n` independent trials with imposed conditions and durations, number or (n, …).

    Args:
        task: a complete task.
        rng: generator of the conditions.
        n: number of trials.
        imposed: condition, or ``duration_PERIOD`` in ms -> value, or (n, …).
    """
    imposed = read_values(task, imposed)
    durations = {
        name.removeprefix(DURATION): ms for name, ms in imposed.items() if name.startswith(DURATION)
    }
    wanted = {name: value for name, value in imposed.items() if not name.startswith(DURATION)}
    return build_trials(task, draw_independent(task, rng, n, wanted), rng, n, durations)


def sample(task: TaskLike, n: Any, seed: Any, conditions: Mapping[str, Any]) -> TrialBatch:
    """See `Task.sample`."""
    rng = np.random.default_rng(seed)
    if isinstance(n, Mapping):
        # A design sets the number of trials, through its conditions that have a row per trial.
        design, example = read_values(task, n), state_of(task).example
        conditions = {**design, **conditions}
        n = max(
            (len(one) for name, one in design.items() if one.ndim > np.ndim(example.get(name, 0))),
            default=1,
        )
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise InvalidValueError(
            f"{task.name}.sample() was given n={n!r}; it needs a whole number of trials, at"
            " least 1."
        )
    return build_imposed(task, rng, int(n), conditions)


def factorial(task: TaskLike, repeats: int, levels: Mapping[str, Any]) -> Conditions:
    """See `Task.factorial`."""
    state = state_of(task)
    if repeats < 1:
        raise InvalidValueError(
            f"{task.name}.factorial() was given repeats={repeats!r}; it needs at least 1."
        )
    for name in levels:
        if name not in state.declared:
            raise unknown("condition", name, state.declared, of=task.name)
    found = {name: _values_of(task, name, levels) for name in state.declared}
    supports = {name: values for name, values in found.items() if values is not None}
    if not supports:
        raise NotSupportedError(
            f"{listed(state.declared)} of {task.name} cannot be enumerated; give levels, e.g. "
            f"factorial({next(iter(state.declared), 'name')}=[…])."
        )
    sizes = [len(values) for values in supports.values()]
    indices = np.indices(sizes).reshape(len(sizes), -1).repeat(repeats, axis=1)
    return {name: supports[name][rows] for name, rows in zip(supports, indices, strict=True)}


def _values_of(task: TaskLike, name: str, levels: Mapping[str, Any]) -> Array | None:
    """The values of a condition, or None if it cannot be enumerated."""
    state = state_of(task)
    if name in levels:
        values = read_values(task, {name: levels[name]})[name]
        return values if values.ndim > state.example[name].ndim else values[None]
    distribution = state.imposed.get(name, state.declared[name])
    return distribution.support() if isinstance(distribution, Distribution) else None


# ---------------------------------------------------------------------- lengths of trials


def max_steps(task: TaskLike) -> int:
    """Return the steps of the longest of 1,000 trials; see `TaskView.max_steps`."""
    known = state_of(task).known
    if "max_steps" not in known:
        known["max_steps"] = max(_longest(task, stage) for stage in state_of(task).stages or ({},))
    steps: int = known["max_steps"]
    return steps


def _longest(task: TaskLike, stage: Mapping[str, Any]) -> int:
    rng, state = np.random.default_rng(0), state_of(task)
    longest = {
        name: dist.bounds[1]
        for name, dist in task.timing.items()
        if not isinstance(dist, Constant) and name in state.period_names
    }
    n = 1000
    draws = [(n, _draw_stage(task, rng, n, stage) if stage else draw_independent(task, rng, n, {}))]
    if state_of(task).stateful and not task.reads_outcomes:
        draws.append(_draw_sessions(task, rng, n))
    # The path of the oracle ends where a hook sends the trial back to an earlier period.
    returns = state.repeated and "step_action" in interface_of(task).hooks
    batches = (
        build_trials(task, drawn, rng, m, imposed)
        for m, drawn in draws
        for imposed in ({}, longest)
    )
    return int(max((one.limit if returns else one.steps).max() for one in batches))


def _draw_stage(
    task: TaskLike, rng: np.random.Generator, n: int, stage: Mapping[str, Any]
) -> Conditions:
    """Draw conditions of `n` trials of one part of a sequence of tasks."""
    given = {name: np.full((1, n), value) for name, value in stage.items()}
    try:
        drawn = draw_constrained(task, fresh_session(task, rng, n), rng, 1, given)
    except InvalidValueError:  # a wrapper around the sequence decides about its parts
        return draw_independent(task, rng, n, {})
    return {name: values[0] for name, values in drawn.items()}


def _draw_sessions(task: TaskLike, rng: np.random.Generator, n: int) -> tuple[int, Conditions]:
    """Draw conditions of about `n` trials, in sessions of up to 50; return their number, too."""
    trials = min(50, task.trials_per_session or 50)
    session = fresh_session(task, rng, max(n // trials, 1))
    drawn = task.draw_ahead(session, rng, trials)
    flat = {name: values.reshape(-1, *values.shape[2:]) for name, values in drawn.items()}
    m = trials * len(session)
    return m, impose_on(task, flat, rng, m, {})
