"""Figures of psychometric and chronometric functions, learning curves, and the strength axis.

All follow `figure_style` of `neurogym_plot.styles`, in the sizes of `neurogym_behaviour.style`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
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
    new_figure,
    number,
    text_width,
)
from neurogym_plot.styles import figure_style, magnified
from neurogym_plot.trial import TRIAL_WIDTH, TrialTrace, draw_trial, trial_height

from neurogym_behaviour.findings import figure as panels_of
from neurogym_behaviour.findings import legible
from neurogym_behaviour.style import current_sizes, drawing
from neurogym_core import InvalidValueError
from neurogym_core.tools import unknown

if TYPE_CHECKING:
    from neurogym_behaviour.chronometric import ReactionTimeRow
    from neurogym_behaviour.proportions import ProportionRow
    from neurogym_behaviour.psychometric import PsychometricFit

MARKERS = "osD^vP"
UNITS = {"coherence": "%", "contrast": "%", "reaction_time": "ms", "delay": "ms", "interval": "ms"}
"""Units of conditions that bear the same name in all tasks of the project."""
NARROW = 4.6
"""Width of the figure of the demo for narrow screens, inches."""
_DODGE = 0.02  # of the axis, between two subjects
_WIDEST = 0.1  # of the axis, between the first and the last of many subjects


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

    See `StrengthAxis` for the axis. Points of several subjects lie beside each other.

    Args:
        rows: from `accuracy` or `choice_proportions`; name -> rows for several subjects.
        fit: the curve, or name -> curve.
        xlabel: name and unit of the strength.
        ylabel: label of the proportion; by default "fraction correct", or "fraction chosen" if a
            strength is negative.
        title: of the figure.
        each: rows of single subjects, which are drawn as thin grey lines behind the others.

    Raises:
        InvalidValueError: no rows, or values that are not numbers.
        UnknownNameError: a fit for a subject without rows.
    """
    subjects, fits = _subjects(rows, fit)
    with drawing():
        made, (axes,) = panels_of(width=4.8, height=3.4 + 0.2 * len(subjects))
        axis = _draw_psychometric(axes, subjects, fits, xlabel, ylabel)
        for part in each:
            shown = [row for row in part if row.n]
            line = {"color": GREY, "linewidth": 0.5 * current_sizes().line, "alpha": 0.6}
            axis.line([row.value for row in shown], [row.fraction for row in shown], **line)
        legend_above(axes, title)
        return legible(made)


def chronometric_figure(
    rows: Sequence[ReactionTimeRow],
    *,
    xlabel: str = "coherence (%)",
    title: str = "",
    statistic: str = "mean",
) -> Any:
    """Draw mean (with intervals) or median reaction times over the strength.

    Markers are filled for correct answers and open for errors. Times of a single trial, which have
    no interval, are left out, unless there are no others.

    Args:
        rows: from `reaction_times`.
        xlabel: name and unit of the strength.
        title: of the figure.
        statistic: ``"mean"`` or ``"median"``.

    Raises:
        InvalidValueError: no rows, values that are not numbers, or another statistic.
    """
    if statistic not in ("mean", "median"):
        raise InvalidValueError(
            f"statistic={statistic!r} was given. Expected 'mean' or 'median'. Choose one of them."
        )
    values = _numbers([row.value for row in rows])
    rows = [row for row in rows if row.n > 1] or rows
    with drawing():
        made, (axes,) = panels_of(width=4.8, height=3.8)
        axis = StrengthAxis(axes, values, xlabel)
        for index, (outcome, colour, face, line) in enumerate(
            (("correct", BLUE, BLUE, "-"), ("error", VERMILION, "white", "--"))
        ):
            chosen = [row for row in rows if row.outcome == outcome]
            if not chosen:
                continue
            x = axis.beside([row.value for row in chosen], index, 2)
            if statistic == "mean":
                axes.vlines(x, [row.low for row in chosen], [row.high for row in chosen],
                            color=colour, zorder=2)  # fmt: skip
            times = [getattr(row, statistic) for row in chosen]
            style = {"color": colour, "marker": "o", "mfc": face, "label": outcome, "zorder": 3}
            axis.line(x, times, linestyle=line, **style)
        _reaction_axis(axes, rows, statistic)
        interval = ", 95 % interval" if statistic == "mean" else ""
        axes.set_ylabel(f"{statistic} reaction time (ms){interval}")
        legend_above(axes, title, columns=2)
        return legible(made)


