"""Sequences of lights."""

from __future__ import annotations

from functools import cache
from itertools import pairwise


@cache
def second_order() -> tuple[tuple[int, ...], ...]:
    """Return all sequences of 12 of four lights in which each pair occurs once, (256, 12).

    They repeat, and begin with light 0 and light 1. The last light says nothing about the next one,
    and the last two say all.
    """
    found: list[tuple[int, ...]] = [(0, 1)]
    for _ in range(11):
        found = [
            (*path, light)
            for path in found
            for light in range(4)
            if light != path[-1] and (path[-1], light) not in pairwise(path)
        ]
    return tuple(path[:12] for path in found if path[-1] == 0)


__all__ = ["second_order"]
