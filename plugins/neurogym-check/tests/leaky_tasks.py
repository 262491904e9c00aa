"""Small tasks, each with a shortcut that was once found in a task of this project, put back.

A task and its variant, which has no shortcut, differ in one place. `test_shortcuts` names the
measures that must find it.
"""

from __future__ import annotations

import numpy as np

from neurogym_core import END, STAY, Axis, Choice, Outcome, Task, Uniform

ONE_OF_TWO = np.eye(2)


# ---------------------------------------------------------------------- moments


class WideWindow(Task):
    """Produce an interval; the window of correct times is so wide that most include one moment."""

    dt = 20
    share: float = 0.25

    timing = {"fixation": 200}

    def define(self):
        self.observe(light=1)
        self.act(rest=1, go=1)
        self.vary(interval=Uniform(800, 1500))

    def new_trial(self, trial):
        trial.periods(
            "fixation", "measure", "production", measure=trial["interval"], production=2500
        )
        trial.show("light", 1, during="measure")
        tolerance = self.share * trial["interval"]
        trial.answer_at("go", trial["interval"], during="production", tolerance=tolerance)


class NarrowWindow(WideWindow):
    """The window is narrow."""

    share: float = 0.05


class JudgedLate(Task):
    """Follow a direction that builds up; only the last moment is judged."""

    dt = 20
    judged: tuple = ("late",)

    timing = {"early": 100, "late": 100}

    def define(self):
        self.observe(motion=2)
        self.act(report=Axis(0, 1, rest=0.5, size=2))
        self.vary(side=Choice(2))

    def new_trial(self, trial):
        trial.periods("early", "late")
        shown = ONE_OF_TWO[trial["side"]]
        trial.show("motion", shown, during=("early", "late"))
        targets = {"early": np.full((trial.n, 2), 0.5), "late": shown}
        for period in self.judged:
            trial.answer(
                "report", targets[period], tolerance=0.2, slot=period, during=period, then="wait"
            )


class JudgedThroughout(JudgedLate):
    """The direction is judged at two moments."""

    judged: tuple = ("early", "late")


# ---------------------------------------------------------------------- cues and channels


class RedundantCue(Task):
    """Match a test to the cued one of two items; it is shown where the cued item was."""

    own_channel: bool = False

    timing = {"sample": 300, "cue": 300, "test": 300, "decision": 300}

    def define(self):
        self.observe(first=1, second=1, cue=2, probe=1)
        self.act(rest=1, choose=2)
        self.vary(
            items=lambda rng, prior: rng.choice((-1, 1), (prior.n, 2)),
            cued=Choice(2),
            match=Choice(2),
        )
        self.correct_choice("match")  # fmt: skip

    def new_trial(self, trial):
        trial.periods("sample", "cue", "test", "decision")
        trial.show("first", trial["items"][:, 0], during="sample")
        trial.show("second", trial["items"][:, 1], during="sample")
        trial.show("cue", ONE_OF_TWO[trial["cued"]], during="cue")
        item = trial["items"][np.arange(trial.n), trial["cued"]]
        test = np.where(trial["match"] == 1, item, -item)
        if self.own_channel:
            trial.show("probe", test, during="test")
        else:
            trial.show("first", test, during="test", where=trial["cued"] == 0)
            trial.show("second", test, during="test", where=trial["cued"] == 1)
        trial.answer("choose", trial["match"], during="decision")


class NeededCue(RedundantCue):
    """The test has a separate channel."""

    own_channel: bool = True


class FixedMean(Task):
    """Compare two stimuli whose mean is always the same, so that either one suffices."""

    roving: float = 0.0

    timing = {"first": 300, "delay": 300, "second": 300, "decision": 300}

    def define(self):
        self.observe(stimulus=1)
        self.act(rest=1, choose=2)
        self.vary(larger=Choice(2), mean=Uniform(-self.roving, self.roving))
        self.correct_choice("larger")

    def new_trial(self, trial):
        trial.periods("first", "delay", "second", "decision")
        difference = 0.2 * (2 * trial["larger"] - 1)
        trial.show("stimulus", trial["mean"] - difference, during="first", noise=0.2)
        trial.show("stimulus", trial["mean"] + difference, during="second", noise=0.2)
        trial.answer("choose", trial["larger"], during="decision")


