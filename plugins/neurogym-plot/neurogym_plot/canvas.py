"""Parts of figures: colours, sizes, and axes placed in inches.

Every figure is a `matplotlib.figure.Figure` with its own Agg canvas; pyplot is not used, so figures
need no display and share no global state."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from threading import RLock
from typing import Any, NamedTuple

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextToPath

from neurogym_core import Ring

# Okabe & Ito (2008): colours that colour-blind readers can distinguish.
BLUE, VERMILION, GREEN, ORANGE = "#0072B2", "#D55E00", "#009E73", "#E69F00"
SKY, PURPLE, INK, GREY = "#56B4E9", "#CC79A7", "#222222", "#777777"
SMALL, TEXT, TITLE = 7.5, 8.5, 11.0
"""Font sizes, points."""

_CYCLE = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)


SETTINGS = RLock()
"""Lock of matplotlib's settings, which all threads share."""


def new_figure(width: float, height: float) -> Any:
    """Return an empty white figure.

    Args:
        width, height: size in inches.
    """
    figure = Figure(figsize=(width, height), facecolor="white")
    FigureCanvasAgg(figure)
    return figure


class Box(NamedTuple):
    """A part of a figure, in inches from its lower left corner."""

    figure: Any
    left: float
    bottom: float
    width: float
    height: float

    def axes(self, x: float, y: float, width: float, height: float, **kwargs: Any) -> Any:
        """Add axes at (x, y) inches from the box's lower left corner, and return them."""
        full_width, full_height = self.figure.get_size_inches()
        place = (
            (self.left + x) / full_width,
            (self.bottom + y) / full_height,
            width / full_width,
            height / full_height,
        )
        axes = self.figure.add_axes(place, **kwargs)
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[["left", "bottom"]].set_color(GREY)
        axes.tick_params(labelsize=SMALL, colors=INK, color=GREY, length=3)
        return axes


def heading(figure: Any, text: str, x: float, y: float) -> None:
    """Write a title whose upper left corner is at (x, y), fractions of the figure."""
    figure.text(x, y, text, fontsize=TITLE, fontweight="bold", color=INK, va="top")


def number(value: float, digits: int = 4) -> str:
    """Return a number as a label, rounded to significant digits, with a typographic minus sign."""
    return f"{value:.{digits}g}".replace("-", "\N{MINUS SIGN}")


def cycle_colour(index: int) -> str:
    """Return the colour of line `index` of several; the six colours repeat."""
    return _CYCLE[index % len(_CYCLE)]


def pale(colour: str) -> str:
    """Return a colour of the same hue, mixed with white."""
    red, green, blue = (int(255 - 0.4 * (255 - int(colour[i : i + 2], 16))) for i in (1, 3, 5))
    return f"#{red:02x}{green:02x}{blue:02x}"


def key(axes: Any, entries: list[tuple[str, str, float]]) -> None:
    """Draw a legend of lines (name, colour, width in points) to the right of the axes.

    If the axes are too low for all entries, the last one says how many are left out.
    """
    room = max(int(_height(axes) * 0.95 / 0.11), 1)
    if len(entries) > room:
        left_out = len(entries) - room + 1
        entries = [*entries[: room - 1], (f"{left_out} more", "none", 0.0)]
    spacing = min(0.18 / _height(axes), 0.95 / len(entries))
    for row, (name, colour, width) in enumerate(entries):
        y = 0.5 + ((len(entries) - 1) / 2 - row) * spacing
        axes.plot(
            [1.012, 1.035],
            [y, y],
            transform=axes.transAxes,
            color=colour,
            lw=width,
            clip_on=False,
            solid_capstyle="butt",
        )
        write(axes, 1.045, y, _fitting(axes, name), transform=axes.transAxes)


def write(axes: Any, x: float, y: float, text: str, **style: Any) -> None:
    """Write a small text that is vertically centred at (x, y)."""
    axes.text(x, y, text, fontsize=SMALL, color=INK, va="center", **style)


def time_axis(axes: Any, start: float, stop: float, label: str) -> None:
    """Set the limits of the horizontal axis, and hide the axis if there is no label."""
    axes.set_xlim(start, stop)
    axes.tick_params(labelbottom=bool(label), bottom=bool(label))
    axes.spines["bottom"].set_visible(bool(label))
    axes.set_xlabel(label, fontsize=TEXT, color=INK)


def _height(axes: Any) -> float:
    """Return the height of axes in inches."""
    return float(axes.get_position().height * axes.figure.get_size_inches()[1])


