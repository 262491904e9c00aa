"""Simon task."""

from __future__ import annotations

import numpy as np

from neurogym_core import Choice, Task, TrialBuilder
from neurogym_task_cognition.price import priced_answer
from neurogym_task_cognition.shares import check_shares

SIDES = ("left", "right")


class Simon(Task):
    """Press left or right by the colour of a light, not by its position, fast.

    Simon & Rudell (1967), Journal of Applied Psychology 51:300, doi:10.1037/h0020586.

    After fixation, a light appears. Red asks for the left key (choice 0), green for the right one
    (choice 1). The light is on the side of that key (congruent), on the other side (incongruent),
    or in the centre (neutral, a fifth of the trials). The first two are equally likely, so that the
    position says nothing about the answer. Colour and position have two units each, with
    independent noise on every step; in the centre, both units of the position are silent.

    Time has a price: the reward of the right answer falls linearly from `correct` at the onset of
    the light by the share `price` of it, until the end of the window. Performance is the reward
    relative to `correct`. Guessing at once earns 0.5, and the position alone 0.45. The ideal
    observer, which sums the evidence of the colour and answers when waiting no longer pays, earns
    0.862: it is correct in 94.7 % of the trials, after 174 ms on average.
    Answering after 100 ms always earns 0.77.

    A subject that attends to the colour alone shows no effect of the position. People are slower if
    the position is incongruent, and the effect is smaller in slow answers than in fast ones. With
    `leak`, a share of the position is added to the units of the colour in the first `leak_ms`, as
    by an automatic pathway that fades: with ``leak=0.6`` the same observer, which does not know of
    the leak, is 108 ms slower in incongruent than in congruent trials, and errs in 17.5 instead of
    1.2 % of them. The size of the effect is ours, and not compared with people's.

    Deviations from the paper:

    - colours and positions of lights (there, the words "left" and "right" in one of the ears);
    - durations, noise, price and the proportion of neutral trials are ours.

    Args:
        p_neutral: proportion of trials with the light in the centre.
        leak: share of the position that is added to the units of the colour.
        leak_ms: how long it is added, ms.
        sigma: SD of the noise of colour and position, times sqrt(ms).
        price: share of the reward that is lost between the onset and the end of the window.
    """

    dt: float = 20
    p_neutral: float = 0.2
    leak: float = 0.0
    leak_ms: float = 200
    sigma: float = 8.0
    price: float = 1.0

    timing = {"fixation": 500, "stimulus": 1500}  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        check_shares(self, "p_neutral", "price")
        self.observe(fixation=1, colour=("red", "green"), position=SIDES)
        self.act(rest=1, choose=SIDES)
        either = (1 - self.p_neutral) / 2
        kinds = ("congruent", "incongruent", "neutral")
        self.vary(key=Choice(2), congruency=Choice(kinds, p=(either, either, self.p_neutral)))
        self.correct_choice("key")

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("fixation", "stimulus")
        trial.show("fixation", 1, during="fixation")
        kind = trial["congruency"]
        side = np.where(kind == "incongruent", 1 - trial["key"], trial["key"])
        position = np.eye(2)[side] * (kind != "neutral")[:, None]
        colour = np.eye(2)[trial["key"]]
        trial.show("colour", colour, during="stimulus", noise=self.sigma)
        trial.show("colour", self.leak * position, during="stimulus", stop=self.leak_ms)
        trial.show("position", position, during="stimulus", noise=self.sigma)
        priced_answer(
            trial, "choose", trial["key"], "stimulus", self.rewards["correct"], self.price
        )
