"""The helpers of NeuroGym's `tasktools` that its task files call."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np


def circular_dist(difference: Any) -> Any:
    """Return the distance on a circle, in [0, pi], of angles that differ by `difference`.

    Angles are in radians; `difference` is at most 2 pi.
    """
    around = np.abs(difference)
    return np.minimum(around, 2 * np.pi - around)


def to_map(*names: Any) -> dict[Hashable, int]:
    """Number names from 0: ``to_map("left", "right")`` or ``to_map(["left", "right"])``."""
    given = names[0] if isinstance(names[0], list) else names
    return {name: number for number, name in enumerate(given)}


__all__ = ["circular_dist", "to_map"]
