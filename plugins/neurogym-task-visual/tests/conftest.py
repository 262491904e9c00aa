"""Fixtures for the tests of image tasks."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest


@pytest.fixture
def seen():
    """Images of one trial of the oracle, period -> (steps, size, size, 3) floats."""

    def watch(env, seed=1, **conditions):
        image, _ = env.reset(seed=seed, options={"conditions": conditions} if conditions else None)
        images, over = defaultdict(list), False
        while not over:
            images[env.period].append(image.astype(float))
            image, *_, info = env.step(env.right_action(False))  # rests to the end
            over = info["new_trial"]
        return {period: np.stack(several) for period, several in images.items()}

    return watch
