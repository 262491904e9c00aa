"""Posner cueing as one file, as a reader of the documentation writes it: random durations."""

import numpy as np

from neurogym_core import Choice, Task, Uniform

CUES = ("left", "right", "plus")


class Posner(Task):
    """Press for the side of a target; an arrow predicts it with 80 %.

    Args:
        validity: probability that the arrow is right.
        neutral: share of trials with a plus instead of an arrow.
        contrast: of the target.
        sigma: SD of the noise, times sqrt(ms).
    """

    validity: float = 0.8
    neutral: float = 1 / 3
    contrast: float = 0.3
    sigma: float = 3.0
    dt: float = 10
    timing = {
        "fixation": Uniform(500, 1000), "cue": 50, "soa": [0, 50, 150, 250, 450, 950],
        "target": 1000, "iti": 500,
    }  # fmt: skip

    def define(self):
        self.observe(fixation=1, arrow=CUES, target=("left", "right"))
        self.act(rest=1, press=("left", "right"))
        arrow = (1 - self.neutral) / 2
        self.vary(cue=Choice(CUES, p=(arrow, arrow, self.neutral)), side=self._side)
        self.correct_choice("side")

    def _side(self, rng, prior):
        plus = prior["cue"] == "plus"
        cued = np.where(plus, rng.random(prior.n) < 0.5, prior["cue"] == "right")
        valid = (rng.random(prior.n) < self.validity) | plus
        return np.where(valid, cued, ~cued) * 1

    def new_trial(self, trial):
        trial.periods("fixation", "cue", "soa", "target", "iti")
        trial.show("fixation", 1, during=("fixation", "cue", "soa", "target"))
        arrow = trial["cue"][:, None] == np.array(CUES)
        trial.show("arrow", arrow * 1, during=("cue", "soa", "target"))
        target = self.contrast * np.eye(2)[trial["side"]]
        trial.show("target", target, during="target", noise=self.sigma)
        trial.show("target", 0, during=("cue", "soa"), noise=self.sigma)
        trial.answer("press", trial["side"], during="target", then="iti")
