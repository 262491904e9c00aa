"""Let the number of answers that may be right change from block to block."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np

from neurogym_core.errors import InvalidValueError
from neurogym_core.tasks.drawing import answers_of
from neurogym_core.trials.builder import TrialBuilder
from neurogym_core.trials.distributions import Distribution
from neurogym_wrappers.schedule_base import ScheduleBase
from neurogym_wrappers.side_bias import answer_block


class VariableChoices(ScheduleBase):
    """Blocks in which only some of the answers can be right: a `Schedule` of what is right.

    The record has the number of these answers in `n_choices`. What is shown, and what may be
    chosen, stays as it is.

    Args:
        counts: numbers of answers; (): from 2 to all.
        length: trials of a block, a number or a distribution; then it ends with probability
            `chance` a trial.
        chance: see `length`; 1: at once.
        weights: how likely each count is; (): all alike.
        first: whether it is always the first answers; else any, drawn for every block.
        order: "random", or "sequence".

    Raises:
        NotSupportedError: the task declares no answer, has fewer than three or a continuum, or
            decides it itself.
        InvalidValueError: counts that cannot be, or too many sets of answers (over 1,000) to choose
            from.
    """

    counts: tuple[int, ...] = ()
    length: int | Distribution = 100
    chance: float = 1.0
    weights: tuple[float, ...] = ()
    first: bool = True
    order: str = "random"

    def define(self) -> None:
        self.check_answers(least=3)
        n = len(answers_of(self.task))
        counts = self.counts or tuple(range(2, n + 1))
        if not all(isinstance(count, int) and 1 <= count <= n for count in counts) or counts == (
            n,
        ):
            raise InvalidValueError(
                f"VariableChoices was given counts={self.counts!r}; {self.task.name} has {n} right"
                f" answers: give whole numbers from 1 to {n}, not {n} alone."
            )
        self._count = self.free_name("n_choices")
        how_many = sum(1 if self.first else comb(n, count) for count in counts)
        if how_many > 1000:
            raise InvalidValueError(
                f"VariableChoices was given counts={self.counts!r} and first=False, which makes"
                f" {how_many:,} sets of answers. Give other counts, or first=True."
            )
        sets = [
            [tuple(range(count))] if self.first else list(combinations(range(n), count))
            for count in counts
        ]
        self._sizes = np.concatenate(
            [np.full(len(part), count) for part, count in zip(sets, counts, strict=True)]
        )
        blocks = [
            answer_block(answers_of(self.task)[list(one)], np.full(len(one), 1 / len(one)))
            for part in sets
            for one in part
        ]
        self._set_up(
            blocks, weights=self._set_weights([len(part) for part in sets], counts), again=True
        )

    def _set_weights(self, sizes: list[int], counts: tuple[int, ...]) -> tuple[float, ...]:
        given = self.weights or (1,) * len(counts)
        if len(given) != len(counts):
            raise InvalidValueError(
                f"VariableChoices was given weights={self.weights!r}; give {len(counts)} numbers,"
                f" one per count {counts}."
            )
        return tuple(
            weight / size for weight, size in zip(given, sizes, strict=True) for _ in range(size)
        )

    def new_trial(self, trial: TrialBuilder) -> None:
        super().new_trial(trial)
        block = (
            np.zeros(trial.n, np.int64)
            if self._label is None
            else np.atleast_1d(getattr(trial, self._label))
        )
        trial.record(**{self._count: self._sizes[block]})
