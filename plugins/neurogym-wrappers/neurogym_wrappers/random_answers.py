"""Draw what is right with given probabilities."""

from __future__ import annotations

import numpy as np

from neurogym_core.errors import InvalidValueError
from neurogym_core.tasks.drawing import answer_condition, answers_of, stateful
from neurogym_wrappers.schedule_base import ScheduleBase
from neurogym_wrappers.side_bias import answer_block, answer_rows


class RandomAnswers(ScheduleBase):
    """The right answer is drawn anew for every trial: a `Schedule` of one block.

    Args:
        probs: probability of each of the task's `answers`; (): all alike.

    Raises:
        NotSupportedError: the task declares no answer, has only one or a continuum, or decides it
            itself.
        InvalidValueError: no probabilities; or those with which the task draws its answers anyway.
    """

    probs: tuple[float, ...] = ()

    def define(self) -> None:
        self.check_answers()
        n = len(answers_of(self.task))
        (row,) = answer_rows("RandomAnswers", [self.probs or [1 / n] * n], n)
        if self._has_no_effect(row):
            raise InvalidValueError(
                f"RandomAnswers was given probs={self.probs!r}, with which {self.task.name} draws"
                " its right answers anyway. Leave it out, or give other probabilities."
            )
        self._set_up([answer_block(answers_of(self.task), row)])

    def _has_no_effect(self, row: np.ndarray) -> bool:
        declared = self.task.conditions.get(answer_condition(self.task))
        if stateful(self.task) or not hasattr(declared, "probabilities"):
            return False
        own = [
            declared.probabilities[declared.support() == answer].sum()
            for answer in answers_of(self.task)
        ]
        return bool(np.allclose(row, own))
