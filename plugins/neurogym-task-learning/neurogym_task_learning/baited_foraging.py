"""Dynamic foraging with coupled, baited sides."""

from __future__ import annotations

import numpy as np

from neurogym_core import Session, Task, TrialBuilder
from neurogym_task_learning.blocks import KINDS, following


class BaitedForaging(Task):
    """Choose between two sides, each of which keeps its reward until it is chosen.

    Bari, Grossman, Lubin, Rajagopalan, Cressy & Cohen (2019), Neuron 103:922,
    doi:10.1016/j.neuron.2019.06.001, after Sugrue, Corrado & Newsome (2004), Science 304:1782,
    doi:10.1126/science.1094765, and Lau & Glimcher (2005), J. Exp. Anal. Behav. 84:555,
    doi:10.1901/jeab.2005.110-04.

    Before every trial each side is armed with its probability; an armed side remains so until it is
    chosen, and then pays 1. In a block, the two probabilities have a ratio of 8:1, 6:1, 3:1 or 1:1,
    and a sum of 0.45. Blocks last 40 trials and an exponential number with a mean of 20, at most
    80, and the richer side is another one in the next block, or both are equal. Because the poorer
    side is armed with time, always the richer one is not the best choice: an occasional choice of
    the poorer one pays, and the shares of choices come to match those of rewards. Networks and
    agents need their last action and reward as inputs (the wrappers `pass_action` and
    `pass_reward`).

    The condition `chance` is the probability that each side is armed, given the subject's choices;
    a choice of the more likely side has a performance of 1, the other one of 0. Rewards tell little
    of a subject: guessing earns 0.34 per trial, blind alternation 0.38, and knowing all
    probabilities 0.41, in our simulations. In performance, guessing earns 0.50, always the same
    side 0.02, blind alternation 0.61, staying after a reward and else shifting 0.63, and the ideal,
    which infers the block from its rewards, 0.72 (a reward of 0.39).

    Deviations from the papers:

    - the probabilities are those of public code for this task, and the ratios those of Bari et al.;
      that their task was baited was not compared with the paper;
    - a trial is one step; 400 trials of a session are ours (there, 300 to 1,000);
    - no changeover delay (in Sugrue et al., the first choice after a change was not paid).

    Args:
        baited: whether a side stays armed; otherwise, each trial arms it independently.
    """

    baited: bool = True
    trials_per_session: int | None = 400

    timing = {"choice": 100}  # ms; one step, since every action is a choice
    supervised = False
    reads_outcomes = True
    go_cue = "offer"

    def define(self) -> None:
        self.observe(offer=1)
        self.act(choose=("left", "right"))
        self.vary(
            probability=lambda rng, prior: KINDS[rng.integers(len(KINDS), size=prior.n)],
            chance=lambda rng, prior: prior["probability"],
            armed=lambda rng, prior: rng.random((prior.n, 2)) < prior["chance"],
        )

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        session.kind = rng.integers(len(KINDS), size=len(session))
        session.left = self._lengths(rng, len(session))
        session.empty = np.ones((len(session), 2))  # probability that a side is not armed

    def _lengths(self, rng: np.random.Generator, n: int) -> np.ndarray:
        return 40 + np.minimum(rng.exponential(20, n), 40).astype(int)

    def _next_probabilities(self, session: Session, rng: np.random.Generator) -> np.ndarray:
        """Return the probabilities of the coming trial, (n, 2)."""
        over = session.left == 0
        session.kind = np.where(over, following(session.kind, rng), session.kind)
        session.left = np.where(over, self._lengths(rng, len(session)), session.left) - 1
        return KINDS[session.kind]

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        probability = self._next_probabilities(session, rng)
        kept = ~(session.previous["choice"][:, None] == (0, 1)) & self.baited
        session.empty = np.where(kept, session.empty, 1) * (1 - probability)
        armed = (session.previous["armed"] & kept) | (rng.random(kept.shape) < probability)
        return {"probability": probability, "chance": 1 - session.empty, "armed": armed}

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("choice")
        trial.show("offer", 1, during="choice")
        trial.record("probability")
        best = trial["chance"] >= trial["chance"].max(axis=1, keepdims=True)
        trial.offer("choose", trial["armed"], during="choice", worth=best)
