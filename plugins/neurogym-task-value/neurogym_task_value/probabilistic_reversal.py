"""Probabilistic reversal learning."""

from __future__ import annotations

import numpy as np

from neurogym_core import Choice, InvalidValueError, Outcome, Session, Task, TrialBuilder


class FixedReversal(Task):
    """Choose the side that pays more often; exactly eight correct choices make it the other one.

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
    at most 8 of 9 choices. To train networks or agents, which find the count, use version 1 of
    ProbabilisticReversal, where the moment of a reversal cannot be known.

    The condition `better` is the side that is better on this trial, and `luck` (n, 2) decides
    whether the better and the worse side pay. A reversal is a change of `better` from one trial of
    a session to the next.

    A criterion that allows for errors, such as 16 correct choices among the last 20, is
    ``criterion=16, window=20``. The window is emptied at a reversal.

    Deviations from the paper: those of version 1, but for the hazard.

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
                f"{self.name} was given p_worse={self.p_worse!r},"
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

    def _reverses(self, reached: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Sessions that reverse, given those at the criterion, (n,)."""
        return reached

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        correct = session.previous["outcome"] == Outcome.CORRECT
        recent = np.column_stack([session.recent[:, 1:], correct])
        reverses = self._reverses(recent.sum(axis=1) >= self.criterion, rng)
        session.recent = recent & ~reverses[:, None]  # the count starts at 0 again
        session.better = session.better ^ reverses
        return self.draw_conditions(rng, len(session), {"better": session.better})

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("choice")
        trial.show("offer", 1, during="choice")
        paid = (trial["luck"] < (self.p_better, self.p_worse)) * self.rewards["correct"]
        trial.answer("choose", trial["better"], "choice", correct=paid[:, 0], error=paid[:, 1])


class ProbabilisticReversal(FixedReversal):
    """Choose the side that pays more often, until it becomes the other one at some moment.

    After Bari, Theobald, Caprioli, Mar, Aidoo-Micah, Dalley & Robbins (2010),
    Neuropsychopharmacology 35:1290, doi:10.1038/npp.2009.233.

    On every trial the subject chooses one of two sides. One of them pays with a probability of 80
    %, the other one with 20 %. The sides exchange their probabilities, unannounced, after a choice
    that meets the criterion, with a probability of `hazard`: the eighth correct choice in a row,
    paid or not, and every further one of that row. The count starts at 0 after a reversal. A
    session has 200 trials and starts on a random side. A choice of the better side is correct, so
    that one in five correct choices is not paid; performance is the fraction of correct choices.

    Guessing earns 0.5. A subject that ignores its rewards and changes sides after a fixed number of
    choices earns at most 0.55, with 19 choices, and always the same side less than 0.2. An observer
    that follows Bayes' rule and knows all the probabilities earns 0.88 from its choices and
    rewards.

    The condition `better` is the side that is better on this trial, and `luck` (n, 2) decides
    whether the better and the worse side pay. A reversal is a change of `better` from one trial of
    a session to the next.

    Reversals at the criterion itself, as in the paper, are version 0 of ProbabilisticReversal; so
    is ``hazard=1``. A criterion that allows for errors, such as 16 correct choices among the last
    20, is ``criterion=16, window=20``. The window is emptied at a reversal.

    Deviations from the paper:

    - the hazard is ours (there, the eighth correct choice reverses the sides);
    - a trial is one step, and the subject always chooses (there, two holes lit up after an interval
      between trials, and rats could omit a choice);
    - sessions have no limit in time;
    - the criterion of eight choices and the 200 trials of a session were not compared with the text
      of the paper, and count as ours.

    Args:
        hazard: probability of a reversal after a choice that meets the criterion.
        p_better, p_worse: probability that the better and the worse side pays.
        criterion: correct choices within the window that allow for a reversal.
        window: number of recent trials that are counted.
    """

    hazard: float = 0.05

    def define(self) -> None:
        if not 0 <= self.hazard <= 1:
            raise InvalidValueError(
                f"ProbabilisticReversal was given hazard={self.hazard!r}; give a probability, 0 to"
                " 1."
            )
        super().define()

    def _reverses(self, reached: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return reached & (rng.random(len(reached)) < self.hazard)
