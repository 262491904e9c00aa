"""Mixtures of two odours, with noise that is drawn once for a trial."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from neurogym_core import Choice, InvalidValueError, TrialBuilder

ODOURS = ("A", "B")


def mixtures(task: Any) -> dict[str, Any]:
    """Return the conditions `share` (parts of B, %) and `luck` of a task, for `vary`.

    Args:
        task: a task with the parameters `shares`, % in the mixtures, and `sigma`, the SD of the
            noise of each unit.

    Raises:
        InvalidValueError: shares of no sides, or a negative SD.
    """
    sided = all(0 <= share <= 100 and share != 50 for share in task.shares)
    if not task.shares or not sided or task.sigma < 0:
        raise InvalidValueError(
            f"{task.name} was given shares={task.shares!r} and sigma={task.sigma!r}; give shares"
            " from 0 to 100 %, none of them 50, and an SD of at least 0."
        )
    return {
        "share": Choice(task.shares),
        "luck": lambda rng, prior: rng.standard_normal((prior.n, 2)),
    }


def larger_part(drawn: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return which odour is the larger part, 0 or 1, (n,)."""
    return (drawn["share"] > 50) * 1


def show_mixture(trial: TrialBuilder, sigma: float) -> None:
    """Show the mixture on the channel `odour` during the period of this name."""
    parts = np.stack([100 - trial["share"], trial["share"]], axis=1) / 100
    trial.show("odour", parts + sigma * trial["luck"], during="odour")


__all__ = ["ODOURS", "larger_part", "mixtures", "show_mixture"]
