"""`TaskWrapper`: a task made from a task, by changing which trials come or what is laid out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, dataclass_transform

import numpy as np

from neurogym_core.errors import InvalidValueError
from neurogym_core.tasks.parameters import check_declared, checked, own_annotations, signature_of
from neurogym_core.tasks.session import Session
from neurogym_core.tasks.task import Task, _hashable
from neurogym_core.trials.trial import VERBS, Trial


@dataclass_transform(kw_only_default=True)
class TaskWrapper(Task):
    """Base of task wrappers: task in, task out, so every player, figure and check sees the effect.

    A wrapper declares its parameters like a task, refuses tasks it cannot apply to in `define`, and overrides
    `new_trial` (call ``super().new_trial(trial)``, then change ``trial.shows``, ``trial.slots``, …) or `draw` and its like.

    Args:
        task: the task to wrap.
    """

    task: ClassVar[Task]
    _own: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._own = tuple(name for base in reversed(cls.__mro__) if issubclass(base, TaskWrapper) for name in own_annotations(base))
        check_declared(cls, {*VERBS})

    def __init__(self, task: Task, **settings: Any) -> None:
        if not isinstance(task, Task):
            raise InvalidValueError(f"{type(self).__name__} was given {task!r}; it wraps tasks: give a Task, or use make(…, wrap=…).")
        self._sealed = False
        own = checked(type(self), settings)
        self._settings = {name: own[name] for name in self._own}
        self.task = task  # type: ignore[misc]
        self._parameters = {**task.parameters, **self._settings}
        self._overrides = task._overrides
        self._warned = task._warned
        for name in Task.__annotations__:
            if name in task.parameters and name not in self._settings:
                setattr(self, name, getattr(task, name))
        for name, value in self._settings.items():
            setattr(self, name, value)
        self.rewards, self.timing = task.rewards, task.timing
        self._declared = dict(task.conditions)
        self.channels, self.actions = task.channels, task.actions
        self._answer = task._answer
        self._imposed = dict(task.imposed)
        self.define()
        self._sealed = True
        self._probe()

    # ------------------------------------------------------------------ what a wrapper may override

    def define(self) -> None:
        """Refuse tasks that this cannot apply to (`NotSupportedError`), and change declarations."""

    def new_trial(self, trial: Trial) -> None:
        self.task.new_trial(trial)

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        self.task.new_session(session, rng)

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        return self.task.draw(session, rng)

    def draw_ahead(self, session: Session, rng: np.random.Generator, trials: int) -> dict[str, np.ndarray]:
        if type(self).draw is TaskWrapper.draw:
            return self.task.draw_ahead(session, rng, trials)
        return Task.draw_ahead(self, session, rng, trials)

    @property
    def stateful(self) -> bool:
        cls = type(self)
        own = any(getattr(cls, name) is not getattr(TaskWrapper, name) for name in ("draw", "draw_ahead", "new_session"))
        return own or self.task.stateful

    # ------------------------------------------------------------------ what it takes over from the task

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or "task" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.__dict__["task"], name)

    @property
    def name(self) -> str:
        return f"{type(self).__name__}({self.task.name})"

    def _draw_once(self, rng: np.random.Generator, n: int, imposed: Mapping[str, Any]) -> dict[str, np.ndarray]:
        return super()._draw_once(rng, n, imposed)

    def keywords(self) -> dict[str, Any]:
        return dict(self._settings)

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


for _name in ("supervised", "batched", "reads_outcomes", "evidence", "go_cue", "memory", "step_action", "step_observation", "step_target"):
    setattr(TaskWrapper, _name, _inherit(_name))


def _remake(cls: type[TaskWrapper], task: Task, settings: Mapping[str, Any]) -> TaskWrapper:
    return cls(task, **settings)
