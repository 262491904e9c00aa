"""Pack the core's tables into a few integer arrays, so that a step on the device gathers rarely.

Floats are stored by their bits, beside the integers of the same row. Destinations are segments with
steps (`Tables.landing`), not periods. The moments at which a timed answer is correct are steps,
computed here in float64.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from neurogym_core import END, STAY
from neurogym_core.players import Tables

NEVER = 1 << 30
"""More steps than any trial has."""
SEGMENT = ("duration", "follows", "target", "period", "window", "script_at")
CELL = ("dest", "slot", "outcome", "reward", "score")
TYPE = ("limit", "best", "first", "asked")
SLOT = (
    "miss_outcome", "miss_reward", "error_dest", "error_reward", "earliest", "latest",
    "graded_from", "correct_reward", "tolerance", "timed",
)  # fmt: skip
Whole = np.ndarray
Real = np.ndarray


class Packed(NamedTuple):
    """k types of trials with S segments, A actions, K slots, U units, as NumPy arrays.

    Continuous actions have D dimensions; D is 0 for discrete actions.

    Attributes:
        segment: (k, S, 6) int32, the columns of `SEGMENT`.
        cell: (k, S, A, 5) int32, the columns of `CELL`.
        kind: (k, 4 + 10 K) int32, the columns of `TYPE`, then `SLOT` of each slot.
        graded: (k, K, G) float32, reward of a timed answer.
        shown: (k, S, U) float32, the observation without noise.
        sd: (k, S, V) float32, SD of the noise of the noisy units.
        script: (R, U) float32, observations of segments that change within.
        target: (k, S, D) float32, target of continuous actions in task units.
        target_script: (R, D) float32, targets beside the rows of `script`.
        aim: (k, K, D) float32, right answers of continuous actions in task units.
        needs: (K,) int32.
        again: (K,) bool.
        first_action: (K,) int32.
    """

    segment: Whole
    cell: Whole
    kind: Whole
    graded: Real
    shown: Real
    sd: Real
    script: Real
    target: Real
    target_script: Real
    aim: Real
    needs: Whole
    again: np.ndarray
    first_action: Whole


def bits(values: np.ndarray) -> np.ndarray:
    """Return the bits of values as float32, int32 of the same shape."""
    return np.ascontiguousarray(values, np.float32).view(np.int32)


def noisy_units(tables: Tables) -> slice:
    """Return the units from the first to the last with noise."""
    noisy = np.flatnonzero(tables.sd.any(axis=(0, 1)))
    return slice(int(noisy[0]), int(noisy[-1]) + 1) if len(noisy) else slice(0, 0)


def pack(tables: Tables, used: np.ndarray, noisy: slice, segments: int) -> Packed:
    """Return some types of trials, padded to a number of segments.

    Args:
        tables: the core's types.
        used: (m,) types.
        noisy: units whose noise is kept.
        segments: S of the result, at least that of the tables.
    """
    k, n_segments = len(used), tables.reward.shape[1]
    pad = segments - n_segments
    everywhere = np.broadcast_to(used[:, None], (k, n_segments))

    def wide(values: np.ndarray) -> np.ndarray:
        return np.pad(values, [(0, 0), (0, pad), *[(0, 0)] * (values.ndim - 2)])

    def landing(kinds: np.ndarray, segment: np.ndarray) -> np.ndarray:
        return tables.landing(kinds.ravel(), segment.ravel()).reshape(segment.shape)

    def destination(kinds: np.ndarray, goto: np.ndarray) -> np.ndarray:
        enters = np.where(goto >= 0, tables.entry[np.maximum(goto, 0)], END)
        return np.where(goto == STAY, STAY, landing(kinds, enters))

    n_slots = tables.n_slots
    window = (tables.window[used] << np.arange(n_slots)).sum(axis=2, dtype=np.int64)
    follows = landing(everywhere, np.broadcast_to(tables.follows, (k, n_segments)))
    script_at, rows = _scripts(tables, used)
    target, target_script = _targets(tables, used, rows)
    segment = np.stack(
        [
            np.where(tables.endless, NEVER, tables.duration[used]),
            follows,
            np.zeros((k, n_segments)) if target.shape[2] else tables.target[used],
            np.broadcast_to(tables.period, (k, n_segments)),
            window,
            script_at,
        ],
        axis=-1,
    ).astype(np.int32)
    goto = tables.goto[used].astype(np.int64)
    kinds = np.broadcast_to(used[:, None, None], goto.shape)
    cell = np.stack(
        [
            destination(kinds, goto).astype(np.int32),
            tables.slot[used].astype(np.int32),
            tables.outcome[used].astype(np.int32),
            bits(tables.reward[used]),
            bits(tables.score[used]),
        ],
        axis=-1,
    )
    sd = tables.sd[used][:, :, noisy]
    return Packed(
        wide(segment),
        wide(cell),
        _kinds(tables, used, destination),
        tables.graded[used].astype(np.float32),
        wide(tables.shown[used]),
        wide(np.ascontiguousarray(sd)),
        tables.script[rows],
        wide(target),
        target_script,
        tables.aim[used].astype(np.float32),
        tables.needs,
        tables.again,
        tables.first_action,
    )


def _kinds(tables: Tables, used: np.ndarray, destination) -> np.ndarray:
    """Return (k, 4 + 10 K) int32, the rows of whole types."""
    n_slots = tables.n_slots
    first = tables.landing(used, np.zeros(len(used), np.int64))
    asked = (tables.asked[used] << np.arange(n_slots)).sum(axis=1, dtype=np.int64)
    limit = np.minimum(tables.limit[used], NEVER)
    columns = [limit, bits(tables.best[used]), first, asked]
    earliest, latest = _moments(tables, used)
    error = tables.error_goto[used].astype(np.int64)
    kinds = np.broadcast_to(used[:, None], error.shape)
    dest = destination(kinds, error)
    for k in range(n_slots):
        columns += [
            tables.miss_outcome[used, k],
            bits(tables.miss_reward[used, k]),
            dest[:, k],
            bits(tables.error_reward[used, k]),
            earliest[:, k],
            latest[:, k],
            tables.graded_from[used, k],
            bits(tables.correct_reward[used, k]),
            # The kernel adds as much, for rounding.
            bits(tables.tolerance[used, k] + 1e-9),
            np.isfinite(tables.due[used, k]),
        ]
    return np.stack(columns, axis=1).astype(np.int32)


def _moments(tables: Tables, used: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (k, K) the first and the last step of the window on which an answer is in time."""
    due, tolerance = tables.due[used], tables.tolerance[used] + 1e-9
    timed = np.isfinite(due)
    due = np.where(timed, due, 0.0)

    def late(steps: np.ndarray) -> np.ndarray:
        return np.abs(steps * tables.dt - due) > tolerance

    with np.errstate(invalid="ignore"):
        span = np.where(timed & np.isfinite(tolerance), tolerance, 0.0)
    earliest, latest = np.ceil((due - span) / tables.dt), np.floor((due + span) / tables.dt)
    # Division rounds; the kernel's own comparison decides about the steps next to the bounds.
    earliest = np.where(late(earliest), earliest + 1, earliest)
    earliest = np.where(late(earliest - 1), earliest, earliest - 1)
    latest = np.where(late(latest), latest - 1, latest)
    latest = np.where(late(latest + 1), latest, latest + 1)
    any_time = ~timed | np.isinf(tolerance)
    return np.where(any_time, -NEVER, earliest), np.where(any_time, NEVER, latest)


