"""Small tasks of every type, for tests of several packages."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from neurogym_core import Axis, Choice, Outcome, Ring, Task, Uniform


class Choosing(Task):
    """Three choices, one correct; the first channel is a go cue."""

    timing: ClassVar = {"fixation": 100, "stimulus": 300, "decision": 200}

    def define(self):
        self.observe(fixation=1, stimulus=3)
        self.act(fixate=1, choose=3)
        self.vary(side=Choice(3), strength=Choice((1, 2, 3, 4)))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("fixation", "stimulus", "decision")
        trial.show("fixation", 1, during=("fixation", "stimulus"))
        trial.show(
            "stimulus",
            np.eye(3)[trial["side"]] * trial["strength"][:, None],
            during="stimulus",
            noise=1,
        )
        trial.answer("choose", trial["side"], during="decision")


class TwoSides(Choosing):
    """Two choices on a ring, after a delay of random duration."""

    timing: ClassVar = {"delay": Uniform(100, 500)}

    def define(self):
        self.ring = Ring(2)
        self.observe(fixation=1, stimulus=self.ring)
        self.act(fixate=1, choose=self.ring)
        self.vary(side=Choice(2), strength=Choice((1.0, 2.0)))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("fixation", "stimulus", "delay", "decision")
        trial.show("fixation", 1, during=("fixation", "stimulus", "delay"))
        trial.show(
            "stimulus",
            self.ring.cosine(trial["side"], trial["strength"]),
            during="stimulus",
            noise=1,
        )
        trial.answer("choose", trial["side"], during="decision")


class Computed(Choosing):
    """The correct answer is computed from two conditions."""

    def define(self):
        self.observe(fixation=1, stimulus=2)
        self.act(fixate=1, choose=3)
        self.vary(a=Choice(3), b=Choice(3))
        self.correct_choice(lambda drawn: (drawn["a"] + drawn["b"]) % 3)

    def new_trial(self, trial):
        trial.periods("fixation", "stimulus", "decision")
        trial.show("fixation", 1, during=("fixation", "stimulus"))
        trial.show("stimulus", np.stack([trial["a"], trial["b"]], axis=1), during="stimulus")
        trial.answer("choose", trial.correct_choice, during="decision")


class Going(Task):
    """Go or withhold."""

    timing: ClassVar = {"fixation": 100, "stimulus": 200, "decision": 200}

    def define(self):
        self.observe(fixation=1, stimulus=2)
        self.act(fixate=1, go=1)
        self.vary(go=Choice(2))
        self.correct_choice("go")

    def new_trial(self, trial):
        trial.periods("fixation", "stimulus", "decision")
        trial.show("fixation", 1, during=("fixation", "stimulus"))
        trial.show("stimulus", np.eye(2)[trial["go"]], during="stimulus")
        trial.answer("go", trial["go"] - 1, during="decision")


class Arms(Task):
    """A bandit without a rest action or correct answers."""

    timing: ClassVar = {"decision": 200}
    supervised = False

    def define(self):
        self.observe(on=1)
        self.act(arm=2)
        self.vary(good=Choice(2))

    def new_trial(self, trial):
        trial.periods("decision")
        trial.show("on", 1, during="decision")
        trial.offer("arm", np.eye(2)[trial["good"]], during="decision")


class Learning(Arms):
    """The good arm depends on the last choice."""

    reads_outcomes = True

    def draw(self, session, rng):
        last = session.previous["choice"]
        return {"good": np.where(last == 0, 1, 0)}


class Tally(Arms):
    """It counts the trials that it learns of, in `draw` or in `new_session`."""

    reads_outcomes = True

    def define(self):
        super().define()
        self.vary(counted=int)

    def new_session(self, session, rng):
        subject = session.subject
        if not hasattr(subject, "counted"):
            subject.counted = np.zeros(len(session), int)
        if subject.previous:
            subject.counted += subject.previous["outcome"] > 0

    def draw(self, session, rng):
        session.subject.counted += session.previous["outcome"] > 0
        good = rng.integers(0, 2, len(session))
        return {"good": good, "counted": session.subject.counted.copy()}


class Counted(Arms):
    """It counts its trials, and the hits among the last three."""

    reads_outcomes = True

    def define(self):
        super().define()
        self.vary(number=int, hits=int)

    def new_session(self, session, rng):
        session.number = np.zeros(len(session), int)
        session.outcomes = np.zeros((len(session), 3), bool)

    def draw(self, session, rng):
        session.number = session.number + 1
        hit = session.previous["outcome"] == Outcome.CORRECT
        session.outcomes = np.column_stack((session.outcomes[:, 1:], hit))
        decided = {"number": session.number, "hits": session.outcomes.sum(axis=1)}
        return self.draw_conditions(rng, len(session), decided)


class Blocked(Choosing):
    """It draws its strength in blocks."""

    def new_session(self, session, rng):
        session.strength = rng.integers(1, 5, len(session))

    def draw(self, session, rng):
        session.strength = np.where(
            session.trial % 5 == 0, session.strength % 4 + 1, session.strength
        )
        return self.draw_conditions(rng, len(session), {"strength": session.strength})


class Timed(Task):
    """Press at a given time."""

    timing: ClassVar = {"ready": 200, "produce": 1000}

    def define(self):
        self.observe(cue=1)
        self.act(rest=1, press=1)
        self.vary(interval=Choice((300, 500)))

    def new_trial(self, trial):
        trial.periods("ready", "produce")
        trial.show("cue", trial["interval"] / 500, during="ready")
        trial.answer_at("press", trial["interval"], "produce", tolerance=100)


class Steering(Task):
    """Hold a continuous value, scored on every step."""

    timing: ClassVar = {"hold": 300}

    def define(self):
        self.observe(wanted=1)
        self.act(value=Axis(-1, 1))
        self.vary(wanted=Uniform(-1, 1))

    def new_trial(self, trial):
        trial.periods("hold")
        trial.show("wanted", trial["wanted"], during="hold")
        trial.answer("value", trial["wanted"][:, None], during="hold", tolerance=0.1)


class Counting(Choosing):
    """Computed on every step: it shows the number of actions so far."""

    trial_state: ClassVar = {"count": 0}

    def step_action(self, now, action):
        now.trial_state["count"] += action > 0
        return None, None

    def step_observation(self, now, obs):
        return obs + now.trial_state["count"][:, None]


class Pulses(Task):
    """Signals that change on every step."""

    timing: ClassVar = {"fixation": Uniform(0, 300), "pulses": 600, "decision": 100}

    def define(self):
        self.observe(clicks=2)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2), rate=Choice((2, 4)))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("fixation", "pulses", "decision")
        steps = np.arange(6)
        on = (steps[None, :, None] < trial["rate"][:, None, None]) * np.eye(2)[trial["side"]][
            :, None
        ]
        trial.timecourse("clicks", on, during="pulses")
        trial.answer("choose", trial["side"], during="decision")


KINDS = (
    Choosing,
    TwoSides,
    Computed,
    Going,
    Arms,
    Learning,
    Blocked,
    Timed,
    Steering,
    Counting,
)


class Waiting(Task):
    """A cue that changes, a wait without a timer, and two rounds of an answer; the limit is short
    for some trials."""

    timing = {"cue": Uniform(100, 400), "wait": float("inf"), "light": 200, "go": 200, "end": 500}
    max_duration: float | None = 1900

    def define(self):
        self.observe(light=2)
        self.act(rest=1, press=1, choose=2)
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("cue", "wait", "light", "go", "end", repeat=("light", "go"))
        steps = int((trial.duration("cue") / trial.dt).max())
        trial.timecourse("light", np.arange(1, steps + 1), during="cue")
        trial.show("light", 0.5, during="wait", stop=300, noise=0.5)
        trial.show("light", trial["side"][:, None] == [0, 1], during="light")
        trial.answer("press", 0, during="wait", start=200, then="light", slot="start")
        trial.answer("choose", trial["side"], during="go", then="light")


class Halved(Task):
    """A continuous answer whose reward is a function of the author."""

    timing = {"point": 300}

    def define(self):
        self.observe(place=1)
        self.act(go=Axis(-1, 1, rest=-1, trigger=0), place=Axis(-1, 1))
        self.vary(place=Uniform(-1, 1))

    def new_trial(self, trial):
        trial.periods("point")
        trial.show("place", trial["place"], during="point")
        trial.answer("place", trial["place"], during="point", tolerance=0.5, pays=halved)


def halved(error: np.ndarray, tolerance: np.ndarray) -> np.ndarray:
    return 1 - error / tolerance / 2
