"""The figure of one trial of any task: channels, periods, target and actions, and reward over ms.

    figure = trial_figure(trace_of("control/GoNogo-v0", "random", seed=0))
    save_figure(figure, "trial.png")

`trace_of` plays a trial, and `trial_figure` draws it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from neurogym_core import (
    Angle,
    Axis,
    InvalidValueError,
    NotSupportedError,
    Ring,
    Task,
    TaskVectorEnv,
    Uniform,
)
from neurogym_core.players import Game, TaskView, player_of
from neurogym_core.tools import describe as description_of
from neurogym_plot.canvas import (
    GREEN,
    GREY,
    INK,
    SMALL,
    TEXT,
    VERMILION,
    Box,
    cycle_colour,
    heading,
    key,
    name_row,
    new_figure,
    number,
    pale,
    quarters,
    room_for_ticks,
    rounded,
    spaced_ticks,
    text_width,
    time_axis,
    value_axis,
    write,
)

TRIAL_WIDTH = 7.2
"""Width of the figure of a trial, inches."""

# Private sizes are in inches, unless noted.

_TARGET = "#F0C05A"
# Pale enough for lines to stand out; neighbours differ in lightness, too.
_TINTS = ("#E8F1F8", "#FBF0DC", "#E3F3EC", "#F8E9F1", "#EFEFEF", "#E4F4FB", "#F7F6DC", "#ECE8F6")
_LINES_UP_TO = 3  # units of a channel; a larger one is drawn as an image
_FOOT = 0.55
_LEFT, _RIGHT, _GAP, _ROW = 1.35, 0.85, 0.09, 0.17
_SUBTITLE, _SUBTITLE_LINES = 96, 3  # characters of a line, and lines
_NAMED_ACTIONS = 8  # actions that get a tick each
_LONGEST = 4  # values of a condition that are written out
_WRITTEN = 4  # most values of a condition that a subtitle shows
_UNIT = re.compile(
    r", (%|ms|Hz|degrees|radians|deg/s|rad/s|m/s|cm/s|(?:events|clicks) per second)(?=[.,;]|$)"
)
"""The unit in the description of a parameter: "motion coherences, %."."""


@dataclass(frozen=True, eq=False)
class TrialTrace:
    """The T steps of one trial, for `trial_figure`.

    Attributes:
        observations: (T, n_obs), observations of the subject.
        channels: name -> slice of the observation vector.
        periods: (name, first step, step after the last one); the figure leaves out periods of 0
            steps.
        targets: correct actions, (T,) or (T, k); ints for discrete actions, negative for none.
        actions: actions of the subject, of the same shape; None: only targets are drawn.
        rewards: (T,), reward of each step; None: rewards are not drawn.
        action_names: names of the discrete actions, or of the k axes of continuous ones.
        dt: ms per step.
        unit_names: channel -> names of its units; default: their numbers.
        axes: name -> axis of continuous actions, drawn in separate panels. Targets and actions
            are then in task units, an `Angle` in radians (NaN: no direction).
        title: title of the figure, e.g. the name of the task.
        subtitle: second line, e.g. the conditions of the trial.
        rings: name -> slice of the actions that are directions on a circle, of which the first is
            0 degrees; they are drawn on an axis of angles.
        shown: the steps that are drawn, of a film of the trial; later ones have their place in the
            figure, and it is empty. Default: all.

    Raises:
        InvalidValueError: shapes do not agree, a period or channel is outside of the trial, or an
            observation is NaN.
    """

    observations: np.ndarray
    channels: Mapping[str, slice]
    periods: Sequence[tuple[str, int, int]]
    targets: np.ndarray
    actions: np.ndarray | None = None
    rewards: np.ndarray | None = None
    action_names: Sequence[str] = field(default_factory=tuple)
    dt: float = 1.0
    title: str = ""
    subtitle: str = ""
    unit_names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    axes: Mapping[str, Axis] = field(default_factory=dict)
    rings: Mapping[str, slice] = field(default_factory=dict)
    shown: int | None = None

    def __post_init__(self) -> None:
        for name in ("observations", "targets", "actions", "rewards"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, np.asarray(getattr(self, name)))
        for mistake in _mistakes(self):
            raise InvalidValueError(mistake)

    @property
    def steps(self) -> int:
        """T, the number of steps."""
        return len(self.observations)

    @property
    def discrete(self) -> bool:
        """Whether the actions are choices (ints), not values."""
        return self.targets.ndim == 1 and self.targets.dtype.kind in "biu"


def trial_figure(trace: TrialTrace) -> Any:
    """Return the figure of one trial over time: channels, periods, target and actions, and reward.

    Channels of up to three units are drawn as lines, larger ones as an image with unit 0 at the
    top. The values of step t span the time from t·dt to (t+1)·dt ms.
    """
    height = trial_height(trace)
    figure = new_figure(TRIAL_WIDTH, height)
    draw_trial(Box(figure, 0, 0, TRIAL_WIDTH, height), trace)
    return figure


def trace_of(
    task: Any,
    subject: Any = "oracle",
    seed: int | None = 0,
    conditions: Mapping[str, Any] | None = None,
    *,
    wrap: Any = (),
    **params: Any,
) -> TrialTrace:
    """Play one trial, and return its trace.

    Args:
        task, wrap, params: as in `neurogym_core.make`; values that wrappers of envs append to the
            observations are drawn, too.
        subject: as in `neurogym_core.run`: a name, perhaps with settings, or a callable ``(env,
            observations) -> actions``.
        seed: seed of the trial, and of a subject given by name. A trained subject plays the split
            "test".
        conditions: imposed on the trial, e.g. ``{"coherence": 51.2}``.

    Raises:
        UnknownNameError: there is no such condition, parameter or subject.
        NotSupportedError: the subject cannot play this task.
    """
    steps = steps_played(task, subject, seed, conditions, wrap=wrap, **params)
    step = next(step for step in steps if step.ended)
    conditions = step.steps.conditions
    told = {name: value for name, value in conditions.items() if np.size(value) <= _WRITTEN}
    named = subject[0] if isinstance(subject, tuple) else subject
    who = named if isinstance(named, str) else type(subject).__name__
    # Without this, a reader of the figure of a reaction-time task would wonder about the delay.
    player = player_of(subject)
    late = step.timed and hasattr(player, "wait")
    waits = f", {number(player.wait)} ms after the question" if late else ""
    said = [f"{_in_words(who)}{waits}: {step.outcome}", describe(_named(step.task, told))]
    return replace(step.trace(), subtitle=_fitting("; ".join(filter(None, said))))


@dataclass
class Steps:
    """The steps of a trial so far, the current observation (n_obs,), and the conditions."""

    pending: np.ndarray
    conditions: Mapping[str, Any] = field(default_factory=dict)
    observations: list[np.ndarray] = field(default_factory=list)
    actions: list[Any] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    targets: list[Any] = field(default_factory=list)
    periods: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.pending = np.array(self.pending)

    def add(self, action: Any, reward: float, target: Any, period: str, coming: np.ndarray) -> None:
        """Add a step on the current observation; `coming` is the next one."""
        self.observations.append(self.pending)
        self.actions.append(np.array(action))
        self.rewards.append(float(reward))
        self.targets.append(np.array(target))
        self.periods.append(period)
        self.pending = np.array(coming)


class PlayedStep(NamedTuple):
    """One step of a subject in one env.

    Attributes:
        task: the task.
        channels: name -> slice of the observation, also of values that wrappers of envs append.
        steps: all steps of the trial so far; later steps are added to the same object.
        ended: whether the trial ended with this step.
        outcome: its outcome then; else "".
        timed: whether it has ended, and its record has a reaction time.
    """

    task: Task
    channels: Mapping[str, slice]
    steps: Steps
    ended: bool
    outcome: str
    timed: bool

    def trace(self) -> TrialTrace:
        """Return the trace of the trial so far, see `trace_so_far`."""
        return trace_so_far(self.task, self.steps, self.channels, self.outcome)


def steps_played(
    task: Any,
    subject: Any,
    seed: int | None = 0,
    conditions: Mapping[str, Any] | None = None,
    *,
    wrap: Any = (),
    **params: Any,
) -> Iterator[PlayedStep]:
    """Let a subject play without end, and yield every step; arguments as in `trace_of`."""
    game = Game(
        task, subject, None, num_envs=1, seed=seed, conditions=conditions, wrap=wrap, params=params
    )
    env: TaskVectorEnv = game.env.unwrapped
    channels = _channels(game.task, game.env)
    while True:
        drawn = {name: values[0] for name, values in env.conditions.items()}
        steps = Steps(game.observations[0], drawn)
        ended = False
        while not ended:
            target, period = env.target[0], env.period[0]
            ended = game.step()
            steps.add(game.actions[0], game.rewards[0], target, period, game.observations[0])
            record = game.info["trial"] if ended else {}
            outcome = str(record["outcome"][0]) if ended else ""
            timed = any(name.endswith("reaction_time") for name in record)
            yield PlayedStep(game.task, channels, steps, ended, outcome, timed)


def trace_so_far(
    task: Task, steps: Steps, channels: Mapping[str, slice] | None = None, outcome: str = ""
) -> TrialTrace:
    """Return the trace of a trial so far; before the first action, of the current observation.

    The subtitle, of one line, has the outcome and the conditions.

    Args:
        task: the task.
        steps: the played steps, the current observation, and the conditions.
        channels: name -> slice of the observations; default: those of the task.
        outcome: outcome of a trial that has ended.
    """
    nothing = np.zeros(task.actions.size, np.float32) if task.actions.continuous else -1
    played = bool(steps.observations)
    # All frames of a film have the height of one line.
    said = filter(None, [outcome, describe(_named(task, steps.conditions))])
    return trace_of_parts(
        task,
        observations=steps.observations if played else [steps.pending],
        channels=channels or dict(task.channels),
        targets=steps.targets if played else [nothing],
        actions=steps.actions if played else None,
        rewards=steps.rewards if played else None,
        periods=steps.periods,
        subtitle=_fitting("; ".join(said), lines=1) if played else "",
    )


def _in_words(subject: str) -> str:
    """Return the name of a subject for readers; `late_oracle` is an oracle that waits."""
    name, colon, settings = subject.partition(":")
    if name == "late_oracle":
        return "oracle"
    return f"{name.replace('_', ' ')}{colon}{settings}"


def describe(conditions: Mapping[str, Any]) -> str:
    """Return conditions as text, e.g. ``direction 1, coherence 51.2``; tuples are in brackets."""
    return ", ".join(
        f"{name.replace('_', ' ')} {_written(value)}" for name, value in conditions.items()
    )


def _named(task: Task, conditions: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return conditions with units, and with names in place of the indices that have names."""
    named = {name: _with_unit(task, name, value) for name, value in conditions.items()}
    for name, known in TaskView(task).interface.names.items():
        index = np.asarray(conditions.get(name, -1))
        if not index.ndim and index.dtype.kind in "iu" and 0 <= index < len(known):
            named[name] = known[index]
    return named


