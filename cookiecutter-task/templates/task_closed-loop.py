"""{{ cookiecutter.__words }}."""

from __future__ import annotations

from typing import Any

import numpy as np
from neurogym_core import Choice, Task, TrialBuilder


class {{ cookiecutter.task_name }}(Task):
    """Push a drifting point back to 0: what is seen next depends on what was just done.

    Cite here the paper that the task follows, with its DOI.

    Deviations from the paper: list here what differs.

    Args:
        drifts: how far the point moves by itself, per 100 ms; one of them is drawn for each trial.
        push: how far a push moves it, per 100 ms.
    """

    drifts: tuple[float, ...] = (-0.2, 0.2)
    push: float = 0.2

    timing = {"keep": 1000}  # ms
    rewards = {"near": 1.0}  # per 100 ms at 0
    trial_state = {"at": 0.0}  # one value per trial; only `step_action` changes it

    def define(self) -> None:
        """Channels, actions, and what varies from trial to trial."""
        self.observe(at=1)
        self.act(rest=1, push=2)  # the first, single one is the rest; 0 pushes down, 1 up
        self.vary(drift=Choice(self.drifts))

    def new_trial(self, trial: TrialBuilder) -> None:
        """Lay out trials: written for one, run for a whole batch."""
        trial.periods("keep")
        trial.hold(during="keep", cost=0)  # pushing is free
        trial.record(towards=np.sign(trial.drift))
        trial.max_reward(self.rewards["near"] * trial.duration("keep") / 100)

    def step_action(self, now: Any, action: np.ndarray) -> tuple[np.ndarray, None]:
        """What the step pays, and where it leads (None: as the periods say)."""
        pushed = np.array([0.0, -self.push, self.push])[action]
        now.trial_state["at"] = now.trial_state["at"] + (now.conditions["drift"] + pushed) * now.dt / 100
        near = np.maximum(1.0 - np.abs(now.trial_state["at"]), 0.0)
        return self.rewards["near"] * near * now.dt / 100, None

    def step_observation(self, now: Any, obs: np.ndarray) -> np.ndarray:
        """What is seen, with what was done; asked on the first step too."""
        obs[:, self.channels["at"]] = now.trial_state["at"][:, None]
        return obs

    def step_target(self, now: Any) -> np.ndarray:
        """What is right now: push against the drift."""
        return np.where(now.conditions["drift"] > 0, 1, 2)
