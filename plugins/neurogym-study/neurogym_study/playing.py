"""Play a factorial design with a trained network, an agent, or a reference subject."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from neurogym_core import Task, TrialRecord, run
from neurogym_core.errors import InvalidValueError, NotSupportedError
from neurogym_core.subjects import AUTO
from neurogym_core.tasks.drawing import stateful
from neurogym_core.tasks.state import period_names_of
from neurogym_study.behaviour import KERNEL_BINS, SHOWN, with_declared
from neurogym_study.measures import evidence_over_time
from neurogym_study.runs import Run
from neurogym_study.steps import Steps, record_steps
from neurogym_study.training import Trainer

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
    split: str | None = AUTO,
    imposed: Mapping[str, Any] | None = None,
    steps: bool = False,
) -> Played:
    """Play a task with a reference subject; `design_of` gives the trials.

    Args:
        task: the task.
        subject: as in `neurogym_core.run`.
        n_trials: number of trials, or a few more.
        seed: of the trials and the subject.
        split: as in `neurogym_core.run`.
        imposed: conditions of all trials.
        steps: whether to record every step, for the evidence as it was shown; this is slower.

    Raises:
        UnknownNameError: an unknown condition or subject.
        NotSupportedError: `steps`, and the task does not show its evidence in two channels.
    """
    if steps:
        shown_units(task)

    def play(n: int, **how: Any) -> TrialRecord:
        if not steps:
            return run(task, subject, n, split=split, **how)
        del how["num_envs"]
        return with_shown(record_steps(task, subject, n, split=split, **how), task)

    return _played(task, subject, n_trials, seed, imposed or {}, play, copies=False)


def shown_units(task: Task) -> tuple[str, tuple[int, int]]:
    """Return the period that shows the evidence, and the units for the smaller and larger choice.

    Raises:
        NotSupportedError: no channel has a unit for each of two choices, or no period is known.
    """
    actions, channels = task.actions, task.channels
    periods = task.evidence_periods or tuple(
        name for name in period_names_of(task) if name.startswith("stim")
    )
    groups = [name for name in actions if name != actions.rest_name]
    for group in groups if not actions.continuous else ():
        choices = actions.units(group)
        for name in channels:
            units = channels.units(name)
            if len(choices) == len(units) == 2 and periods and name != "fixation":
                first = channels[name].start
                order = [units.index(one) if one in units else k for k, one in enumerate(choices)]
                return periods[0], (first + order[0], first + order[1])
    raise NotSupportedError(
        f"{task.name} shows no evidence in two units of a channel, one for each of two choices."
        " Expected that for a psychophysical kernel. Leave out steps."
    )


def with_shown(steps: Steps, task: Task) -> TrialRecord:
    """Return the record of steps with the evidence in each part of the stimulus, (n, parts).

    Trials that ended before the median length of the stimulus have NaN.
    """
    period, units = shown_units(task)
    inside = np.bincount(steps.trial[steps.period == period], minlength=len(steps.record))
    length = int(np.median(inside[inside > 0])) if inside.any() else 0
    record = steps.record
    if not length:
        return record
    shown = evidence_over_time(steps, units, period, min(KERNEL_BINS, length))
    return TrialRecord({**{n: record[n] for n in record.columns}, SHOWN: shown}, meta=record.meta)


def play_run(
    run: Run,
    n_trials: int,
    *,
    which: int = 0,
    seed: int = 0,
    split: str | None = AUTO,
    imposed: Mapping[str, Any] | None = None,
) -> Played:
    """Play one of the tasks of a run with its trained network or agent.

    Args:
        run: the run.
        n_trials: number of trials, or a few more.
        which: index of the task.
        seed: seed of the trials.
        split: stream of the trials, as in `neurogym_core.run`; "auto" is "test", new ones.
        imposed: conditions of all trials.

    Raises:
        InvalidValueError: the run has no such task, or no checkpoint yet.
    """
    if not run.started:
        raise InvalidValueError(
            f"The run in {str(run.folder)!r} has no checkpoint yet. Train it: ngym train --resume."
        )
    return play_trainer(
        run.trainer(), run.experiment.trainer, n_trials, which=which, seed=seed, split=split,
        imposed=imposed,
    )  # fmt: skip


def play_trainer(
    trainer: Trainer,
    name: str,
    n_trials: int,
    *,
    which: int = 0,
    seed: int = 0,
    split: str | None = AUTO,
    imposed: Mapping[str, Any] | None = None,
) -> Played:
    """Play one of the tasks of a trainer with its network or agent.

    Args:
        trainer: the trainer, after training or `load`.
        name: its name, such as "gru"; the subject is called after it.
        n_trials, which, seed, split, imposed: see `play_run`.

    Raises:
        InvalidValueError: the trainer has no such task.
    """
    if which >= len(trainer.tasks):
        raise InvalidValueError(
            f"which={which} was given; the run has {len(trainer.tasks)} tasks, counted from 0."
        )
    return _played(
        trainer.tasks[which],
        f"{name} after {trainer.done} {trainer.unit}",
        n_trials,
        seed,
        imposed or {},
        lambda n, **how: trainer.play(
            n, which=which, split="test" if split == AUTO else split, **how
        ),
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
    facts: dict[str, Any] = {
        "task": repr(task), "subject": subject, "trials": trials, "seed": seed,
        "split": record.meta.get("split") or "none",
    }  # fmt: skip
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
