"""Read the arguments of the verbs of `TrialBuilder`: shapes, times, right choices, destinations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from neurogym_core.errors import TrialLayoutError, listed, unknown
from neurogym_core.trials.arrays import Array, Bools, Floats, Ints
from neurogym_core.trials.interface import Actions, Angle
from neurogym_core.trials.layout import END, STAY, TOLERANCE, Destination, Layout, Slot, Span
from neurogym_core.trials.record import RECORD_NAMES

OUTCOMES = ("correct", "error", "other")
"""Keys of a dict that is passed as `then=`."""

WORDS = ("end", "wait", "stay", "restart")
"""Values of `then=` that are no periods."""

UNKNOWN = -3
"""Neither STAY, END nor the index of a period."""


def brief(value: Any) -> str:
    """Return a value and its shape, for messages; a number alone."""
    if np.ndim(value) == 0:
        return f"{value!s}"
    return f"{np.array2string(np.asarray(value), threshold=6)} (shape {np.shape(value)})"


# ---------------------------------------------------------------------- numbers


def per_trial(layout: Layout, name: str, value: Any) -> Floats:
    """Return a number, or one per trial, as (n,)."""
    value = np.asarray(value, dtype=np.float64)
    if value.ndim > 1 or (value.ndim == 1 and value.shape != (layout.n,)) or np.isnan(value).any():
        raise TrialLayoutError(
            f"{name}= of {layout.name} was given {brief(value)}; give a number, or shape"
            f" ({layout.n},), without NaN."
        )
    return np.broadcast_to(value, (layout.n,))


def number(layout: Layout, name: str, value: Any) -> Any:
    """Return one number, or None, as it is, and others as `per_trial` does."""
    return per_trial(layout, name, value) if np.ndim(value) else value


def per_unit(layout: Layout, name: str, value: Any, k: int) -> Array:
    """Return a value that broadcasts against (n, k); (m,) means trials if k is 1, else units."""
    value, n = np.asarray(value), layout.n
    if value.ndim == 1 and k == 1:
        value = value[:, None]
    # (1, k) and (n, 1) broadcast, too.
    rows = value.ndim < 2 or value.shape[0] in (1, n)
    if value.ndim > 2 or not rows or (value.ndim and value.shape[-1] not in (1, k)):
        shapes = f"({n},) or ({n}, 1)" if k == 1 else f"({k},), ({n}, 1) or ({n}, {k})"
        raise TrialLayoutError(
            f"{name} of {layout.name} was given shape {value.shape}; give a number, {shapes}."
        )
    return np.asarray(value)


def each_unit(layout: Layout, name: str, value: Any, k: int) -> Floats:
    """Return a number, (n,), (k,) or (n, k) as (n, k); see `per_unit`."""
    return np.broadcast_to(per_unit(layout, name, value, k), (layout.n, k)).astype(np.float64)


def moment(layout: Layout, ms: Any, name: str) -> Floats | None:
    """Return finite ms as (n,), or None for None."""
    if ms is None:
        return None
    ms = per_trial(layout, name, ms)
    if np.isinf(ms).any():
        raise TrialLayoutError(
            f"{name}= of {layout.name} was given {brief(ms)}; give a finite number of ms, or leave"
            " it out."
        )
    return np.asarray(ms)


def frames(layout: Layout, name: str, values: Any) -> Array:
    """Return the values of a `timecourse` as (n or 1, T, k), float32."""
    interface, n = layout.interface, layout.n
    part = interface.channels.get(name) or (
        interface.actions.get(name) if interface.actions.continuous else None
    )
    if part is None:
        raise unknown("channel", name, interface.channels, of=layout.name)
    values = np.asarray(values, dtype=np.float32)
    angle = name not in interface.channels and isinstance(interface.actions.parts[name], Angle)
    width = 1 if angle else part.stop - part.start
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim == 2:
        values = values[None]
    if values.ndim != 3 or values.shape[0] not in (1, n) or values.shape[2] not in (1, width):
        raise TrialLayoutError(
            f"timecourse({name!r}) of {layout.name} was given shape {values.shape}; give"
            f" (T, {width}) or ({n}, T, {width})."
        )
    return Angle.points(values[:, :, 0]).astype(np.float32) if angle else np.asarray(values)


# ---------------------------------------------------------------------- periods


def span(
    layout: Layout,
    during: str | Iterable[str],
    start: Any,
    stop: Any,
    where: Any,
    *,
    may_be_late: bool = False,
) -> Span:
    """Return a span; `may_be_late`: `start` may lie beyond the end of a trial's periods."""
    names = (during,) if isinstance(during, str) else tuple(during)
    if not names:
        raise TrialLayoutError(
            f"during= of {layout.name} was given no period; give one or several of"
            f" {listed(layout.timeline.names)}."
        )
    for name in names:
        check_period(layout, name)
    if where is not None:
        where = np.asarray(where)
        if where.dtype != bool or where.shape not in ((), (layout.n,)):
            raise TrialLayoutError(
                f"where= of {layout.name} was given {where.dtype} values of shape {where.shape};"
                f" give True or False per trial, shape ({layout.n},)."
            )
        where = np.broadcast_to(where, (layout.n,))
    in_order = tuple(sorted(names, key=layout.timeline.names.index))
    span = Span(in_order, moment(layout, start, "start"), moment(layout, stop, "stop"), where)
    _check_order(layout, span)
    if not may_be_late:
        _check_begins(layout, span)
    return span


