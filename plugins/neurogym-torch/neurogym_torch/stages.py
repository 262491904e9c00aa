"""Stages of a supervised training: easier versions of its tasks, and mixtures that change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import eq
from typing import Any

from neurogym_core import InvalidValueError, NeurogymError, Task
from neurogym_core.players import TaskView
from neurogym_core.tools import unknown

OVERRIDES = ("timing", "rewards", "conditions")
OWN = ("shares", "updates")
"""Keys of a stage that are no settings of tasks."""


def stages_of(given: Any, tasks: Sequence[Task], advance_at: float) -> list[Stage]:
    """Return the stages before the tasks themselves.

    Args:
        given: mappings; see `SupervisedTrainer`. None: no stages.
        tasks: the tasks.
        advance_at: accuracy that ends a stage.

    Raises:
        InvalidValueError: no mappings, a setting that a task refuses, a number of updates below 1,
            an accuracy outside of (0, 1], or a stage that changes nothing.
        UnknownNameError: a setting that no task has.
    """
    if given is None:
        return []
    if not isinstance(given, Sequence) or not all(isinstance(one, Mapping) for one in given):
        raise InvalidValueError(
            f"stages={given!r} was given. Expected mappings of settings, such as"
            " [{'timing': {'delay': 0}}]. Give a list of them."
        )
    if not 0 < advance_at <= 1:
        raise InvalidValueError(
            f"advance_at={advance_at!r} was given. Expected an accuracy above 0 and up to 1. Give"
            " another."
        )
    return [Stage(number, one, tasks, advance_at) for number, one in enumerate(given)]


class Stage:
    """One stage.

    Attributes:
        tasks: its versions of the tasks.
        shares: relative frequencies of the tasks; None: those of the training.
    """

    def __init__(
        self, number: int, given: Mapping[str, Any], tasks: Sequence[Task], advance_at: float
    ) -> None:
        self.shares, self.updates = given.get("shares"), given.get("updates")
        self.advance_at = advance_at
        settings = {name: value for name, value in given.items() if name not in OWN}
        whole = isinstance(self.updates, int) and not isinstance(self.updates, bool)
        if self.updates is not None and (not whole or self.updates < 1):
            raise InvalidValueError(
                f"The stage {number} was given updates={self.updates!r}. Expected a whole number,"
                " 1 or more. Give another, or leave it out."
            )
        known = {name for task in tasks for name in _names(task)}
        for name in settings:
            if name not in known:
                raise unknown("setting", name, [*sorted(known), *OWN], of=f"the stage {number}")
        try:
            self.tasks = [
                TaskView(task).changed(**{k: v for k, v in settings.items() if k in _names(task)})
                for task in tasks
            ]
        except NeurogymError as error:
            raise InvalidValueError(f"In the stage {number}: {error}") from error
        if self.shares is None and all(map(eq, self.tasks, tasks)):
            raise InvalidValueError(
                f"The stage {number}, {dict(given)!r}, is the tasks themselves. Expected settings"
                " that differ, or shares. Change one, or leave the stage out."
            )

    def ends(self, accuracy: float, updates: int) -> bool:
        """Return whether the next stage begins, after so many updates in this one."""
        return updates >= self.updates if self.updates else accuracy >= self.advance_at


def _names(task: Task) -> set[str]:
    """Return the names of the settings of a task, of those that it wraps, and the overrides."""
    return {*OVERRIDES, *(name for one in _with_inner(task) for name in TaskView(one).parameters)}


def _with_inner(task: Task | None) -> Iterator[Task]:
    while task is not None:
        yield task
        task = TaskView(task).wrapped
