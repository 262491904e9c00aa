"""Facts about the answer slots of a layout that several wrappers need."""

from __future__ import annotations

import numpy as np

from neurogym_core import Slot


def asked(slot: Slot) -> np.ndarray:
    """Return whether a trial has the slot, bool (n,)."""
    return np.ones(len(slot.miss), bool) if slot.span.where is None else slot.span.where