def learning_curve_figure(
    curves: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    xlabel: str = "updates",
    ylabel: str = "mean performance",
    criterion: float | None = None,
    chance: float | None = None,
    ideal: float | None = None,
    others: Mapping[str, tuple[Sequence[float], Sequence[float]]] | None = None,
    title: str = "",
) -> Any:
    """Draw the learning curve of each seed in grey, and their mean.

    Args:
        curves: name of the seed -> (amount of training, score), (k,) each; see `Run.curve`.
        xlabel: unit of the training: updates, steps or trials.
        ylabel: name of the score.
        criterion: score that is drawn as a line.
        chance: chance level, another line.
        ideal: the best possible score, another line.
        others: name -> (amount of training, value) of further curves, such as the fraction of
            trials with an answer.
        title: of the figure.

    Raises:
        InvalidValueError: there is no curve, or one has no points.
    """
    if not curves or not all(len(x) == len(y) > 0 for x, y in curves.values()):
        raise InvalidValueError(
            f"{len(curves)} learning curves were given. Expected at least one, each with as many"
            " scores as amounts, at least one. Train the network for longer."
        )
    curves = {name: (np.asarray(x), np.asarray(y)) for name, (x, y) in curves.items()}
    with drawing() as style:
        made, (axes,) = panels_of(width=4.8, height=3.4)
        levels = (ideal, "-.", "ideal"), (criterion, "--", "criterion"), (chance, ":", "chance")
        for level, line, name in levels:
            if level is not None:
                axes.axhline(level, color=GREY, linestyle=line, linewidth=0.7 * style.line,
                             label=f"{name} {level:g}")  # fmt: skip
        several = len(curves) > 1
        for number_, (name, (x, y)) in enumerate(curves.items()):
            label = name if not several else "each seed" if not number_ else None
            line = {"color": GREY, "alpha": 0.7} if several else {"color": BLUE}
            axes.plot(x, y, marker="" if len(x) > 1 else "o", label=label, **line)
        if several:
            end = min(x[-1] for x, _ in curves.values())
            grid = np.unique(np.concatenate([np.asarray(x, float) for x, _ in curves.values()]))
            grid = grid[grid <= end]
            mean = np.mean([np.interp(grid, x, y) for x, y in curves.values()], axis=0)
            axes.plot(grid, mean, color=BLUE, linewidth=1.6 * style.line,
                      label=f"mean of {len(curves)} seeds")  # fmt: skip
        for (name, (x, y)), colour in zip((others or {}).items(), (GREEN, ORANGE), strict=False):
            axes.plot(x, y, color=colour, label=name)
        axes.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
        legend_above(axes, title, columns=2)
        return legible(made)


