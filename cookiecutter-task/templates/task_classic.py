"""{{ cookiecutter.__words }}."""

from __future__ import annotations

from typing import Any

import numpy as np
from neurogym_classic import TrialEnv, spaces


class {{ cookiecutter.task_name }}(TrialEnv):
    """Report the side of a light after a delay.

    Cite here the paper that the task follows, with its DOI.

    Deviations from the paper: list them here.

    Args:
        dt: ms per step.
        rewards: rewards that replace the defaults.
        timing: durations that replace the defaults, ms.
        sigma: SD of the noise of the light, times sqrt(ms).
    """

    def __init__(
        self,
        dt: float = 100,
        rewards: dict[str, float] | None = None,
        timing: dict[str, Any] | None = None,
        sigma: float = 1.0,
    ) -> None:
        super().__init__(dt=dt)
        self.sigma = sigma / np.sqrt(self.dt)
        self.rewards = {"abort": -0.1, "correct": 1.0, "fail": 0.0, **(rewards or {})}
        durations = {"fixation": 300, "light": 500, "delay": 600, "decision": 500}
        self.timing = {**durations, **(timing or {})}
        names = {"fixation": 0, "light": [1, 2]}
        self.observation_space = spaces.Box(
            -np.inf, np.inf, shape=(3,), dtype=np.float32, name=names
        )
        self.action_space = spaces.Discrete(3, name={"fixation": 0, "choice": [1, 2]})

    def new_trial(self, **kwargs: Any) -> dict[str, Any]:
        """Build one trial and return its conditions."""
        trial = {"side": self.rng.integers(2), **kwargs}
        before = ["fixation", "light", "delay"]
        self.add_period([*before, "decision"])
        self.add_ob(1, before, where="fixation")
        light = np.zeros(2)
        light[trial["side"]] = 1.0
        self.add_ob(light, "light", where="light")
        self.add_randn(0, self.sigma, "light", where="light")
        self.set_groundtruth(trial["side"], "decision", where="choice")
        return trial

    def _step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Score one step and return its observation, reward and info."""
        reward, new_trial = 0.0, False
        if self.in_period("decision"):
            if action != 0:
                new_trial = True
                correct = action == self.gt_now
                reward = self.rewards["correct" if correct else "fail"]
                self.performance = int(correct)
        elif action != 0:
            reward = self.rewards["abort"]
        return self.ob_now, reward, False, False, {"new_trial": new_trial, "gt": self.gt_now}
