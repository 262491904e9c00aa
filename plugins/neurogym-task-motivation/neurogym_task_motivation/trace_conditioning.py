"""Pavlovian conditioning: values of odours, with a gap before the outcome."""

from __future__ import annotations

import numpy as np

from neurogym_core import Axis, Choice, InvalidValueError, Task, TrialBuilder, TruncatedExponential

ODOURS = ("big", "small", "none", "puff")
AMOUNTS = np.array((1.0, 0.25, 0.0, -1.0))
"""Outcomes of the odours: a big drop, a small drop, nothing, and an air puff."""
FREE = "free"
"""A trial with a big drop that no odour announces."""


class TraceConditioning(Task):
    """Predict the value of an outcome whose odour ended a second before it.

    Cohen, Haesler, Vong, Lowell & Uchida (2012), Nature 482:85, doi:10.1038/nature10754; Schultz,
    Dayan & Montague (1997), Science 275:1593, doi:10.1126/science.275.5306.1593.

    One of four odours comes for 1 s, and 1 s after it a big drop (1), a small drop (0.25), nothing
    or an air puff (-1), whatever the subject does. In one of ten of these trials the outcome is
    omitted, and one trial in 20 has a big drop without an odour. The interval between trials has an
    exponential distribution, so that nothing announces an odour. The output is the value: the
    expected outcome, which is 0.9 times that of the odour, discounted by the time until it comes,
    and 0 from the moment of the outcome on, also if it is omitted. It counts on every step but
    those of the interval: performance is the share of steps within `tolerance` of the value, and
    rewards are for it, not for drops.

    The ideal, which knows the time since the odour, earns 1. An output of 0 earns 0.48, because it
    is the value of one odour, of trials without one, and after outcomes. The value falls to 0 at
    the time of an omission: a network has to know that time. Differences of the output from step
    to step, plus outcomes, are prediction errors: positive at the odour of a drop, 0 at a drop that
    was predicted, and negative at its omission.

    Deviations from the papers:

    - an output for the value takes the place of licking and of the firing of neurons;
    - shares of omissions and of free drops, amounts, the discount, the time after the outcome and
      the distribution of intervals are ours, or were not compared with the papers.

    Args:
        discount: factor of the value per second of delay.
        omitted: share of the trials with an odour in which the outcome is omitted.
        free: share of the trials with a big drop and no odour.
        tolerance: largest distance from the value that counts as right.
    """

    discount: float = 0.5
    omitted: float = 0.1
    free: float = 0.05
    tolerance: float = 0.05

    timing = {
        "interval": TruncatedExponential(3000, 1000, 12000),
        "odour": 1000,
        "gap": 1000,
        "outcome": 200,
        "after": 500,
    }  # ms
    gap_has_odour = False

    def define(self) -> None:
        if not (0 < self.discount <= 1 and 0 <= self.omitted < 1 and 0 <= self.free < 1):
            raise InvalidValueError(
                f"{self.name} was given discount={self.discount!r}, omitted={self.omitted!r} and"
                f" free={self.free!r}; give a factor up to 1, and shares below 1."
            )
        share = (1 - self.free) / len(ODOURS)
        self.observe(odour=ODOURS, drop=1, puff=1)
        self.act(value=Axis(-1, 1, tolerance=self.tolerance))
        self.vary(
            odour=Choice((*ODOURS, FREE), p=(*[share] * len(ODOURS), self.free)),
            comes=Choice((False, True), p=(self.omitted, 1 - self.omitted)),
        )

    def new_trial(self, trial: TrialBuilder) -> None:
        played = ("odour", "gap", "outcome", "after")
        trial.periods("interval", *played)
        known = trial["odour"][:, None] == ODOURS
        trial.show("odour", known, during=played[: 1 + self.gap_has_odour])
        free = trial["odour"] == FREE
        amount = np.where(free, AMOUNTS[0], known @ AMOUNTS) * (trial["comes"] | free)
        trial.show("drop", np.maximum(amount, 0), during="outcome")
        trial.show("puff", np.maximum(-amount, 0), during="outcome")
        until = trial.duration("odour") + trial.duration("gap")  # (n,) ms
        longest = (until + trial.duration("outcome") + trial.duration("after")).max()
        left = until[:, None] - self.dt * np.arange(round(longest / self.dt))
        course = self.discount ** (np.maximum(left, 0) / 1000) * (left > 0)
        expected = (1 - self.omitted) * (known @ AMOUNTS)
        trial.timecourse("value", (expected[:, None] * course)[:, :, None], during=played)
        trial.loss_weight(0, during="interval")
