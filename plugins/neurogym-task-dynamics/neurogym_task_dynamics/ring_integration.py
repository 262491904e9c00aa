"""Path integration on a ring: head direction."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import Angle, InvalidValueError, Task, TrialBuilder, Uniform
from neurogym_task_dynamics.streams import lengthened


class RingIntegration(Task):
    """Keep track of a direction from its angular velocity.

    After Cueva, Wang, Chin & Wei (2020), ICLR, arXiv:1912.10189; Vafidis, Owald, D'Albis & Kempter
    (2022), eLife 11:e69841, doi:10.7554/eLife.69841.

    In the first 250 ms the subject sees its direction as (cos, sin). Then it sees the angular
    velocity alone, in rad/s, which changes smoothly at random: an Ornstein-Uhlenbeck process with a
    time constant of `tau` and an SD of `speed`. The output is the present direction at every step;
    performance is the share of the steps within 18 degrees of it.

    The ideal, which adds up the velocity, earns 1. Keeping the direction of the beginning earns
    0.20, and a constant direction 0.10. In 5 s the direction moves by 480 degrees on average, back
    and forth.

    With noise (``sigma``), the error of the ideal grows as sigma sqrt(t): with 5 rad/s times
    sqrt(ms) its SD is 20 degrees after 5 s.

    Deviations from the papers: velocity, durations and the tolerance are ours, and not compared
    with the papers.

    Args:
        length: time of movement, ms.
        tau: time constant of the velocity, ms.
        speed: SD of the velocity, degrees per s.
        sigma: SD of the noise of the velocity, (rad/s) times sqrt(ms).
        tolerance: largest error that counts as right, radians.
    """

    dt: float = 25
    length: float = 5000
    tau: float = 500
    speed: float = 120
    sigma: float = 0.0
    tolerance: float = float(np.pi / 10)

    timing = {"start": 250}  # ms

    def define(self) -> None:
        if self.tau < self.dt or self.speed < 0:
            raise InvalidValueError(
                f"RingIntegration was given tau={self.tau!r} and speed={self.speed!r}; give a time"
                f" constant of a step ({self.dt:g} ms) or more, and a speed of 0 or more."
            )
        self.observe(velocity=1, start=("cos", "sin"))
        self.act(report=Angle(tolerance=self.tolerance))
        self.vary(direction=Uniform(0, 2 * np.pi), velocity=self._draw_velocity)

    def _draw_velocity(self, rng: np.random.Generator, prior: Mapping) -> np.ndarray:
        """Draw the velocity on every step, (n, steps), rad/s."""
        steps = max(round(self.length / self.dt), 1)
        kicks = rng.standard_normal((prior.n, steps))  # type: ignore[attr-defined]
        keep = np.exp(-self.dt / self.tau)
        kicks[:, 1:] *= np.sqrt(1 - keep**2)
        for step in range(1, steps):
            kicks[:, step] += keep * kicks[:, step - 1]
        return np.deg2rad(self.speed) * kicks  # type: ignore[no-any-return]

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("start", "move", move=self.length)
        trial.show("start", Angle.points(trial["direction"]), during="start")
        trial.show("velocity", 0, during="move", noise=self.sigma)
        velocity = lengthened(trial, trial["velocity"][:, :, None], "move", "constant")
        trial.timecourse("velocity", velocity, during="move", cut=True)
        before = int(trial.duration("start").max() / trial.dt)
        turned = np.cumsum(velocity[:, :, 0], axis=1) * trial.dt / 1000
        path = trial["direction"][:, None] + np.pad(turned, ((0, 0), (before, 0)))
        trial.timecourse("report", path[:, :, None], during=("start", "move"), cut=True)
