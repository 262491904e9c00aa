"""`Candidate`: the task that is checked, and what several checks look at, worked out once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from neurogym_core.ecosystem.discovery import declared, find_task, installed, load
from neurogym_core.ecosystem.files import is_file_reference
from neurogym_core.ecosystem.names import canonical
from neurogym_core.ecosystem.records import TaskInfo
from neurogym_core.play.make import make, resolve
from neurogym_core.play.run import run
from neurogym_core.tasks.task import Task
from neurogym_core.testing.conformance.records import CheckFailedError, Level
from neurogym_core.trials.batch import TrialBatch
from neurogym_core.trials.record import TrialRecord

ENVS = 32
"""Envs in which reference subjects play side by side; each is an independent sample of sessions."""


class Candidate:
    """A task under examination.

    Args:
        source: an id or bare name, "file.py:Class", a Task, a Task class, or a Gymnasium env class.
        level: "quick" or "full"; decides how much is played.
        expected: what the manifest's ``expected`` says, for tasks without a manifest.
    """

    def __init__(self, source: Any, level: Level = "quick", expected: Mapping[str, float] | None = None) -> None:
        self.info: TaskInfo | None = None
        if isinstance(source, TaskInfo):
            self.info = source
        elif isinstance(source, str) and not is_file_reference(source):
            self.info = find_task(source)
        self.source = source if self.info is None else self.info.id
        self.level = level
        self._expected = dict(expected or {})
        self._records: dict[str, TrialRecord] = {}

    @property
    def name(self) -> str:
        """Id, file reference, or class name."""
        if isinstance(self.source, str):
            return self.source
        return self.source.__name__ if isinstance(self.source, type) else getattr(self.source, "name", repr(self.source))

    @property
    def expected(self) -> Mapping[str, Any]:
        """Numbers to expect of it: ``chance``, ``oracle_min``."""
        return {**(self.info.expected if self.info is not None else {}), **self._expected}

    @cached_property
    def found(self) -> Any:
        """The Task, Task class or env class. Imports it.

        Raises:
            CheckFailedError: it is none of these.
            DiscoveryError: it cannot be imported.
        """
        if self.info is None:
            return resolve(self.source)
        found = load(self.info)
        try:
            return resolve(found)
        except ValueError:
            raise CheckFailedError(f"{self.info.value} is {found!r}, expected a Task or a Gymnasium env.") from None

    @cached_property
    def cls(self) -> type:
        """Its class."""
        return self.found if isinstance(self.found, type) else type(self.found)

    @cached_property
    def kind(self) -> str:
        """ "task", "classic" or "env"."""
        if issubclass(self.cls, Task):
            return "task"
        classic = ("neurogym_core.tasks.period_env", "PeriodEnv")
        return "classic" if any((base.__module__, base.__name__) == classic for base in self.cls.__mro__) else "env"

    @cached_property
    def task(self) -> Task:
        """The task with its default settings; only where `kind` is "task"."""
        return self.found if isinstance(self.found, Task) else self.found()

    def env(self, **settings: Any) -> Any:
        """A new env, as `make` gives it, without plug-ins."""
        return make(self.source, plugins=False, **settings)

    def several(self, quick: int, full: int) -> int:
        """How many, at the level of this examination."""
        return full if self.level == "full" else quick

    # ------------------------------------------------------------------ shared by several checks

    def play(self, subject: str) -> TrialRecord:
        """The record of what a reference subject does in `ENVS` envs, each at least 4 trials."""
        if subject not in self._records:
            steps = self.several(900, 9000)
            each = int(np.clip(steps // self.task.typical_steps, 4, self.several(40, 400)))
            self._records[subject] = run(self.task, subject, ENVS * each, num_envs=ENVS, seed=17)
        return self._records[subject]

    @cached_property
    def sample_size(self) -> int:
        """Trials in `batch`; where each is laid out by itself, fewer."""
        return self.several(1000, 10000) if self.task.batched else self.several(200, 1000)

    @cached_property
    def batch(self) -> TrialBatch:
        """Trials of sessions of their own, with default settings."""
        return self.task.sample(self.sample_size, seed=23)


def candidates(sources: Any, level: Level = "quick") -> list[Candidate]:
    """Candidates for ids, classes, tasks, files, and all tasks of packages given by distribution or namespace."""
    return [Candidate(source, level) for source in expanded(sources)]


def expanded(sources: Any) -> list[Any]:
    """The same with packages replaced by the ids of their tasks. Imports none of them."""
    items = [sources] if isinstance(sources, str | type | Task) or not isinstance(sources, Iterable) else list(sources)
    found: list[Any] = []
    for item in items:
        tasks = tasks_of_package(item) if isinstance(item, str) else None
        found += [item] if tasks is None else [task.id for task in tasks]
    return found


def tasks_of_package(name: str) -> tuple[TaskInfo, ...] | None:
    """The tasks of an installed package, given by its distribution's name or its namespace; None: there is none."""
    for package in declared().packages:
        if name == package.namespace or canonical(name) == canonical(package.distribution):
            return next(one.tasks for one in installed().packages if one.distribution == package.distribution)
    return None