def _check_order(layout: Layout, span: Span) -> None:
    """Raise `TrialLayoutError` if `stop` lies before `start`, or before the onset."""
    if span.stop is None:
        return
    begin = 0.0 if span.start is None else np.maximum(span.start, 0)
    early = _concerned(layout, span) & (span.stop / layout.dt < begin / layout.dt - TOLERANCE)
    if early.any():
        i = int(np.argmax(early))
        than = "the onset" if span.start is None else f"start={span.start[i]:g} ms"
        raise TrialLayoutError(
            f"stop= of {layout.name} was given {span.stop[i]:g} ms, which is before {than}, in"
            f" {int(early.sum())} of {layout.n} trials; give a later stop=, or leave these trials"
            " out with where=."
        )


def _check_begins(layout: Layout, span: Span) -> None:
    """Raise `TrialLayoutError` if `start` lies at or beyond the end of a trial's periods."""
    steps = steps_of(layout, span)
    if span.start is None or steps is None:
        return
    # In ms: a start within the last half step begins with the last step.
    late = _concerned(layout, span) & (span.start / layout.dt > steps - TOLERANCE)
    if late.any():
        i = int(np.argmax(late))
        raise TrialLayoutError(
            f"start= of {layout.name} was given {span.start[i]:g} ms, which is not before the end"
            f" of {listed(span.periods)} ({steps[i] * layout.dt:g} ms), in {int(late.sum())} of"
            f" {layout.n} trials; give an earlier start=, or leave these trials out with where=."
        )


def _concerned(layout: Layout, span: Span) -> Bools:
    """The trials (n,) that a span applies to, without those that skip all of its periods."""
    steps = steps_of(layout, span)
    played = np.full(layout.n, True) if steps is None else steps > 0
    return played if span.where is None else played & span.where


def steps_of(layout: Layout, span: Span) -> Ints | None:
    """Return the steps of all periods of a span, (n,); None if one has no timer or is imposed."""
    timeline = layout.timeline
    if not timeline.untimed.isdisjoint(span.periods) or not layout.durations.keys().isdisjoint(
        span.periods
    ):
        return None
    steps = [timeline.steps[name] for name in span.periods]
    return np.asarray(np.sum(steps, axis=0), np.int64)


def check_length(layout: Layout, name: str, length: int, span: Span, cut: bool) -> None:
    """Raise `TrialLayoutError` unless a timecourse is as long as the longest trial's span."""
    steps, concerned = steps_of(layout, span), _concerned(layout, span)
    if steps is None or not concerned.any():
        return
    start, _ = span.steps(steps, layout.dt)
    wanted = int(np.max((steps if start is None else steps - start)[concerned]))
    if length == wanted or wanted < 1 or (cut and length > wanted):
        return
    begins = "" if span.start is None else " from start= on"
    advice = (
        f"give {wanted} values, or pass cut=True to leave out the last ones"
        if length > wanted
        else f"give {wanted} values, with zeros where nothing is added"
    )
    raise TrialLayoutError(
        f"timecourse({name!r}) of {layout.name} was given {length} values, but there are {wanted}"
        f" steps of {layout.dt:g} ms in {listed(span.periods)}{begins}, in the longest of"
        f" {layout.n} trials; {advice}."
    )


