"""Offers of EffortChoice, and the largest reward rate."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

CHANCES = (0.12, 0.5, 0.88)
EASY, LEAST, MOST = 1.0, 1.24, 4.30
"""Dollars of the easy offer, and the smallest and the largest of the hard one."""
PRESSES = (30, 100)


@lru_cache(maxsize=16)
def best_rate(easy_ms: float, hard_ms: float, effort: float) -> float:
    """Return the largest mean reward per ms, and so the price of time.

    Args:
        easy_ms, hard_ms: duration of a trial after each choice.
        effort: cost of a press, dollars.
    """
    amounts = np.arange(124, 431)[:, None] / 100
    easy = np.array(CHANCES) * EASY - effort * PRESSES[0]
    hard = np.array(CHANCES) * amounts - effort * PRESSES[1]  # (307, 3)
    rate = 0.0
    for _ in range(100):  # a fixed point, from policy to rate
        works = hard - rate * hard_ms > easy - rate * easy_ms
        gain = np.where(works, hard, easy).mean()
        rate = gain / np.where(works, hard_ms, easy_ms).mean()
    return rate