class RovingMean(FixedMean):
    """The mean differs from trial to trial."""

    roving: float = 1.5


class OneModality(Task):
    """Judge evidence in two modalities, of which either one suffices."""

    conflict: bool = False

    timing = {"stimulus": 300, "decision": 300}

    def define(self):
        self.observe(visual=1, auditory=1)
        self.act(rest=1, choose=2)
        self.vary(visual_side=Choice((-1, 1)), auditory_side=Choice((-1, 1)))
        self.correct_choice(lambda given: self.side(given["visual_side"], given["auditory_side"]))

    def side(self, visual, auditory):
        """Return the right choice, 0 or 1."""
        return (visual * auditory > 0).astype(int) if self.conflict else (visual > 0).astype(int)

    def new_trial(self, trial):
        trial.periods("stimulus", "decision")
        heard = trial["auditory_side"] if self.conflict else trial["visual_side"]
        trial.show("visual", trial["visual_side"], during="stimulus", noise=0.1)
        trial.show("auditory", heard, during="stimulus", noise=0.1)
        trial.answer(
            "choose", self.side(trial["visual_side"], trial["auditory_side"]), during="decision"
        )


class BothModalities(OneModality):
    """The answer is whether the modalities agree."""

    conflict: bool = True


class AmountAlone(Task):
    """Choose the better of two offers of two juices; the amounts nearly always decide."""

    worth: float = 1.05

    timing = {"offer": 300, "decision": 300}

    def define(self):
        self.observe(juice=1, amount=2)
        self.act(rest=1, choose=2)
        self.vary(
            better_left=Choice((False, True)),
            amounts=lambda rng, prior: rng.uniform(1, 4, (prior.n, 2)),
        )
        self.correct_choice(lambda given: self.best(given["amounts"], given["better_left"]))

    def best(self, amounts, better_left):
        """Return the offer of the larger value, 0 or 1."""
        left = amounts[:, 0] * np.where(better_left, self.worth, 1)
        right = amounts[:, 1] * np.where(better_left, 1, self.worth)
        return (right > left).astype(int)

    def new_trial(self, trial):
        trial.periods("offer", "decision")
        trial.show("juice", 2 * trial["better_left"] - 1, during="offer")
        trial.show("amount", trial["amounts"], during="offer")
        trial.answer("choose", self.best(trial["amounts"], trial["better_left"]), during="decision")


class BothMatter(AmountAlone):
    """Juices differ in their worth as much as amounts do."""

    worth: float = 2.5


class DisplayAlone(Task):
    """Find a sample among four items; it is the only one of its type."""

    all_differ: bool = False

    timing = {"sample": 300, "delay": 300, "display": 300}

    def define(self):
        self.observe(sample=4, display=16)
        self.act(rest=1, choose=4)
        self.vary(
            target=Choice(4),
            item=Choice(4),
            other=Choice((1, 2, 3)),
            order=lambda rng, prior: np.argsort(rng.random((prior.n, 3)), axis=1),
        )
        self.correct_choice("target")  # fmt: skip

    def new_trial(self, trial):
        trial.periods("sample", "delay", "display")
        trial.show("sample", np.eye(4)[trial["item"]], during="sample")
        rows = np.arange(trial.n)[:, None]
        types = (trial["item"] + trial["other"])[:, None].repeat(4, axis=1) % 4
        others = (trial["item"][:, None] + 1 + trial["order"]) % 4
        if self.all_differ:
            places = (trial["target"][:, None] + np.arange(1, 4)) % 4
            types[rows, places] = others
        types[rows[:, 0], trial["target"]] = trial["item"]
        trial.show("display", np.eye(4)[types].reshape(trial.n, 16), during="display")
        trial.answer("choose", trial["target"], during="display")


