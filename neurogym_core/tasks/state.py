"""`TaskState`: all that the core keeps of a task, in one attribute, so that every other name is
free for the author.

`state_of(task)` gives it. The functions of this folder that work on tasks are typed for `TaskLike`:
what they ask of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, Protocol

import numpy as np

from neurogym_core.tasks.session import Session
from neurogym_core.trials.arrays import Array
from neurogym_core.trials.builder import TrialBuilder
from neurogym_core.trials.distributions import Distribution
from neurogym_core.trials.interface import Actions, Channels, Interface
from neurogym_core.trials.timing import Timing

STATE = "__ngym__"
"""The attribute of a task that holds its `TaskState`; the only name besides the public ones that
the core uses.
"""

Conditions = dict[str, Array]
"""Conditions by name, (n, …) each."""
Computed = Callable[[np.random.Generator, "Mapping[str, Array]"], Any]
"""A condition that is computed from those before it."""
Answer = str | Callable[[Mapping[str, Array]], Array] | None
"""What decides the right answer: a condition, a function of the conditions, or nothing."""


@dataclass(eq=False)
class TaskState:
    """What the core keeps of one task.

    Attributes:
        name: name of the task in messages.
        parameters: name -> value, all of them.
        overrides: "timing", "rewards" and "conditions" as they were given.
        channels, actions: what `define` declared.
        declared: condition -> distribution, or a function of those before.
        answer: what decides the right answer.
        imposed: conditions and durations that `make` imposed.
        example: condition -> its value in one trial, as it was drawn.
        dimensions: condition -> 0 where it is one value per trial, 1 where it is several.
        limits: ms after which a trial is over; see `Interface`.
        stages: conditions that are imposed to get the trials of each part of a sequence of tasks;
            () for other tasks.
        warned: periods that a warning has named.
        period_names, typical_steps: of a few trials that were laid out when the task was made.
        interface, timing: what its trials need to know; set when the task is complete.
        recorded: conditions that record what a wrapper drew; they are not enumerated.
        stateful: whether trials depend on the session they are in.
        joint: whether the task is several tasks in one.
        wraps: the task that a task wrapper wraps.
        settings: a task wrapper's own parameters.
        sealed: whether the task is complete; then nothing of it can be set.
        known: results that are computed once: "answers", "max_steps".
    """

    name: str
    parameters: dict[str, Any] = field(default_factory=dict)
    overrides: dict[str, dict[str, Any]] = field(default_factory=dict)
    channels: Channels = field(default_factory=lambda: Channels({}, ""))
    actions: Actions | None = None
    declared: dict[str, Distribution | Computed] = field(default_factory=dict)
    answer: Answer = None
    imposed: dict[str, Distribution] = field(default_factory=dict)
    example: dict[str, Array] = field(default_factory=dict)
    dimensions: dict[str, int] = field(default_factory=dict)
    limits: tuple[float | None, ...] = ()
    stages: tuple[Mapping[str, Any], ...] = ()
    warned: set[str] = field(default_factory=set)
    period_names: tuple[str, ...] = ()
    typical_steps: int = 1
    interface: Interface | None = None
    timing: Timing = field(default_factory=lambda: Timing(MappingProxyType({})))
    recorded: set[str] = field(default_factory=set)
    stateful: bool = False
    joint: bool = False
    wraps: TaskLike | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    sealed: bool = False
    known: dict[str, Any] = field(default_factory=dict)


class TaskLike(Protocol):
    """What the core asks of a task: what its author wrote."""

    dt: float
    trials_per_session: int | None
    abort_ends_trial: bool
    max_duration: float | None
    timing: ClassVar[Mapping[str, Any]]
    rewards: ClassVar[Mapping[str, float]]

    @property
    def batched(self) -> bool: ...

    @property
    def reads_outcomes(self) -> bool: ...

    @property
    def name(self) -> str: ...

    @property
    def channels(self) -> Channels: ...

    @property
    def actions(self) -> Actions: ...

    def new_trial(self, trial: TrialBuilder) -> None: ...

    def new_session(self, session: Session, rng: np.random.Generator) -> None: ...

    def draw(self, session: Session, rng: np.random.Generator) -> Conditions: ...

    def draw_ahead(self, session: Session, rng: np.random.Generator, trials: int) -> Conditions: ...

    def draw_conditions(
        self,
        rng: np.random.Generator,
        n: int,
        imposed: Mapping[str, Any] | None = None,
        answer: Array | None = None,
    ) -> Conditions: ...


def state_of(task: TaskLike) -> TaskState:
    """What the core keeps of a task."""
    state: TaskState = task.__dict__[STATE]
    return state


def period_names_of(task: TaskLike) -> tuple[str, ...]:
    """Names of the periods of a task, in order."""
    return state_of(task).period_names


def interface_of(task: TaskLike) -> Interface:
    """What the trials of a task need to know of it."""
    interface = state_of(task).interface
    assert interface is not None, "the task is complete"
    return interface
