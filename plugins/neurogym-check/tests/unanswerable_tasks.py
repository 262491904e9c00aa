"""Tasks that look right and cannot be solved: each has one mistake that authors make."""

from __future__ import annotations

import numpy as np

from neurogym_core import Angle, Axis, Choice, Task, TruncatedExponential, Uniform


class Solvable(Task):
    """Report the side of a noisy light."""

    sigma: float = 2.0

    timing = {"fixation": 300, "stimulus": 500, "delay": 300, "decision": 500}

    def define(self):
        self.observe(fixation=1, light=2)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("fixation", "stimulus", "delay", "decision")
        trial.show("fixation", 1, during=("fixation", "stimulus", "delay"))
        self.stimulus(trial)
        trial.answer("choose", trial["side"], during="decision")

    def stimulus(self, trial):
        self.light(trial, np.eye(2)[trial["side"]])

    def light(self, trial, value, during="stimulus"):
        trial.show("light", value, during=during, noise=self.sigma)


class NoStimulus(Solvable):
    """The stimulus was forgotten."""

    def stimulus(self, trial):
        trial.show("light", 0, during="stimulus", noise=self.sigma)


class Shuffled(Solvable):
    """Stimuli are those of other trials."""

    def stimulus(self, trial):
        self.light(trial, np.eye(2)[trial.rng.permutation(trial["side"])])


class ShuffledStrengths(Solvable):
    """Stimuli are those of other trials, and no two trials are alike."""

    timing = {"fixation": TruncatedExponential(500, 300, 900), "stimulus": Uniform(300, 700)}

    def define(self):
        super().define()
        self.vary(strength=Uniform(0.5, 1.0))

    def stimulus(self, trial):
        side = trial.rng.permutation(trial["side"])
        self.light(trial, np.eye(2)[side] * trial["strength"][:, None])


class Sorted(Solvable):
    """Stimuli are sorted apart from the answers."""

    def stimulus(self, trial):
        self.light(trial, np.eye(2)[np.sort(trial["side"])])


class TooMuchNoise(Solvable):
    """Nothing is left of the signal."""

    sigma: float = 500.0


class UnusedParameter(Solvable):
    """A parameter that nothing reads."""

    gain: float = 3.0


class UnusedPeriod(Solvable):
    """A period that is never played."""

    timing = {"iti": 1000}


class BothSides(Solvable):
    """Both lights are on in every trial."""

    def stimulus(self, trial):
        self.light(trial, 1)


class TooLate(Solvable):
    """The light comes after the answer."""

    timing = {"feedback": 500}

    def new_trial(self, trial):
        trial.periods("fixation", "stimulus", "delay", "decision", "feedback")
        trial.show("fixation", 1, during=("fixation", "stimulus", "delay"))
        self.light(trial, np.eye(2)[trial["side"]], during="feedback")
        trial.answer("choose", trial["side"], during="decision", then="feedback")


class NoCue(Solvable):
    """Which of two lights counts is not shown."""

    def define(self):
        self.observe(fixation=1, light=2, sound=2)
        self.act(rest=1, choose=2)
        self.vary(seen=Choice(2), heard=Choice(2), cue=Choice(2))
        self.correct_choice(lambda known: np.where(known["cue"], known["heard"], known["seen"]))

    def new_trial(self, trial):
        trial.periods("fixation", "stimulus", "delay", "decision")
        trial.show("light", np.eye(2)[trial["seen"]], during="stimulus", noise=self.sigma)
        trial.show("sound", np.eye(2)[trial["heard"]], during="stimulus", noise=self.sigma)
        trial.answer("choose", trial.correct_choice, during="decision")


class NoInterval(Solvable):
    """The interval to reproduce is not shown."""

    timing = {"delay": 600, "decision": 2000}

    def define(self):
        self.observe(fixation=1, light=2)
        self.act(rest=1, press=1)
        self.vary(interval=Choice((500, 1000)))

    def new_trial(self, trial):
        trial.periods("fixation", "stimulus", "delay", "decision")
        trial.show("fixation", 1, during=("fixation", "stimulus", "delay"))
        trial.answer_at("press", trial["interval"], tolerance=100, during="decision")


class HiddenByAHook(Solvable):
    """A hook covers the light."""

    def step_observation(self, now, observations):
        observations[:, 1:] = 0
        return observations


# ---------------------------------------------------------------------- as a newcomer writes them


class Backwards(Solvable):
    """Stimuli are in the reverse order of the trials."""

    def stimulus(self, trial):
        self.light(trial, np.eye(2)[trial["side"]][::-1])


class Centred(Solvable):
    """Each light minus its mean is nothing."""

    def stimulus(self, trial):
        value = trial["side"][:, None] * np.ones(2)
        self.light(trial, value - value.mean(axis=1, keepdims=True))


class ScaledTwice(Solvable):
    """A contrast in percent is divided by 100, and by 100 again."""

    def define(self):
        super().define()
        self.vary(contrast=Choice((25, 50, 100)))

    def stimulus(self, trial):
        self.light(trial, np.eye(2)[trial["side"]] * trial["contrast"][:, None] / 100 / 100)


