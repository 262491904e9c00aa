"""Tasks with one fault each, which the conformance kit must find. They are variants of `Right`."""

from __future__ import annotations

import itertools
import random

import gymnasium
import numpy as np
from neurogym_classic import PeriodEnv, spaces

from neurogym_core import Choice, Outcome, Task, Uniform


class Right(Task):
    """Report the side on which there is more evidence."""

    sigma: float = 1.0

    timing = {"fixation": Uniform(200, 500), "stimulus": 500, "decision": 500}
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self):
        self.observe(fixation=1, stimulus=2)
        self.act(fixate=1, choose=2)
        self.vary(side=Choice(2), strength=Choice((0.5, 1.0)))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("fixation", "stimulus", "decision")
        trial.show("fixation", 1, during=("fixation", "stimulus"))
        trial.show("stimulus", self.strengths(trial), during="stimulus", noise=self.sigma)
        trial.answer("choose", trial["side"], during="decision")

    def strengths(self, trial):
        return np.eye(2)[trial["side"]] * trial["strength"][:, None]


def right(now, action):
    """Return 1.0 for a correct answer, else 0.0."""
    return 1.0 * (now.in_period("decision") & (action == 1 + now.conditions["side"]))


# ---------------------------------------------------------------------- G


class CannotBeMade(Right):
    """Shows a channel that does not exist."""

    def new_trial(self, trial):
        trial.periods("fixation")
        trial.show("motion", 1, during="fixation")


class NotJson(Right):
    """A parameter that JSON cannot hold."""

    marks: frozenset = frozenset({1, 2})


class OneEnvOnly(Right):
    """A hook that only works with one env."""

    def step_action(self, now, action):
        return None, ("decision" if action == 0 else None) and None


class WatchesTheOthers(Right):
    """A hook whose rewards depend on the actions in other envs."""

    def step_action(self, now, action):
        return right(now, action) - 0.001 * (action > 0).any(), None


class CountsOnTheTask(Right):
    """Lists of hits on the task, one per row: rows are those of the subjects that draw together."""

    reads_outcomes = True

    def new_session(self, session, rng):
        self._hits = [[] for _ in range(1000)]

    def draw(self, session, rng):
        for hits, outcome in zip(self._hits, session.previous["outcome"], strict=False):
            hits.append(outcome == Outcome.CORRECT)
        strong = [sum(hits[-5:]) % 2 for hits in self._hits[: len(session)]]
        drawn = self.draw_conditions(rng, len(session))
        return {**drawn, "strength": np.where(strong, 1.0, 0.5)}


class SharesAList(Right):
    """One list for all subjects, on the class."""

    reads_outcomes = True
    _hits: list = []

    def new_session(self, session, rng):
        self._hits.clear()

    def draw(self, session, rng):
        self._hits.extend(session.previous["outcome"] == Outcome.CORRECT)
        drawn = self.draw_conditions(rng, len(session))
        return {
            **drawn,
            "strength": np.full(len(session), 1.0 if sum(self._hits[-5:]) % 2 else 0.5),
        }


# ---------------------------------------------------------------------- D


class GlobalNumbers(Right):
    """Evidence from NumPy's global random numbers."""

    def strengths(self, trial):
        return super().strengths(trial) + np.random.standard_normal((trial.n, 2))  # noqa: NPY002


class DependsOnHashes(Right):
    """Evidence that depends on the hash of a text."""

    def strengths(self, trial):
        return super().strengths(trial) * (1 + hash("left") % 1000)


# ---------------------------------------------------------------------- T


class GoesBack(Right):
    """An answer starts the trial again."""

    def new_trial(self, trial):
        trial.periods("fixation", "stimulus", "decision", "end", end=300)
        trial.show("stimulus", self.strengths(trial), during="stimulus", noise=self.sigma)
        trial.answer("choose", trial["side"], during="decision", then="stimulus")


class SaysThatItGoesBack(GoesBack):
    """The same, with the periods named in `repeat`: no fault."""

    def new_trial(self, trial):
        names = ("fixation", "stimulus", "decision", "end")
        trial.periods(*names, repeat=names[1:3], end=300)
        trial.show("stimulus", self.strengths(trial), during="stimulus", noise=self.sigma)
        trial.answer("choose", trial["side"], during="decision", then="stimulus")


class RecordsAllSubjects(Right):
    """A column of the record is the sum over all subjects."""

    reads_outcomes = True

    def draw(self, session, rng):
        hits = (session.previous["outcome"] == 1).sum()
        session.record(hits=np.full(len(session), hits))
        return self.draw_conditions(rng, len(session))


