"""Spaces with the names of gymnax; where gymnax is installed, they are gymnax's own."""

from __future__ import annotations

import importlib.util
from typing import Any

import jax
import jax.numpy as jnp

if importlib.util.find_spec("gymnax") is not None:
    from gymnax.environments.spaces import Box, Discrete
else:

    class Discrete:  # type: ignore[no-redef]
        """Whole numbers from 0 to n - 1.

        Args:
            num_categories: n.
        """

        def __init__(self, num_categories: int) -> None:
            self.n, self.shape, self.dtype = num_categories, (), jnp.int32

        def __repr__(self) -> str:
            return f"Discrete({self.n})"

        def sample(self, key: jax.Array) -> jax.Array:
            """Return a uniformly drawn element."""
            return jax.random.randint(key, self.shape, 0, self.n).astype(self.dtype)

        def contains(self, x: Any) -> jax.Array:
            """Return whether `x` is an element."""
            return jnp.logical_and(x >= 0, x < self.n)

    class Box:  # type: ignore[no-redef]
        """Arrays of real numbers.

        Args:
            low, high: bounds.
            shape, dtype: of the arrays.
        """

        def __init__(
            self, low: Any, high: Any, shape: tuple[int, ...], dtype: Any = jnp.float32
        ) -> None:
            self.low, self.high, self.shape, self.dtype = low, high, shape, dtype

        def __repr__(self) -> str:
            # The form of Gymnasium's Box.
            return f"Box({self.low}, {self.high}, {self.shape}, {jnp.dtype(self.dtype).name})"

        def sample(self, key: jax.Array) -> jax.Array:
            """Return a uniformly drawn element; a standard normal one without bounds."""
            if jnp.isinf(jnp.asarray(self.high)).any():
                return jax.random.normal(key, self.shape, self.dtype)
            return jax.random.uniform(key, self.shape, self.dtype, self.low, self.high)

        def contains(self, x: Any) -> jax.Array:
            """Return whether `x` is an element."""
            return jnp.logical_and(jnp.all(x >= self.low), jnp.all(x <= self.high))


__all__ = ["Box", "Discrete"]
