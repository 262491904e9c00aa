"""`Finding`: the result of an analysis, or the reason why it could not be done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from neurogym_study.behaviour import Behaviour, CannotTellError

if TYPE_CHECKING:
    import pandas as pd


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
    """An analysis: ``do(behaviour)`` returns a `Result`, or raises `CannotTellError`."""

    name: str
    title: str
    do: Callable[[Behaviour], Result]

    def __call__(self, behaviour: Behaviour) -> Finding:
        """Return the finding, which gives the reason if the analysis could not be done."""
        try:
            result = self.do(behaviour)
        except CannotTellError as error:
            return Finding(self.name, self.title, why_not=f"{error}.")
        return Finding(
            self.name, self.title, None, result.table, result.figure, tuple(result.notes)
        )


@dataclass
class Result:
    """Table, figure and notes of an analysis."""

    table: Any
    figure: Any = None
    notes: Sequence[str] = field(default_factory=tuple)


def figure(panels: int = 1, *, width: float = 4.6, height: float = 3.6) -> tuple[Any, list[Any]]:
    """Return a figure without a window, and its axes from left to right."""
    made = Figure(figsize=(width * panels, height), layout="constrained")
    axes = [made.add_subplot(1, panels, k + 1) for k in range(panels)]
    for one in axes:
        one.spines[["top", "right"]].set_visible(False)
    return made, axes
