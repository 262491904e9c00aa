"""Sustained attention to response task."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import Choice, Task, TrialBuilder
from neurogym_task_cognition.price import priced_answer
from neurogym_task_cognition.shares import check_shares

STOP = 3


class SART(Task):
    """Press at every digit but the 3, fast.

    Robertson, Manly, Andrade, Baddeley & Yiend (1997), Neuropsychologia 35:747,
    doi:10.1016/S0028-3932(97)00015-8.

    A trial is one digit, of 1 to 9, for 250 ms, and a mask for 900 ms; a session has 225 of them.
    The subject presses at every digit except the 3, where it rests, until the next digit. All
    digits are equally likely. A press does not change the pace, and only the first one counts.

    Time has a price: the reward of a right press falls linearly from `correct` at the onset of the
    digit by the share `price` of it, until the next digit. Resting at the 3 earns `correct`.
    Performance is the reward relative to `correct`. The ideal observer presses at once, and earns
    1. Pressing at once whatever the digit, always going, earns 0.889, as in the paper, where the 3
    is as rare: compare the share of presses at the 3 (commission errors) between subjects.

    A perfect observer never presses at a 3. People do, in a few of the 25, and their presses before
    such errors are faster than before correct rests. An observer of the package whose attention is
    elsewhere for some trials on end, and which then presses by habit,
    `neurogym_task_cognition.observers:Drifter`, shows this: it presses at 29 % of the 3, and its
    last four presses are 64 ms faster before these errors. With the same share of errors, but
    independent ones, they are equally fast. The sizes are ours, and not compared with people's.

    Deviations from the paper:

    - time has a price (people were asked to be fast and accurate);
    - digits have units (there, they also varied in size);
    - digits are drawn independently (there, 25 of each in an order that was fixed in advance).

    Args:
        price: share of the reward that is lost between a digit and the next one.
    """

    dt: float = 50
    trials_per_session: int | None = 225
    price: float = 0.5

    timing = {"digit": 250, "mask": 900}  # ms
    rewards = {"correct": 1.0, "error": 0.0}

    def define(self) -> None:
        check_shares(self, "price")
        self.observe(digit=tuple(f"digit {digit}" for digit in range(1, 10)), mask=1)
        self.act(rest=1, press=1)
        self.vary(digit=Choice(range(1, 10)))
        self.correct_choice(_right)

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("digit", "mask")
        digit, whole = trial["digit"], ("digit", "mask")
        trial.show("digit", np.eye(9)[digit - 1], during="digit")
        trial.show("mask", 1, during="mask")
        trial.answer("press", -1, during=whole, where=digit == STOP, then="wait")
        priced_answer(
            trial, "press", 0, whole, self.rewards["correct"], self.price,
            where=digit != STOP, then="wait",
        )  # fmt: skip


def _right(conditions: Mapping[str, np.ndarray]) -> np.ndarray:
    """-1 (rest) at the 3, 0 (press) at all other digits, (n,)."""
    return np.where(conditions["digit"] == STOP, -1, 0)
