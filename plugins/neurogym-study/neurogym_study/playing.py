"""Play a factorial design with a trained network, an agent, or a reference subject."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from neurogym_core import Task, TrialRecord, run
from neurogym_core.errors import InvalidValueError, NotSupportedError
from neurogym_core.tasks.drawing import stateful
from neurogym_study.behaviour import with_declared
from neurogym_study.runs import Run

LONG = 500
"""Minimum number of trials of each copy if the task decides which trial comes next."""


@dataclass(frozen=True)
class Played:
    """A trial record with its task and its subject.

    Attributes:
        task: the task; None for trials of a file.
        facts: facts for the report, name -> text.
    """

    record: TrialRecord
    task: Task | None
    subject: str
    facts: Mapping[str, Any] = field(default_factory=dict)


def play_task(
    task: Task,
    subject: str,
    n_trials: int,
    *,
    seed: int = 0,
    imposed: Mapping[str, Any] | None = None,
) -> Played:
    """Play a task with a reference subject; `design_of` gives the trials.

    Raises:
        UnknownNameError: an unknown condition or subject.
    """
    return _played(
        task, subject, n_trials, seed, imposed or {}, lambda n, **how: run(task, subject, n, **how),
        copies=False,
    )  # fmt: skip


def play_run(
    run: Run,
    n_trials: int,
    *,
    which: int = 0,
    seed: int = 0,
    imposed: Mapping[str, Any] | None = None,
) -> Played:
    """Play one of the tasks of a run with its trained network or agent.

    Raises:
        InvalidValueError: the run has no such task, or no checkpoint yet.
    """
    if not run.started:
        raise InvalidValueError(
            f"The run in {str(run.folder)!r} has no checkpoint yet. Train it: ngym train --resume."
        )
    trainer = run.trainer()
    if which >= len(trainer.tasks):
        raise InvalidValueError(
            f"which={which} was given; the run has {len(trainer.tasks)} tasks, counted from 0."
        )
    name = f"{run.experiment.trainer} after {trainer.done} {trainer.unit}"
    return _played(
        trainer.tasks[which],
        name,
        n_trials,
        seed,
        imposed or {},
        lambda n, **how: trainer.play(n, which=which, **how),
        copies=True,
    )


def _played(
    task: Task,
    subject: str,
    n_trials: int,
    seed: int,
    imposed: Mapping[str, Any],
    play: Callable[..., TrialRecord],
    *,
    copies: bool,
) -> Played:
    design = design_of(task, n_trials, seed, imposed)
    conditions = {**(design or {}), **imposed}
    count = n_trials if design is None else len(next(iter(design.values())))
    # A trained network does not learn any more, so copies of it may share the trials. Blocks and
    # history need long sessions, so tasks that have them are played by few copies.
    many = 16 if design is not None else max(1, min(count // LONG, 16))
    record = play(
        count, seed=seed, conditions=conditions or None, num_envs=many if copies else None
    )
    if copies:  # of one network: reports must not take them for several subjects
        columns = {name: record[name] for name in record.columns if name != "subject"}
        record = TrialRecord(columns, meta={**record.meta, "subject": subject})
    trials = f"{len(record)}, " + (
        "as the task draws them" if design is None else "a shuffled factorial design"
    )
    facts: dict[str, Any] = {"task": repr(task), "subject": subject, "trials": trials, "seed": seed}
    if imposed:
        facts["imposed"] = dict(imposed)
    return Played(with_declared(record, task), task, subject, facts)


def design_of(
    task: Task, n_trials: int, seed: int, imposed: Mapping[str, Any]
) -> dict[str, np.ndarray] | None:
    """Return a shuffled factorial design of the conditions, with at least `n_trials` trials.

    The design is repeated, each time in another order. None if the task itself decides which trial
    comes next, if no condition can be enumerated, or if there are more combinations than
    `n_trials`.
    """
    if stateful(task) or task.reads_outcomes:
        return None
    try:
        one = task.factorial(**{name: [value] for name, value in imposed.items()})
    except NotSupportedError:
        return None
    size = len(next(iter(one.values())))
    if size > n_trials:
        return None
    rng = np.random.default_rng(seed)
    order = np.concatenate([rng.permutation(size) for _ in range(-(-n_trials // size))])
    return {name: values[order] for name, values in one.items() if name not in imposed}
