"""`record_steps`: play trials, and record every step of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from neurogym_core import TrialRecord, make_vec
from neurogym_core.errors import InvalidValueError
from neurogym_core.play.run import Played, facts_of, with_facts
from neurogym_core.subjects import player_of
from neurogym_core.tasks.state import period_names_of


@dataclass(frozen=True)
class Steps:
    """Every step of the trials of one subject, in one env.

    Attributes:
        record: the trials, with further columns in ms since the session's begin: ``start``,
            ``stop``, for tasks with one answer slot ``answer_time`` (NaN without an answer), and
            ``onset.<period>`` and ``offset.<period>`` as played (NaN for periods that were not
            visited; of a period that was visited several times, first onset and last offset).
        trial: (T,) row of the record of each step.
        time: (T,) ms since the session's begin.
        period: (T,) name of the period.
        observations: (T, k) as the subject saw them.
        actions: (T,) or (T, d).
        rewards: (T,).
        activity: (T, units), for subjects with an attribute ``activity`` of shape (1, units); None
            for others.
        channels: channel -> columns of the observations.
        dt: ms.
    """

    record: TrialRecord
    trial: np.ndarray
    time: np.ndarray
    period: np.ndarray
    observations: np.ndarray
    actions: np.ndarray
    rewards: np.ndarray
    activity: np.ndarray | None
    channels: Mapping[str, Any]
    dt: float

    def of(self, row: int) -> slice:
        """Return the steps of one trial, a slice into the arrays of steps."""
        first, last = np.searchsorted(self.trial, [row, row + 1])
        return slice(int(first), int(last))


def record_steps(
    task: Any,
    subject: Any,
    n_trials: int = 100,
    *,
    seed: int | None = None,
    conditions: Mapping[str, Any] | None = None,
    progress: Callable[[int], None] | None = None,
    wrap: Any = (),
    **params: Any,
) -> Steps:
    """Play `n_trials` trials in one env, and return every step of them.

    Args:
        task, subject, seed, conditions, progress, wrap, params: as in `neurogym_core.run`.
        n_trials: number of trials.

    Raises:
        InvalidValueError: `n_trials` is less than 1; or as `run`.
    """
    if n_trials < 1:
        raise InvalidValueError(
            f"record_steps() was given n_trials={n_trials!r}. Expected at least 1. Give a number of"
            " trials."
        )
    player = player_of(subject, seed=0 if seed is None else seed + 1)
    env: Any = make_vec(task, 1, wrap=wrap, autoreset_mode="SameStep", seed=seed, **params)
    observations, _ = env.reset(
        seed=seed, options={"conditions": conditions} if conditions else None
    )
    bare, played = env.unwrapped, Played(np.array([n_trials]))
    if hasattr(player, "begin"):
        player.begin(bare)
    rows: dict[str, list[Any]] = {
        name: [] for name in ("period", "seen", "action", "reward", "asked")
    }
    activity: list[np.ndarray] = []
    ends: list[int] = []
    while played.count < n_trials:
        rows["period"].append(str(bare.period[0]))
        rows["asked"].append(bool(bare.is_asked[0]))
        rows["seen"].append(np.array(observations[0], copy=True))
        action = player(bare, observations)
        observations, reward, _, _, info = env.step(action)
        rows["action"].append(np.array(np.asarray(action)[0], copy=True))
        rows["reward"].append(float(reward[0]))
        if getattr(player, "activity", None) is not None:
            activity.append(np.array(player.activity[0], copy=True))
        played.add(info)
        if "trial" in info:
            ends.append(len(rows["reward"]))
            if progress is not None:
                progress(played.count)
    facts = facts_of(bare.task, task, subject, seed)
    starts = np.array([0, *ends[:-1]])
    trial = np.repeat(np.arange(len(ends)), np.diff([0, *ends]))
    period, dt = np.array(rows["period"]), float(bare.task.dt)
    record = with_facts(played.record(), facts)
    times = _times(starts, np.array(ends), trial, period, period_names_of(bare.task), dt)
    times |= _answer_times(record, trial, np.array(rows["asked"]), dt)
    return Steps(
        TrialRecord({**{name: record[name] for name in record.columns}, **times}, meta=record.meta),
        trial,
        np.arange(len(trial)) * dt,
        period,
        np.stack(rows["seen"]),
        np.array(rows["action"]),
        np.array(rows["reward"]),
        np.stack(activity) if activity else None,
        dict(bare.task.channels),
        dt,
    )


def _times(
    starts: np.ndarray,
    ends: np.ndarray,
    trial: np.ndarray,
    period: np.ndarray,
    names: Any,
    dt: float,
) -> dict[str, np.ndarray]:
    """Return the columns of absolute times, ms."""
    found: dict[str, np.ndarray] = {"start": starts * dt, "stop": ends * dt}
    for name in names:
        steps = np.flatnonzero(period == name)
        which, first = np.unique(trial[steps], return_index=True)
        _, back = np.unique(trial[steps][::-1], return_index=True)
        onset, offset = np.full(len(starts), np.nan), np.full(len(starts), np.nan)
        onset[which] = steps[first] * dt
        offset[which] = (steps[::-1][back] + 1) * dt
        found[f"onset.{name}"], found[f"offset.{name}"] = onset, offset
    return found


def _answer_times(
    record: TrialRecord, trial: np.ndarray, asked: np.ndarray, dt: float
) -> dict[str, np.ndarray]:
    """Return the column ``answer_time``, ms; {} for tasks with several slots.

    Reaction times count from the first step on which the subject is asked.
    """
    if "reaction_time" not in record:
        return {}
    opened = np.full(len(record), np.nan)
    which, first = np.unique(trial[asked], return_index=True)
    opened[which] = np.flatnonzero(asked)[first] * dt
    return {"answer_time": opened + record["reaction_time"]}
