"""Likelihood of the choices in a record under a network or subject that sees the same trials."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from neurogym_behaviour.behaviour import Behaviour, CannotTellError

from neurogym_core import InvalidValueError, NotSupportedError, Task, TrialRecord, make_vec, run
from neurogym_core.players import TaskView
from neurogym_core.tools import Progress
from neurogym_likeness.blind import Seen, seen_task, seen_values
from neurogym_likeness.models import LEAST, Model, Parameter, check_agreement

PLAYS = 1000
"""Plays of each kind of trials: those with the same conditions, durations and time."""
REPEATS = 100
"""Largest number of noises with which each trial is played."""
SAMPLED, FACTOR = 500, 8.0
"""Trials of the task whose conditions are compared with those of a record, and the largest factor
between them in one unit."""


def choice_probabilities(
    subject: Any, task: Task, record: TrialRecord, *, repeats: int | None = None, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Return the probability of each choice in each trial, and the right choices.

    The subject sees trials with the conditions and, if known, the durations of the record, each
    with `repeats` noises: the noise that the animal saw is unknown. It is made to rest until the
    reaction time of the record, or without one to the last step of the response window, and its
    choice on that step counts. Trials with the same conditions and time are counted together, from
    half a choice each.

    Args:
        subject: a network, agent or subject whose state ends with a trial.
        task: the task, with a rest action and one answer per trial.
        record: the trials, with the task's conditions as columns.
        repeats: number of noises; None: those that give each kind of trials `PLAYS` plays, at most
            `REPEATS`.
        seed: of the noise.

    Returns:
        The probabilities, (n, choices), and the right choice of each trial, int64 (n,).

    Raises:
        NotSupportedError: the subject keeps its state over trials, or the task has continuous or no
            rest actions.
        InvalidValueError: the record lacks a condition of the task.
    """
    if getattr(subject, "carries_state", True):
        raise NotSupportedError(
            f"{type(subject).__name__} was given. Expected a subject whose state ends with a trial"
            " (`carries_state = False`), such as a NetworkSubject. Give such a subject."
        )
    if task.actions.continuous or task.actions.rest != 0:
        raise NotSupportedError(
            f"{task.name} was given. Expected a task with a rest action, and others that are"
            " choices. Choose another task."
        )
    names = [name for name in TaskView(task).distributions if name in record]
    missing = [name for name in TaskView(task).distributions if name not in record]
    if missing:
        raise InvalidValueError(
            f"The record has no column {', '.join(missing)}. Expected all conditions of"
            f" {task.name}. Name the columns that have them (--map NAME=COLUMN)."
        )
    _check_units(task, record, names)
    names += [name for name in record if name.startswith("duration.")]
    conditions = {name: record[name] for name in names}
    times = np.full(len(record), np.nan)
    if "reaction_time" in record:
        times = record["reaction_time"].astype(float)
    kinds = _kinds([*conditions.values(), times])
    if repeats is None:
        repeats = min(REPEATS, -(-PLAYS // int(np.bincount(kinds).min())))
    counts = np.zeros((kinds.max() + 1, task.actions.size - 1))
    with Progress("noises", repeats) as bar:
        for k in range(repeats):
            bar.show(k)
            chosen, right = _played(subject, task, conditions, times, seed + k)
            rows = np.flatnonzero(chosen >= 0)
            np.add.at(counts, (kinds[rows], chosen[rows]), 1)
    counts += 0.5
    return (counts / counts.sum(axis=1, keepdims=True))[kinds], right


def _check_units(task: Task, record: TrialRecord, names: list[str]) -> None:
    """Raise an error if a condition of the record is in another unit than that of the task."""
    drawn = task.sample(SAMPLED, seed=0).conditions
    for name in names:
        ours, theirs = (np.asarray(one[name]) for one in (drawn, record))
        if ours.dtype.kind not in "iuf" or theirs.dtype.kind not in "iuf":
            continue
        most, given = (float(np.nanmax(np.abs(one), initial=0.0)) for one in (ours, theirs))
        if most and given and not 1 / FACTOR < given / most < FACTOR:
            raise InvalidValueError(
                f"The condition {name!r} of the record is up to {given:g}, and that of {task.name}"
                f" up to {most:g}. Expected the same unit. Convert it, as in --map"
                f" {name}='{most / given:.3g} * {name}'."
            )


def _kinds(columns: list[np.ndarray]) -> np.ndarray:
    """Return the number of each trial's combination of values, (n,)."""
    kinds = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        flat = np.asarray(column).reshape(len(kinds), -1)
        for part in flat.T:
            _, place = np.unique(part, return_inverse=True)
            _, kinds = np.unique(kinds * (place.max() + 1) + place, return_inverse=True)
    return kinds


def choices_of(task: Task, record: TrialRecord) -> np.ndarray:
    """Return the choices of a record as the task counts them, int64 (n,); -1: no answer.

    Raises:
        InvalidValueError: a choice is none of the task's.
    """
    names = run(task, "rest", 1, seed=0).meta.get("names", {}).get("choice", ())
    values = record["choice"]
    if values.dtype.kind == "U" and names:
        known = dict(zip(names, range(len(names)), strict=True))
        found = np.array([known.get(str(one), -2) for one in values])
        found[np.isin(values, ["", "none"])] = -1
    else:
        found = record.codes("choice")
    wrong = (found >= task.actions.size - 1) | (found < -1)
    if wrong.any():
        raise InvalidValueError(
            f"The record has the choice {str(values[wrong][0])!r}. Expected those of {task.name},"
            f" {', '.join(names)}, or 0 to {task.actions.size - 2}. Recode the choices."
        )
    return found


def with_choices(record: TrialRecord, task: Task) -> TrialRecord:
    """Return the record with choices as the task counts them, whatever names a file has.

    Raises:
        InvalidValueError: a choice is none of the task's.
    """
    return TrialRecord(
        {**record, "choice": choices_of(task, record)}, meta=record.meta, events=record.event_log
    )


def choice_log_likelihood(
    subject: Any, task: Task, record: TrialRecord, *, repeats: int | None = None, seed: int = 0
) -> np.ndarray:
    """Return the natural log of the probability of each trial's choice, (n,); NaN: no choice.

    The arguments and errors are those of `choice_probabilities`.
    """
    choices = choices_of(task, record)
    found, _ = choice_probabilities(subject, task, record, repeats=repeats, seed=seed)
    chosen = found[np.arange(len(choices)), np.maximum(choices, 0)]
    return np.where(choices >= 0, np.log(np.maximum(chosen, LEAST)), np.nan)


def network_model(
    name: str, subject: Any, task: Task, behaviour: Behaviour, *, seed: int = 0
) -> Model:
    """Return a trained network as a model of the choices in a record; its parameter is the lapse.

    A lapse is a choice at random: networks are surer than animals, and a single error that a
    network excludes would decide a likelihood without lapses. The network's own numbers do not
    change, and its probabilities are computed once.

    Args:
        name: of the model.
        subject, task: as in `choice_probabilities`.
        behaviour: the trials.
        seed: of the noise.

    Raises:
        NotSupportedError, InvalidValueError: those of `choice_probabilities`.
        CannotTellError: a trial has several answers, or choices and outcomes contradict each other.
    """
    if behaviour.slot is not None:
        raise CannotTellError("a network has a likelihood in tasks of one choice")
    p, right = choice_probabilities(subject, task, behaviour.record, seed=seed)

    choices = choices_of(task, behaviour.record)
    check_agreement(choices, right, behaviour.record["outcome"])

    def mixed(given: Mapping[str, float]) -> np.ndarray:
        return (1 - given["lapse"]) * p + given["lapse"] / p.shape[1]

    def likelihood(one: Behaviour, given: Mapping[str, float]) -> np.ndarray:
        choices = choices_of(task, one.record)
        chosen = mixed(given)[np.arange(len(choices)), np.maximum(choices, 0)]
        return np.where(choices >= 0, np.log(np.maximum(chosen, LEAST)), np.nan)

    def simulate(one: Behaviour, given: Mapping[str, float], rng: np.random.Generator) -> Behaviour:
        drawn = (rng.random((len(p), 1)) > np.cumsum(mixed(given), axis=1)).sum(axis=1)
        drawn = np.minimum(drawn, p.shape[1] - 1)
        record, rested = one.record, choices_of(task, one.record) < 0
        columns = {key: record[key] for key in record.columns}
        columns["choice"] = np.where(rested, -1, drawn)
        said = np.where(drawn == right, "correct", "error")
        columns["outcome"] = np.where(rested, record["outcome"], said)
        return Behaviour(TrialRecord(columns, meta=record.meta), one.roles)

    return Model(name, f"The trained network, and choices at random in lapses ({task.name})",
                 {"lapse": Parameter(1e-4, 1.0, 0.01, 0.2)}, likelihood, simulate)  # fmt: skip


def _played(
    subject: Any, task: Task, conditions: dict[str, np.ndarray], times: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the choice under one noise, int64 (n,), -1 without one, and the right ones."""
    n = len(times)
    env = make_vec(task, num_envs=n)
    observations, _ = env.reset(seed=seed, options={"conditions": conditions})
    seen = Seen(n, seen_task(task))  # a subject that reads the target would have its likelihood
    seen.show(seen_values(env))
    if hasattr(subject, "begin"):
        subject.begin(seen)
    spent, answered = np.zeros(n), np.zeros(n, bool)
    chosen, right = np.full(n, -1), np.full(n, -1)
    while not (done := env.trial_number > 0).all():
        seen.show(seen_values(env))
        actions = np.asarray(subject(seen, observations))
        asked = env.is_asked & ~done & ~answered
        spent[asked] += task.dt
        now = asked & ((spent >= times) | ~env.can_wait)
        chosen[now], right[now] = actions[now] - 1, env.target[now] - 1
        answered |= now
        observations, *_ = env.step(np.where(now, 1, 0))
    return chosen, right