def check_period(layout: Layout, name: str) -> None:
    """Raise `UnknownNameError` if the trial has no such period."""
    if name not in layout.timeline.names:
        hint = "" if layout.timeline.names else " Call trial.periods(…) first."
        error = unknown("period", name, layout.timeline.names, of=layout.name)
        raise type(error)(f"{error}{hint}")


def check_goto(layout: Layout, target: str, words: tuple[str, ...]) -> None:
    """Raise an error unless `target` is either one of the words or a period."""
    if target in WORDS and target in layout.timeline.names:
        raise TrialLayoutError(
            f"then={target!r} of {layout.name} is a period of the trial, and also a word of then="
            f" ({listed(WORDS)}). Expected one meaning. Give the period another name."
        )
    if target not in words and target not in layout.timeline.names:
        raise unknown("target of then=", target, (*words, *layout.timeline.names), of=layout.name)


# ---------------------------------------------------------------------- right choices


def right(layout: Layout, group: str, which: Any, tolerance: Any) -> tuple[Bools | None, Array]:
    """Return the right choices, (n, k), and the target, (n,); of continuous ones None, (n, k)."""
    actions, n = layout.interface.actions, layout.n
    if which is None and actions.continuous:
        if actions.trigger is None:
            raise TrialLayoutError(
                f"answer({group!r}) of {layout.name} was given None, resting, but none of its axes"
                " has a trigger, so that every trial is answered. Give the values that are right,"
                " or one axis a trigger."
            )
        return np.zeros((n, 1), bool), np.tile(actions.rest_value[actions[group]], (n, 1))
    k, which = actions.width(group), np.asarray(-1 if which is None else which)
    if isinstance(actions.parts[group], Angle):
        return None, Angle.points(per_trial(layout, f"which= of answer({group!r})", which))
    if actions.continuous:
        return None, each_unit(layout, f"answer({group!r})", which, k)
    if which.dtype.kind == "U":
        which = actions.indices(group, which)
    if which.dtype == bool and which.shape in ((k,), (1, k), (n, k)):
        mask = np.broadcast_to(which, (n, k))
        return mask, np.where(mask.any(axis=1), np.argmax(mask, axis=1), -1)
    if which.dtype.kind == "f":
        return _right_angle(layout, group, which, tolerance)
    if (
        which.dtype.kind not in "iub"
        or which.shape not in ((), (n,))
        or (which < -1).any()
        or (which >= k).any()
    ):
        raise TrialLayoutError(
            f"answer({group!r}) of {layout.name} was given {brief(which)}; give an index from 0 to"
            f" {k - 1} (or -1 for resting){_or_names(actions, group)}, one or shape ({n},), an"
            f" angle with tolerance=, or a mask of shape ({n}, {k})."
        )
    which = np.broadcast_to(which.astype(np.int64), (n,))
    return which[:, None] == np.arange(k), which


def _or_names(actions: Actions, group: str) -> str:
    names = getattr(actions.parts[group], "names", ())
    return f" or a name ({listed(names)})" if names else ""


def _right_angle(layout: Layout, group: str, which: Array, tolerance: Any) -> tuple[Bools, Array]:
    encoder = layout.interface.actions.parts[group]
    if (
        not hasattr(encoder, "nearest")
        or which.shape not in ((), (layout.n,))
        or not np.isfinite(which).all()
    ):
        raise TrialLayoutError(
            f"answer({group!r}) of {layout.name} was given {brief(which)}; only a Ring takes"
            " angles in radians. Give whole numbers for the index of a choice."
        )
    nearest = np.broadcast_to(encoder.nearest(which), (layout.n,))
    mask = nearest[:, None] == np.arange(encoder.size)
    if tolerance is not None:
        mask = mask | np.broadcast_to(encoder.within(which, float(tolerance)), mask.shape)
    return mask, nearest


