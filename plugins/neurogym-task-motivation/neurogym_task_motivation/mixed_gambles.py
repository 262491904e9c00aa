"""Gambles that win or lose."""

from __future__ import annotations

import numpy as np

from neurogym_core import Choice, InvalidValueError, Task, TrialBuilder

GAINS = tuple(range(10, 41, 2))
LOSSES = tuple(range(5, 21))


class MixedGambles(Task):
    """Accept or reject gambles that win or lose with equal chances.

    Tom, Fox, Trepel & Poldrack (2007), Science 315:515, doi:10.1126/science.1134239.

    A gamble wins 10 to 40 $ (in steps of 2), or loses 5 to 20 $ (in steps of 1), with equal
    chances; all 256 pairs are equally likely. The subject accepts or rejects. A gamble is worth
    gain / 2 - aversion * loss / 2, and rejecting it nothing. The reward is the outcome of an
    accepted gamble, in units of 40 $, with losses times `aversion`. Performance is the share of
    choices that are worth more; if both are worth as much, either is right.

    With an `aversion` of 1 (the default), an expected outcome above 0 is a reason to accept, which
    0.86 of the gambles have: always accepting earns 0.88, with 0.02 of gambles that are worth
    nothing. Looking at the gain alone, rejecting gains of 10 and 12 $, earns 0.91, and looking at
    the loss alone no more than always accepting. Such it is in the paper. With the median aversion
    of the paper's people, 1.93, they accept 0.53 of the gambles: ``aversion=1.93`` makes a subject
    that learns from rewards averse to losses. The ratio of the slopes of acceptance on losses and
    on gains measures aversion, however often gambles are accepted.

    Deviations from the paper: two answers (there, four, for strongly and weakly); accepted gambles
    are played at once (not compared with the paper); durations are ours.

    Args:
        aversion: weight of losses relative to gains.
    """

    aversion: float = 1.0

    timing = {"fixation": 500, "gamble": 2000}  # ms
    supervised = False
    go_cue = "gamble"

    def define(self) -> None:
        if not self.aversion > 0:
            raise InvalidValueError(
                f"MixedGambles was given aversion={self.aversion!r}; give a number above 0."
            )
        self.observe(gain=1, loss=1)
        self.act(rest=1, choose=("accept", "reject"))
        self.vary(gain=Choice(GAINS), loss=Choice(LOSSES), wins=Choice((False, True)))

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("fixation", "gamble")
        gain, loss = trial["gain"], trial["loss"] * self.aversion
        trial.show("gain", trial["gain"] / 40, during="gamble")
        trial.show("loss", trial["loss"] / 40, during="gamble")
        paid = np.where(trial["wins"], gain, -loss) / 40
        nothing = np.zeros(trial.n)
        right = np.column_stack([gain >= loss, gain <= loss])
        trial.offer("choose", np.column_stack([paid, nothing]), "gamble", worth=right)
