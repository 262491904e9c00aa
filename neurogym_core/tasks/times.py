"""Check the times of a task when it is made.

A task is refused if its trials cannot be built for some durations. It warns of times that its `dt`
rounds, and of seconds given for ms."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from neurogym_core.errors import listed
from neurogym_core.tasks.building import layout_of
from neurogym_core.tasks.drawing import draw_independent, imposed_durations
from neurogym_core.tasks.state import TaskLike, TaskState, state_of
from neurogym_core.trials.arguments import steps_of
from neurogym_core.trials.arrays import Array
from neurogym_core.trials.distributions import Constant
from neurogym_core.trials.lay_out import lay_out
from neurogym_core.trials.layout import Layout, Slot, Span, to_steps
from neurogym_core.trials.record import DURATION
from neurogym_core.trials.timing import (
    CHANGE,
    SHORTEST,
    TimeWarning,
    rounding_text,
    seconds_text,
    whole_steps,
)

TRIALS = 200
"""Trials that are examined where times vary from trial to trial."""
COMMON = 0.02
"""The smallest share of trials with equal times; rarer ones are draws of a continuous quantity."""
SHORTEST_DT = 0.5
"""A `dt` below this, in ms, is probably in seconds."""


@dataclass
class Time:
    """A time of each trial as it was given and as it is played, in ms, (m,)."""

    what: str
    verb: str
    given: Array
    played: Array
    period: str | None = None

    def of(self, task: str) -> str:
        return f"{self.what} of {task} {self.verb}"


def warn_of_times(task: TaskLike, layout: Layout) -> None:
    """Warn once of each time in a layout that `dt` changes by over 10 %, and of each below 3 ms."""
    # A time that a continuous distribution draws is always rounded. There is a warning if that
    # changes the mean by more than 10 %, or makes times equal whose SD is more than 10 % of it.
    state = state_of(task)
    if state.joint:  # each of its tasks was examined itself
        return
    if state.wraps is None and task.dt < SHORTEST_DT:
        _warn(
            state,
            "dt",
            f"{task.name} was given dt={task.dt:g}. Expected ms, {SHORTEST_DT:g} or more. If these"
            f" are seconds, write dt={1000 * task.dt:g}.",
        )
    limit = task.max_duration
    if state.wraps is None and limit is not None and limit < SHORTEST:
        _warn(
            state,
            "max_duration",
            f"{task.name} was given max_duration={limit:g}. Expected ms, {SHORTEST:g} or more. If"
            f" these are seconds, write max_duration={1000 * limit:g}.",
        )
    elif state.wraps is None and limit is not None:
        text = rounding_text(f"max_duration of {task.name} is", np.asarray(limit), task.dt)
        if text is not None:
            _warn(state, "max_duration", text)
    if _varies(layout):
        rng = np.random.default_rng(0)
        drawn = draw_independent(task, rng, TRIALS, {})
        durations = imposed_durations(state, rng, TRIALS)
        layout = layout_of(task, drawn, rng, TRIALS, durations)
    for time in _times(layout):
        if time.what in state.warned:
            continue
        text = seconds_text(time.of(task.name), time.given)
        text = text or _rounded(time, task.name, task.dt)
        if text is not None:
            _warn(state, time.what, text)
    for slot in layout.slots:
        text = _out_of_reach(slot, layout)
        if text is not None and slot.name not in state.warned:
            _warn(state, slot.name, text)


def _warn(state: TaskState, what: str, text: str) -> None:
    state.warned.add(what)
    warnings.warn(text, TimeWarning, stacklevel=2)


def _rounded(time: Time, name: str, dt: float) -> str | None:
    given, played = time.given, time.played
    change = np.abs(played - given) / np.where(given > 0, given, 1)
    changed = (given > 0) & (change > CHANGE + 1e-9)
    if not changed.any():
        return None
    _, value, counts = np.unique(given, return_inverse=True, return_counts=True)
    common = changed & (counts[value] >= COMMON * len(given))
    drift = abs(played.mean() - given.mean()) > CHANGE * given.mean()
    constant = np.ptp(played) == 0 and given.std() > CHANGE * given.mean()
    if not (common.any() or drift or constant):
        return None
    counted = common if common.any() else changed
    i = int(np.argmax(np.where(counted, change, 0)))
    which, remedy = "", "times that are multiples of it"
    if np.ptp(given) > 0:
        which = f" (the largest change, of those in {int(counted.sum())} of {len(given)} trials)"
    elif time.period is not None:
        remedy = f"timing={{{time.period!r}: {played[i]:g}}} if that is intended"
    return (
        f"{time.of(name)} {given[i]:g} ms, which dt={dt:g} ms rounds to {played[i]:g} ms{which}."
        f" Use a smaller dt, or {remedy}."
    )


def _out_of_reach(slot: Slot, layout: Layout) -> str | None:
    """Return a warning if no step of a trial lies within the tolerance of its due answer."""
    if slot.due is None:
        return None
    played = np.maximum(to_steps(slot.due, layout.dt), 1) * layout.dt
    error = np.abs(played - slot.due)
    tolerance = np.broadcast_to(slot.tolerance, error.shape)
    missed = error > tolerance + 1e-9 * layout.dt
    if slot.span.where is not None:
        missed = missed & slot.span.where
    if not missed.any():
        return None
    i = int(np.argmax(missed * error))
    which = "any trial" if missed.all() else f"{int(missed.sum())} of {layout.n} trials"
    return (
        f"The answer {slot.name!r} of {layout.name} is due after {slot.due[i]:g} ms, within"
        f" {tolerance[i]:g} ms, and the nearest step of dt={layout.dt:g} ms ends after"
        f" {played[i]:g} ms: it cannot be correct in {which}. Use a smaller dt, or a larger"
        " tolerance."
    )


def check_bounds(task: TaskLike, conditions: Mapping[str, Array], n: int) -> None:
    """Build trials with all drawn durations at their shortest, and at their longest."""
    # A layout that does not fit to a rare duration would otherwise be found within a session.
    state = state_of(task)
    drawn = {
        name: one
        for name, one in state.timing.declared.items()
        if not isinstance(one, Constant) and DURATION + name not in state.imposed
    }
    for end in (0, 1):
        fixed = {}
        for name, one in drawn.items():
            ms = float(one.bounds[end])
            # A continuous distribution draws more than 0 ms, which is at least one step.
            ms = task.dt if not ms and one.support() is None else ms
            if ms < np.inf:
                fixed[name] = Constant(ms)
        if fixed:
            timing = replace(state.timing, declared={**state.timing.declared, **fixed})
            lay_out(layout_of(task, conditions, np.random.default_rng(0), n, {}, timing))


# ---------------------------------------------------------------------- the times of a layout


def _varies(layout: Layout) -> bool:
    """Whether a time differs from trial to trial."""
    moments = [
        moment
        for _, span in _spans(layout)
        for moment in (span.start, span.stop)
        if moment is not None
    ]
    due = [ms for slot in layout.slots for ms in (slot.due,) if ms is not None]
    return any(np.ptp(ms) > 0 for ms in (*moments, *due, *_timed(layout).values()))


def _timed(layout: Layout) -> dict[str, Array]:
    """The given durations of the periods with a timer, (n,) ms."""
    timeline = layout.timeline
    return {
        name: np.broadcast_to(np.asarray(ms, np.float64), (layout.n,))
        for name, ms in timeline.given.items()
        if name not in timeline.untimed
    }


def _spans(layout: Layout) -> Iterator[tuple[str, Span]]:
    """The spans of the verbs that have a start or a stop."""
    named = [
        *((f"show({show.channel!r})", show.span) for show in layout.shows),
        *((f"timecourse({frames.name!r})", frames.span) for frames in layout.frames),
        *(("hold()", hold.span) for hold in layout.holds),
        *(("loss_weight()", weigh.span) for weigh in layout.weights),
        *((f"The window of {slot.name!r}", slot.span) for slot in layout.slots),
    ]
    return ((what, span) for what, span in named if span.start is not None or span.stop is not None)


def _times(layout: Layout) -> Iterator[Time]:
    for period, ms in _timed(layout).items():
        played = whole_steps(ms, layout.dt) * layout.dt
        yield Time(f"Period {period!r}", "lasts", ms, played, period)
    for what, span in _spans(layout):
        yield from _times_of(f"{what} in {listed(span.periods)}", span, layout)


def _times_of(what: str, span: Span, layout: Layout) -> Iterator[Time]:
    """The time before a span, and that within it, where the periods have a timer."""
    steps, dt = steps_of(layout, span), layout.dt
    if steps is None:
        return
    start, stop = span.steps(steps, dt)
    first = np.zeros(layout.n) if start is None else np.clip(start, 0, steps)
    last = steps if stop is None else np.clip(stop, 0, steps)
    begin = np.zeros(layout.n) if span.start is None else np.maximum(span.start, 0)
    end = steps * dt if span.stop is None else np.minimum(span.stop, steps * dt)
    concerned = end > begin
    if span.where is not None:
        concerned = concerned & span.where
    if not concerned.any():
        return
    for verb, given, played in (
        ("begins after", begin, first * dt),
        ("lasts", end - begin, (last - first) * dt),
    ):
        yield Time(
            what,
            verb,
            np.asarray(given, np.float64)[concerned],
            np.asarray(played, np.float64)[concerned],
        )
