"""Unusual tasks without a fault: every check of the conformance kit must pass."""

from __future__ import annotations

import functools

import gymnasium
import numpy as np

from neurogym_core import Axis, Choice, Outcome, Task, TruncatedExponential


class OneStep(Task):
    """Trials of one step, without an action for rest."""

    def define(self):
        self.observe(context=1)
        self.act(pull=3)
        self.vary(lucky=Choice(3))
        self.correct_choice("lucky")

    def new_trial(self, trial):
        trial.periods("choice", choice=100)
        trial.show("context", trial["lucky"], during="choice")
        trial.answer("pull", trial["lucky"], during="choice")


class PaysNothing(Task):
    """All rewards are 0; only the targets define correct answers."""

    timing = {"stimulus": 300, "decision": 200}
    rewards = {"abort": 0.0, "correct": 0.0}

    def define(self):
        self.observe(stimulus=2)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("stimulus", "decision")
        trial.show("stimulus", np.eye(2)[trial["side"]], during="stimulus")
        trial.answer("choose", trial["side"], during="decision")


class AlwaysTheSame(PaysNothing):
    """Conditions and durations are constant: all trials are equal."""

    rewards = {"correct": 1.0}

    def define(self):
        super().define()
        self.vary(side=Choice((1,)))
        self.correct_choice("side")


class OnlyResting(Task):
    """There are observations, and rest is the only action."""

    timing = {"show": TruncatedExponential(400, 200, 1000)}

    def define(self):
        self.observe(light=1)
        self.act(rest=1)
        self.vary(bright=Choice(2))

    def new_trial(self, trial):
        trial.periods("show")
        trial.show("light", trial["bright"], during="show")


class RoundsItsTimes(Task):
    """A period that `dt` rounds to twice its length, and one that lasts 2 ms."""

    timing = {"stimulus": 50, "gap": 2, "decision": 300}

    def define(self):
        self.observe(stimulus=2)
        self.act(fixate=1, choose=2)
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("stimulus", "gap", "decision")
        trial.show("stimulus", np.eye(2)[trial["side"]], during="stimulus")
        trial.answer("choose", trial["side"], during="decision")


