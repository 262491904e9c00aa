"""The style of figures: colours, sizes, axes placed in inches, and saving to a file.

`plots` and other packages draw with these parts. Every figure is a `matplotlib.figure.Figure` with
its own Agg canvas; pyplot is not used, so figures need no display and share no global state.
matplotlib is imported when a figure is made."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

from neurogym_core.errors import InvalidValueError
from neurogym_core.files import replacing
from neurogym_core.optional import optional

# Okabe & Ito (2008): colours that colour-blind readers can distinguish.
BLUE, VERMILION, GREEN, ORANGE = "#0072B2", "#D55E00", "#009E73", "#E69F00"
SKY, PURPLE, INK, GREY = "#56B4E9", "#CC79A7", "#222222", "#777777"
SMALL, TEXT, TITLE = 7.5, 8.5, 11.0
"""Font sizes, points."""

_CYCLE = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)


def new_figure(width: float, height: float) -> Any:
    """Return an empty white figure.

    Args:
        width, height: size in inches.

    Raises:
        MissingDependencyError: matplotlib is not installed.
    """
    module = optional("matplotlib.figure", needed_for="Drawing a figure", extra="plot")
    agg = optional("matplotlib.backends.backend_agg", needed_for="Drawing a figure", extra="plot")
    figure = module.Figure(figsize=(width, height), facecolor="white")
    agg.FigureCanvasAgg(figure)
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


def save_figure(figure: Any, path: str | os.PathLike[str], *, dpi: float = 150) -> Path:
    """Write a figure as PNG, SVG or PDF, by the suffix of the path; return the path.

    Raises:
        InvalidValueError: the path has another suffix.
        FileNotWrittenError (OSError): the file cannot be written; an existing one is unchanged.
    """
    target = Path(path)
    kind = target.suffix.lower().removeprefix(".")
    if kind not in ("png", "svg", "pdf"):
        raise InvalidValueError(
            f"A figure was to be saved as {target.name!r}. Expected a name that ends in .png, .svg"
            " or .pdf. Choose one of these suffixes."
        )
    # With the date in them, two files of the same figure would differ.
    metadata = {"png": None, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[kind]
    with replacing(target) as temporary:
        figure.savefig(temporary, format=kind, dpi=dpi, metadata=metadata)
    return target
