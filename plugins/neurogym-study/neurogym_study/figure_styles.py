"""Styles of figures: sizes for screens, papers and slides.

    with figure_style("paper"):
        save_figure(magnified(trial_figure(trace)), "trial.pdf")

matplotlib is imported when a figure is magnified or saved."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from neurogym_core import canvas
from neurogym_core.errors import unknown
from neurogym_core.optional import optional


class FigureStyle(NamedTuple):
    """Sizes of figures for one purpose.

    Attributes:
        name: "screen", "paper" or "slide".
        scale: factor for the figures of trials and sessions, which are 183 mm wide on a screen.
        dpi: pixels per inch of PNG files.
    """

    name: str
    scale: float
    dpi: float


STYLES = {
    "screen": FigureStyle("screen", 1, 150),
    "paper": FigureStyle("paper", 180 / 182.88, 300),
    "slide": FigureStyle("slide", 320 / 182.88, 150),
}
_STYLE = ContextVar("figure style", default=STYLES["screen"])


@contextmanager
def figure_style(name: str) -> Iterator[FigureStyle]:
    """Draw the figures of a ``with`` block in a style.

    - ``"screen"``: the default; trials and sessions are 183 mm wide;
    - ``"paper"``: they are 180 mm wide; PNG files have 300 pixels per inch;
    - ``"slide"``: they are 320 mm wide.

    Figures of analyses have the sizes of `neurogym_study.style`. The figure of a trial is that of a
    screen; `magnified` changes it.

    Args:
        name: of the style.

    Raises:
        UnknownNameError: there is no such style.
    """
    if name not in STYLES:
        raise unknown("figure style", name, STYLES)
    before = _STYLE.set(STYLES[name])
    try:
        yield STYLES[name]
    finally:
        _STYLE.reset(before)


def current_style() -> FigureStyle:
    """Return the style of the figures that are drawn now."""
    return _STYLE.get()


def magnified(figure: Any) -> Any:
    """Magnify a figure that was placed in inches to the current style, and return it.

    Texts, lines, markers and offsets in points are magnified too, so that the layout is kept.
    """
    factor = _STYLE.get().scale
    if factor == 1:
        return figure
    figure.set_size_inches(*(factor * figure.get_size_inches()))
    texts, lines = _matplotlib("text"), _matplotlib("lines")
    collections, panels = _matplotlib("collections"), _matplotlib("axes").Axes
    ticks = set()
    for axes in figure.findobj(panels):
        for axis in (axes.xaxis, axes.yaxis):
            ticks |= {id(part) for tick in axis.get_major_ticks() for part in tick.get_children()}
            now = axis.get_tick_params()
            wanted = {name: factor * now[name] for name in ("labelsize", "length", "pad")
                      if name in now}  # fmt: skip
            axis.set_tick_params(**wanted, width=0.8 * factor)
            axis.labelpad *= factor
    for artist in figure.findobj(lambda artist: id(artist) not in ticks):
        if isinstance(artist, texts.Text):
            artist.set_fontsize(factor * artist.get_fontsize())
            if isinstance(artist, texts.Annotation):
                artist.xyann = tuple(factor * part for part in artist.xyann)
        elif isinstance(artist, lines.Line2D):
            artist.set_linewidth(factor * artist.get_linewidth())
            artist.set_markersize(factor * artist.get_markersize())
            artist.set_markeredgewidth(factor * artist.get_markeredgewidth())
        elif isinstance(artist, collections.Collection):
            artist.set_linewidth(factor * np.asarray(artist.get_linewidth()))
    return figure


def save_figure(figure: Any, path: str | os.PathLike[str]) -> Path:
    """Write a figure as `neurogym_core.plots.save_figure` does, with the style's pixels per inch.

    Args:
        figure: a matplotlib figure.
        path: of the file, which ends in .png, .svg or .pdf.
    """
    return canvas.save_figure(figure, path, dpi=_STYLE.get().dpi)


def _matplotlib(module: str) -> Any:
    return optional(f"matplotlib.{module}", needed_for="Drawing a figure")
