"""Attentional blink as one file, as a reader of the documentation writes it: two answer slots."""

import numpy as np

from neurogym_core import Choice, OneHot, Task

LETTERS = tuple("ABCDEFGH")
DIGITS = tuple("23456789")


class Blink(Task):
    """Report two letters in a rapid stream of digits.

    Args:
        items: number of items of the stream.
        soa: ms from item to item.
        sigma: SD of the noise of the items, times sqrt(ms).
    """

    items: int = 20
    soa: float = 100.0
    sigma: float = 2.0
    dt: float = 20

    timing = {"fixation": 500, "first": 500, "second": 500}
    rewards = {"abort": -0.1, "correct": 0.5, "error": 0.0}

    def define(self):
        self.observe(item=OneHot(LETTERS + DIGITS), ask=2)
        self.act(fixate=1, report=LETTERS)
        self.vary(
            lag=Choice(range(1, 9)),
            place=Choice(range(4, 11)),
            t1=Choice(8),
            t2=lambda rng, prior: (prior["t1"] + rng.integers(1, 8, prior.n)) % 8,
            digits=self._digits,
        )

    def _digits(self, rng, prior):
        steps = rng.integers(1, 8, (prior.n, self.items))  # no digit twice in a row
        return np.cumsum(steps, axis=1) % 8

    def new_trial(self, trial):
        trial.periods("fixation", "stream", "first", "second", stream=self.soa * self.items)
        stream, rows = trial["digits"] + 8, np.arange(trial.n)
        stream[rows, trial["place"]] = trial["t1"]
        stream[rows, trial["place"] + trial["lag"]] = trial["t2"]
        trial.sequence("item", stream, during="stream", soa=self.soa, noise=self.sigma)
        trial.show("ask", [1, 0], during="first")
        trial.show("ask", [0, 1], during="second")
        trial.answer("report", trial["t1"], during="first", slot="T1", then="wait")
        trial.answer("report", trial["t2"], during="second", slot="T2")
