"""Figures: one trial, psychometric and chronometric functions. matplotlib is imported when one is
drawn.

Every figure is a `matplotlib.figure.Figure` with its own Agg canvas: no pyplot, hence no display,
no window and no global state. Colours are those of Okabe & Ito (2008), which colour-blind readers
tell apart."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from neurogym_core.errors import InvalidValueError, unknown
from neurogym_core.files import replacing
from neurogym_core.optional import optional
from neurogym_core.study.chronometric import ReactionTimeRow
from neurogym_core.study.proportions import ProportionRow
from neurogym_core.study.psychometric import PsychometricFit

_BLUE, _VERMILION, _GREEN, _ORANGE = "#0072B2", "#D55E00", "#009E73", "#E69F00"
_SKY, _PURPLE, _INK, _GREY = "#56B4E9", "#CC79A7", "#222222", "#777777"
_CYCLE = (_BLUE, _VERMILION, _GREEN, _PURPLE, _ORANGE, _SKY)
_TARGET = "#F0C05A"
_MARKERS = "osD^vP"
# Pale enough to read lines on; neighbours differ also in lightness.
_TINTS = ("#E8F1F8", "#FBF0DC", "#E3F3EC", "#F8E9F1", "#EFEFEF", "#E4F4FB", "#F7F6DC", "#ECE8F6")
_SMALL, _TEXT, _TITLE = 7.5, 8.5, 11.0  # points
_LINES_UP_TO = 3  # units of a channel; more are an image


@dataclass(frozen=True, eq=False)
class TrialTrace:
    """What one trial looked like, step by step, for `trial_figure`.

    Attributes:
        observations: (T, n_obs), what the subject saw.
        channels: name -> slice of the observation vector.
        periods: (name, first step, step after the last); those without steps are left out of the
            figure.
        targets: the correct action, (T,) or (T, k); ints for discrete actions, negative where there
            is none.
        actions: the subject's, as `targets`; None draws the targets alone.
        rewards: (T,), paid for the action of each step; None draws none.
        action_names: of the discrete actions, or of the k axes of a continuous one.
        dt: ms per step.
        title: of the figure, e.g. the task's name.
        subtitle: e.g. the trial's conditions.

    Raises:
        InvalidValueError: shapes that do not agree, a period or channel outside the trial, NaN
            observations.
    """

    observations: np.ndarray
    channels: Mapping[str, slice]
    periods: Sequence[tuple[str, int, int]]
    targets: np.ndarray
    actions: np.ndarray | None = None
    rewards: np.ndarray | None = None
    action_names: Sequence[str] = field(default_factory=tuple)
    dt: float = 1.0
    title: str = ""
    subtitle: str = ""

    def __post_init__(self) -> None:
        for name in ("observations", "targets", "actions", "rewards"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, np.asarray(getattr(self, name)))
        _check_observations(self.observations, self.dt)
        _check_channels(self.channels, self.observations.shape[1])
        _check_periods(self.periods, self.steps)
        _check_answers(self)

    @property
    def steps(self) -> int:
        """T, the number of steps."""
        return len(self.observations)

    @property
    def discrete(self) -> bool:
        """Whether the actions are choices (ints), not values."""
        return self.targets.ndim == 1 and self.targets.dtype.kind in "biu"


def trial_figure(trace: TrialTrace) -> Any:
    """One trial over time in ms: channels, periods, target and actions, reward.

    Channels of up to three units are lines, larger ones an image with unit 0 at the top. A value,
    action or reward of step t spans t·dt to (t+1)·dt.

    Raises:
        MissingDependencyError: matplotlib is not installed.
    """
    height = _trial_height(trace)
    figure = _figure(_TRIAL_WIDTH, height)
    _draw_trial(_Box(figure, 0, 0, _TRIAL_WIDTH, height), trace)
    return figure


def psychometric_figure(
    rows: Sequence[ProportionRow] | Mapping[str, Sequence[ProportionRow]],
    fit: PsychometricFit | Mapping[str, PsychometricFit | None] | None = None,
    *,
    xlabel: str = "coherence (%)",
    ylabel: str = "",
    title: str = "",
) -> Any:
    """Proportions with their intervals over the strength, and fitted curves.

    The strength's axis is logarithmic, with 0 at its left, where strengths are not negative and
    span a factor of 8.

    Args:
        rows: from `accuracy` or `choice_proportions`; name -> rows for several subjects.
        fit: the curve, or name -> curve.
        xlabel: name and unit of the strength.
        ylabel: what is counted; by default "fraction correct", or "fraction chosen" where a
            strength is negative.
        title: of the figure.

    Raises:
        MissingDependencyError: matplotlib is not installed.
        InvalidValueError: no rows, or values that are not numbers.
        UnknownNameError: a fit of a subject without rows.
    """
    subjects, fits = _subjects(rows, fit)
    height = 3.4 + _legend_height(subjects)
    figure = _figure(4.8, height)
    _draw_psychometric(_Box(figure, 0, 0, 4.8, height), subjects, fits, xlabel, ylabel, title)
    return figure


def chronometric_figure(
    rows: Sequence[ReactionTimeRow],
    *,
    xlabel: str = "coherence (%)",
    title: str = "",
    statistic: str = "mean",
) -> Any:
    """Mean (with interval) or median reaction times over the strength; correct filled, errors open.

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
    figure = _figure(4.8, 3.8)
    axes = _Box(figure, 0, 0, 4.8, 3.8).axes(0.75, 0.6, 3.85, 2.65)
    _strength_axis(axes, values, xlabel)
    for outcome, colour, face, line in (
        ("correct", _BLUE, _BLUE, "-"),
        ("error", _VERMILION, "white", "--"),
    ):
        chosen = [row for row in rows if row.outcome == outcome]
        if chosen:
            _reaction_line(axes, chosen, statistic, colour, face, line, outcome)
    _reaction_axis(axes, rows, statistic)
    axes.set_ylabel(f"{statistic} reaction time (ms)", fontsize=_TEXT, color=_INK)
    _legend(axes, columns=2)
    _heading(figure, title, 0.75 / 4.8, 1 - 0.12 / 3.8)
    return figure


