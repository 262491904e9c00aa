"""Make a task: read its arguments, run `define`, and build a few trials to find mistakes early."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from neurogym_core.ecosystem.discovery import elsewhere
from neurogym_core.errors import (
    InvalidValueError,
    NeurogymError,
    TaskDefinitionError,
    TrialLayoutError,
    unknown,
)
from neurogym_core.tasks.building import build_trials
from neurogym_core.tasks.drawing import (
    column_shapes,
    draw_independent,
    without_columns,
)
from neurogym_core.tasks.imposed import read_condition
from neurogym_core.tasks.parameters import check_condition, identity, keywords
from neurogym_core.tasks.state import (
    STATE,
    Drawn,
    OfConditions,
    TaskLike,
    TaskState,
    interface_of,
    state_of,
)
from neurogym_core.tasks.times import check_bounds, warn_of_times
from neurogym_core.trials.arrays import Array
from neurogym_core.trials.batch import TrialBatch
from neurogym_core.trials.checks import check_read, check_values
from neurogym_core.trials.distributions import Distribution, parse
from neurogym_core.trials.encoders import OneHot, Ring
from neurogym_core.trials.interface import Actions, Channels, Interface
from neurogym_core.trials.record import DURATION
from neurogym_core.trials.timing import Timing

HOOKS = ("step_action", "step_observation", "step_target")
FACTS = (
    "columns", "example", "dimensions", "period_names", "repeated", "trial_columns",
    "typical_steps",
)  # fmt: skip
"""The facts in a `TaskState` that a few trials show."""


class LastMade:
    """The facts that a class keeps of its last task; a copy of the class has none."""

    def __init__(
        self, settings: Any = None, attributes: Sequence[Any] = (), facts: Mapping[str, Any] = {}
    ) -> None:
        self.settings, self.attributes, self.facts = settings, attributes, facts

    def __reduce__(self) -> tuple[Any, ...]:
        return LastMade, ()


NOTHING = LastMade()


# ---------------------------------------------------------------------- arguments


def begin(
    task: TaskLike, parameters: Mapping[str, Any], overrides: Mapping[str, Mapping[str, Any] | None]
) -> None:
    """Set the parameters, `timing` and `rewards` of a task, before its `define` runs."""
    name = type(task).__name__
    state = TaskState(name, dict(parameters), channels=Channels({}, name))
    task.__dict__[STATE] = state
    for kind, given in overrides.items():
        if given is not None and not isinstance(given, Mapping):
            raise InvalidValueError(
                f"{name} was given {kind}={given!r}; give values by name, e.g. {kind}={{'…':"
                f" {given!r}}}."
            )
        state.overrides[kind] = dict(given or {})
    for parameter, value in parameters.items():
        setattr(task, parameter, value)
    _check_base_parameters(task, name)
    task.rewards = _merged_rewards(type(task), state)  # type: ignore[misc]
    timing = {**_merge_class_level(type(task), "timing"), **state.overrides["timing"]}
    durations = {
        period: _duration_distribution(name, period, spec) for period, spec in timing.items()
    }
    task.timing = MappingProxyType(durations)  # type: ignore[misc]


def _check_base_parameters(task: TaskLike, name: str) -> None:
    for parameter in ("dt", "max_duration"):
        value = getattr(task, parameter)
        if value is None and parameter == "max_duration":
            continue
        if not (isinstance(value, int | float) and 0 < value < math.inf):
            raise InvalidValueError(
                f"{name} was given {parameter}={value!r}; it needs a positive number of ms."
            )
    trials = task.trials_per_session
    if trials is not None and trials < 1:
        raise InvalidValueError(
            f"{name} was given trials_per_session={trials!r}; it needs at least 1, or None for no"
            " end."
        )


def _merged_rewards(cls: type, state: TaskState) -> Mapping[str, float]:
    merged = _merge_class_level(cls, "rewards")
    for name, amount in state.overrides["rewards"].items():
        if name not in merged:
            hint = elsewhere("argument", name, merged)
            raise unknown("reward", name, merged, of=state.name, hint=hint)
        merged[name] = amount
    for name, amount in merged.items():
        if (
            isinstance(amount, bool)
            or not isinstance(amount, int | float | np.number)
            or not math.isfinite(amount)
        ):
            raise InvalidValueError(
                f"{state.name} was given the reward {name}={amount!r}; it needs a finite number."
            )
        merged[name] = float(amount)
    return MappingProxyType(merged)


def _merge_class_level(cls: type, name: str) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        declared = vars(base).get(name, {})
        merged.update(declared if isinstance(declared, Mapping) else {})
    return merged


def _duration_distribution(task: str, period: str, spec: Any) -> Distribution:
    try:
        distribution = parse(spec)
    except (InvalidValueError, TypeError, ValueError) as error:
        raise InvalidValueError(
            f"{task} was given the duration {period}={spec!r}. {error}"
        ) from None
    try:
        low, high = distribution.bounds
    except (TypeError, ValueError):
        raise InvalidValueError(
            f"{task} was given the duration {period}={spec!r}; durations are numbers of ms."
        ) from None
    if not low >= 0 or high != high:
        raise InvalidValueError(
            f"{task} was given the duration {period}={spec!r}, which can be {low:g} ms; durations"
            " are 0 ms or more."
        )
    return distribution


# ---------------------------------------------------------------------- declarations


def check_open(task: TaskLike, verb: str) -> TaskState:
    """Return the state of a task that is being made; refuse one that is complete."""
    state = state_of(task)
    if state.sealed:
        raise TaskDefinitionError(
            f"{state.name}.{verb}() was called after the task was made; tasks do not change. Call"
            " it in define()."
        )
    return state


def declare_conditions(task: TaskLike, conditions: Mapping[str, Any]) -> None:
    """See `Task.vary`."""
    state = check_open(task, "vary")
    for name, spec in conditions.items():
        check_condition(state.name, name)
        if isinstance(spec, type) and spec in Drawn.KINDS:
            spec = Drawn(spec)
        elif not callable(spec) or isinstance(spec, Distribution):
            spec = parse(spec)
        state.declared[name] = spec


def declare_of_conditions(task: TaskLike, verb: str, value: OfConditions) -> None:
    """See `Task.correct_choice` and `Task.evidence`."""
    state = check_open(task, verb)
    if not isinstance(value, str) and not callable(value):
        raise TaskDefinitionError(
            f"{state.name}.{verb}() was given {value!r}. Expected the name of a condition, or a"
            " function of the conditions. Give one of them."
        )
    if isinstance(value, str) and value not in state.declared:
        raise unknown("condition", value, state.declared, of=f"{state.name}, given to {verb}()")
    setattr(state, verb, value)


# ---------------------------------------------------------------------- after define


def complete(task: Any) -> None:
    """Run `define`, check the declarations, close the task, and build a few of its trials.

    Errors of NumPy or Python become one that names the task's settings.
    """
    try:
        task.define()
        close(task)
    except NeurogymError:
        raise
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        given = ", ".join(f"{name}={value!r}" for name, value in keywords(task).items())
        if not given:  # the author needs the traceback
            raise
        raise InvalidValueError(
            f"{task.name} cannot be made with {given}: its code fails"
            f" ({type(error).__name__}: {error}). Settings for which it can build trials were"
            " expected. Give other values, nearer to its defaults."
        ) from error


def close(task: TaskLike) -> None:
    """Check the declarations, close the task, and build a few of its trials."""
    state = state_of(task)
    actions = state.actions
    if not len(state.channels):
        raise TaskDefinitionError(
            f"{state.name}.define() declares no channel; call self.observe(…)."
        )
    if actions is None or not len(actions):
        raise TaskDefinitionError(f"{state.name}.define() declares no action; call self.act(…).")
    names = _names_of_conditions(task, state, actions)
    if state.wraps is None:
        state.imposed |= _read_conditions(task, state, state.overrides["conditions"], names)
    state.limits = state.limits or (task.max_duration,)
    state.timing = Timing(task.timing, frozenset(state.overrides["timing"]))
    state.interface = Interface(
        name=task.name,
        dt=task.dt,
        channels=state.channels,
        actions=actions,
        rewards=dict(task.rewards),
        abort_ends_trial=task.abort_ends_trial,
        limits=state.limits,
        hooks=frozenset(hook for hook in HOOKS if getattr(task, hook) is not None),
        trial_state=dict(task.trial_state),
        names=names,
    )
    state.sealed = True
    # The class keeps the facts of its last task, as most tasks of a process are made repeatedly:
    # finding them takes nine tenths of the time of `make`.
    made_from, attributes = _made_from(task)
    last = vars(type(task)).get(STATE, NOTHING)
    same = len(last.attributes) == len(attributes)
    same = same and all(map(operator.is_, last.attributes, attributes))
    if same and last.settings == made_from:
        state.__dict__.update(last.facts)
        return
    _probe(task, state)
    if not state.warned:  # a warning is for every task that deserves it
        facts = {name: getattr(state, name) for name in FACTS}
        setattr(type(task), STATE, LastMade(made_from, attributes, facts))


def _made_from(task: TaskLike) -> tuple[Any, list[Any]]:
    """Return the settings of a task, and all attributes of its classes and those it wraps."""
    settings = (identity(task), dict(task.timing), dict(task.rewards))
    classes: list[type] = []
    wrapped: TaskLike | None = task
    while wrapped is not None:
        classes += type(wrapped).__mro__
        wrapped = state_of(wrapped).wraps
    return settings, [one for cls in classes for name, one in vars(cls).items() if name != STATE]


def _names_of_conditions(
    task: TaskLike, state: TaskState, actions: Actions
) -> dict[str, tuple[str, ...]]:
    """Return the names of the values of conditions that are choices, or units of their channel."""
    shown = {name: state.channels.parts.get(name) for name in state.declared}
    names = {name: one.names for name, one in shown.items() if isinstance(one, OneHot | Ring)}
    group = next((name for name in actions if name != actions.rest_name), None)
    if group is not None and (choice := state_of(task).answer_condition) is not None:
        names[choice] = getattr(actions.parts[group], "names", ())
    found = {}
    for name, one in names.items():
        declared = state.declared[name]
        values = declared.support() if isinstance(declared, Distribution) else np.zeros(1, int)
        # Values that can be indices of the names, or -1; not other numbers.
        if not one or values is None or values.dtype.kind not in "iu":
            continue
        if values.min() >= -1 and values.max() < len(one):
            found[name] = one
    return found


def _read_conditions(
    task: TaskLike,
    state: TaskState,
    given: Mapping[str, Any],
    names: Mapping[str, tuple[str, ...]],
) -> dict[str, Distribution]:
    for name in given:
        if name not in state.declared and not str(name).startswith(DURATION):
            raise unknown("condition", name, state.declared, of=state.name)
    drawn: Mapping[str, Array] = {}
    if any(callable(state.declared.get(name)) for name in given):
        # Only a draw shows whether a computed condition has several values in a trial.
        drawn = draw_independent(task, np.random.default_rng(0), 1, {})
    return {
        name: (
            _duration_distribution(state.name, name, spec)
            if name.startswith(DURATION)
            else read_condition(
                state.name,
                name,
                spec,
                state.declared[name],
                np.asarray(drawn[name])[0] if name in drawn else None,
                names.get(name, ()),
            )
        )
        for name, spec in given.items()
    }


def _probe(task: TaskLike, state: TaskState) -> None:
    """Build a few trials, so that a mistake raises when the task is made; keep facts about them."""
    rng = np.random.default_rng(0)
    batch = _few_trials(task, state, rng)
    state.period_names = batch.period_names
    for name in state.overrides["timing"]:
        if name not in state.period_names:
            raise unknown("period", name, state.period_names, of=state.name)
    _check_windows(state.name, task.dt, batch)
    layout = batch.tables.layout
    assert layout is not None
    # Conditions that `draw` sets may be there for the record only.
    layout.read |= {name for name, one in state.declared.items() if isinstance(one, Drawn)}
    if not interface_of(task).hooks:  # hooks may read any condition
        check_read(layout)
    check_values(layout)
    state.repeated = frozenset(layout.timeline.repeat)
    state.trial_columns = tuple(name for name in task.trial_state if name in layout.states)
    warn_of_times(task, layout)
    state.typical_steps = max(int(np.median(batch.duration.sum(axis=1))), 1)


def _few_trials(task: TaskLike, state: TaskState, rng: np.random.Generator) -> TrialBatch:
    sizes = {part.size for named in (task.channels, task.actions) for part in named.parts.values()}
    # The number of trials differs from every number of units, so that an array of the wrong shape
    # cannot pass for the right one.
    n = next(n for n in (7, 11, 13, 17, 19) if n not in sizes)
    drawn = draw_independent(task, rng, n, {})
    conditions, columns = without_columns(drawn)
    state.columns = column_shapes(columns)
    for name in columns:
        if name in state.declared:
            raise TaskDefinitionError(
                f"{state.name}.draw() calls session.record({name}=…), which has the name of a"
                " condition. Conditions are recorded anyway. Leave the call out, or rename the"
                " column."
            )
    for name in state.declared:
        if name not in conditions:
            raise TaskDefinitionError(
                f"{state.name}.draw() returned no {name!r}; return every condition that vary()"
                " declares."
            )
        kind = np.asarray(conditions[name]).dtype
        if kind.kind not in "biufU":
            raise TaskDefinitionError(
                f"{state.name} draws {name!r} as an array of dtype {kind}; draw bools, numbers or"
                " texts (astype(str), say)."
            )
        declared = state.declared[name]
        if isinstance(declared, Drawn) and not declared.fits(np.asarray(conditions[name])):
            raise TaskDefinitionError(
                f"{state.name} draws {name!r} as {kind} of shape {np.shape(conditions[name])}."
                f" Expected one {declared.kind.__name__} per trial, as vary() declares. Convert it"
                " with astype, or declare another type."
            )
    state.example = {name: np.asarray(values)[0] for name, values in conditions.items()}
    state.dimensions = {name: np.ndim(values) - 1 for name, values in conditions.items()}
    batch = build_trials(task, drawn, rng, n)
    if state.wraps is None:  # a wrapped task was checked itself; of a mixture, each task was
        check_bounds(task, conditions, n)
    return batch


def _check_windows(name: str, dt: float, batch: TrialBatch) -> None:
    played: Array = batch.duration > 0
    steps: Array = np.asarray((batch.table("window") & played[:, :, None]).any(axis=1))
    for k, slot in enumerate(batch.tables.slots.names):
        if (batch.table("asked")[:, k] & ~steps[:, k]).any():
            raise TrialLayoutError(
                f"The response window of {slot!r} in {name} has no step; let it lie within a period"
                f" that lasts at least dt={dt:g} ms (start= and stop= are ms from the onset of the"
                " period)."
            )
