"""Train on easier versions of a task first."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from typing import Any

from neurogym_core import InvalidValueError, NeurogymError, Task
from neurogym_wrappers.joining import task_from_entry
from neurogym_wrappers.mixture_base import MixtureBase


class Curriculum(MixtureBase):
    """Begin with easier versions of a task, and advance as the subject's performance improves.

    This is a `Mixture` of versions of one task, ordered by performance. A stage is a mapping of the
    settings that differ from the task: parameters, `timing`, `rewards`, `conditions`, `wrap`. The
    task itself is the last stage. A session continues in the stage in which the last session ended,
    with the window of the trials before it. Each env, and each row of a dataset, is one subject and
    advances by itself.
    The column `stage` of the record has the stage of every trial, from 0.

    Args:
        stages: mappings of settings, e.g. ``({"timing": {"delay": 0}}, {"conditions": {"coherence":
            51.2}})``.
        advance_at: mean performance over the last `window` trials at which the next stage begins.
        retreat_below: mean performance below which the previous stage returns; 0: never.
        window: number of trials over which performance is averaged, all of them in one stage.

    Raises:
        InvalidValueError: no stages, settings that the task does not take, or a stage equal to the
            task.
        NotSupportedError: stages that cannot be joined; see `Mixture`.
    """

    stages: tuple[Mapping[str, Any], ...] = ()
    advance_at: float = 0.8
    retreat_below: float = 0.0
    window: int = 100

    task_condition = "stage"

    def define(self) -> None:
        if not self.stages or not all(isinstance(stage, Mapping) for stage in self.stages):
            raise InvalidValueError(
                f"Curriculum was given stages={self.stages!r}; give at least one mapping of"
                " settings, e.g. stages=[{timing: {delay: 0}}]."
            )
        if not 0 <= self.retreat_below <= self.advance_at <= 1:
            raise InvalidValueError(
                f"Curriculum was given advance_at={self.advance_at!r} and"
                f" retreat_below={self.retreat_below!r}; give performances from 0 to 1, with"
                " retreat_below not above advance_at."
            )
        tasks = (*(self._stage(k, stage) for k, stage in enumerate(self.stages)), self.task)
        settings = {
            "order": "performance",
            "advance_at": self.advance_at,
            "retreat_below": self.retreat_below,
            "window": self.window,
        }
        self._mix(tasks, settings, rule=False, labels=range(len(tasks)))

    @property
    def last_stage(self) -> dict[str, int]:
        """The conditions to impose for trials of the task itself, as in tests of an agent."""
        return {self.task_condition: len(self.stages)}

    def _stage(self, k: int, stage: Mapping[str, Any]) -> Task:
        try:
            made = task_from_entry({"task": self.task, **stage})
        except NeurogymError as error:
            raise InvalidValueError(
                f"Curriculum was given the stage {k}, {dict(stage)!r}: {error}"
            ) from error
        if made == self.task or not any(
            len(value) if isinstance(value, Sized) else True for value in stage.values()
        ):
            raise InvalidValueError(
                f"Curriculum was given the stage {k}, {dict(stage)!r}, which is {self.task.name}"
                " without a change. Change a setting, or leave the stage out."
            )
        return made