def _with_unit(task: Task, name: str, value: Any) -> Any:
    """Return a condition, as text if it is a number whose unit the task says."""
    values = np.asarray(value)
    if values.dtype.kind not in "iuf":
        return value
    for parameter, unit in _units(task).get(name, ()):
        known = np.asarray(getattr(task, parameter, ()))
        fits = known.dtype.kind in "iuf" and known.size and values.min() >= min(known.min(), 0)
        if parameter == name or (fits and values.max() <= known.max()):
            return f"{_written(value)} {unit}"
    return value


@lru_cache(maxsize=32)
def _units(task: Task) -> Mapping[str, Sequence[tuple[str, str]]]:
    """Return units of conditions: of the parameter of the same name, of a time, or of an angle.

    Returns:
        Condition -> (parameter, unit); the parameter has the values that the condition takes, and
        is the condition itself if that is the duration of a period or from the whole circle.
    """
    rows = {one["name"]: one["doc"] for one in description_of(task)["parameters"]}
    found: dict[str, list[tuple[str, str]]] = {}
    for name in task.conditions:
        for parameter in (f"{name}s", f"{name}es"):
            if unit := _UNIT.search(rows.get(parameter, "")):
                found.setdefault(name, []).append((parameter, unit[1]))
        if name in TaskView(task).period_names and _lasts(task, name):
            found.setdefault(name, []).append((name, "ms"))
        drawn = TaskView(task).distributions[name]
        if isinstance(drawn, Uniform) and np.isclose(drawn.high - drawn.low, 2 * np.pi):
            found.setdefault(name, []).append((name, "rad"))
    return found


