"""Pursuit of a moving target with the eye."""

from __future__ import annotations

from typing import Any

import numpy as np

from neurogym_core import Axis, Choice, InvalidValueError, Task, TrialBuilder, Uniform
from neurogym_task_motor.centre_out import turned

LAG = 5  # steps by which the slip is seen late
FROM, EARLY = 300.0, 200.0  # ms from the onset of the motion
FASTEST = 40.0  # deg/s


class SmoothPursuit(Task):
    """Follow a target with the eye from the moment at which it begins to move.

    After the step-ramp of Rashbass (1961), J. Physiol. 159:326,
    doi:10.1113/jphysiol.1961.sp006811, with contrasts and speeds as in Darlington, Beck &
    Lisberger (2018), Nat. Neurosci. 21:1442, doi:10.1038/s41593-018-0233-y.

    The eye fixates for 800 to 1600 ms. Then the fixation point goes off, and a target moves in one
    of eight directions at 5 to 20 deg/s for a second. The action is the velocity of the eye, deg/s,
    two numbers. The channel `slip` shows the velocity of the target on the retina, in deg/s / 10,
    as it was 100 ms (five steps) before, with noise that is new on every step, and larger at a
    contrast of 12 % than at 100 %.

    Performance is the mean of 1 - |slip| / speed from 300 ms after the onset on, at least 0 on each
    step; each step pays its part. The ideal observer adds to the seen slip the velocity that its
    eye had at that time, averages these velocities of the target, and weighs the speeds and
    directions that occur by them. It earns 0.845: 1.00 at 100 % and 0.69 at 12 %. The average
    itself earns 0.79, one look at the slip, whose velocity the eye keeps, 0.44, and resting 0.

    At a low contrast the observer, like animals, is slow at first: 200 ms after the onset it
    follows a target of 20 deg/s at 13 deg/s, and at 20 deg/s if the contrast is high. The record
    has the speed of the eye in the direction of the target then (`early`) and at the end (`late`),
    deg/s.

    Deviations from the papers:

    - the target does not step back before it moves, and its place on the retina is not shown, as
      there are no saccades;
    - the eye has no dynamics: the subject sets its velocity;
    - the noise, the lag, the speeds and the durations are not compared with the papers.

    Args:
        speeds: speeds of the target, deg/s.
        contrasts: contrasts, %.
        sigma: SD of the noise of the slip at 100 %, deg/s, times sqrt(ms); it grows with 100 /
            contrast.
    """

    dt: float = 20
    speeds: tuple[float, ...] = (5, 10, 15, 20)
    contrasts: tuple[float, ...] = (12, 100)
    sigma: float = 8.0

    timing = {"fixation": Uniform(800, 1600), "motion": 1000}  # ms
    evidence_periods = ("motion",)
    trial_state = {"past": (0.0,) * (2 * LAG), "early": 0.0, "late": 0.0}

    def define(self) -> None:
        speeds = self.speeds and all(0 < speed <= FASTEST for speed in self.speeds)
        if not speeds or not all(0 < one <= 100 for one in self.contrasts) or self.sigma < 0:
            raise InvalidValueError(
                f"SmoothPursuit was given speeds={self.speeds!r}, contrasts={self.contrasts!r} and"
                f" sigma={self.sigma!r}; give speeds up to {FASTEST:g} deg/s, contrasts up to 100"
                " %, all above 0, and an SD of at least 0."
            )
        self.observe(fixation=1, slip=("x", "y"))
        self.act(eye=Axis(-FASTEST, FASTEST, size=2))
        contrast = {"contrast": Choice(self.contrasts)}
        self.vary(direction=Choice(8), speed=Choice(self.speeds), **contrast)

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("fixation", "motion")
        trial.show("fixation", 1, during="fixation")
        noise = self.sigma * 100 / trial["contrast"] / 10
        trial.show("slip", 0, during=("fixation", "motion"), noise=noise)
        along = np.stack([trial["speed"], 0 * trial["speed"]], axis=1)
        trial.record("early", "late", velocity=turned(along, 45 * trial["direction"]))
        trial.max_reward(1.0)

    def step_action(self, now: Any, action: np.ndarray) -> tuple[np.ndarray, None]:
        state, moves = now.trial_state, now.in_period("motion")
        velocity, speed = now.conditions["velocity"], now.conditions["speed"]
        slip = velocity * moves[:, None] - action
        state["past"] = np.concatenate([state["past"][:, 2:], slip], axis=1)
        along = (action * velocity).sum(axis=1) / speed
        begins = moves & (now.elapsed < EARLY)
        state["early"] = np.where(begins, along, state["early"])
        state["late"] = np.where(moves, along, state["late"])
        good = np.maximum(1 - np.linalg.norm(slip, axis=1) / speed, 0)
        steps = (now.elapsed + now.remaining - FROM) / now.dt
        return np.where(moves & (now.elapsed >= FROM - 1e-6), good / steps, 0), None

    def step_observation(self, now: Any, obs: np.ndarray) -> np.ndarray:
        obs[:, self.channels["slip"]] += now.trial_state["past"][:, :2] / 10
        return obs

    def step_target(self, now: Any) -> np.ndarray:
        return now.conditions["velocity"] * now.in_period("motion")[:, None]  # type: ignore[no-any-return]
