"""Beads from one of two jars."""

from __future__ import annotations

from typing import Any

import numpy as np

from neurogym_core import Choice, InvalidValueError, Task, TrialBuilder

COLOURS = ("orange", "blue")


class Beads(Task):
    """Draw beads, at a cost, until you know from which of two jars they are.

    Phillips & Edwards (1966), J. Exp. Psychol. 72:346, doi:10.1037/h0023653; in the form for
    patients, Huq, Garety & Hemsley (1988), Q. J. Exp. Psychol. A 40:801,
    doi:10.1080/14640748808402300.

    One of two jars is chosen at random: 85 % of its beads are orange, or 85 % blue. A step shows a
    bead; the subject draws another one, by resting, or names the jar. After 20 beads the trial is
    over. The right jar pays 1, the wrong one 0, and each bead costs `cost`: without a cost, all
    twenty should be drawn. Performance is reward, at least 0, relative to that of the right jar
    after the first bead.

    The ideal draws until one colour leads by two beads, 2.7 beads on average, and earns 0.94.
    Naming a jar at the first bead, at random, earns 0.50, and the colour of the first bead 0.85: in
    the papers, too, one bead is right in 85 %. Answers after one or two beads are called jumping to
    conclusions. With 60 % (``share=0.6``) the ideal draws 3.9 beads at this cost.

    Deviations from the papers: the cost and payoffs are ours (in Huq et al., none); a first bead is
    shown before the first decision.

    Args:
        share: share of beads that have the colour of the jar.
        cost: of each bead, including the first one.
        most: beads of a trial.
        bead: duration of a bead, ms.
    """

    share: float = 0.85
    cost: float = 0.02
    most: int = 20
    bead: float = 100  # ms; one step

    supervised = False
    go_cue = "offer"

    def define(self) -> None:
        if not (0.5 <= self.share <= 1 and 0 <= self.cost * self.most < 1 and self.most >= 1):
            raise InvalidValueError(
                f"Beads was given share={self.share!r}, cost={self.cost!r} and most={self.most!r};"
                " give a share from 0.5 to 1, and beads that cost less than 1 together."
            )
        self.observe(offer=1, bead=COLOURS)
        self.act(draw=1, jar=COLOURS)
        self.vary(
            jar=Choice(2),
            luck=lambda rng, prior: rng.random((prior.n, self.most)),
        )
        self.correct_choice("jar")

    def new_trial(self, trial: TrialBuilder) -> None:
        names = [f"bead{k + 1}" for k in range(self.most)]
        trial.periods(*names, **dict.fromkeys(names, self.bead))
        typical = trial["luck"] < self.share
        blue = np.where(typical, trial["jar"][:, None], 1 - trial["jar"][:, None])
        right = trial["jar"][:, None] == (0, 1)
        trial.record(beads=blue)
        trial.show("offer", 1, during=names)
        for k, name in enumerate(names):
            paid = right - self.cost * (k + 1)
            worth = np.maximum(paid, 0)
            trial.offer("jar", paid, name, worth=worth, miss=-self.cost * self.most)

    def step_observation(self, now: Any, obs: np.ndarray) -> np.ndarray:
        blue = now.conditions["beads"][np.arange(now.n), now.period]
        obs[:, self.channels["bead"]] = blue[:, None] == (0, 1)
        return obs
