"""Visual search for a line, as images."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np

from neurogym_core import Choice, Distribution
from neurogym_task_visual.pixel_env import PixelEnv

COLOURS = {
    "red": (255, 40, 40),
    "green": (40, 255, 40),
    "blue": (60, 60, 255),
    "yellow": (255, 255, 40),
}
ANGLES = (0, 45, 90, 135)
"""Degrees counter-clockwise from the horizontal."""
PLACES = 0.6 * np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
"""Positions of the four lines, in the corners: x to the right and y up, from -1 to 1."""
LENGTH, WIDTH = 0.3, 0.06
"""Size of a line, in the same units."""


class VisualSearch(PixelEnv):
    """Look at the line, one of four, that matches a remembered target.

    Buschman & Miller (2007), Science 315:1860, doi:10.1126/science.1138071.

    The subject sees an image and controls its gaze: the action is a point, x to the right and y up,
    from -1 to 1. While the fixation cross or the target is on, it looks at the centre, not more
    than 0.1 away. The target, a line with a colour and an angle, is shown in the centre; after a
    delay four lines appear in the corners, one of them the target, and the cross turns off. A look
    at one of the lines, within 0.1, is the answer. In "pop_out" trials the three distractors are
    alike and differ from the target in colour and angle; in "search" trials each of them differs in
    one of the two, drawn for each.

    The remembered target is rarely needed: the display alone, by looking at the odd line or at one
    that shares a feature with each of the others, gives 100 % in pop-out and 87 % in search trials.
    To test memory, analyse the other search trials, or impose distractors. `location` in the record
    counts the corners counter-clockwise from the upper right.

    Deviations from the paper:

    - four colours, four angles and the geometry are ours; durations and tolerances are NeuroGym's;
    - a single look anywhere on a line is the answer (there, the monkey had to hold its gaze on it);
    - pop-out and search are mixed (there, in blocks).

    Args:
        size, dt, trials_per_session, timing, rewards, conditions, render_mode: see `PixelEnv`.
    """

    timing: ClassVar = {"fixation": 500, "sample": 1000, "delay": 500, "decision": 500}  # ms
    tolerance: ClassVar[float] = 0.1

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.action_space = gymnasium.spaces.Box(-1, 1, (2,), np.float32)

    def declare(self) -> dict[str, Distribution]:
        return {
            "kind": Choice(("search", "pop_out")),
            "location": Choice(len(PLACES)),
            "angle": Choice(ANGLES),
            "colour": Choice(tuple(COLOURS)),
        }

    def begin_trial(self) -> None:
        """Draw the distractors, and build the two images of the trial."""
        angle, colour = self.trial["angle"], self.trial["colour"]
        self.lines = [
            (angle, colour) if k == self.trial["location"] else None for k in range(len(PLACES))
        ]
        others = self._distractors()
        self.lines = [line if line is not None else others.pop() for line in self.lines]
        """(angle, colour) of the line at each position."""
        self._sample = self._with_line(self.blank(), (0.0, 0.0), angle, colour)
        self._display = self.blank()
        for place, line in zip(PLACES, self.lines, strict=True):
            self._with_line(self._display, place, *line)

    def _distractors(self) -> list[tuple[int, str]]:
        other_angles = [angle for angle in ANGLES if angle != self.trial["angle"]]
        other_colours = [colour for colour in COLOURS if colour != self.trial["colour"]]
        rng = self.np_random
        picked = [
            (rng.choice(other_angles).item(), str(rng.choice(other_colours)))
            for _ in range(len(PLACES) - 1)
        ]
        if self.trial["kind"] == "pop_out":
            return [picked[0]] * len(picked)
        by_angle = rng.random(len(picked)) < 0.5
        return [
            (angle, self.trial["colour"]) if differs else (self.trial["angle"], colour)
            for (angle, colour), differs in zip(picked, by_angle, strict=True)
        ]

    def picture(self, period: str, step: int) -> np.ndarray:
        if period == "decision":
            return self._display
        image = self._sample.copy() if period == "sample" else self.blank()
        return image if period == "sample" else self._with_cross(image)

    def _with_cross(self, image: np.ndarray) -> np.ndarray:
        cross = self.add_cross(image)
        cross[cross.any(axis=2)] = 255  # red is one of the lines' colours
        return cross

    def _with_line(self, image: np.ndarray, place: Any, angle: float, colour: str) -> np.ndarray:
        """Draw an antialiased line into the image, in place, and return the image."""
        x, y = self.places()
        x, y = x - place[0], y - place[1]
        along = x * np.cos(np.deg2rad(angle)) + y * np.sin(np.deg2rad(angle))
        across = y * np.cos(np.deg2rad(angle)) - x * np.sin(np.deg2rad(angle))
        beyond = np.maximum(np.abs(along) - LENGTH / 2, 0)
        distance = np.hypot(beyond, across)
        cover = np.clip((WIDTH / 2 - distance) * self.size / 2 + 0.5, 0, 1)[:, :, None]
        image *= 1 - cover
        image += cover * np.array(COLOURS[colour])
        return image

    def acts(self, action: Any) -> bool:
        return bool(np.hypot(*action) > self.tolerance + 1e-6)

    def judge(self, action: Any) -> bool | None:
        distance = np.hypot(*(PLACES - action).T)
        nearest = int(distance.argmin())
        return (
            nearest == self.trial["location"]
            if distance[nearest] <= self.tolerance + 1e-6
            else None
        )

    def right_action(self, asked: bool) -> np.ndarray:
        return (PLACES[self.trial["location"]] * asked).astype(np.float32)