class NoTest(Solvable):
    """Match to sample, where the test is the sample again."""

    def define(self):
        self.observe(fixation=1, light=2)
        self.act(rest=1, choose=2)
        self.vary(sample=Choice(2), test=Choice(2))
        self.correct_choice(lambda known: known["sample"] == known["test"])

    def new_trial(self, trial):
        trial.periods("fixation", "stimulus", "delay", "decision")
        trial.show("light", np.eye(2)[trial["sample"]], during=("stimulus", "decision"))
        trial.answer("choose", trial.correct_choice, during="decision")


class AnotherCoin(Solvable):
    """The right side is drawn again when the answer is asked."""

    def new_trial(self, trial):
        trial.periods("fixation", "stimulus", "delay", "decision")
        self.stimulus(trial)
        trial.answer("choose", trial.rng.integers(2, size=trial.n), during="decision")


class SwappedHalfway(Solvable):
    """From the middle of the batch on, the lights are on the other side."""

    def stimulus(self, trial):
        value = np.eye(2)[trial["side"]]
        swapped = np.arange(trial.n)[:, None] >= trial.n // 2
        self.light(trial, np.where(swapped, value[:, ::-1], value))


class MaskedCue(NoCue):
    """A mask covers the cue in half of the trials."""

    def define(self):
        super().define()
        self.observe(fixation=1, light=2, sound=2, cue=2)
        self.vary(masked=Choice((False, True)))

    def new_trial(self, trial):
        super().new_trial(trial)
        cue = np.where(trial["masked"][:, None], 1.0, np.eye(2)[trial["cue"]])
        trial.show("cue", cue, during="stimulus")


# ---------------------------------------------------------------------- without a mistake


class Rectified(Solvable):
    """The two lights show the size of the evidence, and not its sign."""

    def stimulus(self, trial):
        evidence = 2.0 * trial["side"] - 1
        self.light(trial, np.abs(np.stack([-evidence, evidence], axis=1)))


class Truncated(Solvable):
    """A contrast below 1 is converted to whole numbers."""

    def stimulus(self, trial):
        self.light(trial, (0.9 * np.eye(2)[trial["side"]]).astype(int))


class Saturated(Solvable):
    """The light is added to a background that is as bright as the display can be."""

    def stimulus(self, trial):
        self.light(trial, np.clip(1 + np.eye(2)[trial["side"]], 0, 1))


class OfTheFirst(Solvable):
    """All trials of a batch show the light of the first one."""

    def stimulus(self, trial):
        self.light(trial, np.repeat(np.eye(2)[trial["side"]][:1], trial.n, axis=0))


class Halved(Solvable):
    """Two of four answers share a light."""

    def define(self):
        self.observe(fixation=1, light=2)
        self.act(rest=1, choose=4)
        self.vary(side=Choice(4))
        self.correct_choice("side")

    def stimulus(self, trial):
        self.light(trial, np.eye(2)[trial["side"] // 2])


class Faint(Solvable):
    """Half of the trials are hard, and all can be solved better than by chance."""

    sigma: float = 20.0

    def define(self):
        super().define()
        self.vary(strength=Choice((0.5, 2.0)))

    def stimulus(self, trial):
        self.light(trial, np.eye(2)[trial["side"]] * trial["strength"][:, None])


class NeverRepeats(Solvable):
    """No two trials are alike, and the answer is the parity of their frames."""

    def define(self):
        self.observe(fixation=1, light=2)
        self.act(rest=1, choose=2)
        self.vary(frames=lambda rng, prior: rng.integers(2, size=(prior.n, 40)))
        self.correct_choice(lambda known: known["frames"].sum(axis=1) % 2)

    timing = {"stimulus": 4000}

    def new_trial(self, trial):
        trial.periods("fixation", "stimulus", "delay", "decision")
        trial.timecourse("light", trial["frames"][:, :, None] * np.ones(2), during="stimulus")
        trial.answer("choose", trial.correct_choice, during="decision")


class Withheld(Task):
    """Point to the light, or rest where the cue says so; a trigger gives the answer."""

    timing = {"light": 300, "decision": 300}
    cue: float = 1.0

    def define(self):
        self.observe(light=2, cue=1)
        self.act(go=Axis(-1, 1, rest=-1, trigger=0), report=Angle())
        self.vary(at=Uniform(-3, 3), rests=Choice((True, False)))

    def new_trial(self, trial):
        trial.periods("light", "decision")
        trial.show("light", Angle.points(trial["at"]), during="light")
        trial.show("cue", self.cue * trial["rests"], during="light")
        window = {"during": "decision", "tolerance": 0.3}
        trial.answer("report", trial["at"], where=~trial["rests"], **window)
        trial.answer("report", None, where=trial["rests"], **window)


class WithheldWithoutCue(Withheld):
    """Nothing says whether to rest."""

    cue: float = 0.0


class TargetOfAnotherShape(Task):
    """Follow a dot; `step_target` returns (n,) for one axis."""

    def define(self):
        self.observe(dot=1)
        self.act(hand=Axis(-1, 1))
        self.vary(place=Uniform(-1, 1))

    def new_trial(self, trial):
        trial.periods("follow", follow=1000)
        trial.show("dot", trial["place"], during="follow")

    def step_target(self, now):
        return now.conditions["place"]
