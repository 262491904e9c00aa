"""Play trials with a trained network, an agent, or a reference subject: as drawn, or balanced."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from neurogym_behaviour.behaviour import BALANCED, DESIGN, DRAWN, KERNEL_BINS, SHOWN, with_declared
from neurogym_behaviour.measures import evidence_over_time
from neurogym_records.steps import Steps, record_steps

from neurogym_core import (
    Choice,
    Distribution,
    InvalidValueError,
    NotSupportedError,
    Task,
    TrialRecord,
    run,
)
from neurogym_core.players import TaskView
from neurogym_core.tools import listed
from neurogym_training.runs import Run
from neurogym_training.training import Trainer

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
    split: str | None = "auto",
    imposed: Mapping[str, Any] | None = None,
    steps: bool = False,
    design: str | None = None,
) -> Played:
    """Play a task with a reference subject.

    Args:
        task: the task.
        subject: as in `neurogym_core.run`.
        n_trials: number of trials, or a few more.
        seed: of the trials and the subject.
        split: as in `neurogym_core.run`.
        imposed: conditions of all trials.
        steps: whether to record every step, for the evidence as it was shown; this is slower.
        design: as in `design_of`.

    Raises:
        UnknownNameError: an unknown condition or subject.
        NotSupportedError: `steps`, and the task does not show its evidence in two channels; or as
            `design_of`.
    """
    if steps:
        shown_units(task)

    def play(n: int, **how: Any) -> TrialRecord:
        if not steps:
            return run(task, subject, n, split=split, **how)
        del how["num_envs"]
        return with_shown(record_steps(task, subject, n, split=split, **how), task)

    chosen = design_of(task, n_trials, seed, imposed or {}, design)
    return _played(task, subject, n_trials, seed, imposed or {}, chosen, play, copies=False)


def shown_units(task: Task) -> tuple[str, tuple[int, int]]:
    """Return the period that shows the evidence, and the units for the smaller and larger choice.

    Raises:
        NotSupportedError: no channel has a unit for each of two choices, or no period is known.
    """
    actions, channels = task.actions, task.channels
    periods = task.evidence_periods or tuple(
        name for name in TaskView(task).period_names if name.startswith("stim")
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
    return TrialRecord(
        {**{n: record[n] for n in record.columns}, SHOWN: shown},
        meta=record.meta,
        events=record.event_log,
    )


def play_run(
    run: Run,
    n_trials: int,
    *,
    which: int = 0,
    seed: int = 0,
    split: str | None = "auto",
    imposed: Mapping[str, Any] | None = None,
    design: str | None = None,
) -> Played:
    """Play one of the tasks of a run with its trained network or agent.

    Args:
        run: the run.
        n_trials: number of trials, or a few more.
        which: index of the task.
        seed: seed of the trials.
        split: stream of the trials, as in `neurogym_core.run`; "auto" is "test", new ones.
        imposed: conditions of all trials.
        design: as in `design_of`.

    Raises:
        InvalidValueError: the run has no such task, or no checkpoint yet.
    """
    if not run.started:
        raise InvalidValueError(
            f"The run in {str(run.folder)!r} has no checkpoint yet. Train it: ngym train --resume."
        )
    return play_trainer(
        run.trainer(), run.experiment.trainer, n_trials, which=which, seed=seed, split=split,
        imposed=imposed, design=design,
    )  # fmt: skip


def play_trainer(
    trainer: Trainer,
    name: str,
    n_trials: int,
    *,
    which: int = 0,
    seed: int = 0,
    split: str | None = "auto",
    imposed: Mapping[str, Any] | None = None,
    design: str | None = None,
) -> Played:
    """Play one of the tasks of a trainer with its network or agent.

    Args:
        trainer: the trainer, after training or `load`.
        name: its name, such as "gru"; the subject is called after it.
        n_trials, which, seed, split, imposed: see `play_run`.
        design: as in `design_of`.

    Raises:
        InvalidValueError: the trainer has no such task.
    """
    if which >= len(trainer.tasks):
        raise InvalidValueError(
            f"which={which} was given; the run has {len(trainer.tasks)} tasks, counted from 0."
        )
    task = trainer.tasks[which]
    return _played(
        task,
        f"{name} after {trainer.done} {trainer.unit}",
        n_trials,
        seed,
        imposed or {},
        design_of(task, n_trials, seed, imposed or {}, design),
        lambda n, **how: trainer.play(
            n, which=which, split="test" if split == "auto" else split, **how
        ),
        copies=True,
    )


def _played(
    task: Task,
    subject: str,
    n_trials: int,
    seed: int,
    imposed: Mapping[str, Any],
    design: Design,
    play: Callable[..., TrialRecord],
    *,
    copies: bool,
) -> Played:
    conditions = {**design.conditions, **imposed}
    count = max([n_trials, *map(len, design.conditions.values())])
    # A trained network does not learn any more, so copies of it may share the trials. Blocks and
    # history need long sessions, so tasks that have them are played by few copies.
    many = 16 if design.conditions else max(1, min(count // LONG, 16))
    record = play(
        count, seed=seed, conditions=conditions or None, num_envs=many if copies else None
    )
    facts: dict[str, Any] = {
        "task": repr(task), "subject": subject, "trials": len(record), "seed": seed,
        "split": record.meta.get("split") or "none",
        "design": f"{design.name}: {design.reason}",
    }  # fmt: skip
    if imposed:
        facts["imposed"] = dict(imposed)
    columns, meta = dict(record), {**record.meta, DESIGN: design.name}
    if copies:  # of one network: reports must not take them for several subjects
        del columns["subject"]
        meta["subject"] = subject
    record = TrialRecord(columns, meta=meta, events=record.event_log)
    return Played(with_declared(record, task), task, subject, facts)


# ---- the design ----


@dataclass(frozen=True)
class Design:
    """Which trials are played.

    Attributes:
        name: "drawn": as the task draws them; "balanced": all combinations of the conditions,
            equally often and shuffled, so that their sequence is not that of the task.
        reason: why, as half a sentence.
        conditions: name -> (n,), of a balanced design; else {}.
    """

    name: str
    reason: str
    conditions: Mapping[str, np.ndarray] = field(default_factory=dict)


def design_of(
    task: Task,
    n_trials: int,
    seed: int = 0,
    imposed: Mapping[str, Any] | None = None,
    wanted: str | None = None,
) -> Design:
    """Return the trials to play.

    A balanced design is repeated, each time in another order, to at least `n_trials` trials.

    Args:
        task: the task.
        n_trials: number of trials.
        seed: of the order.
        imposed: conditions of all trials, which are not in the design.
        wanted: "drawn" or "balanced"; None: drawn, and balanced only where no sequence is lost and
            the task draws all values of its conditions equally often.

    Raises:
        NotSupportedError: "balanced", and the task itself decides which trial comes next, or no
            condition can be enumerated.
        InvalidValueError: "balanced" and fewer trials than combinations; or another word.
    """
    if wanted not in (None, DRAWN, BALANCED):
        raise InvalidValueError(
            f"design={wanted!r} was given. Expected {DRAWN!r} or {BALANCED!r}. Give one of them, or"
            " None: then trials are balanced only where the task draws all conditions equally"
            " often."
        )
    if wanted == DRAWN:
        return Design(DRAWN, "the trials that the task draws, as asked")
    view, supports = TaskView(task), {}
    for name, values in view.distributions.items():
        free = name not in (imposed or {})
        if free and isinstance(values, Distribution) and values.support() is not None:
            supports[name] = values
    unequal = [name for name, one in supports.items() if not _equally_likely(one)]
    size = prod(len(one.support()) for one in supports.values())
    if view.stateful or task.reads_outcomes:
        reason = "the task decides which trial comes next"
    elif not supports:
        reason = "no condition can be enumerated"
    elif wanted is None and unequal:
        reason = f"the task draws the values of {listed(unequal)} with unequal probabilities"
    elif size > n_trials:
        reason = f"{size:,} combinations of conditions need as many trials"
    else:
        rng = np.random.default_rng(seed)
        order = np.concatenate([rng.permutation(size) for _ in range(-(-n_trials // size))])
        # Imposed conditions have one value here, so that they do not multiply the combinations.
        levels = {name: [0] for name in imposed or {} if name in view.distributions}
        whole = task.factorial(**levels)
        return Design(
            BALANCED,
            f"{size} combinations of {listed(supports)}, shuffled"
            + (f"; the task draws {listed(unequal)} with other probabilities" if unequal else ""),
            {name: whole[name][order] for name in supports},
        )
    if wanted == BALANCED and supports and size > n_trials:
        raise InvalidValueError(
            f"A balanced design of {n_trials:,} trials was asked for, but {task.name} has"
            f" {size:,} combinations of conditions. Expected as many trials. Give --n-trials"
            f" {size}, or --design drawn."
        )
    if wanted == BALANCED:
        raise NotSupportedError(
            f"A balanced design of {task.name} was asked for, but {reason}. Expected conditions"
            " that are drawn independently of each other. Give --design drawn."
        )
    return Design(DRAWN, reason)


def _equally_likely(values: Distribution) -> bool:
    return not isinstance(values, Choice) or bool(np.ptp(values.probabilities) < 1e-9)
