"""Policies that leave out something that counts: the performance that a network must exceed."""

from __future__ import annotations

from collections.abc import Mapping

BLIND = ("rest", "constant", "clock", "random")
"""Shortcuts that see nothing."""
SAME = 0.03
"""Performances that differ by less count as equal."""


def partial(shortcuts: Mapping[str, float]) -> dict[str, float]:
    """Return the policies that leave out something that counts, best first.

    A policy that does as well as a classifier of everything that is shown leaves out nothing that
    counts.

    Args:
        shortcuts: name -> performance, as a manifest has them.
    """
    everything = shortcuts.get("all", shortcuts.get("oracle", 1.0))
    found = {
        name: score
        for name, score in shortcuts.items()
        if name in BLIND or (name not in ("oracle", "all", "held") and score < everything - SAME)
    }
    return dict(sorted(found.items(), key=lambda item: -item[1]))
