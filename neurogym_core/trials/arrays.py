"""Names of the types of arrays that tables of trials hold; and helpers for their rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
"""Numbers, truth values or text."""
Floats: TypeAlias = npt.NDArray[np.float64]
Singles: TypeAlias = npt.NDArray[np.float32]
Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]
Wholes: TypeAlias = npt.NDArray[np.integer[Any]]
"""Integers of any width."""
Reals: TypeAlias = npt.NDArray[np.floating[Any]]
"""Floating-point numbers of any width."""
Columns: TypeAlias = Mapping[str, Array]
"""Arrays (n, …) by name: conditions, covariates, a design."""


def one_row(values: Array) -> Array:
    """Return the first row, (1, …), of an array that repeats it in memory; others as they are."""
    return values[:1] if values.ndim and values.strides[0] == 0 else values


def per_row(values: Array, like: Any) -> Array:
    """Reshape values (n,) to (n, 1, …), with as many dimensions as `like`, (n, …)."""
    return values.reshape(-1, *[1] * (np.ndim(like) - 1))


def as_texts(values: np.ndarray) -> np.ndarray:
    """Convert arrays of Python strings (dtype object, as in pandas) to arrays of dtype str."""
    if values.dtype.kind in "OT" and all(isinstance(value, str) for value in values.flat):
        return values.astype(str)
    return values
