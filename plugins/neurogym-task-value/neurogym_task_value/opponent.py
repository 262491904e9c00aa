"""A player of matching pennies that looks for regularities in what the other one does."""

from __future__ import annotations

import numpy as np

from neurogym_core import Session

DEPTH = 4
"""How many trials it looks back."""
DIGIT = np.array([1, 2])
"""Bits that a trial takes: its choice; its choice and outcome."""
KEPT = (1 << DEPTH * DIGIT) - 1
"""The bits of so many trials."""
LARGEST = 1000
"""Tests of up to so many trials are exact; beyond, the normal approximation is good to a fraction
of a trial.
"""


class Opponent:
    """The opponents of Barraclough, Conroy & Lee (2004), for any number of sessions at once.

    A *context* is what happened in the last d trials: the choices alone (d = 0 to 4), or choices
    and outcomes (d = 1 to 4). For every context it counts what the subject chose next.

    Args:
        algorithm: 0: no contexts; 1: those of choices; 2: all.
        significance: level of the binomial tests.
    """

    def __init__(self, algorithm: int, significance: float) -> None:
        # Of every kind of context: how many trials back, and how many symbols a trial has (2:
        # choice, 4: with outcome).
        choices = [(depth, 2) for depth in range(DEPTH + 1)]
        outcomes = [(depth, 4) for depth in range(1, DEPTH + 1)]
        self.kinds = [[], choices, choices + outcomes][algorithm]
        sizes = [symbols**depth for depth, symbols in self.kinds]
        self.first = np.cumsum([0, *sizes])[:-1].astype(np.int64)
        self.size = sum(sizes)
        self.depth = np.array([depth for depth, _ in self.kinds], np.int64)
        # The past is written as two numbers, the last trial in the lowest digit: choices to base 2,
        # with outcomes to base 4.
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
        """Probability that it chooses target 1 now, (n,)."""
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
        """(n, kinds) where the counts of the present contexts are, of all sessions' one after
        another.
        """
        return np.arange(0, len(session) * self.size, self.size)[:, None] + session.context

    def _contexts(self, session: Session) -> np.ndarray:
        """(n, kinds) the present context of each kind, as a row of `counts`."""
        return self.first + (session.past[:, self.written] & self.looks_back)

    def critical(self, total: np.ndarray, known: np.ndarray) -> np.ndarray:
        """Counts from which on a test of so many trials rejects 1/2; `known`: numbers of which the
        largest is not exceeded.
        """
        exact = self.table.take(total, mode="clip")
        if not known.size or known[known.argmax()] <= LARGEST:
            return exact
        grown = total / 2 + (self.table[LARGEST] - LARGEST / 2) * np.sqrt(total / LARGEST)
        return np.where(total > LARGEST, grown, exact)


def critical_counts(largest: int, significance: float) -> np.ndarray:
    """For n = 0 … largest trials, the count of the commoner choice from which on a binomial test
    rejects 1/2.

    The test is two-sided; the distribution under 1/2 is symmetric, so it rejects where twice the
    upper tail is at most the level."""
    critical = np.empty(largest + 1, np.int64)
    mass = np.ones(1)  # P(k successes in n trials), k = 0 … n
    for n in range(largest + 1):
        # The tail from k up is the one from n - k down.
        accepted = np.count_nonzero(2 * np.cumsum(mass) <= significance)
        critical[n] = n + 1 - accepted
        mass = 0.5 * (np.append(mass, 0) + np.append(0, mass))
    return critical
