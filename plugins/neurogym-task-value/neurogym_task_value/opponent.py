"""A player of matching pennies that looks for regularities in what the other one does."""

from __future__ import annotations

import numpy as np

from neurogym_core import Session

DEPTH = 4
"""How many trials it looks back."""
LARGEST = 1000
"""Tests of up to so many trials are exact; beyond, the normal approximation is good to a fraction of a trial."""


class Opponent:
    """The opponents of Barraclough, Conroy & Lee (2004), for any number of sessions at once.

    A *context* is what happened in the last d trials: the choices alone (d = 0 to 4), or choices and outcomes (d = 1 to
    4). For every context it counts what the subject chose next.

    Args:
        algorithm: 0: no contexts; 1: those of choices; 2: all.
        significance: level of the binomial tests.
    """

    def __init__(self, algorithm: int, significance: float) -> None:
        # Of every kind of context: how many trials back, and how many symbols a trial has (2: choice, 4: with outcome).
        choices = [(depth, 2) for depth in range(DEPTH + 1)]
        outcomes = [(depth, 4) for depth in range(1, DEPTH + 1)]
        self.kinds = [[], choices, choices + outcomes][algorithm]
        sizes = [symbols**depth for depth, symbols in self.kinds]
        self.first = np.cumsum([0, *sizes])[:-1].astype(np.int64)
        self.size = sum(sizes)
        self.depth = np.array([depth for depth, _ in self.kinds], np.int64)
        self.significance = significance
        self.table = critical_counts(LARGEST, significance) if algorithm else None

    def forget(self, session: Session) -> None:
        """Start with an empty history."""
        n = len(session)
        session.counts = np.zeros((n, self.size, 2), np.int32)
        session.recent = np.zeros((n, DEPTH), np.int64)  # 2 * choice + outcome, the last trial first
        session.known = np.zeros(n, np.int64)

    def learn(self, session: Session, choice: np.ndarray, won: np.ndarray, where: np.ndarray) -> None:
        """Add a trial to the history of the sessions `where`."""
        rows = np.flatnonzero(where)
        for kind, context in enumerate(self._contexts(session).T):
            able = rows[session.known[rows] >= self.depth[kind]]
            session.counts[able, context[able], choice[able]] += 1
        session.recent[rows, 1:] = session.recent[rows, :-1]
        session.recent[rows, 0] = 2 * choice[rows] + won[rows]
        session.known[rows] += 1

    def bias(self, session: Session) -> np.ndarray:
        """Probability that it chooses target 1 now, (n,)."""
        if not self.kinds:
            return np.full(len(session), 0.5)
        counts = session.counts[np.arange(len(session))[:, None], self._contexts(session)]
        total = counts.sum(axis=2)
        significant = (counts.max(axis=2) >= self._critical(total)) & (session.known[:, None] >= self.depth)
        share = np.divide(counts[:, :, 1], total, out=np.full(total.shape, 0.5), where=total > 0)
        deviation = np.where(significant, share - 0.5, 0.0)
        largest = np.abs(deviation).argmax(axis=1)
        return 0.5 - deviation[np.arange(len(session)), largest]

    def _contexts(self, session: Session) -> np.ndarray:
        """(n, kinds) the present context of each kind, as a row of `counts`."""
        contexts = np.empty((len(session), len(self.kinds)), np.int64)
        for kind, (depth, symbols) in enumerate(self.kinds):
            recent = session.recent[:, :depth] >> (symbols == 2)
            contexts[:, kind] = self.first[kind] + recent @ symbols ** np.arange(depth)
        return contexts

    def _critical(self, total: np.ndarray) -> np.ndarray:
        exact = self.table[np.minimum(total, LARGEST)]
        if total.max(initial=0) <= LARGEST:
            return exact
        grown = total / 2 + (self.table[LARGEST] - LARGEST / 2) * np.sqrt(total / LARGEST)
        return np.where(total > LARGEST, grown, exact)


def critical_counts(largest: int, significance: float) -> np.ndarray:
    """For n = 0 … largest trials, the count of the commoner choice from which on a binomial test rejects 1/2.

    The test is two-sided; the distribution under 1/2 is symmetric, so it rejects where twice the upper tail is at most
    the level.
    """
    critical = np.empty(largest + 1, np.int64)
    mass = np.ones(1)  # P(k successes in n trials), k = 0 … n
    for n in range(largest + 1):
        # The tail from k up is the one from n - k down.
        accepted = np.count_nonzero(2 * np.cumsum(mass) <= significance)
        critical[n] = n + 1 - accepted
        mass = 0.5 * (np.append(mass, 0) + np.append(0, mass))
    return critical
