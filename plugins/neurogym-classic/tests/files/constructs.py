"""Constructs of NeuroGym's task files that a Task does not have, one class each."""

import numpy as np
from neurogym_classic import BaseEnv, InvalidOperationError, TrialEnv, logger, spaces, tasktools


class Timed(TrialEnv):
    """Its targets are floats, from np.zeros."""

    def __init__(self, dt=100):
        super().__init__(dt=dt)
        self.timing = {"wait": 200, "produce": 400}
        self.observation_space = spaces.Box(-np.inf, np.inf, shape=(1,), dtype=np.float32)
        self.action_space = spaces.Discrete(2, {"wait": 0, "go": 1})

    def _new_trial(self, **kwargs):
        self.add_period(["wait", "produce"])
        self.add_ob(1, "wait")
        wanted = np.zeros(4)
        wanted[2] = 1
        self.set_groundtruth(wanted, "produce")
        return kwargs

    def _step(self, action):
        return self.ob_now, float(action == self.gt_now), False, False, {"gt": self.gt_now}


class Angle(TrialEnv):
    """Its target is an angle, although its actions are steps to the left and right."""

    def __init__(self, dt=100):
        super().__init__(dt=dt)
        self.timing = {"reach": 300}
        self.observation_space = spaces.Box(-1, 1, {"angle": 0}, shape=(1,), dtype=np.float32)
        self.action_space = spaces.Discrete(3)

    def _new_trial(self, **kwargs):
        self.add_period("reach")
        self.add_ob(0.5, where="angle")
        self.set_groundtruth(4.7, "reach")
        return kwargs

    def _step(self, action):
        return self.ob_now, -tasktools.circular_dist(2 * np.pi - self.gt_now), False, False, {}


class Assigned(TrialEnv):
    """Assigns its arrays instead of filling them."""

    def __init__(self, dt=100):
        super().__init__(dt=dt)
        self.observation_space = spaces.Box(0, 1, shape=(2,), dtype=np.float32)
        self.action_space = spaces.Discrete(2)
        self.last = 0

    def _new_trial(self, **kwargs):
        self.ob = np.zeros((1, self.observation_space.shape[0]))
        self.ob[0, self.last] = 1
        self.last = 1 - self.last
        self.gt = np.array([self.last])
        return {"answer": self.last}

    def _step(self, action):
        reward = float(action == self.gt[0])
        return self.ob[0], reward, False, False, {"new_trial": True, "gt": self.gt_now}


class Nothing(TrialEnv):
    """Returns the number 0 as an observation; its trials last for `tmax`."""

    def __init__(self, dt=100, tmax=None):
        super().__init__(dt=dt)
        if tmax:
            self.tmax = tmax
        self.observation_space = spaces.Box(-np.inf, np.inf, shape=(1,), dtype=np.float32)
        self.action_space = spaces.Discrete(1)

    def _new_trial(self, **kwargs):
        return kwargs

    def _step(self, action):
        return 0, 0, False, False, {}


class Clocked(BaseEnv):
    """An env without trials, with NeuroGym's clock and generator."""

    def __init__(self, dt=100):
        super().__init__(dt=dt)
        self.observation_space = spaces.Discrete(4, name={"top": 0})
        self.action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        self.seed(seed)
        self.t = 0
        return int(self.rng.randint(4)), {}

    def step(self, action):
        if action not in self.action_space:
            raise InvalidOperationError(f"{action} is not an action.")
        logger.warning("step %s", self.t)
        self.t += self.dt
        return int(self.rng.rand() * 4), 0.0, False, False, {}