def _lasts(task: Task, name: str) -> bool:
    """Return whether a condition is the duration of the period of its name.

    The sample of a task may also be an angle, which is shown in the period "sample".
    """
    layout = TaskView(task).example_layout
    given = np.asarray(layout.timeline.given.get(name))
    drawn = np.asarray(layout.conditions[name])
    return (
        given.dtype.kind in "iuf"
        and drawn.dtype.kind in "iuf"
        and np.array_equal(np.broadcast_to(given, drawn.shape[:1]), drawn)
    )


# ---- playing a trial ----


def trace_of_parts(
    task: Task, *, periods: Sequence[str], targets: Any, actions: Any, rewards: Any, **rest: Any
) -> TrialTrace:
    """Return the trace of a task from lists with one entry per step.

    Args:
        task: the task.
        periods, targets, actions, rewards: of each step; actions and rewards may be None.
        rest: `observations`, `channels`, and other attributes of `TrialTrace`.
    """
    declared = task.actions
    targets = np.stack(targets)
    actions = None if actions is None else np.stack(actions).reshape(np.shape(targets))
    if declared.continuous:
        everything = slice(0, declared.size)
        targets, actions = (
            None if values is None else declared.read(declared.to_task_units(values), everything)
            for values in (targets, actions)
        )
    return TrialTrace(
        observations=np.stack(rest.pop("observations")),
        periods=_runs(periods),
        targets=targets,
        actions=actions,
        rewards=None if rewards is None else np.asarray(rewards, float),
        action_names=declared.labels(),
        unit_names={name: task.channels.units(name) for name in task.channels},
        axes=declared.parts if declared.continuous else {},
        dt=task.dt,
        title=task.name,
        rings=_rings(task),
        **rest,
    )