def task_curves_figure(
    curves: Mapping[str, Mapping[str, tuple[Sequence[float], Sequence[float]]]],
    *,
    xlabel: str = "updates",
    levels: Mapping[str, tuple[float | None, float | None]] | None = None,
    stages: Sequence[float] = (),
) -> Any:
    """Draw the learning curves of several tasks, a panel each: every seed in grey, and their mean.

    Args:
        curves: name of the task -> name of the seed -> (amount of training, score), (k,) each.
        xlabel: unit of the training.
        levels: name of the task -> chance and ideal, None where unknown.
        stages: amounts of training at which stages began, dotted lines.

    Raises:
        InvalidValueError: there is no curve.
    """
    if not curves or not all(curves.values()):
        raise InvalidValueError(
            f"The learning curves of {len(curves)} tasks were given. Expected at least one task"
            " with one seed. Train the network for longer."
        )
    columns = min(len(curves), 5)
    rows = -(-len(curves) // columns)
    made, axes = panels_of(rows * columns, width=1.7, height=1.5)
    made.set_size_inches(made.get_figwidth() / rows, 0.3 + 1.5 * rows)
    with drawing() as style:
        places = made.add_gridspec(rows, columns)
        for number_, one in enumerate(axes):
            one.set_subplotspec(places[number_])
            one.set_visible(number_ < len(curves))
        for number_, (one, (name, seeds)) in enumerate(zip(axes, curves.items(), strict=False)):
            one.set_ylim(-0.02, 1.02)
            for level, line in zip((levels or {}).get(name, ()), (":", "-."), strict=False):
                if level is not None:
                    one.axhline(level, color=GREY, linestyle=line, linewidth=0.7 * style.line)
            for begin in stages:
                one.axvline(begin, color=GREY, linestyle=":", linewidth=0.7 * style.line)
            pairs = [(np.asarray(x, float), np.asarray(y, float)) for x, y in seeds.values()]
            for x, y in pairs if len(pairs) > 1 else ():
                one.plot(x, y, color=GREY, alpha=0.7)
            end = min(x[-1] for x, _ in pairs)
            grid = np.unique(np.concatenate([x for x, _ in pairs]))
            grid = grid[grid <= end]
            one.plot(grid, np.mean([np.interp(grid, x, y) for x, y in pairs], axis=0), color=BLUE)
            one.set_title(name, fontsize=style.small)
            one.tick_params(labelbottom=number_ >= len(curves) - columns,
                            labelleft=number_ % columns == 0)  # fmt: skip
            if number_ >= len(curves) - columns:
                one.set_xlabel(xlabel)
            if number_ % columns == 0:
                one.set_ylabel("accuracy")
        return made


def demo_figure(
    trace: TrialTrace,
    accuracy: Mapping[str, Sequence[ProportionRow]],
    fits: Mapping[str, PsychometricFit | None] | None = None,
    *,
    xlabel: str = "coherence (%)",
    stacked: bool = False,
) -> Any:
    """Draw one trial, and the psychometric functions of several subjects beside it.

    Args:
        trace: the trial.
        accuracy, fits: rows and curves of the subjects, as in `psychometric_figure`.
        xlabel: name and unit of the strength.
        stacked: draw the functions below the trial, for narrow screens.

    Raises:
        InvalidValueError: no rows, or values that are not numbers.
        UnknownNameError: a fit for a subject without rows.
    """
    subjects, curves = _subjects(accuracy, fits)
    with figure_style("screen"), drawing():
        made = _demo(trace, subjects, curves, xlabel, stacked)
    return magnified(made)


def _demo(trace: TrialTrace, subjects: Any, curves: Any, xlabel: str, stacked: bool) -> Any:
    above = 0.42 + 0.2 * len(subjects)
    wanted, width, foot = 3.2 + above, NARROW if stacked else 4.6, 0.55
    if stacked:
        figure = new_figure(width, trial_height(trace) + wanted)
        draw_trial(Box(figure, 0, wanted, width, trial_height(trace)), trace)
        side = Box(figure, 0, 0, width, wanted)
    else:
        height = max(trial_height(trace), wanted)
        figure = new_figure(TRIAL_WIDTH + width, height)
        draw_trial(Box(figure, 0, 0, TRIAL_WIDTH, height), trace)
        # Next to a very tall trial, the curve keeps a readable aspect ratio, at the top.
        beside = min(height, wanted + 1.5)
        side = Box(figure, TRIAL_WIDTH, height - beside, width, beside)
    axes = side.axes(0.75, foot, width - 1.0, side.height - foot - above)
    _draw_psychometric(axes, subjects, curves, xlabel, "")
    legend_above(axes, "Psychometric function")
    return figure


# ---- the strength axis ----


class StrengthAxis:
    """The horizontal axis of a figure over the strength of the evidence.

    It is logarithmic if no strength is negative and the strengths above 0 span a factor of 8 or
    more. Strength 0 is then apart, to the left of a break. Data coordinates are strengths.

    Args:
        axes: matplotlib axes.
        values: the strengths of all points, finite.
        label: name and unit of the strength.

    Attributes:
        grid: strengths that are evenly spaced on the axis, for curves; they stop at the break.
    """

    def __init__(self, axes: Any, values: Any, label: str) -> None:
        self.axes = axes
        levels = np.unique(np.asarray(values, float)) + 0.0  # no -0
        positive = levels[levels > 0]
        self.logarithmic = bool(
            levels[0] >= 0 and len(positive) > 1 and levels[-1] >= 8 * positive[0]
        )
        self.apart = self.logarithmic and levels[0] == 0
        if self.logarithmic:
            self._least = float(positive[0])
            octaves = float(np.log2(levels[-1] / positive[0]))
            self._gap = max(1.0, 0.18 * octaves)  # octaves between 0 and the smallest strength
            axes.set_xscale("function", functions=(self.places, self.strengths))
        ends = self.places(levels[[0, -1]])
        self._length = float(ends[1] - ends[0]) or 2.0
        gaps = np.diff(self.places(levels))
        self._closest = float(gaps.min()) if len(gaps) else self._length
        room = 0.06 * self._length
        axes.set_xlim(*self.strengths(np.array([ends[0] - room, ends[1] + room])))
        first = self.places(positive[0]) if self.apart else ends[0]
        self.grid = self.strengths(np.linspace(first, ends[1], 300))
        if self.logarithmic or len(levels) <= 13:
            kept = self._legible(levels)
            axes.set_xticks(kept, [number(level) for level in kept])
        if self.logarithmic:
            axes.set_xticks([], minor=True)
        if self.apart:
            self._break()
        axes.set_xlabel(label)

    def places(self, strengths: Any) -> np.ndarray:
        """Return the places of strengths on the axis, in octaves if it is logarithmic."""
        strengths = np.asarray(strengths, float)
        if not self.logarithmic:
            return strengths
        low = np.log2(self._least)
        near = low + (strengths / self._least - 1) * self._gap
        far = np.log2(np.maximum(strengths, self._least))
        return np.where(strengths < self._least, near, far)

    def strengths(self, places: Any) -> np.ndarray:
        """Return the strengths at places on the axis."""
        places = np.asarray(places, float)
        if not self.logarithmic:
            return places
        low = np.log2(self._least)
        near = self._least * (1 + (places - low) / self._gap)
        return np.where(places < low, near, 2.0 ** np.maximum(places, low))

    def beside(self, strengths: Any, index: int, count: int) -> np.ndarray:
        """Return strengths that are shifted for subject `index` of `count`.

        No point hides another, and none is nearer to another strength than to its own.
        """
        widest = min(_WIDEST * self._length, 0.7 * self._closest)
        step = min(_DODGE * self._length, widest / max(count - 1, 1))
        return self.strengths(self.places(strengths) + (index - (count - 1) / 2) * step)

    def line(self, strengths: Any, values: Any, **style: Any) -> None:
        """Draw points and the line through them; the line stops at the break."""
        x, y = np.asarray(strengths, float), np.asarray(values, float)
        if not self.apart:
            self.axes.plot(x, y, **style)
            return
        near = self.places(x) < self.places(self._least) - self._gap / 2
        self.axes.plot(x[~near], y[~near], **style)
        self.axes.plot(x[near], y[near], **{**style, "label": None, "linestyle": "none"})
        if not style.get("marker") and near.any():  # without a marker, a dash shows the value at 0
            here = self.places(x[near])[0] + np.array([-0.02, 0.02]) * self._length
            self.axes.plot(self.strengths(here), [y[near][0]] * 2, **{**style, "label": None})

    def _legible(self, levels: np.ndarray) -> list[float]:
        """Return the strengths whose labels do not overlap: 0 and the ends first."""
        style = current_sizes()
        figure = self.axes.figure
        columns = self.axes.get_subplotspec()
        inches = (
            0.8 * figure.get_size_inches()[0] / (columns.get_gridspec().ncols if columns else 2)
        )
        per_inch = 1.12 * self._length / inches
        wide = {
            level: (text_width(number(level)) * style.small / SMALL + 0.05) * per_inch
            for level in levels.tolist()
        }
        inner = sorted(levels[1:-1], key=abs, reverse=bool(levels[0] < 0))
        order = [levels[0], levels[-1], *levels[levels == 0], *inner]
        kept: list[float] = []
        for level in dict.fromkeys(map(float, order)):
            clear = all(
                abs(self.places(level) - self.places(other)) > (wide[level] + wide[other]) / 2
                for other in kept
            )
            if clear:
                kept.append(level)
        return sorted(kept)

    def _break(self) -> None:
        style = current_sizes()
        middle = self.places(self._least) - self._gap / 2
        width = 0.012 * self._length
        cut = self.strengths(np.array([middle - width, middle + width]))
        where = {"transform": self.axes.get_xaxis_transform(), "clip_on": False}
        self.axes.plot(cut, [0, 0], color="white", linewidth=2.5 * style.line, zorder=5, **where)
        self.axes.plot(
            cut, [0, 0], linestyle="none", marker=[(-1, -2), (1, 2)], color=GREY, zorder=6,
            markersize=6 * style.line, markeredgewidth=0.6 * style.line, **where,
        )  # fmt: skip


def with_unit(name: str, units: Mapping[str, str] | None = None) -> str:
    """Return the label of an axis: the name of a condition, with its unit if it is known.

    Args:
        name: of a column, e.g. "coherence" or "signed_contrast".
        units: column -> unit; other names are looked up in `UNITS`.
    """
    unit = (units or {}).get(name) or UNITS.get(name) or UNITS.get(name.rpartition("_")[2], "")
    return f"{name.replace('_', ' ')} ({unit})" if unit else name.replace("_", " ")


# ---- drawing ----


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


def _draw_psychometric(
    axes: Any,
    subjects: Mapping[str, Sequence[ProportionRow]],
    fits: Mapping[str, PsychometricFit | None],
    xlabel: str,
    ylabel: str,
) -> StrengthAxis:
    values = np.array([row.value for rows in subjects.values() for row in rows], float)
    axis = StrengthAxis(axes, values, xlabel)
    lows = []
    for index, (name, rows) in enumerate(subjects.items()):
        colour, marker, fit = cycle_colour(index), MARKERS[index % len(MARKERS)], fits.get(name)
        # Without a determined threshold, a curve would suggest more than the data show.
        if fit is not None and "threshold" not in fit.undetermined:
            _draw_curve(axis, fit, colour)
        shown = [row for row in rows if row.n]
        x = axis.beside([row.value for row in shown], index, len(subjects))
        axes.vlines(x, [row.low for row in shown], [row.high for row in shown], color=colour,
                    zorder=3)  # fmt: skip
        axes.plot(
            x, [row.fraction for row in shown], ls="none", marker=marker, color=colour, mec="white",
            label=_legend_text(name, fit), zorder=4, clip_on=False,
        )  # fmt: skip
        lows += [row.low for row in shown]
    signed = bool((values < 0).any())
    what = ylabel or ("fraction chosen" if signed else "fraction correct")
    axes.set_ylabel(what)
    _fraction_axis(axes, 0.0 if signed else min(lows, default=0.0))
    return axis


def _fraction_axis(axes: Any, lowest: float) -> None:
    low = min(0.4, np.floor(10 * lowest) / 10) if lowest >= 0.3 else 0.0
    axes.set_ylim(low - 0.02, 1.02)
    axes.set_yticks(np.arange(low, 1.01, 0.1 if low else 0.25))
    axes.axhline(0.5, color=GREY, lw=0.5 * current_sizes().line, ls=(0, (4, 3)), zorder=0)


def _draw_curve(axis: StrengthAxis, fit: PsychometricFit, colour: str) -> None:
    axis.axes.plot(axis.grid, fit.predict(axis.grid), color=colour, zorder=2)
    if axis.grid[0] <= fit.threshold <= axis.grid[-1]:
        height = float(fit.predict(fit.threshold))
        axis.axes.plot(
            [fit.threshold] * 2, [-1, height], color=colour, lw=0.6 * current_sizes().line,
            ls=(0, (1, 1.5)), zorder=1,
        )  # fmt: skip


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


def _reaction_axis(axes: Any, rows: Sequence[ReactionTimeRow], statistic: str) -> None:
    """Set limits from the values and their standard errors.

    The interval of a mean of two trials may exceed them.
    """
    values = np.array([getattr(row, statistic) for row in rows])
    spread = 2 * np.nan_to_num([row.sem for row in rows])
    low, high = float((values - spread).min()), float((values + spread).max())
    room = 0.08 * (high - low) or 10.0
    axes.set_ylim(max(0.0, low - room), high + room)


def legend_above(axes: Any, title: str = "", columns: int = 1) -> None:
    """Draw the title and the legend above the axes, so that they cover no points.

    Long lines are broken. Names are drawn as they are: ``$`` begins no formula.
    """
    handles, labels = axes.get_legend_handles_labels()
    shown = [(handle, label) for handle, label in zip(handles, labels, strict=True) if label]
    style, figure = current_sizes(), axes.figure
    placed = figure.get_layout_engine() is None  # in inches, on a screen
    letters = 0.55 * (SMALL if placed else style.small) / 72
    inches = 3.7 if placed else figure.get_size_inches()[0] - 0.3
    room = max(int(inches / columns / letters) - 3, 12)
    given = {
        "handles": [handle for handle, _ in shown],
        "labels": [textwrap.fill(plain(label), room) for _, label in shown],
        "title": title or None,
        "title_fontproperties": {"weight": "bold", "size": TEXT + 1.5 if placed else style.text},
        "ncols": columns,
        "alignment": "left",
        "handletextpad": 0.3,
        "borderaxespad": 0.2,
        "labelspacing": 0.35,
        "labelcolor": INK,
        "frameon": False,
    }
    if not shown:  # Matplotlib refuses a legend without entries
        axes.set_title(title or "", loc="left", fontproperties=given["title_fontproperties"])
        return
    if placed:
        where = {"loc": "lower left", "bbox_to_anchor": (-0.02, 1.0), "fontsize": SMALL}
        axes.legend(**given, **where)
    else:
        figure.legend(**given, loc="outside upper left")


def plain(text: str) -> str:
    """Escape $ for a figure, because matplotlib reads $…$ as mathematics."""
    return text.replace("$", r"\$")