def demo_figure(
    trace: TrialTrace,
    accuracy: Mapping[str, Sequence[ProportionRow]],
    fits: Mapping[str, PsychometricFit | None] | None = None,
    *,
    xlabel: str = "coherence (%)",
) -> Any:
    """The figure of one trial, and the psychometric functions of several subjects beside it.

    Raises:
        MissingDependencyError: matplotlib is not installed.
        InvalidValueError: no rows, or values that are not numbers.
        UnknownNameError: a fit of a subject without rows.
    """
    subjects, curves = _subjects(accuracy, fits)
    wanted, width = 3.6 + _legend_height(subjects), 4.6
    height = max(_trial_height(trace), wanted)
    figure = _figure(_TRIAL_WIDTH + width, height)
    _draw_trial(_Box(figure, 0, 0, _TRIAL_WIDTH, height), trace)
    # Beside a very tall trial the curve keeps a readable shape, at the top.
    beside = min(height, wanted + 1.5)
    side = _Box(figure, _TRIAL_WIDTH, height - beside, width, beside)
    _draw_psychometric(side, subjects, curves, xlabel, "", "Psychometric function")
    return figure


def strip_figure(frames: Sequence[np.ndarray], labels: Sequence[str], *, title: str = "") -> Any:
    """Pictures side by side, in the order in which they were seen.

    Args:
        frames: (height, width[, 3]) each, uint8, or numbers from 0 to 1.
        labels: one for each.

    Raises:
        MissingDependencyError: matplotlib is not installed.
        InvalidValueError: no frames, or not as many labels.
    """
    if not len(frames) or len(frames) != len(labels):
        raise InvalidValueError(
            f"{len(frames)} frames and {len(labels)} labels were given. Expected at least one"
            " frame, and a label for each. Give both."
        )
    side, gap = 2.2, 0.15
    figure = _figure(len(frames) * (side + gap) + gap, side + 0.75)
    box = _Box(figure, 0, 0, *figure.get_size_inches())
    for k, (frame, label) in enumerate(zip(frames, labels, strict=True)):
        axes = box.axes(gap + k * (side + gap), gap, side, side)
        axes.imshow(
            frame, cmap="gray", vmin=0, vmax=255 if np.asarray(frame).dtype == np.uint8 else 1
        )
        axes.set_axis_off()
        axes.set_title(label, fontsize=_SMALL, color=_INK, pad=3)
    _heading(figure, title, gap / box.width, 1 - 0.12 / box.height)
    return figure