def _channels(task: Task, env: Any) -> dict[str, slice]:
    """Return the channels of the task, and one for each env wrapper that appends values."""
    chain = []
    while env is not env.unwrapped:
        chain.append(env)
        env = env.env
    channels, stop = dict(task.channels), task.channels.size
    for wrapper in reversed(chain):
        shape = wrapper.single_observation_space.shape or ()
        name = type(wrapper).__name__.removeprefix("Vector")
        if len(shape) != 1 or shape[0] < stop:
            raise NotSupportedError(
                f"{name} changes the observations to {shape}. Expected vectors that begin with the"
                " channels of the task. Draw the task without it."
            )
        if shape[0] > stop:
            channels[name], stop = slice(stop, shape[0]), shape[0]
    return channels


def _rings(task: Task) -> dict[str, slice]:
    """Return the groups of more than eight choices on a circle."""
    if task.actions.continuous:
        return {}
    parts = task.actions.parts
    return {
        name: task.actions[name]
        for name, part in parts.items()
        if isinstance(part, Ring) and part.size > _NAMED_ACTIONS
    }


def _runs(periods: Sequence[str]) -> list[tuple[str, int, int]]:
    """Return the periods of steps as (name, first step, step after the last one)."""
    runs, start = [], 0
    for name, steps in groupby(str(period) for period in periods):
        stop = start + len(list(steps))
        runs.append((name, start, stop))
        start = stop
    return runs


def _written(value: Any) -> str:
    array = np.asarray(value)
    if array.size > _LONGEST:
        first = ", ".join(_written(item) for item in array.ravel()[: _LONGEST - 1])
        return f"({first}, … {array.size} values)"
    if array.ndim:
        return f"({', '.join(_written(item) for item in array.ravel())})"
    if array.dtype.kind == "b":
        return "yes" if array.item() else "no"
    return f"{array.item():.4g}" if array.dtype.kind == "f" else str(array.item())


def _fitting(text: str, lines: int = _SUBTITLE_LINES) -> str:
    """Return the text in lines that fit beside each other, broken at spaces."""
    broken = textwrap.wrap(text, _SUBTITLE, max_lines=lines, placeholder=" …")
    return "\n".join(broken)


def _mistakes(trace: TrialTrace) -> Iterator[str]:
    """Yield messages about the parts of a trace that do not fit together."""
    seen, targets, steps = trace.observations, trace.targets, trace.steps
    if seen.ndim != 2 or 0 in seen.shape or seen.dtype.kind not in "biuf":
        yield (
            f"The observations have the shape {seen.shape} and the type {seen.dtype}. Expected"
            " numbers of shape (T, n_obs), neither being 0. Stack the observation vectors of the"
            " steps."
        )
    if not np.isfinite(seen).all():
        yield (
            "Some observations are NaN or infinite. Expected finite numbers. Check `new_trial` of"
            " the task."
        )
    if not (np.isfinite(trace.dt) and trace.dt > 0):
        yield f"dt={trace.dt!r} was given. Expected ms per step, above 0. Give the task's dt."
    n_obs = seen.shape[1]
    for name, part in trace.channels.items():
        if (
            not isinstance(part, slice)
            or not len(range(n_obs)[part]) > 0
            or (part.stop or 0) > n_obs
        ):
            yield (
                f"Channel {name!r} is {part!r} of {n_obs} observed values. Expected a slice with at"
                " least one of them. Use task.channels."
            )
    for name, start, stop in trace.periods:
        if not 0 <= start <= stop <= steps:
            yield (
                f"Period {name!r} lasts from step {start} to {stop} of a trial of {steps} steps."
                f" Expected 0 <= start <= stop <= {steps}. Give the first step, and the step after"
                " the last."
            )
    answers = (steps, *targets.shape[1:2])
    for name, values, shape, expected in (
        ("targets", targets, answers, f"({steps},) or ({steps}, k)"),
        ("actions", trace.actions, answers, f"{answers}"),
        ("rewards", trace.rewards, (steps,), f"({steps},)"),
    ):
        if values is not None and (values.shape != shape or values.dtype.kind not in "biuf"):
            yield (
                f"{name} have the shape {values.shape} and the type {values.dtype}. Expected"
                f" numbers of shape {expected}. Give one entry per step."
            )
    if trace.discrete and trace.action_names:
        highest = max(int(v.max()) for v in (targets, trace.actions) if v is not None)
        if highest >= len(trace.action_names):
            yield (
                f"{len(trace.action_names)} action_names were given, but action {highest} occurs."
                " Expected a name for each action. Give all names, or none."
            )


