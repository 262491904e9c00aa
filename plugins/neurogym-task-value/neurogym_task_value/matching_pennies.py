"""Matching pennies."""

from __future__ import annotations

import numpy as np

from neurogym_core import Choice, InvalidValueError, OneHot, Outcome, Session, Task, TrialBuilder
from neurogym_task_value.opponent import Opponent

SIDES = ("left", "right")
CORRECT = int(Outcome.CORRECT)


class MatchingPennies(Task):
    """Choose the same side as an opponent that tries to predict and avoid the subject's choice.

    Barraclough, Conroy & Lee (2004), Nat. Neurosci. 7:404, doi:10.1038/nn1209.

    The subject and a computer choose one of two targets at once, target 0 on the left and target 1
    on the right. The subject is rewarded when they are the same. While the subject chooses, it sees
    the computer's choice of the previous trial.
    Three opponents:

    - algorithm 0 chooses both targets equally often, whatever the subject does;
    - algorithm 1 analyses all previous choices of the session: the probability that the subject
      chose target 1, in total, and after the same last 1, 2, 3 and 4 choices as now. Of those of
      the five probabilities that differ from 1/2 (two-sided binomial test at 5 %) it takes the one
      that differs most, p, and chooses target 1 with probability 1 - p; if none differs, it chooses
      at random;
    - algorithm 2 also analyses the probabilities after the same last 1, 2, 3 and 4 choices *and
      outcomes*: nine in all.

    Performance is the fraction of trials won. Choosing at random wins half of the trials against
    each of them, and always the same target half against algorithm 0, and less than 1 % against the
    others. A subject that knows algorithm 2 can foresee its predictions, and wins 58 % by
    following them (`neurogym_task_value.observers:Counterpart`). `opponent` is the computer's
    choice and `last_opponent` the one shown (-1: first trial of a session).

    Deviations from the paper: a trial is one step (there, fixation, a period with both targets on,
    then a saccade); a session has 500 trials, our number, and starts with an empty history (there,
    a day's trials).

    Args:
        algorithm: 0, 1 or 2, the opponent.
        significance: level of the binomial tests.
    """

    algorithm: int = 2
    significance: float = 0.05
    trials_per_session: int | None = 500

    timing = {"choice": 100}  # ms; one step, since every action is a choice
    supervised = False
    reads_outcomes = True
    go_cue = "targets"

    def define(self) -> None:
        if self.algorithm not in (0, 1, 2):
            raise InvalidValueError(
                f"MatchingPennies was given algorithm={self.algorithm!r}; give 0, 1 or 2."
            )
        if not 0 < self.significance < 1:
            raise InvalidValueError(
                f"MatchingPennies was given significance={self.significance!r}; give a level"
                " between 0 and 1."
            )
        self.opponent = Opponent(self.algorithm, self.significance)
        self.observe(targets=1, last_opponent=OneHot(SIDES))
        self.act(choose=SIDES)
        self.vary(opponent=Choice(2), last_opponent=Choice((-1, 0, 1)))
        self.correct_choice("opponent")

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        self.opponent.forget(session)

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        previous = session.previous
        played = previous["choice"] >= 0
        self.opponent.learn(
            session, previous["choice"], previous["outcome"] == CORRECT, where=played
        )
        opponent = (rng.random(len(session)) < self.opponent.bias(session)).astype(np.int64)
        last = np.where(played, previous.get("opponent", -1), -1)
        return {"opponent": opponent, "last_opponent": last}

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("choice")
        trial.show("targets", 1, during="choice")
        trial.show(
            "last_opponent",
            self.channels.encoder("last_opponent").encode(trial["last_opponent"]),
            during="choice",
        )
        trial.answer("choose", trial["opponent"], during="choice")
