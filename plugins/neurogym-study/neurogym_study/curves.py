"""Learning curves of trained networks and agents: the tests of a run, and of runs beside it that
differ only in the seed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from neurogym_core.errors import InvalidValueError, NeurogymError
from neurogym_study import measures
from neurogym_study.behaviour import CannotTellError
from neurogym_study.figures import learning_curve_figure
from neurogym_study.findings import Finding, Result
from neurogym_study.runs import Run
from neurogym_study.training import CURVE_FILE

CRITERION = 0.8
"""Accuracy whose first test is reported."""


def seeds_of(folder: Path) -> list[Path]:
    """Return the folders of a run, and of the runs beside it that differ only in the seed.

    Copies of a run count once.
    """
    run, found = Run.open(folder), {}
    own = folder.resolve()
    for other in (own, *sorted(own.parent.iterdir())):
        try:
            known = Run.open(other) if other.is_dir() else None
        except NeurogymError:
            continue  # no run
        same = known is not None and _but_seed(known) == _but_seed(run)
        if same and (other / CURVE_FILE).is_file():
            found.setdefault(known.experiment.seed, other)
    return sorted(found.values())


def _but_seed(run: Run) -> dict[str, Any]:
    return {name: value for name, value in run.experiment.to_plain().items() if name != "seed"}


def learning_curves(folders: list[Path], criterion: float = CRITERION) -> Result:
    """Accuracy in the tests over the course of learning: each seed, mean and spread.

    Raises:
        CannotTellError: fewer than two tests were made, or the runs count updates and steps.
    """
    curves, units = {}, set()
    for folder in folders:
        try:
            table = pd.read_csv(folder / CURVE_FILE)
        except (FileNotFoundError, pd.errors.EmptyDataError):
            continue  # it was stopped before its first test
        if len(table) > 1:
            unit = str(table.columns[0])
            units.add(unit)
            curves[folder.name] = (table[unit].to_numpy(float), table["accuracy"].to_numpy(float))
    if not curves:
        raise CannotTellError("fewer than two tests were made while it learned")
    if len(units) > 1:
        raise CannotTellError(f"the runs count {' and '.join(sorted(units))}")
    unit = units.pop()
    begin, end = max(x[0] for x, _ in curves.values()), min(x[-1] for x, _ in curves.values())
    if begin >= end:
        raise CannotTellError("the runs of different seeds have no tests at the same time")
    try:
        found = measures.learning_curve(list(curves.values()), criterion)
    except InvalidValueError as error:
        raise CannotTellError(str(error).rstrip(".")) from error
    made = learning_curve_figure(curves, xlabel=unit, criterion=criterion)
    reached, when = found["reached"], found["to criterion"]
    said = (
        f"{len(curves)} seed{'s' * (len(curves) > 1)}; {round(reached.value * len(curves))} reached"
        f" {criterion:g}"
    )
    if np.isfinite(when.value):
        said += f", at {when.value:g} {unit} (median; {when.low:g} to {when.high:g})"
    return Result(found.table, made, [f"{said}."])


def training_finding(folders: list[Path]) -> Finding:
    """Return the learning curves of runs, such as those of `seeds_of`, for a report."""
    title = "Learning curve" if len(folders) == 1 else "Learning curves"
    criterion = Run.open(folders[0]).experiment.criterion
    try:
        result = learning_curves(folders, CRITERION if criterion is None else criterion)
    except CannotTellError as error:
        return Finding("learning", title, why_not=f"{error}.")
    return Finding("learning", title, None, result.table, result.figure, tuple(result.notes))
