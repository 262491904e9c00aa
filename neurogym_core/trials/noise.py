"""Gaussian noise that belongs to the trial: its numbers depend on seed, trial, step and unit alone.

`gaussian` maps (key of the seed, serial number of the trial, step of the trial, unit) to one
standard normal number, and keeps no state between calls. The numbers therefore do not depend on
how many steps, environments or units are computed in one call.

The bits are those of Philox4x32-10, a counter-based generator [1]_; the Gaussian quantile function
turns every 32 of them into a number, by linear interpolation in `noise_table`. All arithmetic is on
integers and on float32 numbers, each operation rounded by itself, so that every processor computes
the same bits. `play/_noise.h` does the same in C, for the compiled kernel.

Splits are disjoint streams of trials, so that a test shows nothing that training has shown. The
top bits of a key hold the number of its split; without a split (None), keys have all bits.

Over all 2^32 words the numbers have a mean of exactly 0, a variance of 1 + 3e-9, a kurtosis of
3 - 3e-8 and magnitudes up to 6.34. Each is within 5.3e-7 of the exact quantile (half of the spacing
of float32 numbers there is 2.4e-7), 5e-8 in the root mean square.

References:
    .. [1] J. K. Salmon, M. A. Moraes, R. O. Dror and D. E. Shaw, "Parallel random numbers: as easy
       as 1, 2, 3", Proceedings of SC11, 2011. https://doi.org/10.1145/2063384.2063405
"""

from __future__ import annotations

import math
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np

from neurogym_core.errors import InvalidValueError, unknown

SPLITS = MappingProxyType({"train": 1, "validation": 2, "test": 3})
"""Streams of trials and noise that share no trial, whatever their seeds, and their numbers."""
KEY_BITS = 62
"""Bits of the key of a split's noise that the seed determines; those above hold its number."""
PLAIN_SEEDS = 1 << 32
"""Seeds of a split in envs that are not Tasks; see `plain_seed`."""
_SPAWNED = 100  # the spawn key of the first split; those of a dealer's generators are below


def checked_split(split: Any, of: str) -> str | None:
    """Return a split, or None.

    Args:
        split: the given value.
        of: the name of the function or class that it was given to, for the message.

    Raises:
        UnknownNameError: there is no such split.
    """
    if split is not None and split not in SPLITS:
        raise unknown("split", split, SPLITS, of=of)
    return split  # type: ignore[no-any-return]


def sequence_of(
    seed: int | np.random.SeedSequence | None, split: str | None
) -> np.random.SeedSequence:
    """Return the sequence from which the generators of a seed and a split are made.

    Args:
        seed: a seed; None: entropy of the system; a sequence is returned as it is.
        split: the split, or None.
    """
    if isinstance(seed, np.random.SeedSequence):
        return seed
    spawn_key = () if split is None else (_SPAWNED + SPLITS[split] - 1,)
    return np.random.SeedSequence(seed, spawn_key=spawn_key)


def plain_seed(seed: int | None, split: str | None) -> int | None:
    """Return the seed for an env that is not a `Task`: each split has a separate range."""
    if seed is None or split is None:
        return seed
    if not 0 <= seed < PLAIN_SEEDS:
        raise InvalidValueError(
            f"The seed {seed} was given together with split={split!r}, for an env that is not a"
            " Task. Expected a seed from 0 to 2**32 - 1, since the split changes the bits above."
            " Give a smaller one."
        )
    return seed + SPLITS[split] * PLAIN_SEEDS


_MULTIPLIERS = np.array([[0xD2511F53], [0xCD9E8D57]], np.uint64)  # these and the increments: [1]
_INCREMENTS = np.array([[0x9E3779B9], [0xBB67AE85]], np.uint64)
_ROUNDS = 10
_LOW = np.uint64(0xFFFFFFFF)
_HALF_WORD = np.uint64(32)
_BLOCKS_AT_A_TIME = 1 << 13  # more would not fit into the processor's cache

_CELLS = 512
"""Cells of the table for each octave of probability."""
_OCTAVES = 32
_FRACTION_BITS = 14  # of the 23 bits of a float32 mantissa; the other 9 are the cell
_ONE_HALF = 0x3F000000  # the bits of 0.5 as float32, the least that `normal` looks up


def philox(c0: np.ndarray, c1: np.ndarray, c2: np.ndarray, c3: np.ndarray, key: int) -> np.ndarray:
    """Return (..., 4) uint32: the Philox4x32-10 block of each counter of four words below 2**32."""
    words = np.broadcast_arrays(*(np.asarray(word, np.uint64) for word in (c0, c1, c2, c3)))
    multiplied = np.stack([words[0].ravel(), words[2].ravel()])
    added = np.stack([words[1].ravel(), words[3].ravel()])
    round_key = np.array([[key & 0xFFFFFFFF], [key >> 32]], np.uint64)
    for _ in range(_ROUNDS):
        product = (multiplied * _MULTIPLIERS)[::-1]
        multiplied = (product >> _HALF_WORD) ^ added ^ round_key
        added = product & _LOW
        round_key = (round_key + _INCREMENTS) & _LOW
    block = np.stack([multiplied[0], added[0], multiplied[1], added[1]], axis=-1)
    return block.astype(np.uint32).reshape(*words[0].shape, 4)


