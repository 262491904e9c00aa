"""What reference subjects earn, trial by trial, played side by side in one vector env."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neurogym_core.play.results import TrialResults
from neurogym_core.play.vector_env import TaskVectorEnv
from neurogym_core.subjects import subject_named
from neurogym_core.tasks.drawing import stateful

SEED = 17
PATIENCE = 1.5
"""How many times as many steps as are wanted are played before trials that do not end are given
up.
"""


@dataclass(frozen=True)
class Played:
    """What a subject did, as many trials of each env.

    Attributes:
        reward, performance: (n, trials), one row an env; no column where some env finished no
            trial.
        conditions: name -> (m, …) of all trials that ended.
        steps: how many were played.
        unfinished: (n,) what was earned in all, where some env finished no trial.
    """

    reward: np.ndarray
    performance: np.ndarray
    conditions: dict[str, np.ndarray]
    steps: int
    unfinished: np.ndarray

    def mean(self, column: str) -> tuple[float, float]:
        """Mean and its standard error, from the means of the envs: trials of one session may depend
            on each other.

        Where some env finished no trial, what was earned counts as that of one trial.
        """
        values = getattr(self, column)
        means = values.mean(axis=1) if values.shape[1] else self.unfinished
        return float(means.mean()), float(means.std(ddof=1) / np.sqrt(len(means)))


def play(env: TaskVectorEnv, subject: str, least: int, most: int, enough: int) -> Played:
    """Let a subject play new sessions in all envs.

    Args:
        env: with autoreset mode SameStep.
        subject: its name.
        least, most: trials of each env: play until all have `most`, or `enough` steps were played
            and all have `least`.
        enough: steps.
    """
    player = subject_named(subject, SEED)
    # What a subject has learned outlives its sessions, until a seed begins anew.
    observations, _ = env.reset(seed=SEED if stateful(env.task) else None)
    player.begin(env)
    before = env.trial_number.copy()
    earned = np.zeros(env.num_envs)
    parts: list[tuple[np.ndarray, TrialResults]] = []
    steps, fewest = 0, 0
    while fewest < most and not (steps >= enough and fewest >= least) and steps < PATIENCE * enough:
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


def _table(
    parts: list[tuple[np.ndarray, TrialResults]], column: str, envs: int, trials: int
) -> np.ndarray:
    """(envs, trials): the first trials of each env, so that short ones are not preferred."""
    table = np.zeros((envs, trials))
    for number, finished in parts:
        kept = number < trials
        table[finished.envs[kept], number[kept]] = getattr(finished, column)[kept]
    return table


def _conditions(parts: list[tuple[np.ndarray, TrialResults]]) -> dict[str, np.ndarray]:
    if not parts:
        return {}
    rows = [one.conditions for _, one in parts]
    return {name: np.concatenate([row[name] for row in rows]) for name in rows[0]}
