"""Encoders of values (angles, indices, magnitudes) into activities of the units of a channel.

Every encoder works on batches: values of shape (n,) become activities of shape (n, size).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from neurogym_core.errors import InvalidValueError


def circular_distance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the distance on the circle in radians, in [0, pi].

    Args:
        a, b: radians, of shapes that broadcast.

    Example:
        >>> import numpy as np
        >>> from neurogym_core import circular_distance
        >>> circular_distance(np.array([0.1]), np.array([6.2])).round(3).tolist()
        [0.183]
    """
    difference = np.asarray(a) - b
    # `%` would do the same, ten times slower.
    values: np.ndarray = np.abs(difference - 2 * np.pi * np.rint(difference / (2 * np.pi)))
    return values


@dataclass(frozen=True, init=False, repr=False)
class Encoder:
    """Base of the encoders; used directly, `size` units that take their activities as given.

    Encoders of the same class and size are equal, whatever the names of their units.

    Args:
        size: number of units, or their names.

    Attributes:
        size: number of units.
        names: (size,) names of the units; empty if they have none.

    Raises:
        InvalidValueError: no unit, or names that are empty or not unique.

    Example:
        >>> from neurogym_core import Encoder
        >>> Encoder(3).to_plain()
        {'encoder': 'Encoder', 'size': 3}
        >>> Encoder(("left", "right")).size
        2
    """

    size: int
    names: tuple[str, ...] = field(default=(), compare=False)

    def __init__(self, size: int | Sequence[str]) -> None:
        names: tuple[str, ...] = ()
        if isinstance(size, tuple | list):
            names, size = _checked_names(type(self).__name__, size), len(size)
        if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 1:
            raise InvalidValueError(
                f"{type(self).__name__}() was given size={size!r}; it needs a whole number of"
                " units, at least 1, or the names of the units."
            )
        # The class is frozen, so that encoders can be shared.
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "names", names)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({f'size={self.size!r}' if not self.names else self.names})"

    @property
    def unit_names(self) -> tuple[str, ...]:
        """(size,) names of the units: those declared, or "0", "1" and so on."""
        return self.names or tuple(map(str, range(self.size)))

    def named(self, names: Sequence[str]) -> Encoder:
        """Return the encoder with these names of its units; unchanged if their number differs.

        For tasks in which the number of units is a parameter, and only some numbers have names.

        Args:
            names: names of the units.

        Example:
            >>> from neurogym_core import Ring
            >>> Ring(2).named(("right", "left")).names, Ring(8).named(("right", "left")).names
            (('right', 'left'), ())
        """
        return type(self)(tuple(names)) if len(names) == self.size else self

    def without_names(self) -> Encoder:
        """Return the encoder with numbered units."""
        return type(self)(self.size)

    def to_plain(self) -> dict[str, Any]:
        """Return name and settings as a dict for JSON."""
        named = {"names": list(self.names)} if self.names else {}
        return {"encoder": type(self).__name__, "size": self.size, **named}


def _checked_names(owner: str, names: Sequence[Any]) -> tuple[str, ...]:
    texts = all(isinstance(name, str) and name.strip() for name in names)
    if not texts or len(set(names)) != len(names) or not names:
        raise InvalidValueError(
            f"{owner}() was given the names {names!r}. Expected at least one text, all different"
            ' and none empty, such as ("left", "right"). Give one name per unit.'
        )
    return tuple(names)


class Scalar(Encoder):
    """One unit whose activity is the value.

    Args:
        size: number of units, always 1, or the name of the unit in a tuple.

    Example:
        >>> import numpy as np
        >>> from neurogym_core import Scalar
        >>> Scalar().encode(np.array([0.5, 1.0])).tolist()
        [[0.5], [1.0]]
    """

    def __init__(self, size: int | Sequence[str] = 1) -> None:
        super().__init__(size)

    def encode(self, value: np.ndarray) -> np.ndarray:
        """Return the activity of the unit, (n, 1).

        Args:
            value: (n,) numbers.
        """
        return np.asarray(value, dtype=np.float32)[..., None]


# Not decorated as dataclasses: they add no field, and the decorator costs time at import.
class OneHot(Encoder):
    """One unit per index: unit k is 1 for the value k, the others are 0; -1 sets all to 0.

    Args:
        size: number of units, or their names.

    Example:
        >>> import numpy as np
        >>> from neurogym_core import OneHot
        >>> OneHot(3).encode(np.array([0, 2, -1])).tolist()
        [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    """

    def encode(self, index: np.ndarray, strength: Any = 1.0) -> np.ndarray:
        """Return the activities, (n, size).

        Args:
            index: (n,) indices of units, -1 for none.
            strength: activity of the unit, number or (n,).

        Raises:
            InvalidValueError: a number that is no index of a unit.
        """
        index = np.asarray(index)
        hot = index[..., None] == np.arange(self.size)
        known = hot.any(axis=-1) | (index == -1)
        if not known.all():
            wrong = np.unique(index[~known])[:5].tolist()
            raise InvalidValueError(
                f"A OneHot of {self.size} units was given {wrong}. Expected whole numbers from 0 to"
                f" {self.size - 1}, the indices of units, or -1 for none. Give it as many units as"
                " there are values."
            )
        values: np.ndarray = (hot * np.asarray(strength)[..., None]).astype(np.float32)
        return values


