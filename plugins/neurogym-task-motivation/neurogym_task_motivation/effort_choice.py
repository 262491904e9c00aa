"""Effort for larger rewards."""

from __future__ import annotations

from typing import Any

import numpy as np

from neurogym_core import Choice, InvalidValueError, Task, TrialBuilder
from neurogym_task_motivation.price_of_time import CHANCES, EASY, MOST, PRESSES, best_rate


class EffortChoice(Task):
    """Choose between an easy offer and a hard one, which takes longer and may pay more.

    Treadway, Buckholtz, Schwartzman, Lambert & Zald (2009), PLoS ONE 4:e6598,
    doi:10.1371/journal.pone.0006598 (the Effort Expenditure for Rewards Task).

    The easy offer asks for 30 presses within 7 s and pays 1 $, the hard one for 100 presses within
    21 s and pays 1.24 to 4.30 $. Both pay with the same probability, 0.12, 0.5 or 0.88. The amount
    of the hard offer and the probability are shown, and the subject chooses within 5 s. Presses
    are not made: they take the time of the offer, and cost `effort` each. The reward comes at the
    end of this time, in dollars; then the next trial begins.

    Time is limited, so that the best policy takes the hard offer if it pays more than the easy one
    by more than the reward that the 14 s could earn otherwise: 1.17 $. Performance is the share of
    such choices; the ideal, which knows the largest reward rate, makes all of them. No memory is
    needed: the current observation shows all. Always the easy offer earns 0.68, and the amount
    alone, as if the probability were 0.5, 0.78 (0.82 by the best rule). In the record,
    ``reward.sum() / steps.sum()`` is the reward rate.

    Deviations from the paper:

    - presses are replaced by their time and cost, as if all were made (there, some are not);
    - without a choice the trial ends as a miss (there, an offer is assigned; not compared with the
      paper); the 20 minutes of a session are not imposed: rates are the same with the next trials;
    - probabilities and amounts are uniform, the feedback and the interval between trials are ours.

    Args:
        effort: cost of a press, dollars; the default is none but the time.
    """

    dt: float = 500
    effort: float = 0.0
    timing = {"interval": 1000, "choice": 5000, "easy": 7000, "hard": 21000}  # ms
    supervised = False
    go_cue = "offer"

    def define(self) -> None:
        if not 0 <= self.effort < 0.01:
            raise InvalidValueError(
                f"EffortChoice was given effort={self.effort!r}; give 0 to 0.01 dollars a press."
            )
        known = {name: self.timing[name].mean for name in ("interval", "easy", "hard")}
        self._ms = np.array([known["interval"] + self.dt + known[one] for one in ("easy", "hard")])
        self._rate = best_rate(*self._ms, self.effort)
        self.observe(offer=1, chance=1, amount=1)
        self.act(rest=1, choose=("easy", "hard"))
        self.vary(
            chance=Choice(CHANCES),
            amount=lambda rng, prior: rng.integers(124, 431, prior.n) / 100,
            luck=lambda rng, prior: rng.random(prior.n),
        )

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("interval", "choice", "easy", "hard", then={"choice": "end", "easy": "end"})
        trial.show("offer", 1, during="choice")
        trial.show("chance", trial["chance"], during="choice")
        trial.show("amount", trial["amount"] / MOST, during="choice")
        amounts = np.column_stack([np.full(trial.n, EASY), trial["amount"]])
        value = trial["chance"][:, None] * amounts - self.effort * np.array(PRESSES)
        value = value - self._rate * self._ms
        best = value == value.max(axis=1, keepdims=True)
        won = (trial["luck"] < trial["chance"])[:, None]
        trial.record(paid=won * amounts - self.effort * np.array(PRESSES))
        trial.offer("choose", 0, "choice", worth=best, then=("easy", "hard"))

    def step_action(self, now: Any, action: np.ndarray) -> tuple[np.ndarray, None]:
        last, paid = now.remaining < 1.5 * now.dt, now.conditions["paid"]
        easy, hard = now.in_period("easy"), now.in_period("hard")
        return last * (easy * paid[:, 0] + hard * paid[:, 1]), None
