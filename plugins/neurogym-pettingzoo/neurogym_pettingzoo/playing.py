"""`play`: two subjects play a task together; `Seat`: the env as one of them sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from neurogym_core import InvalidValueError, TaskVectorEnv, TrialRecord
from neurogym_core.players import player_of


class Seat:
    """The vector env of a pair as one of the two sees it: an env of one subject.

    Arrays with a row per subject (`target`, `is_asked`, `conditions`, …) have this subject's row.

    Args:
        envs: the vector env of the pair.
        place: 0 for the first subject, 1 for the second.
    """

    num_envs = 1

    def __init__(self, envs: TaskVectorEnv, place: int) -> None:
        self._envs, self._rows = envs, slice(place, place + 1)
        self.unwrapped = self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._own(getattr(self._envs, name))

    def _own(self, value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.ndim and len(value) == self._envs.num_envs:
            return value[self._rows]
        if isinstance(value, dict):
            return {name: self._own(one) for name, one in value.items()}
        return value


def play(
    task: Any,
    subjects: Mapping[str, Any],
    n_trials: int,
    *,
    seed: int | None = None,
    split: str | None = None,
    **params: Any,
) -> TrialRecord:
    """Let two subjects play trials together; return their record, with a row for each of them.

    The column ``subject`` has the names of the agents. Each subject sees its own observations, and
    `last_reward`, `is_asked` and the other properties of its `Seat`.

    Args:
        task: a `SharedTask`, or its class.
        subjects: agent -> subject, as in `neurogym_core.run`: a name, a network, a callable
            ``(env, observations) -> actions`` with observations (1, units).
        n_trials: number of trials.
        seed: seed of the trials, and of subjects given by name.
        split: stream of trials, as in `TaskEnv`.
        params: parameters of the task.

    Raises:
        InvalidValueError: not a subject for each agent, or as `SharedEnv`.

    Example:
        >>> from neurogym_pettingzoo import MatchingPennies, play
        >>> pair = {"matcher": "guess", "evader": "guess"}
        >>> record = play(MatchingPennies, pair, 20, seed=0)
        >>> len(record), set(record["subject"].tolist()) == set(pair)
        (40, True)
    """
    from neurogym_pettingzoo.envs import SharedEnv

    env = SharedEnv(task, seed=seed, split=split, **params)
    if set(subjects) != set(env.possible_agents):
        raise InvalidValueError(
            f"play() was given subjects for {sorted(subjects)}. Expected one for each of"
            f" {env.possible_agents}. Name both."
        )
    start = 0 if seed is None else seed + 1
    names = env.possible_agents
    players = [player_of(subjects[name], seed=start + k) for k, name in enumerate(names)]
    seats = [Seat(env.envs, k) for k in range(len(names))]
    seen, _ = env.reset(seed)
    for player, seat in zip(players, seats, strict=True):
        if hasattr(player, "begin"):
            player.begin(seat)
    played = 0
    while played < n_trials:
        if not env.agents:
            seen, _ = env.reset()
        actions = {
            name: player(seat, seen[name][None])[0]
            for name, player, seat in zip(names, players, seats, strict=True)
        }
        seen, _, _, _, infos = env.step(actions)
        played += infos[names[0]]["new_trial"]
    return env.record