# ---- layout ----


class _Panel(NamedTuple):
    """One row of the figure of a trial."""

    kind: str  # "lines", "image", "answers", "values", "rewards"
    name: str
    height: float  # inches, including the gap


def _panels(trace: TrialTrace) -> list[_Panel]:
    # Low enough for thirty channels of one unit to fit on a page.
    line_height = 0.62 if len(trace.channels) <= 10 else 0.34
    panels = []
    for name, part in trace.channels.items():
        units = len(range(*part.indices(trace.observations.shape[1])))
        if units <= _LINES_UP_TO:
            panels.append(_Panel("lines", name, line_height + 0.12 * (units - 1)))
        else:
            panels.append(_Panel("image", name, float(np.clip(0.55 + 0.03 * units, 0.7, 1.7))))
    if trace.axes:
        panels += [_Panel("values", name, 0.8) for name in trace.axes]
    else:
        height = float(np.clip(0.35 + 0.16 * len(_shown_actions(trace)), 0.75, 1.7))
        panels.append(_Panel("answers", "action", height if trace.discrete else 1.0))
    if trace.rewards is not None:
        panels.append(_Panel("rewards", "reward", 0.55))
    return panels


def _head_height(trace: TrialTrace) -> float:
    lines = trace.subtitle.count("\n") + 1 if trace.subtitle else 0
    return 0.15 + 0.24 * bool(trace.title) + 0.22 * bool(lines) + 0.15 * max(lines - 1, 0)


def trial_height(trace: TrialTrace) -> float:
    """Return the height in inches that `draw_trial` needs at a width of `TRIAL_WIDTH`."""
    panels = sum(panel.height for panel in _panels(trace))
    return panels + _head_height(trace) + _FOOT + _strip_height(trace, TRIAL_WIDTH)


def draw_trial(box: Box, trace: TrialTrace) -> None:
    """Draw a trial into a box at least as high as `trial_height`; panels share the extra height."""
    panels, strip = _panels(trace), _strip_height(trace, box.width)
    width, top = box.width - _LEFT - _RIGHT, box.height - _head_height(trace)
    stretch = (top - strip - _FOOT) / sum(panel.height for panel in panels)
    drawn = []
    _draw_strip(box.axes(_LEFT, top - strip, width, strip), trace, width)
    top -= strip
    for panel in panels:
        height = panel.height * stretch
        axes = box.axes(_LEFT, top - height + _GAP, width, height - _GAP)
        _PAINTERS[panel.kind](axes, trace, panel.name)
        twice = panel.kind == "values" and panel.name in trace.channels
        name_row(axes, f"{panel.name} (action)" if twice else panel.name, _LEFT)
        drawn.append(axes)
        top -= height
    for axes, panel in zip(drawn, panels, strict=True):
        _shade_periods(axes, trace, tint=panel.kind != "image")
        _cover_later(axes, trace, tint=panel.kind != "image")
        label = "time in the trial (ms)" if axes is drawn[-1] else ""
        time_axis(axes, 0, trace.steps * trace.dt, label)
    size = box.figure.get_size_inches()
    left, upper = (box.left + _LEFT) / size[0], (box.bottom + box.height - 0.12) / size[1]
    heading(box.figure, trace.title, left, upper)
    lower = upper - (0.24 if trace.title else 0) / size[1]
    box.figure.text(left, lower, trace.subtitle, fontsize=TEXT, color=GREY, va="top")


# ---- periods ----


_MOST_FLAGS = 8  # rows of names above the strip


class _Label(NamedTuple):
    """The name of a period in the strip: the period, the extent of the text (ms), and the row.

    Row 0 is in the strip, higher ones are above it.
    """

    name: str
    start: float
    stop: float
    left: float
    right: float
    row: int


def _played(trace: TrialTrace) -> list[tuple[str, float, float]]:
    return [
        (name, start * trace.dt, stop * trace.dt)
        for name, start, stop in trace.periods
        if stop > start
    ]


def _tints(trace: TrialTrace) -> dict[str, str]:
    names = dict.fromkeys(name for name, _, _ in _played(trace))
    return {name: _TINTS[i % len(_TINTS)] for i, name in enumerate(names)}


def _strip_height(trace: TrialTrace, box_width: float) -> float:
    labels = _labels(trace, box_width - _LEFT - _RIGHT)
    return _ROW * (1 + max((label.row for label in labels), default=0)) + 0.06