@cache
def noise_table() -> np.ndarray:
    """Return the table from which noise is computed, for kernels and devices.

    A cell is a 512th of an octave of p, the probability of a larger magnitude. The line (value at
    the cell's beginning, rise for each of 2**14 parts of the cell) passes through the quantile
    function at the two Gauss points of the cell. This preserves the mean, and the variance up to
    terms of fourth order. Rises are multiples of 2**-42: coarse enough that platforms whose
    quantiles differ by up to ten units in the last place compute the same table. The last cell is
    p = 1.

    Returns:
        (16385, 2) float32, read-only: the line that approximates the quantile function of the
        standard normal distribution in each cell. A random word finds its cell and place as in
        `trials/noise.py: normal`.
    """
    from statistics import NormalDist  # only noise needs it

    quantile = NormalDist().inv_cdf
    root = math.sqrt(3)
    gauss = np.array([0.5 - root / 6, 0.5 + root / 6])
    mantissas = 1 + (np.arange(_CELLS)[:, None] + gauss) / _CELLS
    # 2**-33 is half of the smallest p: the probability of each of the two tails
    tails = np.ldexp(mantissas, np.arange(_OCTAVES)[:, None, None] - 33).reshape(-1, 2)
    z = np.array([-quantile(p) for p in tails.ravel().tolist()]).reshape(-1, 2)
    rise = (z[:, 1] - z[:, 0]) * root
    rise = np.ldexp(np.rint(np.ldexp(rise, 28)), -28)
    begin = z.mean(axis=1) - rise / 2
    lines = np.zeros((_OCTAVES * _CELLS + 1, 2), np.float32)
    lines[:-1] = np.stack([begin, np.ldexp(rise, -_FRACTION_BITS)], axis=1)
    lines.flags.writeable = False
    return lines


@cache
def lines() -> bytes:
    """Return the bytes of `noise_table`, for the compiled kernel: their memory cannot move."""
    return noise_table().tobytes()


def normal(bits: np.ndarray) -> np.ndarray:
    """Return the standard normal number of each uniform uint32 word, float32 of the same shape."""
    # The top bit is the sign. The other 31, m, are the rank of the magnitude: (m + 1/2) / 2**31 is
    # the probability of a larger one.
    ranks = (bits & np.uint32(0x7FFFFFFF)).astype(np.int32).astype(np.float32) + np.float32(0.5)
    place = ranks.view(np.uint32) - np.uint32(_ONE_HALF)
    lines = noise_table().take(place >> np.uint32(_FRACTION_BITS), axis=0)
    part = (place & np.uint32((1 << _FRACTION_BITS) - 1)).astype(np.float32)
    magnitude = lines[..., 0] + part * lines[..., 1]
    numbers: np.ndarray = (magnitude.view(np.uint32) | bits & np.uint32(0x80000000)).view(
        np.float32
    )
    return numbers


def noise_key(seed: np.random.SeedSequence, split: str | None = None) -> int:
    """Return 64 bits for `gaussian`, the same for the same seed and independent between seeds.

    Args:
        seed: the seed.
        split: None, or the split whose number the top bits have; see `SPLITS`.
    """
    key = int(seed.generate_state(1, np.uint64)[0])
    return key if split is None else key & ((1 << KEY_BITS) - 1) | SPLITS[split] << KEY_BITS


def gaussian(key: int, serial: np.ndarray, step: np.ndarray, units: slice) -> np.ndarray:
    """Return (n, width) float32: standard normal numbers of n steps of trials, for some units."""
    # A counter gives four words, for units 4 b to 4 b + 3; those outside of `units` are dropped.
    blocks = np.arange(units.start // 4, -(-units.stop // 4), dtype=np.uint64)
    serials = np.asarray(serial, np.uint64)[:, None]
    steps = np.asarray(step, np.uint64)[:, None]
    first = units.start % 4
    numbers = np.empty((len(serials), units.stop - units.start), np.float32)
    rows = max(1, _BLOCKS_AT_A_TIME // max(1, len(blocks)))
    for begin in range(0, len(numbers), rows):
        part = slice(begin, begin + rows)
        high, low = serials[part] >> _HALF_WORD, serials[part] & _LOW
        words = philox(steps[part], blocks, low, high, key)
        words = words.reshape(len(words), 4 * len(blocks))
        numbers[part] = normal(words[:, first : first + numbers.shape[1]])
    return numbers


def add_noise(
    out: np.ndarray,
    sd: np.ndarray,
    place: np.ndarray,
    key: int,
    serial: np.ndarray,
    step: np.ndarray,
) -> None:
    """Add Gaussian noise to the observations of n steps, (n, units), in place.

    `place`, (n,), is the row of `sd` of each step; `serial` and `step`, (n,), its trial and its
    step in the trial."""
    # Silent units are skipped. The noise counts by position, so the other numbers stay the same.
    noisy = np.flatnonzero(sd.any(axis=0))
    if not len(noisy):
        return
    units = slice(int(noisy[0]), int(noisy[-1]) + 1)
    level = sd[:, units]
    rows = np.flatnonzero(np.asarray(level.any(axis=1))[place])
    out[rows, units] += level[place[rows]] * gaussian(key, serial[rows], step[rows], units)
