"""Learning curves of trained networks and agents: the tests of a run, and of runs beside it that
differ only in the seed.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from neurogym_behaviour import measures
from neurogym_behaviour.behaviour import CannotTellError
from neurogym_behaviour.figures import learning_curve_figure, task_curves_figure
from neurogym_behaviour.findings import Finding, Result

from neurogym_core import InvalidValueError, NeurogymError
from neurogym_core.tools import find_task, is_file_reference
from neurogym_training.experiment import Experiment
from neurogym_training.runs import Run
from neurogym_training.training import CURVE_FILE

OF_TASK = "accuracy of "
"""Beginning of the columns with the accuracy of one of several tasks."""
OTHERS = {"answered": "answered", "aborts": "aborts per trial"}
"""Further columns of the curve that are drawn, and their labels."""


def seeds_of(folder: Path) -> list[Path]:
    """Return the folders of a run, and of the runs beside it that differ only in the seed.

    Copies of a run count once.
    """
    run, found = Run.open(folder), {}
    own = run.folder.resolve()
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


def learning_curves(
    folders: list[Path],
    criterion: float | None = None,
    chance: float | None = None,
    ideal: float | None = None,
) -> Result:
    """Accuracy in the tests over the course of learning: each seed, mean and spread.

    The means over seeds of the fraction of answered trials, and of the aborts per trial, stand
    beside it.

    Args:
        folders: the folders of the runs.
        criterion: accuracy whose first test is reported; None: the last test is.
        chance: chance level.
        ideal: the best possible accuracy.

    Raises:
        CannotTellError: fewer than two tests were made, or the runs count updates and steps.
    """
    curves, units, tables = {}, set(), []
    for folder in folders:
        try:
            table = pd.read_csv(folder / CURVE_FILE)
        except (FileNotFoundError, pd.errors.EmptyDataError):
            continue  # it was stopped before its first test
        if len(table) > 1:
            unit = str(table.columns[0])
            units.add(unit)
            tables.append(table)
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
        goal = np.inf if criterion is None else criterion
        found = measures.learning_curve(list(curves.values()), goal)
    except InvalidValueError as error:
        raise CannotTellError(str(error).rstrip(".")) from error
    whole, at = found.table, found.table["at"]
    for name in OTHERS:
        if all(name in table for table in tables):
            each = [np.interp(at, table[unit], table[name].to_numpy(float)) for table in tables]
            whole[name] = np.mean(each, axis=0)
    others = {label: (at, whole[name]) for name, label in OTHERS.items() if name in whole}
    made = learning_curve_figure(
        curves, xlabel=unit, criterion=criterion, chance=chance, ideal=ideal, others=others
    )
    said = f"{len(curves)} seed{'s' * (len(curves) > 1)}; "
    if criterion is None:
        last = {"mean accuracy": "mean", **{label: name for name, label in OTHERS.items()}}
        values = [f"{label} {whole[name].iloc[-1]:.3g}" for label, name in last.items()
                  if name in whole]  # fmt: skip
        return Result(whole, made, [f"{said}{', '.join(values)} at {at.iloc[-1]:g} {unit}."])
    reached, when = found["reached"], found["to criterion"]
    said += f"{round(reached.value * len(curves))} reached {criterion:g}"
    if np.isfinite(when.value):
        said += f", at {when.value:g} {unit} (median; {when.low:g} to {when.high:g})"
    return Result(whole, made, [f"{said}."])


def training_finding(folders: list[Path]) -> Finding:
    """Return the learning curves of runs, such as those of `seeds_of`, for a report."""
    title = "Learning curve" if len(folders) == 1 else "Learning curves"
    experiment = Run.open(folders[0]).experiment
    try:
        result = learning_curves(folders, experiment.criterion, *_levels(experiment))
    except CannotTellError as error:
        return Finding("learning", title, why_not=f"{error}.")
    return Finding("learning", title, None, result.table, result.figure, tuple(result.notes))


def tasks_finding(folders: list[Path]) -> Finding | None:
    """Return the learning curve of each task, for runs of several tasks or in stages; else None.

    Chance and ideal are those of tasks with default parameters. The table has the accuracy of each
    task in the last test, its mean, minimum and maximum over seeds.
    """
    curves: dict[str, dict[str, tuple[Any, Any]]] = {}
    begins: set[float] = set()
    unit = "updates"
    for folder in folders:
        try:
            table = pd.read_csv(folder / CURVE_FILE)
        except (FileNotFoundError, pd.errors.EmptyDataError):
            continue
        unit = str(table.columns[0])
        if "stage" in table:
            begins |= set(table[unit][table["stage"].diff() > 0])
        for name in table.columns:
            if name.startswith(OF_TASK):
                pair = table[unit].to_numpy(float), table[name].to_numpy(float)
                curves.setdefault(name.removeprefix(OF_TASK), {})[folder.name] = pair
        if begins and not any(name.startswith(OF_TASK) for name in table.columns):
            pairs = {"the task": "accuracy", "its stage": "stage accuracy"}
            for label, name in pairs.items():
                known = table[table[name].notna()]
                if len(known):
                    pair = known[unit].to_numpy(float), known[name].to_numpy(float)
                    curves.setdefault(label, {})[folder.name] = pair
    if not curves:
        return None
    experiment = Run.open(folders[0]).experiment
    levels = {}
    for number, task in enumerate(experiment.tasks):
        one = replace(experiment, tasks=(task,))
        for label in curves:
            if label.partition(" ")[0] == str(number):
                levels[label] = _levels(one)
    last = {label: [y[-1] for _, y in seeds.values()] for label, seeds in curves.items()}
    rows = [
        {"task": label, "seeds": len(values), "mean": np.mean(values), "lowest": min(values),
         "highest": max(values)}
        for label, values in last.items()
    ]  # fmt: skip
    drawn = task_curves_figure(curves, xlabel=unit, levels=levels, stages=sorted(begins))
    worst = min(rows, key=lambda row: row["mean"])
    note = f"Least in the last test: {worst['task']}, {worst['mean']:.3g}."
    return Finding(
        "learning-tasks", "Learning curves of each task", None, pd.DataFrame(rows), drawn, (note,)
    )


def _levels(experiment: Experiment) -> tuple[float | None, float | None]:
    """Return chance and ideal of the only task, if its settings are the defaults."""
    task, *others = experiment.tasks
    changed = len(task) > 1 or experiment.parameters or experiment.wrap
    if others or changed or is_file_reference(task["task"]):
        return None, None
    known = find_task(task["task"])
    return known.chance, known.ideal["value"] if known.ideal else None