class InBlocks(PaysNothing):
    """The side changes every ten trials; in a third of the trials, rest is correct."""

    rewards = {"correct": 1.0, "miss": 0.0}
    trials_per_session = 50

    def define(self):
        self.observe(stimulus=2)
        self.act(rest=1, choose=2)
        self.vary(side=Choice((-1, 0, 1)))
        self.correct_choice("side")

    def new_session(self, session, rng):
        session.first = rng.integers(3, size=len(session))

    def draw(self, session, rng):
        return {"side": (session.first + session.trial // 10) % 3 - 1}

    def new_trial(self, trial):
        trial.periods("stimulus", "decision")
        trial.show("stimulus", np.eye(3)[trial["side"]][:, :2], during="stimulus")
        trial.answer("choose", trial["side"], during="decision")


class CountsHits(PaysNothing):
    """The stimulus is weaker after five hits in a row."""

    reads_outcomes = True
    rewards = {"correct": 1.0}
    trials_per_session = 50

    def define(self):
        super().define()
        self.vary(strength=Choice((0.5, 1.0)), hits=int)

    def new_session(self, session, rng):
        session.hits = np.zeros((len(session), 5), bool)

    def draw(self, session, rng):
        n, hit = len(session), session.previous["outcome"] == Outcome.CORRECT
        session.hits = np.column_stack((session.hits[:, 1:], hit))
        weak = session.hits.all(axis=1) & (rng.random(n) < 0.9)
        given = {"strength": np.where(weak, 0.5, 1.0), "hits": session.hits.sum(axis=1)}
        return self.draw_conditions(rng, n, given)

    def new_trial(self, trial):
        trial.periods("stimulus", "decision")
        strength = np.eye(2)[trial["side"]] * trial["strength"][:, None]
        trial.show("stimulus", strength, during="stimulus")
        trial.answer("choose", trial["side"], during="decision")


class Tracks(Task):
    """A continuous action tracks a point that jumps; a hook rewards proximity on every step."""

    timing = {"track": 1500}
    trial_state = {"place": 0.0}

    def define(self):
        self.observe(point=1, hand=1)
        self.act(move=Axis(-1, 1, rest=0))
        self.vary(goal=Choice((-0.8, -0.2, 0.5)))

    def new_trial(self, trial):
        trial.periods("track")
        trial.show("point", trial["goal"], during="track")

    def step_action(self, now, action):
        now.trial_state["place"][:] = action[:, 0]
        return -np.abs(action[:, 0] - now.conditions["goal"]), None

    def step_observation(self, now, obs):
        obs = obs.copy()
        obs[:, 1] = now.trial_state["place"]
        return obs

    def step_target(self, now):
        return now.conditions["goal"][:, None]


class NamesItsSides(Task):
    """The correct choice is a name, not a number."""

    timing = {"stimulus": 300}

    def define(self):
        self.observe(light=2)
        self.act(rest=1, choose=("left", "right"))
        self.vary(side=Choice(("left", "right")))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("stimulus")
        trial.show("light", np.eye(2)[(trial["side"] == "right") * 1], during="stimulus")
        trial.answer("choose", trial["side"], during="stimulus")


class AlwaysLeft(NamesItsSides):
    """The correct choice is one number for all trials: detection of a light."""

    def define(self):
        self.observe(light=2)
        self.act(rest=1, choose=("left", "right"))
        self.vary(strength=Choice((0.5, 1.0)))
        self.correct_choice(lambda known: 0)

    def new_trial(self, trial):
        trial.periods("stimulus")
        trial.show("light", np.eye(2)[[0]] * trial["strength"][:, None], during="stimulus")
        trial.answer("choose", 0, during="stimulus")


class PushesBack(Task):
    """A hook pays on every step and reports the first push: pushing early is no false start."""

    timing = {"keep": 1000}
    trial_state = {"at": 0.0}

    def define(self):
        self.observe(at=1)
        self.act(rest=1, push=("down", "up"))
        self.vary(drift=Choice((-0.2, 0.2)))

    def new_trial(self, trial):
        trial.periods("keep")
        against = np.where(trial["drift"] > 0, 0, 1)
        trial.answer("push", against, during="keep", reported=True, then="wait")
        trial.max_reward(trial.duration("keep") / 100)

    def step_action(self, now, action):
        pushed = np.array([0.0, -0.2, 0.2])[action]
        now.trial_state["at"] = now.trial_state["at"] + now.conditions["drift"] + pushed
        now.answer(action > 0, action - 1)
        return np.maximum(1.0 - np.abs(now.trial_state["at"]), 0.0), None

    def step_observation(self, now, obs):
        obs[:, 0] = now.trial_state["at"]
        return obs

    def step_target(self, now):
        return np.where(now.conditions["drift"] > 0, 1, 2)


class DictEnv(gymnasium.Env):
    """Observations are dicts, a flag is a NumPy bool, rewards are ints, sessions last 1-2 steps."""

    def __init__(self):
        box, number = gymnasium.spaces.Box(0, 1, (2,), np.float32), gymnasium.spaces.Discrete(4)
        self.observation_space = gymnasium.spaces.Dict({"picture": box, "number": number})
        self.action_space = gymnasium.spaces.MultiDiscrete([2, 3])

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.left = int(self.np_random.integers(1, 3))
        return self.look(), {}

    def look(self):
        return {
            "picture": self.np_random.random(2).astype(np.float32),
            "number": self.np_random.integers(4),
        }

    def step(self, action):
        self.left -= 1
        return self.look(), int(action[0]), np.bool_(self.left == 0), False, {}


class NothingRandom(gymnasium.Env):
    """A Gymnasium env without randomness."""

    def __init__(self):
        self.observation_space = gymnasium.spaces.Box(0, 100, (1,), np.float32)
        self.action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.count = 0
        return np.zeros(1, np.float32), {}

    def step(self, action):
        self.count += 1
        return np.full(1, self.count, np.float32), 0.0, self.count == 9, False, {}


def noise_of(task):
    """Read a parameter for a task."""
    return task.sigma


level_of = lambda task: task.level  # noqa: E731
READERS = {"scale": [lambda task: task.scale]}


@functools.cache
def offset_of(task):
    """Read a parameter for a task."""
    return task.offset


class ReadsInManyWays(Task):
    """Parameters that functions, a property, lambdas, `getattr` and a subclass read."""

    sigma: float = 1.0
    gain: float = 1.0
    share: float = 0.5
    weight: float = 1.0
    level: float = 1.0
    scale: float = 1.0
    offset: float = 0.0
    timing = {"stimulus": 500, "decision": 500}

    def define(self):
        self.observe(stimulus=2)
        self.act(fixate=1, choose=2)
        self.vary(side=lambda rng, prior: (rng.random(prior.n) < self.share) * 1)
        self.correct_choice("side")

    @property
    def strength(self):
        return self.gain

    def new_trial(self, trial):
        trial.periods("stimulus", "decision")
        scale = READERS["scale"][0](self) * level_of(self)
        shown = self.strength * scale * np.eye(2)[trial["side"]] + offset_of(self)
        trial.show("stimulus", shown, during="stimulus", noise=noise_of(self))
        trial.loss_weight(getattr(self, "weight"), during="decision")  # noqa: B009
        trial.answer("choose", trial["side"], during="decision")


class PlaysItSometimes(ReadsInManyWays):
    """A period that only another setting plays, and a parameter that only it reads."""

    delayed: bool = False
    decay: float = 0.5
    timing = {"delay": 500}

    def new_trial(self, trial):
        super().new_trial(trial)
        if self.delayed:
            trial.add_period("delay")
            trial.show("stimulus", self.decay, during="delay")
