"""Reward learning in a stable and a volatile phase."""

from __future__ import annotations

import numpy as np

from neurogym_core import Choice, InvalidValueError, Session, Task, TrialBuilder


class VolatileReversal(Task):
    """Choose a colour by its points and by how likely it is to be right, which changes over trials.

    Behrens, Woolrich, Walton & Rushworth (2007), Nat. Neurosci. 10:1214, doi:10.1038/nn1954.

    In every trial one of two colours is right, and pays its points if it was chosen. The points of
    both are shown (whole numbers from 1 to 99, independent of each other); that a colour is right
    has to be learned from the outcomes, which are shown after every choice, whatever it was. In
    the stable phase blue is right with a probability of 0.75 or 0.25. In the volatile phase, the
    probability is 0.8 or 0.2 and reverses after 25 to 45 trials. The stable phase lasts 100 to 140
    of the 290 trials, and comes first or second, at random. Rewards are points / 100; performance
    is the mean reward of the chosen colour, given its probability, relative to the better one.

    The ideal follows probability and phase by Bayes' rule, and earns 0.95; its learning rate is
    higher in the volatile phase. Guessing earns 0.66. The larger number alone, without any
    learning, earns 0.82: learning counts where the points are similar. That is so in the paper,
    too. With feedback on each choice, copying the right one of the last trial would earn 0.85, and
    repeating right choices 0.88. Without points (``points=False``), the ideal earns 0.92 and
    guessing 0.64. The condition `p_blue` is the probability of blue, and the record has `volatile`.

    Deviations from the paper:

    - the phases have random lengths and colours, and reversals come after 25 to 45 trials (there,
      120 and 170 trials, and reversals every 30 or 40 trials);
    - choice and outcome are one step each.

    Args:
        p_stable, p_volatile: probability of the more likely colour in each phase.
        points: whether the colours have different points; otherwise, both pay 0.99.
    """

    p_stable: float = 0.75
    p_volatile: float = 0.8
    points: bool = True
    trials_per_session: int | None = 290

    timing = {"choice": 100, "outcome": 100}  # ms; one step each, since every action is a choice
    supervised = False
    go_cue = "offer"

    def define(self) -> None:
        likely = (self.p_stable, self.p_volatile)
        if not all(0.5 <= p <= 1 for p in likely):
            raise InvalidValueError(
                f"VolatileReversal was given p_stable, p_volatile={likely!r}; give probabilities of"
                " the more likely colour, 0.5 to 1."
            )
        colours = ("blue", "green")
        self.observe(offer=1, points=colours, right=colours)
        self.act(choose=colours)
        self.vary(
            p_blue=Choice(sorted({q for p in likely for q in (p, 1 - p)})),
            amount=lambda rng, prior: rng.integers(1 if self.points else 99, 100, (prior.n, 2)),
            right=lambda rng, prior: (rng.random(prior.n) >= prior["p_blue"]).astype(int),
        )

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        n, stable = len(session), rng.integers(100, 141, len(session))
        session.volatile, session.blue = rng.random((2, n)) < 0.5
        session.left = np.zeros(n, int)  # trials to the next reversal of the volatile phase
        session.turn = np.where(session.volatile, (self.trials_per_session or 290) - stable, stable)

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        second = session.trial == session.turn
        session.volatile = session.volatile ^ second
        reverses = second | (session.volatile & (session.left == 0))
        session.blue = session.blue ^ reverses
        session.left = np.where(reverses, rng.integers(25, 46, len(session)), session.left) - 1
        session.record(volatile=session.volatile)
        p = np.where(session.volatile, self.p_volatile, self.p_stable)
        return self.draw_conditions(rng, len(session), {"p_blue": np.where(session.blue, p, 1 - p)})

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("choice", "outcome")
        right, amount = trial["right"][:, None] == (0, 1), trial["amount"] / 100
        trial.show("offer", 1, during="choice")
        trial.show("points", amount, during="choice")
        trial.show("right", right, during="outcome")
        trial.hold("outcome", cost=0)
        p = np.stack([trial["p_blue"], 1 - trial["p_blue"]], axis=1)
        trial.offer("choose", amount * right, "choice", worth=amount * p, then="outcome")
