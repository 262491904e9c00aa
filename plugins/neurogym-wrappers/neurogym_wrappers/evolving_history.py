"""Trial history whose contexts are drawn at random, die, and are replaced."""

from __future__ import annotations

import numpy as np

from neurogym_core.errors import InvalidValueError
from neurogym_core.tasks.session import Session
from neurogym_core.trials.builder import TrialBuilder
from neurogym_wrappers.block_sequence import BlockSequence
from neurogym_wrappers.trial_history import TrialHistory

FAVOURED = "evolving_history_favoured"
"""Where a session keeps, for every context and last answer, the favoured next answer."""


class EvolvingHistory(TrialHistory):
    """A population of random contexts, each favouring an answer of its own after every answer; they
    die and are replaced.

    A `TrialHistory` whose matrices are drawn by the session itself: what was learned about the
    transitions of a task has to be forgotten again. The record says in `history` which of the
    contexts a trial was in, and in `generation` how many contexts the session had renewed before
    it.

    Args:
        probs: probability of the favoured transition, the others being equally likely.
        population: number of contexts.
        renewal: probability, on every trial, that one of them is replaced by a new one.
        order, length, chance, again, reset: as in `TrialHistory`; blocks are drawn at random.

    Raises:
        NotSupportedError, InvalidValueError: see `TrialHistory`.
    """

    population: int = 2
    renewal: float = 0.005
    probs: float | tuple[tuple[float, ...], ...] = 0.8
    order: str = "random"

    def _set_contexts(self) -> None:
        if self.contexts:
            raise InvalidValueError(
                f"EvolvingHistory was given contexts={self.contexts!r}, but draws its own. Give"
                " population=, or use TrialHistory."
            )
        if self.population < 1 or not 0 <= self.renewal <= 1:
            raise InvalidValueError(
                f"EvolvingHistory was given population={self.population!r} and"
                f" renewal={self.renewal!r}; give at least one context, and a probability from 0"
                " to 1."
            )
        p, n = self._probability(), self._size
        if np.isclose(p, 1 / n):
            raise InvalidValueError(
                f"EvolvingHistory was given probs={p!r}, which favours none of {n} answers. Give"
                " another one."
            )
        self._p = p
        self._matrices = np.full((self.population, n, n), 1 / n)
        self._names = np.arange(self.population)
        self.sequence = BlockSequence.checked(
            "EvolvingHistory",
            self.population,
            order=self.order,
            length=self.length,
            chance=self.chance,
            again=self.again or self.population == 1,
        )
        self.add_label("history", self.population)
        self._generation = self.free_name("generation")
        self.vary(**{self._generation: 0})

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        super().new_session(session, rng)
        setattr(
            session,
            FAVOURED,
            rng.integers(0, self._size, (len(session), self.population, self._size)),
        )
        session.evolving_history_generation = np.zeros(len(session), np.int64)  # type: ignore[attr-defined]

    def _leads(
        self, session: Session, rng: np.random.Generator, context: np.ndarray
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        favoured, generation = self._evolve(session, rng, context)
        # Any answer but the favoured one: counted on from it around the answers.
        others = (favoured + rng.integers(1, self._size, favoured.shape)) % self._size
        return np.where(rng.random(favoured.shape) < self._p, favoured, others), {
            self._generation: generation
        }

    def _evolve(
        self, session: Session, rng: np.random.Generator, context: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The favoured next answers, (trials, sessions, answers), and how many contexts were
        renewed, (trials, sessions).
        """
        population = getattr(session, FAVOURED).copy()
        count = session.evolving_history_generation.copy()  # type: ignore[attr-defined]
        renewed = rng.random(context.shape) < self.renewal
        favoured = np.empty((*context.shape, self._size), np.int64)
        generation = np.empty(context.shape, np.int64)
        rows = np.arange(len(session))
        for k, now in enumerate(context):
            hit = np.flatnonzero(renewed[k])
            population[hit, rng.integers(0, self.population, len(hit))] = rng.integers(
                0, self._size, (len(hit), self._size)
            )
            count[hit] += 1
            favoured[k], generation[k] = population[rows, now], count
        setattr(session, FAVOURED, population)
        session.evolving_history_generation = count  # type: ignore[attr-defined]
        return favoured, generation

    def new_trial(self, trial: TrialBuilder) -> None:
        super().new_trial(trial)
        getattr(trial, self._generation)  # recorded, and nowhere else
