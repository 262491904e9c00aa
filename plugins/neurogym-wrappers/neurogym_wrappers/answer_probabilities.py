"""Draw the correct answer with given probabilities."""

from __future__ import annotations

import numpy as np

from neurogym_core import InvalidValueError
from neurogym_core.players import TaskView
from neurogym_wrappers.condition_wrapper import answer_weights
from neurogym_wrappers.schedule_base import ScheduleBase
from neurogym_wrappers.side_bias import answer_block, answer_rows


class AnswerProbabilities(ScheduleBase):
    """Draw the correct answer of every trial with given probabilities.

    This is a `Schedule` with a single block. It has no block that could end.

    Args:
        probs: probability of each of the task's `answers`; (): equal probabilities, where resting
            (the answer -1) counts as much as all other answers together.

    Raises:
        NotSupportedError: the task declares no correct choice, has one answer or a continuum of
            them, or imposes its answer.
        InvalidValueError: numbers that are no probabilities, or the probabilities with which the
            task draws its answers already.
    """

    probs: tuple[float, ...] = ()

    def define(self) -> None:
        self.check_answers()
        weights = answer_weights(TaskView(self.task).answers)
        (row,) = answer_rows("AnswerProbabilities", [self.probs or weights], weights)
        if self._has_no_effect(row):
            raise InvalidValueError(
                f"AnswerProbabilities was given probs={self.probs!r}, the probabilities with which"
                f" {self.task.name} draws its answers already. Leave the wrapper out, or give other"
                " probabilities."
            )
        self._set_up([answer_block(TaskView(self.task).answers, row)])

    def _has_no_effect(self, row: np.ndarray) -> bool:
        declared = self.task.conditions.get(TaskView(self.task).answer_condition)
        if TaskView(self.task).stateful or not hasattr(declared, "probabilities"):
            return False
        own = [
            declared.probabilities[declared.support() == answer].sum()
            for answer in TaskView(self.task).answers
        ]
        return bool(np.allclose(row, own))
