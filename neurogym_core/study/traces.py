"""One trial of any task as a `TrialTrace`: played by a subject, or so far played in an env."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any, Protocol

import numpy as np

from neurogym_core.play.make import make_task
from neurogym_core.play.vector_env import TaskVectorEnv
from neurogym_core.study.figures import TrialTrace, trial_figure
from neurogym_core.tasks.task import Task

_DPI = 100
_SUBTITLE = 100  # characters that fit above the figure


class Buffers(Protocol):
    """What an env keeps of the trial in hand: one entry per step made, and the observation that
    waits for an action.
    """

    @property
    def observations(self) -> Sequence[np.ndarray]: ...

    @property
    def actions(self) -> Sequence[Any]: ...

    @property
    def rewards(self) -> Sequence[float]: ...

    @property
    def targets(self) -> Sequence[Any]: ...

    @property
    def periods(self) -> Sequence[str]: ...

    @property
    def pending(self) -> np.ndarray: ...

    @property
    def conditions(self) -> Mapping[str, Any]: ...


def trace_of(
    task: Any,
    subject: Any = "oracle",
    seed: int | None = 0,
    conditions: Mapping[str, Any] | None = None,
    *,
    wrap: Any = (),
    **params: Any,
) -> TrialTrace:
    """Play one whole trial, and keep what was shown and done on every step.

    Args:
        task, wrap, params: as in `neurogym_core.make_task`.
        subject: as in `neurogym_core.run`: a name, or a callable ``(env, observations) ->
            actions``.
        seed: of the trial, and of a subject given by name.
        conditions: imposed on the trial, e.g. ``{"coherence": 51.2}``.

    Raises:
        UnknownNameError: no such condition, parameter or subject.
        NotSupportedError: the subject cannot play this task.
    """
    made = make_task(task, wrap=wrap, **params)
    env = TaskVectorEnv(made, 1, autoreset_mode="SameStep", seed=seed)
    observations, _ = env.reset(
        seed=seed, options={"conditions": conditions} if conditions else None
    )
    player = _named(subject, seed)
    if hasattr(player, "begin"):
        player.begin(env)
    drawn = {name: values[0] for name, values in env.trial.items()}
    steps: dict[str, list] = {
        name: [] for name in ("observations", "actions", "rewards", "targets", "periods")
    }
    ended = False
    while not ended:
        actions = player(env, observations)
        coming, rewards, _, _, info = env.step(actions)
        step = (observations[0], actions[0], rewards[0], info["gt"][0], info["period"][0])
        for column, value in zip(steps.values(), step, strict=True):
            column.append(value)
        observations, ended = coming, bool(info["new_trial"][0])
    who = subject if isinstance(subject, str) else type(subject).__name__
    played = f"{who}: {info['trial']['outcome'][0]}"
    return _trace(
        made, **steps, subtitle=_fitting("; ".join([played, *filter(None, [describe(drawn)])]))
    )


def picture_of(task: Task, buffers: Buffers) -> np.ndarray:
    """The figure of the trial so far, (height, width, 3) uint8; of the same size for all trials of
    a task.

    Before the first action it shows the observation in hand.

    Raises:
        MissingDependencyError: matplotlib is not installed.
    """
    figure = trial_figure(trace_so_far(task, buffers))
    figure.set_dpi(_DPI)
    # A film needs frames of one size, whatever the labels of this trial take.
    figure.set_size_inches(figure.get_size_inches()[0], _frame_height(task))
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())[:, :, :3].copy()


def describe(conditions: Mapping[str, Any]) -> str:
    """Conditions as a line of text: ``direction 1, coherence 51.2``; several values of one in
    brackets.
    """
    return ", ".join(
        f"{name.replace('_', ' ')} {_written(value)}" for name, value in conditions.items()
    )


def _named(subject: Any, seed: int | None) -> Any:
    if not isinstance(subject, str):
        return subject
    from neurogym_core.subjects import subject_named

    return subject_named(subject, seed=0 if seed is None else seed + 1)


def _trace(
    task: Task, *, periods: Sequence[str], targets: Any, actions: Any, rewards: Any, **rest: Any
) -> TrialTrace:
    return TrialTrace(
        observations=np.stack(rest.pop("observations")),
        channels=dict(task.channels),
        periods=_runs(periods),
        targets=np.stack(targets),
        actions=None if actions is None else np.stack(actions).reshape(np.shape(targets)),
        rewards=None if rewards is None else np.asarray(rewards, float),
        action_names=task.actions.labels(),
        dt=task.dt,
        title=task.name,
        **rest,
    )


def trace_so_far(task: Task, buffers: Buffers) -> TrialTrace:
    """What was seen and done in a trial so far; before the first action, the observation in
    hand.
    """
    if not buffers.observations:
        nothing = np.zeros(task.actions.size, np.float32) if task.actions.continuous else -1
        return _trace(
            task,
            observations=[buffers.pending],
            targets=[nothing],
            actions=None,
            rewards=None,
            periods=(),
        )
    return _trace(
        task,
        observations=buffers.observations,
        targets=buffers.targets,
        actions=buffers.actions,
        rewards=buffers.rewards,
        periods=buffers.periods,
        subtitle=_fitting(describe(buffers.conditions)),
    )


@lru_cache(maxsize=32)
def _frame_height(task: Task) -> float:
    """Inches of the tallest figure that a trial of this task may need: short periods, all actions
    in use.
    """
    names = task.period_names
    steps = max(len(names), 8)
    continuous, n = task.actions.continuous, task.actions.size
    targets = np.zeros((steps, n), np.float32) if continuous else np.arange(steps) % n
    trace = _trace(
        task,
        observations=np.zeros((steps, task.channels.size), np.float32),
        targets=targets,
        actions=targets,
        rewards=np.zeros(steps),
        periods=[names[min(step, len(names) - 1)] for step in range(steps)],
        subtitle="conditions",
    )
    height = trial_figure(trace).get_size_inches()[1]
    return 2 * round(height * _DPI / 2) / _DPI  # an even number of pixels: film formats want it


def _runs(periods: Sequence[str]) -> list[tuple[str, int, int]]:
    """Period names per step as (name, first step, step after the last)."""
    runs, start = [], 0
    for name, steps in groupby(str(period) for period in periods):
        stop = start + len(list(steps))
        runs.append((name, start, stop))
        start = stop
    return runs


def _written(value: Any) -> str:
    array = np.asarray(value)
    if array.ndim:
        return f"({', '.join(_written(item) for item in array.ravel())})"
    return f"{array.item():.4g}" if array.dtype.kind == "f" else str(array.item())


def _fitting(text: str) -> str:
    return text if len(text) <= _SUBTITLE else f"{text[: _SUBTITLE - 1]}…"