def _labels(trace: TrialTrace, width: float) -> list[_Label]:
    """Place the names of the periods without overlaps: in the period if it is wide enough, else
    above it, like a flag at the top of a pole.

    A flag extends to the right of its pole, above all flags that it would overlap; so the poles of
    later periods end below it. If that takes more than `_MOST_FLAGS` rows, only the first period of
    each name has one; the others have its tint."""
    played = _played(trace)
    labels = _flags(trace, width, played)
    if max((label.row for label in labels), default=0) <= _MOST_FLAGS:
        return labels
    first = {name: (name, start, stop) for name, start, stop in reversed(played)}
    return _flags(trace, width, sorted(first.values(), key=lambda period: period[1]))


def _flags(
    trace: TrialTrace, width: float, periods: list[tuple[str, float, float]]
) -> list[_Label]:
    per_inch = trace.steps * trace.dt / width
    labels: list[_Label] = []
    for name, start, stop in reversed(periods):
        length, middle = (text_width(name) + 0.08) * per_inch, (start + stop) / 2
        if length <= stop - start:
            labels.append(_Label(name, start, stop, middle - length / 2, middle + length / 2, 0))
            continue
        left = min(middle, (width + _RIGHT) * per_inch - length)
        under = [label.row for label in labels if label.row and label.left < left + length]
        labels.append(_Label(name, start, stop, left, left + length, 1 + max(under, default=0)))
    return labels


def _draw_strip(axes: Any, trace: TrialTrace, width: float) -> None:
    """Draw the names of the periods above the panels."""
    labels, tints = _labels(trace, width), _tints(trace)
    axes.set_axis_off()
    axes.set_xlim(0, trace.steps * trace.dt)
    axes.set_ylim(-0.05, 1 + max((label.row for label in labels), default=0))
    for name, start, stop in _played(trace):
        red, green, blue = (int(int(tints[name][i : i + 2], 16) * 0.9) for i in (1, 3, 5))
        darker = f"#{red:02x}{green:02x}{blue:02x}"
        axes.fill_between([start, stop], -0.05, 0.9, color=darker, lw=0)
    for label in labels:
        if label.row:
            axes.plot(
                [(label.start + label.stop) / 2] * 2, [0.45, label.row + 0.8], color=GREY, lw=0.6
            )
        write(axes, (label.left + label.right) / 2, label.row + 0.43, label.name, ha="center")


def _shade_periods(axes: Any, trace: TrialTrace, *, tint: bool) -> None:
    tints = _tints(trace)
    for name, start, stop in _played(trace):
        if tint:
            axes.axvspan(start, stop, color=tints[name], lw=0, zorder=0)
        if start > 0:
            colour, width, layer = ("white", 1, 1) if tint else (GREY, 0.6, 3)
            axes.axvline(start, color=colour, lw=width, zorder=layer)


def _cover_later(axes: Any, trace: TrialTrace, *, tint: bool) -> None:
    """Cover the steps that are not shown, and draw a line where they begin."""
    if trace.shown is None or trace.shown >= trace.steps:
        return
    now, tints = trace.shown * trace.dt, _tints(trace)
    for name, start, stop in _played(trace):
        if stop > now:
            colour = tints[name] if tint else "white"
            axes.axvspan(max(start, now), stop, color=colour, lw=0, zorder=4)
    axes.axvline(now, color=INK, lw=1, zorder=5)


# ---- panels ----


def _steps_line(axes: Any, trace: TrialTrace, values: np.ndarray, **style: Any) -> None:
    """Draw one value per step as a staircase; NaN leaves a gap."""
    if "capstyle" in style:
        style["solid_capstyle"] = style.pop("capstyle")
    edges = np.arange(trace.steps + 1) * trace.dt
    axes.step(edges, np.append(values, values[-1]), where="post", **style)


def _paint_lines(axes: Any, trace: TrialTrace, name: str) -> None:
    values = trace.observations[:, trace.channels[name]]
    for unit, column in enumerate(values.T):
        # Earlier units are broader, so that a later one of equal values does not hide them.
        width = 1.2 + 1.1 * (values.shape[1] - 1 - unit)
        _steps_line(axes, trace, column, color=cycle_colour(unit), lw=width, zorder=2)
    if values.shape[1] > 1:
        names = trace.unit_names.get(name) or map(str, range(values.shape[1]))
        key(axes, [(unit, cycle_colour(k), 1.5) for k, unit in enumerate(names)])
    low, high = min(0.0, float(values.min())), max(float(values.max()), 0.0)
    value_axis(axes, low, high)


