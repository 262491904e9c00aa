"""Economic choice."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import Choice, OneHot, Task, TrialBuilder

A, B = 0, 1


class EconomicDecisionMaking(Task):
    """Choose between different amounts of two juices, one of which is preferred.

    Padoa-Schioppa & Assad (2006), Nature 441:223, doi:10.1038/nature04676.

    The subject fixates. Two offers appear, one on each side, each a quantity of one juice. When the
    fixation cue turns off, after a random delay, the subject chooses the offer of one side and
    receives the juice. Juice A is preferred: one unit of it is worth `relative_value` units of B.
    There are no correct choices, only more valuable ones: performance is the value of the chosen
    offer relative to that of the other if that is larger. Always the same side earns 0.69, as does
    guessing, and always juice A 0.74; the worse offer still earns 0.38 on average. The juice of one
    side says that of the other, which adds nothing (1.00), and the amounts alone earn 0.96: few
    offers are equally good in amount and not in value.

    Amounts are shown with independent noise on every step. An observer that compares the values of
    the average amounts chooses B in 0, 8 and 100 % of the trials with 1, 2 and 3 units of B for one
    of A: the fraction of choices of B is a sigmoid of the log of the ratio, whose midpoint is the
    relative value. One that sees only the first 100 ms of the offers chooses B in 1, 36 and 93 % of
    these trials; both earn a performance of 0.99 or more.

    The condition `offer` is (units of B, units of A), as the paper writes offer types, and `a_left`
    the side of A. `a_choice` in the record is the index of the choice that takes A: 0 left, 1
    right.

    Deviations from the paper: offers are coded as the identity and the amount (units / 5) of each
    side's juice, not as coloured squares; the relative value is fixed (there, measured: it differed
    between pairs of juices and days); the answer is one action, not a saccade held for 0.75 s.
    Offers, relative value, code, noise and the rewards of the juices are those of the networks of
    Song, Yang & Wang (2017), with two differences: offers stay on during the decision (there, they
    turned off with the fixation cue), and fixation lasts 1.5 s as in the paper (there, 0.75 s).

    Args:
        offers: pairs (units of B, units of A), equally likely.
        relative_value: value of one unit of A in units of B; as in Song, Yang & Wang (2017), eLife
            6:e21492, doi:10.7554/eLife.21492.
        unit: reward for one unit of B; as in Song et al., which makes a unit of A 0.22.
        sigma: SD of the noise of the amounts, in units / 5, times sqrt(ms); as in Song et al.,
            whose variance is 2 * 100 ms * 0.001.
    """

    offers: tuple[tuple[int, int], ...] = (
        (0, 1),
        (1, 3),
        (1, 2),
        (1, 1),
        (2, 1),
        (3, 1),
        (4, 1),
        (6, 1),
        (2, 0),
    )
    relative_value: float = 2.2
    unit: float = 0.1
    sigma: float = 0.2**0.5
    dt: float = 50  # ms: 750 ms is a whole number of these

    timing = {"fixation": 1500, "offer": {"uniform": [1000, 2000]}, "decision": 750}  # ms
    rewards = {"abort": -0.1}
    evidence_periods = ("offer",)

    def define(self) -> None:
        self.juice = OneHot(2)
        self.observe(
            fixation=1,
            **dict.fromkeys(("left_juice", "right_juice"), self.juice.named("AB")),
            amount=("left", "right"),
        )
        self.act(fixate=1, choose=("left", "right"))
        self.vary(offer=Choice(self.offers), a_left=Choice((True, False)))
        self.evidence(self._difference)

    def _difference(self, known: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return the worth of the right offer minus that of the left one, units of B, (n,)."""
        worth = known["offer"] * np.array([1.0, self.relative_value])  # offers are written (B, A)
        return (worth[:, 0] - worth[:, 1]) * np.where(known["a_left"], 1, -1)

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("fixation", "offer", "decision")
        trial.show("fixation", 1, during=("fixation", "offer"))

        left = np.where(trial["a_left"], A, B)
        juices = np.stack([left, 1 - left], axis=1)  # (n, 2): of the left and of the right offer
        units = np.take_along_axis(
            trial["offer"][:, ::-1], juices, axis=1
        )  # offers are written (B, A)
        seen = {"during": ("offer", "decision")}
        trial.show("left_juice", self.juice.encode(juices[:, 0]), **seen)
        trial.show("right_juice", self.juice.encode(juices[:, 1]), **seen)
        trial.show("amount", units / 5, **seen, noise=self.sigma)

        value = units * np.where(juices == A, self.relative_value, 1) * self.unit
        trial.offer("choose", value, during="decision")
        trial.record(a_choice=np.where(trial["a_left"], 0, 1))
