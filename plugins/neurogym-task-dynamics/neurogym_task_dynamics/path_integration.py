"""Path integration in a box."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import Axis, InvalidValueError, Task, TrialBuilder
from neurogym_task_dynamics.streams import lengthened

SLOWED = 0.25
"""Share of the speed that is left near a wall."""


class PathIntegration(Task):
    """Keep track of the position in a square box from the velocity.

    Cueva & Wei (2018), ICLR, arXiv:1803.07770; Banino et al. (2018), Nature 557:429,
    doi:10.1038/s41586-018-0102-6. The paths are those of the code of Sorscher, Mel, Ocko, Giocomo &
    Ganguli (2023), Neuron 111:121, doi:10.1016/j.neuron.2022.10.003.

    In the first 200 ms the subject sees its position (x, y), in m from the centre, and a unit that
    says so. Then it sees its velocity alone, in m/s, while it runs through a box of 2.2 by 2.2 m:
    the speed of each step is Rayleigh-distributed, with a mean of 1.02 m/s, and the heading turns
    at random. Within 3 cm of a wall to which it is heading, it slows to a quarter and turns along
    the wall, so that a slow step shows that a wall is near. The output is the position at every
    step; performance is the share of steps and axes within `tolerance`.

    The ideal, which adds up the velocity, earns 1. Staying at the place of the beginning earns
    0.16, and the centre of the box 0.08. In the 20 steps of the code (``length=400``), staying
    earns 0.67, at a mean distance of 0.35 m: little has to be integrated.

    Deviations from the papers:

    - the output is the position (there, the activity of place cells, as in
      `PathIntegrationPlaceCells`);
    - the duration is ours: 250 steps (in the code, 20);
    - the position is shown for 200 ms (there, the network begins with it).

    Args:
        length: time of movement, ms.
        box: side of the box, m.
        speed: scale of the Rayleigh distribution of the speed, m/s.
        turn: SD of the turns, rad/s.
        margin: distance from a wall at which the subject turns, m.
        tolerance: largest error of x, and of y, that counts as right, m.
    """

    dt: float = 20
    length: float = 5000
    box: float = 2.2
    speed: float = 0.817
    turn: float = 11.52
    margin: float = 0.03
    tolerance: float = 0.1

    timing = {"start": 200}  # ms

    def define(self) -> None:
        if not 0 < self.margin < self.box / 2:
            raise InvalidValueError(
                f"PathIntegration was given box={self.box!r} and margin={self.margin!r}; give a"
                " margin above 0 and below half of the box."
            )
        self.observe(velocity=("x", "y"), start=("x", "y", "shown"))
        self.declare_report()
        self.vary(path=self._draw_path)

    def declare_report(self) -> None:
        """Declare the output."""
        half = self.box / 2
        self.act(report=Axis(-half, half, size=2, tolerance=self.tolerance))

    def _draw_path(self, rng: np.random.Generator, prior: Mapping) -> np.ndarray:
        """Draw the positions of n trials, that of the beginning first, (n, (steps + 1) * 2), m."""
        n, half = prior.n, self.box / 2  # type: ignore[attr-defined]
        steps, seconds = max(round(self.length / self.dt), 1), self.dt / 1000
        path = np.zeros((n, steps + 1, 2))
        path[:, 0] = rng.uniform(-half, half, (n, 2))
        heading = rng.uniform(0, 2 * np.pi, n)
        strides = self.speed * seconds * np.sqrt(2 * rng.standard_exponential((n, steps)))
        turns = self.turn * seconds * rng.standard_normal((n, steps))
        for step in range(steps):
            ahead, at = np.stack([np.cos(heading), np.sin(heading)], axis=1), path[:, step]
            near = (half - np.abs(at) < self.margin) & (at * ahead > 0)
            stride = strides[:, step] * np.where(near.any(axis=1), SLOWED, 1.0)
            path[:, step + 1] = np.clip(at + stride[:, None] * ahead, -half, half)
            along = np.where(near.all(axis=1, keepdims=True), -ahead, np.where(near, 0.0, ahead))
            heading = np.arctan2(along[:, 1], along[:, 0]) + turns[:, step]
        return path.reshape(n, -1)

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("start", "move", move=self.length)
        drawn = trial["path"].reshape(trial.n, -1, 2)
        path = np.append(drawn[:, :1], lengthened(trial, drawn[:, 1:], "move", "edge"), axis=1)
        shown = np.concatenate([path[:, 0], np.ones((trial.n, 1))], axis=1)
        trial.show("start", shown, during="start")
        velocity = np.diff(path, axis=1) / (trial.dt / 1000)
        trial.timecourse("velocity", velocity, during="move", cut=True)
        before = int(trial.duration("start").max() / trial.dt)
        held = np.concatenate([np.repeat(path[:, :1], before, axis=1), path[:, 1:]], axis=1)
        self.ask(trial, held)

    def ask(self, trial: TrialBuilder, held: np.ndarray) -> None:
        """Set the targets, from positions at every step, (n, T, 2), m."""
        trial.timecourse("report", held, during=("start", "move"), cut=True)
