"""`record_steps`: play trials, and record every step of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from neurogym_core import InvalidValueError, TrialRecord, make_vec
from neurogym_core.play.run import Played, facts_of, with_facts
from neurogym_core.players import player_of
from neurogym_core.subjects import AUTO, split_of


@dataclass(frozen=True)
class Steps:
    """Every step of the trials of one subject, in one env.

    Attributes:
        record: the trials, as `neurogym_core.run` returns them.
        trial: (T,) row of the record of each step.
        time: (T,) ms since the first trial began, at the onset of each step.
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

    def visits(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return row, period, onset and offset (ms) of each visit of a period, (V,) each.

        A period that a trial visits several times has a visit for each; the record has only the
        first onset and the last offset.
        """
        new = np.ones(len(self.trial), bool)
        new[1:] = (self.trial[1:] != self.trial[:-1]) | (self.period[1:] != self.period[:-1])
        first = np.flatnonzero(new)
        onset = self.time[first]
        offset = np.append(onset[1:], self.time[-1] + self.dt)
        return self.trial[first], self.period[first], onset, offset


def record_steps(
    task: Any,
    subject: Any,
    n_trials: int = 100,
    *,
    seed: int | None = None,
    split: str | None = AUTO,
    conditions: Mapping[str, Any] | None = None,
    progress: Callable[[int], None] | None = None,
    wrap: Any = (),
    **params: Any,
) -> Steps:
    """Play `n_trials` trials in one env, and return every step of them.

    Args:
        task, subject, seed, split, conditions, progress, wrap, params: as in `neurogym_core.run`.
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
    split = split_of(player, split)
    env: Any = make_vec(
        task, 1, wrap=wrap, autoreset_mode="SameStep", seed=seed, split=split, **params
    )
    observations, _ = env.reset(
        seed=seed, options={"conditions": conditions} if conditions else None
    )
    bare, played = env.unwrapped, Played(np.array([n_trials]))
    if hasattr(player, "begin"):
        player.begin(bare)
    rows: dict[str, list[Any]] = {name: [] for name in ("period", "seen", "action", "reward")}
    activity: list[np.ndarray] = []
    ends: list[int] = []
    while played.count < n_trials:
        rows["period"].append(str(bare.period[0]))
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
    facts = facts_of(bare.task, task, subject, seed, split=split, wrap=wrap)
    trial = np.repeat(np.arange(len(ends)), np.diff([0, *ends]))
    period, dt = np.array(rows["period"]), float(bare.task.dt)
    return Steps(
        with_facts(played.record(), facts),
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
