"""`BaseEnv`: an env with a clock and a generator, for task files without trials."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from neurogym_classic.trial import TRIAL_MS, ClassicGenerator


class InvalidOperationError(Exception):
    """Raised by task files; nothing in this package raises it."""


class BaseEnv(gymnasium.Env[Any, Any]):
    """A Gymnasium env with the attributes of NeuroGym's `BaseEnv`.

    `make` plays it like any plain Gymnasium env.

    Args:
        dt: ms per step.

    Attributes:
        t, t_ind: time in ms and in steps; the task counts them.
        tmax: length of a trial, ms.
        rng: the random generator; `seed` replaces it.
    """

    def __init__(self, dt: float = 100) -> None:
        super().__init__()
        self.dt = dt
        self.t: float = 0
        self.t_ind = 0
        self.tmax: float = TRIAL_MS
        self.performance: float = 0
        self.rewards: dict[str, Any] = {}
        self.seed()

    def seed(self, seed: int | None = None) -> list[int | None]:
        """Seed `rng`."""
        self.rng = ClassicGenerator(np.random.PCG64(np.random.SeedSequence(seed)))
        return [seed]
