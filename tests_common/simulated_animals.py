"""Simulated animals, for tests alone: bounded diffusion with a collapsing bound.

They are synthetic: no number here is of an animal.
"""

from __future__ import annotations

import numpy as np
from neurogym_likeness.bits import Answers

LEVELS = np.array([0, 3.2, 6.4, 12.8, 25.6, 51.2])


def diffusion(
    n, seed, *, drift=13.6, bound=0.75, collapse=0.35, non_decision=0.33, dt=20.0
) -> Answers:
    """Answers of a bounded diffusion; `dt` is the clock of its reaction times in ms."""
    rng = np.random.default_rng(seed)
    level = rng.permutation(np.resize(np.repeat(LEVELS, 2), n))
    side = rng.permutation(np.resize([0, 1], n))
    signed = np.where(side == 1, level, -level) + 0.0
    step, x = 0.005, np.zeros(n)
    time, choice, going = np.full(n, np.nan), np.full(n, -1), np.arange(n)
    for k in range(600):
        x[going] += signed[going] / 100 * drift * step
        x[going] += np.sqrt(step) * rng.standard_normal(len(going))
        # A sum over steps passes its bound by 0.583 SD of a step.
        stops = abs(x[going]) >= bound * np.exp(-collapse * k * step) - 0.583 * np.sqrt(step)
        done = going[stops]
        time[done], choice[done] = (k + 1) * step + non_decision, x[done] > 0
        going = going[~stops]
    time = np.ceil(1000 * time / dt) * dt
    return Answers(signed, choice, time, np.arange(n) // 100)


def population(k, seed, n=600) -> dict[str, Answers]:
    """`k` animals that differ in drift, bound, collapse and non-decision time."""
    rng = np.random.default_rng(seed)
    found = {}
    for index in range(k):
        z = rng.standard_normal(4)
        found[f"animal {index}"] = diffusion(
            n, int(rng.integers(2**31)), drift=13.6 * np.exp(0.2 * z[0]),
            bound=0.75 * np.exp(0.12 * z[1]), collapse=0.35 * np.exp(0.25 * z[2]),
            non_decision=0.33 + 0.045 * z[3],
        )  # fmt: skip
    return found