class CountsInSteps(Right):
    """A period of eight steps at every dt."""

    def new_trial(self, trial):
        trial.periods("fixation", "stimulus", "decision", stimulus=8 * self.dt)
        trial.show("stimulus", self.strengths(trial), during="stimulus", noise=self.sigma)
        trial.answer("choose", trial["side"], during="decision")

    timing = {"stimulus": 800}


class LastsOtherwise(Right):
    """A period whose duration in `timing` is overridden in `new_trial`."""

    def new_trial(self, trial):
        trial.periods("fixation", "stimulus", "decision", stimulus=800)
        trial.show("stimulus", self.strengths(trial), during="stimulus", noise=self.sigma)
        trial.answer("choose", trial["side"], during="decision")


class LiesAboutDurations(Uniform):
    """Draws its upper bound more often than it says."""

    def sample(self, rng, n):
        drawn = super().sample(rng, n)
        return np.where(rng.random(n) < 0.3, self.bounds[1], drawn)


class LyingDurations(Right):
    """A duration that is not drawn as declared."""

    timing = {"fixation": LiesAboutDurations(200, 900)}


class UndeclaredValue(Right):
    """`draw` gives a strength that is not declared."""

    def new_session(self, session, rng):
        session.level = np.zeros(len(session))

    def draw(self, session, rng):
        drawn = self.draw_conditions(rng, len(session))
        return {**drawn, "strength": np.where(drawn["strength"] == 1.0, 0.7, drawn["strength"])}


class DrawsForItself(Right):
    """The recorded strength is drawn while trials are built."""

    def new_trial(self, trial):
        super().new_trial(trial)
        trial.layout.conditions["strength"] = trial.rng.choice([0.5, 1.0], trial.n)


class AsksTooLate(Right):
    """Some trials have no response window."""

    def new_trial(self, trial):
        trial.periods("fixation", "stimulus", "decision")
        trial.show("stimulus", self.strengths(trial), during="stimulus", noise=self.sigma)
        trial.answer("choose", trial["side"], during="decision", where=trial["strength"] == 1.0)


class PaysForHaste(Right):
    """An abort is rewarded."""

    rewards = {"abort": 0.05}


class NotesNothing(Right):
    """A covariate that is NaN in some trials."""

    def new_trial(self, trial):
        super().new_trial(trial)
        trial.record(difficulty=np.where(trial["strength"] == 1.0, 1.0, np.nan))


class LiesAboutValues(Choice):
    """Draws its first value in most trials, and says that all are equally likely."""

    def sample_index(self, rng, n):
        return np.where(rng.random(n) < 0.8, 0, super().sample_index(rng, n))

    def sample(self, rng, n):
        return self.support()[self.sample_index(rng, n)]


class LyingConditions(Right):
    """A condition that is not drawn as declared."""

    def define(self):
        super().define()
        self.vary(contrast=LiesAboutValues((0.1, 0.9)))

    def strengths(self, trial):
        return super().strengths(trial) * trial["contrast"][:, None]


# ---------------------------------------------------------------------- B


class WrongTarget(Right):
    """The target is the wrong action."""

    def step_target(self, now):
        return np.where(now.in_period("decision"), 2 - now.conditions["side"], 0)


class PaysForSilence(Right):
    """A miss pays more than an answer."""

    rewards = {"miss": 2.0}


class PaysInTheDark(Right):
    """A hook that pays for acting during fixation."""

    def step_action(self, now, action):
        early = now.in_period("fixation") & (action > 0)
        return early + right(now, action), None


class ShowsTooEarly(Right):
    """The evidence is shown during fixation."""

    def new_trial(self, trial):
        trial.periods("fixation", "stimulus", "decision")
        trial.show(
            "stimulus", self.strengths(trial), during=("fixation", "stimulus"), noise=self.sigma
        )
        trial.answer("choose", trial["side"], during="decision")


class LastsTooTellingly(Right):
    """The duration of fixation depends on the correct side."""

    def new_trial(self, trial):
        trial.periods("fixation", "stimulus", "decision", fixation=200 + 300 * trial["side"])
        trial.show("stimulus", self.strengths(trial), during="stimulus", noise=self.sigma)
        trial.answer("choose", trial["side"], during="decision")

    timing = {"fixation": Choice((200, 500))}


class HoldingTells(Right):
    """To break fixation costs something only where the correct choice is 1."""

    def new_trial(self, trial):
        super().new_trial(trial)
        trial.hold(during="fixation", cost=-0.1 * trial["side"])


class FixatingTells(Right):
    """A hook pays for fixation where the correct choice is 1."""

    def step_action(self, now, action):
        early = 0.01 * (now.in_period("fixation") & (now.conditions["side"] == 1))
        return early + right(now, action), None


class PaysErrorsOnTheLeft(Right):
    """The rewards of the trials on the left are those of the wrong choice."""

    def new_trial(self, trial):
        trial.periods("fixation", "stimulus", "decision")
        trial.show("stimulus", self.strengths(trial), during="stimulus", noise=self.sigma)
        side = trial["side"]
        trial.answer("choose", side, during="decision", correct=1.0 * side, error=1.0 - side)


