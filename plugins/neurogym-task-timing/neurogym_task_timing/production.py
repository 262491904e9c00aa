"""Base of the tasks with a target time."""

from __future__ import annotations

from typing import Any

import numpy as np

from neurogym_core import PowerLaw, Task, TrialBuilder


class Production(Task):
    """Base of tasks in which the subject acts when an interval has elapsed.

    Acting within the tolerance (a fraction of the wanted time plus a constant) is correct, and the
    reward falls with the error: from 1 at no error with (1 - error / tolerance) ^ 1.5, to no less
    than 0.1. Acting outside the tolerance is an error. The target time is in whole steps: `wanted`
    in the record, ms.

    Args:
        tolerance_share: tolerance as a fraction of the wanted time; `tolerance_ms` is added.
        tolerance_ms: constant part of the tolerance, ms.
    """

    tolerance_share: float = (
        0.2  # as in NeuroGym, after Wang et al. (2018), doi:10.1038/s41593-017-0028-6
    )
    tolerance_ms: float = 25  # likewise

    def ask_at(
        self, trial: TrialBuilder, action: str, wanted: np.ndarray, during: str, **terms: Any
    ) -> None:
        """Ask for an action `wanted` ms (n,) after the onset of a period.

        Args:
            terms: as in `TrialBuilder.answer_at`.
        """
        tolerance = self.tolerance_share * wanted + self.tolerance_ms
        pays = PowerLaw(most=self.rewards["correct"])
        trial.answer_at(action, wanted, during=during, tolerance=tolerance, pays=pays, **terms)

    def whole_steps(self, ms: Any) -> np.ndarray:
        """Return durations as displayed, ms: whole steps, halves rounded up, one at least."""
        return np.maximum(np.floor(np.asarray(ms, float) / self.dt + 0.5 + 1e-9), 1) * self.dt
