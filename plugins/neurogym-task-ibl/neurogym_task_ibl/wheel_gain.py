"""The task with a wheel whose gain changes by block."""

from __future__ import annotations

from typing import Any

import numpy as np

from neurogym_core import Choice, InvalidValueError, Session
from neurogym_task_ibl.wheel import IBLWheel

GAINS = (4.0, 8.0)
"""Degrees by which the grating moves per mm of the wheel."""


class IBLWheelGain(IBLWheel):
    """Turn a wheel to bring a grating to the centre; how far it moves changes by block.

    The International Brain Laboratory (2021), eLife 10:e63711, doi:10.7554/eLife.63711.

    As `IBLWheel`, but the gain of the wheel is 4 or 8 degrees per mm. The first gain of a session
    is drawn, and after each trial the gain changes with a probability of 0.02, without notice and
    whatever the block of sides is. The wheel turns at 12.5 mm/s or not at all, so that the grating
    reaches the centre in 700 ms at the gain of 4, and in 350 ms at 8 (in whole steps).

    The grating shows where it is, so that a subject that turns until it is in the centre need not
    know the gain. The record has the condition `gain`, and the `reaction_time` of such a subject is
    300 ms longer at the smaller one, in steps of 100 ms. A subject that turns for a time that was
    enough at the larger gain earns nothing at the smaller one. Performance and shortcuts are those
    of `IBLWheel`: turning at random is right in 0.5 of the trials, resting earns 0, and a subject
    without memory 0.87.

    Deviations from the paper:

    - there, mice learn at one gain and are then tested at the other one (not compared with the
      paper); the blocks, their hazard and the speed of the wheel are ours;
    - those of `IBLWheel`.

    Args:
        gains: gains of the wheel, degrees / mm.
        hazard: probability of a change after a trial.
        speed: speed of the grating at the largest gain, degrees / s.
    """

    gains: tuple[float, ...] = GAINS
    hazard: float = 0.02

    def declare_interface(self) -> None:
        known = all(0 < gain < np.inf for gain in self.gains)
        if len(set(self.gains)) < 2 or not known or not 0 <= self.hazard <= 1:
            raise InvalidValueError(
                f"IBLWheelGain was given gains={self.gains!r} and hazard={self.hazard!r}; give at"
                " least two different gains, finite and above 0, and a hazard from 0 to 1."
            )
        super().declare_interface()

    def declare_conditions(self) -> None:
        super().declare_conditions()
        self.vary(gain=Choice(self.gains))

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        super().new_session(session, rng)
        session.gain = rng.integers(len(self.gains), size=len(session))

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        drawn = super().draw(session, rng)
        changes = (rng.random(len(session)) < self.hazard) & (session.trial > 0)
        other = session.gain + rng.integers(1, len(self.gains), size=len(session))
        session.gain = np.where(changes, other % len(self.gains), session.gain)
        return drawn | {"gain": np.array(self.gains)[session.gain]}

    def slowest(self) -> float:
        return self.speed * min(self.gains) / max(self.gains)

    def speeds(self, now: Any) -> np.ndarray:
        return np.asarray(self.speed * now.conditions["gain"] / max(self.gains))