def timed(layout: Layout, action: str, index: Any) -> tuple[Bools | None, Array]:
    """Return the right choices and the target, as `right` does, for `answer_at`."""
    actions, n = layout.interface.actions, layout.n
    k, which = actions.width(action), np.asarray(index)
    if which.dtype.kind == "U" and not actions.continuous:
        which = actions.indices(action, which)
    if (
        which.dtype.kind not in "iu"
        or which.shape not in ((), (n,))
        or ((which < 0) | (which >= k)).any()
    ):
        raise TrialLayoutError(
            f"answer_at({action!r}) of {layout.name} was given"
            f" index={brief(which) if which.ndim else index!r}; give one from 0 to"
            f" {k - 1}{_or_names(actions, action)}, or one per trial."
        )
    if actions.continuous and actions.trigger is None:
        raise TrialLayoutError(
            f"answer_at({action!r}) of {layout.name} has no moment, because none of its axes"
            " triggers; give one of them a threshold: Axis(…, trigger=…)."
        )
    if actions.continuous:
        return None, np.zeros((n, k))
    if actions.rest is None:
        raise TrialLayoutError(
            f"answer_at({action!r}) of {layout.name} cannot be waited for: there is no action for"
            " rest, so the first step of the window is an answer. Give the actions one:"
            " act(rest=1, …)."
        )
    aim = np.broadcast_to(which.astype(np.int64), (n,))
    return aim[:, None] == np.arange(k), aim


# ---------------------------------------------------------------------- slots


def slot(
    layout: Layout, name: str, group: str, span: Span, then: Destination, terms: dict[str, Any]
) -> Slot:
    """Return the slot that a verb opens; rewards that are None become the task's."""
    names = {slot.name for slot in layout.slots}
    if terms["needs"] is not None and terms["needs"] not in names:
        raise unknown("slot", terms["needs"], [slot.name for slot in layout.slots], of=layout.name)
    if group == layout.interface.actions.rest_name:
        raise TrialLayoutError(
            f"{layout.name}.new_trial asks for {group!r}, the action of resting; use which=-1 with"
            " another group."
        )
    _check_answerable(layout, group, span, terms["right"])
    if terms.get("reported") and "step_action" not in layout.interface.hooks:
        raise TrialLayoutError(
            f"answer({group!r}) of {layout.name} was given reported=True, but the task has no"
            " step_action, which alone could report the answer with now.answer(…). Write the hook,"
            " or leave reported= out."
        )
    _check_joins(layout, name, terms)
    for term in ("correct", "error", "miss"):
        value = layout.interface.rewards[term] if terms[term] is None else terms[term]
        terms[term] = per_trial(layout, term, value)
    if isinstance(then, str | Mapping):
        outcomes = _by_outcome(layout, then)
    else:
        # `then` is by outcome, which does not matter here: `leads` overrides it for every choice.
        terms["leads"] = _leads(layout, group, then, terms)
        outcomes = dict.fromkeys(map(str, OUTCOMES), "wait")
    return Slot(name=name, group=group, span=span, then=outcomes, **terms)


def _by_outcome(layout: Layout, then: str | Mapping[str, str]) -> dict[str, str]:
    given: Mapping[str, str] = dict.fromkeys(OUTCOMES, then) if isinstance(then, str) else then
    for outcome in given:
        if outcome not in OUTCOMES:
            raise unknown("outcome", outcome, OUTCOMES, of="then")
    outcomes = {**dict.fromkeys(OUTCOMES, "end"), **given}
    for target in outcomes.values():
        check_goto(layout, target, ("end", "wait"))
    return outcomes


def check_column_name(layout: Layout, name: str) -> None:
    """Raise `TrialLayoutError` if a covariate has the name of another column."""
    for names, what in (
        (layout.conditions, "a condition, which is recorded anyway"),
        (RECORD_NAMES, "a column that every record has"),
    ):
        if name in names:
            raise TrialLayoutError(
                f"record({name}=…) of {layout.name} has the name of {what}; rename it."
            )


