"""Named channels and actions, and `Interface`: the part of a task that its trials depend on."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from neurogym_core.errors import InvalidValueError, TaskDefinitionError, unknown
from neurogym_core.trials.arrays import Array, Floats, Ints, Singles
from neurogym_core.trials.encoders import Encoder, Ring, Scalar, circular_distance
from neurogym_core.trials.slot_columns import NO_CHOICE

MIDDLE = 1e-6
"""Distance from (0, 0) up to which a point has no direction."""
ROUNDING = 1e-6
"""Added to the tolerance of an axis, since actions are float32."""


@dataclass(frozen=True)
class Axis:
    """One named dimension of a continuous action.

    The subject's action is in [-1, 1], which is scaled to [low, high] in the task's units.

    Args:
        low: task units at -1.
        high: task units at 1.
        rest: value of not acting, in task units.
        trigger: threshold in task units; a value above it is an action (an answer, or a break of
            fixation). None: the axis never triggers.
        size: number of dimensions that share this declaration.
        tolerance: scores a trace: the largest error, in task units, of a step on target. The
            performance of a trial is the share of its steps, by `loss_weight`, and of its axes that
            are on target; the reward of a step is its part of `correct`. All axes of a task have a
            tolerance, or none, and no trigger. None: the axis is scored by `answer` alone.

    Raises:
        InvalidValueError: bounds that are not finite and ascending, a rest outside of them, or a
            tolerance that is not positive.

    Example:
        >>> from neurogym_core import Axis
        >>> Axis(-10, 10, trigger=5).to_plain()
        {'axis': [-10, 10], 'rest': 0.0, 'trigger': 5, 'size': 1}
    """

    low: float = -1.0
    high: float = 1.0
    rest: float = 0.0
    trigger: float | None = None
    size: int = 1
    tolerance: float | None = None

    def __post_init__(self) -> None:
        if self.tolerance is not None and not self.tolerance > 0:
            raise InvalidValueError(
                f"Axis() was given tolerance={self.tolerance!r}; give a positive number, or None."
            )
        if not (np.isfinite([self.low, self.high]).all() and self.low < self.high):
            raise InvalidValueError(
                f"Axis() was given low={self.low!r}, high={self.high!r}; low must be below high,"
                " both finite."
            )
        if not self.low <= self.rest <= self.high:
            raise InvalidValueError(
                f"Axis() was given rest={self.rest!r}; it must lie between {self.low!r} and"
                f" {self.high!r}."
            )

    def to_plain(self) -> dict[str, Any]:
        """Return the declaration as a dict for JSON."""
        bounds = [self.low, self.high]
        plain = {"axis": bounds, "rest": self.rest, "trigger": self.trigger, "size": self.size}
        return plain | self._plain_tolerance()

    def _plain_tolerance(self) -> dict[str, Any]:
        return {} if self.tolerance is None else {"tolerance": self.tolerance}


@dataclass(frozen=True, init=False)
class Angle(Axis):
    """An angle as a continuous action: the direction of a point (cos, sin).

    The subject's action is a point of two numbers in [-1, 1], so that neighbouring angles have
    neighbouring actions all around the circle; only its direction counts. Targets, errors,
    tolerances and the record are in radians, on the circle: the error is at most pi. The middle,
    (0, 0), is the value of not acting; it has no direction, and its error is pi.

    Args:
        tolerance: scores a trace, as that of an `Axis`; radians.

    Example:
        >>> import numpy as np
        >>> from neurogym_core import Angle, Axis, Task, Uniform, run
        >>> class Point(Task):
        ...     timing = {"light": 300, "decision": 300}
        ...
        ...     def define(self):
        ...         self.observe(light=2)
        ...         self.act(go=Axis(-1, 1, rest=-1, trigger=0), report=Angle())
        ...         self.vary(at=Uniform(-np.pi, np.pi))
        ...
        ...     def new_trial(self, trial):
        ...         trial.periods("light", "decision")
        ...         light = np.stack([np.cos(trial["at"]), np.sin(trial["at"])], axis=1)
        ...         trial.show("light", light, during="light")
        ...         trial.answer("report", trial["at"], during="decision", tolerance=0.1)
        >>> record = run(Point, "oracle", 20, seed=0)
        >>> bool(np.allclose(record["choice"], record["at"], atol=1e-6))
        True
    """

    def __init__(self, tolerance: float | None = None) -> None:
        super().__init__(size=2, tolerance=tolerance)

    def to_plain(self) -> dict[str, Any]:
        """Return the declaration as a dict for JSON."""
        plain = {"axis": [-math.pi, math.pi], "size": 2, "circular": True}
        return plain | self._plain_tolerance()

    @staticmethod
    def points(radians: Any) -> Floats:
        """Return the points (cos, sin) of angles, (…, 2).

        Args:
            radians: (…) numbers.
        """
        return np.stack([np.cos(radians), np.sin(radians)], axis=-1)

    @staticmethod
    def of(points: Array) -> Floats:
        """Return the angles of points in radians, (…), in (-pi, pi]; NaN for the middle.

        Args:
            points: (…, 2).
        """
        radians = np.arctan2(points[..., 1], points[..., 0])
        return np.where(np.hypot(points[..., 0], points[..., 1]) > MIDDLE, radians, np.nan)


class _Named(Mapping[str, slice]):
    """An ordered mapping of names to the slices of a vector."""

    kind: str

    def __init__(self, parts: Mapping[str, Any], owner: str) -> None:
        self._owner = owner
        self.parts = dict(parts)
        self._slices: dict[str, slice] = {}
        start = 0
        for name, part in self.parts.items():
            self._slices[name] = slice(start, start + part.size)
            start += part.size
        self.size = start

    def __getitem__(self, name: str) -> slice:
        try:
            return self._slices[name]
        except KeyError:
            raise unknown(self.kind, name, self._slices, of=self._owner) from None

    def __contains__(self, name: object) -> bool:
        return name in self._slices

    def get(self, name: str, default: Any = None) -> Any:
        return self._slices.get(name, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self._slices)

    def __len__(self) -> int:
        return len(self._slices)

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}={part!r}" for name, part in self.parts.items())
        return f"{type(self).__name__}({parts})"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and list(self.parts.items()) == list(other.parts.items())

    __hash__ = None  # type: ignore[assignment]

    def width(self, name: str) -> int:
        """Return the number of units of a part.

        Args:
            name: the channel, or group of actions.
        """
        self[name]
        size: int = self.parts[name].size
        return size

    def units(self, name: str) -> tuple[str, ...]:
        """Return the names of the units of a part.

        They are those declared, the preferred angles of a `Ring`, or "0", "1" and so on.

        Args:
            name: the channel, or group of actions.
        """
        self[name]
        part = self.parts[name]
        return getattr(part, "unit_names", ()) or tuple(map(str, range(part.size)))

    def labels(self) -> list[str]:
        """Return a label per unit: its name, that of the part, or both if others use it."""
        names = [
            getattr(part, "names", ()) or ((name,) if part.size == 1 else ())
            for name, part in self.parts.items()
        ]
        times = Counter(unit for units in names for unit in units)
        return [
            unit if units and times[unit] == 1 else f"{name} {unit}"
            for name, units in zip(self.parts, names, strict=True)
            for unit in units or self.units(name)
        ]


class Channels(_Named):
    """The observation vector: ``channels["stimulus"]`` is a slice, ``channels.size`` its length."""

    kind = "channel"

    @classmethod
    def declare(cls, declared: Mapping[str, Any], owner: str) -> Channels:
        return cls({name: _encoder(name, part, owner) for name, part in declared.items()}, owner)

    def encoder(self, name: str) -> Any:
        """Return the encoder of a channel, an `Encoder`; type checkers do not know its class."""
        self[name]
        return self.parts[name]


class Actions(_Named):
    """The actions: ``actions["choose"]`` is a slice of the action ids (or of the continuous action
    vector).

    Attributes:
        size: number of discrete actions, or of continuous dimensions.
        continuous: whether actions are vectors in [-1, 1].
        traced: whether every step is scored, by the tolerance of each `Axis`.
        rest: id of the rest action; None if there is none, 0 for continuous actions.
    """

    kind = "action"

    def __init__(self, parts: Mapping[str, Any], owner: str) -> None:
        super().__init__(parts, owner)
        axes = [isinstance(part, Axis) for part in self.parts.values()]
        if any(axes) and not all(axes):
            raise TaskDefinitionError(
                f"{owner} mixes Axis and discrete actions in act(); use one type for all of them."
            )
        self.continuous = bool(axes) and axes[0]
        first = next(iter(self.parts.values()))
        if self.continuous:
            self.rest: int | None = 0
            self.low = self._per_dimension("low")
            self.high = self._per_dimension("high")
            self.rest_value = self._per_dimension("rest")
            self.trigger = self._trigger()
            self.traced = self._traced()
        else:
            self.traced = False
            self.rest = 0 if first.size == 1 else None
        self.rest_name = (
            next(iter(self.parts)) if self.rest is not None and not self.continuous else None
        )

    @classmethod
    def declare(cls, declared: Mapping[str, Any], owner: str) -> Actions:
        """Return the actions that a task declares.

        Args:
            declared: name -> encoder, `Axis`, number or names of choices, as in `Task.act`.
            owner: name of the task, for messages.
        """
        parts = {
            name: part if isinstance(part, Axis) else _encoder(name, part, owner)
            for name, part in declared.items()
        }
        for name, part in parts.items():
            if NO_CHOICE in getattr(part, "names", ()):
                raise TaskDefinitionError(
                    f"{owner} names a choice of {name} {NO_CHOICE!r}, which stands for no answer in"
                    " records. Give the choice another name."
                )
        return cls(parts, owner)

    def unit_targets(self) -> Singles:
        """Return the targets of actions, (actions, units) float32: bumps of rings, or one-hot."""
        table = np.eye(self.size, dtype=np.float32)
        for name, encoder in self.parts.items():
            if isinstance(encoder, Ring):
                table[self[name], self[name]] = encoder.encode(np.arange(encoder.size))
        return table

    def decode_units(self, outputs: Array) -> Ints:
        """Return the action ids of unit outputs: rest above 0.5, else direction or unit.

        A single ring of actions is read by its population vector, other actions by their largest
        output.

        Args:
            outputs: (..., units).
        """
        groups = [name for name in self if name != self.rest_name]
        first = 0 if self.rest is None else 1
        only = self.parts[groups[0]] if len(groups) == 1 else None
        if isinstance(only, Ring):
            chosen = first + only.nearest(only.population_vector(outputs[..., first:]))
        else:
            chosen = first + outputs[..., first:].argmax(axis=-1)
        if self.rest is None:
            return chosen
        return np.where(outputs[..., self.rest] > 0.5, self.rest, chosen)

    def choices(self, units: slice) -> tuple[str, ...]:
        """Return the names of the choices of a slot, in the order of their indices; () for none.

        A group of one action is its only choice. Actions of later groups that join the slot (a sure
        bet beside two targets) are counted on from those of the group.

        Args:
            units: from the first to the last action of the slot's groups.
        """
        own = next(name for name, part in self.items() if part.start == units.start)
        names = self.parts[own].names or ((own,) if self.parts[own].size == 1 else ())
        return (*names, *self.labels()[self[own].stop : units.stop]) if names else ()

    def indices(self, group: str, names: Any) -> Ints:
        """Return the indices of choices of a group that are given by name.

        Args:
            group: the group.
            names: str, one or (n,).

        Raises:
            UnknownNameError: the group has no such choice.
        """
        known, given = self.units(group), np.asarray(names)
        # One comparison per name: `np.unique` on arrays of strings takes many times as long.
        found = np.full(given.shape, -1, np.int64)
        for index, name in enumerate(known):
            found[given == name] = index
        if (found < 0).any():
            name = str(given[found < 0].flat[0])
            raise unknown("choice", name, known, of=f"{group!r} in {self._owner}")
        return found

    def _per_dimension(self, field: str) -> Floats:
        return np.concatenate(
            [np.full(axis.size, getattr(axis, field), np.float64) for axis in self.parts.values()]
        )

    def _trigger(self) -> tuple[int, float] | None:
        """Index and threshold of the dimension that triggers, or None."""
        triggers = [
            (self[name].start, axis.trigger)
            for name, axis in self.parts.items()
            if axis.trigger is not None
        ]
        if len(triggers) > 1:
            raise TaskDefinitionError(
                f"{self._owner} declares {len(triggers)} axes with a trigger in act(); at most one"
                " is allowed. Keep trigger= on one of them."
            )
        return triggers[0] if triggers else None

    def _traced(self) -> bool:
        given = [axis.tolerance is not None for axis in self.parts.values()]
        if any(given) and (not all(given) or self.trigger is not None):
            raise TaskDefinitionError(
                f"{self._owner} declares a tolerance in act() beside an axis without one, or with a"
                " trigger. Expected a tolerance of every axis, and no trigger. Score the other axes"
                " by trial.answer(…), without a tolerance in act()."
            )
        return any(given)

    def tolerances(self) -> Floats:
        """Return the largest error of every axis that is on target, (axes,); for traces."""
        each = [
            np.full(1 if isinstance(axis, Angle) else axis.size, axis.tolerance, np.float64)
            for axis in self.parts.values()
        ]
        return np.concatenate(each) + ROUNDING

    @property
    def n_table(self) -> int:
        """Number of columns of the payoff tables: the action ids, or resting and acting."""
        if not self.continuous:
            return self.size
        return 1 if self.trigger is None else 2

    def to_task_units(self, action: Any) -> Floats:
        """Scale actions in [-1, 1] to the units of each Axis."""
        return self.low + (np.asarray(action, dtype=np.float64) + 1) * (
            0.5 * (self.high - self.low)
        )

    def read(self, values: Array, part: slice) -> Floats:
        """Return the values of some axes, (…, axes); an `Angle` is one value, NaN in the middle.

        Args:
            values: (…, D), actions in task units.
            part: the dimensions of these axes.
        """
        columns = [
            axis.of(values[..., own])[..., None] if isinstance(axis, Angle) else values[..., own]
            for own, axis in self._axes(part)
        ]
        return np.concatenate(columns, axis=-1)

    def errors(self, values: Array, targets: Array, part: slice) -> Floats:
        """Return the errors of some axes, (…, axes): differences; of an `Angle`, 0 to pi.

        Args:
            values, targets: (…, D), actions in task units.
            part: the dimensions of these axes.
        """
        columns = []
        for own, axis in self._axes(part):
            if isinstance(axis, Angle):
                away = circular_distance(axis.of(values[..., own]), axis.of(targets[..., own]))
                columns.append(np.where(np.isnan(away), np.pi, away)[..., None])
            else:
                columns.append(values[..., own] - targets[..., own])
        return np.concatenate(columns, axis=-1)

    def ranges(self) -> Floats:
        """Return the largest error of every axis, (axes,): its range; of an `Angle`, pi."""
        return np.concatenate(
            [
                [np.pi] if isinstance(axis, Angle) else np.full(axis.size, axis.high - axis.low)
                for axis in self.parts.values()
            ]
        )

    def _axes(self, part: slice) -> list[tuple[slice, Axis]]:
        return [
            (own, self.parts[name])
            for name, own in self._slices.items()
            if part.start <= own.start and own.stop <= part.stop
        ]

    def from_task_units(self, value: Any) -> Singles:
        """Scale values in task units to actions, clipped to [-1, 1], float32.

        Args:
            value: (…, size).
        """
        scaled = 2 * (np.asarray(value, dtype=np.float64) - self.low) / (self.high - self.low) - 1
        return np.clip(scaled, -1, 1).astype(np.float32)


@dataclass(frozen=True, eq=False)
class Interface:
    """The part of a task that building, judging and playing its trials depends on.

    Attributes:
        name: name of the task, for messages.
        dt: ms per step.
        channels: the observation vector.
        actions: the actions.
        rewards: reward by name; always includes "abort", "correct", "error" and "miss".
        abort_ends_trial: whether acting while holding ends the trial.
        limits: ms after which a trial is over, None: ten times its drawn length. A mixture of tasks
            has those of all of them; the latest applies.
        hooks: the step hooks of the task, of "step_action", "step_observation" and "step_target".
        trial_state: initial values of the arrays of the hooks, by name.
        names: condition -> the names of its values, for conditions that are indices.
    """

    name: str
    dt: float
    channels: Channels
    actions: Actions
    rewards: Mapping[str, float]
    abort_ends_trial: bool = False
    limits: tuple[float | None, ...] = (None,)
    hooks: frozenset[str] = field(default=frozenset())
    trial_state: Mapping[str, Any] = field(default_factory=dict)
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def max_steps_of(self, steps: Array) -> Ints:
        """Return the limits, in steps, of trials that were drawn to last `steps`; same shape."""
        steps = np.asarray(steps)
        each = [
            10 * steps if limit is None else steps * 0 + max(int(limit / self.dt + 0.5), 1)
            for limit in self.limits
        ]
        return np.asarray(np.max(each, axis=0), dtype=np.int64)


def _encoder(name: str, part: Any, owner: str) -> Encoder:
    if isinstance(part, Encoder):
        return part
    if isinstance(part, tuple | list):
        try:
            return Scalar(part) if len(part) == 1 else Encoder(part)
        except InvalidValueError as error:
            raise TaskDefinitionError(f"{owner} declares {name}={part!r}. {error}") from None
    if isinstance(part, int | np.integer) and not isinstance(part, bool) and part >= 1:
        return Scalar() if part == 1 else Encoder(int(part))
    raise TaskDefinitionError(
        f"{owner} declares {name}={part!r}; give the number of units (at least 1), their names, an"
        " encoder such as Ring(2), or for continuous actions an Axis(low, high)."
    )
