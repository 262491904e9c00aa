"""Perceptual decisions with several alternatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from string import ascii_uppercase

import numpy as np

from neurogym_core import (
    Choice,
    Encoder,
    InvalidValueError,
    OneHot,
    Task,
    TrialBuilder,
    TruncatedExponential,
)


class NAltPerceptualDecisionMaking(Task):
    """Report which of several noisy stimuli is the strongest.

    Churchland, Kiani & Shadlen (2008), Nat. Neurosci. 11:693, doi:10.1038/nn.2123.

    The subject fixates while one unit per choice shows evidence for it: (1 + c) / 2 for the correct
    choice, (1 - c) / 2 for the others, where c is the coherence as a fraction, with independent
    noise on every step. When the fixation cue turns off, it reports the choice: choice k is unit k.
    With ``fewest`` below ``alternatives`` the number of alternatives varies from trial to trial and
    is cued with the evidence. The first of them are offered (of four, two are choices 0 and 1), and
    units of the others show only noise. Always giving choice 0 is then correct more often than one
    in ``alternatives``: 36 % with 2 to 4.

    As in the paper, the coherences are the same for any number of alternatives, so more of them are
    harder. The noise is calibrated to the monkeys of Roitman & Shadlen (2002), whose task is the
    one with two choices: 77.2, 94.0, 99.5 and 100 % correct at 6.4, 12.8, 25.6 and 51.2 %. The best
    observer, which sums all the evidence, is correct in 77.5, 91.4, 99.0 and 100 % of trials with
    two alternatives, in 65.1, 85.5, 98.1 and 100 % with three and in 57.5, 81.4, 97.1 and 100 %
    with four.

    Deviations from the paper:

    - the strongest of several activities instead of the direction of dots (with two alternatives
      the evidence is the same; with four, the units opposite each other in the paper's dots would
      differ more than neighbours);
    - the experimenter determines the duration of the motion (there, the subject: wrap the task in
      ReactionTime for that);
    - three alternatives by default (there, two and four);
    - the motion lasts 80 to 1500 ms, mean 390 (there, until the answer), as in NeuroGym.

    Args:
        alternatives: number of choices, at least 2.
        fewest: smallest number of them that a trial offers; None: always all.
        coherences: coherences, %.
        sigma: SD of the noise of the evidence, times sqrt(ms).
    """

    alternatives: int = 3
    fewest: int | None = None
    coherences: tuple[float, ...] = (0, 6.4, 12.8, 25.6, 51.2)
    sigma: float = 1.1

    timing = {
        "fixation": 500,
        "stimulus": TruncatedExponential(330, 80, 1500),
        "decision": 500,
    }  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        least = self.alternatives if self.fewest is None else self.fewest
        if not 2 <= least <= self.alternatives:
            raise InvalidValueError(
                f"NAltPerceptualDecisionMaking was given alternatives={self.alternatives} and"
                f" fewest={self.fewest}; give at least 2 alternatives, and a fewest of 2 to"
                " alternatives."
            )
        self.counts = tuple(range(least, self.alternatives + 1))
        self.cue = OneHot(len(self.counts)) if len(self.counts) > 1 else None
        letters = Encoder(self.alternatives).named(ascii_uppercase[: self.alternatives])
        self.observe(
            fixation=1,
            stimulus=letters,
            **({"offered": self.cue.named([str(k) for k in self.counts])} if self.cue else {}),
        )
        self.act(fixate=1, choose=letters)
        self.vary(
            offered=Choice(self.counts), strongest=_any_offered(), coherence=Choice(self.coherences)
        )
        self.correct_choice("strongest")

    def new_trial(self, trial: TrialBuilder) -> None:
        before = ("fixation", "stimulus")
        trial.periods(*before, "decision")
        trial.show("fixation", 1, during=before)
        if self.cue:
            trial.show(
                "offered",
                self.cue.encode(trial["offered"] - self.counts[0]),
                during=("stimulus", "decision"),
            )
        for count in self.counts:
            sign = np.where(trial.correct_choice[:, None] == np.arange(self.alternatives), 1, -1)
            there = np.arange(self.alternatives) < count
            evidence = (0.5 + sign * trial["coherence"][:, None] / 200) * there
            trial.show("stimulus", evidence, during="stimulus", where=trial["offered"] == count)
        trial.show("stimulus", 0, during="stimulus", noise=self.sigma)
        trial.answer("choose", trial.correct_choice, during="decision")


def _any_offered() -> Callable:
    """Return a sampler of the correct choice: one of the offered ones, all equally likely."""

    def draw(rng: np.random.Generator, prior: Mapping[str, np.ndarray]) -> np.ndarray:
        return rng.integers(0, prior["offered"])

    return draw
