"""A perceptual decision with a sure bet."""

from __future__ import annotations

import numpy as np

from neurogym_core import Choice, Ring, Task, TrialBuilder, TruncatedExponential, Uniform


class PostDecisionWager(Task):
    """Report the direction of motion, or choose a smaller but sure reward when it is offered.

    Kiani & Shadlen (2009), Science 324:759, doi:10.1126/science.1169405.

    The subject fixates while random dots move for a short, unpredictable time, and during the delay
    that follows. In half of the trials a third target, the sure target, appears during the delay,
    500 to 750 ms after the end of the motion, and stays. When the fixation cue turns off, the
    subject chooses a direction, which is rewarded if it is correct, or the sure target, if present,
    which always yields a smaller reward. The sure bet is neither correct nor an error: its outcome
    is "other", and its performance is its reward as a fraction of that of a correct answer. If the
    sure target was not offered, choosing it counts as acting outside a response window. Always
    choosing it where it is offered, and a direction at random elsewhere, has a performance of
    (0.8 + 0.5) / 2 = 0.65.

    Choice k of `choose` is the direction that unit k of the stimulus prefers, 0 to the right and 1
    to the left. Targets for supervised training are the directions in all trials: a network that is
    trained on a `Dataset` never learns to wager.

    The noise is calibrated to the paper's monkey 1, which without the sure target was correct in
    57.3, 63.7, 75.0, 91.8 and 99.1 % of trials at 3.2, 6.4, 12.8, 25.6 and 51.2 %; an observer that
    sums all the evidence is in 57.1, 63.9, 75.9, 91.0 and 99.2 %.

    Deviations from the paper:

    - an error costs nothing (there, it is followed by a short time-out);
    - motion is the noisy activity of direction-selective units, 0.5 + coherence / 200 *
      cos(preferred - direction);
    - the direction targets are not shown;
    - fixation lasts 100 ms, as in NeuroGym, and the response window of 300 ms is ours.

    Args:
        directions: number of equally spaced directions.
        coherences: motion coherences, %.
        sigma: SD of the noise of the evidence, times sqrt(ms).
    """

    directions: int = 2
    coherences: tuple[float, ...] = (0, 3.2, 6.4, 12.8, 25.6, 51.2)
    sigma: float = 2.0

    timing = {
        "fixation": 100,
        "stimulus": TruncatedExponential(
            180, 100, 900
        ),  # range from the paper, scale as in NeuroGym
        "delay": TruncatedExponential(
            1350, 1200, 1800
        ),  # range from the paper, scale as in NeuroGym
        "decision": 300,
    }
    rewards = {
        "abort": -0.1,
        "correct": 1.0,
        "error": 0.0,
        "sure": 0.8,
    }  # sure: about 80 % in the paper

    def define(self) -> None:
        self.ring = Ring(self.directions)
        self.observe(fixation=1, stimulus=self.ring.named(("right", "left")), sure=1)
        self.act(fixate=1, choose=self.ring.named(("right", "left")), sure=1)
        self.vary(
            direction=Choice(self.directions),
            coherence=Choice(self.coherences),
            wager=Choice(("withheld", "offered")),
            sure_onset=Uniform(500, 750),  # ms after the motion, as in the paper
        )
        self.correct_choice("direction")

    def new_trial(self, trial: TrialBuilder) -> None:
        before = ("fixation", "stimulus", "delay")
        trial.periods(*before, "decision")
        offered = trial["wager"] == "offered"
        # A delay shorter than the sure target's onset (custom timing) would show it too late, or
        # never.
        onset = np.minimum(trial["sure_onset"], trial.duration("delay"))
        trial.show("fixation", 1, during=before)
        evidence = self.ring.cosine(trial["direction"], strength=trial["coherence"] / 200)
        trial.show("stimulus", evidence, during="stimulus", noise=self.sigma)
        trial.show("sure", 1, during=("delay", "decision"), start=onset, where=offered)
        trial.answer("choose", trial["direction"], during="decision")
        trial.offer("sure", self.rewards["sure"], during="decision", where=offered, slot="choose")