def _paint_image(axes: Any, trace: TrialTrace, name: str) -> None:
    values = trace.observations[:, trace.channels[name]].astype(float)
    # Channels of equally many units have one colour scale, so that they can be compared.
    alike = [
        shown
        for part in trace.channels.values()
        if (shown := trace.observations[:, part]).shape[1] == values.shape[1]
    ]
    limit = max(float(np.abs(shown).max()) for shown in alike) or 1.0
    signed = min(shown.min() for shown in alike) < -0.02 * limit
    image = axes.imshow(
        values.T,
        aspect="auto",
        interpolation="nearest",
        zorder=2,
        cmap="PuOr_r" if signed else "Blues",
        vmin=-limit if signed else 0.0,
        vmax=limit,
        extent=(0, trace.steps * trace.dt, values.shape[1] - 0.5, -0.5),
    )
    names = list(trace.unit_names.get(name, ()))
    if names == list(map(str, range(len(names)))):
        axes.set_yticks([0, values.shape[1] - 1])
    elif units := quarters(names):
        axes.set_yticks(units, [names[i] for i in units])
    else:
        # The unit that is active most is named in any case.
        most = int(values.mean(axis=0).argmax())
        room = room_for_ticks(name, _LEFT)
        spaced_ticks(axes, list(range(len(names))), names, len(names) - 1, sure=most, room=room)
    bar = axes.inset_axes((1.015, 0.08, 0.014, 0.84))
    axes.figure.colorbar(
        image,
        cax=bar,
        ticks=[-rounded(limit), 0, rounded(limit)] if signed else [0, rounded(limit)],
    )
    bar.tick_params(labelsize=SMALL - 1, colors=INK, length=2, pad=1.5)
    bar.yaxis.set_major_formatter(lambda value, _: number(value, 3))
    bar.spines["outline"].set_linewidth(0.4)


def _shown_actions(trace: TrialTrace) -> list[int]:
    """Return the actions with a tick: all of up to eight, else the eight most frequent.

    Of a ring, every eighth of a turn counts.
    """
    seen = np.concatenate(
        [values for values in (trace.targets, trace.actions) if values is not None]
    )
    numbers, counts = np.unique(seen[seen >= 0], return_counts=True)
    n_actions = max(len(trace.action_names), int(numbers.max(initial=0)) + 1)
    if n_actions <= _NAMED_ACTIONS:
        return list(range(n_actions))
    if trace.rings:
        scale = _ChoiceScale(trace)
        return [i for i in range(n_actions) if (scale.angle(i) or 0) % 45 == 0]
    return sorted(numbers[np.argsort(-counts, kind="stable")[:_NAMED_ACTIONS]].tolist())


def _paint_answers(axes: Any, trace: TrialTrace, _: str) -> None:
    if trace.discrete:
        _paint_choices(axes, trace)
        return
    finite = [v[np.isfinite(v)] for v in (trace.targets, trace.actions) if v is not None]
    _paint_values(axes, trace, slice(None), list(trace.action_names))
    low, high = (float(limit(np.append(np.concatenate(finite), 0.0))) for limit in (np.min, np.max))
    value_axis(axes, low, high)


def _paint_axis(axes: Any, trace: TrialTrace, name: str) -> None:
    """Draw one axis of continuous actions from its lowest to its highest value, in task units."""
    axis, start = trace.axes[name], 0
    for other in trace.axes:
        if other == name:
            break
        start += _width(trace.axes[other])
    if axis.trigger is not None:
        axes.axhline(axis.trigger, color=GREY, lw=0.8, ls=(0, (3, 2)), zorder=2)
    width = _width(axis)
    names = [str(k) for k in range(width)] if width > 1 else []
    _paint_values(axes, trace, slice(start, start + width), names, circular=isinstance(axis, Angle))
    if isinstance(axis, Angle):
        axes.set_ylim(-1.12 * np.pi, 1.12 * np.pi)
        axes.set_yticks([-np.pi, 0, np.pi], ["\N{MINUS SIGN}π", "0", "π"])
        return
    value_axis(axes, axis.low, axis.high)
    if axis.low > 0 or axis.high < 0:
        axes.set_yticks([axis.low, axis.high], [number(axis.low), number(axis.high)])


def _width(axis: Axis) -> int:
    """The number of columns of an axis in a trace."""
    return 1 if isinstance(axis, Angle) else axis.size


def _paint_choices(axes: Any, trace: TrialTrace) -> None:
    """Draw the target as a broad pale band, and the subject's action as a thin dark line on it."""
    scale = _ChoiceScale(trace)
    band = {"color": _TARGET, "lw": 6, "solid_capstyle": "butt", "zorder": 2}
    _steps_line(axes, trace, scale(trace.targets), **band)
    if trace.actions is not None:
        _steps_line(axes, trace, scale(trace.actions), color=INK, lw=1.5, zorder=3)
    shown = [i for i in _shown_actions(trace) if scale.angle(i) is None]
    names = [str(trace.action_names[i]) if trace.action_names else str(i) for i in shown]
    ticks = sorted([*zip(map(scale.place, shown), names, strict=True), *scale.angles])
    places, labels = [place for place, _ in ticks], [label for _, label in ticks]
    highest = max([*places, scale.place(len(trace.action_names) - 1), 1])
    axes.set_ylim(highest + 0.5 + 0.02 * highest, -0.5 - 0.02 * highest)
    spaced_ticks(axes, places, labels, highest, room=room_for_ticks("action", _LEFT))
    entries = _answer_key(trace, _TARGET, INK)
    if (wanted := scale.angle(int(trace.targets.max()))) is not None:
        entries.insert(1, (f"at {wanted:.0f}°", "none", 0.0))
    key(axes, entries)


