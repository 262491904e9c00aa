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

    The default tolerance is 8 %. In the papers it follows performance, so that animals are rewarded
    in about half of the trials; so is a subject here that measures with a Weber fraction of 0.1 and
    produces with one of 0.06. NeuroGym's 20 % and 25 ms are so wide that a subject that ignores the
    intervals, and always acts at the same time, is correct in 76 to 88 % of trials.

    Args:
        tolerance_share: tolerance as a fraction of the wanted time; `tolerance_ms` is added.
        tolerance_ms: constant part of the tolerance, ms.
    """

    tolerance_share: float = 0.08
    tolerance_ms: float = 0

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


def measure(
    interval: np.ndarray, weber: float, rng: np.random.Generator, times: int | None = None
) -> np.ndarray:
    """Draw noisy measurements of intervals, ms, (n,) or (n, times).

    The SD is `weber` times the interval; measurements lie within 3 SD.
    """
    shape = np.shape(interval) if times is None else (*np.shape(interval), times)
    error = np.clip(rng.standard_normal(shape), -3, 3)
    true = interval if times is None else np.asarray(interval)[:, None]
    return true * (1 + weber * error)


def true_duration(task: Task, trial: TrialBuilder, period: str, interval: np.ndarray) -> np.ndarray:
    """Return the interval without noise, ms (n,), or the duration of its period if that is given.

    Durations are given by the setting `timing`, or imposed on trials.
    """
    given = period in task.timing or period in trial.layout.durations
    return trial.duration(period) if given else interval
