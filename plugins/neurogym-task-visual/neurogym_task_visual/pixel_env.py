"""`PixelEnv`: trials with image observations, as a plain Gymnasium env."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import gymnasium
import numpy as np

from neurogym_core import Distribution, InvalidValueError, parse
from neurogym_core.tools import unknown

CROSS = (255, 0, 0)
"""Colour of the fixation cross."""


class PixelEnv(gymnasium.Env):
    """Base of the tasks of this package: trials of periods whose observations are images.

    A task declares `timing` and `rewards`, its conditions (`declare`), its actions
    (`action_space`), the images (`begin_trial`, `picture`), and the meaning of actions (`acts`,
    `judge`, `right_action`). The last period is the response window. Acting before costs `abort`
    per 100 ms.

    ``step(action)`` scores the action against the image on which it was chosen. `info` holds `gt`
    (the correct action for that image), `period`, `new_trial`; when a trial ends, `trial` (its
    record) and `performance`, and `step` returns the first image of the next trial. A session ends
    after `trials_per_session` trials; `reset` without a seed continues.

    Args:
        size: pixels of each side of the image.
        dt: duration of a step, ms.
        trials_per_session: None: sessions never end; 1: one trial per episode.
        timing, rewards, conditions: durations in ms, rewards and conditions by name, which override
            those of the task.
        render_mode: None or "rgb_array" (the current image).

    Raises:
        InvalidValueError: an impossible size, dt or number.
        UnknownNameError: a period, reward or condition that the task does not have.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array"], "render_fps": 60}

    timing: ClassVar[Mapping[str, Any]] = {}
    rewards: ClassVar[Mapping[str, float]] = {
        "abort": -0.1,
        "correct": 1.0,
        "error": 0.0,
        "miss": 0.0,
    }

    def __init__(
        self,
        *,
        size: int = 100,
        dt: float = 16,
        trials_per_session: int | None = 100,
        timing: Mapping[str, Any] | None = None,
        rewards: Mapping[str, float] | None = None,
        conditions: Mapping[str, Any] | None = None,
        render_mode: str | None = None,
    ) -> None:
        name = type(self).__name__
        if (
            not size >= 16
            or not dt > 0
            or (trials_per_session is not None and trials_per_session < 1)
        ):
            raise InvalidValueError(
                f"{name} was given size={size!r}, dt={dt!r},"
                f" trials_per_session={trials_per_session!r}; give at least 16 pixels, a"
                " positive number of ms, and at least one trial (None: no end)."
            )
        if render_mode not in (None, "rgb_array"):
            raise InvalidValueError(
                f"{name} was given render_mode={render_mode!r}; give 'rgb_array' or None."
            )
        self.size, self.dt, self.trials_per_session, self.render_mode = (
            size,
            dt,
            trials_per_session,
            render_mode,
        )
        self.durations = {
            period: parse(spec) for period, spec in _merged(type(self), "timing", timing).items()
        }
        self.reward = _merged(type(self), "rewards", rewards)
        self.declared: dict[str, Distribution] = self.declare()
        self._imposed = self._checked(conditions)
        self._for_session: dict[str, Distribution] = {}
        self.observation_space = gymnasium.spaces.Box(0, 255, (size, size, 3), np.uint8)
        self._image: np.ndarray | None = None
        self._left = trials_per_session

    # ------------------------------------------------------------------ methods of a task

    def declare(self) -> dict[str, Distribution]:
        """Return the conditions, name -> distribution."""
        raise NotImplementedError

    def begin_trial(self) -> None:
        """Prepare a new trial, whose conditions are in `self.trial`."""

    def picture(self, period: str, step: int) -> np.ndarray:
        """Return the image of a step of a period (counted from 0), (size, size, 3) from 0 to 255.

        Called once for every step, in order.
        """
        raise NotImplementedError

    def acts(self, action: Any) -> bool:
        """Return whether an action is more than resting."""
        raise NotImplementedError

    def judge(self, action: Any) -> bool | None:
        """Return whether an answer is correct; None: the action is not an answer."""
        raise NotImplementedError

    def right_action(self, asked: bool) -> Any:
        """Return the correct action inside (`asked`) or outside the response window."""
        raise NotImplementedError

    # ------------------------------------------------------------------ Gymnasium

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin a session; the current trial is dropped.

        Args:
            seed: fixes all following random numbers.
            options: ``{"conditions": {name: value}}`` for the coming session.
        """
        super().reset(seed=seed)
        self._left = self.trials_per_session
        conditions = (options or {}).get("conditions")
        if seed is not None or conditions is not None or self._image is None or self._step > 0:
            self._for_session = self._checked(conditions)
            self._new_trial()
        return self._image.copy(), {"period": self.period}  # type: ignore[union-attr]

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Advance one step; see the class.

        Raises:
            InvalidValueError: an action outside of `action_space`.
        """
        if isinstance(self.action_space, gymnasium.spaces.Box):
            action = np.asarray(action, np.float32)
        if not self.action_space.contains(action):
            raise InvalidValueError(
                f"{type(self).__name__} was given the action {action!r}; give one of"
                f" {self.action_space}."
            )
        info = {"gt": self.target, "period": self.period, "new_trial": False}
        reward, outcome = self._scored(action)
        self._step += 1
        if outcome is None and self._step == self._ends[-1]:
            reward, outcome = reward + self.reward["miss"], "miss"
        self._total += reward
        over = False
        if outcome is not None:
            info |= {
                "new_trial": True,
                "trial": self._record(outcome),
                "performance": float(outcome == "correct"),
            }
            over = self._count_trial()
            self._new_trial()
        else:
            self._draw()
        episode = self.trials_per_session == 1
        return self._image.copy(), float(reward), over and episode, over and not episode, info  # type: ignore[union-attr]

    def render(self) -> np.ndarray | None:
        """Return the current image, (size, size, 3) uint8; None without a render mode."""
        return None if self.render_mode is None or self._image is None else self._image.copy()

    # ------------------------------------------------------------------ the current step

    @property
    def period(self) -> str:
        """Name of the period of the current image."""
        return self._names[int(np.searchsorted(self._ends, self._step, side="right"))]

    @property
    def asked(self) -> bool:
        """Whether the current image is in the response window."""
        return self.period == self._names[-1]

    @property
    def target(self) -> Any:
        """The correct action for the current image."""
        return self.right_action(self.asked)

    def _scored(self, action: Any) -> tuple[float, str | None]:
        """Return the reward of an action, and the outcome if it is an answer."""
        if not self.asked:
            acts = self.acts(action)
            self._aborts += acts
            return acts * self.reward["abort"] * self.dt / 100, None
        right = self.judge(action)
        if right is None:
            return 0.0, None
        outcome = "correct" if right else "error"
        return self.reward[outcome], outcome

    # ------------------------------------------------------------------ trials

    def _new_trial(self) -> None:
        rng = self.np_random
        self.trial = {
            name: _plain(one.sample(rng, 1)[0])
            for name, one in {**self.declared, **self._fixed()}.items()
        }
        played = {name: one.sample(rng, 1)[0] for name, one in self.durations.items()}
        steps = {name: max(int(ms / self.dt + 0.5), int(ms > 0)) for name, ms in played.items()}
        self._names = list(steps)
        self._ends = np.cumsum(list(steps.values()))
        self.played = {name: count * self.dt for name, count in steps.items()}
        self._step, self._total, self._aborts = 0, 0.0, 0
        self.begin_trial()
        self._draw()

    def _draw(self) -> None:
        index = int(np.searchsorted(self._ends, self._step, side="right"))
        onset = self._ends[index - 1] if index else 0
        image = self.picture(self._names[index], int(self._step - onset))
        self._image = np.clip(np.rint(image), 0, 255).astype(np.uint8)

    def _record(self, outcome: str) -> dict[str, Any]:
        answered = outcome in ("correct", "error")
        onset = self._ends[-2] if len(self._ends) > 1 else 0
        record = {**self.trial, "outcome": outcome}
        if answered:
            record["reaction_time"] = float((self._step - onset) * self.dt)
        record |= {
            "reward": float(self._total),
            "aborts": int(self._aborts),
            "steps": int(self._step),
        }
        return record | {f"duration.{name}": float(ms) for name, ms in self.played.items()}

    def _count_trial(self) -> bool:
        """Return whether the session ends with the trial that just ended."""
        if self._left is None:
            return False
        self._left -= 1
        over = self._left == 0
        self._left = self.trials_per_session if over else self._left
        return over

    def _fixed(self) -> dict[str, Distribution]:
        return {**self._imposed, **self._for_session}

    def _checked(self, conditions: Mapping[str, Any] | None) -> dict[str, Distribution]:
        for name in conditions or {}:
            if name not in self.declared:
                raise unknown("condition", name, self.declared, of=type(self).__name__)
        return {name: _as_distribution(value) for name, value in (conditions or {}).items()}

    # ------------------------------------------------------------------ drawing

    def blank(self, level: float = 0.0) -> np.ndarray:
        """Return an image of one grey level, (size, size, 3)."""
        return np.full((self.size, self.size, 3), level)

    def add_cross(self, image: np.ndarray) -> np.ndarray:
        """Add a red cross to the middle of the image, an eighth of it wide."""
        middle, arm = self.size // 2, self.size // 16
        image[middle - 1 : middle + 1, middle - arm : middle + arm] = CROSS
        image[middle - arm : middle + arm, middle - 1 : middle + 1] = CROSS
        return image

    def places(self) -> tuple[np.ndarray, np.ndarray]:
        """x (to the right) and y (up) of every pixel's centre, (size, size) each, -1 to 1."""
        at = (np.arange(self.size) + 0.5) / self.size * 2 - 1
        return np.broadcast_to(at, (self.size, self.size)), np.broadcast_to(
            -at[:, None], (self.size, self.size)
        )


def _merged(cls: type, name: str, given: Mapping[str, Any] | None) -> dict[str, Any]:
    own = dict(getattr(cls, name))
    for key in given or {}:
        if key not in own:
            raise unknown(
                {"timing": "period", "rewards": "reward"}[name], key, own, of=cls.__name__
            )
    return {**own, **(given or {})}


def _as_distribution(value: Any) -> Distribution:
    from neurogym_core import Constant

    return Constant(value) if isinstance(value, str) else parse(value)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
