"""Make the correct answer depend on that of the last trial."""

from __future__ import annotations

from typing import Any

import numpy as np

from neurogym_core import Distribution, InvalidValueError, Outcome, Session
from neurogym_core.players import TaskView
from neurogym_core.tools import unknown
from neurogym_wrappers.block_sequence import BlockSequence
from neurogym_wrappers.condition_wrapper import ConditionWrapper, answer_weights, require_undecided

STATE = "trial_history_last"
"""Attribute of a session with the last correct answer, as a row of the matrix."""


class TrialHistory(ConditionWrapper):
    """Draw the correct answer of a trial from a transition matrix, given that of the last trial.

    As in Hermoso-Mendizabal, Hyafil, Rueda-Orozco, Jaramillo, Robbe & de la Rocha (2020), Nat.
    Commun. 11:1057, doi:10.1038/s41467-020-14824-w, whose rats had blocks in which the answer
    tended to repeat or to alternate (``contexts=("repeating", "alternating")``).

    The actions of the subject have no effect on the answers, unless `reset_after_error` is True.
    The first trial of a session follows a random answer. Blocks continue over the subject's
    sessions, because a block of 200 trials is longer than a session of 100. A change of context
    needs `block_length` trials of one subject: of one env, or of one row of a dataset. In a random
    order, the first context differs between subjects.

    The task draws the other conditions; if it computes the correct answer from them, they are
    redrawn until the answer is the drawn one. Conditions that `reset` imposes override both. Rows
    and columns of a matrix are the task's `answers`, in this order (-1: resting is correct). Where
    resting can be correct, it has the weight of all other answers together among those that are not
    favoured: with repetition at 0.8 of rest or one of 32 directions, rest is correct in 1/3 of the
    trials. With several contexts, the column `history` of the record has the context of every
    trial.

    Args:
        probs: probability of the favoured transition, with the others equally likely (but see rest
            above); or a matrix (answers, answers), with one row per last answer. Rows sum to 1.
        contexts: favoured transitions of the blocks: "repeating", "alternating" (any other answer),
            "clockwise" (the next answer), "anticlockwise" (the previous answer), or a matrix; ():
            "repeating", or the matrix in `probs`, in all trials.
        order: order of the contexts, "random" or "sequence" (all subjects begin with the first).
        block_length: minimum number of trials in a block, a number or a distribution.
        hazard_rate: probability per trial that a block ends once it has `block_length` trials; 1:
            it ends there.
        allow_repeats: whether a random order may draw the same context twice in a row.
        reset_after_error: whether a trial without a correct answer (an error, a miss or an abort)
            resets the history, so that the next answer is random.

    Raises:
        NotSupportedError: the task declares no correct choice, has one answer or a
            continuum of them, imposes its answer, or has sessions of one trial.
        InvalidValueError: numbers that are no probabilities, a matrix of the wrong size, or one
            with equal rows, so that the answer would not depend on the last trial.
        UnknownNameError: no such context, or order.
    """

    probs: float | tuple[tuple[float, ...], ...] = 0.8
    contexts: tuple[Any, ...] = ()
    order: str = "random"
    block_length: int | Distribution = 200
    hazard_rate: float = 1.0
    allow_repeats: bool = False
    reset_after_error: bool = False

    def define(self) -> None:
        self.check_answers()
        if self.task.trials_per_session == 1:
            raise self.refusal(
                "its sessions have 1 trial (trials_per_session=1), and the first trial of a session"
                " follows a random answer, so that no trial would depend on the last one; give it"
                " sessions of 2 trials or more"
            )
        self._size = len(TaskView(self.task).answers)
        self._set_contexts()
        # Drawing every answer once shows here, not in a run, that another wrapper sets it.
        require_undecided(self.task, type(self).__name__, answer=TaskView(self.task).answers)

    def _set_contexts(self) -> None:
        self._matrices = np.stack(
            [self._matrix(context) for context in self.contexts or (self.probs,)]
        )
        self.sequence = BlockSequence.checked(
            type(self).__name__,
            len(self._matrices),
            order=self.order,
            block_length=self.block_length,
            hazard_rate=self.hazard_rate,
            allow_repeats=self.allow_repeats or len(self._matrices) == 1,
        )
        self._cumulative = np.cumsum(self._matrices, axis=2)[:, :, :-1]
        if len(self._matrices) > 1:
            named = (
                all(isinstance(context, str) for context in self.contexts)
                and len(set(self.contexts)) > 1
            )
            self._names = np.asarray(self.contexts if named else range(len(self._matrices)))
            self.add_label("history", tuple(dict.fromkeys(self._names.tolist())))

    @property
    def matrix(self) -> np.ndarray:
        """Transition matrix of the first context, (answers, answers), row = last answer."""
        return self._matrices[0]

    @property
    def matrices(self) -> np.ndarray:
        """Transition matrices of all contexts, (contexts, answers, answers)."""
        return self._matrices

    # ------------------------------------------------------------------ matrices

    def _matrix(self, context: Any) -> np.ndarray:
        """Transition matrix, (answers, answers), row = last answer."""
        if isinstance(context, str) and self.contexts:
            matrix = self._favouring(context, self._probability())
        else:
            matrix = self._given_matrix(context)
        if np.allclose(matrix, matrix[0]):
            raise InvalidValueError(
                f"{type(self).__name__} was given probs={self.probs!r}, with which the correct"
                f" answer of {self.task.name} would not depend on the last one. Give a probability"
                " other than chance level, or a matrix whose rows differ."
            )
        return matrix

    def _probability(self) -> float:
        if not isinstance(self.probs, float | int) or not 0 <= self.probs <= 1:
            raise InvalidValueError(
                f"{type(self).__name__} was given probs={self.probs!r} and contexts by name; give"
                " the probability of the favoured transition, from 0 to 1."
            )
        return float(self.probs)

    def _favouring(self, context: str, p: float) -> np.ndarray:
        same = np.eye(self._size, dtype=bool)
        favoured = {
            "repeating": same,
            "alternating": ~same,
            "clockwise": np.roll(same, 1, axis=1),
            "anticlockwise": np.roll(same, -1, axis=1),
        }
        if context not in favoured:
            raise unknown("context", context, favoured, of=type(self).__name__)
        weights = answer_weights(TaskView(self.task).answers)
        matrix = np.zeros((self._size, self._size))
        for share, cells in ((p, favoured[context]), (1 - p, ~favoured[context])):
            matrix += share * (cells * weights) / (cells @ weights)[:, None]
        return matrix

    def _given_matrix(self, given: Any) -> np.ndarray:
        n = self._size
        try:
            matrix = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            raise self._bad_probs(given) from None
        if matrix.ndim == 0:
            matrix = self._favouring("repeating", float(matrix))
        sums = (
            matrix.shape == (n, n)
            and np.isfinite(matrix).all()
            and np.allclose(matrix.sum(axis=1), 1)
        )
        if not sums or (matrix < 0).any():
            raise self._bad_probs(given)
        return matrix

    def _bad_probs(self, given: Any) -> InvalidValueError:
        n = self._size
        return InvalidValueError(
            f"{type(self).__name__} was given probs={given!r}; {self.task.name} has {n} correct"
            f" answers, {TaskView(self.task).answers.tolist()}. Give a probability of repeating,"
            f" from 0 to 1, or {n} rows of {n} probabilities that sum to 1 each."
        )

    # ------------------------------------------------------------------ drawing

    @property
    def reads_outcomes(self) -> bool:
        return self.reset_after_error or self.sequence.reads_outcomes or self.task.reads_outcomes

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        super().new_session(session, rng)
        setattr(session, STATE, self._random_answers(rng, len(session)))
        self.sequence.begin(session, rng)

    def draw_constrained(
        self,
        session: Session,
        rng: np.random.Generator,
        trials: int,
        imposed: dict[str, np.ndarray],
        answer: np.ndarray | None,
    ) -> dict[str, np.ndarray]:
        self.clash(
            {"the correct answer"}
            if answer is not None or TaskView(self.task).answer_condition in imposed
            else ()
        )
        context = self.sequence.advance(session, rng, trials)
        if self.reset_after_error:
            self._reset_history(session, rng)
        leads, labels = self._leads(session, rng, context)
        chain = _composed(leads, getattr(session, STATE))
        setattr(session, STATE, chain[-1])
        if self._label is not None:
            labels[self._label] = self._names[context]
        return self.draw_wrapped(
            session, rng, trials, {**imposed, **labels}, TaskView(self.task).answers[chain]
        )

    def _reset_history(self, session: Session, rng: np.random.Generator) -> None:
        """Replace the last answer by a random one after a trial that was not correct."""
        last = getattr(session, STATE).copy()
        wrong = (session.trial > 0) & (session.previous["outcome"] != Outcome.CORRECT)
        last[wrong] = self._random_answers(rng, int(wrong.sum()))
        setattr(session, STATE, last)

    def _random_answers(self, rng: np.random.Generator, shape: int | tuple[int, ...]) -> np.ndarray:
        """Draw answers, as rows of the matrix, with rest as frequent as all other answers."""
        return rng.choice(self._size, shape, p=answer_weights(TaskView(self.task).answers))

    def _leads(
        self, session: Session, rng: np.random.Generator, context: np.ndarray
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Draw the next answer for every possible last answer.

        Returns:
            The next answers, (trials, sessions, answers), and conditions to record.
        """
        luck = rng.random((*context.shape, 1, 1))
        cumulative = self._cumulative[0] if len(self._matrices) == 1 else self._cumulative[context]
        return (luck >= cumulative).sum(axis=3), {}


def _composed(leads: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Return the correct answers of the coming trials, (trials, sessions), as rows of the matrix.

    Args:
        leads: next answer for every possible last answer, (trials, sessions, answers).
        last: last answer of each session, (sessions,).
    """
    # After each pass, `leads[t]` maps the answer `2 * reach` trials earlier to that of trial t:
    # log2(trials) passes replace a loop over trials.
    reach = 1
    while reach < len(leads):
        leads[reach:] = np.take_along_axis(leads[reach:], leads[:-reach], axis=2)
        reach *= 2
    return np.take_along_axis(leads, last[None, :, None], axis=2)[:, :, 0]
