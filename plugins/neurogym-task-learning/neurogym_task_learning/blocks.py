"""Blocks of dynamic foraging with coupled sides."""

from __future__ import annotations

import numpy as np

PAIRS = ((0.4, 0.05), (0.386, 0.064), (0.3375, 0.1125))
"""Probabilities of the richer and the poorer side: 8:1, 6:1 and 3:1."""
KINDS = np.array([*PAIRS, *(pair[::-1] for pair in PAIRS), (0.225, 0.225)])
"""(7, 2) probabilities of the left and the right side in each kind of block."""
SIDE = np.repeat((0, 1, 2), (3, 3, 1))
FOLLOWS = (SIDE[:, None] != SIDE) / (SIDE[:, None] != SIDE).sum(axis=1, keepdims=True)
"""(7, 7) probability of the next kind of block: the richer side is another one, or none is."""


def following(kind: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the kind of the next block of each session, (n,), given the last one, (n,)."""
    cumulative = np.cumsum(FOLLOWS[kind], axis=1)
    drawn = (rng.random((len(kind), 1)) > cumulative).sum(axis=1)
    return np.minimum(drawn, len(KINDS) - 1)  # a sum of probabilities may be below 1


__all__ = ["FOLLOWS", "KINDS", "following"]
