"""Compile a `Layout` into a table (`TrialBatch`): observations, targets and loss weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from neurogym_core.trials.arrays import Array
from neurogym_core.trials.batch import Frame, Source, TrialBatch
from neurogym_core.trials.checks import check_clocks, check_lasts, check_overlaps, check_periods
from neurogym_core.trials.geometry import Coverage, Geometry
from neurogym_core.trials.interface import Actions, Interface
from neurogym_core.trials.layout import Frames, Layout, Show, Slot, Span


def compile_layout(layout: Layout) -> TrialBatch:
    """Return the table of the trials of a layout.

    Raises:
        TrialLayoutError: no periods, a trial of 0 steps, or one slot asked twice on a step.
    """
    check_periods(layout)
    check_clocks(layout)
    geometry, interface = Geometry(layout), layout.interface
    check_lasts(layout, geometry)
    check_overlaps(layout, geometry)
    n, n_segments = geometry.duration.shape
    shown = np.zeros((n, n_segments, interface.channels.size), np.float32)
    # One row for all trials, until a verb adds noise to some of them only: the noise of most tasks
    # is the same in every trial, and this array would else be as large as `shown`. Until the end
    # it holds variances, which add up where standard deviations do not.
    variance: Array = np.zeros((1, n_segments, interface.channels.size), np.float32)
    for show in layout.shows:
        variance = _add_show(show, geometry, interface.channels[show.channel], shown, variance)
    target, weight = _targets(layout, geometry)
    return TrialBatch(
        interface=interface,
        period_names=geometry.names,
        period=geometry.period,
        duration=geometry.duration,
        shown=shown,
        noise=np.sqrt(variance, out=variance),
        target=target,
        weight=weight,
        conditions=layout.conditions,
        notes=dict(layout.notes),
        frames=tuple(
            frame for frames in layout.frames for frame in _frames(frames, geometry, interface)
        ),
        untimed=frozenset(geometry.untimed),
        sources=(Source(layout, geometry),),
        origin=np.stack([np.zeros(n, np.int64), np.arange(n)]),
        jumps=_has_jumps(layout),
        unvisited=_unvisited(layout),
        random=layout.random,
    )


def _has_jumps(layout: Layout) -> bool:
    """Whether a trial may leave the order of its periods.

    Without jumps, the oracle plays every period in order, except the unvisited last ones; its path
    then costs nothing to compute, and the payoffs are not needed to render trials.
    """
    then = {
        target
        for slot in layout.slots
        for outcome, target in slot.then.items()
        if outcome != "error"
    } - {"end", "wait"}
    timeline, unvisited = layout.timeline, _unvisited(layout)
    # An answer cannot pass over a period that has no step in any trial.
    names = [
        name for name in timeline.names
        if name not in unvisited and (name in timeline.untimed or np.any(timeline.steps[name]))
    ]  # fmt: skip
    # An answer that ends the trial passes over the periods after its window.
    early = names and any(
        "end" in slot.then.values() and _may_close_early(slot.span, names) for slot in layout.slots
    )
    by_choice = any(slot.leads is not None for slot in layout.slots)
    # An error may lead to an unvisited period: the oracle makes none.
    errors_lead = any(
        slot.then["error"] not in ("end", "wait", *unvisited) for slot in layout.slots
    )
    # Unvisited periods come with one entry of `then`, the "end" of the period before them.
    leads = len(timeline.then) > bool(unvisited)
    return bool(then or by_choice or errors_lead or leads or early or timeline.untimed)


def _unvisited(layout: Layout) -> frozenset[str]:
    """Names of the last periods, after one that ends the trial, that only errors lead to.

    A time-out for errors is the usual case.
    """
    names, then = layout.timeline.names, layout.timeline.then
    ends = [place for place, name in enumerate(names) if then.get(name) == "end"]
    if len(then) != 1 or not ends or any(slot.leads is not None for slot in layout.slots):
        return frozenset()
    behind = frozenset(names[ends[0] + 1 :])
    led = {
        target
        for slot in layout.slots
        for outcome, target in slot.then.items()
        if outcome != "error"
    }
    return frozenset() if behind & led or layout.timeline.untimed else behind


def _may_close_early(span: Span, names: Sequence[str]) -> bool:
    """Whether a response window may close before the last period begins."""
    return span.periods[-1] != names[-1] or (span.stop is not None and len(span.periods) > 1)


def _add_show(show: Show, geometry: Geometry, units: slice, shown: Array, variance: Array) -> Array:
    """Add a value to `shown`, in place, and its noise to `variance`; return the latter, which may
    get a row per trial.
    """
    value = np.broadcast_to(show.value, (geometry.n, units.stop - units.start))
    added = np.asarray(show.noise, dtype=np.float64) ** 2 / geometry.dt
    for segment, covered in geometry.segments(show.span):
        if covered is True:
            shown[:, segment, units] += value
        else:
            shown[covered, segment, units] += value[covered]
        if not np.any(added):
            continue
        if len(variance) == 1 and not (covered is True and added.ndim == 0):
            variance = np.repeat(variance, geometry.n, axis=0)
        part = added if added.ndim == 0 else added[:, None]
        if covered is not True:
            part = np.where(covered[:, None], part, 0)
        variance[:, segment, units] += part
    return variance


def _targets(layout: Layout, geometry: Geometry) -> tuple[Array, Array]:
    """The target, (n, S) or (n, S, k), and the loss weight, (n, S), of every segment."""
    actions = layout.interface.actions
    n, n_segments = geometry.duration.shape
    weight = np.ones((n, n_segments), np.float32)
    if actions.continuous:
        target = np.broadcast_to(
            actions.rest_value.astype(np.float32), (n, n_segments, actions.size)
        ).copy()
    else:
        target = np.full((n, n_segments), actions.rest or 0, np.int64)
        if actions.rest is None:
            # Without an action of resting nothing is right outside the response windows: no loss.
            weight[:] = 0
    worths = _worths(layout, (n, n_segments, actions.size))
    for slot in layout.slots:
        aimed = _aimed(slot, layout.slots, n)
        _set_target(slot, geometry, actions, target, weight, aimed, worths.get(slot.name))
    for weigh in layout.weights:
        for segment, covered in geometry.segments(weigh.span):
            value = np.broadcast_to(np.asarray(weigh.weight, np.float32), (n,))
            weight[:, segment] = (
                value if covered is True else np.where(covered, value, weight[:, segment])
            )
    return target, weight


def _worths(layout: Layout, shape: tuple[int, int, int]) -> dict[str, Array]:
    """Room for the worth of every action, (n, S, A), for slots in which several groups have prices.

    The best-paid action of such a slot may be in any of them.
    """
    if layout.interface.actions.continuous:
        return {}
    calls = Counter(slot.name for slot in layout.slots if slot.amounts is not None)
    return {name: np.full(shape, -np.inf) for name, count in calls.items() if count > 1}


def _aimed(slot: Slot, slots: Sequence[Slot], n: int) -> Coverage:
    """The trials in which a slot sets the target.

    Priced choices that join a slot with a right answer (a sure bet) do not set it in the trials
    that ask for the answer.
    """
    if slot.amounts is None:
        return True
    aimed = np.ones(n, bool)
    for other in slots:
        if other.name == slot.name and other.amounts is None:
            aimed &= False if other.span.where is None else ~other.span.where
    return True if aimed.all() else aimed


def _set_target(
    slot: Slot,
    geometry: Geometry,
    actions: Actions,
    target: Array,
    weight: Array,
    aimed: Coverage,
    worths: Array | None,
) -> None:
    units = actions[slot.group]
    if actions.continuous:
        _set_continuous_target(slot, geometry, actions, units, target)
        return
    ids = np.where(slot.aim >= 0, units.start + slot.aim, actions.rest or 0)
    # The target of a timed answer is to rest, but on the one step on which it is due. `Geometry`
    # cuts that step out as a segment.
    due = dict(geometry.due_pieces(slot)) if slot.due is not None else None
    for segment, covered in geometry.segments(slot.span):
        if due is not None:
            covered = _is_due(due, geometry, segment, covered)
        if aimed is not True:
            covered = aimed if covered is True else covered & aimed
        if worths is not None and slot.amounts is not None:
            rows = slice(None) if covered is True else covered
            worths[rows, segment, units] = slot.worth[rows]
            ids = worths[:, segment].argmax(axis=1)
        target[:, segment] = ids if covered is True else np.where(covered, ids, target[:, segment])
        if actions.rest is None:
            weight[:, segment] = 1 if covered is True else np.where(covered, 1, weight[:, segment])


def _set_continuous_target(
    slot: Slot, geometry: Geometry, actions: Actions, units: slice, target: Array
) -> None:
    value = slot.aim.astype(np.float32)
    due = dict(geometry.due_pieces(slot)) if slot.due is not None else None
    for segment, covered in geometry.segments(slot.span):
        if due is None:
            rows = slice(None) if covered is True else covered
            target[rows, segment, units] = value[rows]
        else:
            # The values of a timed answer do not count; only its trigger has a target.
            rows = _is_due(due, geometry, segment, covered)
        if actions.trigger is not None:
            index, _ = actions.trigger
            target[rows, segment, index] = actions.high[index]


def _is_due(due: dict[int, Array], geometry: Geometry, segment: int, covered: Coverage) -> Array:
    """The trials in which a timed answer is due in this segment, bool (n,)."""
    p = geometry.period[segment]
    begin = geometry.edges[p][segment - geometry.first[p]]
    now = begin == due[p]  # so may segments of 0 steps begin; they are not played
    return np.asarray(now if covered is True else covered & now)


def _frames(frames: Frames, geometry: Geometry, interface: Interface) -> Iterator[Frame]:
    """Yield a frame for every run of adjacent periods.

    The values pause between runs: the next run begins with the value after the last one shown.
    """
    is_channel = frames.name in interface.channels
    columns = interface.channels[frames.name] if is_channel else interface.actions[frames.name]
    begin, _ = geometry.steps(frames.span)
    offset: Any = 0 if begin is None else begin
    for first, last in _runs([geometry.names.index(name) for name in frames.span.periods]):
        start = geometry.onset[:, first]
        stop = geometry.onset[:, last] + geometry.period_steps[last]
        zero = start + offset
        # In the next run, the first value belongs to a step before its onset: by as many steps as
        # were played so far.
        offset = offset - (stop - start)
        if frames.span.where is not None:
            stop = np.where(frames.span.where, stop, start)
        values = frames.values
        # A period without a timer can outlast the values: the last one stays.
        if not geometry.untimed.isdisjoint(frames.span.periods):
            more = max(int(np.max(stop - zero)) - values.shape[1], 0)
            values = np.pad(values, ((0, 0), (0, more), (0, 0)), mode="edge")
        yield Frame(columns, values, zero, start, stop, target=not is_channel)


def _runs(periods: Sequence[int]) -> list[tuple[int, int]]:
    """The first and the last number of every run of consecutive numbers."""
    first = [p for p in periods if p - 1 not in periods]
    last = [p for p in periods if p + 1 not in periods]
    return list(zip(first, last, strict=True))
