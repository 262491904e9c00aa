"""`record_steps`: play trials, and record every step of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from neurogym_core import InvalidValueError, TrialRecord
from neurogym_core.players import Game


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
    split: str | None = "auto",
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
    game = Game(
        task, subject, n_trials, num_envs=1, seed=seed, split=split, conditions=conditions,
        wrap=wrap, params=params,
    )  # fmt: skip
    env, player = game.env.unwrapped, game.player
    rows: dict[str, list[Any]] = {name: [] for name in ("period", "seen", "action", "reward")}
    activity: list[np.ndarray] = []
    ends: list[int] = []
    while game.played.count < n_trials:
        rows["period"].append(str(env.period[0]))
        rows["seen"].append(np.array(game.observations[0], copy=True))
        ended = game.step()
        rows["action"].append(np.array(np.asarray(game.actions)[0], copy=True))
        rows["reward"].append(float(game.rewards[0]))
        if getattr(player, "activity", None) is not None:
            activity.append(np.array(player.activity[0], copy=True))
        if ended:
            ends.append(len(rows["reward"]))
            if progress is not None:
                progress(game.played.count)
    trial = np.repeat(np.arange(len(ends)), np.diff([0, *ends]))
    period, dt = np.array(rows["period"]), float(game.task.dt)
    return Steps(
        game.record(),
        trial,
        np.arange(len(trial)) * dt,
        period,
        np.stack(rows["seen"]),
        np.array(rows["action"]),
        np.array(rows["reward"]),
        np.stack(activity) if activity else None,
        dict(game.task.channels),
        dt,
    )
