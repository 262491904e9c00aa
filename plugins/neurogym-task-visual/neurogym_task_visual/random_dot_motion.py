"""Random-dot motion, as images."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np

from neurogym_core import Choice, Distribution, InvalidValueError
from neurogym_task_visual.pixel_env import PixelEnv


class RandomDotMotion(PixelEnv):
    """Report the direction of coherent motion among random dots.

    Britten, Shadlen, Newsome & Movshon (1992), J. Neurosci. 12:4745,
    doi:10.1523/JNEUROSCI.12-12-04745.1992.

    The subject sees an image: a red fixation cross, and white dots on black while the stimulus is
    on. On every step each dot either moves in the trial's direction, with a probability equal to
    the coherence, or jumps to a random place. When the cross turns off, the subject reports the
    direction: action 0 is to fixate, action 1 + k direction k, which is 360 k / directions degrees,
    counter-clockwise from the right. Dots that leave on one side return on the other.

    Because dots also die at random, with a mean life of 160 ms, the fraction of dots that moves on
    from one image to the next is the coherence times exp(-dt / life): 46 % at a coherence of 51.2 %
    and the default dt of 16 ms, 27 % at a dt of 100 ms. ``life=inf`` makes the two equal. The noise
    is that of the dots; a matched filter for the displacement is nearly always right at 51.2 %.

    Deviations from the paper:

    - the field is square and has few dots (NeuroGym's 30), coherences are NeuroGym's (there, they
      follow the sensitivity of the neuron); NeuroGym's are also the
      speed, a twentieth of half the field in 16 ms, and the life of a dot, 10 steps of 16 ms on
      average;
    - the monkey's viewing lasted 2 s, as here; there is no delay and no reward schedule.

    Args:
        directions: number of directions.
        coherences: motion coherences, %.
        dots: number of dots.
        speed: speed of coherent dots, widths of the field per second.
        life: mean lifetime of a dot before it jumps in any case, ms.
        size, dt, trials_per_session, timing, rewards, conditions, render_mode: see `PixelEnv`.
    """

    timing: ClassVar = {"fixation": 100, "stimulus": 2000, "decision": 100}  # ms

    def __init__(
        self,
        *,
        directions: int = 2,
        coherences: tuple[float, ...] = (0, 6.4, 12.8, 25.6, 51.2),
        dots: int = 30,
        speed: float = 1.5625,
        life: float = 160,
        **settings: Any,
    ) -> None:
        if directions < 2 or dots < 1 or not speed >= 0 or not life > 0:
            raise InvalidValueError(
                f"RandomDotMotion was given directions={directions!r}, dots={dots!r},"
                f" speed={speed!r}, life={life!r}; give at least two directions and one dot, a"
                " speed of 0 or more, and a positive life in ms."
            )
        self.directions, self.coherences, self.dots, self.speed, self.life = (
            directions,
            coherences,
            dots,
            speed,
            life,
        )
        super().__init__(**settings)
        self.action_space = gymnasium.spaces.Discrete(1 + directions)

    def declare(self) -> dict[str, Distribution]:
        return {"direction": Choice(self.directions), "coherence": Choice(self.coherences)}

    def begin_trial(self) -> None:
        self._places = self.np_random.random((self.dots, 2))

    def picture(self, period: str, step: int) -> np.ndarray:
        image = self.blank()
        if period == "decision":
            return image
        if period == "stimulus":
            if step:
                self._move()
            image += 255 * self._drawn_dots()[:, :, None]
        return self.add_cross(image)

    def _move(self) -> None:
        """Move every dot or let it jump."""
        rng, angle = self.np_random, 2 * np.pi * self.trial["direction"] / self.directions
        on = self.speed * self.dt / 1000 * np.array([np.cos(angle), np.sin(angle)])
        lives = np.exp(-self.dt / self.life)
        stays = rng.random(self.dots) < self.trial["coherence"] / 100 * lives
        self._places = np.where(stays[:, None], self._places + on, rng.random((self.dots, 2))) % 1

    def _drawn_dots(self) -> np.ndarray:
        """Image of the dots, (size, size), 0 to 1.

        Every dot is spread over the four nearest pixels, so that it moves smoothly.
        """
        image = np.zeros((self.size, self.size))
        column = self._places[:, 0] * self.size - 0.5
        row = (1 - self._places[:, 1]) * self.size - 0.5
        left, top = np.floor(column).astype(int), np.floor(row).astype(int)
        for down in (0, 1):
            for right in (0, 1):
                share = np.abs(1 - right - (column - left)) * np.abs(1 - down - (row - top))
                np.add.at(image, ((top + down) % self.size, (left + right) % self.size), share)
        return np.minimum(image, 1)

    def acts(self, action: Any) -> bool:
        return action != 0

    def judge(self, action: Any) -> bool | None:
        return None if action == 0 else bool(action - 1 == self.trial["direction"])

    def right_action(self, asked: bool) -> int:
        return 1 + self.trial["direction"] if asked else 0
