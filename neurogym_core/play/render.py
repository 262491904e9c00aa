"""Observations and targets of tables, step by step: what is shown, plus SD times the noise of the trial."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from neurogym_core.play.tables import Ints, Shown
from neurogym_core.trials.noise import add_noise

Seen = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Steps:
    """Which steps of m trials are rendered, one trial after another.

    Args:
        kind, serial: (m,) types and serial numbers.
        path: (m, S) steps of each segment, in the order in which they are played.
        skip, played: (m,) steps of each trial that come before, and that are rendered; default all.
    """

    kind: Ints
    serial: Ints
    path: Ints
    skip: Ints | None = None
    played: Ints | None = None

    @property
    def duration(self) -> Ints:
        """(m, S) steps of each segment that are rendered."""
        if self.skip is None or self.played is None:
            return self.path
        edges = np.cumsum(self.path, axis=1)
        inside = np.clip(edges, self.skip[:, None], (self.skip + self.played)[:, None])
        return np.diff(inside, axis=1, prepend=self.skip[:, None])


def render(shown: Shown, steps: Steps, key: int | None) -> Seen:
    """Observations, (steps, U) float32; `key` is that of the noise, None: without noise."""
    place, trial, clock = _places(shown, steps)
    if len(shown.script):
        out = shown.script[_script_rows(shown, steps, place, trial, clock)]
    else:
        out = shown.shown.reshape(-1, shown.n_units)[place]
    if key is not None:
        sd = np.broadcast_to(shown.sd, shown.shown.shape).reshape(-1, shown.n_units)
        add_noise(out, sd, place, key, steps.serial[trial], clock)
    return out


def render_targets(shown: Shown, steps: Steps) -> npt.NDArray[np.int64] | Seen:
    """Right actions, (steps,) int64 or (steps, D) float32 in task units."""
    place, trial, clock = _places(shown, steps)
    if len(shown.target_script):
        return shown.target_script[_script_rows(shown, steps, place, trial, clock)]  # type: ignore[return-value]
    return shown.target.reshape(-1, *shown.target.shape[2:])[place]  # type: ignore[return-value]


def render_weights(shown: Shown, steps: Steps) -> Seen:
    """Weights of the steps in a supervised loss, (steps,) float32."""
    return shown.weight.reshape(-1)[_places(shown, steps)[0]]  # type: ignore[return-value]


def fill(
    shown: Shown, steps: Steps, offset: Ints, key: int, inputs: Seen, targets: npt.NDArray[np.generic],
    weights: Seen, real: npt.NDArray[np.bool_] | None,
) -> None:  # fmt: skip
    """Write the steps of m trials into the arrays of a batch.

    Args:
        offset: (m,) the place of each trial's first step among all rows of the batch, one after another.
        key: of the noise.
        inputs, targets, weights: (rows, T, …), written where these trials lie.
        real: (rows, T), set to True there; None: all places are filled.
    """
    played = steps.duration.sum(axis=1)
    at = np.repeat(offset - (np.cumsum(played) - played), played) + np.arange(played.sum())
    for array, values in (
        (inputs, render(shown, steps, key)),
        (targets, render_targets(shown, steps)),
        (weights, render_weights(shown, steps)),
    ):
        array.reshape(-1, *array.shape[2:])[at] = values
    if real is not None:
        real.reshape(-1)[at] = True


def observation(
    shown: Shown, kind: int, segment: int, within: int, key: int, serial: int, clock: int
) -> Seen:
    """One observation, (U,) float32: step `within` of a segment, on which the trial's clock stands at `clock`."""
    at = shown.script_at[kind, segment]
    out = shown.shown[kind, segment].copy() if at < 0 else shown.script[at + within].copy()
    sd = shown.sd[kind if len(shown.sd) > 1 else 0, segment][None]
    add_noise(out[None], sd, np.zeros(1, np.int64), key, np.array([serial]), np.array([clock]))
    return out  # type: ignore[no-any-return]


def _places(shown: Shown, steps: Steps) -> tuple[Ints, Ints, Ints]:
    """For every step: row of its (type, segment) in flat tables, which trial it is of, and the trial's clock."""
    duration = steps.duration
    n_segments = duration.shape[1]
    rows = (steps.kind[:, None] * n_segments + np.arange(n_segments)).ravel()
    place = np.repeat(rows, duration.ravel())
    lengths = duration.sum(axis=1)
    trial = np.repeat(np.arange(len(lengths)), lengths)
    clock = np.arange(len(place)) - (np.cumsum(lengths) - lengths)[trial]
    if steps.skip is not None:
        clock = clock + steps.skip[trial]
    return place, trial, clock


def _script_rows(shown: Shown, steps: Steps, place: Ints, trial: Ints, clock: Ints) -> Ints:
    onset = np.cumsum(steps.path, axis=1) - steps.path
    segment = place % onset.shape[1]
    return shown.script_at.ravel()[place] + clock - onset[trial, segment]  # type: ignore[no-any-return]
