"""A drifting plaid, as images."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np

from neurogym_core import Choice, Distribution, InvalidValueError
from neurogym_task_visual.pixel_env import PixelEnv

GREY = 127.5
DIRECTIONS = 4


class DriftingPlaid(PixelEnv):
    """Report the drift direction of a plaid, small or large, at low or high contrast.

    After Tadin, Lappin, Gilroy & Blake (2003), Nature 424:312, doi:10.1038/nature01800, who found
    that people need longer to see the direction of a large stimulus than of a small one at high
    contrast, and the reverse at low contrast.

    The subject sees an image: a red cross on grey, then for 300 ms a plaid, the mean of two
    gratings whose directions are 45 degrees to either side of the plaid's. It drifts to the right
    (0), up (1), to the left (2) or down (3), behind a round window with soft edges. After its
    offset the subject reports the direction: action 0 is to rest, action 1 + k direction k. The
    contrast is 5 or 99 %.

    Deviations from the paper:

    - plaids and four directions (NeuroGym's; there, gratings and two);
    - every presentation lasts 300 ms; shorter ones with ``timing={"stimulus": …}`` (there, the
      duration varies);
    - sizes are ours: windows of 2 and 8 degrees; spatial frequency and speed of the gratings are
      NeuroGym's;
    - the subject answers (in NeuroGym, it predicts how often people report each direction: see the
      task SpatialSuppressMotion).

    Args:
        diameters: diameters of the window, degrees of visual angle.
        contrasts: contrasts, 0 to 1.
        view: width of the image, degrees of visual angle.
        frequency: spatial frequency of each grating, cycles / degree.
        speed: speed of each grating, degrees / s; the plaid drifts faster by sqrt(2).
        edge: SD of the window's Gaussian edge, degrees.
        size, dt, trials_per_session, timing, rewards, conditions, render_mode: see `PixelEnv`.
    """

    timing: ClassVar = {"fixation": 300, "stimulus": 300, "decision": 500}  # ms

    def __init__(
        self,
        *,
        diameters: tuple[float, ...] = (2.0, 8.0),
        contrasts: tuple[float, ...] = (0.05, 0.99),
        view: float = 16.0,
        frequency: float = 0.8,
        speed: float = 4.0,
        edge: float = 0.5,
        dt: float = 10,
        **settings: Any,
    ) -> None:
        if (
            not all(0 <= contrast <= 1 for contrast in contrasts)
            or not min(view, frequency, edge, *diameters) > 0
        ):
            raise InvalidValueError(
                f"DriftingPlaid was given contrasts={contrasts!r}, diameters={diameters!r},"
                f" view={view!r}, frequency={frequency!r}, edge={edge!r}; give contrasts from 0"
                " to 1, and positive numbers for all others."
            )
        self.diameters, self.contrasts = diameters, contrasts
        self.view, self.frequency, self.speed, self.edge = view, frequency, speed, edge
        super().__init__(dt=dt, **settings)
        self.action_space = gymnasium.spaces.Discrete(1 + DIRECTIONS)

    def declare(self) -> dict[str, Distribution]:
        return {
            "direction": Choice(DIRECTIONS),
            "diameter": Choice(self.diameters),
            "contrast": Choice(self.contrasts),
        }

    def begin_trial(self) -> None:
        self._phases = self.np_random.uniform(0, 2 * np.pi, 2)
        x, y = (axis * self.view / 2 for axis in self.places())
        self._x, self._y = x, y
        beyond = np.maximum(np.hypot(x, y) - self.trial["diameter"] / 2, 0)
        self._window = np.exp(-0.5 * (beyond / self.edge) ** 2)

    def picture(self, period: str, step: int) -> np.ndarray:
        image = self.blank(GREY)
        if period == "fixation":
            return self.add_cross(image)
        if period == "stimulus":
            image += (
                GREY * self.trial["contrast"] * self._window * self._plaid(step * self.dt / 1000)
            )[:, :, None]
        return image

    def _plaid(self, seconds: float) -> np.ndarray:
        """Mean of the two gratings, (size, size), -1 to 1."""
        angle = np.pi / 2 * self.trial["direction"]
        gratings = []
        for turn, phase in zip((np.pi / 4, -np.pi / 4), self._phases, strict=True):
            along = self._x * np.cos(angle + turn) + self._y * np.sin(angle + turn)
            gratings.append(
                np.cos(2 * np.pi * self.frequency * (along - self.speed * seconds) + phase)
            )
        return np.mean(gratings, axis=0)

    def acts(self, action: Any) -> bool:
        return action != 0

    def judge(self, action: Any) -> bool | None:
        return None if action == 0 else bool(action - 1 == self.trial["direction"])

    def right_action(self, asked: bool) -> int:
        return 1 + self.trial["direction"] if asked else 0