def value_axis(axes: Any, low: float, high: float) -> None:
    """Set limits with a margin around the values, and ticks at 0 and at the ends, if legible."""
    high = high if high > low else low + 1
    room = 0.12 * (high - low)
    axes.set_ylim(low - room, high + room)
    least = 0.13 * (high - low + 2 * room) / _height(axes)
    ticks = [0.0]
    for end in sorted((low, high), key=abs, reverse=True):
        if end and all(abs(rounded(end) - tick) >= least for tick in ticks):
            ticks.append(rounded(end))
    axes.set_yticks(ticks, [number(tick) for tick in ticks])


def rounded(value: float) -> float:
    """Return a value rounded towards 0 to half a leading digit, so that its tick is in range."""
    unit = 10.0 ** np.floor(np.log10(abs(value)) + 1e-9)
    half = unit / 2
    return float(np.trunc(value / half + np.sign(value) * 1e-6) * half)


def spaced_ticks(
    axes: Any,
    places: list[float],
    names: list[str],
    highest: float,
    sure: int | None = None,
    room: float = 0.62,
) -> None:
    """Set ticks at `places`; of ticks that are too close to be legible, only the first is kept.

    Args:
        axes: the panel.
        places: places of the ticks, ascending.
        names: their labels.
        highest: largest place of the panel.
        sure: index of a tick that is kept in any case.
        room: inches for the labels; longer ones are shortened.
    """
    least = 0.13 * (highest + 1) / _height(axes)
    kept: list[int] = []
    for index, place in enumerate(places):
        if sure is not None and index != sure and abs(place - places[sure]) < least:
            continue
        if not kept or place - places[kept[-1]] >= least:
            kept.append(index)
    axes.set_yticks([places[i] for i in kept], [_within(names[i], room) for i in kept])


def quarters(names: Sequence[str]) -> list[int]:
    """Return the units of a ring at quarters of a turn; none if these are not its angles.

    Args:
        names: names of the units.
    """
    size = len(names)
    if not size or tuple(names) != Ring(size).unit_names:
        return []
    return [unit for unit in range(size) if 4 * unit % size == 0]


def _shortened(name: str, room: int) -> str:
    """Return a name of at most `room` characters; longer ones keep both ends, where they differ."""
    kept = (room - 1) // 2
    return name if len(name) <= room else f"{name[:kept]}…{name[-kept:]}"


def _fitting(axes: Any, name: str) -> str:
    """Return a name that fits between the lines of a legend and the edge of the figure."""
    place, width = axes.get_position(), axes.figure.get_size_inches()[0]
    return _within(name, (1 - place.x1 - 0.045 * place.width) * width - 0.03)


def _within(name: str, inches: float) -> str:
    """Return a name that is at most `inches` wide, or has five characters."""
    room = len(name)
    while room > 5 and text_width(_shortened(name, room)) > inches:
        room -= 1
    return _shortened(name, room)


@lru_cache(maxsize=1024)
def text_width(text: str, size: float = SMALL, weight: str = "normal") -> float:
    """Return the width of a text in inches, in the default font.

    Args:
        text: one line.
        size: font size, points.
        weight: "normal" or "bold".
    """
    font = FontProperties(size=size, weight=weight)
    width, _, _ = TextToPath().get_text_width_height_descent(text, font, ismath=False)
    return float(width) / 72


def name_row(axes: Any, name: str, left: float) -> None:
    """Write the name of a panel left of its tick labels; a long one is broken into two lines.

    Args:
        axes: the panel.
        name: its name; underscores become spaces.
        left: inches from the left edge of the figure to the panel.
    """
    text, size = _as_title(name)
    axes.annotate(
        text,
        (0, 0.5),
        (-left * 72 + 8, 0),
        xycoords="axes fraction",
        textcoords="offset points",
        fontsize=size,
        color=INK,
        ha="left",
        va="center",
        fontweight="bold",
    )


def room_for_ticks(name: str, left: float) -> float:
    """Return the inches between the name of a panel, as `name_row` writes it, and its axis.

    Args:
        name: its name.
        left: inches from the left edge of the figure to the panel.
    """
    text, size = _as_title(name)
    widest = max(text_width(line, size, "bold") for line in text.split("\n"))
    # 8 points precede the name; a tick, its distance from the label, and a gap follow the label.
    return left - 8 / 72 - widest - 0.13


def _as_title(name: str) -> tuple[str, float]:
    """Return the name of a panel in one or two lines, and its font size in points."""
    text = name.replace("_", " ")
    if len(text) > 12 and " " in text:
        middle = min(
            (i for i, c in enumerate(text) if c == " "), key=lambda i: abs(i - len(text) / 2)
        )
        text = f"{text[:middle]}\n{text[middle + 1 :]}"
    return text, TEXT if max(map(len, text.split("\n"))) <= 12 else SMALL - 1
