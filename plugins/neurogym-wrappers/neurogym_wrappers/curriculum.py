"""Stages of one task, from easy to hard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from neurogym_core.errors import InvalidValueError, NeurogymError
from neurogym_core.tasks.task import Task
from neurogym_wrappers.joining import task_from_entry
from neurogym_wrappers.mixture_base import MixtureBase


class Curriculum(MixtureBase):
    """Easier versions of a task first; the subject goes on when it is good enough, across sessions.

    A `Mixture` of versions of one task by performance. Every stage says what is different in it, as
    data: parameters, `timing`, `rewards`, `conditions`, `wrap`; the task itself is the last stage.
    The record says in `stage` which one a trial was in, from 0.

    Args:
        stages: mappings of settings, e.g. ``({"timing": {"delay": 0}}, {"conditions": {"coherence":
            51.2}})``.
        criterion: mean performance of the last `window` trials from which on the next stage begins.
        fallback: mean performance below which the stage before comes back; 0: never.
        window: trials that are averaged; they start anew in every stage.

    Raises:
        InvalidValueError: no stages, settings that the task does not take, or a stage of the task
            as it is.
        NotSupportedError: stages that cannot be joined; see `Mixture`.
    """

    stages: tuple[Mapping[str, Any], ...] = ()
    criterion: float = 0.8
    fallback: float = 0.0
    window: int = 100

    task_condition = "stage"
    _lasting = True

    def define(self) -> None:
        if not self.stages or not all(isinstance(stage, Mapping) for stage in self.stages):
            raise InvalidValueError(
                f"Curriculum was given stages={self.stages!r}; give one mapping of settings or"
                " more, e.g. stages=[{timing: {delay: 0}}]."
            )
        if not 0 <= self.fallback <= self.criterion <= 1:
            raise InvalidValueError(
                f"Curriculum was given criterion={self.criterion!r} and fallback={self.fallback!r};"
                " give performances from 0 to 1, the second not above the first."
            )
        tasks = (*(self._stage(k, stage) for k, stage in enumerate(self.stages)), self.task)
        settings = {
            "order": "performance",
            "criterion": self.criterion,
            "fallback": self.fallback,
            "window": self.window,
        }
        self._mix(tasks, settings, rule=False, labels=range(len(tasks)))

    def _stage(self, k: int, stage: Mapping[str, Any]) -> Task:
        try:
            made = task_from_entry({"task": self.task, **stage})
        except NeurogymError as error:
            raise InvalidValueError(
                f"Curriculum was given the stage {k}, {dict(stage)!r}: {error}"
            ) from error
        if made == self.task:
            raise InvalidValueError(
                f"Curriculum was given the stage {k}, {dict(stage)!r}, which is {self.task.name} as"
                " it is."
            )
        return made
