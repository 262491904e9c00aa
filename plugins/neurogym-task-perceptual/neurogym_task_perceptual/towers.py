"""Towers along a corridor, and how a subject moves through it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

SIDES = ("left", "right")
PLACES = 16
"""Places for towers on each wall, 12 cm from one to the next."""
PASSING = 200.0  # ms for which a tower is seen, and from one place to the next

RUN, LEFT, RIGHT = 1, 2, 3  # actions; 0 is standing
APART, STEM, ARM = 12.0, 300.0, 15.0
"""Lengths, cm: from one place to the next; of the stem, with its last metre; and to a choice."""
WIDE, DEEP = 5.0, 10.0
"""Half the width of the stem and the depth of the arms, cm."""
SPEED = 60.0  # cm/s


def seen_towers(drawn: Any) -> np.ndarray:
    """Return the numbers of towers seen at each place on both sides, (n, places, 2)."""
    there = np.stack([drawn[side] for side in SIDES], axis=2)
    moved = np.stack([drawn[f"{side}_misplaced"] for side in SIDES], axis=2) * there
    return there - moved + moved[:, :, ::-1]  # type: ignore[no-any-return]


def surplus_of(drawn: Mapping[str, np.ndarray]) -> np.ndarray:
    """Number of towers on the right minus that on the left, (n,)."""
    return drawn["right"].sum(axis=1) - drawn["left"].sum(axis=1)


def moved(at: np.ndarray, way: np.ndarray, facing: np.ndarray) -> np.ndarray:
    """Return places, cm along and to the right, (n, 2), after running some way between the walls.

    Args:
        at: places before, (n, 2).
        way: length of the way, cm, (n,).
        facing: view, degrees to the right, (n,).
    """
    angle = np.radians(facing)
    along = np.minimum(at[:, 0] + way * np.cos(angle), STEM + DEEP)
    wall = np.where(along < STEM, WIDE, ARM)
    return np.stack([along, np.clip(at[:, 1] + way * np.sin(angle), -wall, wall)], axis=1)


def steering(along: np.ndarray, facing: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the actions, (n,), that lead to an arm by the middle of the stem.

    Args:
        along: place along the stem, cm, (n,).
        facing: view, degrees to the right, (n,).
        right: whether to choose the right arm, (n,).
    """
    toward = np.where(right, facing, -facing)
    return np.where((along < STEM) | (toward > 60), RUN, np.where(right, RIGHT, LEFT))
