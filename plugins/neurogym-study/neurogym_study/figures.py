"""Figures of psychometric and chronometric functions, in the style of the core's figures.

matplotlib is imported when a figure is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from neurogym_core.canvas import (
    BLUE,
    GREY,
    INK,
    SMALL,
    TEXT,
    VERMILION,
    Box,
    cycle_colour,
    heading,
    new_figure,
    number,
)
from neurogym_core.errors import InvalidValueError, unknown
from neurogym_core.plots import TRIAL_WIDTH, TrialTrace, draw_trial, trial_height

if TYPE_CHECKING:
    from neurogym_study.chronometric import ReactionTimeRow
    from neurogym_study.proportions import ProportionRow
    from neurogym_study.psychometric import PsychometricFit

_MARKERS = "osD^vP"
_FOOT = 0.55  # inches


def psychometric_figure(
    rows: Sequence[ProportionRow] | Mapping[str, Sequence[ProportionRow]],
    fit: PsychometricFit | Mapping[str, PsychometricFit | None] | None = None,
    *,
    xlabel: str = "coherence (%)",
    ylabel: str = "",
    title: str = "",
    each: Sequence[Sequence[ProportionRow]] = (),
) -> Any:
    """Draw proportions with intervals over the strength, and fitted curves.

    The strength axis is logarithmic, with 0 at its left, if strengths are not negative and span a
    factor of 8 or more.

    Args:
        rows: from `accuracy` or `choice_proportions`; name -> rows for several subjects.
        fit: the curve, or name -> curve.
        xlabel: name and unit of the strength.
        ylabel: label of the proportion; by default "fraction correct", or "fraction chosen" if a
            strength is negative.
        title: of the figure.
        each: rows of single subjects, which are drawn as thin grey lines behind the others.

    Raises:
        MissingDependencyError: matplotlib is not installed.
        InvalidValueError: no rows, or values that are not numbers.
        UnknownNameError: a fit for a subject without rows.
    """
    subjects, fits = _subjects(rows, fit)
    height = 3.4 + _legend_height(subjects)
    figure = new_figure(4.8, height)
    _draw_psychometric(Box(figure, 0, 0, 4.8, height), subjects, fits, xlabel, ylabel, title)
    for part in each:
        shown = [row for row in part if row.n]
        figure.axes[0].plot(
            [row.value for row in shown],
            [row.fraction for row in shown],
            color=GREY,
            lw=0.7,
            alpha=0.6,
            zorder=1,
        )
    return figure


def chronometric_figure(
    rows: Sequence[ReactionTimeRow],
    *,
    xlabel: str = "coherence (%)",
    title: str = "",
    statistic: str = "mean",
) -> Any:
    """Draw mean (with intervals) or median reaction times over the strength.

    Markers are filled for correct answers and open for errors.

    Args:
        rows: from `reaction_times`.
        xlabel: name and unit of the strength.
        title: of the figure.
        statistic: ``"mean"`` or ``"median"``.

    Raises:
        MissingDependencyError: matplotlib is not installed.
        InvalidValueError: no rows, values that are not numbers, or another statistic.
    """
    if statistic not in ("mean", "median"):
        raise InvalidValueError(
            f"statistic={statistic!r} was given. Expected 'mean' or 'median'. Choose one of them."
        )
    values = _numbers([row.value for row in rows])
    figure = new_figure(4.8, 3.8)
    axes = Box(figure, 0, 0, 4.8, 3.8).axes(0.75, 0.6, 3.85, 2.65)
    _strength_axis(axes, values, xlabel)
    for outcome, colour, face, line in (
        ("correct", BLUE, BLUE, "-"),
        ("error", VERMILION, "white", "--"),
    ):
        chosen = [row for row in rows if row.outcome == outcome]
        if chosen:
            _reaction_line(axes, chosen, statistic, colour, face, line, outcome)
    _reaction_axis(axes, rows, statistic)
    axes.set_ylabel(f"{statistic} reaction time (ms)", fontsize=TEXT, color=INK)
    _legend(axes, columns=2)
    heading(figure, title, 0.75 / 4.8, 1 - 0.12 / 3.8)
    return figure


def demo_figure(
    trace: TrialTrace,
    accuracy: Mapping[str, Sequence[ProportionRow]],
    fits: Mapping[str, PsychometricFit | None] | None = None,
    *,
    xlabel: str = "coherence (%)",
) -> Any:
    """Draw one trial, and the psychometric functions of several subjects beside it.

    Raises:
        MissingDependencyError: matplotlib is not installed.
        InvalidValueError: no rows, or values that are not numbers.
        UnknownNameError: a fit for a subject without rows.
    """
    subjects, curves = _subjects(accuracy, fits)
    wanted, width = 3.6 + _legend_height(subjects), 4.6
    height = max(trial_height(trace), wanted)
    figure = new_figure(TRIAL_WIDTH + width, height)
    draw_trial(Box(figure, 0, 0, TRIAL_WIDTH, height), trace)
    # Next to a very tall trial, the curve keeps a readable aspect ratio, at the top.
    beside = min(height, wanted + 1.5)
    side = Box(figure, TRIAL_WIDTH, height - beside, width, beside)
    _draw_psychometric(side, subjects, curves, xlabel, "", "Psychometric function")
    return figure


def _subjects(
    rows: Any, fit: Any
) -> tuple[dict[str, list[ProportionRow]], dict[str, PsychometricFit | None]]:
    """Return rows and fits by subject; a single, unnamed subject is called ``""``."""
    subjects = {
        name: list(part)
        for name, part in (rows if isinstance(rows, Mapping) else {"": rows}).items()
    }
    fits = dict(fit) if isinstance(fit, Mapping) else {next(iter(subjects), ""): fit}
    for name in fits:
        if name not in subjects:
            raise unknown("subject", name, subjects, of="the rows given")
    _numbers([row.value for part in subjects.values() for row in part])
    return subjects, fits


def _numbers(values: list[Any]) -> np.ndarray:
    """Return the values as floats, or raise an error if they cannot be an axis."""
    if values and all(isinstance(value, int | float | np.number) for value in values):
        return np.array(values, float)
    raise InvalidValueError(
        f"An axis was given the values {values!r:.80}. Expected at least one row, and numbers. "
        "Group the record by a numeric condition, and check that trials were answered."
    )


def _legend_height(subjects: Mapping[str, Any]) -> float:
    return 0.2 * len(subjects) if list(subjects) != [""] else 0.2


def _draw_psychometric(
    box: Box,
    subjects: Mapping[str, Sequence[ProportionRow]],
    fits: Mapping[str, PsychometricFit | None],
    xlabel: str,
    ylabel: str,
    title: str,
) -> None:
    values = np.array([row.value for rows in subjects.values() for row in rows], float)
    room = (0.42 if title else 0.15) + _legend_height(subjects)
    axes = box.axes(0.75, _FOOT, box.width - 1.0, box.height - _FOOT - room)
    scale = _strength_axis(axes, values, xlabel)
    lows = []
    for index, (name, rows) in enumerate(subjects.items()):
        colour, marker, fit = cycle_colour(index), _MARKERS[index % len(_MARKERS)], fits.get(name)
        # Without a determined threshold, a curve would suggest more than the data show.
        if fit is not None and "threshold" not in fit.undetermined:
            _draw_curve(axes, fit, scale, colour)
        _draw_points(axes, [row for row in rows if row.n], colour, marker, _legend_text(name, fit))
        lows += [row.low for row in rows if row.n]
    signed = bool((values < 0).any())
    axes.set_ylabel(
        ylabel or ("fraction chosen" if signed else "fraction correct"), fontsize=TEXT, color=INK
    )
    _fraction_axis(axes, 0.0 if signed else min(lows, default=0.0))
    _legend(axes, columns=1)
    size = box.figure.get_size_inches()
    heading(
        box.figure, title, (box.left + 0.75) / size[0], (box.bottom + box.height - 0.12) / size[1]
    )


def _fraction_axis(axes: Any, lowest: float) -> None:
    low = min(0.4, np.floor(10 * lowest) / 10) if lowest >= 0.3 else 0.0
    axes.set_ylim(low - 0.02, 1.02)
    axes.set_yticks(np.arange(low, 1.01, 0.1 if low else 0.25))
    axes.axhline(0.5, color=GREY, lw=0.7, ls=(0, (4, 3)), zorder=0)


def _draw_points(
    axes: Any, rows: list[ProportionRow], colour: str, marker: str, label: str
) -> None:
    x = [row.value for row in rows]
    axes.vlines(
        x, [row.low for row in rows], [row.high for row in rows], color=colour, lw=1.2, zorder=3
    )
    axes.plot(
        x,
        [row.fraction for row in rows],
        ls="none",
        marker=marker,
        ms=5,
        color=colour,
        mec="white",
        mew=0.6,
        label=label,
        zorder=4,
        clip_on=False,
    )


class _Scale(NamedTuple):
    """Range of the strengths, and a grid of strengths that is evenly spaced on the axis."""

    low: float
    high: float
    grid: np.ndarray


def _draw_curve(axes: Any, fit: PsychometricFit, scale: _Scale, colour: str) -> None:
    axes.plot(scale.grid, fit.predict(scale.grid), color=colour, lw=1.5, zorder=2)
    if scale.low <= fit.threshold <= scale.high:
        height = float(fit.predict(fit.threshold))
        axes.plot(
            [fit.threshold] * 2, [-1, height], color=colour, lw=0.8, ls=(0, (1, 1.5)), zorder=1
        )


def _legend_text(name: str, fit: PsychometricFit | None) -> str:
    if fit is None:
        return name
    if "threshold" in fit.undetermined:
        return ": ".join(filter(None, [name, "threshold not determined"]))
    word = "bias" if fit.shape == "logistic" else "threshold"
    threshold = f"{word} {number(fit.threshold, 3)}"
    if "threshold" in fit.intervals:
        low, high = fit.intervals["threshold"]
        threshold += f" [{number(low, 3)}, {number(high, 3)}]"
    lapse = "" if "lapse" in fit.undetermined else f", lapse {fit.lapse:.2f}"
    return ": ".join(filter(None, [name, threshold + lapse]))


def _strength_axis(axes: Any, values: np.ndarray, xlabel: str) -> _Scale:
    """Set up the strength axis: logarithmic with 0 at its left if this spreads strengths better."""
    levels = np.unique(values)
    positive = levels[levels > 0]
    low, high = float(levels[0]), float(levels[-1])
    logarithmic = low >= 0 and len(positive) > 1 and high >= 8 * positive[0]
    if logarithmic:
        # Linear from 0 to the smallest strength, over the length of a factor of 2.
        axes.set_xscale("symlog", base=2, linthresh=float(positive[0]), linscale=1.0)
        grid = np.concatenate(
            [np.linspace(low, positive[0], 60), np.geomspace(positive[0], high, 240)]
        )
        axes.set_xlim(-0.12 * positive[0] if low == 0 else positive[0] * 0.9, high * 1.15)
    else:
        grid, room = np.linspace(low, high, 300), 0.04 * (high - low) or 1.0
        axes.set_xlim(low - room, high + room)
    if logarithmic or len(levels) <= 7:
        axes.set_xticks(levels, [number(level) for level in levels])
        axes.set_xticks([], minor=True)
    axes.set_xlabel(xlabel, fontsize=TEXT, color=INK)
    return _Scale(low, high, np.unique(grid))


def _reaction_line(
    axes: Any,
    rows: list[ReactionTimeRow],
    statistic: str,
    colour: str,
    face: str,
    line: str,
    label: str,
) -> None:
    x = [row.value for row in rows]
    if statistic == "mean":
        axes.vlines(
            x, [row.low for row in rows], [row.high for row in rows], color=colour, lw=1.2, zorder=2
        )
    y = [getattr(row, statistic) for row in rows]
    axes.plot(
        x, y, ls=line, lw=1.3, marker="o", ms=5, color=colour, mfc=face, label=label, zorder=3
    )


def _reaction_axis(axes: Any, rows: Sequence[ReactionTimeRow], statistic: str) -> None:
    """Set limits from the values and their standard errors.

    The interval of a mean of two trials may exceed them.
    """
    values = np.array([getattr(row, statistic) for row in rows])
    spread = 2 * np.nan_to_num([row.sem for row in rows])
    low, high = float((values - spread).min()), float((values + spread).max())
    room = 0.08 * (high - low) or 10.0
    axes.set_ylim(max(0.0, low - room), high + room)


def _legend(axes: Any, columns: int) -> None:
    """Draw the legend above the axes, so that it covers no points."""
    handles, labels = axes.get_legend_handles_labels()
    if any(labels):
        axes.legend(
            handles,
            labels,
            loc="lower left",
            bbox_to_anchor=(-0.02, 1.0),
            ncols=columns,
            frameon=False,
            fontsize=SMALL,
            handletextpad=0.3,
            borderaxespad=0.2,
            labelspacing=0.35,
            labelcolor=INK,
        )
