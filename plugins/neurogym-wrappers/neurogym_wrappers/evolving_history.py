"""Trial history with random contexts that are replaced over time."""

from __future__ import annotations

import numpy as np

from neurogym_core import InvalidValueError, Session, TrialBuilder
from neurogym_core.players import TaskView
from neurogym_wrappers.block_sequence import BlockSequence
from neurogym_wrappers.condition_wrapper import answer_weights
from neurogym_wrappers.trial_history import TrialHistory

FAVOURED = "evolving_history_favoured"
"""Attribute of a subject with the favoured next answer for every context and last answer."""


class EvolvingHistory(TrialHistory):
    """Draw random contexts of trial history, and replace them over time.

    In every context, each answer is followed by one favoured answer. The favoured answers are drawn
    at random for every subject, and whole contexts are replaced from time to time, so that the
    subject has to forget learned transitions. Blocks, contexts and their replacement continue over
    the subject's sessions, because a block (200 trials) is longer than a session (100), and so is
    the life of a context (400 trials on average). The column `history` of the record has the
    context of every trial, `generation` the number of contexts that were replaced by then. Where
    resting can be correct, it is favoured as often as all other answers together.

    Args:
        probs: probability of the favoured transition; the other transitions are equally likely.
        n_contexts: number of contexts at a time.
        renewal_rate: probability per trial that a new context replaces one of them.
        order, block_length, hazard_rate, allow_repeats, reset_after_error: as in `TrialHistory`.

    Raises:
        NotSupportedError, InvalidValueError: see `TrialHistory`.
    """

    n_contexts: int = 2
    renewal_rate: float = 0.005
    probs: float | tuple[tuple[float, ...], ...] = 0.8

    def _set_contexts(self) -> None:
        if self.contexts:
            raise InvalidValueError(
                f"EvolvingHistory was given contexts={self.contexts!r}, but it draws its"
                " contexts at random. Give n_contexts=, or use TrialHistory."
            )
        if self.n_contexts < 1 or not 0 <= self.renewal_rate <= 1:
            raise InvalidValueError(
                f"EvolvingHistory was given n_contexts={self.n_contexts!r} and"
                f" renewal_rate={self.renewal_rate!r}; give at least one context, and a"
                " probability from 0 to 1."
            )
        p, n = self._probability(), self._size
        if np.isclose(p, 1 / n):
            raise InvalidValueError(
                f"EvolvingHistory was given probs={p!r}, the chance level of {n} answers, so"
                " that no transition would be favoured. Give another probability."
            )
        self._p = p
        self._matrices = np.full((self.n_contexts, n, n), 1 / n)
        self._names = np.arange(self.n_contexts)
        self.sequence = BlockSequence.checked(
            "EvolvingHistory",
            self.n_contexts,
            order=self.order,
            block_length=self.block_length,
            hazard_rate=self.hazard_rate,
            allow_repeats=self.allow_repeats or self.n_contexts == 1,
        )
        self.add_label("history", self.n_contexts)
        self._generation = self.free_name("generation")
        self.vary(**{self._generation: 0})

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        super().new_session(session, rng)
        subject = session.subject
        if hasattr(subject, FAVOURED):
            return
        shape = (len(session), self.n_contexts, self._size)
        setattr(subject, FAVOURED, self._random_answers(rng, shape))
        subject.evolving_history_generation = np.zeros(len(session), np.int64)  # type: ignore[attr-defined]

    def _leads(
        self, session: Session, rng: np.random.Generator, context: np.ndarray
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        favoured, generation = self._evolve(session, rng, context)
        others = self._other_answers(rng, favoured)
        return np.where(rng.random(favoured.shape) < self._p, favoured, others), {
            self._generation: generation
        }

    def _evolve(
        self, session: Session, rng: np.random.Generator, context: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Replace contexts during the coming trials.

        Returns:
            The favoured next answers, (trials, sessions, answers), and the number of replaced
            contexts, (trials, sessions).
        """
        subject = session.subject
        population = getattr(subject, FAVOURED).copy()
        count = subject.evolving_history_generation.copy()  # type: ignore[attr-defined]
        renewed = rng.random(context.shape) < self.renewal_rate
        favoured = np.empty((*context.shape, self._size), np.int64)
        generation = np.empty(context.shape, np.int64)
        rows = np.arange(len(session))
        for k, now in enumerate(context):
            hit = np.flatnonzero(renewed[k])
            population[hit, rng.integers(0, self.n_contexts, len(hit))] = self._random_answers(
                rng, (len(hit), self._size)
            )
            count[hit] += 1
            favoured[k], generation[k] = population[rows, now], count
        setattr(subject, FAVOURED, population)
        subject.evolving_history_generation = count  # type: ignore[attr-defined]
        return favoured, generation

    def _other_answers(self, rng: np.random.Generator, favoured: np.ndarray) -> np.ndarray:
        """Draw answers other than the favoured ones, with their weights."""
        weights = answer_weights(TaskView(self.task).answers)
        reached = np.cumsum(weights)
        # The weights without that of the favoured answer, which the second line jumps over.
        luck = rng.random(favoured.shape) * (1 - weights[favoured])
        luck += np.where(luck >= reached[favoured] - weights[favoured], weights[favoured], 0)
        return np.searchsorted(reached[:-1], luck, side="right")

    def new_trial(self, trial: TrialBuilder) -> None:
        super().new_trial(trial)
        trial[self._generation]  # reading a condition puts it into the record
