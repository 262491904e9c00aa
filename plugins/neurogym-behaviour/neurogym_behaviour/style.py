"""Sizes of the figures of analyses in the styles of `neurogym_plot.styles`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import matplotlib
from neurogym_plot.canvas import GREY, INK, SETTINGS, SMALL, TEXT
from neurogym_plot.styles import current_style


class Sizes(NamedTuple):
    """Sizes of figures in one style.

    Attributes:
        column: width of a figure with one panel, mm.
        page: greatest width of a figure with several panels, mm.
        text: size of the labels of axes, points.
        small: size of tick labels and legends, points.
        line: width of lines, points.
        marker: size of markers, points.
    """

    column: float
    page: float
    text: float
    small: float
    line: float
    marker: float


SIZES = {
    "screen": Sizes(122, 244, TEXT, SMALL, 1.4, 5),
    "paper": Sizes(85, 180, 8, 7, 1, 3.5),
    "slide": Sizes(240, 320, 22, 18, 3, 10),
}
"""Sizes by the name of the style."""


def current_sizes() -> Sizes:
    """Return the sizes of the figures that are drawn now."""
    return SIZES[current_style().name]


@contextmanager
def drawing() -> Iterator[Sizes]:
    """Set matplotlib's sizes and colours to the current style, for a ``with`` block.

    One thread at a time is in such a block; matplotlib's own settings are restored after it.
    """
    style = current_sizes()
    thin = 0.6 * style.line
    sizes = {
        "font.size": style.text,
        "axes.labelsize": style.text,
        "axes.titlesize": style.text,
        "legend.fontsize": style.small,
        "legend.title_fontsize": style.text,
        "legend.frameon": False,
        "lines.linewidth": style.line,
        "lines.markersize": style.marker,
        "lines.markeredgewidth": 0.5 * style.line,
        "axes.linewidth": thin,
        "axes.edgecolor": GREY,
        "axes.labelpad": 2.8 * style.line,
        "axes.labelcolor": INK,
        "text.color": INK,
        **{
            f"{axis}tick.{part}": value
            for axis in "xy"
            for part, value in (
                ("labelsize", style.small),
                ("labelcolor", INK),
                ("color", GREY),
                ("major.size", 2.2 * style.line),
                ("major.width", thin),
            )
        },
    }
    with SETTINGS, matplotlib.rc_context(sizes):
        yield style
