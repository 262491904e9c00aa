"""The learning curves of training runs, as a part of a report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from neurogym_study.figures import learning_curve_figure
from neurogym_study.findings import Finding
from neurogym_study.training import CURVE_FILE


def learning_finding(runs: Sequence[Path], criterion: float | None = None) -> Finding:
    """Return the learning curves of runs with one task and trainer, in a table and a figure.

    Args:
        runs: folders that ``ngym train --out`` wrote, e.g. one per seed.
        criterion: mean performance at which training was to stop.
    """
    tables = {}
    for run in runs:
        try:
            table = pd.read_csv(run / CURVE_FILE)
        except (FileNotFoundError, pd.errors.EmptyDataError):
            continue  # it was stopped before its first test
        if len(table):
            tables[run.name] = table
    title = "Learning curve" if len(runs) == 1 else "Learning curves"
    units = {str(table.columns[0]) for table in tables.values()}
    if len(units) != 1:
        why = f"the runs count {' and '.join(sorted(units))}." if units else "no test was written."
        return Finding("learning", title, why_not=why)
    unit = units.pop()
    curves = {name: (table[unit], table["accuracy"]) for name, table in tables.items()}
    figure = learning_curve_figure(curves, xlabel=unit, criterion=criterion)
    if len(tables) > 1:
        whole = pd.concat([table.assign(run=name) for name, table in tables.items()])
    else:
        (whole,) = tables.values()
    last = [table["accuracy"].iloc[-1] for table in tables.values()]
    note = f"Mean performance at the end: {', '.join(f'{value:.3f}' for value in last)}."
    return Finding("learning", title, table=whole, figure=figure, notes=(note,))
