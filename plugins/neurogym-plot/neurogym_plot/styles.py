"""Styles of figures: sizes for screens, papers and slides; and saving to a file.

with figure_style("paper"):
    save_figure(magnified(trial_figure(trace)), "trial.pdf")
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import Collection
from matplotlib.lines import Line2D
from matplotlib.text import Annotation, Text

from neurogym_core import InvalidValueError
from neurogym_core.tools import replacing, unknown
from neurogym_plot import canvas

SUFFIXES = (".png", ".svg", ".pdf")
"""Suffixes of the files that `save_figure` writes."""


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

    The figure of a trial is that of a
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
    ticks = set()
    for axes in figure.findobj(Axes):
        for axis in (axes.xaxis, axes.yaxis):
            ticks |= {id(part) for tick in axis.get_major_ticks() for part in tick.get_children()}
            now = axis.get_tick_params()
            wanted = {name: factor * now[name] for name in ("labelsize", "length", "pad")
                      if name in now}  # fmt: skip
            axis.set_tick_params(**wanted, width=0.8 * factor)
            axis.labelpad *= factor
    for artist in figure.findobj(lambda artist: id(artist) not in ticks):
        if isinstance(artist, Text):
            artist.set_fontsize(factor * artist.get_fontsize())
            if isinstance(artist, Annotation):
                artist.xyann = tuple(factor * part for part in artist.xyann)
        elif isinstance(artist, Line2D):
            artist.set_linewidth(factor * artist.get_linewidth())
            artist.set_markersize(factor * artist.get_markersize())
            artist.set_markeredgewidth(factor * artist.get_markeredgewidth())
        elif isinstance(artist, Collection):
            artist.set_linewidth(factor * np.asarray(artist.get_linewidth()))
    return figure


def save_figure(figure: Any, path: str | os.PathLike[str]) -> Path:
    """Write a figure as PNG, SVG or PDF, by the suffix of the path; return the path.

    Texts in SVG and PDF files remain texts, which can be searched and edited. PNG files have the
    pixels per inch of the current style.

    Args:
        figure: a matplotlib figure.
        path: of the file; an existing one is replaced.

    Raises:
        InvalidValueError: the path has another suffix.
        FileNotWrittenError (OSError): the file cannot be written; an existing one is unchanged.
    """
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise InvalidValueError(
            f"A figure was to be saved as {target.name!r}. Expected a name that ends in .png, .svg"
            " or .pdf. Choose one of these suffixes."
        )
    kind = target.suffix.lower().removeprefix(".")
    # With the date in them, or with random ids, two files of the same figure would differ.
    metadata = {"png": None, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[kind]
    texts = {"svg.fonttype": "none", "svg.hashsalt": "neurogym", "pdf.fonttype": 42}
    with replacing(target) as temporary, canvas.SETTINGS, matplotlib.rc_context(texts):
        figure.savefig(temporary, format=kind, dpi=_STYLE.get().dpi, metadata=metadata)
    return target
