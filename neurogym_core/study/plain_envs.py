"""Figures of tasks that are plain Gymnasium envs: frames of a film where there is one, else what
was observed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from neurogym_core.errors import NotSupportedError
from neurogym_core.play.make import bare_env, resolve
from neurogym_core.study.figures import TrialTrace, strip_figure, trial_figure

_STEPS = 400
_FRAMES = 4


def env_figure(task: str, seed: int | None = 0) -> Any:
    """One trial (400 steps at most) of a plain env, in which a subject does nothing or, where it
    cannot, anything.

    An env with the render mode "rgb_array" is drawn as four frames of a film, any other with a flat
    observation as what was observed on every step.

    Args:
        task: what `make` takes, of an env that is no `Task`.
        seed: of the trial, and of a subject that does anything.

    Raises:
        NotSupportedError: it renders nothing, and its observations are no vectors.
        MissingDependencyError: matplotlib is not installed.
    """
    films = "rgb_array" in resolve(task).metadata.get("render_modes", ())
    env = bare_env(task, render_mode="rgb_array" if films else None)
    try:
        return _film(env, task, seed) if films else _observed(env, task, seed)
    finally:
        env.close()


def _film(env: Any, task: str, seed: int | None) -> Any:
    frames: list[np.ndarray] = []
    for _ in _played(env, seed, lambda: frames.append(np.asarray(env.render()))):
        pass
    chosen = np.unique(np.linspace(0, len(frames) - 1, _FRAMES).astype(int)).tolist()
    return strip_figure([frames[k] for k in chosen], [f"step {k}" for k in chosen], title=task)


def _observed(env: Any, task: str, seed: int | None) -> Any:
    space = env.observation_space
    if getattr(space, "shape", None) is None or len(space.shape) != 1:
        raise NotSupportedError(
            f"{task} observes {space}, and has no render mode 'rgb_array'. Expected an env that"
            " renders frames, or whose observations are vectors. Give its class metadata ="
            " {'render_modes': ['rgb_array']} and a render()."
        )
    observations, actions, rewards, infos = (
        list(column) for column in zip(*_played(env, seed), strict=True)
    )
    targets = [info.get("gt", action) for info, action in zip(infos, actions, strict=True)]
    trace = TrialTrace(
        observations=np.stack(observations),
        channels={"observation": slice(0, space.shape[0])},
        periods=[("trial", 0, len(observations))],
        targets=np.stack(targets),
        actions=np.stack(actions).reshape(np.shape(targets)),
        rewards=np.asarray(rewards, float),
        action_names=_names(env.action_space),
        title=task,
        subtitle="steps instead of milliseconds",
    )
    return trial_figure(trace)


def _names(space: Any) -> Sequence[str]:
    return [str(k) for k in range(int(getattr(space, "n", 0)) or int(np.prod(space.shape)))]


def _played(
    env: Any, seed: int | None, before: Callable[[], None] = lambda: None
) -> Iterator[tuple]:
    """Every step of a trial: observation, action, reward, info. `before` is called before each
    action.
    """
    observation, _ = env.reset(seed=seed)
    env.action_space.seed(seed)
    for _ in range(_STEPS):
        before()
        action = _still(env.action_space)
        coming, reward, terminated, truncated, info = env.step(action)
        yield observation, action, reward, info
        if terminated or truncated or info.get("new_trial"):
            return
        observation = coming


def _still(space: Any) -> Any:
    """Doing nothing: action 0, or numbers of 0 where these are allowed; else anything."""
    nothing = np.zeros(space.shape, space.dtype) + getattr(space, "start", 0)
    nothing = nothing.item() if nothing.ndim == 0 else nothing
    return nothing if space.contains(nothing) else space.sample()
