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
BINS = 24
"""Most parts of equal duration that a period is divided into, if stimuli begin in it at moments
that differ between trials."""
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

    A column is the mean of a unit in a place, or a principal component of the means of a
    channel's units, or, if all steps are seen, the duration of a period. There are columns only of
    units and durations that differ between trials other than by noise. A place is a segment of the
    trials, or a period of trials with many segments, or a bin of a period.

    Attributes:
        values: (n, d).
        channel: (d,) names of channels, or `DURATIONS`.
        period: (d,) names of periods.
        place: (d,) index of the place; of a duration, that of the last place of the period.
        places: (n, places) whether each trial has this place.
        opens, closes: (S,) the first and the last place of each segment of the batch.
        lit: channel -> periods in which it shows something.
        longest: steps of the longest place in which trials differ.
    """

    values: np.ndarray
    channel: np.ndarray
    period: np.ndarray
    place: np.ndarray
    places: np.ndarray
    opens: np.ndarray
    closes: np.ndarray
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
    grid = _Grid(batch, bins=1 if look else BINS)
    sums, clean, lengths = _summed(batch, grid, seed, look)
    blocks: list[tuple[np.ndarray, np.ndarray]] = []
    names_of_blocks: list[tuple[str, str, int]] = []
    lit: dict[str, set[str]] = {}
    names_of_places = [batch.period_names[period] for period in grid.period]
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
    # Of whole periods: the onset of a stimulus within a period is seen, or not, in its channel.
    for period in dict.fromkeys(grid.period.tolist() if look is None else ()):
        there = np.flatnonzero(grid.period == period)
        steps = batch.first_round[:, batch.period == period].sum(axis=1)
        if np.ptp(steps):
            names.append((DURATIONS, batch.period_names[period], int(there[-1])))
            reduced.append(steps[:, None].astype(float))
    channel, period, place = (
        (np.array(part) for part in zip(*names, strict=True))
        if names
        else (np.zeros(0, str), np.zeros(0, str), np.zeros(0, int))
    )
    table = np.concatenate(reduced, axis=1) if reduced else np.zeros((len(batch), 0))
    place = place.astype(int)
    content = place[channel != DURATIONS]
    longest = int(lengths[:, content].max(initial=0))
    return Columns(
        table, channel, period, place, lengths > 0, grid.opens, grid.closes, lit, longest
    )


class _Grid:
    """The places of trials.

    Segments of a period that begin at moments that differ between trials, as where a stimulus has a
    random onset, are no places: a subject that knows their onsets knows the stimulus. Such a period
    has bins of equal duration.

    Args:
        batch: the trials.
        bins: most bins of such a period.

    Attributes:
        period: (places,) the period of each place.
        opens, closes: (S,) the first and the last place of each segment.
    """

    def __init__(self, batch: TrialBatch, bins: int) -> None:
        self.path, self.periods = batch.first_round, np.asarray(batch.period, int)
        segments = np.arange(len(self.periods))
        few = len(segments) <= SEGMENTS
        self.width = np.zeros(len(segments), int)  # of bins, in steps
        self.opens, self.closes = segments.copy(), segments.copy()
        period: list[int] = []
        for first in segments:
            own = np.flatnonzero(self.periods == self.periods[first])
            cut = few and _is_cut(self.path[:, own])
            if (cut or not few) and first > own[0]:
                self.opens[first], self.closes[first] = self.opens[own[0]], self.closes[own[0]]
                continue
            longest = int(self.path[:, own].sum(axis=1).max(initial=1))
            self.width[own] = -(-longest // bins) if cut else 0
            count = -(-longest // self.width[first]) if cut else 1
            self.opens[first], self.closes[first] = len(period), len(period) + count - 1
            period += [int(self.periods[first])] * count
        self.period = np.array(period)

    def of_steps(self, rows: np.ndarray) -> np.ndarray:
        """Return the place of each step of some of the trials, one after the other, (steps,)."""
        path = self.path[rows]
        place, width = (
            np.repeat(np.tile(values, len(rows)), path.ravel())
            for values in (self.opens, self.width)
        )
        if not width.any():
            return place
        # Steps since the period began: those since the trial did, less those of other periods.
        period = np.repeat(np.tile(self.periods, len(rows)), path.ravel())
        trial = np.repeat(np.arange(len(rows)), path.sum(axis=1))
        key = trial * (self.periods.max() + 1) + period
        order = np.argsort(key, kind="stable")
        begins = np.flatnonzero(np.diff(key[order], prepend=-1))
        counts = np.diff(np.append(begins, len(key)))
        within = np.empty(len(key), np.int64)
        within[order] = np.arange(len(key)) - np.repeat(begins, counts)
        return np.asarray(place + within // np.maximum(width, 1) * (width > 0))


def _is_cut(pieces: np.ndarray) -> bool:
    """Whether the steps of a period's pieces (n, pieces) do not follow from the period's steps."""
    whole = pieces.sum(axis=1)
    return len(np.unique(pieces, axis=0)) > len(np.unique(whole))


def _summed(
    batch: TrialBatch, grid: _Grid, seed: int, look: tuple[str, int] | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return sums (n, places, units) of observations with noise and without, and steps (n, places).

    Part by part, since all observations of all trials are many."""
    n, units, places = len(batch), batch.shown.shape[2], len(grid.period)
    path = batch.first_round
    lengths = np.zeros((n, places), np.int64)
    size = max(int(2_000_000 // (path.sum(axis=1).mean() * units + 1)), 16)
    noisy, clean = np.zeros((2, n, places, units))
    has_noise = bool(np.any(batch.noise))
    for first in range(0, n, size):
        rows = np.arange(first, min(first + size, n))
        part = batch.take(rows)
        cell = np.repeat(np.arange(len(rows)), path[rows].sum(axis=1)) * places
        cell += grid.of_steps(rows)
        count = np.bincount(cell, minlength=len(rows) * places)
        lengths[rows] = count.reshape(len(rows), places)
        weights = None if look is None else _looked_at(cell, count, look)
        shape = (len(rows), places, units)
        clean[rows] = _added(part.render(None, path[rows]), cell, weights, shape)
        if has_noise:
            noisy[rows] = _added(part.render(seed + first, path[rows]), cell, weights, shape)
    if look is not None:
        lengths = np.minimum(lengths, look[1])
    return (noisy if has_noise else clean), clean, lengths


def _looked_at(cell: np.ndarray, count: np.ndarray, look: tuple[str, int]) -> np.ndarray:
    """Return (steps,) whether each step is among those that a look sees of its place.

    Args:
        cell: (steps,) number of the trial and its place.
        count: (cells,) steps of each.
        look: "first", "middle" or "last", and a number of steps.
    """
    where, few = look
    clock = np.arange(len(cell))
    begins = np.full(len(count), len(cell))
    np.minimum.at(begins, cell, clock)
    within, length = clock - begins[cell], count[cell]
    skipped = {"first": 0 * length, "middle": (length - few) // 2, "last": length - few}[where]
    skipped = np.maximum(skipped, 0)
    return np.asarray((within >= skipped) & (within < skipped + few))


def _added(
    observations: np.ndarray,
    cell: np.ndarray,
    weights: np.ndarray | None,
    shape: tuple[int, int, int],
) -> np.ndarray:
    """Return the sums of observations (steps, units) in each place, (n, places, units)."""
    if weights is not None:
        observations = observations * weights[:, None]
    out = np.zeros((shape[0] * shape[1], shape[2]))
    begins = np.flatnonzero(np.diff(cell, prepend=-1))
    if len(begins):
        # A place that a trial visits twice has two runs of steps.
        np.add.at(out, cell[begins], np.add.reduceat(observations, begins, axis=0))
    return out.reshape(shape)


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
