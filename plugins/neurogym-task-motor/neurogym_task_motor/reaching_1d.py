"""Reaching with a cursor on a circle."""

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

START = np.pi
"""Position of the cursor at the beginning of a trial, radians."""
TURN = np.array([0.0, 1.0, -1.0])
"""Direction in which each action turns the cursor: rest, left (angles increase), right."""


def note_first_move(now: Any, free: np.ndarray, action: np.ndarray) -> None:
    """Keep the first turn of a trial where turning is `free`, (N,), and its time."""
    state = now.trial_state
    begins = free & (action != 0) & (state["first"] < 0)
    state["first"] = np.where(begins, action - 1, state["first"])
    state["moved_after"] = np.where(begins, now.elapsed + now.dt, state["moved_after"])


class Reaching1D(Task):
    """Move a cursor on a circle to a target.

    After the reaching task of Georgopoulos, Schwartz & Kettner (1986), Science 233:1416,
    doi:10.1126/science.3749885.

    The subject sees the direction of its cursor, which starts at 180 degrees. After a fixation
    period the target appears and the fixation cue turns off. From then on the two choices of `move`
    turn the cursor left (0, angles increase) or right (1), and resting stops it. Observations
    therefore depend on the subject's actions. The reward on every step decreases with the distance
    of the cursor from the target: max(correct - distance, error), distance in radians, per 100 ms.
    Moving during fixation costs `abort` and does not turn the cursor. Performance is the reward
    relative to that of moving straight to the target and stopping at the nearest step. The outcome
    is correct if the cursor rests within `tolerance` of the target on the last step. `choice` is
    the direction of the first turn, and `reaction_time` its time after the target's onset.

    Both directions are coded by rings of units that show cos(preferred - direction). A subject that
    never moves has a performance of 0.18, and is correct only where the target happens to be at 180
    degrees. No memory is needed: the current observation alone shows cursor and target, and a
    simple classifier of it earns 0.81.

    Deviations from the paper: one dimension, and a velocity that is either 0 or `speed` (there, arm
    movements to eight targets in three dimensions). All numbers are ours: at 2 rad/s every target
    is reached within 1.6 s.

    Args:
        units: units of each ring.
        speed: speed of the cursor while it moves, rad/s.
        tolerance: tolerance of the outcome, radians; by default about half the distance between
            units.
    """

    units: int = 16
    speed: float = 2.0
    tolerance: float = 0.2

    timing = {"fixation": 500, "reach": 2000}  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": -0.1}  # per 100 ms
    evidence_periods = ("reach",)
    trial_state = {"cursor": START, "first": -1, "moved_after": 0.0}

    def define(self) -> None:
        if not self.speed > 0:
            raise InvalidValueError(
                f"Reaching1D was given speed={self.speed!r}; give a positive number of rad/s."
            )
        self.ring = Ring(self.units)
        self.stride = self.speed * self.dt / 1000  # rad per step
        self._turns = TURN * self.stride
        self._broken = (
            np.array([0, 1, 1]) * self.rewards["abort"] * self.dt / 100
        )  # reward of each action during fixation
        self.observe(fixation=1, target=self.ring, cursor=self.ring)
        self.act(rest=1, move=("left", "right"))
        self.vary(angle=Uniform(0, 2 * np.pi))

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("fixation", "reach")
        trial.show("fixation", 1, during="fixation")
        self.show_target(trial)
        trial.hold(during="reach", cost=0)  # moving is free; `step_action` rewards proximity
        last_step = trial.duration("reach") - self.dt
        trial.answer(
            "move", -1, during="reach", start=last_step, then="wait", correct=0, slot="reach"
        )
        trial.max_reward(self._best(trial))

    def show_target(self, trial: TrialBuilder) -> None:
        """Show the target."""
        trial.show("target", self._show(trial["angle"]), during="reach")

    def _show(self, angle: np.ndarray) -> np.ndarray:
        return np.cos(self.ring.angles - angle[:, None])

    def _best(self, trial: TrialBuilder) -> np.ndarray:
        """Reward of turning the shorter way and stopping on the step nearest to the target, (n,).

        If the target is straight opposite, the longer way can be better by a fraction of a step;
        this is neglected.
        """
        steps = np.rint(trial.duration("reach") / self.dt)
        step = np.arange(1, int(steps.max(initial=0)) + 1)
        distance = circular_distance(trial["angle"], START)[:, None]
        nearest = np.rint(distance / self.stride)
        left = np.abs(distance - np.minimum(step, nearest) * self.stride)
        return (self._paid(left) * (step <= steps[:, None])).sum(axis=1)

    def _paid(self, distance: np.ndarray) -> np.ndarray:
        """Reward of a step that ends at this distance."""
        return np.maximum(self.rewards["correct"] - distance, self.rewards["error"]) * self.dt / 100

    # ------------------------------------------------------------------ on every step

    def step_action(self, now: Any, action: np.ndarray) -> tuple[np.ndarray, None]:
        reaching = now.in_period("reach")
        turned = now.trial_state["cursor"] + np.where(reaching, self._turns[action], 0.0)
        now.trial_state["cursor"] = turned % (2 * np.pi)
        distance = circular_distance(turned, now.conditions["angle"])
        paid = np.where(reaching, self._paid(distance), self._broken[action])
        note_first_move(now, reaching, action)
        near = (distance <= self.tolerance) & (action == 0)
        last = reaching & (now.remaining < 1.5 * self.dt)
        if last.any():
            state, outcome = now.trial_state, np.where(near, Outcome.CORRECT, Outcome.ERROR)
            now.answer(last, state["first"], outcome, reaction_time=state["moved_after"])
        return paid, None

    def step_observation(self, now: Any, obs: np.ndarray) -> np.ndarray:
        obs[:, self.channels["cursor"]] = self._show(now.trial_state["cursor"])
        return obs

    def step_target(self, now: Any) -> np.ndarray:
        """Turn the shorter way; rest if a step would not bring the cursor closer."""
        ahead = (now.conditions["angle"] - now.trial_state["cursor"] + np.pi) % (2 * np.pi) - np.pi
        way = np.where(ahead > self.stride / 2, 1, np.where(ahead < -self.stride / 2, 2, 0))
        return np.where(now.in_period("reach"), way, 0)


class Reaching1DWithSelfDistraction(Reaching1D):
    """Move a cursor on a circle to a target that the cursor's own signal masks.

    A task of NeuroGym's, after the electric fish, whose own discharges swamp the weak signals that
    it senses with the same organ; there is no single original. As Reaching1D (Georgopoulos,
    Schwartz & Kettner 1986, doi:10.1126/science.3749885), but the same units sense cursor and
    target: they show cos(preferred - cursor) + share * cos(preferred - target). The subject knows
    its own actions and can therefore separate the two: the cursor is the signal that moves with
    them.

    Deviations from the paper: none; there is no original. Those of Reaching1D apply.

    Args:
        share: strength of the target's signal; the cursor's is 1.
        units: units of the ring.
        speed: speed of the cursor while it moves, rad/s.
        tolerance: tolerance of the outcome, radians.
    """

    share: float = 0.3  # as in NeuroGym
    units: int = 32  # as in NeuroGym

    def define(self) -> None:
        super().define()
        self.observe(fixation=1, sensed=self.ring)

    def show_target(self, trial: TrialBuilder) -> None:
        trial.show("sensed", self.share * self._show(trial["angle"]), during="reach")

    def step_observation(self, now: Any, obs: np.ndarray) -> np.ndarray:
        obs[:, self.channels["sensed"]] += self._show(now.trial_state["cursor"])
        return obs