def save_figure(figure: Any, path: str | os.PathLike[str], *, dpi: float = 150) -> Path:
    """Write a figure as PNG, SVG or PDF, by the path's suffix, in one piece; returns the path.

    Raises:
        InvalidValueError: another suffix.
        FileNotWrittenError (OSError): the file cannot be written; an earlier one is as it was.
    """
    target = Path(path)
    kind = target.suffix.lower().removeprefix(".")
    if kind not in ("png", "svg", "pdf"):
        raise InvalidValueError(
            f"A figure was to be saved as {target.name!r}. Expected a name that ends in .png, .svg"
            " or .pdf. Choose one of these suffixes."
        )
    # The date would make two files of the same figure differ.
    metadata = {"png": None, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[kind]
    with replacing(target) as temporary:
        figure.savefig(temporary, format=kind, dpi=dpi, metadata=metadata)
    return target


# ---- checking a trace -----------------------------------------------------------------------------------------------


def _check_observations(observations: np.ndarray, dt: float) -> None:
    if observations.ndim != 2 or 0 in observations.shape or observations.dtype.kind not in "biuf":
        raise InvalidValueError(
            f"observations have the shape {observations.shape} and the type {observations.dtype}."
            " Expected numbers of shape (T, n_obs), neither of them 0. Stack the observation"
            " vectors of the steps."
        )
    if not np.isfinite(observations).all():
        raise InvalidValueError(
            "Some observations are NaN or infinite. Expected finite numbers. Look at how the trial"
            " was laid out."
        )
    if not (np.isfinite(dt) and dt > 0):
        raise InvalidValueError(
            f"dt={dt!r} was given. Expected ms per step, above 0. Give the task's dt."
        )


def _check_channels(channels: Mapping[str, slice], n_obs: int) -> None:
    for name, part in channels.items():
        fits = (
            isinstance(part, slice)
            and len(range(*part.indices(n_obs)))
            and (part.stop or 0) <= n_obs
        )
        if not fits:
            raise InvalidValueError(
                f"Channel {name!r} is {part!r} of {n_obs} observed values. Expected a slice with at"
                " least one of them. Take task.channels."
            )


def _check_periods(periods: Sequence[tuple[str, int, int]], steps: int) -> None:
    for name, start, stop in periods:
        if not 0 <= start <= stop <= steps:
            raise InvalidValueError(
                f"Period {name!r} lasts from step {start} to {stop} of a trial of {steps} steps."
                f" Expected 0 <= start <= stop <= {steps}. Give the first step, and the step after"
                " the last."
            )


def _check_answers(trace: TrialTrace) -> None:
    steps, targets = trace.steps, trace.targets
    shapes = {"targets": targets, "actions": trace.actions, "rewards": trace.rewards}
    for name, values in shapes.items():
        expected = {"targets": f"({steps},) or ({steps}, k)", "actions": str(targets.shape)}.get(
            name, f"({steps},)"
        )
        if values is None:
            continue
        fits = (
            values.shape == ((steps, *targets.shape[1:]) if name != "rewards" else (steps,))
            and values.ndim <= 2
        )
        if not fits or values.dtype.kind not in "biuf":
            raise InvalidValueError(
                f"{name} have the shape {values.shape} and the type {values.dtype}. Expected"
                f" numbers of shape {expected}. Give one entry per step."
            )
    if trace.discrete and trace.action_names:
        highest = max(int(v.max()) for v in (targets, trace.actions) if v is not None)
        if highest >= len(trace.action_names):
            raise InvalidValueError(
                f"Action {highest} occurs, and {len(trace.action_names)} action_names were given."
                " Expected a name for each action. Give all names, or none."
            )


# ---- layout ---------------------------------------------------------------------------------------------------------

_TRIAL_WIDTH, _FOOT = 7.2, 0.55  # inches
_LEFT, _RIGHT, _GAP, _ROW = 1.25, 0.75, 0.09, 0.17


class _Box(NamedTuple):
    """A part of a figure, in inches from its lower left corner."""

    figure: Any
    left: float
    bottom: float
    width: float
    height: float

    def axes(self, x: float, y: float, width: float, height: float, **kwargs: Any) -> Any:
        """New axes at (x, y) inches from the box's lower left corner, in the house style."""
        full_width, full_height = self.figure.get_size_inches()
        place = (
            (self.left + x) / full_width,
            (self.bottom + y) / full_height,
            width / full_width,
            height / full_height,
        )
        axes = self.figure.add_axes(place, **kwargs)
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[["left", "bottom"]].set_color(_GREY)
        axes.tick_params(labelsize=_SMALL, colors=_INK, color=_GREY, length=3)
        return axes


class _Panel(NamedTuple):
    """One row of the trial's figure."""

    kind: str  # "lines", "image", "answers", "rewards"
    name: str
    height: float  # inches, with the gap


def _figure(width: float, height: float) -> Any:
    module = optional("matplotlib.figure", needed_for="Drawing a figure", extra="plot")
    agg = optional("matplotlib.backends.backend_agg", needed_for="Drawing a figure", extra="plot")
    figure = module.Figure(figsize=(width, height), facecolor="white")
    agg.FigureCanvasAgg(figure)
    return figure


def _panels(trace: TrialTrace) -> list[_Panel]:
    # Thirty one-unit channels must still fit on a page.
    line_height = 0.62 if len(trace.channels) <= 10 else 0.34
    panels = []
    for name, part in trace.channels.items():
        units = len(range(*part.indices(trace.observations.shape[1])))
        if units <= _LINES_UP_TO:
            panels.append(_Panel("lines", name, line_height + 0.12 * (units - 1)))
        else:
            panels.append(_Panel("image", name, float(np.clip(0.55 + 0.03 * units, 0.7, 1.7))))
    panels.append(_Panel("answers", "action", _answers_height(trace)))
    if trace.rewards is not None:
        panels.append(_Panel("rewards", "reward", 0.55))
    return panels


def _answers_height(trace: TrialTrace) -> float:
    return (
        float(np.clip(0.35 + 0.16 * len(_shown_actions(trace)), 0.75, 1.7))
        if trace.discrete
        else 1.0
    )


def _head_height(trace: TrialTrace) -> float:
    return 0.15 + 0.24 * bool(trace.title) + 0.22 * bool(trace.subtitle)


def _trial_height(trace: TrialTrace) -> float:
    panels = sum(panel.height for panel in _panels(trace))
    return panels + _head_height(trace) + _FOOT + _strip_height(trace, _TRIAL_WIDTH)


def _draw_trial(box: _Box, trace: TrialTrace) -> None:
    """The trial in a box at least as high as `_trial_height`; the panels share what is left
    over.
    """
    panels, strip = _panels(trace), _strip_height(trace, box.width)
    width, top = box.width - _LEFT - _RIGHT, box.height - _head_height(trace)
    stretch = (top - strip - _FOOT) / sum(panel.height for panel in panels)
    drawn = []
    _draw_strip(box.axes(_LEFT, top - strip, width, strip), trace, width)
    top -= strip
    for panel in panels:
        height = panel.height * stretch
        axes = box.axes(_LEFT, top - height + _GAP, width, height - _GAP)
        _PAINTERS[panel.kind](axes, trace, panel.name)
        _name_panel(axes, panel.name)
        drawn.append(axes)
        top -= height
    for axes, panel in zip(drawn, panels, strict=True):
        _shade_periods(axes, trace, tint=panel.kind != "image")
        _time_axis(axes, trace, last=axes is drawn[-1])
    size = box.figure.get_size_inches()
    left, upper = (box.left + _LEFT) / size[0], (box.bottom + box.height - 0.12) / size[1]
    _heading(box.figure, trace.title, left, upper)
    lower = upper - (0.24 if trace.title else 0) / size[1]
    box.figure.text(left, lower, trace.subtitle, fontsize=_TEXT, color=_GREY, va="top")


def _time_axis(axes: Any, trace: TrialTrace, *, last: bool) -> None:
    axes.set_xlim(0, trace.steps * trace.dt)
    axes.tick_params(labelbottom=last, bottom=last)
    axes.spines["bottom"].set_visible(last)
    if last:
        axes.set_xlabel("time in the trial (ms)", fontsize=_TEXT, color=_INK)


def _heading(figure: Any, text: str, x: float, y: float) -> None:
    figure.text(x, y, text, fontsize=_TITLE, fontweight="bold", color=_INK, va="top")


def _name_panel(axes: Any, name: str) -> None:
    """The panel's name, level, left of the tick labels, broken where it is long."""
    text = name.replace("_", " ")
    if len(text) > 12 and " " in text:
        middle = min(
            (i for i, c in enumerate(text) if c == " "), key=lambda i: abs(i - len(text) / 2)
        )
        text = f"{text[:middle]}\n{text[middle + 1 :]}"
    size = _TEXT if max(map(len, text.split("\n"))) <= 12 else _SMALL - 1
    axes.annotate(
        text, (0, 0.5), (-_LEFT * 72 + 8, 0), xycoords="axes fraction", textcoords="offset points", fontsize=size,
        color=_INK, ha="left", va="center", fontweight="bold",
    )  # fmt: skip


# ---- periods --------------------------------------------------------------------------------------------------------


class _Label(NamedTuple):
    """A period's name in the strip: the period and the text's extent, in ms, and its row, 0 in the
    strip itself.
    """

    name: str
    start: float
    stop: float
    left: float
    right: float
    row: int


def _played(trace: TrialTrace) -> list[tuple[str, float, float]]:
    return [
        (name, start * trace.dt, stop * trace.dt)
        for name, start, stop in trace.periods
        if stop > start
    ]


def _tints(trace: TrialTrace) -> dict[str, str]:
    names = dict.fromkeys(name for name, _, _ in _played(trace))
    return {name: _TINTS[i % len(_TINTS)] for i, name in enumerate(names)}


def _strip_height(trace: TrialTrace, box_width: float) -> float:
    labels = _labels(trace, box_width - _LEFT - _RIGHT)
    return _ROW * (1 + max((label.row for label in labels), default=0)) + 0.06


def _labels(trace: TrialTrace, width: float) -> list[_Label]:
    """Where the names stand such that none overlap: in their period where they fit, else above,
    like flags.

    A flag flies to the right of its pole, above all that would meet it: the poles of later periods
    end below it."""
    per_inch = trace.steps * trace.dt / width
    labels: list[_Label] = []
    for name, start, stop in reversed(_played(trace)):
        length, middle = (_text_width(name) + 0.08) * per_inch, (start + stop) / 2
        if length <= stop - start:
            labels.append(_Label(name, start, stop, middle - length / 2, middle + length / 2, 0))
            continue
        left = min(middle, (width + _RIGHT) * per_inch - length)
        under = [label.row for label in labels if label.row and label.left < left + length]
        labels.append(_Label(name, start, stop, left, left + length, 1 + max(under, default=0)))
    return labels


def _text_width(text: str) -> float:
    """Inches, as `_SMALL` letters of the default font are wide."""
    textpath = optional("matplotlib.textpath", needed_for="Drawing a figure", extra="plot")
    fonts = optional("matplotlib.font_manager", needed_for="Drawing a figure", extra="plot")
    width, _, _ = textpath.TextToPath().get_text_width_height_descent(
        text, fonts.FontProperties(size=_SMALL), ismath=False
    )
    return float(width) / 72


def _draw_strip(axes: Any, trace: TrialTrace, width: float) -> None:
    """The periods' names above the panels."""
    labels, tints = _labels(trace, width), _tints(trace)
    axes.set_axis_off()
    axes.set_xlim(0, trace.steps * trace.dt)
    axes.set_ylim(-0.05, 1 + max((label.row for label in labels), default=0))
    for label in labels:
        axes.fill_between(
            [label.start, label.stop], -0.05, 0.9, color=_darker(tints[label.name]), lw=0
        )
        if label.row:
            axes.plot(
                [(label.start + label.stop) / 2] * 2, [0.45, label.row + 0.8], color=_GREY, lw=0.6
            )
        middle = (label.left + label.right) / 2
        axes.text(
            middle,
            label.row + 0.43,
            label.name,
            fontsize=_SMALL,
            color=_INK,
            ha="center",
            va="center",
        )


def _darker(colour: str) -> str:
    red, green, blue = (int(int(colour[i : i + 2], 16) * 0.9) for i in (1, 3, 5))
    return f"#{red:02x}{green:02x}{blue:02x}"


def _shade_periods(axes: Any, trace: TrialTrace, *, tint: bool) -> None:
    tints = _tints(trace)
    for name, start, stop in _played(trace):
        if tint:
            axes.axvspan(start, stop, color=tints[name], lw=0, zorder=0)
        if start > 0:
            axes.axvline(
                start,
                color="white" if tint else _GREY,
                lw=1 if tint else 0.6,
                zorder=1 if tint else 3,
            )


# ---- panels ---------------------------------------------------------------------------------------------------------


def _edges(trace: TrialTrace) -> np.ndarray:
    return np.arange(trace.steps + 1) * trace.dt


def _steps_line(axes: Any, trace: TrialTrace, values: np.ndarray, **style: Any) -> None:
    """A value per step as a staircase; NaN leaves a gap."""
    axes.step(_edges(trace), np.append(values, values[-1]), where="post", **style)


def _paint_lines(axes: Any, trace: TrialTrace, name: str) -> None:
    values = trace.observations[:, trace.channels[name]]
    for unit, column in enumerate(values.T):
        _steps_line(axes, trace, column, color=_CYCLE[unit], lw=1.2, zorder=2)
    if values.shape[1] > 1:
        _key(axes, [(str(unit), _CYCLE[unit], 1.5) for unit in range(values.shape[1])])
    low, high = min(0.0, float(values.min())), max(float(values.max()), 0.0)
    _value_axis(axes, low, high)


def _key(axes: Any, entries: list[tuple[str, str, float]]) -> None:
    """Names with samples of their lines (colour, width in points), at the right, where no line can
    cross them.
    """
    spacing = min(0.18 / _height(axes), 0.95 / len(entries))
    for row, (name, colour, width) in enumerate(entries):
        y = 0.5 + ((len(entries) - 1) / 2 - row) * spacing
        axes.plot(
            [1.012, 1.035], [y, y], transform=axes.transAxes, color=colour, lw=width, clip_on=False,
            solid_capstyle="butt",
        )  # fmt: skip
        axes.text(
            1.045,
            y,
            _shortened(name),
            transform=axes.transAxes,
            fontsize=_SMALL,
            color=_INK,
            va="center",
        )


def _height(axes: Any) -> float:
    """Of the axes, in inches."""
    return float(axes.get_position().height * axes.figure.get_size_inches()[1])


def _value_axis(axes: Any, low: float, high: float) -> None:
    """Room around the values, and ticks at 0 and towards the ends, as many as can be read."""
    high = high if high > low else low + 1
    room = 0.12 * (high - low)
    axes.set_ylim(low - room, high + room)
    least = 0.13 * (high - low + 2 * room) / _height(axes)
    ticks = [0.0]
    for end in sorted((low, high), key=abs, reverse=True):
        if end and all(abs(_rounded(end) - tick) >= least for tick in ticks):
            ticks.append(_rounded(end))
    axes.set_yticks(ticks, [_number(tick) for tick in ticks])


def _number(value: float, digits: int = 4) -> str:
    return f"{value:.{digits}g}".replace("-", "\N{MINUS SIGN}")


def _rounded(value: float) -> float:
    """Towards 0 to one digit, so that the tick lies among the values."""
    unit = 10.0 ** np.floor(np.log10(abs(value)) + 1e-9)
    half = unit / 2
    return float(np.trunc(value / half + np.sign(value) * 1e-6) * half)


def _paint_image(axes: Any, trace: TrialTrace, name: str) -> None:
    values = trace.observations[:, trace.channels[name]].astype(float)
    limit = float(np.abs(values).max()) or 1.0
    signed = values.min() < -0.02 * limit
    image = axes.imshow(
        values.T, aspect="auto", interpolation="nearest", zorder=2, cmap="PuOr_r" if signed else "Blues",
        vmin=-limit if signed else 0.0, vmax=limit, extent=(0, trace.steps * trace.dt, values.shape[1] - 0.5, -0.5),
    )  # fmt: skip
    axes.set_yticks([0, values.shape[1] - 1])
    bar = axes.inset_axes((1.015, 0.08, 0.014, 0.84))
    axes.figure.colorbar(
        image,
        cax=bar,
        ticks=[-_rounded(limit), 0, _rounded(limit)] if signed else [0, _rounded(limit)],
    )
    bar.tick_params(labelsize=_SMALL - 1, colors=_INK, length=2, pad=1.5)
    bar.yaxis.set_major_formatter(lambda value, _: _number(value, 3))
    bar.spines["outline"].set_linewidth(0.4)


def _shown_actions(trace: TrialTrace) -> list[int]:
    """The actions that get a tick: all of up to eight, else those that occur, the most frequent
    eight of them.
    """
    seen = np.concatenate(
        [values for values in (trace.targets, trace.actions) if values is not None]
    )
    numbers, counts = np.unique(seen[seen >= 0], return_counts=True)
    n_actions = max(len(trace.action_names), int(numbers.max(initial=0)) + 1)
    if n_actions <= 8:
        return list(range(n_actions))
    return sorted(numbers[np.argsort(-counts, kind="stable")[:8]].tolist())


def _paint_answers(axes: Any, trace: TrialTrace, _: str) -> None:
    if trace.discrete:
        _paint_choices(axes, trace)
    else:
        _paint_values(axes, trace)


def _paint_choices(axes: Any, trace: TrialTrace) -> None:
    """The target as a broad pale band, and the subject's action as a thin dark line on it."""
    _steps_line(
        axes, trace, _gaps(trace.targets), color=_TARGET, lw=6, solid_capstyle="butt", zorder=2
    )
    if trace.actions is not None:
        _steps_line(axes, trace, _gaps(trace.actions), color=_INK, lw=1.5, zorder=3)
    shown = _shown_actions(trace)
    names = [str(trace.action_names[i]) if trace.action_names else str(i) for i in shown]
    highest = max([*shown, len(trace.action_names) - 1, 1])
    axes.set_ylim(highest + 0.5 + 0.02 * highest, -0.5 - 0.02 * highest)
    _spaced_ticks(axes, shown, names, highest)
    _key(axes, _answer_key(trace, _TARGET, _INK))


def _spaced_ticks(axes: Any, places: list[int], names: list[str], highest: int) -> None:
    """Ticks at `places`; of those too close to read, the first keeps its name."""
    least = 0.13 * (highest + 1) / _height(axes)
    kept: list[int] = []
    for index, place in enumerate(places):
        if not kept or place - places[kept[-1]] >= least:
            kept.append(index)
    axes.set_yticks([places[i] for i in kept], [_shortened(names[i]) for i in kept])


def _shortened(name: str) -> str:
    return name if len(name) <= 11 else f"{name[:10]}…"


def _gaps(actions: np.ndarray) -> np.ndarray:
    return np.where(actions < 0, np.nan, actions.astype(float))


def _paint_values(axes: Any, trace: TrialTrace) -> None:
    """Continuous answers: per axis the target as a pale band, and the subject's values as a line on
    it.
    """
    targets = trace.targets.reshape(trace.steps, -1).astype(float)
    actions = (
        None if trace.actions is None else trace.actions.reshape(trace.steps, -1).astype(float)
    )
    several = targets.shape[1] > 1
    for axis in range(targets.shape[1]):
        band, line = (_pale(_colour(axis)), _colour(axis)) if several else (_TARGET, _INK)
        _steps_line(
            axes, trace, targets[:, axis], color=band, lw=5, solid_capstyle="butt", zorder=2
        )
        if actions is not None:
            _steps_line(axes, trace, actions[:, axis], color=line, lw=1.3, zorder=3)
    finite = np.concatenate([v[np.isfinite(v)] for v in (targets, actions) if v is not None])
    _value_axis(
        axes, min(0.0, float(finite.min(initial=0))), max(0.0, float(finite.max(initial=0)))
    )
    names = list(trace.action_names) or [str(axis) for axis in range(targets.shape[1])]
    axis_key = [(name, _colour(axis), 1.5) for axis, name in enumerate(names)] if several else []
    _key(
        axes,
        axis_key
        + (_answer_key(trace, "#BBBBBB", _INK) if several else _answer_key(trace, _TARGET, _INK)),
    )


def _colour(index: int) -> str:
    return _CYCLE[index % len(_CYCLE)]


def _pale(colour: str) -> str:
    red, green, blue = (int(255 - 0.4 * (255 - int(colour[i : i + 2], 16))) for i in (1, 3, 5))
    return f"#{red:02x}{green:02x}{blue:02x}"


def _answer_key(trace: TrialTrace, band: str, line: str) -> list[tuple[str, str, float]]:
    return [("target", band, 6.0)] + ([("subject", line, 1.5)] if trace.actions is not None else [])


def _paint_rewards(axes: Any, trace: TrialTrace, _: str) -> None:
    assert trace.rewards is not None
    rewards = trace.rewards.astype(float)
    colours = np.where(rewards >= 0, _GREEN, _VERMILION)
    # A reward of one step in a long trial would be a hair: at least 1/150 of the trial is drawn.
    width = max(trace.dt, trace.steps * trace.dt / 150)
    left = np.minimum(np.arange(trace.steps) * trace.dt, trace.steps * trace.dt - width)
    paid = rewards != 0
    axes.bar(left[paid], rewards[paid], width, align="edge", color=colours[paid], zorder=3)
    axes.axhline(0, color=_GREY, lw=0.6, zorder=2)
    low, high = min(0.0, float(rewards.min())), max(0.0, float(rewards.max()))
    _value_axis(axes, low, high)
    axes.text(
        1.012,
        0.5,
        f"sum {_number(rewards.sum())}",
        transform=axes.transAxes,
        fontsize=_SMALL,
        color=_INK,
        va="center",
    )


_PAINTERS = {
    "lines": _paint_lines,
    "image": _paint_image,
    "answers": _paint_answers,
    "rewards": _paint_rewards,
}


# ---- psychometric and chronometric functions ------------------------------------------------------------------------


def _subjects(
    rows: Any, fit: Any
) -> tuple[dict[str, list[ProportionRow]], dict[str, PsychometricFit | None]]:
    """Rows and fits by subject; a single, unnamed subject is called ``""``."""
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
    """The values as floats, or an error that says what an axis needs."""
    if values and all(isinstance(value, int | float | np.number) for value in values):
        return np.array(values, float)
    raise InvalidValueError(
        f"The values {values!r:.80} were to be an axis. Expected at least one row, and numbers. "
        "Group the record by a condition that is a number, and check that trials were answered."
    )


def _legend_height(subjects: Mapping[str, Any]) -> float:
    return 0.2 * len(subjects) if list(subjects) != [""] else 0.2


def _draw_psychometric(
    box: _Box,
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
        colour, marker, fit = _colour(index), _MARKERS[index % len(_MARKERS)], fits.get(name)
        # Where the threshold cannot be told, the curve would show what the data do not say.
        if fit is not None and "threshold" not in fit.undetermined:
            _draw_curve(axes, fit, scale, colour)
        _draw_points(axes, [row for row in rows if row.n], colour, marker, _legend_text(name, fit))
        lows += [row.low for row in rows if row.n]
    signed = bool((values < 0).any())
    axes.set_ylabel(
        ylabel or ("fraction chosen" if signed else "fraction correct"), fontsize=_TEXT, color=_INK
    )
    _fraction_axis(axes, 0.0 if signed else min(lows, default=0.0))
    _legend(axes, columns=1)
    size = box.figure.get_size_inches()
    _heading(
        box.figure, title, (box.left + 0.75) / size[0], (box.bottom + box.height - 0.12) / size[1]
    )


def _fraction_axis(axes: Any, lowest: float) -> None:
    low = min(0.4, np.floor(10 * lowest) / 10) if lowest >= 0.3 else 0.0
    axes.set_ylim(low - 0.02, 1.02)
    axes.set_yticks(np.arange(low, 1.01, 0.1 if low else 0.25))
    axes.axhline(0.5, color=_GREY, lw=0.7, ls=(0, (4, 3)), zorder=0)


def _draw_points(
    axes: Any, rows: list[ProportionRow], colour: str, marker: str, label: str
) -> None:
    x = [row.value for row in rows]
    axes.vlines(
        x, [row.low for row in rows], [row.high for row in rows], color=colour, lw=1.2, zorder=3
    )
    axes.plot(
        x, [row.fraction for row in rows], ls="none", marker=marker, ms=5, color=colour, mec="white", mew=0.6,
        label=label, zorder=4, clip_on=False,
    )  # fmt: skip


class _Scale(NamedTuple):
    """Where the strengths lie, and strengths evenly spread over the axis."""

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
        return ": ".join(filter(None, [name, "no threshold can be told"]))
    word = "bias" if fit.shape == "logistic" else "threshold"
    threshold = f"{word} {_number(fit.threshold, 3)}"
    if "threshold" in fit.intervals:
        low, high = fit.intervals["threshold"]
        threshold += f" [{_number(low, 3)}, {_number(high, 3)}]"
    lapse = "" if "lapse" in fit.undetermined else f", lapse {fit.lapse:.2f}"
    return ": ".join(filter(None, [name, threshold + lapse]))


def _strength_axis(axes: Any, values: np.ndarray, xlabel: str) -> _Scale:
    """Set the axis of the strengths: logarithmic with 0 at its left where that spreads them
    better.
    """
    levels = np.unique(values)
    positive = levels[levels > 0]
    low, high = float(levels[0]), float(levels[-1])
    logarithmic = low >= 0 and len(positive) > 1 and high >= 8 * positive[0]
    if logarithmic:
        # Linear from 0 to the smallest strength, which takes the room of a doubling.
        axes.set_xscale("symlog", base=2, linthresh=float(positive[0]), linscale=1.0)
        grid = np.concatenate(
            [np.linspace(low, positive[0], 60), np.geomspace(positive[0], high, 240)]
        )
        axes.set_xlim(-0.12 * positive[0] if low == 0 else positive[0] * 0.9, high * 1.15)
    else:
        grid, room = np.linspace(low, high, 300), 0.04 * (high - low) or 1.0
        axes.set_xlim(low - room, high + room)
    if logarithmic or len(levels) <= 7:
        axes.set_xticks(levels, [_number(level) for level in levels])
        axes.set_xticks([], minor=True)
    axes.set_xlabel(xlabel, fontsize=_TEXT, color=_INK)
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
    """Limits from the values and their standard errors: the interval of two trials may leave the
    axes.
    """
    values = np.array([getattr(row, statistic) for row in rows])
    spread = 2 * np.nan_to_num([row.sem for row in rows])
    low, high = float((values - spread).min()), float((values + spread).max())
    room = 0.08 * (high - low) or 10.0
    axes.set_ylim(max(0.0, low - room), high + room)


def _legend(axes: Any, columns: int) -> None:
    """Above the axes, so that it covers no point."""
    handles, labels = axes.get_legend_handles_labels()
    if any(labels):
        axes.legend(
            handles, labels, loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=columns, frameon=False,
            fontsize=_SMALL, handletextpad=0.3, borderaxespad=0.2, labelspacing=0.35, labelcolor=_INK,
        )  # fmt: skip