class _ChoiceScale:
    """Places of choices on the axis: their numbers, with a gap before each ring.

    Attributes:
        angles: place and label of four directions of each ring.
    """

    def __init__(self, trace: TrialTrace) -> None:
        self.rings = sorted(trace.rings.values(), key=lambda ring: ring.start)
        self.angles = [
            (self.place(ring.start) + quarter / 4 * (ring.stop - ring.start), f"{90 * quarter}°")
            for ring in self.rings
            for quarter in range(4)
        ]

    def place(self, action: int) -> int:
        """Return the place of an action."""
        gaps = [(ring.stop - ring.start) // 8 for ring in self.rings if action >= ring.start]
        return action + sum(gaps)

    def angle(self, action: int) -> float | None:
        """Return the direction of an action in degrees; None if it is not on a ring."""
        for ring in self.rings:
            if ring.start <= action < ring.stop:
                return 360 * (action - ring.start) / (ring.stop - ring.start)
        return None

    def __call__(self, actions: np.ndarray) -> np.ndarray:
        """Return the places of actions (T,); NaN for none."""
        places = [self.place(action) if action >= 0 else np.nan for action in actions]
        return np.array(places, float)


def _paint_values(
    axes: Any, trace: TrialTrace, part: slice, names: Sequence[str], *, circular: bool = False
) -> None:
    """Draw some columns of continuous actions: targets as pale bands, the subject as lines."""
    targets = trace.targets.reshape(trace.steps, -1).astype(float)[:, part]
    actions = (
        None
        if trace.actions is None
        else trace.actions.reshape(trace.steps, -1).astype(float)[:, part]
    )
    # Steps of an angle are not connected, because lines would cross the whole panel at the seam.
    draw = _level_lines if circular else _steps_line
    several = targets.shape[1] > 1
    for k in range(targets.shape[1]):
        band, line = (pale(cycle_colour(k)), cycle_colour(k)) if several else (_TARGET, INK)
        draw(axes, trace, targets[:, k], color=band, lw=5, capstyle="butt", zorder=2)
        if actions is not None:
            draw(axes, trace, actions[:, k], color=line, lw=1.3, zorder=3)
    labels = list(names) or [str(k) for k in range(targets.shape[1])]
    entries = [(name, cycle_colour(k), 1.5) for k, name in enumerate(labels)] if several else []
    key(axes, _answer_key(trace, "#BBBBBB" if several else _TARGET, INK) + entries)


def _level_lines(axes: Any, trace: TrialTrace, values: np.ndarray, **style: Any) -> None:
    """Draw one value per step as a level line; NaN leaves a gap."""
    start = np.arange(trace.steps) * trace.dt
    axes.hlines(values, start, start + trace.dt, **style)


def _answer_key(trace: TrialTrace, band: str, line: str) -> list[tuple[str, str, float]]:
    return [("target", band, 6.0)] + ([("subject", line, 1.5)] if trace.actions is not None else [])


def _paint_rewards(axes: Any, trace: TrialTrace, _: str) -> None:
    assert trace.rewards is not None
    rewards = trace.rewards.astype(float)
    colours = np.where(rewards >= 0, GREEN, VERMILION)
    # In a long trial a bar of one step would be too thin to see: draw at least 1/150 of the trial.
    width = max(trace.dt, trace.steps * trace.dt / 150)
    left = np.minimum(np.arange(trace.steps) * trace.dt, trace.steps * trace.dt - width)
    paid = rewards != 0
    axes.bar(left[paid], rewards[paid], width, align="edge", color=colours[paid], zorder=3)
    axes.axhline(0, color=GREY, lw=0.6, zorder=2)
    low, high = min(0.0, float(rewards.min())), max(0.0, float(rewards.max()))
    value_axis(axes, low, high)
    total = rewards[: trace.shown].sum()
    write(axes, 1.012, 0.5, f"sum {number(total)}", transform=axes.transAxes)


_PAINTERS = {
    "lines": _paint_lines,
    "image": _paint_image,
    "answers": _paint_answers,
    "values": _paint_axis,
    "rewards": _paint_rewards,
}
