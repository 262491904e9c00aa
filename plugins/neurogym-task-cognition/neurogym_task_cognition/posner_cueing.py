"""Posner's cueing task."""

from __future__ import annotations

import numpy as np

from neurogym_core import Choice, Task, TrialBuilder
from neurogym_task_cognition.price import priced_answer
from neurogym_task_cognition.shares import check_shares

KINDS = ("valid", "invalid", "neutral")
PLACES = ("left", "right")


class PosnerCueing(Task):
    """Report which of two letters appears, on the side where an arrow points or on the other, fast.

    Posner (1980), Quarterly Journal of Experimental Psychology 32:3,
    doi:10.1080/00335558008248231.

    An arrow in the centre points to the left or the right for 100 ms; 100, 300, 600 or 1000 ms
    after its onset, a letter appears on one of the sides. The subject reports which letter it is
    (X is choice 0, O choice 1), as fast as it can. The arrow points to the letter in 80 % of the
    trials with an arrow that points (valid), and to the other side in the rest (invalid); in a
    fifth of all trials it points both ways (neutral). Letter and place are independent, so that the
    arrow says nothing about the answer. The units of the letter have independent noise on every
    step; those of the other place are silent.

    Time has a price: the reward of the right answer falls linearly from `correct` at the onset of
    the letter by the share `price` of it, until the end of the window. Performance is the reward
    relative to `correct`. Guessing at once earns 0.5. The ideal observer, which sums the evidence
    of both places and answers when waiting no longer pays, earns 0.862: it is correct in 94.7 % of
    the trials, after 174 ms on average. Answering after 100 ms always earns 0.77. Looking only
    where the arrow points, and guessing if nothing is there, earns 0.80: in any task of this kind
    most letters are there. Looking at one side only earns 0.68, half of the way (0.75 without a
    price of time).

    A subject that sees both sides equally well shows no effect of the arrow. People are faster in
    valid than in invalid trials, with neutral ones in between, as if attention followed the arrow.
    With `lost`, a share of the letter's strength is lost where the arrow does not point, and half
    of it if it points both ways: with ``lost=0.4`` the same observer, which does not know of it,
    takes 173 ms in valid, 198 ms in neutral and 218 ms in invalid trials, and errs in 6, 10 and
    16 % of them. The sizes are ours, and not compared with people's.

    Deviations from the paper:

    - a choice between letters (there, mostly the detection of a light), since the arrow says
      where a light is;
    - the loss does not depend on the time since the arrow, and nothing returns more slowly to a
      place where attention has been;
    - the share of neutral trials, intervals, durations, noise and price are ours.

    Args:
        p_valid: proportion of valid trials among those in which the arrow points to one side.
        p_neutral: proportion of trials in which it points both ways.
        lost: share of the letter's strength that is lost where the arrow does not point.
        sigma: SD of the noise of the letter, times sqrt(ms).
        price: share of the reward that is lost between the onset and the end of the window.
    """

    dt: float = 20
    p_valid: float = 0.8
    p_neutral: float = 0.2
    lost: float = 0.0
    sigma: float = 8.0
    price: float = 1.0

    timing = {"fixation": 500, "cue": 100, "gap": [0, 200, 500, 900], "stimulus": 1500}  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        check_shares(self, "p_valid", "p_neutral", "lost", "price")
        letters = ("X", "O")
        self.observe(fixation=1, cue=PLACES, left=letters, right=letters)
        self.act(rest=1, choose=letters)
        cued = 1 - self.p_neutral
        shares = (cued * self.p_valid, cued * (1 - self.p_valid), self.p_neutral)
        self.vary(letter=Choice(2), place=Choice(PLACES), validity=Choice(KINDS, p=shares))
        self.correct_choice("letter")

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("fixation", "cue", "gap", "stimulus")
        trial.show("fixation", 1, during=("fixation", "cue", "gap"))
        kind, right = trial["validity"], trial["place"] == "right"
        points = np.eye(2)[np.where(kind == "invalid", ~right, right) * 1]
        trial.show("cue", np.where((kind == "neutral")[:, None], 1, points), during="cue")
        away = np.select([kind == "valid", kind == "invalid"], [0.0, 1.0], 0.5)
        letter = np.eye(2)[trial["letter"]] * (1 - self.lost * away)[:, None]
        for place, there in zip(PLACES, (~right, right), strict=True):
            trial.show(place, letter, during="stimulus", where=there, noise=self.sigma)
        priced_answer(
            trial, "choose", trial["letter"], "stimulus", self.rewards["correct"], self.price
        )
