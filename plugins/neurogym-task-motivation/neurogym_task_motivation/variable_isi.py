"""Rewards after an uncertain time."""

from __future__ import annotations

import numpy as np

from neurogym_core import Axis, Choice, InvalidValueError, Task, TrialBuilder, TruncatedExponential

DELAYS = np.arange(1200, 2801, 200)  # ms from the onset of the odour to the reward
WEIGHTS = np.exp(-0.5 * ((DELAYS - 2000) / 500) ** 2)
CHANCES = WEIGHTS / WEIGHTS.sum()


class VariableISI(Task):
    """Predict the value of a reward that comes after an uncertain time, or not at all.

    Starkweather, Babayan, Uchida & Gershman (2017), Nat. Neurosci. 20:581, doi:10.1038/nn.4520.

    An odour comes for 1 s, and a reward 1.2 to 2.8 s after its onset, whatever the subject does:
    nine times with the weights of a Gaussian with a mean of 2 s and an SD of 0.5 s. In the first
    task of the paper all odours are followed by a reward, and the longer it has not come, the
    sooner it will: its hazard rises to 1. In the second one, ``rewarded=0.9``, one of ten rewards
    is omitted, and the longer it has not come, the likelier it never will: the probability that it
    is still to come falls from 0.9 to 0.3. The output is the value: the expected reward, discounted
    by the time until it comes, given that it has not come so far; 0 from the reward on, and after
    the last of the nine times. It counts on every step but those of the interval: performance is
    the share of steps within `tolerance` of the value, and rewards are for it.

    The ideal, which knows the time since the odour, earns 1; an output of 0 earns 0.27, and one of
    0.75 0.23. The prediction error at the reward, 1 minus the value before it, falls with the time
    of the reward if all are rewarded, and rises if some are omitted, as the response of dopamine
    neurons does in the paper.

    Deviations from the paper: an output for the value takes the place of firing neurons; the
    discount, the interval between trials and the time after the reward are ours, and the share of
    omissions was not compared with the paper.

    Args:
        rewarded: share of the trials with a reward.
        discount: factor of the value per second of delay.
        tolerance: largest distance from the value that counts as right.
    """

    rewarded: float = 1.0
    discount: float = 0.8
    tolerance: float = 0.05
    timing = {
        "interval": TruncatedExponential(3000, 1000, 12000),
        "odour": 1000,
        "reward": 200,
        "after": 500,
    }  # ms

    def define(self) -> None:
        if not (0 < self.rewarded <= 1 and 0 < self.discount <= 1):
            raise InvalidValueError(
                f"VariableISI was given rewarded={self.rewarded!r} and discount={self.discount!r};"
                " give numbers above 0, up to 1."
            )
        self.observe(odour=1, drop=1)
        self.act(value=Axis(-1, 1, tolerance=self.tolerance))
        self.vary(
            isi=Choice(DELAYS.tolist(), p=CHANCES.tolist()),
            comes=Choice((False, True), p=(1 - self.rewarded, self.rewarded))
            if self.rewarded < 1
            else Choice((True,)),
        )

    def value_at(self, ms: np.ndarray) -> np.ndarray:
        """Return the value some ms after the onset of the odour if no reward came, (T,)."""
        left = DELAYS - ms[:, None]  # (T, 9)
        to_come = CHANCES * (left > 0)
        reward = (to_come * self.discount ** (np.maximum(left, 0) / 1000)).sum(axis=1)
        open_ = self.rewarded * to_come.sum(axis=1) + (1 - self.rewarded)
        return self.rewarded * reward / np.maximum(open_, 1e-12)

    def new_trial(self, trial: TrialBuilder) -> None:
        drawn = np.where(trial["comes"], trial["isi"], DELAYS[-1])
        played = ("odour", "gap", "reward", "after")
        trial.periods(
            "interval", *played, gap=lambda: np.maximum(drawn - trial.duration("odour"), 0)
        )
        trial.show("odour", 1, during="odour")
        trial.show("drop", 1, during="reward", where=trial["comes"])
        until = trial.duration("odour") + trial.duration("gap")  # as played
        longest = (until + trial.duration("reward") + trial.duration("after")).max()
        ms = self.dt * np.arange(round(longest / self.dt))
        values = self.value_at(ms) * (ms < until[:, None])
        trial.timecourse("value", values[:, :, None], during=played)
        trial.loss_weight(0, during="interval")
