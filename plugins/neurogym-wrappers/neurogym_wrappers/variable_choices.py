"""Vary the number of possible correct answers from block to block."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np

from neurogym_core import Distribution, InvalidValueError, TrialBuilder
from neurogym_core.players import TaskView
from neurogym_wrappers.condition_wrapper import answer_weights
from neurogym_wrappers.schedule_base import ScheduleBase
from neurogym_wrappers.side_bias import answer_block


class VariableChoices(ScheduleBase):
    """Vary the number of possible correct answers from block to block.

    Stimuli and actions do not change. Blocks continue over the subject's sessions: a block of 100
    trials would otherwise end with the session. Where resting can be correct (the answer -1), it is
    as frequent as all other possible answers together. The column `n_choices` of the record has the
    number of possible correct answers in every trial. This is a `Schedule` of the correct answer.

    Args:
        n_choices: numbers of possible correct answers; (): every number from 2 to all.
        block_length: minimum number of trials in a block, a number or a distribution.
        hazard_rate: probability per trial that a block ends once it has `block_length` trials; 1:
            it ends there.
        weights: relative frequency of each number; (): equal frequencies.
        always_first: whether n possible answers are always the first n; if not, every block draws n
            of them at random.
        order: "random" or "sequence".

    Raises:
        NotSupportedError: the task declares no correct choice, has fewer than three answers or a
            continuum of them, or imposes its answer.
        InvalidValueError: impossible numbers, or more than 1,000 sets of answers to draw from.
    """

    n_choices: tuple[int, ...] = ()
    block_length: int | Distribution = 100
    hazard_rate: float = 1.0
    weights: tuple[float, ...] = ()
    always_first: bool = True
    order: str = "random"

    def define(self) -> None:
        self.check_answers(least=3)
        n = len(TaskView(self.task).answers)
        counts = self.n_choices or tuple(range(2, n + 1))
        if not all(isinstance(count, int) and 1 <= count <= n for count in counts) or counts == (
            n,
        ):
            raise InvalidValueError(
                f"VariableChoices was given n_choices={self.n_choices!r}; {self.task.name} has"
                f" {n} correct answers. Give whole numbers from 1 to {n}, and not {n} alone."
            )
        self._count = self.free_name("n_choices")
        how_many = sum(1 if self.always_first else comb(n, count) for count in counts)
        if how_many > 1000:
            raise InvalidValueError(
                f"VariableChoices was given n_choices={self.n_choices!r} and always_first=False,"
                f" which makes {how_many:,} sets of answers; at most 1,000 are possible. Give other"
                " numbers, or always_first=True."
            )
        sets = [
            [tuple(range(count))] if self.always_first else list(combinations(range(n), count))
            for count in counts
        ]
        self._sizes = np.concatenate(
            [np.full(len(part), count) for part, count in zip(sets, counts, strict=True)]
        )
        possible = [TaskView(self.task).answers[list(one)] for part in sets for one in part]
        blocks = [answer_block(answers, answer_weights(answers)) for answers in possible]
        weights = self._set_weights([len(part) for part in sets], counts)
        self._set_up(blocks, weights=weights, allow_repeats=True)

    def _set_weights(self, sizes: list[int], counts: tuple[int, ...]) -> tuple[float, ...]:
        given = self.weights or (1,) * len(counts)
        if len(given) != len(counts):
            raise InvalidValueError(
                f"VariableChoices was given weights={self.weights!r}; give {len(counts)} numbers,"
                f" one for each of {counts}."
            )
        return tuple(
            weight / size for weight, size in zip(given, sizes, strict=True) for _ in range(size)
        )

    def new_trial(self, trial: TrialBuilder) -> None:
        super().new_trial(trial)
        block = np.zeros(trial.n, np.int64) if self._label is None else trial[self._label]
        trial.record(**{self._count: self._sizes[block]})
