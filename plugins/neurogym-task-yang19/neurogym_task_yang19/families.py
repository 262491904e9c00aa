"""The four task families of Yang et al. (2019): go, decision, delayed decision, matching."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from neurogym_core import Choice, InvalidValueError, OneHot, Ring, Task, TrialBuilder, Uniform

Conditions = Mapping[str, np.ndarray] | TrialBuilder
"""Read as ``conditions["stimulus"]``, of a trial that is drawn or built."""

RULES = (
    "Go",
    "RTGo",
    "DlyGo",
    "Anti",
    "RTAnti",
    "DlyAnti",
    "DM1",
    "DM2",
    "CtxDM1",
    "CtxDM2",
    "MultiDM",
    "DlyDM1",
    "DlyDM2",
    "CtxDlyDM1",
    "CtxDlyDM2",
    "MultiDlyDM",
    "DMS",
    "DNMS",
    "DMC",
    "DNMC",
)
"""The twenty rules, in the order of their input units."""

TAU = 100
"""Time constant of the published networks, ms, to which the size of the input noise refers."""

CATEGORY_DIRECTIONS = tuple(np.deg2rad(range(18, 360, 36)).tolist())
"""Directions of the category tasks, radians: five on each side of the boundary (0, 180 degrees)."""

PAGE = """

    Yang, Joglekar, Song, Newsome & Wang (2019), Nat. Neurosci. 22:297,
    doi:10.1038/s41593-018-0310-2: one of twenty tasks that share inputs (a fixation cue, two rings
    of direction-selective units, and the rule: which of the twenty tasks to perform), outputs and
    scoring. The subject fixates until it answers with a direction, one of `units` choices; an
    answer within 36 degrees is correct, and if no answer is required, fixating until the end.
    Directions and angles are in radians. Performance is the fraction of correct trials.
    {earns}

    Deviations from the paper: the first answer ends the trial and is rewarded, and answering before
    the response period costs `abort` (there, an answer is read from the last step of the response
    period, without reward). Numbers that the paper does not give are those of the authors' code.
    The README of neurogym-task-yang19 lists all differences between the code and these tasks, and
    `neurogym_task_yang19.published` returns the targets and loss weights of the code."""


class Yang19(Task):
    """Base of the twenty tasks.

    The bumps of the rings are Gaussian, of height 0.8 times the strength of the stimulus, with an
    SD of 22.5 degrees. All input units are noisy. The loss weights are 1 before the response
    period, 0 in its first 100 ms and 5 after.

    Args:
        units: units of each ring, and number of possible answers: 32 (16 in NeuroGym).
        rule_input: whether twenty input units show the rule.
        sigma_input: size of the input noise: SD = sigma_input sqrt(2 tau / dt), tau = 100 ms.
        tolerance: largest distance from the correct direction that is still correct, radians.
    """

    units: int = 32
    rule_input: bool = True
    sigma_input: float = 0.01
    tolerance: float = float(np.pi / 5)
    dt: float = 20

    rule: ClassVar[str | None] = None
    """The element of `RULES` for this class; None for families."""

    earns: ClassVar[str] = "Guessing, or always the same direction, earns 0.2."
    """Performance of subjects that ignore the stimuli, for the page."""

    timing = {"response": 500}  # ms, as in the authors' code

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__name__ in RULES:
            cls.rule = cls.__name__
            cls.__doc__ = f"{cls.__doc__.rstrip()}{PAGE.format(earns=cls.earns)}\n"

    def define(self) -> None:
        if self.units < 1:
            raise InvalidValueError(
                f"{self.name} was given units={self.units!r}; a ring needs at least one. Give 16"
                " or 32."
            )
        if self.tolerance <= np.pi / self.units - 1e-9:
            raise InvalidValueError(
                f"{self.name} was given tolerance={self.tolerance!r} for {self.units} units; give"
                f" at least half the distance between units, {np.pi / self.units:.3g}, so that the"
                " nearest unit is correct."
            )
        self.ring = Ring(self.units)
        rule = {"rule": OneHot(RULES)} if self.rule_input else {}
        self.observe(fixation=1, modality_1=self.ring, modality_2=self.ring, **rule)
        self.act(fixate=1, choose=self.ring)
        self.declare()

    def declare(self) -> None:
        """Declare the conditions."""

    def direction_of(self, conditions: Conditions) -> tuple[np.ndarray, np.ndarray]:
        """Return the correct direction, (n,) radians, and whether there is one, bool (n,).

        Without one, fixating is correct.
        """
        raise NotImplementedError

    def unit_of(self, conditions: Conditions) -> np.ndarray:
        """Return the unit nearest to the correct direction, -1 where fixating is correct, (n,)."""
        direction, answers = self.direction_of(conditions)
        return np.where(answers, self.ring.nearest(direction), -1)

    def lay_out_inputs(
        self, trial: TrialBuilder, before: tuple[str, ...], *, cue_goes_off: bool
    ) -> None:
        """Show fixation cue and rule, add noise to every unit, and set the loss weights."""
        everything = (*before, "response")
        sigma = self.sigma_input * np.sqrt(2 * TAU)
        for channel in self.channels:
            trial.show(channel, 0, during=everything, noise=sigma)
        trial.show("fixation", 1, during=before if cue_goes_off else everything)
        if self.rule_input:
            trial.show("rule", np.arange(len(RULES)) == RULES.index(self.rule), during=everything)
        trial.loss_weight(1, during=before)
        trial.loss_weight(0, during="response", stop=100)
        trial.loss_weight(5, during="response", start=100)

    def show_bump(
        self, trial: TrialBuilder, modality: Any, direction: Any, during: Any, strength: Any = 1.0
    ) -> None:
        """Show a bump on one of the rings; `modality` is 1 or 2, one number or (n,)."""
        bump = self.ring.bump(angle=direction, strength=np.broadcast_to(strength, (trial.n,)))
        for number in (1, 2):
            trial.show(
                f"modality_{number}",
                bump,
                during=during,
                where=np.broadcast_to(modality == number, (trial.n,)),
            )

    def ask(self, trial: TrialBuilder) -> None:
        """Open the response window for the whole response period."""
        direction, answers = self.direction_of(trial)
        trial.record(direction=np.where(answers, direction % (2 * np.pi), -1.0))
        trial.answer(
            "choose",
            direction % (2 * np.pi),
            during="response",
            tolerance=self.tolerance,
            where=answers,
        )
        trial.answer("choose", -1, during="response", where=~answers)


class GoFamily(Yang19):
    """Answer with the direction of a stimulus, or with the opposite one."""

    anti: ClassVar[bool] = False

    def declare(self) -> None:
        self.vary(stimulus=Uniform(0, 2 * np.pi), modality=Choice((1, 2)))
        self.correct_choice(self.unit_of)

    def direction_of(self, conditions: Conditions) -> tuple[np.ndarray, np.ndarray]:
        stimulus = conditions["stimulus"]
        return stimulus + np.pi * self.anti, np.ones(np.shape(stimulus), bool)


class SeenGo(GoFamily):
    """The stimulus stays until the end; the fixation cue is the go cue."""

    timing = {"fixation": Uniform(500, 1500), "stimulus": Uniform(500, 1500)}  # ms

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("fixation", "stimulus", "response")
        self.lay_out_inputs(trial, ("fixation", "stimulus"), cue_goes_off=True)
        self.show_bump(trial, trial["modality"], trial["stimulus"], during=("stimulus", "response"))
        self.ask(trial)


class ImmediateGo(GoFamily):
    """The stimulus itself is the go cue; the fixation cue never turns off."""

    timing = {"fixation": Uniform(500, 2500)}  # ms
    evidence_periods = ("response",)
    go_cue = None

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("fixation", "response")
        self.lay_out_inputs(trial, ("fixation",), cue_goes_off=False)
        self.show_bump(trial, trial["modality"], trial["stimulus"], during="response")
        self.ask(trial)


class RememberedGo(GoFamily):
    """The stimulus is removed before the go cue."""

    timing = {
        "fixation": (300, 500, 700),
        "stimulus": (200, 400, 600),
        "delay": (200, 400, 800, 1600),
    }  # ms

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("fixation", "stimulus", "delay", "response")
        self.lay_out_inputs(trial, ("fixation", "stimulus", "delay"), cue_goes_off=True)
        self.show_bump(trial, trial["modality"], trial["stimulus"], during="stimulus")
        self.ask(trial)


class TwoStimuli(Yang19):
    """Answer with the direction of the stronger of two stimuli.

    Args:
        coherences: distances of the two strengths from their mean.
    """

    coherences: tuple[float, ...] = (0.01, 0.02, 0.04, 0.08)

    attends: ClassVar[str] = "1"
    """Relevant modality: "1" or "2" (the other one is empty), "1 of 2", "2 of 2", or "both"."""

    def declare(self) -> None:
        coherence = Choice((*self.coherences, *(-c for c in self.coherences)))
        mean = Uniform(0.8, 1.2)
        strengths = {"coherence": coherence, "mean": mean}
        if self.attends.endswith(" of 2"):
            strengths |= {"distracting_coherence": coherence, "distracting_mean": mean}
        elif self.attends == "both":
            strengths |= {name: Choice((1, -1)) for name in ("favours_1", "favours_2")}
            strengths |= {name: Uniform(0.2, 0.8) for name in ("imbalance_1", "imbalance_2")}
        self.vary(
            stimulus_1=Uniform(0, 2 * np.pi),
            separation=Uniform(0.5 * np.pi, 1.5 * np.pi),
            **strengths,
        )
        self.correct_choice(self.unit_of)

    def direction_of(self, conditions: Conditions) -> tuple[np.ndarray, np.ndarray]:
        first, second = (
            conditions["stimulus_1"],
            conditions["stimulus_1"] + conditions["separation"],
        )
        return np.where(conditions["coherence"] > 0, first, second), np.ones(np.shape(first), bool)

    def strengths(self, trial: TrialBuilder) -> dict[tuple[int, int], np.ndarray]:
        """Return the strengths, (modality, stimulus) -> (n,), for each modality with stimuli."""
        counts = {k: trial["mean"] + sign * trial["coherence"] for k, sign in ((1, 1), (2, -1))}
        if self.attends == "both":
            return {(m, k): counts[k] * self._share(trial, m, k) for m in (1, 2) for k in (1, 2)}
        attended = int(self.attends[0])
        shown = {(attended, k): strength for k, strength in counts.items()}
        if self.attends.endswith(" of 2"):
            for k, sign in ((1, 1), (2, -1)):
                shown[3 - attended, k] = (
                    trial["distracting_mean"] + sign * trial["distracting_coherence"]
                )
        return shown

    def _share(self, trial: TrialBuilder, modality: int, stimulus: int) -> np.ndarray:
        """Strength in one modality relative to the mean over both."""
        favours, imbalance = (
            trial[f"favours_{stimulus}"],
            trial[f"imbalance_{stimulus}"],
        )
        return 1 + (1.5 - modality) * favours * imbalance

    def show_strengths(self, trial: TrialBuilder, during: Mapping[int, str]) -> None:
        """Show stimulus k in the period ``during[k]``."""
        direction = {1: trial["stimulus_1"], 2: trial["stimulus_1"] + trial["separation"]}
        for (modality, k), strength in self.strengths(trial).items():
            self.show_bump(trial, modality, direction[k], during[k], strength)


class Decision(TwoStimuli):
    """Both stimuli at once, until the go cue."""

    timing = {"fixation": Uniform(100, 400), "stimulus": (400, 800, 1600)}  # ms

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("fixation", "stimulus", "response")
        self.lay_out_inputs(trial, ("fixation", "stimulus"), cue_goes_off=True)
        self.show_strengths(trial, {1: "stimulus", 2: "stimulus"})
        self.ask(trial)


class DelayedDecision(TwoStimuli):
    """One stimulus after the other, with a delay between them."""

    coherences: tuple[float, ...] = (0.08, 0.16, 0.32)

    timing = {
        "fixation": (200, 400, 600),
        "stimulus1": 300,
        "delay": (200, 400, 800, 1600),
        "stimulus2": 300,
        "pause": Uniform(100, 300),
    }  # ms

    def new_trial(self, trial: TrialBuilder) -> None:
        before = ("fixation", "stimulus1", "delay", "stimulus2", "pause")
        trial.periods(*before, "response")
        self.lay_out_inputs(trial, before, cue_goes_off=True)
        self.show_strengths(trial, {1: "stimulus1", 2: "stimulus2"})
        self.ask(trial)


class MatchFamily(Yang19):
    """A sample, a delay, and a test that stays; answer with its direction, or keep fixating."""

    earns: ClassVar[str] = (
        "Guessing a direction, or always the same one, earns 0.1, and never answering 0.5."
    )
    answers_match: ClassVar[bool] = True
    """Whether the subject answers after a match or after a non-match."""

    timing = {
        "fixation": (200, 400, 600),
        "sample": (200, 400, 600),
        "delay": (200, 400, 800, 1600),
    }  # ms
    evidence_periods = ("response",)
    go_cue = None

    def matches(self, conditions: Conditions) -> np.ndarray:
        """Return whether sample and test match, bool (n,)."""
        raise NotImplementedError

    def test_of(self, conditions: Conditions) -> np.ndarray:
        """Return the direction of the test, (n,) radians."""
        raise NotImplementedError

    def direction_of(self, conditions: Conditions) -> tuple[np.ndarray, np.ndarray]:
        return self.test_of(conditions), self.matches(conditions) == self.answers_match

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("fixation", "sample", "delay", "response")
        self.lay_out_inputs(trial, ("fixation", "sample", "delay"), cue_goes_off=False)
        self.show_bump(trial, trial["sample_modality"], trial["sample"], during="sample")
        self.show_bump(trial, trial["test_modality"], self.test_of(trial), during="response")
        trial.record(match=self.matches(trial))
        self.ask(trial)


class MatchDirection(MatchFamily):
    """Half of the tests have the direction of the sample, others lie at least 20 degrees away."""

    def declare(self) -> None:
        self.vary(
            sample=Uniform(0, 2 * np.pi),
            same=Choice((True, False)),
            separation=Uniform(np.pi / 9, 17 * np.pi / 9),
            sample_modality=Choice((1, 2)),
            test_modality=Choice((1, 2)),
        )
        self.correct_choice(self.unit_of)

    def matches(self, conditions: Conditions) -> np.ndarray:
        return np.asarray(conditions["same"], bool)

    def test_of(self, conditions: Conditions) -> np.ndarray:
        return conditions["sample"] + conditions["separation"] * ~self.matches(conditions)


class MatchCategory(MatchFamily):
    """Sample and test match if both lie below, or both above, 180 degrees."""

    def declare(self) -> None:
        self.vary(
            sample=Choice(CATEGORY_DIRECTIONS),
            test=Choice(CATEGORY_DIRECTIONS),
            sample_modality=Choice((1, 2)),
            test_modality=Choice((1, 2)),
        )
        self.correct_choice(self.unit_of)
        self.evidence(self._distance)

    def _distance(self, conditions: Conditions) -> np.ndarray:
        """Return the distance, in degrees, of the nearer direction from the boundary, (n,).

        Positive where the subject has to answer.
        """
        from_boundary = [
            np.minimum(at, 180 - at)
            for at in (np.rad2deg(conditions[name]) % 180 for name in ("sample", "test"))
        ]
        _, answers = self.direction_of(conditions)
        return np.minimum(*from_boundary) * np.where(answers, 1, -1)

    def matches(self, conditions: Conditions) -> np.ndarray:
        return (conditions["sample"] % (2 * np.pi) < np.pi) == (
            conditions["test"] % (2 * np.pi) < np.pi
        )

    def test_of(self, conditions: Conditions) -> np.ndarray:
        return conditions["test"]
