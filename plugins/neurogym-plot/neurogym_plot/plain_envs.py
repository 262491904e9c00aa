"""Figures of one trial of tasks that are plain Gymnasium envs, which have no table of trials."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from neurogym_core import NotSupportedError, make
from neurogym_core.players import resolve
from neurogym_plot.canvas import INK, SMALL, Box, heading, new_figure
from neurogym_plot.trial import TrialTrace, trial_figure

_STEPS, _FRAMES = 400, 4  # steps of a trial at most, and frames in the figure


def env_figure(task: str, seed: int | None = 0) -> Any:
    """Return the figure of one trial (at most 400 steps) of a plain env.

    The subject plays action 0 or zeros, or, if these are not in the action space, random actions.
    An env with the render mode "rgb_array" is drawn as four frames of a film, frames of one colour
    left out, any other one by its observations, which must be vectors.

    Args:
        task: as for `make`, an env that is not a `Task`.
        seed: seed of the trial, and of random actions.

    Raises:
        NotSupportedError: the env does not render, and its observations are not vectors.
    """
    films = "rgb_array" in resolve(task).metadata.get("render_modes", ())
    env = make(task, render_mode="rgb_array" if films else None)
    try:
        return _film(env, task, seed) if films else _observed(env, task, seed)
    finally:
        env.close()


def _film(env: Any, task: str, seed: int | None) -> Any:
    """Return a figure of four frames of the trial, side by side."""
    frames: list[np.ndarray] = []
    for _ in _steps_of(env, seed, lambda: frames.append(np.asarray(env.render()))):
        pass
    # Frames of one colour show nothing, unless there are no others.
    shown = [step for step, frame in enumerate(frames) if np.ptp(frame)] or [*range(len(frames))]
    places = np.unique(np.linspace(0, len(shown) - 1, _FRAMES).astype(int))
    chosen = [shown[place] for place in places]
    side, gap = 2.2, 0.15  # inches
    width, height = len(chosen) * (side + gap) + gap, side + 0.75
    box = Box(new_figure(width, height), 0, 0, width, height)
    for k, step in enumerate(chosen):
        frame = frames[step]
        axes = box.axes(gap + k * (side + gap), gap, side, side)
        axes.imshow(frame, cmap="gray", vmin=0, vmax=255 if frame.dtype == np.uint8 else 1)
        axes.set_axis_off()
        axes.set_title(f"step {step}", fontsize=SMALL, color=INK, pad=3)
    heading(box.figure, task, gap / width, 1 - 0.12 / height)
    return box.figure


def _observed(env: Any, task: str, seed: int | None) -> Any:
    space = env.observation_space
    if getattr(space, "shape", None) is None or len(space.shape) != 1:
        raise NotSupportedError(
            f"{task} has observations {space}, and no render mode 'rgb_array'. Expected an env that"
            " renders frames, or whose observations are vectors. Give its class metadata ="
            " {'render_modes': ['rgb_array']} and a render()."
        )
    observations, actions, rewards, infos = (
        list(column) for column in zip(*_steps_of(env, seed), strict=True)
    )
    n_actions = int(getattr(env.action_space, "n", 0)) or int(np.prod(env.action_space.shape))
    targets = [info.get("gt", action) for info, action in zip(infos, actions, strict=True)]
    trace = TrialTrace(
        observations=np.stack(observations),
        channels={"observation": slice(0, space.shape[0])},
        periods=[("trial", 0, len(observations))],
        targets=np.stack(targets),
        actions=np.stack(actions).reshape(np.shape(targets)),
        rewards=np.asarray(rewards, float),
        action_names=[str(k) for k in range(n_actions)],
        title=task,
        subtitle="steps instead of milliseconds",
    )
    return trial_figure(trace)


def _steps_of(
    env: Any, seed: int | None, before: Callable[[], None] = lambda: None
) -> Iterator[tuple]:
    """Yield observation, action, reward and info of each step; call `before` before an action."""
    observation, _ = env.reset(seed=seed)
    env.action_space.seed(seed)
    for _ in range(_STEPS):
        before()
        space = env.action_space
        still = np.zeros(space.shape, space.dtype) + getattr(space, "start", 0)
        still = still if still.ndim else still.item()
        action = still if space.contains(still) else space.sample()
        coming, reward, terminated, truncated, info = env.step(action)
        yield observation, action, reward, info
        if terminated or truncated or info.get("new_trial"):
            return
        observation = coming