def _scripts(tables: Tables, used: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (k, S) the rows of the script, renumbered, and the rows of these types."""
    at = tables.script_at[used]
    if not len(tables.script):
        return at, np.zeros(0, np.int64)
    length = tables.rows[used].sum(axis=1)
    begin = tables.script_at[used, 0]
    moved = np.cumsum(length) - length
    rows = np.repeat(begin - moved, length) + np.arange(length.sum())
    return at - (begin - moved)[:, None], rows


def _targets(tables: Tables, used: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return targets of continuous actions: (k, S, D) of segments, (R, D) of rows of the script."""
    if tables.target.ndim == 2:
        nothing = np.zeros((*tables.duration[used].shape, 0), np.float32)
        return nothing, np.zeros((len(rows), 0), np.float32)
    target = np.asarray(tables.target[used], np.float32)
    if len(tables.target_script):
        return target, tables.target_script[rows]
    # Observations change within segments, but targets do not.
    steps = tables.rows[used].ravel() if len(rows) else np.zeros(target[..., 0].size, np.int64)
    return target, np.repeat(target.reshape(-1, target.shape[2]), steps, axis=0)


def joined(parts: list[Packed], types: int, rows: int) -> Packed:
    """Return parts as one, padded to a number of types and of rows of the script."""
    first, offset = parts[0], 0
    segments = []
    for part in parts:
        at = part.segment.copy()
        scripted = at[..., -1] >= 0
        at[..., -1] += np.where(scripted, offset, 0).astype(np.int32)
        offset += len(part.script)
        segments.append(at)
    graded = max(part.graded.shape[2] for part in parts)

    def filled(arrays: list[np.ndarray], size: int) -> np.ndarray:
        whole = np.concatenate(arrays)
        return np.pad(whole, [(0, size - len(whole)), *[(0, 0)] * (whole.ndim - 1)])

    return Packed(
        filled(segments, types),
        filled([part.cell for part in parts], types),
        filled([part.kind for part in parts], types),
        filled(
            [
                # A later entry repeats the last one, as the kernel does beyond the end.
                np.pad(
                    part.graded, [(0, 0), (0, 0), (0, graded - part.graded.shape[2])], mode="edge"
                )
                if part.graded.shape[2]
                else np.zeros((*part.graded.shape[:2], graded), np.float32)
                for part in parts
            ],
            types,
        ),
        filled([part.shown for part in parts], types),
        filled([part.sd for part in parts], types),
        filled([part.script for part in parts], rows),
        filled([part.target for part in parts], types),
        filled([part.target_script for part in parts], rows),
        filled([part.aim for part in parts], types),
        first.needs,
        first.again,
        first.first_action,
    )
