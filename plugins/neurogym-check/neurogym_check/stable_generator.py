"""A stand-in for NumPy's `Generator` whose random numbers never change.

NumPy may change the streams of its distributions between releases, and digests must not change with
them. The class has only the methods that tasks use. The numbers are good enough to vary trials; do
not use them for anything else."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from neurogym_core import NotSupportedError

_ODD = np.uint64(0x9E3779B97F4A7C15)


def _mixed(z: np.ndarray) -> np.ndarray:
    """The output function of SplitMix64 (Steele, Lea & Flood 2014, doi:10.1145/2660193.2660195)."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


class StableGenerator:
    """Methods of `numpy.random.Generator` with numbers that depend on `key` only."""

    def __init__(self, key: int = 0) -> None:
        self._at = np.uint64(0)
        with np.errstate(over="ignore"):
            self._key = _mixed(np.array([key + 1], np.uint64) * _ODD)[0]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        known = sorted(
            name
            for name, value in vars(StableGenerator).items()
            if not name.startswith("_") and callable(value)
        )
        raise NotSupportedError(
            f"The task uses rng.{name}, from which no digest can be made. Expected a method that"
            f" the StableGenerator has. Use one of {', '.join(known)}."
        )

    @property
    def bit_generator(self) -> StableGenerator:
        """The generator itself, which has a `state`."""
        return self

    @property
    def state(self) -> int:
        """Number of draws so far."""
        return int(self._at)

    def _unit(self, n: int) -> np.ndarray:
        """(n,) float64 in [0, 1)."""
        with np.errstate(over="ignore"):
            counter = self._key + (self._at + np.arange(1, n + 1, dtype=np.uint64)) * _ODD
            self._at += np.uint64(n)
            return (_mixed(counter) >> np.uint64(11)) * 2.0**-53

    def _shaped(self, size: Any, *like: Any) -> np.ndarray:
        shape = np.broadcast_shapes(*(np.shape(one) for one in like)) if size is None else size
        shape = (int(shape),) if isinstance(shape, int | np.integer) else tuple(shape)
        return self._unit(math.prod(shape)).reshape(shape)

    @staticmethod
    def _given(
        values: np.ndarray, size: Any, dtype: Any = None, out: np.ndarray | None = None
    ) -> Any:
        values = values if dtype is None else values.astype(dtype)
        if out is not None:
            out[...] = values
            return out
        return values[()] if size is None and values.ndim == 0 else values

    # ------------------------------------------------------------------ continuous

    def random(
        self, size: Any = None, dtype: Any = np.float64, out: np.ndarray | None = None
    ) -> Any:
        """Uniform on [0, 1)."""
        return self._given(self._shaped(size if out is None else out.shape), size, dtype, out)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """Uniform on [low, high)."""
        return self._given(low + (np.asarray(high) - low) * self._shaped(size, low, high), size)

    def standard_normal(
        self, size: Any = None, dtype: Any = np.float64, out: np.ndarray | None = None
    ) -> Any:
        """Gaussian, by the transformation of Box & Muller (1958), doi:10.1214/aoms/1177706645."""
        shape = size if out is None else out.shape
        radius = np.sqrt(-2 * np.log1p(-self._shaped(shape)))
        return self._given(radius * np.cos(2 * np.pi * self._shaped(shape)), size, dtype, out)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Gaussian of mean `loc` and standard deviation `scale`."""
        shape = np.broadcast_shapes(np.shape(loc), np.shape(scale)) if size is None else size
        return self._given(np.asarray(loc + np.asarray(scale) * self.standard_normal(shape)), size)

    def standard_exponential(self, size: Any = None) -> Any:
        """Exponential of mean 1."""
        return self._given(-np.log1p(-self._shaped(size)), size)

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        """Exponential of mean `scale`."""
        return self._given(
            np.asarray(-np.asarray(scale) * np.log1p(-self._shaped(size, scale))), size
        )

    # ------------------------------------------------------------------ whole numbers

    def integers(
        self,
        low: Any,
        high: Any = None,
        size: Any = None,
        dtype: Any = np.int64,
        endpoint: bool = False,
    ) -> Any:
        """Uniform integers from `low` to `high` - 1, or to `high` with `endpoint`."""
        low, high = (0, low) if high is None else (low, high)
        width = np.asarray(high) - low + bool(endpoint)
        return self._given(
            np.asarray(low + np.floor(width * self._shaped(size, low, high))), size, dtype
        )

    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        """Number of successes in `n` trials."""
        unit = self._shaped(size, n, p)
        n, p = np.broadcast_to(n, unit.shape), np.broadcast_to(p, unit.shape)
        tries = self._unit(unit.size * int(n.max(initial=0))).reshape(*unit.shape, -1)
        return self._given(
            ((tries < p[..., None]) & (np.arange(tries.shape[-1]) < n[..., None])).sum(axis=-1),
            size,
        )

    def poisson(self, lam: Any = 1.0, size: Any = None) -> Any:
        """Number of events of a Poisson distribution, by summing probabilities."""
        unit = self._shaped(size, lam)
        lam = np.broadcast_to(np.asarray(lam, float), unit.shape)
        count, term = np.zeros(unit.shape, np.int64), np.exp(-lam)
        total = term.copy()
        for k in range(1, int(10 * lam.max(initial=0)) + 60):
            count += unit >= total
            term = term * lam / k
            total = total + term
        return self._given(count, size)

    def geometric(self, p: Any, size: Any = None) -> Any:
        """Number of tries up to the first success."""
        unit = self._shaped(size, p)
        with np.errstate(divide="ignore"):
            tries = np.ceil(np.log1p(-unit) / np.log1p(-np.asarray(p, float)))
        return self._given(np.maximum(tries, 1), size, np.int64)

    def beta(self, a: Any, b: Any, size: Any = None) -> Any:
        """Numbers of a beta distribution, by its cumulated density on a grid.

        `a` and `b` are single numbers.
        """
        unit = self._shaped(size)
        x = (np.arange(4096) + 0.5) / 4096
        logarithm = (a - 1) * np.log(x) + (b - 1) * np.log1p(-x)
        cumulated = np.cumsum(np.exp(logarithm - logarithm.max()))
        return self._given(np.interp(unit, cumulated / cumulated[-1], x), size)

    # ------------------------------------------------------------------ orders

    def choice(
        self,
        a: Any,
        size: Any = None,
        replace: bool = True,
        p: Any = None,
        axis: int = 0,
        shuffle: bool = True,
    ) -> Any:
        """Draw values of `a`; of 0 … a - 1 if `a` is an int."""
        values = np.arange(a) if isinstance(a, int | np.integer) else np.asarray(a)
        k = values.shape[axis]
        shape = (
            () if size is None else (size,) if isinstance(size, int | np.integer) else tuple(size)
        )
        n = math.prod(shape)
        if not replace:
            weights = np.ones(k) if p is None else np.asarray(p, float)
            # Those with the smallest waiting times (Efraimidis & Spirakis 2006).
            with np.errstate(divide="ignore"):
                index = np.argsort(-np.log1p(-self._unit(k)) / weights, kind="stable")[:n]
        elif p is None:
            index = np.floor(k * self._unit(n)).astype(np.int64)
        else:
            index = np.minimum(np.searchsorted(np.cumsum(p), self._unit(n), side="right"), k - 1)
        return values.take(index.reshape(shape) if shape else index[0], axis=axis)

    def permutation(self, x: Any, axis: int = 0) -> np.ndarray:
        """Return `x` (0 … x - 1 if `x` is an int) permuted along one axis."""
        values = np.arange(x) if isinstance(x, int | np.integer) else np.array(x)
        return values.take(np.argsort(self._unit(values.shape[axis]), kind="stable"), axis=axis)

    def permuted(
        self, x: Any, *, axis: int | None = None, out: np.ndarray | None = None
    ) -> np.ndarray:
        """Return `x` with each slice along the axis permuted independently."""
        values = np.array(x)
        flat = values.reshape(-1) if axis is None else values
        along = 0 if axis is None else axis
        order = np.argsort(self._unit(flat.size).reshape(flat.shape), axis=along, kind="stable")
        return self._given(
            np.take_along_axis(flat, order, axis=along).reshape(values.shape), (), None, out
        )

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Permute `x` in place."""
        if isinstance(x, list):
            x[:] = [x[k] for k in np.argsort(self._unit(len(x)), kind="stable")]
            return
        x[...] = self.permutation(x, axis)
