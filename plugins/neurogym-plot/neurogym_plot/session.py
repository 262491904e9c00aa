"""The figure of a session: choices, outcomes, rewards and conditions over trials.

record = run("value/DriftingBandit-v0", "oracle", 100, num_envs=1, seed=0)
save_figure(session_figure(record, "value/DriftingBandit-v0"), "session.png")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from neurogym_core import Angle, InvalidValueError, Outcome, Task, TrialRecord, make_task
from neurogym_core.players import PERIOD_COLUMNS, RECORD_NAMES
from neurogym_plot.canvas import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    SMALL,
    TEXT,
    VERMILION,
    Box,
    cycle_colour,
    heading,
    key,
    name_row,
    new_figure,
    number,
    pale,
    quarters,
    room_for_ticks,
    spaced_ticks,
    text_width,
    time_axis,
    write,
)
from neurogym_plot.styles import magnified

# Private sizes are in inches, unless noted.

_PLOT, _LEFT, _RIGHT = 4.9, 1.25, 1.05
_LABEL = 1.3  # widest label of a tick
_FOOT, _GAP = 0.5, 0.12
_LANE = 0.2  # one choice, or one value of a condition
_LANES = 24  # most choices that have a visible lane each
_FEW = 6  # values that have a colour or a lane each; lines in a row
_FEWEST = 5  # rewards that a mean is drawn of
_ROWS = 8  # conditions that are drawn by default
_FOOTNOTE = 105  # characters
_NO_ANSWER = "no answer"

_SLOT_ENDS = ("choice", "outcome", "reaction_time", "answer_time")
# Outcomes differ in colour and in the part of the lane that a tick spans, from -0.5 to 0.5 (top).
_OUTCOMES = {
    "correct": (GREEN, -0.4, 0.4),
    "error": (VERMILION, -0.4, 0.0),
    "abort": (ORANGE, -0.4, 0.0),
    "miss": (GREY, -0.15, 0.15),
    "other": (BLUE, -0.4, 0.4),
}


def session_figure(
    record: TrialRecord,
    task: Any = None,
    *,
    columns: Sequence[str] | None = None,
    title: str | None = None,
    subject: str = "",
) -> Any:
    """Return the figure of a session of one subject: trials from left to right.

    From top to bottom:

    - a row for each slot: a tick per trial at the height of the choice. Its colour and length are
      the outcome: long for correct and other, short for errors and aborts;
    - the rewards as bars, and their mean over the last trials as a line;
    - conditions and recorded columns that persist over trials: a few numbers or names as coloured
      bands, other numbers as lines (probabilities from 0 to 1);
    - those that change from trial to trial: one tick per trial at the height of the value, or a dot
      for numbers with fractions.

    Vertical lines separate sessions. Text is legible for 30 to 300 trials. A line at the bottom
    names the columns that are left out: several fluctuating numbers per trial, names of more than
    six values, and all beyond eight rows.

    Args:
        record: trials of one env, in the order in which they were played.
        task: the task, as in `neurogym_core.make_task`; its name is the title.
        columns: names of the conditions and recorded columns to draw, from top to bottom; None:
            chosen as above.
        title: title of the figure; None: the name of the task.
        subject: name of the subject, for the second line.

    Raises:
        InvalidValueError: the record is empty or has trials of several envs, or a
            column, or every column, cannot be drawn.
        UnknownNameError: the record has no such column.

    Example:
        >>> from neurogym_core import run
        >>> from neurogym_plot import session_figure
        >>> record = run("value/DriftingBandit-v0", "oracle", 40, num_envs=1, seed=0)
        >>> figure = session_figure(record, "value/DriftingBandit-v0", subject="oracle")
        >>> len(figure.axes)  # choices, rewards and means
        3
    """
    _check(record)
    made = None if task is None else make_task(task)
    record = record.coded()
    span = _span_of(record)
    rows, left_out = _rows(record, columns, made)
    if not rows:
        raise InvalidValueError(
            f"The record of session_figure() has the columns {', '.join(record.columns)}. Expected"
            " choices, rewards or conditions that can be drawn. Give the record of a player, such"
            " as that of neurogym_core.run."
        )
    name = title if title is not None else "" if made is None else made.name
    head = 0.22 + 0.24 * bool(name) + 0.22
    height = head + sum(row.height + _GAP for row in rows) + _FOOT + 0.16 * bool(left_out)
    # The names of choices differ in length; the panels keep their width.
    left = max([_LEFT, *(_left_of(row) for row in rows)])
    width = left + _PLOT + _RIGHT
    figure = new_figure(width, height)
    box, top = Box(figure, 0, 0, width, height), height - head
    drawn = []
    for row in rows:
        axes = box.axes(left, top - row.height, _PLOT, row.height)
        row.paint(axes, span)
        name_row(axes, row.name, left)
        drawn.append(axes)
        top -= row.height + _GAP
    for axes in drawn:
        time_axis(axes, span.edges[0], span.edges[-1], span.name if axes is drawn[-1] else "")
        axes.xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)
        for start in span.starts:
            axes.axvline(span.edges[start], color=INK, lw=0.8, ls=(0, (3, 2)), zorder=4)
    heading(figure, name, left / width, 1 - 0.12 / height)
    figure.text(
        left / width,
        1 - (0.12 + 0.24 * bool(name)) / height,
        _facts(record, subject),
        fontsize=TEXT,
        color=GREY,
        va="top",
    )
    if left_out:
        note = f"not drawn: {', '.join(left_out)}"
        if len(note) > _FOOTNOTE:
            note = f"{note[: _FOOTNOTE - 1]}…"
        figure.text(8 / 72 / width, 0.07 / height, note, fontsize=SMALL, color=GREY, va="bottom")
    return magnified(figure)


# ---- rows ----


@dataclass(frozen=True)
class _Span:
    """The trials of the figure.

    Attributes:
        first: number of the first trial.
        trials: number of trials.
        starts: rows at which a session begins, without the first.
        name: label of the axis.
    """

    first: int
    trials: int
    starts: tuple[int, ...]
    name: str

    @property
    def edges(self) -> np.ndarray:
        """Where trials begin and end, (trials + 1,); trial t spans t - 0.5 to t + 0.5."""
        return self.first - 0.5 + np.arange(self.trials + 1)

    @property
    def places(self) -> np.ndarray:
        return self.first + np.arange(self.trials)


class _Row(NamedTuple):
    """A panel: its name, its height in inches, its painter, and the names of its lanes."""

    name: str
    height: float
    paint: Callable[[Any, _Span], None]
    lanes: Sequence[str] = ()


def _left_of(row: _Row) -> float:
    """Return the inches that the name of a row and the labels of its lanes need."""
    labels = max((min(text_width(lane), _LABEL) for lane in row.lanes), default=0.35)
    return labels - room_for_ticks(row.name, 0)


def _check(record: TrialRecord) -> None:
    if not len(record):
        raise InvalidValueError(
            "The record of session_figure() has no trials. Expected the trials of one session."
            " Play some first, with neurogym_core.run(task, subject, 100, num_envs=1)."
        )
    envs = len(np.unique(record["env"])) if "env" in record else 1
    if envs > 1:
        raise InvalidValueError(
            f"The record of session_figure() has trials of {envs} envs. Expected those of one,"
            ' since envs have separate sessions. Select one, with record[record["env"] == 0], or'
            " play with num_envs=1."
        )


def _span_of(record: TrialRecord) -> _Span:
    n = len(record)
    session = record["session"] if "session" in record else np.zeros(n)
    starts = tuple((np.flatnonzero(session[1:] != session[:-1]) + 1).tolist())
    if "trial" in record and (np.diff(record["trial"]) == 1).all():
        return _Span(int(record["trial"][0]), n, starts, "trial")
    return _Span(0, n, starts, "row of the record")


def _facts(record: TrialRecord, subject: str) -> str:
    facts = [f"{len(record)} trials" if len(record) > 1 else "1 trial"]
    if "outcome" in record:
        outcomes = record["outcome"].tolist()
        answers = outcomes.count("correct") + outcomes.count("error")
        if answers:
            facts.append(f"{outcomes.count('correct')} of {answers} answers correct")
    if "reward" in record:
        facts.append(f"reward {number(record['reward'].mean(), 3)} per trial")
    return f"{subject}: {', '.join(facts)}" if subject else ", ".join(facts)


def _rows(
    record: TrialRecord, columns: Sequence[str] | None, task: Task | None
) -> tuple[list[_Row], list[str]]:
    """Return the rows of the figure, and the names of the columns that are left out."""
    known: Mapping[str, Sequence[str]] = record.meta.get("names", {})
    circular = task is not None and _answers_in_angles(task)
    prefixes = ["" if slot is None else f"{slot}." for slot in record.slots]
    taken = {f"{prefix}{end}" for prefix in prefixes for end in _SLOT_ENDS}
    others = [
        name
        for name in record.columns
        if name not in RECORD_NAMES | taken and not name.startswith(PERIOD_COLUMNS)
    ]
    lanes = {prefix: _choice_names(record, prefix, task) for prefix in prefixes}
    shared = next(iter(lanes.values())) if len(lanes) == 1 else None
    rows = [_choice_row(record, prefix, lanes[prefix], circular) for prefix in prefixes]
    if "reward" in record:
        rows.append(_Row("reward", 0.6, partial(_paint_rewards, record["reward"].astype(float))))
    if columns is not None:
        for name in columns:
            row = _condition_row(name, record[name], shared, known.get(name, ()))
            if row is None:
                raise InvalidValueError(
                    f"columns= has {name!r}, whose values {record[name].shape} of type"
                    f" {record[name].dtype} cannot be drawn. Expected numbers, at most {_FEW} a"
                    f" trial, or names of at most {_FEW} values. Leave it out."
                )
            rows.append(row)
        return rows, []
    slow = [name for name in others if _persists(record[name])]
    fast = [name for name in others if name not in slow and record[name].ndim == 1]
    # If there are too many, those that never change go before those that do.
    ranked = sorted(slow, key=lambda name: _constant(record[name])) + fast
    found = [
        (name, _condition_row(name, record[name], shared, known.get(name, ()))) for name in ranked
    ]
    kept = {name: row for name, row in found if row is not None}
    chosen = list(kept)[:_ROWS]
    rows += [kept[name] for name in [*slow, *fast] if name in chosen]
    return rows, [name for name in others if name not in chosen]


def _answers_in_angles(task: Task) -> bool:
    """Return whether every axis, but for the one that triggers, is an `Angle`."""
    axes = [one for one in task.actions.parts.values() if getattr(one, "trigger", None) is None]
    return bool(axes) and all(isinstance(axis, Angle) for axis in axes)


def _choice_names(record: TrialRecord, prefix: str, task: Task | None) -> list[str]:
    """Return the names of the choices of a slot, or else their angles or numbers."""
    choices = record[f"{prefix}choice"]
    if choices.dtype.kind == "f":
        return []
    names = record.meta.get("names", {}).get(f"{prefix}choice", ())
    slot = prefix[:-1] or next(iter(record.meta.get("slots", ())), "")
    if not names and task is not None and slot in task.actions.parts:
        names = task.actions.parts[slot].unit_names
    return [*names, *(str(k) for k in range(len(names), int(choices.max(initial=0)) + 1))]


def _choice_row(record: TrialRecord, prefix: str, names: list[str], circular: bool) -> _Row:
    choices = record[f"{prefix}choice"]
    slots = record.meta.get("slots", ())
    # A task may have a condition of the name of a slot, so rows of several slots say "choice".
    name = f"{prefix[:-1]} choice" if prefix else slots[0] if len(slots) == 1 else "choice"
    if choices.dtype.kind == "f":
        column = choices.reshape(len(choices), -1)
        if circular:
            return _Row(f"{name} (rad)", 0.8, partial(_paint_angles, column))
        return _Row(name, 0.8, partial(_paint_values, column, [], True))
    known = f"{prefix}outcome" in record.columns
    outcomes = record[f"{prefix}outcome"] if known else np.full(len(choices), "other")
    return _choices(name, choices, outcomes, names)


# ---- conditions ----


def _constant(values: np.ndarray) -> bool:
    return bool((values == values[:1]).all())


def _persists(values: np.ndarray) -> bool:
    """Return whether values change more rarely, or in smaller steps, than if shuffled: half of it.

    Args:
        values: (n,) or (n, k), of one column of a record.
    """
    if len(values) < 2 or _constant(values):
        return True
    if values.ndim == 2:
        return bool(np.mean([_persists(part) for part in values.T]) > 0.5)
    _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    if values.dtype.kind not in "iuf" or len(counts) <= _FEW:
        expected = 1 - ((counts / len(values)) ** 2).sum()
        return bool((codes[1:] != codes[:-1]).mean() < 0.5 * expected)
    numbers = values[np.isfinite(values)].astype(float)
    # Of independent values, the mean squared step is twice the variance.
    return bool(np.mean(np.diff(numbers) ** 2) < np.var(numbers)) if len(numbers) > 1 else False


def _condition_row(
    name: str, values: np.ndarray, choice_names: list[str] | None, known: Sequence[str]
) -> _Row | None:
    """Return the row of a column; None if there is no legible one.

    Args:
        name: the column.
        values: (n, …).
        choice_names: names of the choices, for columns with one value per choice.
        known: names of the values, if they are indices that have names.
    """
    numeric, slow = values.dtype.kind in "iuf", _persists(values)
    if values.ndim == 2:
        k = values.shape[1]
        if values.dtype.kind not in "biuf" or not 1 <= k <= _FEW:
            return None
        names = choice_names if choice_names and len(choice_names) == k else map(str, range(k))
        return _Row(name, 0.8, partial(_paint_values, values.astype(float), list(names), not slow))
    kinds, codes = np.unique(values, return_inverse=True)
    # A constant is legible as a number, except for a probability.
    line = values.dtype.kind == "f" and (len(kinds) > 1 or 0 <= kinds[0] <= 1)
    if line or (numeric and len(kinds) > _FEW):
        column = values[:, None].astype(float)
        if numeric and values.dtype.kind in "iu" and known:
            return _Row(name, 0.8, partial(_paint_named, column, known), known)
        return _Row(name, 0.6, partial(_paint_values, column, [], not slow))
    if len(kinds) > _FEW:
        return None
    names = [
        known[kind]
        if numeric and 0 <= kind < len(known) and kind == int(kind)
        else number(kind)
        if numeric
        else str(kind)
        for kind in kinds.tolist()
    ]
    if slow:
        return _Row(name, max(0.24, 0.14 * len(kinds)), partial(_paint_bands, codes, names))
    return _Row(name, _LANE * len(kinds), partial(_paint_lanes, codes, names), names)


# ---- painting ----


def _tick_width(span: _Span) -> float:
    """Return the width of ticks in points: less than a trial, and wide enough to be seen."""
    return float(np.clip(0.6 * 72 * _PLOT / span.trials, 0.6, 3))


def _lanes_axis(axes: Any, names: list[str]) -> None:
    """Set up lanes, the first at the top, with their names as tick labels."""
    axes.set_ylim(len(names) - 0.5, -0.5)
    if len(names) <= _LANES:
        for lane in range(len(names)):
            axes.axhline(lane, color="#E6E6E6", lw=0.6, zorder=0)
    silent = names[-1:] == [_NO_ANSWER]
    places: list[float] = list(range(len(names)))
    if units := quarters(names[:-1] if silent else names):
        places = [*units, *([len(names) - 1] if silent else [])]
    labels = [names[int(place)] for place in places]
    spaced_ticks(axes, places, labels, len(names) - 1, room=_LABEL)


def _choices(name: str, choices: np.ndarray, outcomes: np.ndarray, names: list[str]) -> _Row:
    """Return the row of a slot: a lane for each choice, and one for no answer if there is any."""
    asked = outcomes != "none"
    silent = asked & (choices < 0)
    lanes = [*names, _NO_ANSWER] if silent.any() else names
    places = np.where(silent, len(names), choices)
    height = float(np.clip(_LANE * len(lanes), 0.36, 1.8))

    def paint(axes: Any, span: _Span) -> None:
        _lanes_axis(axes, lanes)
        entries = []
        for outcome in (one.name.lower() for one in Outcome if one):
            which = outcomes == outcome
            if not which.any():
                continue
            colour, low, high = _OUTCOMES[outcome]
            entries.append((f"{outcome} {which.sum()}", colour, 2.5))
            if len(lanes) > _LANES:  # a tick would be invisible
                dots = {"ms": 3.0, "mew": 0, "color": colour, "zorder": 2}
                axes.plot(span.places[which], places[which], "o", **dots)
                continue
            # The axis of lanes points down.
            axes.vlines(
                span.places[which],
                places[which] - low,
                places[which] - high,
                color=colour,
                lw=_tick_width(span),
                zorder=2,
            )
        if entries:
            key(axes, entries)

    return _Row(name, height, paint, lanes)


def _paint_rewards(rewards: np.ndarray, axes: Any, span: _Span) -> None:
    """Draw bars of the rewards of trials, and the running mean within each session."""
    window = max(_FEWEST, span.trials // 10)
    colours = [pale(GREEN if value >= 0 else VERMILION) for value in rewards]
    axes.bar(span.places, rewards, 0.8, color=colours, zorder=2)
    axes.axhline(0, color=GREY, lw=0.6, zorder=1)
    for start, stop in pairwise([0, *span.starts, span.trials]):
        mean = running_mean(rewards[start:stop], window)
        shown = slice(_FEWEST - 1, None)
        axes.plot(span.places[start:stop][shown], mean[shown], color=INK, lw=1.3, zorder=3)
    _limits(axes, np.append(rewards, 0.0))  # bars begin at 0
    paid = pale(GREEN) if rewards.max() > 0 else colours[0]
    key(axes, [("per trial", paid, 5.0), (f"mean of {window}", INK, 1.5)])


def running_mean(values: np.ndarray, window: int) -> np.ndarray:
    """Return the mean of each value and those before it, of at most `window`, (n,)."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    stop = np.arange(1, len(values) + 1)
    start = np.maximum(stop - window, 0)
    return np.asarray((sums[stop] - sums[start]) / (stop - start))


