"""Facts about the questions of a layout that several wrappers need."""

from __future__ import annotations

import numpy as np

from neurogym_core.trials.layout import Slot


def asked(slot: Slot) -> np.ndarray:
    """Trials in which a slot is asked, bool (n,)."""
    return np.ones(len(slot.miss), bool) if slot.span.where is None else slot.span.where
