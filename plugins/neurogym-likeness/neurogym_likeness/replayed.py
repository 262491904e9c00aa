"""Likelihood of the choices in a record under a network that sees the same trials."""

from __future__ import annotations

from typing import Any

import numpy as np

from neurogym_core import InvalidValueError, NotSupportedError, Task, TrialRecord, make_vec
from neurogym_core.players import TaskView

LEAST = 1e-12
"""Smallest probability of a choice."""


def choice_log_likelihood(
    subject: Any, task: Task, record: TrialRecord, *, repeats: int = 10, seed: int = 0
) -> np.ndarray:
    """Return the natural log of the probability of each trial's choice, (n,); NaN: no choice.

    The subject sees trials with the conditions and, if known, the durations of the record. It is
    made to rest until the reaction time of the record, or without one to the last step of the
    response window; the probability is that of the choice among all choices on that step. The noise
    that the animal saw is unknown, so that probabilities are means over `repeats` other noises.

    Args:
        subject: a network with a method ``probabilities(env, observations)``, which returns the
            probability of each action, (num_envs, actions), and keeps its state as a call does:
            `neurogym_torch.NetworkSubject`.
        task: the task, with a rest action and one answer per trial.
        record: the trials, with the task's conditions as columns.
        repeats: number of noises.
        seed: of the noise.

    Raises:
        NotSupportedError: the subject has no probabilities, or keeps its state over trials; or the
            task has continuous or no rest actions.
        InvalidValueError: the record lacks a condition of the task, or a choice is none of its.
    """
    if not hasattr(subject, "probabilities") or getattr(subject, "carries_state", True):
        raise NotSupportedError(
            f"{type(subject).__name__} was given. Expected a subject with `probabilities` whose"
            " state ends with a trial, such as a NetworkSubject. Give such a network."
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
    choices = record.codes("choice")
    if (choices >= task.actions.size - 1).any():
        raise InvalidValueError(
            f"The record has choice {int(choices.max())}. Expected 0 to {task.actions.size - 2},"
            f" the choices of {task.name}. Recode the choices."
        )
    names += [name for name in record if name.startswith("duration.")]
    conditions = {name: record[name] for name in names}
    found = [
        _probabilities(subject, task, conditions, record, choices, seed + k) for k in range(repeats)
    ]
    logs = np.log(np.maximum(np.mean(found, axis=0), LEAST))
    return np.where(choices >= 0, logs, np.nan)


def _probabilities(
    subject: Any,
    task: Task,
    conditions: dict[str, np.ndarray],
    record: TrialRecord,
    choices: np.ndarray,
    seed: int,
) -> np.ndarray:
    """Return the probability of each trial's choice under one noise, (n,)."""
    n = len(choices)
    times = np.full(n, np.nan)
    if "reaction_time" in record:
        times = record["reaction_time"].astype(float)
    env = make_vec(task, num_envs=n)
    observations, _ = env.reset(seed=seed, options={"conditions": conditions})
    subject.begin(env)
    spent, found, answered = np.zeros(n), np.full(n, np.nan), np.zeros(n, bool)
    while not (done := env.trial_number > 0).all():
        p = subject.probabilities(env, observations)
        asked = env.is_asked & ~done & ~answered
        spent[asked] += task.dt
        now = asked & ((spent >= times) | ~env.can_wait) & (choices >= 0)
        rows = np.flatnonzero(now)
        found[rows] = p[rows, 1 + choices[rows]] / np.maximum(p[rows, 1:].sum(axis=1), 1e-300)
        answered |= now
        observations, *_ = env.step(np.where(now, 1 + choices, 0))
    return found
