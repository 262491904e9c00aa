"""From what `new_trial` said (`Layout`) to a table (`TrialBatch`): what is shown, the targets, the
loss weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from neurogym_core.trials.arrays import Array
from neurogym_core.trials.batch import Frame, Source, TrialBatch
from neurogym_core.trials.checks import check_lasts, check_overlaps, check_periods
from neurogym_core.trials.geometry import Coverage, Geometry
from neurogym_core.trials.interface import Actions, Interface
from neurogym_core.trials.layout import Frames, Layout, Show, Slot, Span, to_steps


def compile_layout(layout: Layout) -> TrialBatch:
    """The table of what `new_trial` said.

    Raises:
        TrialLayoutError: it named no periods, or asks the same question twice on one step.
    """
    check_periods(layout)
    geometry, channels = Geometry(layout), layout.interface.channels
    check_lasts(layout, geometry)
    check_overlaps(layout, geometry)
    n, n_segments = geometry.duration.shape
    shown = np.zeros((n, n_segments, channels.size), np.float32)
    noise: Array = np.zeros((1, n_segments, channels.size), np.float32)
    for show in layout.shows:
        noise = _add_show(show, geometry, channels[show.channel], shown, noise)
    target, weight = _targets(layout, geometry)
    return TrialBatch(
        interface=layout.interface, period_names=geometry.names, period=geometry.period, duration=geometry.duration,
        shown=shown, noise=np.sqrt(noise, out=noise), target=target, weight=weight, conditions=layout.conditions,
        notes=dict(layout.notes),
        frames=tuple(frame for frames in layout.frames for frame in _frames(frames, geometry, layout.interface)),
        untimed=frozenset(geometry.untimed), sources=(Source(layout, geometry),),
        origin=np.stack([np.zeros(n, np.int64), np.arange(n)]), jumps=_has_jumps(layout), unvisited=_unvisited(layout),
        random=layout.random,
    )  # fmt: skip


def _has_jumps(layout: Layout) -> bool:
    """Whether the oracle's path may differ from all periods in order, but for last ones that it
    never gets to.
    """
    then = {
        target
        for slot in layout.slots
        for outcome, target in slot.then.items()
        if outcome != "error"
    } - {"end", "wait"}
    timeline, unvisited = layout.timeline, _unvisited(layout)
    # A period that gets no step in any trial is none that an answer could pass over.
    names = [
        name for name in timeline.names
        if name not in unvisited and (name in timeline.untimed or np.any(timeline.steps[name]))
    ]  # fmt: skip
    early = names and any(
        "end" in slot.then.values() and _may_close_early(slot.span, names) for slot in layout.slots
    )
    by_choice = any(slot.leads is not None for slot in layout.slots)
    errors_lead = any(
        slot.then["error"] not in ("end", "wait", *unvisited) for slot in layout.slots
    )
    leads = len(timeline.then) > bool(unvisited)
    return bool(then or by_choice or errors_lead or leads or early or timeline.untimed)


def _unvisited(layout: Layout) -> frozenset[str]:
    """The periods behind one after which the trial is over, where no right answer leads to them."""
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
    """Whether a window may be over before the last period begins."""
    return span.periods[-1] != names[-1] or (span.stop is not None and len(span.periods) > 1)


def _add_show(show: Show, geometry: Geometry, units: slice, shown: Array, noise: Array) -> Array:
    value = np.broadcast_to(show.value, (geometry.n, units.stop - units.start))
    sigma = np.asarray(show.noise, dtype=np.float64)
    variance = sigma**2 / geometry.dt
    for segment, covered in geometry.segments(show.span):
        if covered is True:
            shown[:, segment, units] += value
        else:
            shown[covered, segment, units] += value[covered]
        if not np.any(variance):
            continue
        if len(noise) == 1 and not (covered is True and variance.ndim == 0):
            noise = np.repeat(noise, geometry.n, axis=0)
        part = variance if variance.ndim == 0 else variance[:, None]
        noise[:, segment, units] += part if covered is True else np.where(covered[:, None], part, 0)
    return noise


def _targets(layout: Layout, geometry: Geometry) -> tuple[Array, Array]:
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
            weight[:] = 0
    for slot in layout.slots:
        _set_target(slot, geometry, actions, target, weight, _aimed(slot, layout.slots, n))
    for weigh in layout.weights:
        for segment, covered in geometry.segments(weigh.span):
            value = np.broadcast_to(np.asarray(weigh.weight, np.float32), (n,))
            weight[:, segment] = (
                value if covered is True else np.where(covered, value, weight[:, segment])
            )
    return target, weight


def _aimed(slot: Slot, slots: Sequence[Slot], n: int) -> Coverage:
    """The trials in which a slot sets the target: priced choices that join an answer (a sure bet)
    leave it the target.
    """
    if slot.amounts is None:
        return True
    aimed = np.ones(n, bool)
    for other in slots:
        if other.name == slot.name and other.amounts is None:
            aimed &= False if other.span.where is None else ~other.span.where
    return True if aimed.all() else aimed


def _set_target(
    slot: Slot, geometry: Geometry, actions: Actions, target: Array, weight: Array, aimed: Coverage
) -> None:
    units = actions[slot.group]
    if actions.continuous:
        _set_continuous_target(slot, geometry, actions, units, target)
        return
    ids = np.where(slot.aim >= 0, units.start + slot.aim, actions.rest or 0)
    due = dict(geometry.due_pieces(slot)) if slot.due is not None else None
    for segment, covered in geometry.segments(slot.span):
        if due is not None:
            covered = _is_due(due, geometry, segment, covered)
        if aimed is not True:
            covered = aimed if covered is True else covered & aimed
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
            rows = _is_due(due, geometry, segment, covered)
        if actions.trigger is not None:
            index, _ = actions.trigger
            target[rows, segment, index] = actions.high[index]


def _is_due(due: dict[int, Array], geometry: Geometry, segment: int, covered: Coverage) -> Array:
    """The trials in which a timed answer is due in this segment, bool (n,)."""
    p = geometry.period[segment]
    begin = geometry.edges[p][segment - geometry.first[p]]
    now = begin == due[p]
    return np.asarray(now if covered is True else covered & now)


def _frames(frames: Frames, geometry: Geometry, interface: Interface) -> Iterator[Frame]:
    """One for every run of its periods that follow on each other; time runs on from one run to the
    next.
    """
    is_channel = frames.name in interface.channels
    columns = interface.channels[frames.name] if is_channel else interface.actions[frames.name]
    offset: Any = 0 if frames.span.start is None else to_steps(frames.span.start, geometry.dt)
    for first, last in _runs([geometry.names.index(name) for name in frames.span.periods]):
        start = geometry.onset[:, first]
        stop = geometry.onset[:, last] + geometry.period_steps[last]
        zero = start + offset
        offset = offset - (stop - start)
        if frames.span.where is not None:
            stop = np.where(frames.span.where, stop, start)
        yield Frame(columns, frames.values, zero, start, stop, target=not is_channel)


def _runs(periods: Sequence[int]) -> list[tuple[int, int]]:
    """The first and the last of every run of whole numbers that follow on each other."""
    first = [p for p in periods if p - 1 not in periods]
    last = [p for p in periods if p + 1 not in periods]
    return list(zip(first, last, strict=True))
