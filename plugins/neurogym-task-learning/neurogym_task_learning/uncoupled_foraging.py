"""Dynamic foraging with uncoupled sides."""

from __future__ import annotations

import numpy as np

from neurogym_core import InvalidValueError, Session
from neurogym_task_learning.baited_foraging import BaitedForaging


class UncoupledForaging(BaitedForaging):
    """Choose between two sides whose reward probabilities change at different times.

    Grossman, Bari & Cohen (2022), Current Biology 32:586, doi:10.1016/j.cub.2021.12.006.

    Each side has a probability of 0.1, 0.5 or 0.9 of a reward of 1, in blocks of 20 to 35 trials
    that do not depend on the other side: the first block of a random side is shorter by 6 to 21
    trials, so that the sides seldom change together. A new block of a side has another value than
    the last one, and never 0.1 while the other side has 0.1. Networks and agents need their last
    action and reward as inputs (the wrappers `pass_action` and `pass_reward`). Choosing the side
    with the higher probability, or either of equal ones, has a performance of 1, the other one of
    0.

    Guessing and always the same side earn 0.63: the sides are often equal. Staying after a reward
    and else shifting earns 0.83, not much less than the ideal, which infers both probabilities from
    its rewards, 0.86; so it is with these probabilities. With feedback on each answer, repeating
    right ones would earn 0.98.

    Deviations from the paper: numbers and rules are those of public code for this task, and were
    not compared with the paper; two of its rules are left out (a value of 0.1 for a side that was
    better in three blocks, and a longer block after four choices in a row of a side with 0.1); a
    trial is one step; the 400 trials of a session are ours.

    Args:
        values: probabilities of a side; the lowest one is never that of both.
        baited: whether a side stays armed until it is chosen.
    """

    values: tuple[float, ...] = (0.1, 0.5, 0.9)
    baited: bool = False

    def define(self) -> None:
        if len(set(self.values)) < 3 or not all(0 <= p <= 1 for p in self.values):
            raise InvalidValueError(
                f"UncoupledForaging was given values={self.values!r}; give at least three different"
                " probabilities, so that a side has another one in its next block."
            )
        super().define()

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        n = len(session)
        session.empty = np.ones((n, 2))
        session.value = np.full((n, 2), -1.0)  # none yet
        session.left = np.zeros((n, 2), int)
        session.value = self._new_values(session, rng)
        shorter = rng.integers(6, 22, n)[:, None] * (rng.integers(2, size=n)[:, None] == (0, 1))
        session.left = np.maximum(self._lengths(rng, n) - shorter, 1)

    def _lengths(self, rng: np.random.Generator, n: int) -> np.ndarray:
        return rng.integers(20, 36, (n, 2))

    def _new_values(self, session: Session, rng: np.random.Generator) -> np.ndarray:
        """Return values of both sides, where those with no trials left are new, (n, 2)."""
        value, values, least = session.value.copy(), np.array(self.values), min(self.values)
        for side in (0, 1):
            allowed = values != value[:, [side]]
            allowed &= (values != least) | (value[:, [1 - side]] != least)
            drawn = values[(rng.random(allowed.shape) * allowed).argmax(axis=1)]
            value[:, side] = np.where(session.left[:, side] == 0, drawn, value[:, side])
        return value

    def _next_probabilities(self, session: Session, rng: np.random.Generator) -> np.ndarray:
        session.value = self._new_values(session, rng)
        over = session.left == 0
        session.left = np.where(over, self._lengths(rng, len(session)), session.left) - 1
        return session.value
