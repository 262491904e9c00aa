"""Make one answer correct more often than the others, block by block."""

from __future__ import annotations

from typing import Any

import numpy as np

from neurogym_core import Distribution, InvalidValueError
from neurogym_core.players import TaskView
from neurogym_wrappers.condition_wrapper import answer_weights
from neurogym_wrappers.schedule_base import ANSWER, ScheduleBase


class SideBias(ScheduleBase):
    """Make one answer correct more often than the others, in blocks of trials.

    As in the blocks of the International Brain Laboratory (2021), eLife 10:e63711,
    doi:10.7554/eLife.63711. This is a `Schedule` of the correct answer.

    Blocks continue over the subject's sessions: a block of 100 trials would otherwise end with the
    session. (Sessions of the laboratory begin with an unbiased block, which this wrapper does not
    have.) A change of block needs `block_length` trials of one subject: of one env, or of one row
    of a dataset. The column `block` of the record has the row of `probs` with which a trial was
    drawn.

    Args:
        probs: probability that the favoured answer is correct, with one block per answer; the other
            answers are equally likely. Where resting can be correct (the answer -1), it has the
            weight of all other answers together, and so has its block in a random order. Or one
            row of probabilities per block, (blocks, answers).
        block_length: minimum number of trials in a block, a number or a distribution.
        hazard_rate: probability per trial that a block ends once it has `block_length` trials; 1:
            it ends there.
        order: "random" (the next block is always a different one), or "sequence".

    Raises:
        NotSupportedError: the task declares no correct choice, has one answer or a continuum of
            them, or imposes its answer.
        InvalidValueError: numbers that are no probabilities, or blocks that are all equal.
    """

    probs: Any = 0.8
    block_length: int | Distribution = 100
    hazard_rate: float = 1.0
    order: str = "random"

    def define(self) -> None:
        self.check_answers()
        weights = answer_weights(TaskView(self.task).answers)
        rows = answer_rows(type(self).__name__, self.probs, weights)
        if len(rows) < 2 or np.allclose(rows, rows[0]):
            raise InvalidValueError(
                f"SideBias was given probs={self.probs!r}, which makes all blocks equal. Give rows"
                " that differ, or use AnswerProbabilities for one bias in all trials."
            )
        blocks = [answer_block(TaskView(self.task).answers, row) for row in rows]
        favoured = np.ndim(self.probs) == 0  # one block per answer
        self._set_up(blocks, allow_repeats=False, weights=tuple(weights) if favoured else ())


def answer_block(answers: np.ndarray, p: np.ndarray) -> dict[str, Any]:
    """Return the block of a schedule that draws these answers with these probabilities."""
    return {ANSWER: {"choice": [answers.tolist(), p.tolist()]}}


def answer_rows(owner: str, probs: Any, weights: np.ndarray) -> np.ndarray:
    """Return the probabilities of the answers, (blocks, answers), from a number or from rows.

    Args:
        owner: name of the wrapper, for errors.
        probs: as for `SideBias`.
        weights: `answer_weights` of the answers.

    Raises:
        InvalidValueError: the numbers are no probabilities.
    """
    try:
        rows = np.asarray(probs, dtype=np.float64)
    except (TypeError, ValueError):
        rows = np.full(3, np.nan)
    answers = len(weights)
    if rows.ndim == 0:
        others = (1 - rows) * weights / (1 - weights)[:, None]
        rows = np.where(np.eye(answers, dtype=bool), rows, others)
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