class SampleNeeded(DisplayAlone):
    """All items differ."""

    all_differ: bool = True


class LastOfSeveral(Task):
    """Report the side of two or three stimuli; that of the last one is the answer."""

    all_count: bool = False

    timing = {"decision": 300}

    def define(self):
        self.observe(stimulus=1)
        self.act(rest=1, choose=2)
        self.vary(count=Choice((2, 3)), sides=lambda rng, prior: rng.normal(size=(prior.n, 3)))

    def new_trial(self, trial):
        third = 300 * (trial["count"] == 3)
        trial.periods("first", "second", "third", "decision", first=300, second=300, third=third)
        for k, period in enumerate(("first", "second", "third")):
            trial.show("stimulus", trial["sides"][:, k], during=period)
        shown = trial["sides"] * (np.arange(3) < trial["count"][:, None])
        last = trial["sides"][np.arange(trial.n), trial["count"] - 1]
        evidence = shown.sum(axis=1) if self.all_count else last
        trial.answer("choose", (evidence > 0).astype(int), during="decision")


class SumOfSeveral(LastOfSeveral):
    """The side of their sum is the answer."""

    all_count: bool = True


class OneLook(Task):
    """Report the side of noisy evidence; any 100 ms of the second are right in 89 %."""

    sigma: float = 8.0

    timing = {"stimulus": 1000, "decision": 300}

    def define(self):
        self.observe(stimulus=1)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("stimulus", "decision")
        trial.show("stimulus", 2 * trial["side"] - 1, during="stimulus", noise=self.sigma)
        trial.answer("choose", trial["side"], during="decision")


class ManyLooks(OneLook):
    """With more noise, 100 ms are right in 63 %, and the second in 85 %."""

    sigma: float = 30.0


# ---------------------------------------------------------------------- durations


class LastInterval(Task):
    """Compare two intervals of a narrow range; the second alone is right in most trials."""

    roving: bool = False

    timing = {"delay": 500, "decision": 300}

    def define(self):
        self.observe(tone=1)
        self.act(rest=1, choose=2)
        self.vary(
            base=Uniform(300, 3000) if self.roving else Uniform(600, 700),
            difference=Uniform(40, 200),
            longer=Choice(2),
        )
        self.correct_choice("longer")  # fmt: skip

    def new_trial(self, trial):
        half = trial["difference"] / 2 * (2 * trial["longer"] - 1)
        trial.periods("first", "delay", "second", "decision", first=trial["base"] - half,
                      second=trial["base"] + half)  # fmt: skip
        trial.show("tone", 1, during=("first", "second"))
        trial.answer("choose", trial["longer"], during="decision")

    dt = 10


class RovingIntervals(LastInterval):
    """Intervals differ more from trial to trial than within one."""

    roving: bool = True


class TellingDelay(Task):
    """Report a side, which the duration of the delay shows as well as the stimulus."""

    longer_for_one: float = 300.0

    timing = {"stimulus": 300, "decision": 300}

    def define(self):
        self.observe(stimulus=1)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2), jitter=Uniform(0, 300))
        self.correct_choice("side")

    def new_trial(self, trial):
        delay = 500 + trial["jitter"] + self.longer_for_one * trial["side"]
        trial.periods("stimulus", "delay", "decision", delay=delay)
        trial.show("stimulus", trial["side"], during="stimulus", noise=0.1)
        trial.answer("choose", trial["side"], during="decision")


class SilentDelay(TellingDelay):
    """The delay is as long for both sides."""

    longer_for_one: float = 0.0


