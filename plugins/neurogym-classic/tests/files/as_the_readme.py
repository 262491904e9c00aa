"""A task in the form of the template in NeuroGym's README, with its blanks filled in."""

import neurogym_classic as ngym
import numpy as np
from gymnasium import spaces


class YourTask(ngym.PeriodEnv):
    metadata = {}

    def __init__(self, dt=100, timing=None, extra_input_param=None):
        super().__init__(dt=dt)
        self.gain = extra_input_param or 1.0
        self.timing = {"fixation": 300, "stimulus": 500, "decision": 200}
        if timing:
            self.timing.update(timing)
        self.observation_space = spaces.Box(-np.inf, np.inf, shape=(3,), dtype=np.float32)
        self.action_space = spaces.Discrete(3)

    def new_trial(self, **kwargs):
        self.trial = {"side": self.rng.choice([1, 2])}
        self.trial.update(kwargs)
        self.add_period("fixation")
        self.add_period("stimulus", after="fixation")
        self.add_period("decision", after="stimulus", last_period=True)
        self.set_ob([1, 0, 0], "fixation")
        stimulus = self.view_ob("stimulus")
        stimulus[:, self.trial["side"]] += self.gain
        stimulus[:, 1:] += self.rng.randn(stimulus.shape[0], 2) * 0.1
        self.set_groundtruth(self.trial["side"], "decision")

    def _step(self, action):
        new_trial, terminated, truncated = False, False, False
        reward = 0
        gt = self.gt_now
        obs = self.ob_now
        if self.in_period("fixation") and action != 0:
            reward = -0.1
        elif self.in_period("decision") and action != 0:
            new_trial = True
            if action == gt:
                reward = 1
                self.performance = 1
        return obs, reward, terminated, truncated, {"new_trial": new_trial, "gt": gt}
