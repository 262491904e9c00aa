"""Continuous report of a remembered colour."""

from __future__ import annotations

import numpy as np

from neurogym_core import (
    Angle,
    Axis,
    Choice,
    InvalidValueError,
    OneHot,
    PowerLaw,
    Task,
    TrialBuilder,
)


class ColourWheel(Task):
    """Remember the colours of several items, and point to that of the cued item on a colour wheel.

    Zhang & Luck (2008), Nature 453:233, doi:10.1038/nature06860.

    One, two, three or six coloured items appear for 100 ms at some of eight locations. After a
    delay of 900 ms the location of one of them is cued and the fixation cue turns off; the subject
    points to its colour on a wheel. The action is three numbers: `go`, which gives the answer on
    the first step on which it is above 0, and `report`, a point (cos, sin) in the plane of the
    wheel, whose direction is the answer. The reward falls linearly with the angle between report
    and colour, from `correct` to 0 at 60 degrees, and is 0 beyond; the middle of the wheel earns
    nothing. Performance is that reward divided by `correct`. Answering before the fixation cue
    turns off costs `abort` per 100 ms. Resting is go = -1.

    Colours are shown imprecisely: each item is off by a Gaussian error with an SD of `memory_sd` on
    the wheel, drawn once per trial, and the report is scored against the colour itself. The default
    is the SD of the observers' reports of a single item, so an ideal observer has their precision
    at set size 1: pointing to the displayed colour earns a performance of 0.82. Always the same
    point earns 0.17.

    Every location has two units, the cosine and the sine of its colour; both are 0 without an item.
    The condition `colours` holds angles in radians, (n, places), `blur` the errors in SD, and
    `order` the locations in random order: the first `set_size` of them hold items, and the first
    one is cued. `wanted` in the record is the angle of the cued item, and `choice` that of the
    report, in radians.

    DelayEstimation is the same experiment for discrete actions: 180 colours, shown by rings of
    colour-selective units, and 180 choices without a right one. Here colours and reports are
    continuous, and a report is right within a distance.

    Deviations from the paper:

    - the imprecision of memory is that of the display (`memory_sd`; 0 shows colours exactly);
    - colours are angles, independent of each other (there, 180 colours), so two items may look
      alike;
    - the numbers of items and the duration of the stimulus were not compared with the text of the
      paper, and count as ours;
    - reports are rewarded (there, observers were paid for their time), and their time is limited;
    - the cue is one unit per location (there, an outlined square).

    Args:
        set_sizes: numbers of items, equally likely.
        places: number of locations.
        memory_sd: SD of the error of a displayed colour, degrees on the wheel.
    """

    set_sizes: tuple[int, ...] = (1, 2, 3, 6)
    places: int = 8
    memory_sd: float = 13.9  # degrees; Zhang & Luck (2008), set size 1

    # ms; fixation and decision are ours
    timing = {"fixation": 500, "stimulus": 100, "delay": 900, "decision": 2000}
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}
    evidence_periods = ("decision",)

    def define(self) -> None:
        possible = all(1 <= size <= self.places for size in self.set_sizes)
        if not (possible and self.memory_sd >= 0):
            raise InvalidValueError(
                f"ColourWheel was given set_sizes={self.set_sizes!r} and memory_sd="
                f"{self.memory_sd!r}; give 1 to places={self.places}, and at least 0 degrees."
            )
        places = [f"place {k + 1}" for k in range(self.places)]
        items = [f"{place} {part}" for place in places for part in ("cos", "sin")]
        self.observe(fixation=1, items=items, cue=OneHot(places))
        self.act(go=Axis(-1, 1, rest=-1, trigger=0), report=Angle())
        self.vary(
            set_size=Choice(self.set_sizes),
            colours=lambda rng, prior: rng.uniform(-np.pi, np.pi, (prior.n, self.places)),
            blur=lambda rng, prior: rng.standard_normal((prior.n, self.places)),
            order=lambda rng, prior: rng.permuted(
                np.tile(np.arange(self.places), (prior.n, 1)), axis=1
            ),
        )

    def new_trial(self, trial: TrialBuilder) -> None:
        before = ("fixation", "stimulus", "delay")
        trial.periods(*before, "decision")
        shown = trial["colours"] + np.deg2rad(self.memory_sd) * trial["blur"]
        points = np.stack([np.cos(shown), np.sin(shown)], axis=2)
        held = np.argsort(trial["order"], axis=1) < trial["set_size"][:, None]
        cued = trial["order"][:, 0]
        wanted = trial["colours"][np.arange(trial.n), cued]
        trial.show("fixation", 1, during=before)
        trial.show("items", (points * held[:, :, None]).reshape(trial.n, -1), during="stimulus")
        trial.show("cue", self.channels.encoder("cue").encode(cued), during="decision")
        trial.answer(
            "report",
            wanted,
            during="decision",
            tolerance=np.pi / 3,
            pays=PowerLaw(exponent=1, least=0, most=self.rewards["correct"]),
        )
        trial.record(wanted=wanted)
