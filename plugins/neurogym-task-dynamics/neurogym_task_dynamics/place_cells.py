"""Path integration, reported by place cells."""

from __future__ import annotations

import numpy as np

from neurogym_core import Axis, InvalidValueError, TrialBuilder
from neurogym_task_dynamics.path_integration import PathIntegration

PLACED = 0
"""Seed of the centres of place cells, which are the same in all trials and for all subjects."""
FEWEST = 16
"""Smallest number of cells: with 16, staying at the first place earns 0.08, with 8, 0.14."""


class PathIntegrationPlaceCells(PathIntegration):
    """Keep track of the position in a box from the velocity, and report it by place cells.

    Sorscher, Mel, Ocko, Giocomo & Ganguli (2023), Neuron 111:121,
    doi:10.1016/j.neuron.2022.10.003; after Banino et al. (2018), Nature 557:429,
    doi:10.1038/s41586-018-0102-6.

    Channels and paths are those of `PathIntegration`, with the 400 ms of movement (20 steps) of the
    code of Sorscher et al. The output is the activity of 128 place cells, whose centres are uniform
    in the box and the same in all trials: a Gaussian of the distance with an SD of 0.12 m, as a
    share of all cells, minus one of twice the variance; the least active cell of a step has 0, and
    the most active one 1. The squared error of all steps trains a network. Performance is the
    fraction of trials in which the activity of the last step is closer to the right one than that
    of places 0.05 m away is.

    The ideal, which adds up the velocity, earns 1. Staying at the place of the beginning earns
    0.01, and so does the mean activity of all places. Which cells of a trained network have grids
    depends on the code of its targets: without the second Gaussian (``surround=None``) it is
    another one. As the last step alone is judged, the final activity from the first step on would
    earn 1, too, if something showed it.

    Deviations from the papers:

    - there are 128 cells (in the code, 512: ``cells=512``, which takes four times the memory);
    - the error is squared (there, the cross-entropy of shares), and performance is ours;
    - the first 200 ms show the position, as two numbers (there, the network begins with the
      activity of its place cells);
    - the centres have one fixed seed.

    Args:
        cells: number of place cells.
        width: SD of the Gaussian, m.
        surround: variance of the second Gaussian, relative to the first; None: without it.
        length, box, speed, turn, margin: as in PathIntegration.
        tolerance: distance of a place whose activity is as far from the right one as still counts
            as right, m.
    """

    length: float = 400
    cells: int = 128
    width: float = 0.12
    surround: float | None = 2.0
    tolerance: float = 0.05

    def declare_report(self) -> None:
        surround = self.surround is None or self.surround > 1
        if self.cells < FEWEST or not self.width > 0 or not surround or not self.tolerance > 0:
            raise InvalidValueError(
                f"{self.name} was given cells={self.cells!r}, width={self.width!r},"
                f" surround={self.surround!r} and tolerance={self.tolerance!r}; give at least"
                f" {FEWEST} cells, a width and a tolerance above 0, and a surround above 1 or None."
            )
        rng, half = np.random.default_rng(PLACED), self.box / 2
        self._centres = rng.uniform(-half, half, (self.cells, 2))
        self.act(report=Axis(0, 1, size=self.cells))

    def activity(self, places: np.ndarray) -> np.ndarray:
        """Return the activity of the cells, (…, cells), at places, (…, 2), m."""
        lengths = (places**2).sum(axis=-1)[..., None] + (self._centres**2).sum(axis=1)
        distance = lengths - 2 * places @ self._centres.T  # squared
        shares = _share(distance / (2 * self.width**2))
        if self.surround is not None:
            shares = shares - _share(distance / (2 * self.surround * self.width**2))
        shares = shares - shares.min(axis=-1, keepdims=True)
        return np.asarray(shares / shares.max(axis=-1, keepdims=True))

    def ask(self, trial: TrialBuilder, held: np.ndarray) -> None:
        trial.timecourse("report", self.activity(held), during=("start", "move"), cut=True)
        steps = round(float(np.max(trial.duration("start") + trial.duration("move"))) / trial.dt)
        last = held[:, min(steps, held.shape[1]) - 1]
        angles = np.arange(8) * np.pi / 4
        around = self.tolerance * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        right = self.activity(last)
        off = self.activity(last[:, None] + around) - right[:, None]
        within = np.linalg.norm(off, axis=-1).mean(axis=1)  # (n,)
        opens = trial.duration("move") - trial.dt
        trial.answer("report", right, "move", start=opens, tolerance=within)


def _share(exponent: np.ndarray) -> np.ndarray:
    """Shares of the cells, which fall exponentially with a number, (…, cells)."""
    weights = np.exp(exponent.min(axis=-1, keepdims=True) - exponent)
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))
