"""Continuous actions in JAX: their units, their errors and the pay of answers."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from neurogym_core import Angle, Task
from neurogym_core.players import Actions, Dealer, TaskView

Pay = Callable[[jax.Array, jax.Array], jax.Array]
MIDDLE = 1e-6
"""Distance from (0, 0) up to which a point has no direction, as in the core."""
ROUNDING = 1e-6
"""Largest error of an action that is due to rounding, as in the core."""


class Continuous:
    """Continuous actions of a task; D dimensions, K slots.

    Args:
        task: a task whose actions are continuous, and which is a table.

    Attributes:
        triggers: whether an axis has a trigger; without one, answers are scored when their window
            closes, and every step costs its error.
    """

    def __init__(self, task: Task) -> None:
        self.actions: Actions = task.actions
        self.triggers = self.actions.trigger is not None
        low, high = np.asarray(self.actions.low), np.asarray(self.actions.high)
        self._middle = jnp.asarray((low + high) / 2, jnp.float32)
        self._half = jnp.asarray((high - low) / 2, jnp.float32)
        self._ranges = jnp.asarray(self.actions.ranges(), jnp.float32)
        self._correct = task.rewards["correct"]
        self._scale = self._correct * task.dt / 100
        self._threshold = _threshold(self.actions)
        dealer = Dealer(task, 1, 0)
        if TaskView(task).stateful:
            dealer.new_sessions()
        types = dealer.block().tables
        self._units = types.slots.units
        self._pays = [None if pays is None else traceable(pays) for pays in types.slots.pays]

    def column(self, action: jax.Array) -> jax.Array:
        """Return the column of the tables: 1 if an action (D,) in [-1, 1] triggers, else 0."""
        if self.actions.trigger is None:
            return jnp.int32(0)
        return (action[self.actions.trigger[0]] >= self._threshold).astype(jnp.int32)

    def to_task_units(self, action: jax.Array) -> jax.Array:
        """Return actions (…, D) in [-1, 1] in task units."""
        return self._middle + action * self._half

    def from_task_units(self, values: jax.Array) -> jax.Array:
        """Return values (…, D) in task units as actions, clipped to [-1, 1]."""
        return jnp.clip((values - self._middle) / self._half, -1.0, 1.0)

    def choice(self, values: jax.Array) -> jax.Array:
        """Return the answer to the first slot, () or (axes,): task units, radians of an `Angle`."""
        read = []
        for own, circular in self._axes(self._units[0]):
            part = values[own]
            read += [jnp.nan_to_num(_radians(part))] if circular else list(part)
        return read[0] if len(read) == 1 else jnp.stack(read)

    def distances(self, values: jax.Array, aim: jax.Array) -> jax.Array:
        """Return (K,) the distance of an action (D,) from the aim (K, D) of each slot."""
        each = [
            jnp.sqrt((self._errors(values, aim[k], units) ** 2).sum())
            for k, units in enumerate(self._units)
        ]
        return jnp.stack(each)

    def paid(self, distance: jax.Array, tolerance: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return (K,) the graded reward and score by distance; NaN where the reward is not graded.

        Args:
            distance, tolerance: (K,) task units.
        """
        nothing = jnp.float32(jnp.nan), jnp.float32(jnp.nan)
        each = []
        for k, pays in enumerate(self._pays):
            if pays is None:
                each.append(nothing)
                continue
            reward = pays(distance[k], tolerance[k])
            most = pays(jnp.zeros_like(distance[k]), tolerance[k])
            share = jnp.where(most == 0, 1.0, reward / jnp.where(most == 0, 1.0, most))
            each.append((reward, jnp.clip(share, 0.0, 1.0)))
        rewards, scores = zip(*each, strict=True)
        return jnp.stack(rewards), jnp.stack(scores)

    def tracking(self, values: jax.Array, target: jax.Array, share: jax.Array) -> jax.Array:
        """Return () the pay for tracking on a step whose weight is not 0.

        Args:
            values, target: (D,) task units.
            share: () the weight of the step as a share of those of the trial.
        """
        error = self._errors(values, target, slice(0, self.actions.size))
        if self.actions.traced:
            near = jnp.abs(error) <= jnp.asarray(self.actions.tolerances(), jnp.float32)
            return near.mean() * share * self._correct
        error = error / self._ranges
        # As in the core: smaller errors are those of rounding.
        error = jnp.where(jnp.abs(error) < ROUNDING, 0.0, error)
        return -(error**2).mean() * self._scale

    def _axes(self, part: slice) -> list[tuple[slice, bool]]:
        """Return the dimensions of each axis of a part, and whether it is an angle."""
        return [
            (own, isinstance(self.actions.parts[name], Angle))
            for name, own in self.actions.items()
            if part.start <= own.start and own.stop <= part.stop
        ]

    def _errors(self, values: jax.Array, target: jax.Array, part: slice) -> jax.Array:
        """Return (axes,) the errors of the axes of a part, as `Actions.errors`."""
        errors = []
        for own, circular in self._axes(part):
            if circular:
                away = _radians(values[own]) - _radians(target[own])
                away = jnp.abs(away - 2 * jnp.pi * jnp.rint(away / (2 * jnp.pi)))
                errors.append(jnp.where(jnp.isnan(away), jnp.pi, away)[None])
            else:
                errors.append(values[own] - target[own])
        return jnp.concatenate(errors)


def _radians(point: jax.Array) -> jax.Array:
    """Return the angle of a point (2,) in radians; NaN for the middle."""
    x, y = point
    return jnp.where(jnp.hypot(x, y) > MIDDLE, jnp.arctan2(y, x), jnp.nan)


def _threshold(actions: Actions) -> float:
    """Return the smallest float32 action that triggers, inf if none does.

    The comparison is the core's, in float64: on the device, the same actions trigger.
    """
    if actions.trigger is None:
        return float("inf")
    index, threshold = actions.trigger

    def number(rank: int) -> np.float32:
        # The bits of positive float32 numbers, as integers, have the order of the numbers.
        return np.copysign(np.int32(abs(rank)).view(np.float32), np.float32(rank))

    def acts(rank: int) -> bool:
        action = np.full(actions.size, number(rank))
        return bool(actions.to_task_units(action)[index] > threshold)

    most = int(np.float32(1).view(np.int32))
    ranks = range(-most, most + 1)
    at = bisect_left(ranks, True, key=acts)
    return float(number(ranks[at])) if at < len(ranks) else float("inf")


def traceable(pays: Any) -> Pay:
    """Return a graded reward, (distance, tolerance) -> reward, that JAX can compile.

    A function that needs NumPy arrays is called on the host, in every step.
    """
    one = jax.ShapeDtypeStruct((), jnp.float32)
    try:
        jax.eval_shape(pays, one, one)
    except (TypeError, AttributeError):
        pass
    else:
        return lambda distance, tolerance: jnp.asarray(pays(distance, tolerance), jnp.float32)

    def on_host(distance: Any, tolerance: Any) -> np.ndarray:
        given = np.broadcast_arrays(np.asarray(distance, float), np.asarray(tolerance, float))
        paid = pays(given[0].ravel(), given[1].ravel())
        return np.asarray(paid, np.float32).reshape(given[0].shape)

    def call(distance: jax.Array, tolerance: jax.Array) -> jax.Array:
        return jax.pure_callback(on_host, one, distance, tolerance, vmap_method="broadcast_all")

    return call


__all__ = ["Continuous", "traceable"]