class Ring(Encoder):
    """Units with preferred angles 2 pi k / size on a circle.

    A direction is the index of a unit, or an ``angle=`` in radians. Indices go on around the
    circle: in a ring of 8 units, 9 is unit 1. Units without names are called by their preferred
    angles, such as "90°".

    Args:
        size: number of units, or their names.

    Example:
        >>> from neurogym_core import Ring
        >>> ring = Ring(4)
        >>> ring.angles.round(2).tolist()
        [0.0, 1.57, 3.14, 4.71]
        >>> ring.cosine(0).round(2).ravel().tolist()
        [1.0, 0.5, 0.0, 0.5]
    """

    @cached_property
    def angles(self) -> np.ndarray:
        """Preferred angles in radians, shape (size,)."""
        return 2 * np.pi * np.arange(self.size) / self.size

    @property
    def unit_names(self) -> tuple[str, ...]:
        """(size,) names of the units: those declared, or their preferred angles."""
        return self.names or tuple(f"{360 * k / self.size:.6g}°" for k in range(self.size))

    def angle(self, index: Any) -> np.ndarray:
        """Return the preferred angles of units in radians, (...).

        Args:
            index: indices of units, whole numbers, one or (...).

        Raises:
            InvalidValueError: other numbers, such as angles.
        """
        return _rows(np.arange(self.size) * (2 * np.pi / self.size), index)

    def cosine(
        self, index: Any = None, strength: Any = 0.5, baseline: Any = 0.5, *, angle: Any = None
    ) -> np.ndarray:
        """Return baseline + strength * cos(preferred - direction), (n, size).

        Args:
            index, angle: the direction: the index of a unit, or radians; one or (n,).
            strength, baseline: number or (n,).

        Raises:
            InvalidValueError: an index that is no whole number, or not one of `index` and `angle`.
        """
        cosines = self._cosines(index, angle)
        values: np.ndarray = (
            np.asarray(baseline)[..., None] + np.asarray(strength)[..., None] * cosines
        ).astype(np.float32)
        return values

    def bump(
        self,
        index: Any = None,
        strength: Any = 1.0,
        width: float = np.pi / 8,
        height: float = 0.8,
        *,
        angle: Any = None,
    ) -> np.ndarray:
        """Return a Gaussian bump, height * strength * exp(-(distance / width)^2 / 2), (n, size).

        The defaults are those of Yang et al. (2019), doi:10.1038/s41593-018-0310-2.

        Args:
            index, angle: as in `cosine`.
            strength: number or (n,).
            width: radians.
            height: activity at the peak of a bump of strength 1.
        """
        distance = circular_distance(self.angles, self._direction(index, angle)[..., None])
        return (
            height * np.asarray(strength)[..., None] * np.exp(-0.5 * (distance / width) ** 2)
        ).astype(np.float32)

    def von_mises(
        self, index: Any = None, strength: Any = 1.0, kappa: float = 2.0, *, angle: Any = None
    ) -> np.ndarray:
        """Return strength * exp(kappa (cos(preferred - direction) - 1)), (n, size).

        Args:
            index, angle: as in `cosine`.
            strength: number or (n,).
            kappa: concentration of the bump.
        """
        return (
            np.asarray(strength)[..., None] * np.exp(kappa * (self._cosines(index, angle) - 1))
        ).astype(np.float32)

    def nearest(self, angle: Any) -> np.ndarray:
        """Return the index of the unit with the nearest preferred angle, (n,).

        Args:
            angle: radians, one or (n,).
        """
        return np.rint(np.asarray(angle) * self.size / (2 * np.pi)).astype(int) % self.size

    def within(self, angle: Any, tolerance: float) -> np.ndarray:
        """Return a mask of the units within `tolerance` of an angle, bool, (n, size).

        Args:
            angle: radians, one or (n,).
            tolerance: radians.
        """
        return circular_distance(self.angles, np.asarray(angle)[..., None]) <= tolerance + 1e-9

    def encode(self, index: Any = None, *, angle: Any = None) -> np.ndarray:
        """Return the default bump, (n, size).

        Args:
            index, angle: as in `cosine`.
        """
        return self.bump(index, angle=angle)

    def _direction(self, index: Any, angle: Any) -> np.ndarray:
        """Radians, (...)."""
        if (index is None) == (angle is None):
            raise InvalidValueError(
                f"A Ring was given index={index!r} and angle={angle!r}. Expected one of them. Give"
                " the index of a unit, or an angle in radians."
            )
        return np.asarray(angle) if index is None else self.angle(index)

    def _cosines(self, index: Any, angle: Any) -> np.ndarray:
        """cos(preferred - direction), (..., size)."""
        if index is None or angle is not None:
            values: np.ndarray = np.cos(self.angles - self._direction(index, angle)[..., None])
            return values
        # A table is many times faster than computing cosines.
        return _rows(self._cosines_of_units, index)

    @cached_property
    def _cosines_of_units(self) -> np.ndarray:
        values: np.ndarray = np.cos(self.angles - self.angles[:, None])
        return values

    def population_vector(self, activity: np.ndarray) -> np.ndarray:
        """Return the angle of the population vector in radians, (...).

        Args:
            activity: (..., size).

        Example:
            >>> from neurogym_core import Ring
            >>> Ring(8).population_vector(Ring(8).bump(2)).round(2).tolist()
            1.57
        """
        values: np.ndarray = np.angle(np.asarray(activity) @ np.exp(1j * self.angles)) % (2 * np.pi)
        return values


def _rows(table: np.ndarray, index: Any) -> np.ndarray:
    """The rows of units in a table, (..., …)."""
    index = np.asarray(index)
    if index.dtype.kind not in "iub":
        raise InvalidValueError(
            f"A Ring was given the index {index!r:.60}. Expected whole numbers, the indices of"
            " units. Give an angle as angle=, in radians."
        )
    rows: np.ndarray = table.take(index, axis=0, mode="wrap")
    return rows
