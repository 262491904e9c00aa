"""Columns that a signature needs, or the reason why the record cannot tell."""

from __future__ import annotations

import numpy as np
from neurogym_behaviour.behaviour import Behaviour, CannotTellError

LEAST = 30
"""Fewest trials of a kind."""


def columns(behaviour: Behaviour, *names: str) -> list[np.ndarray]:
    """Return columns of the record, (n,) or (n, …) each.

    Raises:
        CannotTellError: the record lacks one of them.
    """
    missing = [name for name in names if name not in behaviour.record]
    if missing:
        raise CannotTellError(f"the record has no column {', '.join(missing)}")
    return [behaviour.record[name] for name in names]


def enough(*parts: np.ndarray) -> None:
    """Check that each kind, trials as bool (n,), has at least `LEAST` trials.

    Raises:
        CannotTellError: one of them has fewer.
    """
    if min(int(np.sum(part)) for part in parts) < LEAST:
        raise CannotTellError(f"fewer than {LEAST} trials of a kind")


__all__ = ["LEAST", "columns", "enough"]
