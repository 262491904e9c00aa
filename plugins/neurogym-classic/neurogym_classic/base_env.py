"""`BaseEnv`: an env with a clock and a generator, for task files that do without trials."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from neurogym_classic.trial import TRIAL_MS, ClassicGenerator


class InvalidOperationError(Exception):
    """For task files to raise; nothing here raises it."""


class BaseEnv(gymnasium.Env[Any, Any]):
    """A Gymnasium env with the attributes that NeuroGym's `BaseEnv` has.

    It plays in `make` like any plain Gymnasium env.

    Args:
        dt: ms per step.

    Attributes:
        t, t_ind: ms and steps; the task counts them.
        tmax: ms.
        rng: the generator to draw from; `seed` makes a new one.
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
