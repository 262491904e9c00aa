"""Reproduction of two remembered angles with a cursor."""

from __future__ import annotations

from typing import Any

import numpy as np

from neurogym_core import (
    InvalidValueError,
    Outcome,
    Ring,
    Task,
    TrialBuilder,
    Uniform,
    circular_distance,
)
from neurogym_task_motor.reaching_1d import START, TURN, note_first_move


class AngleReproduction(Task):
    """Remember two successive angles, and reproduce both in the same order with a cursor.

    After the delayed estimation of Ding, Cueva, Tsodyks & Qian (2017), PNAS 114:E9115,
    doi:10.1073/pnas.1706906114.

    Two angles are shown, each followed by a delay. Then the first go cue turns on: the two choices
    of `move` turn the cursor left (0, angles increase) or right (1), and the subject moves it to
    the first angle. The second go cue asks for the second angle; the cursor continues from its
    current position. The reward on every step of the two go periods decreases with the distance of
    the cursor: max(correct - distance, error), distance in radians, per 100 ms. Moving earlier
    costs `abort` and does not turn the cursor, which starts at 180 degrees. Performance is the
    reward relative to that of moving straight to each angle and stopping at the nearest step. The
    outcome is correct if the cursor is within `tolerance` of the angle at the end of both go
    periods. `choice` is the direction of the first turn in the first go period, and
    `reaction_time` its time after the cue.

    Angle and cursor are coded by rings of units that show cos(preferred - direction). A subject
    that never moves has a performance of 0.20.

    Deviations from the paper:

    - directions on the full circle, drawn independently (there, orientations of two lines 5 degrees
      apart);
    - the cursor turns at one speed or not at all (there, a line drawn on a screen);
    - durations and rewards are NeuroGym's, except that the go periods last 2 s instead of 0.5 s: at
      2 rad/s every angle is reached within 1.6 s.

    Args:
        units: units of each ring.
        speed: speed of the cursor while it moves, rad/s.
        tolerance: tolerance of the outcome, radians.
    """

    units: int = 16
    speed: float = 2.0
    tolerance: float = 0.2

    timing = {
        "fixation": 500,
        "stimulus1": 500,
        "delay1": 500,
        "stimulus2": 500,
        "delay2": 500,
        "go1": 2000,
        "go2": 2000,
    }  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": -0.1}  # per 100 ms
    evidence_periods = ("stimulus1", "stimulus2")
    go_cue = "go1"
    trial_state = {"cursor": START, "first_error": np.pi, "first": -1, "moved_after": 0.0}

    def define(self) -> None:
        if not self.speed > 0:
            raise InvalidValueError(
                f"AngleReproduction was given speed={self.speed!r}; give a positive number of"
                " rad/s."
            )
        self.ring = Ring(self.units)
        self.stride = self.speed * self.dt / 1000  # rad per step
        self.observe(angle=self.ring, cursor=self.ring, go1=1, go2=1)
        self.act(rest=1, move=("left", "right"))
        self.vary(angle_1=Uniform(0, 2 * np.pi), angle_2=Uniform(0, 2 * np.pi))

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("fixation", "stimulus1", "delay1", "stimulus2", "delay2", "go1", "go2")
        trial.show("angle", self._show(trial["angle_1"]), during="stimulus1")
        trial.show("angle", self._show(trial["angle_2"]), during="stimulus2")
        trial.show("go1", 1, during="go1")
        trial.show("go2", 1, during="go2")
        trial.hold(during=("go1", "go2"), cost=0)  # moving is free; `step_action` rewards proximity
        last_step = trial.duration("go2") - self.dt
        trial.answer(
            "move", -1, during="go2", start=last_step, then="wait", correct=0, slot="reproduce"
        )
        trial.max_reward(self._best(trial))

    def _show(self, angle: np.ndarray) -> np.ndarray:
        return self.ring.cosine(angle=angle, strength=1.0, baseline=0.0)

    def _paid(self, distance: np.ndarray) -> np.ndarray:
        """Reward of a step that ends at this distance."""
        return np.maximum(self.rewards["correct"] - distance, self.rewards["error"]) * self.dt / 100

    def _best(self, trial: TrialBuilder) -> np.ndarray:
        """Reward of moving straight to both angles, (n,)."""
        first, end = self._straight(
            np.full(trial.n, START), trial["angle_1"], trial.duration("go1")
        )
        second, _ = self._straight(end, trial["angle_2"], trial.duration("go2"))
        return first + second

    def _straight(
        self, start: np.ndarray, angle: np.ndarray, ms: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return reward and final position, (n,), of moving straight to `angle` within `ms`."""
        steps = np.rint(ms / self.dt)
        step = np.arange(1, int(steps.max(initial=0)) + 1)
        ahead = _ahead(angle, start)
        nearest = np.rint(np.abs(ahead) / self.stride)
        left = np.abs(np.abs(ahead)[:, None] - np.minimum(step, nearest[:, None]) * self.stride)
        paid = (self._paid(left) * (step <= steps[:, None])).sum(axis=1)
        return paid, start + np.sign(ahead) * np.minimum(nearest, steps) * self.stride

    # ------------------------------------------------------------------ on every step

    def step_action(self, now: Any, action: np.ndarray) -> tuple[np.ndarray, None]:
        first, second = now.in_period("go1"), now.in_period("go2")
        turned = now.trial_state["cursor"] + (first | second) * TURN[action] * self.stride
        now.trial_state["cursor"] = turned % (2 * np.pi)
        distance = circular_distance(turned, _wanted(now))
        now.trial_state["first_error"] = np.where(first, distance, now.trial_state["first_error"])
        broken = (action != 0) * self.rewards["abort"] * self.dt / 100
        note_first_move(now, first, action)
        last = second & (now.remaining < 1.5 * self.dt)
        if last.any():
            state = now.trial_state
            near = (np.maximum(distance, state["first_error"]) <= self.tolerance) & (action == 0)
            outcome = np.where(near, Outcome.CORRECT, Outcome.ERROR)
            now.answer(last, state["first"], outcome, reaction_time=state["moved_after"])
        return np.where(first | second, self._paid(distance), broken), None

    def step_observation(self, now: Any, obs: np.ndarray) -> np.ndarray:
        obs[:, self.channels["cursor"]] = self._show(now.trial_state["cursor"])
        return obs

    def step_target(self, now: Any) -> np.ndarray:
        """Turn the shorter way; rest if a step would not bring the cursor closer."""
        ahead = _ahead(_wanted(now), now.trial_state["cursor"])
        far = (now.in_period("go1") | now.in_period("go2")) & (np.abs(ahead) > self.stride / 2)
        return np.where(far, np.where(ahead > 0, 1, 2), 0)


def _wanted(now: Any) -> np.ndarray:
    """Current target angle, (N,) radians; before the first go cue, the first."""
    return np.where(now.in_period("go2"), now.conditions["angle_2"], now.conditions["angle_1"])


def _ahead(angle: np.ndarray, cursor: np.ndarray) -> np.ndarray:
    """Signed angle from the cursor to an angle, (n,) radians in [-pi, pi)."""
    return (angle - cursor + np.pi) % (2 * np.pi) - np.pi
