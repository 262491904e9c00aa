"""Reaches from anywhere to anywhere."""

from __future__ import annotations

from typing import Any

import numpy as np

from neurogym_core import Choice, InvalidValueError, TrialBuilder, Uniform
from neurogym_task_motor.centre_out import Reach

HALF = 1.0  # dm: half of the side of the square in which starts and targets lie
NEAREST = 0.4  # dm between a start and its target
BUMP = 100  # ms


class RandomTarget(Reach):
    """Move the hand from a random start to a random target, against bumps, or hold it.

    Reaches of this kind train networks that move the simulated arms of MotorNet: Codol, Michaels,
    Kashefi, Pruszynski & Gribble (2024), eLife 12:RP88591, doi:10.7554/eLife.88591.

    A trial is one of DelayedCentreOut, but start and target are drawn from a square of 20 cm, at
    least 4 cm apart. The target appears after 100 to 300 ms, and the go cue comes 50 to 1000 ms
    later. In a fifth of the trials, drawn by chance, there is no go cue, and the hand has to be at
    its start at the end. In half of the others, a force of 2 to 4 N in a random direction pushes
    the hand for 100 ms during the reach, which no channel announces.

    Performance is the fraction of right trials. The observer
    `neurogym_task_motor.observers:Reacher`, which corrects all that it sees at once, earns 1.
    Resting earns 0.2, from trials without a go cue, and the same reach in all trials nothing more:
    starts and targets have to be seen. A reach to the seen target that looks at nothing on its way,
    and so corrects no bump, earns 0.6. Reaching at the target's onset, without waiting for the go
    cue, ends the trial as an abort.

    Deviations from the paper:

    - a point mass, whose position and velocity are seen at once (there, an arm with muscles, and
      delays of vision and proprioception);
    - sizes, distances, bumps, durations and the share of trials without a go cue are ours, not
      compared with the paper.

    Args:
        p_catch: proportion of trials without a go cue.
        p_bump: proportion of bumps among the others.
        radius, keep, effort: as in DelayedCentreOut.
    """

    p_catch: float = 0.2
    p_bump: float = 0.5

    timing = {"centre": Uniform(100, 300), "delay": Uniform(50, 1000), "reach": 1000}  # ms

    def places(self) -> dict[str, Any]:
        return {
            "start": lambda rng, prior: rng.uniform(-HALF, HALF, (prior.n, 2)),
            "aim": _apart,
        }

    def more_conditions(self) -> dict[str, Any]:
        if not (0 <= self.p_catch <= 1 and 0 <= self.p_bump <= 1):
            raise InvalidValueError(
                f"RandomTarget was given p_catch={self.p_catch!r} and p_bump={self.p_bump!r}; give"
                " proportions from 0 to 1."
            )
        if not self.radius < NEAREST:
            raise InvalidValueError(
                f"RandomTarget was given radius={self.radius:g}; give one below {NEAREST:g} dm,"
                " the smallest distance of a target from its start, since resting is right else."
            )
        return {
            "catch": Choice((False, True), p=(1 - self.p_catch, self.p_catch)),
            "bumped": Choice((False, True), p=(1 - self.p_bump, self.p_bump)),
            "bump_at": Uniform(100, 400),
            "bump": lambda rng, prior: _polar(rng.uniform(2, 4, prior.n), rng),
        }

    def new_trial(self, trial: TrialBuilder) -> None:
        self.lay_out(trial)
        trial.show("hold", 1, during="reach", where=trial["catch"])
        trial.record("start", "aim", "bumped", "bump", "bump_at")
        trial.show("target", trial["aim"], during=("delay", "reach"))

    def target(self, now: Any) -> np.ndarray:
        known = now.conditions
        return np.where(known["catch"][:, None], 0.0, known["aim"] - known["start"])

    def push(self, now: Any, velocity: np.ndarray) -> np.ndarray:
        known, since = now.conditions, now.elapsed - now.conditions["bump_at"]
        on = known["bumped"] & ~known["catch"] & now.in_period("reach")
        return known["bump"] * (on & (since >= 0) & (since < BUMP))[:, None]

    def step_observation(self, now: Any, obs: np.ndarray) -> np.ndarray:
        obs = super().step_observation(now, obs)
        obs[:, self.channels["hand"]] += now.conditions["start"]
        return obs


def _polar(length: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return vectors of lengths, (n, 2), in directions that are drawn."""
    angle = rng.uniform(0, 2 * np.pi, len(length))
    return length[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _apart(rng: np.random.Generator, prior: Any) -> np.ndarray:
    """Draw targets, (n, 2): the first of 20 places that is far enough from the start."""
    drawn = rng.uniform(-HALF, HALF, (prior.n, 20, 2))
    far = np.linalg.norm(drawn - prior["start"][:, None], axis=2) >= NEAREST
    return np.asarray(drawn[np.arange(prior.n), far.argmax(axis=1)])
