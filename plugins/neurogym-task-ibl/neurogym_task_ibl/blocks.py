"""Blocks of trials with a biased prior for the side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neurogym_core import Distribution, InvalidValueError, Session


@dataclass(frozen=True)
class Blocks:
    """An unbiased beginning, then blocks whose prior differs from that of the previous block.

    Args:
        unbiased: number of trials at the beginning in which the left side has a probability of 0.5.
        priors: probabilities of the left side; two of them alternate.
        length: distribution of block lengths, trials.
    """

    unbiased: int
    priors: tuple[float, ...]
    length: Distribution

    def __post_init__(self) -> None:
        if self.unbiased < 0:
            raise InvalidValueError(
                f"unbiased_trials={self.unbiased!r} was given; give a number of trials, 0 or more."
            )
        if not self.priors or not all(0 <= p <= 1 for p in self.priors):
            raise InvalidValueError(
                f"priors={self.priors!r} was given; give at least one probability of the left side,"
                " from 0 to 1."
            )
        if self.length.bounds[0] < 1:
            raise InvalidValueError(
                f"shortest_block={self.length.bounds[0]:g} was given; give a number of trials, at"
                " least 1."
            )

    @property
    def all_priors(self) -> tuple[float, ...]:
        """All probabilities of the left side that can occur."""
        return ((0.5,) if self.unbiased else ()) + tuple(self.priors)

    def begin(self, session: Session, rng: np.random.Generator) -> None:
        """Set the prior (-1: unbiased) and the remaining trials of a session's first block."""
        n = len(session)
        session.block_prior = np.full(n, -1)
        session.trials_left = np.full(n, self.unbiased)

    def next_trial(self, session: Session, rng: np.random.Generator) -> np.ndarray:
        """Return the probability of the left side on the next trial of each session, (n,)."""
        over = np.flatnonzero(session.trials_left == 0)
        if len(over):
            session.block_prior[over] = self._another(session.block_prior[over], rng)
            session.trials_left[over] = np.rint(self.length.sample(rng, len(over))).astype(int)
        session.trials_left -= 1
        return np.where(session.block_prior < 0, 0.5, np.take(self.priors, session.block_prior))

    def _another(self, old: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw the index of a prior other than the old one, all equally likely, (n,)."""
        k = len(self.priors)
        if k == 1:
            return np.zeros(len(old), int)
        first = rng.integers(0, k, len(old))
        other = (old + rng.integers(1, k, len(old))) % k
        return np.where(old < 0, first, other)
