"""Draw trials of a task, and reduce the observations of each to a row of columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neurogym_core import Task, TrialBatch
from neurogym_core.players import Dealer, TaskView

ENVS = 64
"""Sessions that are drawn, for tasks whose trials depend on earlier ones."""
SEGMENTS = 12
"""Most segments of a trial that have separate columns; else, periods have them."""
COMPONENTS = 6
"""Columns that are kept of a channel of more units, in each segment."""
DURATIONS = "durations"
"""Channel of the columns that hold durations."""


def draw(task: Task, n: int, seed: int) -> TrialBatch:
    """Draw about `n` trials that depend on no outcomes: independent ones, or of `ENVS` sessions."""
    if not TaskView(task).stateful:
        return task.sample(n, seed=seed)
    dealer = Dealer(task, ENVS, seed)
    dealer.block_rows = max(n // ENVS, 2) * ENVS
    block = dealer.block()
    return TrialBatch(block.tables, block.kind, block.conditions)


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns (n, d) that summarize the observations of n trials.

    A column is the mean of a unit in a segment, or a principal component of the means of a
    channel's units, or a duration. There are columns only of units and durations that differ
    between trials other than by noise.

    Attributes:
        values: (n, d).
        channel: (d,) names of channels, or `DURATIONS`.
        period: (d,) names of periods.
        place: (d,) index of the segment, or of the period.
        places: (n, places) whether each trial has this segment or period.
        place_of: (S,) the place of each segment of the batch.
        lit: channel -> periods in which it shows something.
        longest: steps of the longest place in which trials differ.
    """

    values: np.ndarray
    channel: np.ndarray
    period: np.ndarray
    place: np.ndarray
    places: np.ndarray
    place_of: np.ndarray
    lit: dict[str, set[str]]
    longest: int


def columns_of(
    task: Task, batch: TrialBatch, seed: int, look: tuple[str, int] | None = None
) -> Columns:
    """Return the columns of trials, from observations with noise along the oracle's path.

    The oracle answers on the last step of a window, so that all evidence is part of it.

    Args:
        task: the task.
        batch: the trials.
        seed: seed of the noise.
        look: "first", "middle" or "last", and a number of steps: no others are seen of any place.
    """
    place_of = (
        np.arange(len(batch.period))
        if len(batch.period) <= SEGMENTS
        else np.asarray(batch.period, int)
    )
    sums, clean, lengths = _summed(batch, place_of, seed, look)
    blocks: list[tuple[np.ndarray, np.ndarray]] = []
    names_of_blocks: list[tuple[str, str, int]] = []
    lit: dict[str, set[str]] = {}
    names_of_places = [
        batch.period_names[batch.period[np.flatnonzero(place_of == place)[0]]]
        for place in range(lengths.shape[1])
    ]
    for channel, units in task.channels.items():
        known: list[tuple[np.ndarray, np.ndarray]] = []
        for place, period in enumerate(names_of_places):
            there = lengths[:, place] > 0
            if not there.any():
                continue
            length = np.maximum(lengths[:, place], 1)[:, None]
            shown = clean[:, place, units] / length
            if np.abs(shown).max() > 1e-9:
                lit.setdefault(channel, set()).add(period)
            if (np.ptp(shown[there], axis=0) < 1e-6).all():
                continue
            mean = sums[:, place, units] / length
            # A stimulus that stays on is not a second source: it only averages the noise.
            repeated = next((k for k, (before, _) in enumerate(known) if _same(before, shown)), -1)
            if repeated >= 0:
                known[repeated][1][:] = (known[repeated][1] + mean) / 2
                continue
            known.append((shown, mean))
            blocks.append(known[-1])
            names_of_blocks.append((channel, period, place))
    reduced: list[np.ndarray] = []
    names: list[tuple[str, str, int]] = []
    for name, (shown, mean) in zip(names_of_blocks, blocks, strict=True):
        reduced.append(_components(shown, mean))
        names += [name] * reduced[-1].shape[1]
    for place, period in enumerate(names_of_places):
        if np.ptp(lengths[:, place]):
            names.append((DURATIONS, period, place))
            reduced.append(lengths[:, [place]].astype(float))
    channel, period, place = (
        (np.array(part) for part in zip(*names, strict=True))
        if names
        else (np.zeros(0, str), np.zeros(0, str), np.zeros(0, int))
    )
    table = np.concatenate(reduced, axis=1) if reduced else np.zeros((len(batch), 0))
    place = place.astype(int)
    content = place[channel != DURATIONS]
    longest = int(lengths[:, content].max(initial=0))
    return Columns(table, channel, period, place, lengths > 0, place_of, lit, longest)


