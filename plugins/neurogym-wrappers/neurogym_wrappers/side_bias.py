"""Make some answers right more often than others, block by block."""

from __future__ import annotations

from typing import Any

import numpy as np

from neurogym_core.errors import InvalidValueError
from neurogym_core.tasks.drawing import answers_of
from neurogym_core.trials.distributions import Distribution
from neurogym_wrappers.schedule_base import ANSWER, ScheduleBase


class SideBias(ScheduleBase):
    """Blocks in which one answer is right more often: a `Schedule` of what is right.

    As in the blocks of the International Brain Laboratory (2021), eLife 10:e63711,
    doi:10.7554/eLife.63711.

    The record says in `block` which row of `probs` a trial was drawn with.

    Args:
        probs: probability that the favoured answer is right, the others being equally likely: one
            block per answer; or a row of probabilities per block, (blocks, answers).
        length: trials of a block, a number or a distribution; then it ends with probability
            `chance` a trial.
        chance: see `length`; 1: at once.
        order: "random" (the next block is another one), or "sequence".

    Raises:
        NotSupportedError: the task declares no answer, has only one or a continuum, or decides it
            itself.
        InvalidValueError: no probabilities, or blocks that are all alike.
    """

    probs: Any = 0.8
    length: int | Distribution = 100
    chance: float = 1.0
    order: str = "random"

    def define(self) -> None:
        self.check_answers()
        rows = answer_rows(type(self).__name__, self.probs, len(answers_of(self.task)))
        if len(rows) < 2 or np.allclose(rows, rows[0]):
            raise InvalidValueError(
                f"SideBias was given probs={self.probs!r}, with which all blocks are alike. Give"
                " rows that differ, or use RandomAnswers for one bias throughout."
            )
        self._set_up([answer_block(answers_of(self.task), row) for row in rows], again=False)


def answer_block(answers: np.ndarray, p: np.ndarray) -> dict[str, Any]:
    """A block of a schedule in which these answers are right with these probabilities."""
    return {ANSWER: {"choice": [answers.tolist(), p.tolist()]}}


def answer_rows(owner: str, probs: Any, answers: int) -> np.ndarray:
    """Probabilities of the answers, (blocks, answers), of a number or of rows.

    Raises:
        InvalidValueError: they are none.
    """
    try:
        rows = np.asarray(probs, dtype=np.float64)
    except (TypeError, ValueError):
        rows = np.full(3, np.nan)
    if rows.ndim == 0:
        rows = np.where(np.eye(answers, dtype=bool), rows, (1 - rows) / (answers - 1))
    if (
        rows.ndim != 2
        or rows.shape[1] != answers
        or not (rows >= 0).all()
        or not np.allclose(rows.sum(axis=1), 1)
    ):
        raise InvalidValueError(
            f"{owner} was given probs={probs!r}; give a probability from 0 to 1, or rows of"
            f" {answers} probabilities that sum to 1 each, one per answer."
        )
    return rows
