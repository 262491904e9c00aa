"""Four decks of cards."""

from __future__ import annotations

import numpy as np

from neurogym_core import Session, Task, TrialBuilder

GAINS = np.array((100, 100, 50, 50))
LOSSES = np.array(
    [
        [150, 200, 250, 300, 350, 0, 0, 0, 0, 0],
        [1250, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        [25, 75, 25, 75, 50, 0, 0, 0, 0, 0],
        [250, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    ]
)
"""(4, 10) losses of ten cards of the decks A, B, C and D."""
CARDS = GAINS[:, None] - LOSSES
PLACES = ("far left", "left", "right", "far right")


class IowaGambling(Task):
    """Take cards from four decks: those that pay more at once lose more in the end.

    Bechara, Damasio, Damasio & Anderson (1994), Cognition 50:7, doi:10.1016/0010-0277(94)90018-3.

    A subject chooses 100 cards. Each card of decks A and B pays 100, of C and D 50. Of ten cards of
    A, five lose 150 to 350, 1,250 together, and of B one loses 1,250; of C, five lose 25 to 75, 250
    together, and of D one loses 250. So A and B lose 25 per card, and C and D gain 25; losses are
    frequent in A and C, rare in B and D. The order of ten cards of a deck is random, and the decks
    are in new places in every session. Networks and agents need their last action and reward as
    inputs (the wrappers `pass_action` and `pass_reward`).

    Rewards are gains minus losses / 1,000. Performance is the share of choices of C and D; the
    usual score, their share minus that of A and B, is 2 * performance - 1. Guessing, and always the
    same place, earn 0.5. The ideal, which knows the decks but not their places, and takes a good
    one as soon as its cards show it, earns 0.99. So does a subject that repeats a right choice and
    is shown which one is right; one that leaves its place at random after a net loss of more than
    100, and remembers nothing else, earns 0.94. People come to it slowly, and prefer the decks with
    rare losses. The condition `decks` has the deck at each place, 0 for A to 3 for D.

    Deviations from the paper: losses come in a random order within ten cards (there, a fixed one);
    decks have new places in each session; gain and loss are one reward; the losses of C that make
    250 are ours; decks do not run out (there, they had 40 cards).
    """

    trials_per_session: int | None = 100

    timing = {"choice": 100}  # ms; one step, since every action is a choice
    supervised = False
    reads_outcomes = True
    go_cue = "offer"

    def define(self) -> None:
        self.observe(offer=1)
        self.act(take=PLACES)
        self.vary(
            decks=lambda rng, prior: rng.permuted(np.tile(np.arange(4), (prior.n, 1)), axis=1),
            card=lambda rng, prior: CARDS[prior["decks"], rng.integers(10, size=(prior.n, 4))],
        )

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        n = len(session)
        session.decks = rng.permuted(np.tile(np.arange(4), (n, 1)), axis=1)
        session.cards = rng.permuted(CARDS[session.decks], axis=2)  # (n, 4, 10)
        session.taken = np.zeros((n, 4), int)

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        taken = session.taken + (session.previous["choice"][:, None] == np.arange(4))
        empty = (taken == 10)[:, :, None]
        session.cards = np.where(empty, rng.permuted(session.cards, axis=2), session.cards)
        session.taken = taken % 10
        top = np.take_along_axis(session.cards, session.taken[:, :, None], axis=2)[:, :, 0]
        return {"decks": session.decks, "card": top}

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("choice")
        trial.show("offer", 1, during="choice")
        trial.offer("take", trial["card"] / 1000, "choice", worth=trial["decks"] >= 2)
