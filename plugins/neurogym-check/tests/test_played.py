"""The audit plays: each policy is found in a small task that it solves, and none in a clean task.

Tests on single trials have 2,048 trials or 64 sessions, so that the SD of a performance is below
0.02; their bounds are 5 SDs away (false alarm below 1e-6). Seeds are fixed.
"""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_check.audit.measures import Measure, measure_shortcuts

from neurogym_core import END, STAY, Choice, Outcome, Task
from neurogym_core.tools import TaskInfo

ONE_OF_TWO = np.eye(2)


class Sides(Task):
    """Report the side of a light; the sides of a session follow `coming`."""

    trials_per_session = 100
    timing = {"stimulus": 100, "decision": 200}

    def define(self):
        self.observe(stimulus=2)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_session(self, session, rng):
        session.number = np.zeros(len(session), int)

    def draw(self, session, rng):
        session.number = session.number + 1
        return {"side": self.coming(session, rng)}

    def coming(self, session, rng):
        return rng.integers(0, 2, len(session))

    def new_trial(self, trial):
        trial.periods("stimulus", "decision")
        trial.show("stimulus", ONE_OF_TWO[trial["side"]], during="stimulus", noise=10.0)
        trial.answer("choose", trial["side"], during="decision")


class EightEach(Sides):
    """The side changes after eight trials."""

    def coming(self, session, rng):
        return (session.number - 1) // 8 % 2


class Alternating(Sides):
    """The side changes with each trial; the first one is random."""

    def new_session(self, session, rng):
        session.side = rng.integers(0, 2, len(session))

    def draw(self, session, rng):
        session.side = 1 - session.side
        return {"side": session.side.copy()}


class Opposed(Sides):
    """The side is the one that the subject did not choose in the last trial."""

    reads_outcomes = True

    def draw(self, session, rng):
        choice = session.previous["choice"]
        side = np.where(choice >= 0, 1 - choice, rng.integers(0, 2, len(session)))
        return {"side": side}


class Stopping(Task):
    """Report a light, unless a tone follows, late in the window."""

    dt = 20
    timing = {"fixation": 100, "decision": 400}

    def define(self):
        self.observe(light=2, tone=1)
        self.act(rest=1, choose=2)
        self.vary(stop=Choice((0, 1)))

    def new_trial(self, trial):
        trial.periods("fixation", "decision")
        trial.show("light", ONE_OF_TWO[0], during="decision")
        stops = trial["stop"] == 1
        trial.show("tone", 1, during="decision", start=300, where=stops)
        trial.answer("choose", np.where(stops, -1, 0), during="decision")


class Recent(Sides):
    """Report whether a picture was shown two trials ago; no other one of the last is repeated."""

    def define(self):
        self.observe(picture=6)
        self.act(rest=1, choose=2)
        self.vary(picture=Choice(6), seen=Choice(2))
        self.correct_choice("seen")

    def new_session(self, session, rng):
        session.last = np.tile([0, 1], (len(session), 1))

    def draw(self, session, rng):
        n = len(session)
        seen = rng.integers(0, 2, n)
        fresh = rng.integers(2, 6, n)
        shift = np.array([[k for k in range(6) if k not in row] for row in session.last.tolist()])
        picture = np.where(seen, session.last[:, 0], shift[np.arange(n), fresh - 2])
        session.last = np.column_stack([session.last[:, 1], picture])
        return {"picture": picture, "seen": seen}

    def new_trial(self, trial):
        trial.periods("stimulus", "decision")
        trial.show("picture", np.eye(6)[trial["picture"]], during="stimulus")
        trial.answer("choose", trial["seen"], during="decision")


class Twice(Task):
    """Report a side twice; both answers are the same."""

    timing = {"first": 100, "second": 100}

    def define(self):
        self.observe(stimulus=2)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2))

    def new_trial(self, trial):
        trial.periods("first", "second")
        trial.show("stimulus", ONE_OF_TWO[trial["side"]], during="first")
        trial.answer("choose", trial["side"], during="first", slot="one", then="wait")
        trial.answer("choose", trial["side"], during="second", slot="two", then="wait")