class ShowsTheNextAnswer(Right):
    """The feedback of a trial shows the correct side of the next one."""

    trials_per_session = 100
    timing = {"feedback": 300}

    def define(self):
        super().define()
        self.vary(coming=Choice(2))

    def new_session(self, session, rng):
        session.coming = rng.integers(0, 2, len(session))

    def draw(self, session, rng):
        side = session.coming
        session.coming = rng.integers(0, 2, len(session))
        drawn = self.draw_conditions(rng, len(session))
        return {**drawn, "side": side, "coming": session.coming.copy()}

    def new_trial(self, trial):
        trial.periods("fixation", "stimulus", "decision", "feedback")
        trial.show("fixation", 1, during=("fixation", "stimulus"))
        trial.show("stimulus", self.strengths(trial), during="stimulus", noise=self.sigma)
        trial.show("stimulus", np.eye(2)[self.shown(trial)], during="feedback", noise=self.sigma)
        trial.answer("choose", trial["side"], during="decision", then="feedback")

    def shown(self, trial):
        return trial["coming"]


class ShowsItsAnswer(ShowsTheNextAnswer):
    """The feedback shows the correct side, which is often that of the next trial: no fault."""

    def draw(self, session, rng):
        drawn = super().draw(session, rng)
        session.coming = np.where(rng.random(len(session)) < 0.8, drawn["side"], session.coming)
        return {**drawn, "coming": session.coming.copy()}

    def shown(self, trial):
        trial.record("coming")
        return trial["side"]


class DeclaresTheOtherChoice(Right):
    """The declared correct choice is the wrong one."""

    def define(self):
        super().define()
        self.correct_choice(lambda known: 1 - known["side"])


class NamesTheOtherChoice(Right):
    """The declared correct choice has the name of the wrong one."""

    def define(self):
        self.observe(fixation=1, stimulus=2)
        self.act(fixate=1, choose=("left", "right"))
        self.vary(side=Choice(2), strength=Choice((0.5, 1.0)))
        self.correct_choice(lambda known: np.where(known["side"] == 0, "right", "left"))


class FavoursTheOtherChoice(Right):
    """The declared evidence is positive on the left."""

    def define(self):
        super().define()
        self.evidence(lambda known: known["strength"] * (1 - 2 * known["side"]))


class SidesByRow(Right):
    """The side of a trial is its row in the batch, so that sides alternate."""

    def define(self):
        self.observe(fixation=1, stimulus=2)
        self.act(fixate=1, choose=2)
        self.vary(side=lambda rng, prior: np.arange(prior.n) % 2, strength=Choice((0.5, 1.0)))
        self.correct_choice("side")


class FrozenNoise(Right):
    """The noise of the frames is that of a generator with a fixed seed."""

    timing = {"fixation": 200, "stimulus": 500, "decision": 500}

    def new_trial(self, trial):
        trial.periods("fixation", "stimulus", "decision")
        steps = round(500 / self.dt)
        noise = np.random.default_rng(0).normal(size=(trial.n, steps, 2)) * self.sigma
        frames = self.strengths(trial)[:, None] + noise
        trial.timecourse("stimulus", frames, during="stimulus")
        trial.answer("choose", trial["side"], during="decision")


class NoTimeToAnswer(Right):
    """In half of the trials, the window has no step."""

    timing = {"fixation": Uniform(200, 500), "stimulus": 500, "decision": Choice((0, 500))}


class Punished(Right):
    """A correct answer costs more than none."""

    rewards = {"abort": -0.1, "correct": -1.0, "error": -2.0}


class PaysEachStep(Right):
    """A hook pays for the right key on every step, also before the stimulus."""

    def step_action(self, now, action):
        return 1.0 * (now.conditions["side"] + 1 == action), None


class ForgetsItsNoise(Right):
    """The noise is not shown: an overridden method read `sigma`."""

    def new_trial(self, trial):
        trial.periods("fixation", "stimulus", "decision")
        trial.show("stimulus", self.strengths(trial), during="stimulus")
        trial.answer("choose", trial["side"], during="decision")


class ForgetsToPause(Right):
    """The pause after the trial is not among its periods."""

    timing = {"iti": 500}


# ---------------------------------------------------------------------- envs of Gymnasium


