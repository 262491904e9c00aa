"""`TaskWrapper`: a task made from a task, by changing which trials come or what is laid out."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from typing import Any, ClassVar, dataclass_transform

import numpy as np

from neurogym_core.errors import InvalidValueError, TaskDefinitionError
from neurogym_core.tasks.given import Drawn, draw_given, draw_in_turn
from neurogym_core.tasks.parameters import checked, keywords_of, own_annotations
from neurogym_core.tasks.session import Session
from neurogym_core.tasks.task import Task, _hashable
from neurogym_core.trials.trial import Trial


@dataclass_transform(kw_only_default=True)
class TaskWrapper(Task):
    """Base of task wrappers: task in, task out, so every player, figure and check sees the effect.

    A wrapper declares its parameters like a task, refuses tasks it cannot apply to in `define` (`NotSupportedError`,
    naming what is missing), and overrides `new_trial` (call ``super().new_trial(trial)``, then change ``trial.shows``,
    ``trial.slots``, …) or `draw`, `draw_ahead` and `new_session`. Conditions that it declares itself with `vary` are
    drawn beside those of the task. Whatever else is asked of it (channels, timing, the task's own attributes) is the
    task's.

    Args:
        task: the task to wrap.

    Raises:
        InvalidValueError: `task` is no Task, or a parameter is of the wrong kind.
        UnknownNameError: a parameter that the wrapper does not declare; give the task its own before wrapping it.
    """

    task: ClassVar[Task]
    _own: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._own = {}
        for base in reversed(cls.__mro__):
            if issubclass(base, TaskWrapper):
                cls._own.update(own_annotations(base))
        task = inspect.Parameter("task", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation="Task")
        cls.__signature__ = inspect.Signature([task, *keywords_of(cls, cls._own)])  # type: ignore[attr-defined]

    def __init__(self, task: Task, **settings: Any) -> None:
        if not isinstance(task, Task):
            raise InvalidValueError(
                f"{type(self).__name__} was given {task!r}; it wraps tasks: give a Task, or use make(…, wrap=…)."
            )
        self._sealed = False
        self.task = task  # type: ignore[misc]
        self._settings = checked(type(self), settings, known=self._own, overrides=())
        self._take_over()
        for name, value in self._settings.items():
            setattr(self, name, value)
        self._parameters = {**task.parameters, **self._settings}
        self.define()
        self._sealed = True
        self._probe()

    def _take_over(self) -> None:
        """Everything that the methods of `Task` look at, as it is in the wrapped task."""
        task = self.task
        for name in own_annotations(Task):
            setattr(self, name, getattr(task, name))
        self.rewards, self.timing = task.rewards, task.timing
        self.channels, self.actions = task.channels, task.actions
        self._overrides, self._warned = task._overrides, task._warned
        self._declared, self._imposed = dict(task.conditions), dict(task.imposed)
        self._answer = task._answer
        self._dimensions = dict(task._dimensions)

    # ------------------------------------------------------------------ what a wrapper may override

    def define(self) -> None:
        """Refuse tasks that this cannot apply to (`NotSupportedError`), and change declarations."""

    def new_trial(self, trial: Trial) -> None:
        self.task.new_trial(trial)

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        self.task.new_session(session, rng)

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        return self._with_own(self.task.draw(session, rng), rng, (len(session),))

    def draw_ahead(self, session: Session, rng: np.random.Generator, trials: int) -> dict[str, np.ndarray]:
        if type(self).draw is not TaskWrapper.draw:
            return super().draw_ahead(session, rng, trials)
        return self._with_own(self.task.draw_ahead(session, rng, trials), rng, (trials, len(session)))

    def _with_own(
        self, drawn: dict[str, np.ndarray], rng: np.random.Generator, shape: tuple[int, ...]
    ) -> dict[str, np.ndarray]:
        """What the task drew, (*shape, …), and the conditions that the wrapper declared beside it."""
        if all(name in drawn for name in self._declared):
            return drawn
        n = math.prod(shape)
        flat = {name: values.reshape(n, *values.shape[len(shape) :]) for name, values in drawn.items()}
        return {
            name: values.reshape(*shape, *values.shape[1:]) for name, values in self._draw_once(rng, n, flat).items()
        }

    def draw_given(
        self,
        session: Session,
        rng: np.random.Generator,
        trials: int,
        imposed: dict[str, np.ndarray],
        answer: np.ndarray | None,
    ) -> Drawn:
        """The coming trials with conditions that a wrapper around this one decides; see `tasks.given`."""
        cls = type(self)
        if cls.draw is not TaskWrapper.draw or cls.draw_ahead is not TaskWrapper.draw_ahead:
            return draw_in_turn(self, session, rng, trials, imposed, answer)
        own = {name: values for name, values in imposed.items() if name not in self.task.conditions}
        inner = {name: values for name, values in imposed.items() if name in self.task.conditions}
        drawn = draw_given(self.task, session, rng, trials, inner, answer)
        return self._with_own({**drawn, **own}, rng, (trials, len(session)))

    def impose_on(
        self, drawn: Mapping[str, np.ndarray], rng: np.random.Generator, n: int, imposed: Mapping[str, Any]
    ) -> dict[str, np.ndarray]:
        inner = {name: value for name, value in imposed.items() if name in self.task.conditions}
        decided = self.task.impose_on(drawn, rng, n, inner)
        own = {name: value for name, value in imposed.items() if name in self._declared and name not in inner}
        return {**decided, **{name: self._for_each_trial(name, np.asarray(value), n) for name, value in own.items()}}

    def free_name(self, name: str) -> str:
        """The name, numbered where the task has a condition, channel or covariate of that name already."""
        taken = {*self._declared, *self.channels}
        return next(one for one in (name, *(f"{name}_{k}" for k in range(2, 100))) if one not in taken)

    def vary(self, *, answer: Any = None, **conditions: Any) -> None:
        """Declare conditions beside those of the task; see `Task.vary`.

        Raises:
            TaskDefinitionError: one that the task (or another wrapper) declares already.
        """
        for name in conditions:
            if name in self._declared:
                raise TaskDefinitionError(
                    f"{type(self).__name__} declares the condition {name!r}, which {self.task.name} declares already; "
                    "give it another name."
                )
        super().vary(answer=answer, **conditions)

    @property
    def stateful(self) -> bool:
        cls = type(self)
        own = any(
            getattr(cls, name) is not getattr(TaskWrapper, name) for name in ("draw", "draw_ahead", "new_session")
        )
        return own or self.task.stateful

    # ------------------------------------------------------------------ what it takes over from the task

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or "task" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.__dict__["task"], name)

    @property
    def name(self) -> str:
        return f"{type(self).__name__}({self.task.name})"

    def keywords(self) -> dict[str, Any]:
        """Keywords that, after the task, make this wrapper again: its parameters."""
        return dict(self._settings)

    def with_settings(self, **settings: Any) -> TaskWrapper:
        """The same with some settings changed: the wrapper's own, or else those of the task."""
        own = {name: value for name, value in settings.items() if name in self._own}
        others = {name: value for name, value in settings.items() if name not in self._own}
        task = self.task.with_settings(**others) if others else self.task
        return type(self)(task, **{**self._settings, **own})

    def _identity(self) -> tuple:
        return (type(self), self.task._identity(), _hashable(self._settings))

    def __repr__(self) -> str:
        settings = "".join(f", {name}={value!r}" for name, value in self._settings.items())
        return f"{type(self).__name__}({self.task!r}{settings})"

    def __reduce__(self) -> tuple:
        return _remake, (type(self), self.task, self._settings)


def _inherit(name: str) -> property:
    """A class-level fact of the wrapped task, unless the wrapper says otherwise."""
    return property(lambda self: getattr(self.task, name))


for _name in (
    "supervised",
    "batched",
    "reads_outcomes",
    "evidence",
    "go_cue",
    "memory",
    "step_action",
    "step_observation",
    "step_target",
):
    setattr(TaskWrapper, _name, _inherit(_name))


def _remake(cls: type[TaskWrapper], task: Task, settings: Mapping[str, Any]) -> TaskWrapper:
    return cls(task, **settings)