def _summed(
    batch: TrialBatch, place_of: np.ndarray, seed: int, look: tuple[str, int] | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return sums (n, places, units) of observations with noise and without, and steps (n, places).

    Part by part, since all observations of all trials are many."""
    n, units, places = len(batch), batch.shown.shape[2], int(place_of.max()) + 1
    path = batch.first_round
    lengths = np.zeros((n, places), np.int64)
    np.add.at(lengths.T, place_of, path.T)
    size = max(int(2_000_000 // (path.sum(axis=1).mean() * units + 1)), 16)
    noisy, clean = np.zeros((2, n, places, units))
    has_noise = bool(np.any(batch.noise))
    for first in range(0, n, size):
        rows = np.arange(first, min(first + size, n))
        part = batch.take(rows)
        weights = None if look is None else _looked_at(path[rows], place_of, lengths[rows], look)
        clean[rows] = _added(part.render(None, path[rows]), path[rows], place_of, places, weights)
        if has_noise:
            seen = part.render(seed + first, path[rows])
            noisy[rows] = _added(seen, path[rows], place_of, places, weights)
    if look is not None:
        lengths = np.minimum(lengths, look[1])
    return (noisy if has_noise else clean), clean, lengths


def _looked_at(
    path: np.ndarray, place_of: np.ndarray, lengths: np.ndarray, look: tuple[str, int]
) -> np.ndarray:
    """Return (steps,) whether each step of the trials is among those that a look sees."""
    where, few = look
    n, places = lengths.shape
    steps = path.sum(axis=1)
    trial = np.repeat(np.arange(n), steps)
    place = np.repeat(np.tile(place_of, n), path.ravel())
    clock = np.arange(len(trial)) - np.repeat(np.cumsum(steps) - steps, steps)
    begins = np.full((n, places), len(trial))
    np.minimum.at(begins, (trial, place), clock)
    within, length = clock - begins[trial, place], lengths[trial, place]
    skipped = {"first": 0 * length, "middle": (length - few) // 2, "last": length - few}[where]
    skipped = np.maximum(skipped, 0)
    return np.asarray((within >= skipped) & (within < skipped + few))


def _added(
    observations: np.ndarray,
    path: np.ndarray,
    place_of: np.ndarray,
    places: int,
    weights: np.ndarray | None,
) -> np.ndarray:
    """Return the sums of observations in each place, (n, places, units)."""
    if weights is not None:
        observations = observations * weights[:, None]
    n, segments = path.shape
    flat = path.ravel()
    begins = np.cumsum(flat) - flat
    played = flat > 0
    sums = np.zeros((n * segments, observations.shape[1]))
    if played.any():
        sums[played] = np.add.reduceat(observations, begins[played], axis=0)
    out = np.zeros((places, n, observations.shape[1]))
    np.add.at(out, place_of, sums.reshape(n, segments, -1).transpose(1, 0, 2))
    return out.transpose(1, 0, 2)


def _same(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether a channel shows in two places the same, up to its size."""
    one, other = one - one.mean(axis=0), other - other.mean(axis=0)
    size = np.sqrt((one**2).sum() * (other**2).sum())
    return bool(size > 0 and (one * other).sum() > 0.999 * size)


def _components(clean: np.ndarray, noisy: np.ndarray) -> np.ndarray:
    """Return the units of a channel, turned to principal components without noise.

    Units that always change together become one column; at most `COMPONENTS` are kept.
    """
    if clean.shape[1] == 1:
        return noisy
    centred = clean - clean.mean(axis=0)
    power, turn = np.linalg.eigh(centred.T @ centred)
    power, turn = power[::-1], turn[:, ::-1]
    kept = min(int((power > 1e-6 * power[0]).sum()), COMPONENTS)
    turn = turn[:, :kept]
    # The sign of an eigenvector is arbitrary, and may differ between processors.
    signs = np.sign(turn[np.abs(turn).argmax(axis=0), np.arange(kept)])
    components: np.ndarray = (noisy - noisy.mean(axis=0)) @ (turn * signs)
    return components
