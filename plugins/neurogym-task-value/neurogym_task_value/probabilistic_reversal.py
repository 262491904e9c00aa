"""Probabilistic reversal learning."""

from __future__ import annotations

import numpy as np

from neurogym_core import Choice, InvalidValueError, Outcome, Session, Task, TrialBuilder


class ProbabilisticReversal(Task):
    """Choose the side that pays more often, until it becomes the other one.

    Bari, Theobald, Caprioli, Mar, Aidoo-Micah, Dalley & Robbins (2010), Neuropsychopharmacology
    35:1290, doi:10.1038/npp.2009.233.

    On every trial the subject chooses one of two sides. One of them pays with a probability of 80
    %, the other one with 20 %. After eight correct choices in a row, paid or not, the sides
    exchange their probabilities, unannounced, and the count starts at 0 again. A session has 200
    trials. A choice of the better side is correct, so that one in five correct choices is not paid;
    performance is the fraction of correct choices. Guessing earns 0.5. Always the same side earns
    0.02 on average: no reversal follows once that side is the worse one. The reversals are so
    regular that no reward is needed: a subject that changes sides after every eight choices is
    correct in 98 %. One that learns from rewards must err after each reversal, and so is correct in
    at most 8 of 9 choices.

    The condition `better` is the side that is better on this trial, and `luck` (n, 2) decides
    whether the better and the worse side pay. A reversal is a change of `better` from one trial of
    a session to the next.

    A criterion that allows for errors, such as 16 correct choices among the last 20, is
    ``criterion=16, window=20``. The window is emptied at a reversal.

    Deviations from the paper:

    - a trial is one step, and the subject always chooses (there, two holes lit up after an interval
      between trials, and rats could omit a choice);
    - sessions have no limit in time;
    - the criterion of eight choices and the 200 trials of a session were not compared with the text
      of the paper, and count as ours.

    Args:
        p_better, p_worse: probability that the better and the worse side pays.
        criterion: correct choices within the window that lead to a reversal.
        window: number of recent trials that are counted.
    """

    p_better: float = 0.8
    p_worse: float = 0.2
    criterion: int = 8
    window: int = 8
    trials_per_session: int | None = 200

    timing = {"choice": 100}  # ms; one step, since every action is a choice
    rewards = {"correct": 1.0}
    supervised = False
    reads_outcomes = True
    go_cue = "offer"

    def define(self) -> None:
        if not (0 <= self.p_worse < self.p_better <= 1 <= self.criterion <= self.window):
            raise InvalidValueError(
                f"ProbabilisticReversal was given p_worse={self.p_worse!r},"
                f" p_better={self.p_better!r}, criterion={self.criterion!r} and"
                f" window={self.window!r}; give 0 <= p_worse < p_better <= 1 and 1 <= criterion <="
                " window."
            )
        self.observe(offer=1)
        self.act(choose=("left", "right"))
        self.vary(better=Choice(2), luck=lambda rng, prior: rng.random((prior.n, 2)))
        self.correct_choice("better")

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        session.better = rng.integers(0, 2, len(session))
        session.recent = np.zeros((len(session), self.window), bool)

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        correct = session.previous["outcome"] == Outcome.CORRECT
        recent = np.column_stack([session.recent[:, 1:], correct])
        reached = recent.sum(axis=1) >= self.criterion
        session.recent = recent & ~reached[:, None]  # the count starts at 0 again
        session.better = session.better ^ reached
        return self.draw_conditions(rng, len(session), {"better": session.better})

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("choice")
        trial.show("offer", 1, during="choice")
        paid = (trial["luck"] < (self.p_better, self.p_worse)) * self.rewards["correct"]
        trial.answer("choose", trial["better"], "choice", correct=paid[:, 0], error=paid[:, 1])
