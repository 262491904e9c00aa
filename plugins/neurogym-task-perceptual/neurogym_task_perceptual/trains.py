"""Trains of clicks: their steps, and how they are shown."""

from __future__ import annotations

import numpy as np

from neurogym_core import TrialBuilder


def steps_of(ms: float | np.ndarray, dt: float) -> np.ndarray:
    """Return the number of steps of `dt` ms in durations, (n,) or one: at least 1."""
    return np.maximum(np.floor(np.divide(ms, dt) + 0.5), 1).astype(int)


def show_clicks(trial: TrialBuilder, channel: str, units: tuple[str, ...]) -> None:
    """Show conditions as clicks during the period "stimulus".

    Args:
        trial: the builder of the trials.
        channel: the channel, with one unit for each of `units`.
        units: conditions with the numbers of clicks on each step, (n, steps) each.
    """
    steps = steps_of(trial.duration("stimulus"), trial.dt).max()
    clicks = np.stack([trial[name] for name in units], axis=2)
    # Imposed trains of another dt may have fewer steps.
    clicks = np.pad(clicks, ((0, 0), (0, steps), (0, 0)))[:, :steps]
    trial.timecourse(channel, clicks, during="stimulus")


__all__ = ["show_clicks", "steps_of"]
