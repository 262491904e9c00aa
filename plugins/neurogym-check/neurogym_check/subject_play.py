"""Play reference subjects in a vector env, and collect their results trial by trial."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from neurogym_core import TaskVectorEnv
from neurogym_core.players import TaskView, player_of

SEED = 17


@dataclass(frozen=True)
class Played:
    """Results of a subject, with equally many trials of each env.

    Attributes:
        reward, performance: (n, trials), one row per env; no columns if an env finished no trial.
        conditions: name -> (m, …) of all trials that ended.
        steps: number of steps played.
        unfinished: (n,) total reward, used if an env finished no trial.
    """

    reward: np.ndarray
    performance: np.ndarray
    conditions: dict[str, np.ndarray]
    steps: int
    unfinished: np.ndarray

    def mean(self, column: str) -> tuple[float, float]:
        """Return the mean and its standard error, from the means of the envs.

        Trials of one session may depend on each other, envs do not. If an env finished no trial,
        the total reward counts as that of one trial.
        """
        values = getattr(self, column)
        means = values.mean(axis=1) if values.shape[1] else self.unfinished
        return float(means.mean()), float(means.std(ddof=1) / np.sqrt(len(means)))


def play(
    env: TaskVectorEnv, subject: str, least: int, most: int, enough: int, limit: float
) -> Played:
    """Let a subject play new sessions in all envs, and return its results.

    Args:
        env: vector env with autoreset mode SameStep.
        subject: name of the subject.
        least, most: trials of each env. Play ends when all envs have `most`, or when `enough` steps
            were played and all have `least`.
        enough: number of steps, see `least`.
        limit: steps after which play stops, even if trials have not ended.
    """
    player = player_of(subject, SEED)
    # The state that a task keeps across sessions is only reset with a seed.
    observations, _ = env.reset(seed=SEED if TaskView(env.task).stateful else None)
    player.begin(env)
    before = env.trial_number.copy()
    earned = np.zeros(env.num_envs)
    parts: list[tuple[np.ndarray, Any]] = []
    steps, fewest = 0, 0
    while fewest < most and not (steps >= enough and fewest >= least) and steps < limit:
        observations, reward, _, _, info = env.step(player(env, observations))
        steps += 1
        earned += reward
        if "trial" in info:
            finished = info["trial"].finished
            parts.append((env.trial_number[finished.envs] - before[finished.envs] - 1, finished))
            fewest = int((env.trial_number - before).min())
    return Played(
        _table(parts, "reward", env.num_envs, fewest),
        _table(parts, "performance", env.num_envs, fewest),
        _conditions(parts),
        steps,
        earned,
    )


def _table(parts: list[tuple[np.ndarray, Any]], column: str, envs: int, trials: int) -> np.ndarray:
    """Return a column of the first trials of each env, (envs, trials).

    Taking equally many trials of each env avoids a bias towards short trials."""
    table = np.zeros((envs, trials))
    for number, finished in parts:
        kept = number < trials
        table[finished.envs[kept], number[kept]] = getattr(finished, column)[kept]
    return table


def _conditions(parts: list[tuple[np.ndarray, Any]]) -> dict[str, np.ndarray]:
    if not parts:
        return {}
    rows = [one.conditions for _, one in parts]
    return {name: np.concatenate([row[name] for row in rows]) for name in rows[0]}
