"""Splits: disjoint streams of trials, so that a test shows nothing that training has shown.

Each split has separate generators for conditions, sessions and hooks, from another spawn key of the
seed. The key of the noise carries the number of the split in its top bits: keys of two splits
differ, whatever their seeds are. The stream without a split (None) has keys of all bits.
"""

from __future__ import annotations

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


def marked(key: int, split: str | None) -> int:
    """Return a key of noise, 64 bits, with the number of the split in its top bits."""
    if split is None:
        return key
    return key & ((1 << KEY_BITS) - 1) | SPLITS[split] << KEY_BITS


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
