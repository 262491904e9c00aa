"""Reaches in a force field that pushes the hand aside."""

from __future__ import annotations

from typing import Any

import numpy as np

from neurogym_core import Choice, InvalidValueError, Session, TrialBuilder, Uniform
from neurogym_task_motor.centre_out import CentreOut

BEFORE, AFTER = 40, 40
"""Trials without a field at the beginning and at the end of a session."""


class ForceField(CentreOut):
    """Move the hand to targets; in the middle of a session a force pushes it aside.

    Shadmehr & Mussa-Ivaldi (1994), J. Neurosci. 14:3208, doi:10.1523/JNEUROSCI.14-05-03208.1994.

    A trial is one of DelayedCentreOut, with 800 ms for the reach. The first 40 of the 192 trials of
    a session have no field, nor have the last 40. In between, the hand is pushed by a force that is
    perpendicular to its velocity and grows with it, ``field * (vy, -vx)``, N: to the right of the
    movement where `field` is positive. The sign is drawn for each session. One of eight of these
    trials, drawn by chance, is a catch trial without the field. The field is not shown.

    Performance is the fraction of right reaches. The observer
    `neurogym_task_motor.observers:Reacher` sees its hand at once, corrects the deviation on every
    step, and earns 1 without a memory of the field: success does not say who has learned it. The
    `deviation` does, in dm to the left of the straight line at the peak speed, as in the
    paper. The observer `ForceLearner`, which is as soft as an arm and learns the field from the
    deviation of the last trial, deviates by 0.11 dm in the first trials with a field, by 0.015
    after 100, and by 0.11 to the other side in late catch trials. Resting earns 0.

    Deviations from the paper:

    - a point mass (there, an arm with two joints), without a delay of vision;
    - a field of rotation, ours (there, of another matrix); the numbers of trials, the share of
      catch trials and the durations are not compared with the paper.

    Args:
        strength: size of the field, N s/m.
        p_catch: proportion of catch trials among those with the field.
        directions, distance, radius, keep, effort: as in DelayedCentreOut.
    """

    strength: float = 13.0
    p_catch: float = 0.125
    trials_per_session: int | None = 192

    timing = {"centre": Uniform(300, 500), "delay": Uniform(300, 1000), "reach": 800}  # ms

    def more_conditions(self) -> dict[str, Any]:
        if not 0 <= self.p_catch <= 1 or self.strength < 0:
            raise InvalidValueError(
                f"ForceField was given strength={self.strength!r} and p_catch={self.p_catch!r};"
                " give a strength of at least 0, and p_catch from 0 to 1."
            )
        catch = {"catch": lambda rng, prior: np.zeros(prior.n, bool)}
        return catch | {"field": Choice((-self.strength, 0.0, self.strength))}

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        session.sign = rng.choice((-1.0, 1.0), len(session))

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        n, trials = len(session), self.trials_per_session or 192
        there = (session.trial >= BEFORE) & (session.trial < trials - AFTER)
        catch = np.broadcast_to(there, n) & (rng.random(n) < self.p_catch)
        field = self.strength * session.sign * there * ~catch
        return self.draw_conditions(rng, n, {"catch": catch, "field": field})

    def new_trial(self, trial: TrialBuilder) -> None:
        self.lay_out(trial)
        trial.record("catch", "field")
        trial.show("target", self.at(trial["direction"]), during=("delay", "reach"))

    def push(self, now: Any, velocity: np.ndarray) -> np.ndarray:
        field = now.conditions["field"] / 10  # N s/dm
        return np.stack([field * velocity[:, 1], -field * velocity[:, 0]], axis=1)
