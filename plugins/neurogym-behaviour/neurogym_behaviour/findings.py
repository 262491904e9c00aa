"""`Finding`: the result of an analysis, or the reason why it could not be done."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from matplotlib.figure import Figure
from neurogym_plot.canvas import GREY

from neurogym_behaviour.behaviour import Behaviour, CannotTellError, slots_of
from neurogym_behaviour.style import SIZES, drawing

if TYPE_CHECKING:
    import pandas as pd

MM = 25.4
"""Millimetres of an inch."""


@dataclass(frozen=True)
class Finding:
    """The result of one analysis.

    Attributes:
        name: name for files, e.g. "accuracy".
        title: heading in the report.
        why_not: reason why the analysis could not be done, or None.
        table: the numbers.
        figure: a matplotlib figure.
        notes: sentences about the numbers.
    """

    name: str
    title: str
    why_not: str | None = None
    table: pd.DataFrame | None = None
    figure: Figure | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Analysis:
    """An analysis: ``do(behaviour)`` returns a `Result`, or raises `CannotTellError`.

    Attributes:
        of: subject of the numbers, if trials have several answers: "slot" (the answer of the
            behaviour), "first" (the first answer), or "trial". The title of the finding names it.
        means: whether the numbers of several subjects are means over subjects; else all their
            trials are pooled, and a note says so.
    """

    name: str
    title: str
    do: Callable[[Behaviour], Result]
    of: Literal["slot", "first", "trial"] = "slot"
    means: bool = False

    def __call__(self, behaviour: Behaviour) -> Finding:
        """Return the finding, which gives the reason if the analysis could not be done."""
        title = self._titled(behaviour)
        try:
            with drawing():
                result = self.do(behaviour)
                if result.figure is not None:
                    legible(result.figure)
        except CannotTellError as error:
            return Finding(self.name, title, why_not=f"{error}.")
        notes = list(result.notes)
        count = 1 if self.means or behaviour.roles.pool else len(behaviour.per_subject())
        if count > 1:
            notes.append(
                f"The trials of all {count} subjects are pooled here: intervals hold for these"
                " subjects only."
            )
        return Finding(self.name, title, None, result.table, result.figure, tuple(notes))

    def _titled(self, behaviour: Behaviour) -> str:
        if behaviour.slot is None or self.of == "trial":
            return self.title
        slot = slots_of(behaviour.record)[0] if self.of == "first" else behaviour.slot
        return f"{self.title}, slot {slot}"


@dataclass
class Result:
    """Table, figure and notes of an analysis."""

    table: Any
    figure: Any = None
    notes: Sequence[str] = field(default_factory=tuple)


def figure(panels: int = 1, *, width: float = 4.6, height: float = 3.6) -> tuple[Any, list[Any]]:
    """Return a figure without a window, and its axes from left to right, in the current style.

    Args:
        panels: number of axes.
        width, height: of each panel on a screen, inches. Other styles set the width, and change the
            height by the same factor.
    """
    with drawing() as style:
        factor = style.column / SIZES["screen"].column
        wide = width * panels
        if factor != 1:
            wide = min(style.column * panels, style.page) / MM
            height *= max(factor, wide / (width * panels))
        made = Figure(figsize=(wide, height), layout="constrained")
        axes = [made.add_subplot(1, panels, k + 1) for k in range(panels)]
        for one in axes:
            one.spines[["top", "right"]].set_visible(False)
            # Ticks that are made later would have matplotlib's own sizes.
            one.tick_params(
                labelsize=style.small, length=2.2 * style.line, width=0.6 * style.line,
                pad=2.5 * style.line, color=GREY,
            )  # fmt: skip
        made.get_layout_engine().set(w_pad=0.03 * style.line, h_pad=0.03 * style.line)
    return made, axes


def legible(made: Any) -> Any:
    """Break the labels of axes that are too long, and return the figure."""
    made.draw_without_rendering()
    for axes in made.axes:
        extents = axes.xaxis.label.get_window_extent(), axes.yaxis.label.get_window_extent()
        _break_label(axes.xaxis.label, extents[0].width, 1.15 * axes.bbox.width)
        _break_label(axes.yaxis.label, extents[1].height, 1.02 * axes.bbox.height)
    return made


def _break_label(label: Any, length: float, room: float) -> None:
    """Break a label at its last comma, or where it has to be broken."""
    text = label.get_text()
    if length <= room or "\n" in text:
        return
    letters = max(int(len(text) * room / length), 8)
    parts = text.rsplit(", ", 1)
    if max(map(len, parts)) <= letters:
        label.set_text(",\n".join(parts))
    else:
        label.set_text(textwrap.fill(text, letters))