def check_state_column(layout: Layout, name: str) -> None:
    """Raise `TrialLayoutError` unless a record can hold an array of `trial_state`."""
    initial = np.asarray(layout.interface.trial_state[name])
    if initial.ndim > 1 or not initial.size or initial.dtype.kind not in "biuf":
        raise TrialLayoutError(
            f"record({name!r}) of {layout.name} names an array of trial_state with"
            f" {initial.dtype} of shape {initial.shape} in each trial; a record holds bools or"
            " numbers, one or k of them. Record another array."
        )
    if name in RECORD_NAMES:
        raise TrialLayoutError(
            f"record({name!r}) of {layout.name} has the name of a column that every record has;"
            " rename the array in trial_state."
        )


def _check_joins(layout: Layout, name: str, terms: Mapping[str, Any]) -> None:
    """Check that all calls that open a slot judge alike: tables have one due time per slot."""
    for slot in layout.slots:
        for term, usual in (("again", False), ("scored", True), ("reported", False)):
            if slot.name == name and getattr(slot, term) != terms.get(term, False):
                raise TrialLayoutError(
                    f"The slot {name!r} of {layout.name} is opened twice, once with"
                    f" {term}={not usual}; give both calls the same {term}=, or the second another"
                    " name (slot=…)."
                )
        if slot.name != name or slot.amounts is not None or terms.get("amounts") is not None:
            continue
        timed = (slot.due is None) != (terms.get("due") is None)
        judged = slot.needs == terms["needs"] and slot.pays == terms.get("pays")
        if timed or not judged:
            raise TrialLayoutError(
                f"The slot {name!r} of {layout.name} is opened twice with different due times,"
                " needs= or pays=; give the second another name (slot=…)."
            )


def _check_answerable(layout: Layout, group: str, span: Span, right: Bools | None) -> None:
    """Check that resting is right only if there is an action of resting."""
    if layout.interface.actions.rest is not None or right is None:
        return
    asked = True if span.where is None else span.where
    if (asked & ~right.any(axis=1)).any():
        raise TrialLayoutError(
            f"answer({group!r}) of {layout.name} has no right choice in some trials (-1), but there"
            " is no action of resting; make the first action of act() a single one to rest with,"
            " or limit answer() with where= to trials that have one."
        )


def _leads(layout: Layout, group: str, then: Any, terms: Mapping[str, Any]) -> Array:
    """Return the place that each choice leads to, (n, k): STAY, END or the index of a period."""
    actions, n = layout.interface.actions, layout.n
    k = actions.width(group)
    if actions.continuous or terms["needs"] is not None or terms.get("due") is not None:
        raise TrialLayoutError(
            f"then= of {layout.name} leads by choice, which continuous, timed and dependent"
            " (needs=) answers cannot; give one place, or a dict by outcome."
        )
    names = np.asarray(then)
    rows = names.ndim < 2 or len(names) == n
    if names.dtype.kind != "U" or names.ndim not in (1, 2) or names.shape[-1] != k or not rows:
        raise TrialLayoutError(
            f"then= of {layout.name} was given {brief(names)}; give one name, a dict by outcome, or"
            f" the names of periods per choice, of shape ({k},) or ({n}, {k})."
        )
    # One comparison per name: `np.unique` on arrays of strings takes many times as long.
    places = np.full(names.shape, UNKNOWN, np.int16)
    known = {name: p for p, name in enumerate(layout.timeline.names)}
    for name, place in {"wait": STAY, "end": END, **known}.items():
        given = names == name
        if given.any():
            check_goto(layout, name, ("end", "wait"))
            places[given] = place
    if (places == UNKNOWN).any():
        check_goto(layout, str(names[places == UNKNOWN][0]), ("end", "wait"))  # raises
    return np.broadcast_to(places, (n, k))


def reading(
    conditions: Mapping[str, Array], read: set[str], answer: Callable[[Mapping[str, Array]], Any]
) -> Any:
    """Call `answer` with the conditions; add the names of those that it reads to `read`."""
    return answer(_Reading(conditions, read))


class _Reading(dict[str, Array]):
    """Conditions that record the names of those that are read."""

    def __init__(self, conditions: Mapping[str, Array], read: set[str]) -> None:
        super().__init__(conditions)
        self._read = read

    def __getitem__(self, name: str) -> Array:
        self._read.add(name)
        return super().__getitem__(name)
