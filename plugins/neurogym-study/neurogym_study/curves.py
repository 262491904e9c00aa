"""Learning curves of trained networks and agents: the tests of a run, and of runs beside it that
differ only in the seed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from neurogym_core.canvas import BLUE, GREY
from neurogym_core.errors import InvalidValueError, NeurogymError
from neurogym_study import measures
from neurogym_study.behaviour import CannotTellError
from neurogym_study.findings import Finding, Result, figure
from neurogym_study.runs import Run
from neurogym_study.training import CURVE_FILE

CRITERION = 0.8
"""Accuracy whose first test is reported."""


def seeds_of(folder: Path) -> list[Path]:
    """Return the folders of a run, and of the runs beside it that differ only in the seed."""
    own = _but_seed(Run.open(folder))
    found = []
    for other in sorted(folder.resolve().parent.iterdir()):
        try:
            same = other.is_dir() and _but_seed(Run.open(other)) == own
        except NeurogymError:
            continue  # no run
        if same and (other / CURVE_FILE).is_file():
            found.append(other)
    return found


def _but_seed(run: Run) -> dict[str, Any]:
    return {name: value for name, value in run.experiment.to_plain().items() if name != "seed"}


def learning_curves(folders: list[Path], criterion: float = CRITERION) -> Result:
    """Accuracy in the tests over the course of learning: each seed, mean and spread.

    Raises:
        CannotTellError: fewer than two tests were made by all.
    """
    curves, unit = [], "updates"
    for folder in folders:
        table = pd.read_csv(folder / CURVE_FILE)
        unit = table.columns[0]
        if len(table) > 1:
            curves.append((table[unit].to_numpy(float), table["accuracy"].to_numpy(float)))
    if not curves:
        raise CannotTellError("fewer than two tests were made while it learned")
    begin, end = max(x[0] for x, _ in curves), min(x[-1] for x, _ in curves)
    if begin >= end:
        raise CannotTellError("the runs of different seeds have no tests at the same time")
    try:
        found = measures.learning_curve(curves, criterion)
    except InvalidValueError as error:
        raise CannotTellError(str(error).rstrip(".")) from error
    table = found.table
    made, (axes,) = figure()
    for x, y in curves if len(curves) > 1 else ():
        axes.plot(x, y, color=GREY, linewidth=0.7, alpha=0.7)
    axes.plot(table["at"], table["mean"], color=BLUE, linewidth=2)
    axes.axhline(criterion, color=GREY, linewidth=0.8, linestyle="--")
    axes.set_ylim(-0.02, 1.02)
    axes.set_xlabel(unit)
    axes.set_ylabel("accuracy in the tests")
    reached, when = found["reached"], found["to criterion"]
    said = (
        f"{len(curves)} seed{'s' * (len(curves) > 1)}; {round(reached.value * len(curves))} reached"
        f" {criterion:g}"
    )
    if np.isfinite(when.value):
        said += f", at {when.value:g} {unit} (median; {when.low:g} to {when.high:g})"
    return Result(
        table, made, [f"{said}. Runs beside this one that differ only in the seed count."]
    )


def training_finding(folder: Path) -> Finding:
    """Return the learning curve of a run as a finding of its report."""
    title = "Learning curve"
    try:
        result = learning_curves(seeds_of(folder))
    except CannotTellError as error:
        return Finding("learning", title, why_not=f"{error}.")
    return Finding("learning", title, None, result.table, result.figure, tuple(result.notes))
