"""Random-dot motion."""

from __future__ import annotations

from neurogym_core import Choice, Ring, Task, TrialBuilder


class PerceptualDecisionMaking(Task):
    """Report the net direction of noisy random-dot motion.

    Britten, Shadlen, Newsome & Movshon (1992), J. Neurosci. 12:4745,
    doi:10.1523/JNEUROSCI.12-12-04745.1992.

    The subject fixates while a patch of dots moves; a percentage of them (the coherence) moves in
    one direction, the others at random. When the fixation cue turns off, it reports the direction:
    choice k is 360 k / directions degrees, and unit k of the stimulus prefers the same direction.
    A unit shows 0.5 + coherence / 200 * cos(preferred - direction), with independent noise on every
    step. At a coherence of 0 the rewarded direction is a coin toss.

    The noise is calibrated to monkeys. An observer that sums all the evidence, which is the best
    one, is correct in 64.6, 77.3, 93.3, 99.9 and 100 % of trials at 3.2, 6.4, 12.8, 25.6 and 51.2 %
    coherence. The two monkeys of Roitman & Shadlen (2002), doi:10.1523/JNEUROSCI.22-21-09475.2002,
    which watched as long as they liked, were in 63.9, 77.2, 94.0, 99.5 and 100 %. Animals that have
    to watch for 2 s do not use all of the evidence; hence sigma is larger here than in the tasks
    with shorter stimuli.

    Deviations from the paper:

    - directions are equally spaced on the whole circle (there, two opposite ones along the neuron's
      axis);
    - coherences are those of Roitman & Shadlen (there, they follow the sensitivity of the neuron);
    - motion is the noisy activity of direction-selective units, not dots;
    - fixation and response window of 300 ms, several steps at the default dt, are ours.

    Args:
        directions: number of equally spaced directions.
        coherences: motion coherences, %.
        sigma: SD of the noise of the evidence, times sqrt(ms).
    """

    directions: int = 2
    coherences: tuple[float, ...] = (0, 3.2, 6.4, 12.8, 25.6, 51.2)
    sigma: float = 2.7

    timing = {
        "fixation": 300,
        "stimulus": 2000,
        "delay": 0,
        "decision": 300,
    }  # ms; 2 s of motion as published
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        self.ring = Ring(self.directions)
        self.observe(fixation=1, stimulus=self.ring.named(("right", "left")))
        self.act(fixate=1, choose=self.ring.named(("right", "left")))
        self.vary(direction=Choice(self.directions), coherence=Choice(self.coherences))
        self.correct_choice("direction")

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("fixation", "stimulus", "delay", "decision")
        trial.show("fixation", 1, during=("fixation", "stimulus", "delay"))
        evidence = self.ring.cosine(trial["direction"], strength=trial["coherence"] / 200)
        trial.show("stimulus", evidence, during="stimulus", noise=self.sigma)
        trial.answer("choose", trial["direction"], during="decision")
