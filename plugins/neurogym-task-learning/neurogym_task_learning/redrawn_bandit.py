"""Two-armed bandit whose probabilities are redrawn for every session."""

from __future__ import annotations

import numpy as np

from neurogym_core import InvalidValueError, Session, Task, TrialBuilder

BETTER = {"easy": 0.9, "medium": 0.75, "hard": 0.6}
"""Probability of the better one of two dependent arms."""
ARMS = ("independent", "uniform", *BETTER)


class RedrawnBandit(Task):
    """Choose between two arms whose reward probabilities are new in every session.

    Wang, Kurth-Nelson, Kumaran, Tirumala, Soyer, Leibo, Hassabis & Botvinick (2018), Nat. Neurosci.
    21:860, doi:10.1038/s41593-018-0147-8, after Wang et al. (2016), arXiv:1611.05763.

    A session has 100 trials. Both arms keep their probabilities of a reward of 1 over the session,
    and these are never shown, so that the subject has to learn them from its rewards in each
    session: a network does so with frozen weights. Networks and agents need their last action and
    reward as inputs (the wrappers `pass_action` and `pass_reward`). Performance is the probability
    of the chosen arm relative to that of the better one.

    The probabilities are `independent` and uniform, or those of dependent arms, p and 1 - p:
    `uniform` p, or 0.9 and 0.1 (`easy`), 0.75 and 0.25 (`medium`), 0.6 and 0.4 (`hard`), on random
    arms. Mean rewards, from our simulations, which were not compared with the paper:

    | arms | better arm | guessing | ideal |
    |---|---|---|---|
    | independent | 0.667 | 0.5 | 0.649 |
    | uniform | 0.75 | 0.5 | 0.739 |
    | easy | 0.9 | 0.5 | 0.894 |
    | medium | 0.75 | 0.5 | 0.740 |
    | hard | 0.6 | 0.5 | 0.577 |

    With independent arms the ideal plans by Bayes' rule over the trials that are left, and its
    performance is 0.96; guessing, or always the same arm, earns 0.75. A subject that stays after a
    reward and else shifts earns 0.87 (a reward of 0.59): so it is with two arms.

    Deviations from the paper: a trial is one step, without fixation.

    Args:
        arms: "independent", "uniform", "easy", "medium" or "hard".
    """

    arms: str = "independent"
    trials_per_session: int | None = 100

    timing = {"choice": 100}  # ms; one step, since every action is a choice
    supervised = False
    go_cue = "offer"

    def define(self) -> None:
        if self.arms not in ARMS:
            raise InvalidValueError(
                f"RedrawnBandit was given arms={self.arms!r}; give one of {', '.join(ARMS)}."
            )
        self.observe(offer=1)
        self.act(arm=("A", "B"))
        self.vary(
            probability=lambda rng, prior: self._probabilities(rng, prior.n),
            payout=lambda rng, prior: rng.random((prior.n, 2)) < prior["probability"],
        )
        self.evidence(lambda known: known["probability"][:, 1] - known["probability"][:, 0])

    def _probabilities(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """Draw the probabilities of both arms, (n, 2)."""
        p = rng.random((n, 2))
        if self.arms == "independent":
            return p
        first = p[:, 0]
        if self.arms in BETTER:
            first = np.where(first < 0.5, BETTER[self.arms], 1 - BETTER[self.arms])
        return np.stack([first, 1 - first], axis=1)

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        session.probability = self._probabilities(rng, len(session))

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        return self.draw_conditions(rng, len(session), {"probability": session.probability})

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("choice")
        trial.show("offer", 1, during="choice")
        trial.offer("arm", trial["payout"], during="choice", worth=trial["probability"])
