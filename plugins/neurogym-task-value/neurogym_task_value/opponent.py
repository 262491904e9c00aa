"""Opponents of matching pennies that exploit regularities in the subject's choices."""

from __future__ import annotations

import numpy as np

from neurogym_core import Session

DEPTH = 4
"""Largest number of past trials in a context."""
DIGIT = np.array([1, 2])
"""Bits of a trial: its choice; its choice and outcome."""
KEPT = (1 << DEPTH * DIGIT) - 1
"""Mask of the bits of all trials in a context."""
LARGEST = 1000
"""Largest number of trials with an exact test.

Beyond, the normal approximation is accurate to a fraction of a trial.
"""


class Opponent:
    """The opponents of Barraclough, Conroy & Lee (2004), for any number of parallel sessions.

    A *context* consists of the last d trials: the choices alone (d = 0 to 4), or choices and
    outcomes (d = 1 to 4). For every context the opponent counts the subject's next choices.

    Args:
        algorithm: 0: no contexts; 1: contexts of choices; 2: all contexts.
        significance: level of the binomial tests.
    """

    def __init__(self, algorithm: int, significance: float) -> None:
        # For every type of context: its number of past trials, and the symbols of a trial (2:
        # choice, 4: with outcome).
        choices = [(depth, 2) for depth in range(DEPTH + 1)]
        outcomes = [(depth, 4) for depth in range(1, DEPTH + 1)]
        self.kinds = [[], choices, choices + outcomes][algorithm]
        sizes = [symbols**depth for depth, symbols in self.kinds]
        self.first = np.cumsum([0, *sizes])[:-1].astype(np.int64)
        self.size = sum(sizes)
        self.depth = np.array([depth for depth, _ in self.kinds], np.int64)
        # The past is encoded as two numbers, the last trial in the lowest digit: choices to base
        # 2, choices with outcomes to base 4.
        self.written = np.array([symbols == 4 for _, symbols in self.kinds], np.int64)
        self.looks_back = np.array([symbols**depth - 1 for depth, symbols in self.kinds], np.int64)
        self.significance = significance
        self.table = critical_counts(LARGEST, significance) if algorithm else None

    def forget(self, session: Session) -> None:
        """Start with an empty history."""
        n = len(session)
        session.counts = np.zeros((n, self.size, 2), np.int32)
        session.past = np.zeros((n, 2), np.int64)
        session.known = np.zeros(n, np.int64)
        session.context = self._contexts(session)

    def learn(
        self, session: Session, choice: np.ndarray, won: np.ndarray, where: np.ndarray
    ) -> None:
        """Add a trial to the history of the sessions `where`."""
        if self.kinds:
            able = np.where(where, session.known, -1)[:, None] >= self.depth
            session.counts.reshape(-1)[
                2 * self._places(session) + np.maximum(choice, 0)[:, None]
            ] += able
        past = session.past << DIGIT
        past[:, 0] |= choice
        past[:, 1] |= 2 * choice + won
        session.past = np.where(where[:, None], past & KEPT, session.past)
        session.known = session.known + where
        session.context = self._contexts(session)

    def bias(self, session: Session) -> np.ndarray:
        """Return the probability of choosing target 1 now, (n,)."""
        if not self.kinds:
            return np.full(len(session), 0.5)
        counts = session.counts.reshape(-1, 2).take(self._places(session), axis=0)
        zeros, ones = counts[:, :, 0], counts[:, :, 1]
        total = zeros + ones
        significant = np.maximum(zeros, ones) >= self.critical(
            total, session.known
        )  # never of 0 trials
        deviation = np.where(significant, ones / np.maximum(total, 1) - 0.5, 0.0)
        return 0.5 - deviation[np.arange(len(session)), np.abs(deviation).argmax(axis=1)]

    def _places(self, session: Session) -> np.ndarray:
        """Indices of the current contexts' counts in the table of all sessions, (n, types)."""
        return np.arange(0, len(session) * self.size, self.size)[:, None] + session.context

    def _contexts(self, session: Session) -> np.ndarray:
        """Current context of each type, as a row of `counts`, (n, types)."""
        return self.first + (session.past[:, self.written] & self.looks_back)

    def critical(self, total: np.ndarray, known: np.ndarray) -> np.ndarray:
        """Return the smallest counts, of `total` trials each, for which a test rejects 1/2.

        `known` holds the numbers of past trials, upper bounds of `total`.
        """
        exact = self.table.take(total, mode="clip")
        if not known.size or known[known.argmax()] <= LARGEST:
            return exact
        grown = total / 2 + (self.table[LARGEST] - LARGEST / 2) * np.sqrt(total / LARGEST)
        return np.where(total > LARGEST, grown, exact)


def critical_counts(largest: int, significance: float) -> np.ndarray:
    """Return the smallest count of the commoner choice that rejects 1/2, for 0 … largest trials.

    The test is two-sided; the distribution under 1/2 is symmetric, so it rejects if twice the upper
    tail is at most the level.
    """
    critical = np.empty(largest + 1, np.int64)
    mass = np.ones(1)  # P(k successes in n trials), k = 0 … n
    for n in range(largest + 1):
        # The tail from k up is the one from n - k down.
        accepted = np.count_nonzero(2 * np.cumsum(mass) <= significance)
        critical[n] = n + 1 - accepted
        mass = 0.5 * (np.append(mass, 0) + np.append(0, mass))
    return critical