class Produce(Task):
    """Answer after 460 to 540 ms; the oracle's moments are elsewhere than the best one."""

    dt = 20
    timing = {"fixation": 100, "production": 1000}

    def define(self):
        self.observe(fixation=1)
        self.act(rest=1, go=1)
        self.vary(interval=Choice((460, 540)))

    def new_trial(self, trial):
        trial.periods("fixation", "production")
        trial.show("fixation", 1, during="fixation")
        trial.answer_at("go", trial["interval"], during="production", tolerance=40)


class EveryThird(Task):
    """Answer a question again and again; every third time, the other answer is right."""

    max_duration = 6000
    timing = {"gap": 100, "ask": 100}
    trial_state = {"number": 0}

    def define(self):
        self.observe(light=1)
        self.act(rest=1, choose=2)
        self.vary(coins=lambda rng, prior: rng.random((prior.n, 40)) < 1 / 3)

    def wants(self, now):
        return now.trial_state["number"] % 3 == 2

    def new_trial(self, trial):
        trial.periods("gap", "ask", repeat=("gap", "ask"))
        trial.offer("choose", 0, during="ask", then=("gap", "gap"), again=True)
        trial.max_reward(29.0)

    def step_action(self, now, action):
        answered = now.in_period("ask") & (action > 0)
        right = answered & (action == 1 + self.wants(now))
        now.trial_state["number"] = now.trial_state["number"] + answered
        return 1.0 * right, None

    def step_observation(self, now, obs):
        obs[:, 0] = now.in_period("ask") & self.wants(now)
        return obs

    def step_target(self, now):
        return now.in_period("ask") * (1 + self.wants(now))


class ThirdAtRandom(EveryThird):
    """In a third of the questions, the other answer is right; the light shows in which."""

    def wants(self, now):
        return now.conditions["coins"][np.arange(now.n), now.trial_state["number"]]


class LeftsThenRight(Task):
    """Choose left exactly three times in a row, and then right; nothing shows when."""

    timing = {"work": 1500}
    trial_state = {"lefts": 0}

    def define(self):
        self.observe(light=1)
        self.act(rest=1, choose=("left", "right"))
        self.vary(onset=lambda rng, prior: rng.integers(1, 13, prior.n))

    def new_trial(self, trial):
        trial.periods("work")
        last = trial.duration("work") - self.dt
        trial.answer("choose", 1, during="work", start=last, then="wait", slot="work", correct=0)
        trial.max_reward(1.0)

    def is_time(self, now):
        """Whether to choose right."""
        return now.trial_state["lefts"] == 3

    def before(self, now):
        """The action before it is time."""
        return 1

    def step_action(self, now, action):
        right = action == 2
        paid = right & self.is_time(now)
        ended = right | (now.remaining < 1.5 * self.dt)
        lefts = now.trial_state["lefts"]
        now.trial_state["lefts"] = np.where(action == 1, lefts + 1, 0)
        now.answer(ended, np.where(right, 1, 0), np.where(paid, Outcome.CORRECT, Outcome.ERROR))
        return 1.0 * paid, np.where(ended, END, STAY)

    def step_target(self, now):
        return np.where(self.is_time(now), 2, self.before(now))


class WhenLit(LeftsThenRight):
    """Choose right in the step that follows a light; it comes after 1 to 12 steps, at random."""

    def step_observation(self, now, obs):
        obs[:, 0] = self.is_time(now)
        return obs

    def is_time(self, now):
        return np.round(now.elapsed / self.dt) == now.conditions["onset"]

    def before(self, now):
        return 0


