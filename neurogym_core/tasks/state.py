"""`TaskState`: the core's data of a task, in one attribute, so that authors can use other names.

`state_of(task)` returns it. The functions of this folder take a `TaskLike`: the part of a task that
they use."""

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
"""The attribute of a task that holds its `TaskState`, the core's only non-public name there."""

Conditions = dict[str, Array]
"""Conditions by name, (n, …) each."""
Computed = Callable[[np.random.Generator, "Mapping[str, Array]"], Any]
"""A condition that is a function of those before it."""
OfConditions = str | Callable[[Mapping[str, Array]], Array]
"""Name of a condition, or function of the conditions."""


@dataclass(frozen=True)
class Drawn:
    """A condition that only `draw` sets, declared as its type: ``vary(reversals=int)``."""

    kind: type[bool | int | float | str]

    KINDS: ClassVar[Mapping[type, str]] = {bool: "b", int: "iu", float: "iuf", str: "U"}
    """Type -> NumPy's kinds of the values that `draw` may give it."""

    def fits(self, values: Array) -> bool:
        """Whether values have this type, one per trial."""
        return values.ndim == 1 and values.dtype.kind in self.KINDS[self.kind]


@dataclass(eq=False)
class TaskState:
    """The core's data of one task.

    Attributes:
        name: name of the task in messages.
        parameters: all parameters, name -> value.
        overrides: "timing", "rewards" and "conditions" as they were given.
        channels, actions: as `define` declares them.
        declared: condition -> distribution, `Drawn`, or function of the conditions before it.
        correct_choice: name of the condition that is the correct choice, or a function of them.
        evidence: name of the condition that is the signed evidence, or a function of them.
        imposed: conditions and durations that `make` imposed.
        example: condition -> its value in one drawn trial.
        dimensions: condition -> 0 for one value per trial, 1 for several.
        limits: ms after which a trial is over; see `Interface`.
        stages: for each part of a sequence of tasks, the conditions that select it; () for other
            tasks.
        warned: times that a warning named already.
        period_names, typical_steps: those of a few trials that are built when the task is made.
        interface, timing: the part of the task that its trials depend on; set when it is complete.
        columns: shape of one trial's values of each column of `session.record`, by its name.
        trial_columns: names of the arrays of `trial_state` whose last values are recorded.
        repeated: periods that a trial may visit more than once.
        stateful: whether trials depend on their session.
        joint: whether the task combines several tasks.
        wraps: the wrapped task, for a task wrapper.
        settings: the parameters of a task wrapper, without those of the task.
        sealed: whether the task is complete and immutable.
        known: cached results: "answers", "max_steps".
    """

    name: str
    parameters: dict[str, Any] = field(default_factory=dict)
    overrides: dict[str, dict[str, Any]] = field(default_factory=dict)
    channels: Channels = field(default_factory=lambda: Channels({}, ""))
    actions: Actions | None = None
    declared: dict[str, Distribution | Drawn | Computed] = field(default_factory=dict)
    correct_choice: OfConditions | None = None
    evidence: OfConditions | None = None
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
    columns: dict[str, tuple[int, ...]] = field(default_factory=dict)
    trial_columns: tuple[str, ...] = ()
    repeated: frozenset[str] = frozenset()
    stateful: bool = False
    joint: bool = False
    wraps: TaskLike | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    sealed: bool = False
    known: dict[str, Any] = field(default_factory=dict)

    @property
    def answer_condition(self) -> str | None:
        """The condition that is the right answer; None if no condition is."""
        return self.correct_choice if isinstance(self.correct_choice, str) else None


class TaskLike(Protocol):
    """The part of a task that the core uses: parameters, declarations and methods."""

    dt: float
    trials_per_session: int | None
    abort_ends_trial: bool
    max_duration: float | None
    timing: ClassVar[Mapping[str, Any]]
    rewards: ClassVar[Mapping[str, float]]
    trial_state: ClassVar[Mapping[str, Any]]
    reads_outcomes: ClassVar[bool]

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
        correct_choice: Array | None = None,
    ) -> Conditions: ...


def state_of(task: TaskLike) -> TaskState:
    """Return the core's data of a task."""
    state: TaskState = task.__dict__[STATE]
    return state


def interface_of(task: TaskLike) -> Interface:
    """Return the part of a task that its trials depend on."""
    interface = state_of(task).interface
    assert interface is not None, "the task is complete"
    return interface
