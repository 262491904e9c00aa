"""`Tables`: all that can happen in trials of k types, as flat arrays.

A trial is a state machine over segments. Each segment has an observation, an SD of the noise and a
correct action; each action on a segment has a reward, an outcome, a slot that it answers and a
destination. A segment ends when its steps are played, or when an action has a destination. The
kernel (`kernel.py`, `_kernel.c`) interprets these arrays and knows nothing else: no task, no period
names, no Python objects.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from neurogym_core.errors import TrialLayoutError
from neurogym_core.trials.arrays import Array, Bools, Reals, Wholes
from neurogym_core.trials.batch import TrialBatch
from neurogym_core.trials.layout import END, STAY
from neurogym_core.trials.payoffs import Payoffs


@dataclass(frozen=True, eq=False, repr=False)
class Shown:
    """Observations, targets and weights of k types of trials with S segments.

    Observations have U units; continuous actions have D dimensions.

    Attributes:
        shown: (k, S, U) float32, the observation without noise.
        sd: (k or 1, S, U) float32, SD of the noise.
        script: (R, U) float32, noiseless observations of types that change within a segment.
        script_at: (k, S) int64, row of `script` for the first step of a segment; -1: `shown` is
            used.
        target: (k, S) int64, the correct action; (k, S, D) float32 in task units for continuous
            actions.
        target_script: (R, D) float32, targets that change within a segment; empty if none does.
        weight: (k, S) float32, the weight of a step in a supervised loss.
    """

    shown: Reals
    sd: Reals
    script: Reals
    script_at: Wholes
    target: Wholes | Reals
    target_script: Reals
    weight: Reals

    def __len__(self) -> int:
        return len(self.shown)

    @property
    def n_units(self) -> int:
        """Number of observation units, U."""
        units: int = self.shown.shape[2]
        return units


@dataclass(frozen=True, eq=False, repr=False)
class Tables(Shown):
    """Transition tables of k types of trials: S segments, P periods, A actions, K answer slots.

    For continuous actions A = 2 (resting, acting), or 1 without a trigger. A destination is the
    index of a period, STAY (-1) or END (-2).

    Attributes:
        period: (S,) int32, the period of each segment.
        follows: (S,) int32, the next segment when the time of a segment is over, or END.
        endless: (S,) bool, segments without a timer.
        entry: (P,) int32, the first segment of each period.
        duration: (k, S) int32, steps; segments of 0 steps are skipped.
        limit: (k,) int32, steps after which the trial ends in any case.
        reward: (k, S, A) float64.
        aborts: (k, S, A) bool, the action breaks the hold.
        goto: (k, S, A) int16, destination.
        slot: (k, S, A) int8, the slot that the action answers, or -1.
        outcome: (k, S, A) int8, the `Outcome` of that answer.
        score: (k, S, A) float64, its score.
        window: (k, S, K) bool, the slot can be answered on this segment.
        asked: (k, K) bool, the slot exists in this type, and is scored.
        miss_reward, miss_outcome: (k, K) float64, int8, of a window that closes unanswered.
        error_reward, error_goto: (k, K) float64, int16, of an answer that is too early, too late,
            too far off, or whose needed slot is not correct.
        due: (k, K) float64, ms from the opening of the window to the correct moment; NaN: any.
        tolerance: (k, K) float64, ms around `due`, or the largest distance of a continuous answer.
        graded: (k, K, G) float64, reward of a correct timed answer, by its step in the window.
        graded_from: (k, K) int32, the step in the window (from 1) of the first entry of `graded`;
            0: the reward is not graded.
        aim: (k, K, D) float64, correct values of continuous answers, task units.
        best: (k,) float64, the maximal reward of a trial, or NaN: performance is the mean score.
        needs: (K,) int32, the slot that must be correct for this one to be correct, or -1.
        first_action: (K,) int32, the action that is choice 0 of the slot.
        again: (K,) bool, the slot can be answered again when its window opens again.
        dt: ms per step.
        trigger: False for continuous actions without a trigger; these are scored when the window
            closes.
    """

    period: Wholes
    follows: Wholes
    endless: Bools
    entry: Wholes
    duration: Wholes
    limit: Wholes
    reward: Reals
    aborts: Bools
    goto: Wholes
    slot: Wholes
    outcome: Wholes
    score: Reals
    window: Bools
    asked: Bools
    miss_reward: Reals
    miss_outcome: Wholes
    error_reward: Reals
    error_goto: Wholes
    due: Reals
    tolerance: Reals
    graded: Reals
    graded_from: Wholes
    aim: Reals
    best: Reals
    needs: Wholes
    first_action: Wholes
    again: Bools
    dt: float
    trigger: bool

    @property
    def n_slots(self) -> int:
        """Number of answer slots, K."""
        return len(self.needs)

    def landing(self, kind: Wholes, segment: Wholes) -> Wholes:
        """Return (m,) the segments that are played on entering `segment`; empty ones are skipped.

        Args:
            kind: (m,) types of the trials.
            segment: (m,) segments, or END.
        """
        segment = np.array(segment)
        # As `PlainKernel._landing`, for many trials: after so many skips it is a cycle.
        for _ in range(2 * len(self.follows)):
            passed = np.flatnonzero(segment >= 0)
            passed = passed[self.duration[kind[passed], segment[passed]] == 0]
            if not len(passed):
                return segment
            segment[passed] = self.follows[segment[passed]]
        segment[passed] = END
        return segment


def shown_of(batch: TrialBatch) -> Shown:
    """Return the observations, targets and weights of a batch; each trial becomes one type."""
    script, script_at, target_script = _scripts(batch)
    return Shown(
        # Adding 0 turns -0.0 into 0.0. Noise of SD 0 would do so, too, but not every renderer adds
        # it, and all must give the same bits.
        shown=np.add(batch.shown, 0, dtype=np.float32, order="C"),
        sd=_as(batch.noise, np.float32),
        script=script,
        script_at=script_at,
        target=np.ascontiguousarray(batch.target),
        target_script=target_script,
        weight=_as(batch.weight, np.float32),
    )


def tables_of(batch: TrialBatch, shown: Shown) -> Tables:
    """Return the tables of a batch; each trial becomes one type.

    Args:
        batch: the trials.
        shown: the result of `shown_of` for this batch.

    Raises:
        TrialLayoutError: a trial ends before its first step.
    """
    pay, duration, actions = batch.payoffs, batch.duration, batch.interface.actions
    period = batch.period.astype(np.int32)
    entry = np.searchsorted(period, np.arange(len(batch.period_names))).astype(np.int32)
    graded, graded_from = _graded(pay, batch.interface.dt)
    tables = Tables(
        **vars(shown),
        period=period,
        follows=_follows(period, pay.period_then, entry),
        endless=_endless(batch),
        entry=entry,
        duration=_as(duration, np.int32),
        limit=_as(np.minimum(batch.limit, np.iinfo(np.int32).max), np.int32),
        reward=_as(pay.reward, np.float64),
        aborts=_as(pay.aborts, np.bool_),
        goto=_as(pay.goto, np.int16),
        # Where batches are joined, segments that one of them lacks are filled with zeros; without
        # this, a task without slots would have a slot 0.
        slot=_as(pay.slot if pay.slot_names else np.full_like(pay.slot, -1), np.int8),
        outcome=_as(pay.outcome, np.int8),
        score=_as(pay.score, np.float64),
        window=_as(pay.window, np.bool_),
        asked=_as(pay.asked, np.bool_),
        miss_reward=_as(pay.miss_reward, np.float64),
        miss_outcome=_as(pay.miss_outcome, np.int8),
        error_reward=_as(pay.error_reward, np.float64),
        error_goto=_as(pay.error_goto, np.int16),
        due=_as(pay.due, np.float64),
        tolerance=_as(pay.tolerance, np.float64),
        graded=graded,
        graded_from=graded_from,
        aim=_as(pay.aim, np.float64),
        best=_as(pay.best, np.float64),
        needs=np.array(pay.needs, np.int32),
        first_action=np.array([units.start for units in pay.units], np.int32),
        again=np.array(pay.again, np.bool_),
        dt=float(batch.interface.dt),
        trigger=not actions.continuous or actions.trigger is not None,
    )
    # Trials without a step were refused when they were built; these lead to their end at once.
    if (tables.landing(np.arange(len(tables)), np.zeros(len(tables), np.int64)) == END).any():
        raise TrialLayoutError(
            f"A trial of {batch.interface.name} is over before its first step: periods of 0 ms"
            " lead to its end. Expected a first period with steps. Let it last longer, or lead to"
            " another period."
        )
    return tables


def _as(values: Array, dtype: npt.DTypeLike) -> Array:
    # The compiled kernel reads memory, so types and order must be exact.
    return np.ascontiguousarray(values, dtype)


def _follows(period: Wholes, then: Wholes, entry: Wholes) -> Wholes:
    """Return (S,) the next segment when the time of a segment is over."""
    follows = np.append(np.arange(1, len(period)), END).astype(np.int32)
    # The destination of a period applies at the end of its last segment.
    last = np.append(period[1:] != period[:-1], True)
    for segment in np.flatnonzero(last):
        destination = then[period[segment]]
        if destination != STAY:
            follows[segment] = END if destination == END else entry[destination]
    return follows


def _endless(batch: TrialBatch) -> Bools:
    """Return (S,) bool: a period without a timer is endless on its last segment."""
    endless = np.zeros(len(batch.period), np.bool_)
    for name in batch.untimed:
        endless[np.flatnonzero(batch.period == batch.period_names.index(name))[-1]] = True
    return endless


def _scripts(batch: TrialBatch) -> tuple[Reals, Wholes, Reals]:
    """Return scripts: observations and targets of every step, if some change within a segment."""
    n_units, size = batch.shown.shape[2], batch.target.shape[2] if batch.target.ndim == 3 else 0
    nothing = (
        np.zeros((0, n_units), np.float32),
        np.full(batch.duration.shape, -1, np.int64, order="C"),
    )
    if not batch.frames:
        return (*nothing, np.zeros((0, size), np.float32))
    lengths = batch.duration.sum(axis=1)
    begin = np.cumsum(lengths) - lengths
    script_at = begin[:, None] + np.cumsum(batch.duration, axis=1) - batch.duration
    targets = np.zeros((0, size), np.float32)
    if any(frame.target for frame in batch.frames):
        targets = batch.render_targets(batch.duration).astype(np.float32)
    script_at = np.ascontiguousarray(script_at)
    return (
        np.add(batch.render(None, batch.duration), 0, dtype=np.float32, order="C"),
        script_at,
        targets,
    )


def _graded(pay: Payoffs, dt: float) -> tuple[Reals, Wholes]:
    """Return the rewards of timed answers on each step with a correct answer, and the first step.

    Rewards depend on the time error, which takes few values: they are computed here once, so that
    the kernel only looks them up.
    """
    n, n_slots = pay.due.shape
    start = np.zeros((n, n_slots), np.int32)
    timed = [
        (k, pays) for k, pays in enumerate(pay.pays) if pays and np.isfinite(pay.due[:, k]).any()
    ]
    if not timed:
        return np.zeros((n, n_slots, 0)), start
    first = np.maximum(np.floor((pay.due - pay.tolerance) / dt), 1)
    last = np.ceil((pay.due + pay.tolerance) / dt)
    width = int(np.nanmax((last - first)[:, [k for k, _ in timed]])) + 1
    graded = np.zeros((n, n_slots, max(width, 1)))
    for k, pays in timed:
        rows = np.isfinite(pay.due[:, k])
        step = first[rows, k, None] + np.arange(graded.shape[2])
        error = np.abs(step * dt - pay.due[rows, k, None])
        tolerance = np.broadcast_to(pay.tolerance[rows, k, None], error.shape)
        graded[rows, k] = pays(error.ravel(), tolerance.ravel()).reshape(error.shape)
        start[rows, k] = first[rows, k]
    return graded, start
