"""Penalize trials without an answer."""

from __future__ import annotations

import math

import numpy as np

from neurogym_core import InvalidValueError, NotSupportedError, Slot, TaskWrapper, TrialBuilder
from neurogym_core.players import TaskView
from neurogym_wrappers.slots import asked


class MissPenalty(TaskWrapper):
    """Add a reward, usually a penalty, to every answer slot that is not answered in time.

    It is added to the task's own reward for a miss. Slots in which resting is correct cannot be
    missed.

    Args:
        reward: added to the reward of a miss; negative for a penalty.

    Raises:
        NotSupportedError: no answer slot of the task can be missed.
        InvalidValueError: a reward of 0, or one that is not finite.
    """

    reward: float = -1.0

    def define(self) -> None:
        if not math.isfinite(self.reward) or self.reward == 0:
            raise InvalidValueError(
                f"MissPenalty was given reward={self.reward!r}; give a finite number other than 0."
            )
        if self.task.actions.rest is None:
            raise self._refusal("it has no rest action, so that no answer can be missed")
        if self.task.actions.continuous and self.task.actions.trigger is None:
            raise self._refusal(
                "its continuous actions are judged without a trigger=, so that no answer can be"
                " missed"
            )
        if not any(_missable(slot).any() for slot in TaskView(self.task).example_layout.slots):
            raise self._refusal(
                "it has no answer slot that can be missed (trial.answer, trial.offer)"
            )

    def _refusal(self, why: str) -> NotSupportedError:
        return NotSupportedError(f"MissPenalty cannot be applied to {self.task.name}: {why}.")

    def new_trial(self, trial: TrialBuilder) -> None:
        super().new_trial(trial)
        for slot in trial.layout.slots:
            slot.miss = np.where(_missable(slot), slot.miss + self.reward, slot.miss)


def _missable(slot: Slot) -> np.ndarray:
    """(n,) whether a slot can be missed; it cannot where resting is correct."""
    return asked(slot) & (
        slot.right.any(axis=1) if slot.right is not None and slot.amounts is None else True
    )