class WhenItCame(Task):
    """Report whether a tone came early, late or not at all in a noise of any duration.

    The tone cannot be heard, and no duration of a period shows when it came.
    """

    heard: float = 0.0

    timing = {"wait": 200, "decision": 300}

    def define(self):
        self.observe(fixation=1, sound=1)
        self.act(rest=1, choose=3)
        self.vary(tone=Choice(3), noise=Uniform(1500, 2000))
        self.correct_choice("tone")

    def new_trial(self, trial):
        trial.periods("wait", "noise", "decision", noise=trial["noise"])
        trial.show("fixation", 1, during=("wait", "noise"))
        trial.show("sound", 0, during="noise", noise=5.0)
        onset = np.take((0, 400, 900), trial["tone"])
        came = trial["tone"] > 0
        trial.show("sound", 0.01 + self.heard, during="noise", start=onset, stop=onset + 100,
                   where=came)  # fmt: skip
        trial.answer("choose", trial["tone"], during="decision")


class WhenItWasHeard(WhenItCame):
    """The tone can be heard."""

    heard: float = 4.0


# ---------------------------------------------------------------------- answers and histories


class AlwaysMatches(Task):
    """Go if a test matches; it nearly always does."""

    matches: float = 0.95

    timing = {"stimulus": 300, "decision": 300}

    def define(self):
        self.observe(stimulus=2)
        self.act(rest=1, go=1)
        self.vary(match=Choice((False, True), (1 - self.matches, self.matches)))

    def new_trial(self, trial):
        trial.periods("stimulus", "decision")
        trial.show("stimulus", ONE_OF_TWO[trial["match"].astype(int)], during="stimulus")
        trial.answer("go", np.where(trial["match"], 0, -1), during="decision")


class NeverMatches(AlwaysMatches):
    """It nearly never does: resting is right."""

    matches: float = 0.05


class SometimesMatches(AlwaysMatches):
    """It does in half of the trials."""

    matches: float = 0.5


class TellingHistory(Task):
    """Report a side that nearly always is that of the trial before."""

    repeats: float = 0.95

    timing = {"stimulus": 300, "decision": 300}

    def define(self):
        self.observe(stimulus=2)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_session(self, session, rng):
        session.side = rng.integers(0, 2, len(session))

    def draw(self, session, rng):
        stays = rng.random(len(session)) < self.repeats
        session.side = np.where(stays, session.side, 1 - session.side)
        return {"side": session.side.copy()}

    def new_trial(self, trial):
        trial.periods("stimulus", "decision")
        trial.show("stimulus", ONE_OF_TWO[trial["side"]], during="stimulus", noise=0.1)
        trial.answer("choose", trial["side"], during="decision")


class SilentHistory(TellingHistory):
    """It is independent of the trial before."""

    repeats: float = 0.5


class PressFourTimes(Task):
    """Press on four steps in a row; pressing while the light is on is enough."""

    stop: bool = False

    timing = {"dark": Uniform(300, 800), "lever": 2000}
    trial_state = {"held": 0}

    def define(self):
        self.observe(light=1)
        self.act(rest=1, press=1)

    def new_trial(self, trial):
        trial.periods("dark", "lever")
        trial.show("light", 1, during="lever")
        trial.hold(during="lever", cost=0)
        trial.answer("press", 0, during="lever", start=1900, then="wait", correct=0)
        trial.max_reward(1.0)

    def step_target(self, now):
        return (now.in_period("lever") & (now.trial_state["held"] < 4)).astype(int)

    def step_action(self, now, action):
        lever, held = now.in_period("lever"), now.trial_state["held"]
        now.trial_state["held"] = np.where(lever & (action == 1), held + 1, 0)
        if self.stop:
            done = lever & (held >= 4)
            right = done & (action == 0)
        else:
            done = right = lever & (now.trial_state["held"] >= 4)
        outcome = np.select([right, done], [Outcome.CORRECT, Outcome.ERROR], Outcome.NONE)
        now.answer(done, 0, outcome)
        return 1.0 * right, np.where(done, END, STAY)


class FourPressesAndNoMore(PressFourTimes):
    """A fifth press is wrong, so that presses have to be counted."""

    stop: bool = True