class InTurn(Sides):
    """Copy one light for five trials, then the other one; the outcomes of the subject are read."""

    reads_outcomes = True

    def define(self):
        self.observe(first=2, second=2)
        self.act(rest=1, choose=2)
        self.vary(one=Choice(2), two=Choice(2), side=Choice(2))
        self.correct_choice("side")

    def draw(self, session, rng):
        one, two = rng.integers(0, 2, (2, len(session)))
        side = np.where(session.number // 5 % 2, two, one)
        session.number = session.number + 1
        return {"one": one, "two": two, "side": side}

    def new_trial(self, trial):
        trial.periods("stimulus", "decision")
        trial.show("first", ONE_OF_TWO[trial["one"]], during="stimulus")
        trial.show("second", ONE_OF_TWO[trial["two"]], during="stimulus")
        trial.answer("choose", trial["side"], during="decision")


def measures(task: type[Task]) -> dict[str, Measure]:
    return measure_shortcuts(task()).measures


@pytest.mark.parametrize(
    ("task", "policy", "least"),
    [
        (EightEach, "counter", 0.95),
        (Alternating, "history", 0.95),
        (Opposed, "counter", 0.95),
        (Stopping, "waiter", 0.95),
        (Recent, "familiar", 0.95),
        (Twice, "copied", 0.95),
        (Produce, "clock", 0.95),
        (EveryThird, "rhythm", 0.95),
        (InTurn, "channel_counter", 0.95),
    ],
)
def test_a_policy_is_found_where_it_solves_the_task(task, policy, least):
    assert measures(task)[policy].low > least


def test_a_rhythm_earns_no_more_than_the_best_answer_where_there_is_none():
    found = measures(ThirdAtRandom)
    assert found["oracle"].score > 0.95
    assert abs(found["rhythm"].score - 2 / 3) < 0.06


def test_a_sequence_of_actions_is_found_where_it_solves_the_task():
    found = measures(LeftsThenRight)
    assert found["oracle"].score == found["sequence"].score == 1
    assert max(found[name].high for name in ("constant", "clock", "random", "guess")) < 0.2


@pytest.mark.slow
def test_a_sequence_of_actions_earns_little_where_moments_are_random():
    """One of twelve moments is right; 4 SDs of 2,000 trials are 0.025."""
    found = measures(WhenLit)
    assert found["oracle"].score == 1
    assert 1 / 12 - 0.025 < found["sequence"].score < 1 / 12 + 0.025


def test_a_fixed_answer_earns_what_it_earns_by_playing():
    """The oracle's trials of this task alternate, so half of them want each side."""
    found = measures(Opposed)
    assert found["constant"].score < 0.02
    assert found["oracle"].score == 1
    assert abs(found["guess"].score - 0.5) < 0.05


@pytest.mark.slow
def test_no_classifier_is_fitted_where_trials_depend_on_outcomes():
    assert not {"all", "durations", "last"} & set(measures(Opposed))
    assert "all" in measures(Sides)


def test_no_policy_exceeds_chance_where_there_is_no_shortcut():
    """Each interval lies above 0.5 in 2.5 % of seeds, two of nine in 2 %."""
    audit = measure_shortcuts(Sides())
    names = {*TaskInfo.BLIND, "history", "winstay", "familiar"} & set(audit.measures)
    assert len(names) >= 9
    assert sum(audit.measures[name].low > 0.5 for name in names) <= 1
    assert not audit.within_reach()


def test_chance_is_the_best_policy_that_sees_nothing():
    audit = measure_shortcuts(EightEach())
    assert audit.chance == audit.measures["counter"]


def test_the_interval_of_sessions_that_differ_is_wider_than_that_of_trials():
    same = Measure.of(np.tile([0.0, 1.0], (10, 50)))
    differ = Measure.of(np.repeat([[0.0], [1.0]], 5, axis=0) * np.ones((10, 100)))
    assert same.score == differ.score == 0.5
    assert same.high - same.low < 0.1
    assert differ.high - differ.low > 0.5
