"""Context-dependent integration of motion or colour."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import (
    Choice,
    InvalidValueError,
    OneHot,
    Ring,
    Task,
    TrialBuilder,
    TruncatedExponential,
)

MODALITIES = ("motion", "colour")


class ContextDecisionMaking(Task):
    """Judge the motion (or always the colour) of the same dots; the other feature is irrelevant.

    Mante, Sussillo, Shenoy & Newsome (2013), Nature 503:78, doi:10.1038/nature12742.

    By default the context is motion in all trials and is not shown, so that colour can be ignored:
    one half of the task of the paper. The whole task, in which a cue says what counts, is
    ManteDecisionMaking, or ``context="cued"``.

    The subject fixates while it views a patch of dots with two features, each of which supports one
    of the choices with a strength given by its coherence. One feature is relevant, the other is a
    distractor; they are drawn independently. After a delay of random length the fixation cue turns
    off, and the subject reports the choice that the relevant feature supported. The units of a
    feature show 0.5 + coherence / 200 * cos(preferred - direction) with independent noise on every
    step; unit k of either feature supports choice k (of two: 0 for motion to the right and for red,
    1 for motion to the left and for green). The context is either drawn for every trial and cued
    throughout the trial (``context="cued"``; unit 0 of the cue is motion, unit 1 colour), or
    constant and never shown (``context="motion"`` or ``"colour"``).

    The noise is that of PostDecisionWager, which is calibrated to a monkey (pyrl, the code of Song,
    Yang & Wang 2017, doi:10.7554/eLife.21492, has the same). An observer that sums the relevant
    evidence and ignores the other is correct in 68.6, 92.7 and 100 % of trials at 5, 15 and 50 %. A
    subject that ignores the cue is correct in 73 % at best, by following the stronger feature. In a
    constant context the relevant feature alone suffices: with it, or with both, 86 % of all trials
    are correct.

    Deviations from the paper:

    - the features are noisy activities of direction-selective units, not dots; red and green are
      two opposite directions;
    - both features have the same coherences;
    - cued contexts are drawn for every trial (there, blocks: see ManteDecisionMaking);
    - if the context is implicit, there is only one;
    - fixation and response window, 300 ms each, are ours.

    Args:
        context: "motion" or "colour": always this one, without a cue; "cued": either, as cued.
        directions: number of choices, equally spaced on a circle.
        coherences: strengths of both features, %.
        sigma: SD of the noise of the evidence, times sqrt(ms).
    """

    context: str = "motion"
    directions: int = 2
    coherences: tuple[float, ...] = (5, 15, 50)
    sigma: float = 2.0

    timing = {
        "fixation": 300,
        "stimulus": 750,  # as in the paper
        "delay": TruncatedExponential(600, 300, 1500),  # range from the paper, scale ours
        "decision": 300,
    }  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        if self.context not in (*MODALITIES, "cued"):
            raise InvalidValueError(
                f"ContextDecisionMaking was given context={self.context!r}; give 'motion', 'colour'"
                " or 'cued'."
            )
        self.ring = Ring(self.directions)
        cue = {"context": OneHot(MODALITIES)} if self.context == "cued" else {}
        self.observe(
            fixation=1,
            motion=self.ring.named(("right", "left")),
            colour=self.ring.named(("red", "green")),
            **cue,
        )
        self.act(fixate=1, choose=self.ring.named(("right", "left")))
        which = {"context": Choice(MODALITIES)} if self.context == "cued" else {}
        self.vary(
            **which,
            motion=Choice(self.directions),
            colour=Choice(self.directions),
            motion_coherence=Choice(self.coherences),
            colour_coherence=Choice(self.coherences),
        )
        self.correct_choice(_relevant if self.context == "cued" else self.context)
        if self.directions == 2:
            self.evidence(self._evidence)

    def _evidence(self, known: Mapping[str, np.ndarray]) -> np.ndarray:
        """Coherence of the relevant feature, positive for the second direction, (n,)."""
        motion, colour = (
            np.where(known[name] == 1, 1, -1) * known[f"{name}_coherence"] for name in MODALITIES
        )
        if self.context == "cued":
            return np.where(known["context"] == "motion", motion, colour)
        return motion if self.context == "motion" else colour

    def new_trial(self, trial: TrialBuilder) -> None:
        before = ("fixation", "stimulus", "delay")
        trial.periods(*before, "decision")
        trial.show("fixation", 1, during=before)
        motion = self.ring.cosine(trial["motion"], strength=trial["motion_coherence"] / 200)
        colour = self.ring.cosine(trial["colour"], strength=trial["colour_coherence"] / 200)
        trial.show("motion", motion, during="stimulus", noise=self.sigma)
        trial.show("colour", colour, during="stimulus", noise=self.sigma)
        if self.context == "cued":
            cue = np.where(trial["context"] == "motion", 0, 1)
            trial.show(
                "context",
                self.channels.encoder("context").encode(cue),
                during=(*before, "decision"),
            )
        trial.answer("choose", trial.correct_choice, during="decision")


def _relevant(conditions: Mapping[str, np.ndarray]) -> np.ndarray:
    """Direction of the relevant feature, (n,)."""
    return np.where(conditions["context"] == "motion", conditions["motion"], conditions["colour"])
