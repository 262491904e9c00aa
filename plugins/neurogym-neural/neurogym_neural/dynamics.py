"""Fixed points of the dynamics of a network, and how it moves near them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from neurogym_core import InvalidValueError

NUDGE = 1e-6
"""Size of the finite differences, relative to the size of the state."""


@dataclass(frozen=True, eq=False)
class FixedPoints:
    """States that a network maps to themselves, for one constant input.

    Attributes:
        points: (m, units), different from each other.
        starts: (m,) how many of the searches ended there.
        searches: number of searches; those that found no fixed point count here only.
        eigenvalues: (m, units) complex, of the Jacobian, from the largest magnitude.
        time_constants: (m,) ms in which the slowest deviation falls to 1/e; inf where it stays or
            grows.
    """

    points: np.ndarray
    starts: np.ndarray
    searches: int
    eigenvalues: np.ndarray
    time_constants: np.ndarray

    @property
    def stable(self) -> np.ndarray:
        """(m,) whether all deviations decay."""
        inside: np.ndarray = np.abs(self.eigenvalues).max(axis=1) < 1
        return inside


def fixed_points(
    step: Callable[[np.ndarray], np.ndarray],
    states: Any,
    *,
    dt: float,
    iterations: int = 100,
    tolerance: float = 1e-9,
    apart: float = 1e-3,
) -> FixedPoints:
    """Search fixed points from several states by damped Newton steps.

    A state counts only if the search has converged: where a network is slow, but drifts, there is
    none, and a threshold on its speed would find as many as it is wide. An untrained network can
    have slow modes, too: compare. Sussillo & Barak (2013), doi:10.1162/NECO_a_00409, introduced the
    analysis; the search is ours. Search separately for each input.

    The unit of replication is the network: its searches, from neighbouring states, are not
    independent. Multiple comparisons over inputs: none, there is no p-value.

    Args:
        step: maps states (k, units) to those of the next step, with a constant input and without
            noise, in double precision (``network.double()`` in torch).
        states: (n, units) where searches begin, such as states that occur in trials.
        dt: ms of a step.
        iterations: most steps of a search.
        tolerance: largest distance from a state to its successor, relative to the SD of `states`.
        apart: smallest distance between two fixed points, relative to the same.

    Raises:
        InvalidValueError: states of another shape, or a step that changes the shape.

    Example:
        >>> import numpy as np
        >>> from neurogym_neural import fixed_points
        >>> found = fixed_points(lambda x: 0.9 * x + 0.1, [[0.0], [3.0]], dt=10)
        >>> found.points.round(6).tolist(), found.time_constants.round(1).tolist()
        ([[1.0]], [94.9])
    """
    states = np.asarray(states, np.float64)
    if states.ndim != 2 or not len(states) or np.shape(step(states)) != states.shape:
        raise InvalidValueError(
            f"fixed_points() was given states of shape {states.shape}. Expected (n, units), which"
            " step() maps to the same shape. Give states of the network, and a function of them."
        )
    spread = float(np.sqrt(states.var(axis=0).mean())) or float(np.abs(states).max()) or 1.0
    ends = [_end(step, state, iterations, tolerance * spread, spread) for state in states]
    found: list[np.ndarray] = []
    starts: list[int] = []
    for end in ends:
        if end is None:
            continue
        near = [bool(np.linalg.norm(end - one) < apart * spread) for one in found]
        if any(near):
            starts[near.index(True)] += 1
        else:
            found.append(end)
            starts.append(1)
    width = states.shape[1]
    values = np.empty((len(found), width), complex)
    for k, point in enumerate(found):
        one = np.linalg.eigvals(_jacobian(step, point, spread))
        values[k] = one[np.argsort(-np.abs(one))]
    largest = np.abs(values).max(axis=1) if found else np.empty(0)
    with np.errstate(divide="ignore"):
        times = np.where(largest < 1, -dt / np.log(np.minimum(largest, 1)), np.inf)
    return FixedPoints(
        np.reshape(found, (len(found), width)), np.array(starts, int), len(states), values, times
    )


def _end(
    step: Callable[[np.ndarray], np.ndarray],
    state: np.ndarray,
    iterations: int,
    tolerance: float,
    spread: float,
) -> np.ndarray | None:
    """Return the fixed point that a search reaches, or None."""
    error = step(state[None])[0] - state
    for _ in range(iterations):
        if np.linalg.norm(error) <= tolerance:
            return state
        slope = _jacobian(step, state, spread) - np.eye(len(state))
        # A singular slope has no exact solution.
        way = np.linalg.lstsq(slope, -error, rcond=1e-10)[0]
        for share in 0.5 ** np.arange(12):
            there = state + share * way
            after = step(there[None])[0] - there
            if np.linalg.norm(after) < np.linalg.norm(error):
                break
        else:
            return None
        state, error = there, after
    return None


def _jacobian(
    step: Callable[[np.ndarray], np.ndarray], state: np.ndarray, spread: float
) -> np.ndarray:
    """Return the derivatives of the next state, (units, units), by central differences."""
    size = NUDGE * spread
    nudges = size * np.eye(len(state))
    ahead, behind = step(state + nudges), step(state - nudges)
    slopes: np.ndarray = (np.asarray(ahead) - behind).T / (2 * size)
    return slopes