class RightEnv(gymnasium.Env):
    """A random walk; the subject keeps it near 0."""

    def __init__(self):
        self.observation_space = gymnasium.spaces.Box(-10, 10, shape=(2,), dtype=np.float32)
        self.action_space = gymnasium.spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.start()
        return self.look(), {}

    def start(self):
        self.count, self.place, self.drawn = 0, self.generator().uniform(-1, 1), 0.0

    def generator(self):
        return self.np_random

    def step(self, action):
        self.count += 1
        self.drawn = self.generator().normal() * 0.1
        self.place = float(np.clip(self.place + (action - 1) * 0.5 + self.drawn, -5, 5))
        return self.look(), self.pay(), False, self.count == 40, {}

    def look(self):
        return np.array([self.place, self.drawn], np.float32).clip(-10, 10)

    def pay(self):
        return -abs(self.place)


class SeedsAsItLikes(RightEnv):
    """Does not pass the seed to Gymnasium."""

    def reset(self, *, seed=None, options=None):
        if seed is not None or not hasattr(self, "own"):
            self.own = np.random.default_rng(seed)
        self.start()
        return self.look(), {}

    def generator(self):
        return self.own


class DrawsNothing(RightEnv):
    """Declares a render mode, but does not render."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}

    def __init__(self, render_mode=None):
        super().__init__()
        self.render_mode = render_mode

    def render(self):
        return None


class CannotBeCopied(RightEnv):
    """Has an attribute that cannot be copied."""

    def __init__(self):
        super().__init__()
        self.watch = (number for number in itertools.count())


class RewardsAtRandom(RightEnv):
    """Rewards from Python's global random numbers."""

    def pay(self):
        return random.random()


class BeginsAgain(RightEnv):
    """Without a seed, uses the previous one."""

    def reset(self, *, seed=None, options=None):
        self.seed = getattr(self, "seed", 0) if seed is None else seed
        return super().reset(seed=self.seed)


class HasOneSeed(RightEnv):
    """All seeds give the same random numbers."""

    def reset(self, *, seed=None, options=None):
        if seed is not None or not hasattr(self, "own"):
            self.own = np.random.default_rng(0)
        return super().reset(seed=seed)

    def generator(self):
        return self.own


class WalksAway(RightEnv):
    """Observations leave the observation space after some steps."""

    def look(self):
        return super().look() + np.float32(self.count)


class GoesBlank(RightEnv):
    """An observation is NaN after some steps."""

    def look(self):
        return super().look() * np.float32(np.nan if self.count == 30 else 1)


class TellsNaN(RightEnv):
    """`info` has an unknown reaction time as NaN."""

    def step(self, action):
        observation, reward, terminated, truncated, _ = super().step(action)
        return observation, reward, terminated, truncated, {"reaction_time": float("nan")}


class WritesOver(RightEnv):
    """Returns the same array again and again."""

    def look(self):
        if not hasattr(self, "array"):
            self.array = np.zeros(2, np.float32)
        self.array[:] = self.place, self.drawn
        return self.array


# ---------------------------------------------------------------------- classic envs


class RightClassic(PeriodEnv):
    """Report a side, in the classic form."""

    def __init__(self, dt=100, **kwargs):
        super().__init__(dt=dt)
        self.timing = {"fixation": 300, "stimulus": 500, "decision": 300}
        self.rewards = {"abort": -0.1, "correct": 1.0, "fail": 0.0}
        self.observation_space = spaces.Box(-np.inf, np.inf, shape=(3,), dtype=np.float32)
        self.action_space = spaces.Discrete(3)

    def _new_trial(self, **kwargs):
        trial = {"side": int(self.rng.randint(1, 3)), **kwargs}
        self.add_period(["fixation", "stimulus", "decision"])
        self.add_ob(1, ["fixation", "stimulus"], where=[0])
        self.add_ob(1, "stimulus", where=[trial["side"]])
        self.add_randn(0, 0.5, "stimulus")
        self.set_groundtruth(trial["side"], "decision")
        return trial

    def _step(self, action):
        reward, new_trial = 0.0, False
        if self.in_period("fixation") and action != 0:
            reward = self.rewards["abort"]
        elif self.in_period("decision") and action != 0:
            new_trial = True
            reward = self.rewards["correct" if action == self.gt_now else "fail"]
        return self.ob_now, reward, False, False, {"new_trial": new_trial, "gt": self.gt_now}


class NeverEnds(RightClassic):
    """A trial without an answer never ends."""

    def _step(self, action):
        if self.t > 900:
            self.t = self.t_ind = 0
        return super()._step(action)


class NoSuchAction(RightClassic):
    """The target is an action that does not exist."""

    def _step(self, action):
        observation, reward, terminated, truncated, info = super()._step(action)
        return observation, reward, terminated, truncated, {**info, "gt": 9}


class TellsPerformanceEarly(RightClassic):
    """Gives the performance of a trial on every step."""

    def step(self, action):
        observation, reward, terminated, truncated, info = super().step(action)
        performance = info.get("performance", 0.0)
        return observation, reward, terminated, truncated, {**info, "performance": performance}
