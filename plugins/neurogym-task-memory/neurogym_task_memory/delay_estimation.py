"""Delayed report of a remembered colour."""

from __future__ import annotations

import numpy as np

from neurogym_core import (
    Choice,
    InvalidValueError,
    OneHot,
    Ring,
    Task,
    TrialBuilder,
    circular_distance,
)


class DelayEstimation(Task):
    """Remember the colours of several items, and report that of the cued item on a colour wheel.

    Zhang & Luck (2008), Nature 453:233, doi:10.1038/nature06860.

    Coloured items appear at up to eight locations around fixation for 100 ms. After a delay of 900
    ms one of the locations that held an item is cued and the fixation cue turns off; the subject
    reports the remembered colour, one of 180 on a wheel (choice k is at 2 k degrees). The reward
    decreases with the error: 1 - distance / 180 degrees of the wheel. Guessing earns a half on
    average, which is also its performance, as does always the same report; the outcome of a report
    is "other", because reports are neither correct nor wrong. Every location has its own ring of
    colour-selective units, with a bump at the colour of the item. ColourWheel is the same
    experiment with continuous colours and reports.

    Colours are shown imprecisely: each item's bump is off by a Gaussian error with an SD of
    `memory_sd` on the wheel, drawn once per trial, and the report is scored against the colour
    itself. The default is the SD of the observers' reports of a single item, so an ideal observer
    has their precision at set size 1, and a performance of 0.938 at every set size. The effects of
    set size (there, SDs of about 22 degrees with 3 and 6 items, and guesses in most of the reports
    with 6) have to come from the memory of the subject.

    The condition `colours` holds the colour at every location, index on the wheel, (n, places),
    `blur` the errors in SD, and `order` the locations in random order: the first `set_size` of them
    hold items, and the first one is cued. `wanted` in the record is the colour of the cued item.

    Deviations from the paper:

    - the imprecision of memory is that of the display (`memory_sd`; 0 shows colours exactly);
    - reports are rewarded (there, observers were paid for their time), and limited to 2 s (there,
      unlimited);
    - colours are independent, so two items may look alike;
    - the cue is one unit per location (there, an outlined square).

    Args:
        set_sizes: numbers of items, equally likely.
        places: number of locations.
        colours_on_wheel: number of colours.
        units: colour-selective units at every location.
        memory_sd: SD of the error of a displayed colour, degrees on the wheel.
    """

    set_sizes: tuple[int, ...] = (1, 2, 3, 6)
    places: int = 8
    colours_on_wheel: int = 180
    units: int = 16  # ours; bumps of this width are 22.5 degrees apart
    memory_sd: float = 13.9  # degrees; Zhang & Luck (2008), set size 1

    timing = {
        "fixation": 500,
        "stimulus": 100,
        "delay": 900,
        "decision": 2000,
    }  # ms; fixation and decision are ours
    rewards = {"abort": -0.1, "correct": 1.0}
    evidence_periods = ("decision",)

    def define(self) -> None:
        if not all(1 <= size <= self.places for size in self.set_sizes):
            raise InvalidValueError(
                f"DelayEstimation was given set_sizes={self.set_sizes!r}; give numbers from 1 to"
                f" places={self.places}."
            )
        if not self.memory_sd >= 0:
            raise InvalidValueError(
                f"DelayEstimation was given memory_sd={self.memory_sd!r}; give a number of degrees,"
                " at least 0."
            )
        self.wheel, self.ring, self.cues = (
            Ring(self.colours_on_wheel),
            Ring(self.units),
            OneHot([f"place {k + 1}" for k in range(self.places)]),
        )
        hues = self.ring.unit_names
        items = [f"{k + 1}: {hue}" for k in range(self.places) for hue in hues]
        self.observe(fixation=1, items=items, cue=self.cues)
        self.act(fixate=1, report=self.wheel)
        self.vary(
            set_size=Choice(self.set_sizes),
            colours=lambda rng, prior: rng.integers(
                0, self.colours_on_wheel, (prior.n, self.places)
            ),
            blur=lambda rng, prior: rng.standard_normal((prior.n, self.places)),
            order=lambda rng, prior: rng.permuted(
                np.tile(np.arange(self.places), (prior.n, 1)), axis=1
            ),
        )

    def new_trial(self, trial: TrialBuilder) -> None:
        before = ("fixation", "stimulus", "delay")
        trial.periods(*before, "decision")
        asked = trial["order"][:, 0]
        wanted = trial["colours"][np.arange(trial.n), asked]
        trial.show("fixation", 1, during=before)
        trial.show("items", self._items(trial), during="stimulus")
        trial.show("cue", self.cues.encode(asked), during="decision")
        trial.offer("report", self._worth(wanted), during="decision")
        trial.record(wanted=wanted)

    def _items(self, trial: TrialBuilder) -> np.ndarray:
        """Activity of the units at all locations, (n, places * units)."""
        rank = np.argsort(trial["order"], axis=1)
        held = rank < trial["set_size"][:, None]
        angle = self.wheel.angle(trial["colours"]) + np.deg2rad(self.memory_sd) * trial["blur"]
        bumps = self.ring.von_mises(angle=angle) * held[:, :, None]
        return bumps.reshape(trial.n, -1)

    def _worth(self, wanted: np.ndarray) -> np.ndarray:
        """Reward of every report, (n, colours_on_wheel)."""
        distance = circular_distance(self.wheel.angles, self.wheel.angle(wanted)[:, None])
        return self.rewards["correct"] * (1 - distance / np.pi)