def _paint_values(
    values: np.ndarray, names: Sequence[str], dots: bool, axes: Any, span: _Span
) -> None:
    """Draw numbers of trials, (n, k), as lines, or as dots where they fluctuate."""
    several = values.shape[1] > 1
    for index, column in enumerate(values.T):
        colour = cycle_colour(index) if several else INK
        if dots:
            size = 3.0 if span.trials <= 100 else 1.8
            axes.plot(span.places, column, "o", color=colour, ms=size, mew=0, zorder=2)
        else:
            ends = np.append(column, column[-1])
            axes.step(span.edges, ends, where="post", color=colour, lw=1.3, zorder=2)
    _limits(axes, values)
    if several:
        names = names or [str(k) for k in range(values.shape[1])]
        key(axes, [(name, cycle_colour(index), 1.5) for index, name in enumerate(names)])


def _paint_angles(values: np.ndarray, axes: Any, span: _Span) -> None:
    """Draw angles of trials in radians, (n, 1), as dots on the whole circle."""
    _paint_values(values, [], True, axes, span)
    axes.set_ylim(-1.12 * np.pi, 1.12 * np.pi)
    axes.set_yticks([-np.pi, 0, np.pi], ["\N{MINUS SIGN}π", "0", "π"])


def _paint_named(values: np.ndarray, names: Sequence[str], axes: Any, span: _Span) -> None:
    """Draw indices of trials, (n, 1), as dots, the first name at the top."""
    _paint_values(values, [], True, axes, span)
    axes.set_ylim(len(names) - 0.5, min(-0.5, values.min() - 0.5))
    spaced_ticks(axes, list(range(len(names))), list(names), len(names) - 1, room=_LABEL)


