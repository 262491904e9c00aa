"""Targets, loss weights and training of the authors' published code."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from neurogym_core import circular_distance
from neurogym_core.players import Batch

BASELINE, HEIGHT, FIXATING = 0.05, 0.8, 0.8
"""Targets of the code: of an output that is not active, of a bump above it, of fixation."""

TRAINING = Path(__file__).with_name("training.toml")
"""The recipe of the published training."""

UNSCORED = 100
"""Duration at the beginning of a trial, and of its response period, without loss, ms."""


def published(batch: Batch) -> tuple[np.ndarray, np.ndarray]:
    """Return targets and weights of a batch as in the code, each (B, T, 1 + units) float32.

    The fixation output is 0.8 while the subject should fixate, and 0.05 afterwards; the ring is
    0.05, and in the response a bump of height 0.8 is added at the exact direction. The weights are
    0 in the first 100 ms of the trial, 1 before the response period, 0 in its first 100 ms, and 5
    after; those of the fixation output are twice as large. The code multiplies errors by the
    weights *before* squaring: its loss is ``mean((weights * (targets - outputs)) ** 2)``.

    Args:
        batch: batch of a `Dataset` of one of the twenty tasks.

    Example:
        >>> from neurogym_core import Dataset
        >>> from neurogym_task_yang19.published import published
        >>> targets, weights = published(next(Dataset("yang19/Go-v0", batch_size=4, seed=0)))
        >>> targets.shape[2], round(float(targets.max()), 2), float(weights.max())
        (33, 0.85, 10.0)
    """
    task, trials = batch.task, batch.trials
    rows, steps = batch.inputs.shape[:2]
    targets = np.full((rows, steps, 1 + task.units), BASELINE, np.float32)
    weights = np.zeros_like(targets)
    direction = trials.notes["direction"]
    answers = direction >= 0
    bumps = HEIGHT * np.exp(
        -0.5 * (circular_distance(task.ring.angles, direction[:, None]) / (np.pi / 8)) ** 2
    )
    response = batch.start + trials.steps - trials.period_steps["response"]
    unscored = int(UNSCORED / task.dt)

    def span(start: int, stop: int) -> slice:
        return slice(max(start, 0), max(min(stop, steps), 0))

    places = zip(batch.row, batch.start, batch.stop, response, strict=True)
    for k, (row, start, stop, onset) in enumerate(places):
        targets[row, span(start, onset if answers[k] else stop), 0] = FIXATING
        targets[row, span(onset, stop), 1:] += bumps[k] * answers[k]
        weights[row, span(start + unscored, onset)] = 1
        weights[row, span(onset + unscored, stop)] = 5
    weights[..., 0] *= 2
    return targets, weights
