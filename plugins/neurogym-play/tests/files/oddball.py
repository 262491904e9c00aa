"""Oddball as one file, as a reader of the documentation writes it: some trials have no answer."""

import numpy as np

from neurogym_core import Choice, Task


class OneTone(Task):
    """Press for rare high tones among frequent low ones."""

    rare: float = 0.1
    sigma: float = 2.0
    dt: float = 20
    trials_per_session: int = 400
    timing = {"tone": 60, "gap": 1040}
    rewards = {"abort": -0.1, "correct": 1.0, "error": -1.0, "miss": 0.0}

    def define(self):
        self.observe(tone=("low", "high"))
        self.act(rest=1, press=1)
        self.vary(tone=Choice(("low", "high"), p=(1 - self.rare, self.rare)))

    def new_trial(self, trial):
        trial.periods("tone", "gap")
        high = trial["tone"] == "high"
        trial.show("tone", np.eye(2)[high * 1], during="tone", noise=self.sigma)
        trial.answer("press", np.where(high, 0, -1), during=("tone", "gap"), then="wait")
