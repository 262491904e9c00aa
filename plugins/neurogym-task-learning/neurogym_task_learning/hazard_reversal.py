"""Reversal learning with a constant hazard."""

from __future__ import annotations

import numpy as np

from neurogym_core import Choice, InvalidValueError, Session, Task, TrialBuilder


class HazardReversal(Task):
    """Choose the side that pays more often; the sides reverse with a fixed probability per trial.

    After Behrens, Woolrich, Walton & Rushworth (2007), Nat. Neurosci. 10:1214, doi:10.1038/nn1954,
    whose reversals depend on no choice; our task without their schedule and magnitudes, which
    VolatileReversal has.

    The better side pays 1 in 80 % of trials, the worse one in 20 %. Before every trial, the sides
    exchange their probabilities with a probability of `hazard`, whatever the subject does, and the
    first better side is random. So no count of trials or choices predicts a reversal, and only
    rewards show it. Networks and agents need their last action and reward as inputs (the wrappers
    `pass_action` and `pass_reward`). A choice of the better side is correct.

    The ideal, which follows Bayes' rule and knows all probabilities, is correct in 0.84 of the
    trials; in 0.91 and 0.76 with a hazard of 0.02 and 0.1. Staying after a reward and else shifting
    earns 0.77. With feedback on each answer, repeating right ones would earn 0.95. Guessing, a
    constant side and any count earn 0.5. In ProbabilisticReversal, a reversal follows eight correct
    choices.

    Deviations from the paper: see above. The 200 trials of a session and all probabilities but the
    80 % are ours; the 80 % are those of the paper's volatile phase.

    Args:
        hazard: probability of a reversal before a trial.
        p_better, p_worse: probability that the better and the worse side pays.
    """

    hazard: float = 0.05
    p_better: float = 0.8
    p_worse: float = 0.2
    trials_per_session: int | None = 200

    timing = {"choice": 100}  # ms; one step, since every action is a choice
    rewards = {"correct": 1.0}
    supervised = False
    go_cue = "offer"

    def define(self) -> None:
        if not (0 <= self.p_worse < self.p_better <= 1 and 0 <= self.hazard <= 1):
            raise InvalidValueError(
                f"HazardReversal was given hazard={self.hazard!r}, p_better={self.p_better!r} and"
                f" p_worse={self.p_worse!r}; give probabilities, p_worse below p_better."
            )
        self.observe(offer=1)
        self.act(choose=("left", "right"))
        self.vary(better=Choice(2), luck=lambda rng, prior: rng.random((prior.n, 2)))
        self.correct_choice("better")

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        session.better = rng.integers(0, 2, len(session))

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        session.better = session.better ^ (rng.random(len(session)) < self.hazard)
        return self.draw_conditions(rng, len(session), {"better": session.better})

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("choice")
        trial.show("offer", 1, during="choice")
        paid = (trial["luck"] < (self.p_better, self.p_worse)) * self.rewards["correct"]
        trial.answer("choose", trial["better"], "choice", correct=paid[:, 0], error=paid[:, 1])
