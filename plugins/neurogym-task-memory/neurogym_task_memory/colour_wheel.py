"""Continuous report of a remembered colour."""

from __future__ import annotations

import numpy as np

from neurogym_core import Axis, Choice, OneHot, PowerLaw, Task, TrialBuilder
from neurogym_core.errors import InvalidValueError


class ColourWheel(Task):
    """Remember the colours of several items, and point to that of the cued item on a colour wheel.

    Zhang & Luck (2008), Nature 453:233, doi:10.1038/nature06860.

    One, two, three or six coloured items appear for 100 ms at some of eight locations. After a
    delay of 900 ms the location of one of them is cued and the fixation cue turns off; the subject
    points to its colour on a wheel. The action is three numbers: `go`, which gives the answer on
    the first step on which it is above 0, and `report`, a point (cos, sin) in the plane of the
    wheel, whose radius is 1. The reward is `correct` times 1 - the distance from the point of the
    colour, and 0 beyond a distance of 1, which is 60 degrees on the wheel; the middle of the wheel
    earns nothing. Performance is that reward divided by `correct`. Answering before the fixation
    cue turns off costs `abort` per 100 ms. Resting is go = -1.

    Every location has two units, the cosine and the sine of its colour; both are 0 without an item.
    The condition `colours` holds angles in radians, (n, places), and `order` the locations in
    random order: the first `set_size` of them hold items, and the first one is cued. `wanted` in
    the record is the angle of the cued item, and ``np.arctan2(choice[:, 1], choice[:, 0])`` that of
    a report.

    DelayEstimation is the same experiment for discrete actions: 180 colours, shown by rings of
    colour-selective units, and 180 choices without a right one. Here colours and reports are
    continuous, and a report is right within a distance.

    Deviations from the paper:

    - colours are angles, independent of each other (there, 180 colours), so two items may look
      alike;
    - the numbers of items and the duration of the stimulus were not compared with the text of the
      paper, and count as ours;
    - reports are rewarded (there, observers were paid for their time), and their time is limited;
    - the cue is one unit per location (there, an outlined square).

    Args:
        set_sizes: numbers of items, equally likely.
        places: number of locations.
    """

    set_sizes: tuple[int, ...] = (1, 2, 3, 6)
    places: int = 8

    # ms; fixation and decision are ours
    timing = {"fixation": 500, "stimulus": 100, "delay": 900, "decision": 2000}
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}
    evidence_periods = ("decision",)

    def define(self) -> None:
        if not all(1 <= size <= self.places for size in self.set_sizes):
            raise InvalidValueError(
                f"ColourWheel was given set_sizes={self.set_sizes!r}; give numbers from 1 to"
                f" places={self.places}."
            )
        self.observe(fixation=1, items=2 * self.places, cue=OneHot(self.places))
        self.act(go=Axis(-1, 1, rest=-1, trigger=0), report=Axis(-1, 1, size=2))
        self.vary(
            set_size=Choice(self.set_sizes),
            colours=lambda rng, prior: rng.uniform(-np.pi, np.pi, (prior.n, self.places)),
            order=lambda rng, prior: rng.permuted(
                np.tile(np.arange(self.places), (prior.n, 1)), axis=1
            ),
        )

    def new_trial(self, trial: TrialBuilder) -> None:
        before = ("fixation", "stimulus", "delay")
        trial.periods(*before, "decision")
        points = np.stack([np.cos(trial.colours), np.sin(trial.colours)], axis=2)
        held = np.argsort(trial.order, axis=1) < trial.set_size[:, None]
        rows, cued = np.arange(trial.n), trial.order[:, 0]
        trial.show("fixation", 1, during=before)
        trial.show("items", (points * held[:, :, None]).reshape(trial.n, -1), during="stimulus")
        trial.show("cue", self.channels.encoder("cue").encode(cued), during="decision")
        trial.answer(
            "report",
            points[rows, cued],
            during="decision",
            tolerance=1.0,
            pays=PowerLaw(exponent=1, least=0, most=self.rewards["correct"]),
        )
        trial.record(wanted=trial.colours[rows, cued])
