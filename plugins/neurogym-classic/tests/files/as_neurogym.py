"""Tasks in the form of NeuroGym's task files; only the import differs."""

import numpy as np
from neurogym_classic import TrialEnv, TruncExp, spaces


class DelayedDots(TrialEnv):
    metadata = {"paper_name": "none", "tags": ["perceptual", "two-alternative"]}

    def __init__(self, dt=100, rewards=None, timing=None, cohs=None, sigma=1.0, dim_ring=2):
        super().__init__(dt=dt)
        self.cohs = np.array([6.4, 51.2]) if cohs is None else cohs
        self.sigma = sigma / np.sqrt(self.dt)
        self.rewards = {"abort": -0.1, "correct": +1.0, "fail": 0.0}
        if rewards:
            self.rewards.update(rewards)
        self.timing = {
            "fixation": 200,
            "stimulus": [400, 600],
            "delay": TruncExp(300, 200, 1000),
            "decision": ("constant", 300),
        }
        if timing:
            self.timing.update(timing)
        self.abort = False
        self.theta = np.linspace(0, 2 * np.pi, dim_ring + 1)[:-1]
        self.choices = np.arange(dim_ring)
        name = {"fixation": 0, "stimulus": range(1, dim_ring + 1)}
        self.observation_space = spaces.Box(
            -np.inf, np.inf, shape=(1 + dim_ring,), dtype=np.float32, name=name
        )
        name = {"fixation": 0, "choice": range(1, dim_ring + 1)}
        self.action_space = spaces.Discrete(1 + dim_ring, name=name)

    def _new_trial(self, **kwargs):
        trial = {"ground_truth": self.rng.choice(self.choices), "coh": self.rng.choice(self.cohs)}
        trial.update(kwargs)
        stim = np.cos(self.theta - self.theta[trial["ground_truth"]]) * (trial["coh"] / 200) + 0.5
        self.add_period(["fixation", "stimulus", "delay", "decision"])
        self.add_ob(1, period=["fixation", "stimulus", "delay"], where="fixation")
        self.add_ob(stim, "stimulus", where="stimulus")
        self.add_randn(0, self.sigma, "stimulus", where="stimulus")
        self.set_groundtruth(trial["ground_truth"], period="decision", where="choice")
        return trial

    def _step(self, action):
        new_trial = False
        reward = 0
        gt = self.gt_now
        if self.in_period("fixation"):
            if action != 0:
                new_trial = self.abort
                reward += self.rewards["abort"]
        elif self.in_period("decision") and action != 0:
            new_trial = True
            if action == gt:
                reward += self.rewards["correct"]
                self.performance = 1
            else:
                reward += self.rewards["fail"]
        return self.ob_now, reward, False, False, {"new_trial": new_trial, "gt": gt}


class Blocks(DelayedDots):
    """Keeps a hidden rule between trials, and changes some of it in place."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.rule = 0
        self.counts = [0, 0]
        self.left = 3

    def _new_trial(self, **kwargs):
        self.left -= 1
        if self.left == 0:
            self.rule, self.left = 1 - self.rule, 3
        self.counts[self.rule] += 1
        trial = super()._new_trial(ground_truth=self.rule, **kwargs)
        trial["seen"] = tuple(self.counts)
        return trial


class Withhold(TrialEnv):
    """Withholding is correct: performance is 1 from the start, unless the subject acts."""

    def __init__(self, dt=100):
        super().__init__(dt=dt, r_tmax=0.5)
        self.timing = {"stimulus": 300}
        self.observation_space = spaces.Box(0, 1, shape=(1,), dtype=np.float32)
        self.action_space = spaces.Discrete(2)

    def _new_trial(self, **kwargs):
        self.add_period("stimulus")
        self.add_ob(1)
        self.performance = 1
        return dict(kwargs)

    def _step(self, action):
        if action:
            self.performance = 0
        return self.ob_now, 0.0, False, False, {"new_trial": False, "gt": 0}


class Cursor(TrialEnv):
    """A closed loop: observations depend on actions."""

    def __init__(self, dt=100):
        super().__init__(dt=dt)
        self.timing = {"reach": 500}
        self.state = 0.0
        self.observation_space = spaces.Box(
            -np.inf, np.inf, shape=(2,), dtype=np.float32, name={"target": 0, "self": 1}
        )
        self.action_space = spaces.Box(-1, 1, shape=(1,), dtype=np.float32)

    def _new_trial(self, **kwargs):
        self.state = 0.0
        trial = {"target": float(self.rng.rand()), **kwargs}
        self.add_period("reach")
        self.add_ob(trial["target"], "reach", where="target")
        self.set_groundtruth([trial["target"]], "reach")
        return trial

    def _step(self, action):
        self.state += float(action[0])
        return self.ob_now, -abs(self.gt_now[0] - self.state), False, False, {"new_trial": False}

    def post_step(self, ob, reward, terminated, truncated, info):
        ob[1] = self.state
        return ob, reward, terminated, truncated, info


class Arms(TrialEnv):
    """A task without periods or tables: observations come from _step."""

    def __init__(self, dt=100):
        super().__init__(dt=dt)
        self.observation_space = spaces.Box(-1, 1, shape=(1,), dtype=np.float32)
        self.action_space = spaces.Discrete(2)

    def _new_trial(self, **kwargs):
        return {"p": 0.3, **kwargs}

    def _step(self, action):
        reward = float(self.rng.rand() < self.trial["p"])
        return np.array([0.5], np.float32), reward, False, False, {"new_trial": True}
