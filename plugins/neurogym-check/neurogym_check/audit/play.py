"""Play a task in closed loop with a policy: many envs, many candidates at once."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar, Protocol

import numpy as np

from neurogym_check.audit.answers import resting, targets_of
from neurogym_core import Task, TaskVectorEnv
from neurogym_core.players import TaskView

VALUES = 8
"""Most continuous answers that are tried."""


@dataclass(frozen=True, eq=False)
class Now:
    """The current step of n envs.

    Attributes:
        observations: (n, U).
        target: (n,) or (n, D) the right actions, if the policy receives them; else zeros.
        asked: (n,) whether a slot can be answered.
        slot: (n,) index of the first slot that can be answered, 0 if none can.
        step: (n,) steps since the trial began.
        waited: (n,) steps since the window of the slot opened.
        trial: (n,) number of the trial in its session.
        fresh: (n,) whether the trial begins.
        earned: (n,) performance of the trial before.
    """

    observations: np.ndarray
    target: np.ndarray
    asked: np.ndarray
    slot: np.ndarray
    step: np.ndarray
    waited: np.ndarray
    trial: np.ndarray
    fresh: np.ndarray
    earned: np.ndarray

    def part(self, envs: slice) -> Now:
        """Return the step of some of the envs."""
        return Now(*(getattr(self, one.name)[envs] for one in fields(self)))


class Policy(Protocol):
    """Chooses actions from the current step."""

    told: ClassVar[bool]

    def __call__(self, now: Now) -> np.ndarray:
        """Return actions (n,) or (n, D)."""
        ...


class Bank:
    """The answers that policies choose from, by index: 0 is no answer.

    Attributes:
        table: (K, B) or (K, B, D) actions; slots with fewer answers have rest in their place.
        size: (K,) number of answers of each slot, with index 0.
        rests: whether the task has an action of resting; if not, index 0 is the first answer.
    """

    def __init__(self, task: Task, seed: int) -> None:
        batch = task.sample(64, seed=seed)
        self.task, self.channels = task, task.channels
        rest = resting(task, 1)
        self.rests = task.actions.continuous or task.actions.rest is not None
        units = batch.tables.slots.units
        if task.actions.continuous:
            found = targets_of(task, batch, seed)[:VALUES]
            answers = [
                np.concatenate([rest, found.astype(rest.dtype)]) for _ in units or [slice(0)]
            ]
        elif TaskView(task).hooks or not units:
            others = np.setdiff1d(np.arange(task.actions.size), rest)
            answers = [np.concatenate([rest, others]) for _ in units or [slice(0)]]
        else:
            first = rest if self.rests else rest[:0]
            answers = [np.concatenate([first, np.arange(task.actions.size)[one]]) for one in units]
        self.size = np.array([len(one) for one in answers])
        padded = [
            np.concatenate([one, np.repeat(rest, self.size.max() - len(one), axis=0)])
            for one in answers
        ]
        self.table = np.stack(padded)
        self.first = int(self.rests and self.size[0] > 1)
        self.slots = len(self.table)

    def actions(self, now: Now, index: np.ndarray, given: np.ndarray) -> np.ndarray:
        """Return the answers of these indices, (n,) or (n, K), and rest where none is given."""
        if index.ndim == 2:
            index = index[np.arange(len(index)), now.slot]
        answer = self.table[now.slot, np.minimum(index, self.size[now.slot] - 1)]
        rest = resting(self.task, len(index))
        return np.where(given.reshape(-1, *[1] * (rest.ndim - 1)), answer, rest)

    def index_of(self, actions: np.ndarray) -> np.ndarray:
        """Return the index in the first slot of actions (n,) that are single numbers."""
        equal = actions[:, None] == self.table[0][: self.size[0]]
        return np.asarray(equal.argmax(axis=1))

    def copied(self) -> list[slice]:
        """Return the channels with one unit per answer: the largest unit can be the answer."""
        wanted = self.size[0] - self.first
        if self.task.actions.continuous or wanted < 2:
            return []
        return [units for units in self.channels.values() if units.stop - units.start == wanted]


def play(task: Task, policy: Policy, envs: int, trials: int, limit: int, seed: int) -> np.ndarray:
    """Return the performance (envs, trials) of the first trials of each env; NaN if not finished.

    Args:
        task: the task.
        policy: plays all envs.
        envs: number of envs, each with its own sessions.
        trials: number of trials of each env.
        limit: most steps.
        seed: seed of the trials.
    """
    env = TaskVectorEnv(task, envs, autoreset_mode="SameStep")
    observations, _ = env.reset(seed=seed)
    nothing = np.zeros(envs)
    earned = np.full((envs, trials), np.nan)
    number, step, waited = np.zeros((3, envs), np.int64)
    last, fresh = np.zeros(envs), np.ones(envs, bool)
    previous = np.full(envs, -1)
    per_session = task.trials_per_session or trials
    for _ in range(limit):
        is_open = env.stepper.open_slots()
        asked = env.is_asked
        slot = is_open.argmax(axis=1) if is_open.shape[1] else np.zeros(envs, int)
        current = np.where(asked, slot, -1)
        waited = np.where(fresh | (current != previous), 0, waited + 1)
        target = env.target if policy.told else nothing
        trial = number % per_session
        now = Now(observations, target, asked, slot, step, waited, trial, fresh, last)
        observations, _, _, _, info = env.step(policy(now))
        step, previous = step + 1, current
        fresh = np.asarray(info["new_trial"])
        if "trial" in info:
            finished = info["trial"].finished
            last = last.copy()
            last[finished.envs] = finished.performance
            kept = finished.number < trials
            earned[finished.envs[kept], finished.number[kept]] = finished.performance[kept]
            number, step = np.where(fresh, number + 1, number), np.where(fresh, 0, step)
            if number.min() >= trials:
                break
    return earned


def complete_trials(earned: np.ndarray) -> np.ndarray:
    """Return the trials that all of these envs have finished; zeros if there are none.

    Longer trials would be missed if each env contributed as many as it has finished.
    """
    finished = earned[:, ~np.isnan(earned).any(axis=0)]
    return finished if finished.size else np.zeros((len(earned), 1))


def random_actions(task: Task, n: int, rng: np.random.Generator) -> Any:
    """Return random actions, (n,) or (n, D)."""
    if task.actions.continuous:
        return rng.uniform(-1, 1, (n, task.actions.size)).astype(np.float32)
    return rng.integers(0, task.actions.size, n)


__all__ = ["Bank", "Now", "Policy", "complete_trials", "play", "random_actions"]
