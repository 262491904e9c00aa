"""Reaches whose feedback is rotated."""

from __future__ import annotations

from typing import Any

import numpy as np

from neurogym_core import Choice, InvalidValueError, Session, TrialBuilder, Uniform
from neurogym_task_motor.centre_out import CentreOut, turned

BEFORE, AFTER = 40, 40
"""Trials without a rotation at the beginning and at the end of a session."""


class VisuomotorRotation(CentreOut):
    """Move an unseen hand so that a cursor, which is rotated in some trials, lands in a target.

    After Krakauer, Pine, Ghilardi & Ghez (2000), J. Neurosci. 20:8916,
    doi:10.1523/JNEUROSCI.20-23-08916.2000.

    The hand moves as in DelayedCentreOut, and is felt (channel `hand`), but the subject has to
    bring a cursor to the target. The cursor is shown after the reach only, for 500 ms, at the place
    where the hand is at its end. In the first 40 of the 180 trials of a session, and in the last
    40, it is where the hand is; in between, it is rotated about the centre by 30 degrees, to a side
    that is drawn for each session. Nothing else shows this.

    Performance is the fraction of reaches after which the cursor has been in the target for 200 ms.
    The ideal observer turns its next reach by the angle that it sees, misses in the first rotated
    trial and in the first one after the rotation, and earns 0.989. Never adapting earns 0.444, the
    share of trials without a rotation. Resting earns 0.

    The record has the `end_angle` of the cursor relative to the target, degrees to the left: 30 (or
    -30) in the first rotated trial, which is 5.2 cm off, and then as the subject adapts. The
    observer `neurogym_task_motor.observers:RotationLearner` of one rate, which keeps 0.98 of its
    turn and corrects 0.1 of the error in each trial, is off by 30, 13, 7 and 5 degrees in the
    first, tenth, 20th and 80th trial, and to the other side after the rotation.

    Deviations from the paper:

    - the cursor is seen at the end only, and the hand is felt without noise;
    - a point mass in the plane; one target of eight per trial;
    - the angle and the numbers of trials are not compared with the paper.

    Args:
        rotation: angle of the rotation, degrees.
        directions, distance, radius, keep, effort: as in DelayedCentreOut.
    """

    rotation: float = 30.0
    trials_per_session: int | None = 180

    timing = {"centre": 300, "delay": Uniform(300, 500), "reach": 800, "feedback": 500}  # ms
    trial_state = CentreOut.trial_state | {"cursor": (0.0, 0.0)}

    def more_channels(self) -> dict[str, Any]:
        return {"cursor": ("x", "y")}

    def more_conditions(self) -> dict[str, Any]:
        if not 0 <= self.rotation <= 180:
            raise InvalidValueError(
                f"VisuomotorRotation was given rotation={self.rotation!r}; give 0 to 180 degrees."
            )
        return {"turn": Choice((-self.rotation, 0.0, self.rotation))}

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        session.sign = rng.choice((-1.0, 1.0), len(session))

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        trials = self.trials_per_session or 180
        there = (session.trial >= BEFORE) & (session.trial < trials - AFTER)
        return self.draw_conditions(
            rng, len(session), {"turn": self.rotation * session.sign * there}
        )

    def new_trial(self, trial: TrialBuilder) -> None:
        self.lay_out(trial, "feedback")
        trial.record("turn")
        at = self.at(trial["direction"])
        trial.show("target", at, during=("delay", "reach", "feedback"))

    def seen(self, now: Any, hand: np.ndarray) -> np.ndarray:
        return turned(hand, now.conditions["turn"])

    def goal(self, now: Any) -> np.ndarray:
        return turned(self.target(now), -now.conditions["turn"])

    def step_action(self, now: Any, action: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = super().step_action(now, action)
        cursor, state = self.seen(now, now.trial_state["hand"][:, :2]), now.trial_state
        state["cursor"] = np.where(now.in_period("reach")[:, None], cursor, state["cursor"])
        return found

    def step_observation(self, now: Any, obs: np.ndarray) -> np.ndarray:
        shown = now.in_period("feedback")[:, None]
        obs[:, self.channels["cursor"]] = now.trial_state["cursor"] * shown
        return super().step_observation(now, obs)
