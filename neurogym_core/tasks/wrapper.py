"""`TaskWrapper`: a task that changes the conditions or the trials of another task."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, cast, dataclass_transform

import numpy as np

from neurogym_core.errors import InvalidValueError, TaskDefinitionError
from neurogym_core.tasks import making
from neurogym_core.tasks.drawing import (
    draw_conditions,
    draw_constrained,
    draw_once,
    draw_one_by_one,
    impose_on,
)
from neurogym_core.tasks.imposed import read_condition
from neurogym_core.tasks.parameters import (
    check_assignment,
    check_class,
    checked,
    keywords_of,
    own_annotations,
)
from neurogym_core.tasks.session import RECORDED, Session
from neurogym_core.tasks.state import STATE, Conditions, state_of
from neurogym_core.tasks.task import Task
from neurogym_core.trials.arrays import Array
from neurogym_core.trials.builder import TrialBuilder
from neurogym_core.trials.distributions import Choice, Distribution

FREE = ("stateful", "draw_constrained", "impose_on", "draw_conditions")
"""Names that a task wrapper may define, in addition to those of a task."""


def _inherited(name: str) -> Any:
    """A declaration of the wrapped task, for wrappers that do not override it."""
    return property(lambda self: getattr(self.task, name))


@dataclass_transform(kw_only_default=True)
class TaskWrapper(Task):
    """Base of task wrappers: tasks made from a task, so that every player sees the effect.

    A wrapper declares its parameters like a task. In `define`, it refuses tasks that it cannot
    apply to (`NotSupportedError`, with the reason). It overrides `new_trial` (call
    ``super().new_trial(trial)``, then change ``trial.layout.shows``, ``trial.layout.slots``, …), or
    `draw`, `draw_ahead` and `new_session`. The conditions that it declares with `vary` are drawn in
    addition to those of the task. All other attributes (channels, timing, the task's parameters)
    are those of the wrapped task.

    Args:
        task: the task to wrap.
        parameters: the parameters that the wrapper's class declares.

    Raises:
        InvalidValueError: `task` is not a Task, or a parameter has the wrong type.
        UnknownNameError: the wrapper does not declare this parameter; parameters of the task are
            set before it is wrapped.

    Example:
        >>> from neurogym_core import TaskWrapper, make_task
        >>> class Dim(TaskWrapper):
        ...     contrast: float = 0.5
        ...
        ...     def new_trial(self, trial):
        ...         super().new_trial(trial)
        ...         trial.show("stimulus", self.contrast - 1, during="stimulus")
        >>> wrap = (Dim, {"contrast": 0.2})
        >>> task = make_task("perceptual/PerceptualDecisionMaking-v0", wrap=wrap)
        >>> task.name, task.contrast
        ('Dim(PerceptualDecisionMaking)', 0.2)
    """

    __redefines__ = ("vary", "draw_conditions")

    supervised: ClassVar[bool] = _inherited("supervised")
    reads_outcomes: ClassVar[bool] = _inherited("reads_outcomes")
    evidence_periods: ClassVar[tuple[str, ...] | None] = _inherited("evidence_periods")
    go_cue: ClassVar[str | None] = _inherited("go_cue")
    trial_state: ClassVar[Mapping[str, Any]] = _inherited("trial_state")
    step_action: ClassVar[Any] = _inherited("step_action")
    step_observation: ClassVar[Any] = _inherited("step_observation")
    step_target: ClassVar[Any] = _inherited("step_target")

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super(Task, cls).__init_subclass__(**kwargs)
        check_class(cls, TaskWrapper, FREE)
        task = inspect.Parameter("task", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation="Task")
        cls.__signature__ = inspect.Signature([task, *keywords_of(cls, _parameters(cls))])  # type: ignore[attr-defined]

    def __init__(self, task: Task, **settings: Any) -> None:
        cls = type(self)
        if not isinstance(task, Task):
            raise InvalidValueError(
                f"{cls.__name__} was given {task!r}; expected a task. Give a Task, or use make(…,"
                " wrap=…)."
            )
        own = checked(cls, settings, known=_parameters(cls), overrides=())
        below = state_of(task)
        self.__dict__[STATE] = replace(
            below,
            name=f"{cls.__name__}({task.name})",
            parameters={**below.parameters, **own},
            settings=own,
            wraps=task,
            declared=dict(below.declared),
            imposed=dict(below.imposed),
            dimensions=dict(below.dimensions),
            known={},
            sealed=False,
        )
        # Real attributes, although `__getattr__` would find them: `Task` has class attributes of
        # these names, which come first.
        inherited = {
            name: getattr(task, name) for name in (*own_annotations(Task), "rewards", "timing")
        }
        for name, value in {**inherited, **own}.items():
            setattr(self, name, value)
        self.__ngym__.stateful = self.stateful
        self.define()
        making.close(self)

    # ------------------------------------------------------------------ methods to override

    def define(self) -> None:
        """Refuse tasks that the wrapper cannot apply to, and declare conditions.

        Raises:
            NotSupportedError: the wrapper cannot apply to the task.
        """

    @property
    def stateful(self) -> bool:
        """Whether trials depend on their session.

        By default they do if those of the task do, or if the wrapper overrides `draw`, `draw_ahead`
        or `new_session`.
        """
        changes = any(
            getattr(type(self), name) is not getattr(TaskWrapper, name)
            for name in ("draw", "draw_ahead", "new_session")
        )
        return changes or state_of(self.task).stateful

    def new_trial(self, trial: TrialBuilder) -> None:
        self.task.new_trial(trial)

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        self.task.new_session(session, rng)

    def draw(self, session: Session, rng: np.random.Generator) -> Conditions:
        return _with_own(self, self.task.draw(session, rng), rng, (len(session),))

    def draw_ahead(self, session: Session, rng: np.random.Generator, trials: int) -> Conditions:
        if type(self).draw is not TaskWrapper.draw:
            return super().draw_ahead(session, rng, trials)
        return _with_own(
            self, self.task.draw_ahead(session, rng, trials), rng, (trials, len(session))
        )

    def draw_constrained(
        self,
        session: Session,
        rng: np.random.Generator,
        trials: int,
        imposed: Conditions,
        answer: Array | None,
    ) -> Conditions:
        """Draw the next trials, name -> (trials, len(session), …).

        An outer wrapper decides some conditions. Columns of `session.record` are among those that
        are drawn, as ``"record.NAME"``.

        Args:
            session: the state of the sessions.
            rng: generator of conditions.
            trials: number of trials for each session.
            imposed: conditions decided so far, name -> (trials, len(session), …).
            answer: right answers decided so far, (trials, len(session)), or None.
        """
        # A wrapper that overrides `draw` draws trial by trial; others leave the drawing to the task
        # that they wrap.
        cls = type(self)
        if cls.draw is not TaskWrapper.draw or cls.draw_ahead is not TaskWrapper.draw_ahead:
            return draw_one_by_one(self, session, rng, trials, imposed, answer)
        return self.draw_wrapped(session, rng, trials, imposed, answer)

    def draw_conditions(
        self,
        rng: np.random.Generator,
        n: int,
        imposed: Mapping[str, Any] | None = None,
        correct_choice: Array | None = None,
    ) -> Conditions:
        return draw_conditions(self, rng, n, imposed, correct_choice)

    def impose_on(
        self,
        drawn: Mapping[str, Array],
        rng: np.random.Generator,
        n: int,
        imposed: Mapping[str, Any],
    ) -> Conditions:
        """Return the drawn conditions with the imposed ones in place, name -> (n, …).

        Args:
            drawn: conditions, name -> (n, …).
            rng: generator of conditions.
            n: number of trials.
            imposed: conditions of this task, name -> (n, …).
        """
        inner = {name: value for name, value in imposed.items() if name in self.task.conditions}
        own = {name: values for name, values in imposed.items() if name not in inner}
        return {**impose_on(self.task, drawn, rng, n, inner), **own}

    # ------------------------------------------------------------------ for the methods of wrappers

    @property
    def task(self) -> Task:
        """The wrapped task."""
        return cast(Task, self.__ngym__.wraps)

    def draw_wrapped(
        self,
        session: Session,
        rng: np.random.Generator,
        trials: int,
        imposed: Conditions,
        answer: Array | None,
    ) -> Conditions:
        """Draw the next trials of the wrapped task, and the conditions that this wrapper declares.

        Args:
            session: the state of the sessions.
            rng: generator of conditions.
            trials: number of trials for each session.
            imposed: conditions decided so far, name -> (trials, len(session), …).
            answer: right answers decided so far, (trials, len(session)), or None.
        """
        inner = {name: values for name, values in imposed.items() if name in self.task.conditions}
        drawn = draw_constrained(self.task, session, rng, trials, inner, answer)
        return _with_own(self, {**drawn, **imposed}, rng, (trials, len(session)))

    def free_name(self, name: str) -> str:
        """Return the name, with a number if the task has a condition or channel of that name.

        Args:
            name: the name.
        """
        taken = {*self.conditions, *self.channels}
        return next(
            one for one in (name, *(f"{name}_{k}" for k in range(2, 100))) if one not in taken
        )

    def vary(self, **conditions: Any) -> None:
        """Declare conditions in addition to those of the task; see `Task.vary`.

        Args:
            conditions: as in `Task.vary`.

        Raises:
            TaskDefinitionError: the task (or another wrapper) declares a condition of this name.
        """
        for name in conditions:
            if name in self.conditions:
                raise TaskDefinitionError(
                    f"{type(self).__name__} declares the condition {name!r}, which {self.task.name}"
                    " declares already; give it another name."
                )
        super().vary(**conditions)

    def add_conditions(self, task: Task, names: Mapping[str, str]) -> None:
        """Declare the conditions of another task, of which each trial has a part.

        Args:
            task: the other task.
            names: name of each of its conditions -> name in this task.
        """
        state, declared = making.check_open(self, "add_conditions"), state_of(task).declared
        state.joint = True
        state.declared |= {joined: declared[name] for name, joined in names.items()}

    def alternate(
        self, condition: str, tasks: Mapping[str, Task], names: Sequence[Mapping[str, str]]
    ) -> None:
        """Declare that each trial belongs to one of several tasks.

        The conditions are then those of all tasks, and the label of a trial's task. The wrapper
        draws them in `draw_constrained`; it has no correct choice. A trial may last as long as the
        task that allows the longest trials.

        Args:
            condition: name of the condition that has the label.
            tasks: label -> task.
            names: for each task, name of each of its conditions -> name in this task. Names may be
                shared.
        """
        state = making.check_open(self, "alternate")
        states = [state_of(task) for task in tasks.values()]
        found: dict[str, list[Any]] = {}
        example = {condition: np.asarray(next(iter(tasks)))}
        for own, joined in zip(states, names, strict=True):
            for name in joined:
                found.setdefault(joined[name], []).append(own.imposed.get(name, own.declared[name]))
                example[joined[name]] = own.example[name]
        state.joint, state.correct_choice, state.imposed, state.example = True, None, {}, example
        state.declared = {condition: Choice(tuple(tasks))}
        for name, ones in found.items():
            alike = len(ones) == len(tasks) and all(one == ones[0] for one in ones)
            shared = alike and isinstance(ones[0], Distribution)
            state.declared[name] = ones[0] if shared else _drawn_by_tasks
        state.limits = tuple(dict.fromkeys(limit for own in states for limit in own.limits))
        state.stages = tuple(
            {condition: label, **{joined[name]: value for name, value in stage.items()}}
            for label, own, joined in zip(tasks, states, names, strict=True)
            for stage in own.stages or ({},)
        )

    def read_condition(self, name: str, spec: Any) -> Distribution:
        """Return the distribution of values that are given for a condition.

        Args:
            name: the condition; "correct_choice": the right answer, also if it is no condition.
            spec: a distribution in any written form, or values; names for indices.

        Raises:
            UnknownNameError: a text that is not among the condition's values.
            InvalidValueError: another value that the condition cannot have.
        """
        state = state_of(self)
        own = state_of(self.task).answer_condition if name == "correct_choice" else name
        drawn = None if name == "correct_choice" else state.example.get(name)
        known = state_of(self.task).interface
        names = known.names.get(own, ()) if known is not None and own is not None else ()
        declared = None if own is None else state.declared.get(own)
        return read_condition(self.task.name, name, spec, declared, drawn, names)

    # ------------------------------------------------------------------ delegation and identity

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or STATE not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.task, name)

    def __setattr__(self, name: str, value: Any) -> None:
        check_assignment(self.name, name, TaskWrapper, ())
        super().__setattr__(name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        return _remake, (type(self), self.task, self.__ngym__.settings)


def _drawn_by_tasks(rng: np.random.Generator, prior: Mapping[str, Array]) -> Array:
    raise InvalidValueError(
        "Conditions of one of several tasks were to be drawn. Expected a call of the wrapper that"
        " joins the tasks, which draws them. Call its draw_conditions."
    )


def _parameters(cls: type) -> dict[str, Any]:
    """The parameters that a wrapper and its bases declare, name -> annotation."""
    own: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        if issubclass(base, TaskWrapper):
            own |= own_annotations(base)
    return own


def _with_own(
    task: TaskWrapper, drawn: Conditions, rng: np.random.Generator, shape: tuple[int, ...]
) -> Conditions:
    """The conditions that the task drew, (*shape, …), and those that the wrapper declares."""
    if all(name in drawn for name in task.conditions):
        return drawn
    n = math.prod(shape)
    flat = {name: values.reshape(n, *values.shape[len(shape) :]) for name, values in drawn.items()}
    whole = draw_once(task, rng, n, flat)
    joined = {name: values.reshape(*shape, *values.shape[1:]) for name, values in whole.items()}
    recorded = {name: values for name, values in drawn.items() if name.startswith(RECORDED)}
    return {**joined, **recorded}


def _remake(cls: type[TaskWrapper], task: Task, settings: Mapping[str, Any]) -> TaskWrapper:
    return cls(task, **settings)
