"""Join several tasks into one: their channels, actions, periods, slots, conditions and trials.

Parts with the same name and type are shared. A part with the same name, but another type, gets the
name of its task as a suffix (``stimulus.GoNogo``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from neurogym_core import (
    END,
    STAY,
    Frames,
    Hold,
    Layout,
    Session,
    Show,
    Slot,
    Span,
    Task,
    Weigh,
    make_task,
)
from neurogym_core.players import Interface, TaskView

Names = dict[str, str]
"""{name in one task: name in the joined task}"""


def begin_nested_session(
    session: Session,
    name: str,
    task: Task,
    rng: np.random.Generator,
    ended: Mapping[str, np.ndarray] | None = None,
    rows: np.ndarray | None = None,
) -> None:
    """Start sessions of another task inside `session`, as its attribute `name`.

    State that lasts over sessions is an attribute of `session.subject`, under the same name.

    Args:
        session: the new sessions.
        name: name of the attribute.
        task: the other task.
        rng: generator of sessions.
        ended: last trials of the subjects' last sessions of `task`, name -> (len(session), …).
        rows: (len(session),) subjects that have such a trial, if some have.
    """
    subject = getattr(session.subject, name, None)
    if rows is None or not rows.any():
        part = TaskView(task).fresh_session(rng, len(session), subject)
    else:
        part = Session(len(session), subject)
        for some, known in ((np.flatnonzero(rows), ended or {}), (np.flatnonzero(~rows), {})):
            if len(some):
                own = subject.take(some)
                own.previous = {column: values[some] for column, values in known.items()}
                fresh = TaskView(task).fresh_session(rng, len(some), own)
                part.put(some, fresh)
                part.remember(some, fresh.previous)
    setattr(session, name, part)
    setattr(session.subject, name, part.subject)


def task_from_entry(entry: Any) -> Task:
    """Make the task of an entry in a wrapper's list of tasks.

    Args:
        entry: an argument of `make_task`, or a mapping ``{"task": …, parameters, "wrap": …}``.
    """
    if isinstance(entry, Mapping):
        settings = dict(entry)
        wrap = settings.pop("wrap", ())
        return make_task(settings.pop("task", None), wrap=wrap, **settings)
    return make_task(entry)


def task_labels(tasks: Sequence[Task]) -> tuple[str, ...]:
    """Return the name of each task, numbered if several tasks have the same name."""
    names = [task.name for task in tasks]
    seen: dict[str, int] = {}
    labels = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        labels.append(name if seen[name] == 1 else f"{name} {seen[name]}")
    return tuple(labels)


def merged(
    parts: Sequence[Mapping[str, Any]], labels: Sequence[str], same: Callable[[Any, Any], bool]
) -> tuple[dict[str, Any], list[Names]]:
    """Merge named parts of several tasks.

    Args:
        parts: for each task, its parts by name.
        labels: names of the tasks, for suffixes.
        same: whether two parts with one name are equal, and shared.

    Returns:
        The union of the parts by joined name, and for each task the joined names of its parts.
    """
    whole: dict[str, Any] = {}
    renamed: list[Names] = []
    for label, part in zip(labels, parts, strict=True):
        names = {
            name: _free_or_shared(whole, name, value, label, same) for name, value in part.items()
        }
        for name, joined in names.items():
            shared = whole.setdefault(joined, part[name])
            # Units that mean different things in the tasks that share them are numbered.
            if getattr(shared, "names", ()) != getattr(part[name], "names", ()):
                whole[joined] = shared.without_names()
        renamed.append(names)
    return whole, renamed


def _free_or_shared(
    whole: Mapping[str, Any], name: str, value: Any, label: str, same: Callable[[Any, Any], bool]
) -> str:
    for candidate in (name, f"{name}.{label}"):
        if candidate not in whole or same(whole[candidate], value):
            return candidate
    return f"{name}.{label}.2"


def merged_order(
    orders: Sequence[Sequence[str]], labels: Sequence[str], fits: Callable[[int, str, str], bool]
) -> tuple[tuple[str, ...], list[Names]]:
    """Merge the periods of all tasks into one order that keeps the order of each task.

    Args:
        orders: for each task, the names of its periods.
        labels: names of the tasks, for suffixes.
        fits: (index of a task, its name of a period, joined name) -> whether it can share that.

    Returns:
        The merged order, and for each task the joined names of its periods.
    """
    whole: list[str] = []
    renamed: list[Names] = []
    for k, (label, order) in enumerate(zip(labels, orders, strict=True)):
        at, names = 0, {}
        for name in order:
            joined = (
                name
                if name not in whole or (whole.index(name) >= at and fits(k, name, name))
                else f"{name}.{label}"
            )
            if joined not in whole:
                whole.insert(at, joined)
            at = whole.index(joined) + 1
            names[name] = joined
        renamed.append(names)
    return tuple(whole), renamed


@dataclass(frozen=True)
class Renamed:
    """Joined names of all parts of one task."""

    channels: Names
    actions: Names
    periods: Names
    slots: Names
    conditions: Names
    notes: Names = field(default_factory=dict)


@dataclass(frozen=True)
class TaskFacts:
    """Facts about a task, from a few of its trials.

    Attributes:
        slots: slot -> the facts that must be equal for two tasks to share it.
        then: period -> target of its `then=`.
        untimed: periods without a duration.
        notes: covariate -> an empty array of its type and shape.
        examples: one slot of each name.
    """

    slots: dict[str, tuple]
    then: dict[str, str]
    untimed: frozenset[str]
    notes: dict[str, np.ndarray]
    examples: tuple[Slot, ...]

    @classmethod
    def of(cls, task: Task, actions: Names) -> TaskFacts:
        layout = TaskView(task).example_layout
        slots: dict[str, Slot] = {}
        for slot in layout.slots:
            slots.setdefault(slot.name, slot)
        notes = {name: np.asarray(values)[:0] for name, values in layout.notes.items()}
        known = {
            name: (actions[one.group], one.needs, one.pays, one.due is not None)
            for name, one in slots.items()
        }
        untimed = frozenset(layout.timeline.untimed)
        return cls(known, dict(layout.timeline.then), untimed, notes, tuple(slots.values()))


# ------------------------------------------------------------------ layouts


ARRAYS = (
    "right",
    "aim",
    "correct",
    "error",
    "miss",
    "amounts",
    "worth",
    "due",
    "tolerance",
    "leads",
)
"""Fields of a slot that have one row per trial."""


@dataclass(frozen=True)
class Placement:
    """Places the layout of the trials `rows` (m,), all of one task, in the layout of `n` trials."""

    rows: np.ndarray
    n: int
    names: Renamed

    def array(self, values: Any, fill: Any = 0) -> Any:
        """Return an array (m, …) as (n, …), and a number unchanged."""
        values = np.asarray(values)
        if values.ndim == 0:
            return values[()]
        out = np.full((self.n, *values.shape[1:]), fill, values.dtype)
        out[self.rows] = values
        return out

    def per_unit(self, values: Any) -> Any:
        """Return a value of `Show` for all `n` trials; a single row stays a single row."""
        values = np.asarray(values)
        return self.array(values) if values.ndim == 2 and len(values) == len(self.rows) else values

    @property
    def mask(self) -> np.ndarray | None:
        """(n,) whether a trial is one of `rows`; None: all trials are."""
        if len(self.rows) == self.n:
            return None
        mask = np.zeros(self.n, bool)
        mask[self.rows] = True
        return mask

    def span(self, span: Span) -> Span:
        """Return the same span, in these trials only."""
        where = self.mask if span.where is None else self.array(span.where, False)
        moments = (
            None if moment is None else self.array(moment) for moment in (span.start, span.stop)
        )
        start, stop = moments
        return Span(tuple(self.names.periods[name] for name in span.periods), start, stop, where)

    def show(self, show: Show) -> Show:
        return Show(
            self.names.channels[show.channel],
            self.per_unit(show.value),
            self.span(show.span),
            self.array(show.noise),
        )

    def frames(self, frames: Frames) -> Frames:
        known = self.names.channels if frames.name in self.names.channels else self.names.actions
        values = frames.values if len(frames.values) == 1 else self.array(frames.values)
        return Frames(known[frames.name], values, self.span(frames.span))

    def weigh(self, weigh: Weigh) -> Weigh:
        return Weigh(self.array(weigh.weight), self.span(weigh.span))

    def holds(self, hold: Hold, interface: Interface) -> list[Hold]:
        """Return the hold with explicit costs and targets, which do not depend on the task.

        Trials in which an action costs nothing get a separate hold, because an action does not end
        them.
        """
        span, then = (
            self.span(hold.span),
            self.place(hold.then or ("end" if interface.abort_ends_trial else "stay")),
        )
        cost = self.array(interface.rewards["abort"] if hold.cost is None else hold.cost)
        if hold.cost is None or hold.then is not None or np.all(cost):
            return [Hold(span, cost, then)]
        if not np.any(cost):
            return [Hold(span, cost)]
        everywhere = np.ones(self.n, bool) if span.where is None else span.where
        return [
            Hold(replace(span, where=everywhere & (cost == 0)), 0),
            Hold(replace(span, where=everywhere & (cost != 0)), cost, then),
        ]

    def place(self, target: str) -> str:
        """Return the joined name of a target that is a period, and other targets unchanged."""
        return self.names.periods.get(target, target)

    def slot(self, slot: Slot, periods: Sequence[str]) -> Slot:
        arrays = {
            name: None if getattr(slot, name) is None else self.array(getattr(slot, name), fill)
            for name, fill in (("right", False), *((name, 0) for name in ARRAYS[1:-1]))
        }
        return replace(
            slot,
            name=self.names.slots[slot.name],
            group=self.names.actions[slot.group],
            span=self.span(slot.span),
            then={outcome: self.place(target) for outcome, target in slot.then.items()},
            needs=None if slot.needs is None else self.names.slots[slot.needs],
            leads=self._leads(slot, periods),
            **arrays,
        )

    def _leads(self, slot: Slot, periods: Sequence[str]) -> np.ndarray | None:
        if slot.leads is None:
            return None
        own = list(self.names.periods.values())
        lead = {STAY: STAY, END: END, **{p: periods.index(name) for p, name in enumerate(own)}}
        moved = np.vectorize(lead.__getitem__, otypes=[slot.leads.dtype])(slot.leads)
        return self.array(moved, STAY)


def add_absent(layout: Layout, facts: TaskFacts, names: Renamed, periods: Sequence[str]) -> None:
    """Add the slots and covariates of a task that has no trial in this batch.

    All batches then have the same columns.
    """
    nowhere = np.zeros(layout.n, bool)
    placement = Placement(np.zeros(0, np.int64), layout.n, names)
    for example in facts.examples:
        arrays = {
            name: getattr(example, name) for name in ARRAYS if np.ndim(getattr(example, name))
        }
        empty = replace(
            example, **{name: np.asarray(values)[:0] for name, values in arrays.items()}
        )
        slot = placement.slot(replace(empty, span=Span(example.span.periods[:1])), periods)
        layout.slots.append(replace(slot, span=replace(slot.span, where=nowhere)))
    for name, sample in facts.notes.items():
        layout.notes.setdefault(
            names.notes[name],
            np.full((layout.n, *sample.shape[1:]), missing_value(sample), sample.dtype),
        )


def add_layout(layout: Layout, part: Layout, placement: Placement, periods: Sequence[str]) -> None:
    """Add the layout `part` of one task to `layout`, whose timeline has its periods already."""
    layout.shows += [placement.show(show) for show in part.shows]
    layout.frames += [placement.frames(frames) for frames in part.frames]
    layout.weights += [placement.weigh(weigh) for weigh in part.weights]
    layout.holds += [
        joined for hold in part.holds for joined in placement.holds(hold, part.interface)
    ]
    layout.charges += [replace(charge, span=placement.span(charge.span)) for charge in part.charges]
    layout.slots += [placement.slot(slot, periods) for slot in part.slots]
    for name, values in part.notes.items():
        joined = placement.names.notes[name]
        before = layout.notes.get(joined)
        values = placement.array(values, missing_value(np.asarray(values)))
        layout.notes[joined] = (
            values if before is None else with_rows(before, values, placement.rows)
        )


def with_rows(before: np.ndarray, values: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return a copy of `before` with `values` in these rows."""
    out = before.astype(np.result_type(before, values))
    out[rows] = values[rows]
    return out


def missing_value(values: np.ndarray) -> Any:
    """Return the value of a column in trials of tasks without it: -1, 0.0, False or empty text."""
    return {"i": -1, "u": 0, "f": 0.0, "b": False, "U": ""}[values.dtype.kind]


def column_type(values: np.ndarray) -> tuple:
    """Return the type and shape that must be equal for two conditions to share a column."""
    family = {"i": "number", "u": "number", "f": "number"}.get(values.dtype.kind, values.dtype.kind)
    return (family, values.shape[1:])
