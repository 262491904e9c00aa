"""Make what is right depend on what was right before."""

from __future__ import annotations

from typing import Any

import numpy as np

from neurogym_core.errors import InvalidValueError, unknown
from neurogym_core.tasks.constrained import require_undecided
from neurogym_core.tasks.drawing import answer_condition, answers_of
from neurogym_core.tasks.session import Session
from neurogym_core.tasks.state import Conditions
from neurogym_core.trials.distributions import Distribution
from neurogym_core.trials.record import Outcome
from neurogym_wrappers.block_sequence import BlockSequence
from neurogym_wrappers.condition_wrapper import ConditionWrapper

STATE = "trial_history_last"
"""Where a session keeps the last right answer, as its row of the matrix."""


class TrialHistory(ConditionWrapper):
    """The right answer of a trial depends on that of the trial before, whatever the subject did.

    Hermoso-Mendizabal, Hyafil, Rueda-Orozco, Jaramillo, Robbe & de la Rocha (2020), Nat. Commun.
    11:1057, doi:10.1038/s41467-020-14824-w: their rats had blocks in which the answer tended to
    repeat or to alternate (``contexts=("repeating", "alternating")``).

    The trial before a session's first one is imagined, with any answer equally likely. Other
    conditions are drawn as the task draws them; where the right answer is computed from them, they
    are drawn until it is the wanted one. Conditions that `reset` imposes come last, and win.
    Answers are the task's `answers`, in this order (-1: resting is right). With several contexts
    the record says in `history` which one a trial was in.

    Args:
        probs: probability of the favoured transition, the others being equally likely; or a matrix,
            (answers, answers), whose row is the last right answer and whose rows sum to 1.
        contexts: what is favoured, block by block: "repeating", "alternating" (any other answer),
            "clockwise" (the next one), "anticlockwise", or a matrix; (): repeating, or the matrix
            in `probs`, throughout.
        order: of the contexts: "sequence" (in turn) or "random".
        length: trials of a block, a number or a distribution; then it ends with probability
            `chance` a trial.
        chance: see `length`; 1: at once.
        again: whether a random order may take the same context twice in a row.
        reset: whether the history is forgotten after a trial that was not correct: the next answer
            is any.

    Raises:
        NotSupportedError: the task declares no answer (``vary(answer=…)``), has only one or a
            continuum, or decides it itself.
        InvalidValueError: no probabilities, a matrix of another size, or one whose rows are all
            alike, so that nothing would depend on the last trial.
        UnknownNameError: no such context, or order.
    """

    probs: float | tuple[tuple[float, ...], ...] = 0.8
    contexts: tuple[Any, ...] = ()
    order: str = "sequence"
    length: int | Distribution = 200
    chance: float = 1.0
    again: bool = False
    reset: bool = False

    def define(self) -> None:
        self.check_answers()
        self._size = len(answers_of(self.task))
        self._set_contexts()
        # Try every answer once.
        require_undecided(self.task, type(self).__name__, answer=answers_of(self.task))

    def _set_contexts(self) -> None:
        self._matrices = np.stack(
            [self._matrix(context) for context in self.contexts or (self.probs,)]
        )
        self.sequence = BlockSequence.checked(
            type(self).__name__,
            len(self._matrices),
            order=self.order,
            length=self.length,
            chance=self.chance,
            again=self.again or len(self._matrices) == 1,
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
                f"{type(self).__name__} was given probs={self.probs!r}, with which the right answer"
                f" of {self.task.name} would not depend on the last one. Give a probability other"
                " than chance, or a matrix whose rows differ."
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
        n = self._size
        favoured = {
            "repeating": np.eye(n),
            "alternating": (1 - np.eye(n)) / (n - 1),
            "clockwise": np.roll(np.eye(n), 1, axis=1),
            "anticlockwise": np.roll(np.eye(n), -1, axis=1),
        }
        if context not in favoured:
            raise unknown("context", context, favoured, of=type(self).__name__)
        others = (favoured[context] == 0).astype(float)
        return p * favoured[context] + (1 - p) * others / others.sum(axis=1, keepdims=True)

    def _given_matrix(self, given: Any) -> np.ndarray:
        n = self._size
        try:
            matrix = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            raise self._bad_probs(given) from None
        if matrix.ndim == 0:
            matrix = np.where(np.eye(n, dtype=bool), matrix, (1 - matrix) / (n - 1))
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
            f"{type(self).__name__} was given probs={given!r}; {self.task.name} has {n} right"
            f" answers, {answers_of(self.task).tolist()}. Give a probability of repeating, from 0"
            f" to 1, or {n} rows of {n} probabilities that sum to 1 each."
        )

    # ------------------------------------------------------------------ drawing

    @property
    def reads_outcomes(self) -> bool:
        return self.reset or self.sequence.reads_outcomes or self.task.reads_outcomes

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        super().new_session(session, rng)
        setattr(session, STATE, rng.integers(0, self._size, len(session)))
        self.sequence.begin(session, rng)

    def draw_constrained(
        self,
        session: Session,
        rng: np.random.Generator,
        trials: int,
        imposed: dict[str, np.ndarray],
        answer: np.ndarray | None,
    ) -> Conditions:
        self.clash(
            {"the right answer"}
            if answer is not None or answer_condition(self.task) in imposed
            else ()
        )
        context = self.sequence.advance(session, rng, trials)
        if self.reset:
            self._forget(session, rng)
        leads, labels = self._leads(session, rng, context)
        chain = _composed(leads, getattr(session, STATE))
        setattr(session, STATE, chain[-1])
        if self._label is not None:
            labels[self._label] = self._names[context]
        return self.draw_wrapped(
            session, rng, trials, {**imposed, **labels}, answers_of(self.task)[chain]
        )

    def _forget(self, session: Session, rng: np.random.Generator) -> None:
        """After a trial that was not correct, the last answer may have been any."""
        last = getattr(session, STATE).copy()
        wrong = (session.trial > 0) & (session.previous["outcome"] != Outcome.CORRECT)
        last[wrong] = rng.integers(0, self._size, int(wrong.sum()))
        setattr(session, STATE, last)

    def _leads(
        self, session: Session, rng: np.random.Generator, context: np.ndarray
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """What each trial makes of every possible last answer, (trials, sessions, answers), and
        what to record of it.
        """
        luck = rng.random((*context.shape, 1, 1))
        cumulative = self._cumulative[0] if len(self._matrices) == 1 else self._cumulative[context]
        return (luck >= cumulative).sum(axis=3), {}


def _composed(leads: np.ndarray, last: np.ndarray) -> np.ndarray:
    """The right answers of the coming trials, (trials, sessions), as rows of the matrix."""
    # Composing these maps with those before, twice as many each time, does away with a loop over
    # trials.
    reach = 1
    while reach < len(leads):
        leads[reach:] = np.take_along_axis(leads[reach:], leads[:-reach], axis=2)
        reach *= 2
    return np.take_along_axis(leads, last[None, :, None], axis=2)[:, :, 0]
