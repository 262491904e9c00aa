"""Integration of evidence from two modalities."""

from __future__ import annotations

from neurogym_core import Choice, Ring, Task, TrialBuilder, Uniform


class MultiSensoryIntegration(Task):
    """Report the direction that two noisy modalities indicate together.

    After Raposo, Kaufman & Churchland (2014), Nat. Neurosci. 17:1784, doi:10.1038/nn.3865.

    The subject fixates while evidence appears in two modalities at once. Both indicate the same
    choice; the coherence is divided between them at random, so the subject has to use their sum,
    and a single modality is sometimes uninformative. When the fixation cue turns off, the subject
    reports the choice. The units of a modality show 0.5 + share * coherence / 200 * cos(preferred -
    direction), with independent noise on every step; choice k is the direction that unit k prefers.

    The noise is that of PostDecisionWager, which is calibrated to a monkey. An observer that sums
    both modalities is correct in 63.4, 84.8 and 100 % of trials at 5, 15 and 50 %, one that uses a
    single modality in 59.4, 74.6 and
    91.9 %.

    Deviations from the paper:

    - directions instead of event rates (for these see AudioVisualRateDiscrimination);
    - both modalities are always shown, and the information in each varies continuously;
    - coherences and durations are NeuroGym's (there, the stimulus lasts 1 s).

    Args:
        directions: number of choices, equally spaced on a circle.
        coherences: strength of both modalities together, %.
        sigma: SD of the noise of the evidence, times sqrt(ms).
    """

    directions: int = 2
    coherences: tuple[float, ...] = (5, 15, 50)
    sigma: float = 2.0

    timing = {"fixation": 300, "stimulus": 750, "decision": 300}  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        self.ring = Ring(self.directions)
        self.observe(
            fixation=1, **dict.fromkeys(("first", "second"), self.ring.named(("right", "left")))
        )
        self.act(fixate=1, choose=self.ring.named(("right", "left")))
        self.vary(
            direction=Choice(self.directions),
            coherence=Choice(self.coherences),
            first_share=Uniform(0, 1),
        )
        self.correct_choice("direction")

    def new_trial(self, trial: TrialBuilder) -> None:
        before = ("fixation", "stimulus")
        trial.periods(*before, "decision")
        trial.show("fixation", 1, during=before)
        for modality, share in (
            ("first", trial["first_share"]),
            ("second", 1 - trial["first_share"]),
        ):
            evidence = self.ring.cosine(
                trial["direction"], strength=share * trial["coherence"] / 200
            )
            trial.show(modality, evidence, during="stimulus", noise=self.sigma)
        trial.answer("choose", trial["direction"], during="decision")
