"""Eriksen flanker task."""

from __future__ import annotations

import numpy as np

from neurogym_core import Choice, Task, TrialBuilder
from neurogym_task_cognition.price import priced_answer
from neurogym_task_cognition.shares import check_shares

SIDES = ("left", "right")
PLACES = (1, 2, 4, 5)


class Flanker(Task):
    """Report the direction of an arrow between four others, fast.

    Eriksen & Eriksen (1974), Perception & Psychophysics 16:143, doi:10.3758/BF03203267.

    After fixation, five arrows appear side by side. The subject reports the direction of the one in
    the centre, as fast as it can: left is choice 0, right choice 1. The four flankers point in the
    same direction (congruent), in the other one (incongruent), or are absent (neutral, a fifth of
    the trials). The first two are equally likely, so that flankers say nothing about the answer.
    Two units per arrow show its direction, with independent noise on every step.

    Time has a price: the reward of the right answer falls linearly from `correct` at the onset of
    the arrows by the share `price` of it, until the end of the window. Performance is the reward
    relative to `correct`. Guessing at once earns 0.5, the sum of the five arrows 0.56, and the
    flankers alone 0.49. The ideal observer, which sums the evidence of the centre and answers when
    waiting no longer pays, earns 0.862: it is correct in 94.7 % of the trials, after 174 ms on
    average. Answering after 100 ms always earns 0.77.

    A subject that attends to the centre alone shows no effect of the flankers, whatever the noise.
    In people, incongruent flankers slow the answer. With `leak`, a share of the flankers' direction
    is added to the units of the centre, as by imperfect attention: with ``leak=0.4`` the same
    observer, which does not know of the leak, is 81 ms slower in incongruent than in congruent
    trials, and errs in 15.8 instead of 1.5 % of them. The size of the effect is ours, and not
    compared with people's.

    Deviations from the paper:

    - arrows (there, letters, two of which asked for each side of a lever);
    - durations, noise, price and the proportion of neutral trials are ours;
    - conditions are drawn independently, not balanced within blocks.

    Args:
        p_neutral: proportion of trials without flankers.
        leak: share of the flankers' direction that is added to the units of the centre.
        sigma: SD of the noise of the arrows, times sqrt(ms).
        price: share of the reward that is lost between the onset and the end of the window.
    """

    dt: float = 20
    p_neutral: float = 0.2
    leak: float = 0.0
    sigma: float = 8.0
    price: float = 1.0

    timing = {"fixation": 500, "stimulus": 1500}  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        check_shares(self, "p_neutral", "price")
        flankers = tuple(f"{side} {place}" for place in PLACES for side in SIDES)
        self.observe(fixation=1, target=SIDES, flankers=flankers)
        self.act(rest=1, choose=SIDES)
        either = (1 - self.p_neutral) / 2
        kinds = ("congruent", "incongruent", "neutral")
        self.vary(side=Choice(2), congruency=Choice(kinds, p=(either, either, self.p_neutral)))
        self.correct_choice("side")

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("fixation", "stimulus")
        trial.show("fixation", 1, during="fixation")
        kind = trial["congruency"]
        side = np.where(kind == "incongruent", 1 - trial["side"], trial["side"])
        flanker = np.eye(2)[side] * (kind != "neutral")[:, None]
        target = np.eye(2)[trial["side"]] + self.leak * flanker
        trial.show("target", target, during="stimulus", noise=self.sigma)
        trial.show("flankers", np.tile(flanker, len(PLACES)), during="stimulus", noise=self.sigma)
        priced_answer(
            trial, "choose", trial["side"], "stimulus", self.rewards["correct"], self.price
        )
