"""{{ cookiecutter.__words }}."""

from __future__ import annotations

from typing import Any

import numpy as np
from neurogym_core import Choice, Task, TrialBuilder


class {{ cookiecutter.task_name }}(Task):
    """Push a drifting point back to 0. The next observation depends on the last action.

    Cite here the paper that the task follows, with its DOI.

    Deviations from the paper: list them here.

    Args:
        drifts: possible drifts of the point per 100 ms; one is drawn for each trial.
        push: movement of the point by a push, per 100 ms.
    """

    drifts: tuple[float, ...] = (-0.2, 0.2)
    push: float = 0.2

    timing = {"keep": 1000}  # ms
    rewards = {"near": 1.0}  # per 100 ms at 0
    trial_state = {"at": 0.0}  # one value per trial; only `step_action` changes it

    def define(self) -> None:
        """Declare the channels, the actions and the conditions."""
        self.observe(at=1)
        self.act(rest=1, push=("down", "up"))  # the first single action is the rest
        self.vary(drift=Choice(self.drifts))

    def new_trial(self, trial: TrialBuilder) -> None:
        """Describe one trial; the method runs once for a batch, so that conditions are arrays."""
        trial.periods("keep")
        against = np.where(trial["drift"] > 0, 0, 1)
        trial.answer("push", against, during="keep", reported=True, then="wait")
        trial.record(towards=np.sign(trial["drift"]))
        trial.max_reward(self.rewards["near"] * trial.duration("keep") / 100)

    def step_action(self, now: Any, action: np.ndarray) -> tuple[np.ndarray, None]:
        """Report the answer; return rewards, and None: no action leads to another period."""
        pushed = np.array([0.0, -self.push, self.push])[action]
        moved = (now.conditions["drift"] + pushed) * now.dt / 100
        now.trial_state["at"] = now.trial_state["at"] + moved
        now.answer(action > 0, action - 1)  # the first push is the choice of the record
        near = np.maximum(1.0 - np.abs(now.trial_state["at"]), 0.0)
        return self.rewards["near"] * near * now.dt / 100, None

    def step_observation(self, now: Any, obs: np.ndarray) -> np.ndarray:
        """Return the observation after the action; it is called for the first step too."""
        obs[:, self.channels["at"]] = now.trial_state["at"][:, None]
        return obs

    def step_target(self, now: Any) -> np.ndarray:
        """Return the correct action: a push against the drift."""
        return np.where(now.conditions["drift"] > 0, 1, 2)
