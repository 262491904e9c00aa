"""Blocks of trials in which one side is more likely than the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neurogym_core import Distribution, Session
from neurogym_core.errors import InvalidValueError


@dataclass(frozen=True)
class Blocks:
    """An unbiased beginning, then blocks each of which has another prior than the one before.

    Args:
        unbiased: trials of the beginning, in which the left side has a probability of 0.5.
        priors: probabilities of the left side; with two of them, blocks alternate.
        length: distribution of block lengths, trials.
    """

    unbiased: int
    priors: tuple[float, ...]
    length: Distribution

    def __post_init__(self) -> None:
        if self.unbiased < 0:
            raise InvalidValueError(
                f"unbiased_trials={self.unbiased!r} was given; it needs a number of trials, 0 or"
                " more."
            )
        if not self.priors or not all(0 <= p <= 1 for p in self.priors):
            raise InvalidValueError(
                f"priors={self.priors!r} was given; it needs probabilities of the left side, 0 to"
                " 1, at least one."
            )
        if self.length.bounds[0] < 1:
            raise InvalidValueError(
                f"Blocks of {self.length.bounds[0]:g} trials were asked for; let the shortest have"
                " at least 1."
            )

    @property
    def all_priors(self) -> tuple[float, ...]:
        """Every probability of the left side that can occur."""
        return ((0.5,) if self.unbiased else ()) + tuple(self.priors)

    def begin(self, session: Session, rng: np.random.Generator) -> None:
        """Set the state of new sessions: the prior of the block (-1: unbiased) and how many trials
        are left.
        """
        n = len(session)
        session.block_prior = np.full(n, -1)
        session.trials_left = np.full(n, self.unbiased)

    def next_trial(self, session: Session, rng: np.random.Generator) -> np.ndarray:
        """Probability of the left side in the coming trial of each session, (n,)."""
        over = np.flatnonzero(session.trials_left == 0)
        if len(over):
            session.block_prior[over] = self._another(session.block_prior[over], rng)
            session.trials_left[over] = np.rint(self.length.sample(rng, len(over))).astype(int)
        session.trials_left -= 1
        return np.where(session.block_prior < 0, 0.5, np.take(self.priors, session.block_prior))

    def _another(self, old: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Index of a prior other than the old one, all equally likely, (n,)."""
        k = len(self.priors)
        if k == 1:
            return np.zeros(len(old), int)
        first = rng.integers(0, k, len(old))
        other = (old + rng.integers(1, k, len(old))) % k
        return np.where(old < 0, first, other)
