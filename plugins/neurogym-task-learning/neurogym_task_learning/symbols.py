"""Symbols A to F of probabilistic selection, and the pairs of a session."""

from __future__ import annotations

import numpy as np

SYMBOLS = ("A", "B", "C", "D", "E", "F")
UNITS = tuple(f"symbol {k + 1}" for k in range(6))
"""Names of the units, which show the symbols in another order in each session."""
CHANCES = np.array((0.8, 0.2, 0.7, 0.3, 0.6, 0.4))
"""Probability that each symbol is the rewarded one of its pair."""
TRAINED = np.array(((0, 1), (2, 3), (4, 5)))
TESTED = np.array([(one, other) for one in range(6) for other in range(one + 1, 6)])


def index_of(symbols: np.ndarray) -> np.ndarray:
    """Return the index of each symbol, of an array of names."""
    return np.searchsorted(SYMBOLS, symbols)


def chance_of(symbols: np.ndarray) -> np.ndarray:
    """Return the probability of a reward of each symbol, of an array of names."""
    return CHANCES[index_of(symbols)]


def schedule(rng: np.random.Generator, n: int, blocks: int) -> np.ndarray:
    """Return the indices of the left and the right symbol, (n, 60 * (blocks + 1), 2).

    Each block of training has the three pairs 20 times, and the test, at the end, all 15 pairs four
    times, in random order and on random sides.
    """
    places = np.tile(np.arange(60), (n, 1))
    train = [TRAINED[rng.permuted(places % 3, axis=1)] for _ in range(blocks)]
    test = TESTED[rng.permuted(places % 15, axis=1)]
    return rng.permuted(np.concatenate([*train, test], axis=1), axis=2)


__all__ = ["CHANCES", "SYMBOLS", "TESTED", "TRAINED", "UNITS", "chance_of", "index_of", "schedule"]
