"""Smaller rewards now against larger ones later."""

from __future__ import annotations

import numpy as np

from neurogym_core import Choice, InvalidValueError, Task, TrialBuilder

DAYS = (7, 14, 30, 60, 90, 120, 180)
NOW = 20.0
SPAN = 4.0
"""Largest factor between the rate of discounting and that at which offers are worth as much."""


class DelayDiscounting(Task):
    """Choose between a smaller reward now and a larger one that comes days later.

    Kable & Glimcher (2007), Nat. Neurosci. 10:1625, doi:10.1038/nn2007; Kirby, Petry & Bickel
    (1999), J. Exp. Psychol. Gen. 128:78, doi:10.1037/0096-3445.128.1.78.

    One offer is 20 $ now, the other a larger amount after 7 to 180 days. Both amounts and delays
    are shown; nothing is waited for. No choice is right: an amount A after D days is worth
    A / (1 + k D), and the reward is the worth of the chosen offer, in units of 20 $. Performance is
    the share of choices of the offer that is worth more, or consistency with `k`; the ideal earns
    1. The rate of discounting at which both offers are worth as much is drawn for each trial, up to
    four times below or above `k`, as in Kirby's items. So neither the amount nor the delay
    alone says much: always the same offer earns 0.50, and the amount alone 0.7.

    With ``fronts=(0, 60)`` both offers come 60 days later in half of the trials. Hyperbolic
    discounting then prefers the later offer in more of them, which is called a reversal of
    preference; exponential discounting does not.

    Deviations from the papers:

    - amounts and delays are ours, except for the 20 $ of Kable & Glimcher: a subject has one k,
      which is that of the rewards (in people, the median is near 0.01 per day; not compared with
      the papers);
    - both offers are shown (in Kable & Glimcher, the later one only).

    Args:
        k: rate of discounting, per day.
        fronts: days until the sooner offer, equally likely.
    """

    k: float = 0.01
    fronts: tuple[float, ...] = (0.0,)

    timing = {"fixation": 500, "offers": 2000}  # ms
    supervised = False
    go_cue = "offers"

    def define(self) -> None:
        if not self.k > 0 or min(self.fronts) < 0:
            raise InvalidValueError(
                f"DelayDiscounting was given k={self.k!r} and fronts={self.fronts!r}; give a rate"
                " above 0, and days of at least 0."
            )
        self.observe(amount=("sooner", "later"), delay=("sooner", "later"))
        self.act(rest=1, choose=("sooner", "later"))
        self.vary(
            front=Choice(self.fronts),
            days=Choice(DAYS),
            equal_k=lambda rng, prior: self.k * SPAN ** rng.uniform(-1, 1, prior.n),
            later=lambda rng, prior: np.round(NOW * (1 + prior["equal_k"] * prior["days"]), 2),
        )

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("fixation", "offers")
        amount = np.column_stack([np.full(trial.n, NOW), trial["later"]])
        delay = np.column_stack([trial["front"], trial["front"] + trial["days"]])
        worth = amount / (1 + self.k * delay)
        trial.record("equal_k")
        trial.show("amount", amount / 100, during="offers")
        trial.show("delay", delay / 100, during="offers")
        better = worth == worth.max(axis=1, keepdims=True)
        trial.offer("choose", worth / NOW, "offers", worth=better)
