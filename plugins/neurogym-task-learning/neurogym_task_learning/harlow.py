"""Learning sets."""

from __future__ import annotations

import numpy as np

from neurogym_core import Choice, InvalidValueError, Session, Task, TrialBuilder


class Harlow(Task):
    """Find out which one of two new objects is rewarded, in one trial.

    Harlow (1949), Psychological Review 56:51, doi:10.1037/h0062474, in the form of Wang et al.
    (2018), Nat. Neurosci. 21:860, doi:10.1038/s41593-018-0147-8.

    A problem has two objects, which are shown in six trials, on random sides. One of them, chosen
    at random, is always rewarded with 1, the other one never. Then come two new objects: an object
    is `features` random numbers (standard Gaussian), which no other problem has. So the first trial
    of a problem is a guess, and whichever object was chosen, its outcome shows the right object of
    the other five: the objects count, and not their sides. Networks and agents need their last
    action and reward as inputs (the wrappers `pass_action` and `pass_reward`).

    The ideal is correct in half of the first trials and in all others: 0.917. Guessing, always the
    same side, and repeating a side that was right and else the other one, all earn 0.5: the sides
    are drawn for each trial. An animal without learning set comes to it slowly; the record has the
    number `presentation` of the trial in its problem, 1 to 6.

    Deviations from the paper:

    - objects are vectors (there, objects; in Wang et al., images on a screen that turns);
    - all problems have six trials (there, the first ones had more); no fixation;
    - an error pays 0 (in Wang et al., perhaps -1: not compared with the paper);
    - the 240 trials of a session, 40 problems, are ours.

    Args:
        presentations: trials of a problem.
        features: numbers of an object.
    """

    presentations: int = 6
    features: int = 10
    trials_per_session: int | None = 240

    timing = {"choice": 100}  # ms; one step, since every action is a choice
    rewards = {"correct": 1.0, "error": 0.0}
    supervised = False
    go_cue = "offer"

    def define(self) -> None:
        if self.presentations < 1 or self.features < 1:
            raise InvalidValueError(
                f"Harlow was given presentations={self.presentations!r} and"
                f" features={self.features!r}; give at least 1."
            )
        names = [f"feature {k + 1}" for k in range(self.features)]
        self.observe(offer=1, left=names, right=names)
        self.act(choose=("left", "right"))
        self.vary(good=self._objects, bad=self._objects, side=Choice(("left", "right")))
        self.correct_choice("side")

    def _objects(self, rng: np.random.Generator, prior) -> np.ndarray:
        """Draw an object per trial or session, (n, features)."""
        return rng.standard_normal((prior.n, self.features))

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        session.good, session.bad = np.zeros((2, len(session), self.features))

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        presentation = session.trial % self.presentations
        new = (presentation == 0)[:, None]
        drawn = rng.standard_normal((2, len(session), self.features))
        session.good, session.bad = np.where(new, drawn, (session.good, session.bad))
        session.record(presentation=presentation + 1)
        pair = {"good": session.good, "bad": session.bad}
        return self.draw_conditions(rng, len(session), pair)

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("choice")
        trial.show("offer", 1, during="choice")
        left = (trial["side"] == "left")[:, None]
        trial.show("left", np.where(left, trial["good"], trial["bad"]), during="choice")
        trial.show("right", np.where(left, trial["bad"], trial["good"]), during="choice")
        trial.answer("choose", trial["side"], during="choice")
