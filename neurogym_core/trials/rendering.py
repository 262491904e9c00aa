"""Render trials step by step: observations (the noiseless ones plus SD times noise), targets, and
weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neurogym_core.trials.arrays import Array, Bools, Reals, Singles, Wholes, one_row
from neurogym_core.trials.noise import add_noise
from neurogym_core.trials.tables import Tables


@dataclass(frozen=True, eq=False)
class Steps:
    """The steps of m trials to render, one trial after another.

    Args:
        kind, serial: (m,) types and serial numbers.
        path: (m, V) steps of each segment, in the order in which they are played, round after round
            of all S segments; V is S or a multiple of it.
        skip, played: (m,) number of steps to skip at the onset of each trial, and to render after
            them; by default all steps are rendered.
    """

    kind: Wholes
    serial: Wholes
    path: Wholes
    skip: Wholes | None = None
    played: Wholes | None = None

    @property
    def duration(self) -> Wholes:
        """(m, V) steps of each segment that are rendered."""
        if self.skip is None or self.played is None:
            return self.path
        edges = np.cumsum(self.path, axis=1)
        inside = np.clip(edges, self.skip[:, None], (self.skip + self.played)[:, None])
        return np.diff(inside, axis=1, prepend=self.skip[:, None])


def render(tables: Tables, steps: Steps, key: int | None) -> Singles:
    """Return the observations, (steps, U) float32; `key` is that of the noise, None: no noise."""
    column, place, trial, clock = _places(tables, steps)
    if len(tables.script):
        out = tables.script[_script_rows(tables, steps, column, place, trial, clock)]
    else:
        out = _entries(tables.shown, place)
    if key is not None:
        add_noise(out, *_rows(tables.sd, place), key, steps.serial[trial], clock)
    return out


def render_targets(tables: Tables, steps: Steps) -> Wholes | Reals:
    """Return the correct actions, (steps,) int64 or (steps, D) float32 in task units."""
    column, place, trial, clock = _places(tables, steps)
    if len(tables.target_script):
        return tables.target_script[_script_rows(tables, steps, column, place, trial, clock)]
    return _entries(tables.target, place)


def render_weights(tables: Tables, steps: Steps) -> Singles:
    """Return the weights of the steps in a supervised loss, (steps,) float32."""
    return _entries(tables.weight, _places(tables, steps)[1])


def fill(
    tables: Tables, steps: Steps, offset: Wholes, key: int, inputs: Singles, targets: Array,
    weights: Singles, real: Bools | None,
) -> None:  # fmt: skip
    """Write the steps of m trials into the arrays of a batch, (rows, T, …).

    `offset`, (m,), is the index of each trial's first step in the flat batch, row * T + step.
    `real` becomes True at these steps; None: every step of the batch is filled."""
    played = steps.duration.sum(axis=1)
    at = np.repeat(offset - (np.cumsum(played) - played), played) + np.arange(played.sum())
    for array, values in (
        (inputs, render(tables, steps, key)),
        (targets, render_targets(tables, steps)),
        (weights, render_weights(tables, steps)),
    ):
        array.reshape(-1, *array.shape[2:])[at] = values
    if real is not None:
        real.reshape(-1)[at] = True


def observation(
    tables: Tables, kind: int, segment: int, within: int, key: int, serial: int, clock: int
) -> Singles:
    """Return one observation, (U,) float32: step `within` of a segment, at the trial's `clock`."""
    at, within = tables.script_at[kind, segment], 0 if tables.endless[segment] else within
    out = tables.shown[kind, segment].copy() if at < 0 else tables.script[at + within].copy()
    sd = tables.sd[kind, segment][None]
    add_noise(out[None], sd, np.zeros(1, np.int64), key, np.array([serial]), np.array([clock]))
    return out  # type: ignore[no-any-return]


def _places(tables: Tables, steps: Steps) -> tuple[Wholes, Wholes, Wholes, Wholes]:
    """Return the column, the place type * S + segment, the trial and the clock of every step."""
    duration = steps.duration
    n_segments, columns = tables.shown.shape[1], np.arange(duration.shape[1])
    rows = (steps.kind[:, None] * n_segments + columns % n_segments).ravel()
    flat = duration.ravel()
    place = np.repeat(rows, flat)
    column = np.repeat(np.tile(columns, len(duration)), flat)
    lengths = duration.sum(axis=1)
    trial = np.repeat(np.arange(len(lengths)), lengths)
    clock = np.arange(len(place)) - (np.cumsum(lengths) - lengths)[trial]
    if steps.skip is not None:
        clock = clock + steps.skip[trial]
    return column, place, trial, clock


def _script_rows(
    tables: Tables, steps: Steps, column: Wholes, place: Wholes, trial: Wholes, clock: Wholes
) -> Wholes:
    onset = np.cumsum(steps.path, axis=1) - steps.path
    within = np.where(tables.endless[place % len(tables.endless)], 0, clock - onset[trial, column])
    return _entries(tables.script_at, place) + within


def _rows(values: Array, place: Wholes) -> tuple[Array, Wholes]:
    """Return the rows in memory of a table (k, S, …), and the row of each place k * S + s."""
    stored = one_row(values)
    rows = stored.reshape(-1, *stored.shape[2:])
    return rows, place if len(stored) > 1 else place % values.shape[1]


def _entries(values: Array, place: Wholes) -> Array:
    rows, at = _rows(values, place)
    return rows[at]
