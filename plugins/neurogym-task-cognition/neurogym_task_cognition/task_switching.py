"""Cued task switching."""

from __future__ import annotations

import numpy as np

from neurogym_core import Choice, InvalidValueError, Session, Task, TrialBuilder
from neurogym_task_cognition.price import priced_answer
from neurogym_task_cognition.shares import check_shares

CUES = ("vertical 1", "vertical 2", "horizontal 1", "horizontal 2")
KINDS = ("first", "switch", "same cue")
KEYS = ("up or left", "down or right")


class TaskSwitching(Task):
    """Report the height or the side of a target, as a cue says that changes between trials, fast.

    Meiran (1996), Journal of Experimental Psychology: Learning, Memory, and Cognition 22:1423,
    doi:10.1037/0278-7393.22.6.1423; switch costs: Rogers & Monsell (1995), Journal of Experimental
    Psychology: General 124:207, doi:10.1037/0096-3445.124.2.207.

    A cue says, and goes on to say, whether height or side is asked; each of the two tasks has two
    cues. After 160, 600 or 1200 ms (the cue-stimulus interval) the target appears, in one of four
    places. Both tasks have the same two keys: choice 0 is up or left, choice 1 down or right. The
    feature that is not asked calls for the same key (congruent) or for the other one
    (incongruent), with equal probability. Cues are drawn independently, so that the task switches
    in half of the trials, and the cue repeats in a quarter; the record has the `transition`:
    "first" of the session, "switch", "repeat" (of the task, with the other cue) or "same cue".
    Height and side have two units each, with independent noise on every step.

    Time has a price: the reward of the right answer falls linearly from `correct` at the onset of
    the target by the share `price` of it, until the end of the window. Performance is the reward
    relative to `correct`. Guessing at once earns 0.5. The ideal observer, which sums the evidence
    of the feature that is asked and answers when waiting no longer pays, earns 0.862: it is correct
    in 94.7 % of the trials, after 174 ms on average. Answering after 100 ms always earns 0.77.
    The same observer without the cue earns 0.68, half of the way, with the sum of both features:
    half of the trials are congruent, as in the paper, and an answer that ignores the cue is right
    in 0.75 of the trials if there is no noise. Height alone or side alone earns 0.66.

    A subject that selects the feature perfectly shows no cost of switches. In people, switches
    slow the answer, and less so the earlier the cue comes. With `inertia`, a share of the feature
    that is asked is replaced by the other one after a switch, as by the previous task, and the
    share falls exponentially after the cue: with ``inertia=0.6`` the same observer, which does not
    know of it, is 29 ms slower in switch than in other trials after 160 ms, and errs more often,
    by 12 percentage points; it is 12 ms slower after 600 ms, and 2 ms after 1200 ms. The sizes are
    ours, and not compared with people's, who keep a part of the cost however early the cue comes.

    Deviations from the papers:

    - two cues per task, so that repeated tasks and repeated cues can be distinguished;
    - intervals, durations, noise and price are ours;
    - features of the target have units (there, a target in a grid of two by two).

    Args:
        inertia: share of the feature that is asked, replaced by the other one right after a switch.
        inertia_ms: time constant with which this share falls after the onset of the cue, ms.
        sigma: SD of the noise of height and side, times sqrt(ms).
        price: share of the reward that is lost between the onset and the end of the window.
    """

    dt: float = 20
    trials_per_session: int | None = 60
    inertia: float = 0.0
    inertia_ms: float = 300
    sigma: float = 8.0
    price: float = 1.0

    timing = {"fixation": 500, "cue": [160, 600, 1200], "stimulus": 1500}  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        check_shares(self, "inertia", "price")
        if self.inertia_ms <= 0:
            raise InvalidValueError(f"inertia_ms is {self.inertia_ms!r}; give a positive time, ms.")
        self.observe(fixation=1, cue=CUES, height=("up", "down"), side=("left", "right"))
        self.act(rest=1, choose=KEYS)
        kinds = Choice(("congruent", "incongruent"))
        self.vary(previous=Choice(range(-1, 4)), cue=Choice(4), key=Choice(2), congruency=kinds)
        self.correct_choice("key")

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        session.cue = np.full(len(session), -1)

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        drawn = self.draw_conditions(rng, len(session), {"previous": session.cue})
        session.cue = drawn["cue"]
        return drawn

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("fixation", "cue", "stimulus")
        trial.show("fixation", 1, during=("fixation", "cue"))
        cue, previous, key = trial["cue"], trial["previous"], trial["key"]
        trial.show("cue", np.eye(4)[cue], during=("cue", "stimulus"))
        switch = (previous >= 0) & (previous // 2 != cue // 2)
        trial.record(transition=np.select([previous < 0, switch, previous == cue], KINDS, "repeat"))
        asked = np.eye(2)[key]
        other = np.eye(2)[np.where(trial["congruency"] == "congruent", key, 1 - key)]
        kept = self.inertia * np.exp(-trial.duration("cue") / self.inertia_ms) * switch
        asked = asked + kept[:, None] * (other - asked)
        tall = (cue < 2)[:, None]
        height, side = np.where(tall, asked, other), np.where(tall, other, asked)
        trial.show("height", height, during="stimulus", noise=self.sigma)
        trial.show("side", side, during="stimulus", noise=self.sigma)
        priced_answer(trial, "choose", key, "stimulus", self.rewards["correct"], self.price)
