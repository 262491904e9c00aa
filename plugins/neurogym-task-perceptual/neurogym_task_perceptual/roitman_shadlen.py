"""Random-dot motion as a reaction-time task."""

from __future__ import annotations

from neurogym_core import Choice, Ring, Task, TrialBuilder, TruncatedExponential


class RoitmanShadlen(Task):
    """Report the direction of random-dot motion as soon as possible.

    Roitman & Shadlen (2002), J. Neurosci. 22:9475, doi:10.1523/JNEUROSCI.22-21-09475.2002.

    The subject fixates. Two targets appear and, after a period of random length, random-dot motion
    in one of two opposite directions, at one of six coherences. The fixation cue turns off with the
    onset of motion: from then on the subject may answer at any time, and the answer ends the trial.
    Reaction times count from the onset of motion. Each of the two units of the stimulus shows 0.5 +
    coherence / 200 * cos(preferred - direction), with independent noise on every step.

    The noise is chosen so that the evidence is as good as the monkeys': the accumulated difference
    of the two units is a diffusion whose drift per SD is 22.4 coherence / sigma per sqrt(s)
    (coherence as a fraction); with sigma = 1.64 that is 13.6, the mean of the two monkeys (14.3 and
    12.9, fitted by bounded diffusion). The bounds of their mean are at 0.69 SD sqrt(s), and 0.33 s
    of the reaction time are no decision. At 0 to 51.2 % the monkeys are right in 50, 63.9, 77.2,
    94.0, 99.5 and 100 % after 821, 815, 770, 682, 545 and 428 ms; the subject ``diffusion`` of
    neurogym-likeness with ``bound=45`` in 50.8, 64.9, 77.0, 92.1, 99.3 and 100 % after 797, 779,
    740, 644, 500 and 404 ms (2,000 trials each).

    A sum over steps overshoots its bound by 0.583 SD of a step on average; lower the bound by 0.583
    sqrt(dt / 1000 ms), or reaction times are too long by 13 % at dt = 20 ms. ``bound=45`` has this
    correction (50.9 without it; the default of 40 makes faster and less accurate choices).

    Choice 0 is motion to the right (unit 0), choice 1 to the left (unit 1). Performance is 1 for a
    correct choice, whenever it comes.

    Deviations from the paper:

    - the fixation cue turns off at the onset of motion (there, it stays until the saccade);
    - the reward follows at once (there, fast answers were rewarded with a delay, so that fast
      guesses did not pay);
    - an error costs nothing but the reward;
    - the durations before the motion, and its largest duration, are ours.

    Args:
        coherences: motion coherences, %.
        sigma: SD of the noise of the evidence, times sqrt(ms).
    """

    dt: float = 20
    coherences: tuple[float, ...] = (0, 3.2, 6.4, 12.8, 25.6, 51.2)
    sigma: float = 1.64

    timing = {
        "fixation": 300,
        "targets": TruncatedExponential(400, 200, 1500),
        "stimulus": 3000,
    }  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        self.ring = Ring(2)
        self.observe(fixation=1, targets=1, stimulus=self.ring.named(("right", "left")))
        self.act(fixate=1, choose=self.ring.named(("right", "left")))
        self.vary(direction=Choice(2), coherence=Choice(self.coherences))
        self.correct_choice("direction")

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("fixation", "targets", "stimulus")
        trial.show("fixation", 1, during=("fixation", "targets"))
        trial.show("targets", 1, during=("targets", "stimulus"))
        evidence = self.ring.cosine(trial["direction"], strength=trial["coherence"] / 200)
        trial.show("stimulus", evidence, during="stimulus", noise=self.sigma)
        trial.answer("choose", trial["direction"], during="stimulus")
