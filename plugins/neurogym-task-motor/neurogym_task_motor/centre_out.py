"""Reaches of a point mass in the plane, from a start to a target.

Lengths are in dm (10 cm), times in s within the equations and in ms elsewhere, forces in N.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from neurogym_core import END, STAY, Axis, Choice, InvalidValueError, Outcome, Task, TrialBuilder

MASS = 1.0  # kg
LARGEST = 10.0  # N
REACH = 0.5  # s, duration of the movement of the oracle
AT_REST = {"hand": (0.0, 0.0, 0.0, 0.0), "kept": 0.0, "moved_after": 0.0}
MEASURED = {"peak_speed": 0.0, "deviation": 0.0, "end_angle": 0.0}


def minimum_jerk(s: np.ndarray) -> np.ndarray:
    """Return the share of the way, 0 to 1, at shares `s` of the duration of a movement.

    Flash & Hogan (1985), J. Neurosci. 5:1688, doi:10.1523/JNEUROSCI.05-07-01688.1985.
    """
    s = np.clip(s, 0, 1)
    return s**3 * (10 - 15 * s + 6 * s**2)  # type: ignore[no-any-return]


def turned(points: np.ndarray, degrees: np.ndarray) -> np.ndarray:
    """Return points, (n, 2), turned about the centre by angles, (n,)."""
    turn = np.exp(1j * np.radians(degrees)) * (points[:, 0] + 1j * points[:, 1])
    return np.stack([turn.real, turn.imag], axis=1)


class Reach(Task):
    """Base of reaches in the plane: the plant, the trial, and the measures.

    The hand is a point of 1 kg that the subject pushes with a force, two numbers, N. It starts at
    rest. A target appears; when the channel `hold` goes off, the subject moves to it, and is right
    if the hand is in the target for the last `keep` ms of the reach. Leaving the start before ends
    the trial as an abort. Positions of methods are relative to the start. Tasks define `target`,
    override `push`, `seen` and `goal`, and declare conditions.
    """

    dt: float = 20
    radius: float = 0.15
    keep: float = 200
    effort: float = 0.001

    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}
    go_cue = "hold"
    evidence_periods = ("delay",)
    trial_state = AT_REST | MEASURED

    def define(self) -> None:
        if not self.radius > 0 or self.effort < 0:
            raise InvalidValueError(
                f"{self.name} was given radius={self.radius:g} and effort={self.effort:g}; give a"
                " radius above 0, and an effort of at least 0."
            )
        window = self.timing["reach"].mean
        if not 0 < self.keep <= window:
            raise InvalidValueError(
                f"{self.name} was given keep={self.keep:g} and a reach of {window:g} ms; give a"
                " time above 0 that fits in the reach."
            )
        vectors = dict.fromkeys(("target", "hand", "velocity"), ("x", "y"))
        self.observe(hold=1, **vectors, **self.more_channels())
        self.act(force=Axis(-LARGEST, LARGEST, size=2))
        self.vary(**self.places(), **self.more_conditions())

    def places(self) -> dict[str, Any]:
        """Return the conditions that place the target."""
        raise NotImplementedError

    def target(self, now: Any) -> np.ndarray:
        """Positions of the current targets, (N, 2)."""
        raise NotImplementedError

    def more_channels(self) -> dict[str, Any]:
        """Return further channels."""
        return {}

    def more_conditions(self) -> dict[str, Any]:
        """Return further conditions."""
        return {}

    def lay_out(self, trial: TrialBuilder, *after: str) -> None:
        """Lay out a trial: hold, delay, reach, and the periods after it."""
        before = ("centre", "delay")
        trial.periods(*before, "reach", *after)
        trial.show("hold", 1, during=before)
        # On the last step only: where a window is open, the oracle of datasets waits.
        last = {"start": trial.duration("reach") - self.dt, "then": "wait"}
        trial.answer("force", np.zeros((trial.n, 2)), "reach", reported=True, **last)
        trial.record(*MEASURED)

    # ------------------------------------------------------------------ overridden by tasks

    def push(self, now: Any, velocity: np.ndarray) -> np.ndarray | float:
        """Force of the world on the hand, N, (N, 2), at velocities, dm/s."""
        return 0.0

    def seen(self, now: Any, hand: np.ndarray) -> np.ndarray:
        """Where the cursor is, (N, 2), when the hand is at (N, 2)."""
        return hand

    def goal(self, now: Any) -> np.ndarray:
        """Where the hand should go, (N, 2)."""
        return self.target(now)

    # ------------------------------------------------------------------ on every step

    def step_action(self, now: Any, action: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        state, dt, target = now.trial_state, now.dt / 1000, self.target(now)
        velocity = state["hand"][:, 2:]
        velocity = velocity + 10 * dt / MASS * (action + self.push(now, velocity))
        hand = state["hand"][:, :2] + velocity * dt
        state["hand"] = np.concatenate([hand, velocity], axis=1)
        cursor, reaches = self.seen(now, hand), now.in_period("reach")
        inside = np.linalg.norm(cursor - target, axis=1) <= self.radius
        state["kept"] = np.where(reaches & inside, state["kept"] + now.dt, 0)
        away = np.linalg.norm(hand, axis=1) > self.radius
        starts = reaches & away & (state["moved_after"] == 0)
        state["moved_after"] = np.where(starts, now.elapsed + now.dt, state["moved_after"])
        self._measure(state, reaches, hand, velocity, cursor, target)
        early = away & (now.in_period("centre") | now.in_period("delay"))
        last = reaches & (now.remaining < 1.5 * now.dt)
        right = last & (state["kept"] >= self.keep - 1e-6)
        outcome = np.select([early, right], [Outcome.ABORT, Outcome.CORRECT], Outcome.ERROR)
        now.answer(early | last, action, outcome, reaction_time=state["moved_after"])
        paid = right * self.rewards["correct"] + early * self.rewards["abort"]
        paid = paid - self.effort * (action**2).sum(axis=1) * dt
        return paid, np.where(early, END, STAY)

    def _measure(self, state, reaches, hand, velocity, cursor, target) -> None:
        """Keep the peak speed, how far the hand is off the straight line then, and the end."""
        speed, length = (np.linalg.norm(one, axis=1) for one in (velocity, target))
        way = target / np.maximum(length, 1e-9)[:, None]
        faster = reaches & (speed > state["peak_speed"])
        off = way[:, 0] * hand[:, 1] - way[:, 1] * hand[:, 0]  # positive to the left
        state["deviation"] = np.where(faster, off, state["deviation"])
        state["peak_speed"] = np.where(faster, speed, state["peak_speed"])
        ahead = (way * cursor).sum(axis=1)
        aside = way[:, 0] * cursor[:, 1] - way[:, 1] * cursor[:, 0]
        angle = np.degrees(np.arctan2(aside, ahead))
        state["end_angle"] = np.where(reaches, angle, state["end_angle"])

    def step_observation(self, now: Any, obs: np.ndarray) -> np.ndarray:
        for k, name in enumerate(("hand", "velocity")):
            obs[:, self.channels[name]] = now.trial_state["hand"][:, 2 * k : 2 * k + 2]
        return obs

    def step_target(self, now: Any) -> np.ndarray:
        """The force that brings the hand to the goal with minimum jerk in 500 ms."""
        hand, dt = now.trial_state["hand"], now.dt / 1000
        share = np.where(now.in_period("reach"), now.elapsed / 1000 + dt, 0) / REACH
        over = ~(now.in_period("centre") | now.in_period("delay") | now.in_period("reach"))
        wanted = minimum_jerk(np.where(over, 1.0, share))[:, None] * self.goal(now)
        velocity = (wanted - hand[:, :2]) / dt
        force = MASS * (velocity - hand[:, 2:]) / (10 * dt) - self.push(now, hand[:, 2:])
        return np.clip(force, -LARGEST, LARGEST)


class CentreOut(Reach):
    """Base of the reaches from a centre to targets on a circle around it."""

    directions: int = 8
    distance: float = 1.0

    def define(self) -> None:
        if self.directions < 1 or not self.radius < self.distance:
            raise InvalidValueError(
                f"{self.name} was given directions={self.directions}, distance={self.distance:g}"
                f" and radius={self.radius:g}; give at least 1 direction, and a distance above the"
                " radius."
            )
        super().define()

    def places(self) -> dict[str, Any]:
        return {"direction": Choice(self.directions)}

    def at(self, direction: np.ndarray) -> np.ndarray:
        """Positions of the targets, (n, 2), in directions, (n,)."""
        right = np.tile([self.distance, 0.0], (len(direction), 1))
        return turned(right, 360 / self.directions * direction)

    def target(self, now: Any) -> np.ndarray:
        """Positions of the current targets, (N, 2)."""
        return self.at(now.conditions["direction"])