def _limits(axes: Any, values: np.ndarray) -> None:
    """Set limits and ticks: from 0 to 1 for values in this range, else around the values."""
    finite = values[np.isfinite(values)]
    low, high = float(finite.min(initial=np.inf)), float(finite.max(initial=-np.inf))
    if not len(finite) or (low >= 0 and high <= 1):
        low, high = 0.0, 1.0
    elif low == high:
        low, high = low - 0.5, high + 0.5
    room = 0.08 * (high - low)
    axes.set_ylim(low - room, high + room)
    axes.locator_params(axis="y", nbins=3)
    axes.yaxis.set_major_formatter(lambda value, _: number(value))


def _paint_bands(codes: np.ndarray, names: list[str], axes: Any, span: _Span) -> None:
    """Draw values of a column that persist as coloured bands, with their names where they fit."""
    axes.set_ylim(0, 1)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    per_inch = span.trials / _PLOT
    changes = (np.flatnonzero(codes[1:] != codes[:-1]) + 1).tolist()
    for start, stop in pairwise([0, *changes, span.trials]):
        code = int(codes[start])
        left, right = span.edges[start], span.edges[stop]
        axes.axvspan(left, right, color=pale(cycle_colour(code)), lw=0, zorder=1)
        if (text_width(names[code]) + 0.06) * per_inch <= stop - start:
            write(axes, (left + right) / 2, 0.5, names[code], ha="center", zorder=3)
    key(axes, [(name, pale(cycle_colour(code)), 6.0) for code, name in enumerate(names)])


def _paint_lanes(codes: np.ndarray, names: list[str], axes: Any, span: _Span) -> None:
    """Draw values that change from trial to trial: a tick in the lane of the value."""
    _lanes_axis(axes, names)
    axes.vlines(span.places, codes - 0.4, codes + 0.4, color=INK, lw=_tick_width(span))
