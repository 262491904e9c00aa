"""Similarity of package names, against confusion and typosquatting."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable
from typing import Any

from neurogym_registry.data import data

# Packages that users of this project install.
WELL_KNOWN = (
    "neurogym", "neurogym-core", "numpy", "scipy", "pandas", "matplotlib", "gymnasium", "gym",
    "torch", "tensorflow", "jax", "pluggy", "click", "rich", "importlib-metadata", "cookiecutter",
    "stable-baselines3", "sb3-contrib", "requests", "setuptools", "pip", "pytest", "scikit-learn",
    "psychopy", "brian2", "nengo",
)  # fmt: skip
_PREFIXES = tuple(
    f"neurogym-{word}" for word in ("task-", "tasks-", "core-", "plugin-", "plugins-", "")
)
_LONG = 6
_LOOKS = str.maketrans({"0": "o", "1": "l", "i": "l", "5": "s", "-": None})
_PAIRS = (("rn", "m"), ("vv", "w"))  # pairs of letters that look like one


def likeness(name: str, other: str) -> int | None:
    """Return how many letters two different names differ in: 0, 1, or 2 for long names.

    None if they are equal or differ more. Hyphens, digits and pairs of letters that look like
    others are ignored. The names are compared with and without the common prefixes, since a
    squatter can change either part.
    """
    if name == other:
        return None
    (prefix, left), (other_prefix, right) = _parts(name), _parts(other)
    apart = _near(left, right)
    if prefix != other_prefix:
        whole = _near(_look(name), _look(other))
        apart = min((one for one in (apart, whole) if one is not None), default=None)
    return apart


def might_resemble(name: str, other: str) -> bool:
    """Return whether `likeness` can be other than None; much faster, for long lists of names.

    Texts two letters apart differ in at most four letters of their alphabets.
    """
    (prefix, left), (other_prefix, right) = _parts(name), _parts(other)
    if abs(len(left) - len(right)) <= 2 and len(frozenset(left) ^ frozenset(right)) <= 4:
        return True
    return prefix != other_prefix and len({*_look(name)} ^ {*_look(other)}) <= 4


@functools.cache
def first_party() -> frozenset[str]:
    """Return the names of this project's packages, which no other registry may list."""
    rows = json.loads(data("index.json").read_text("utf-8"))["packages"]
    return frozenset(row["name"] for row in rows if "folder" in row)


class Similar:
    """Finds the names in a list that `might_resemble` a name, for long lists.

    Args:
        names: the list.
        questions: number of names that will be asked for.
    """

    def __init__(self, names: Iterable[str], questions: int = 1) -> None:
        self.names = sorted(set(names))
        self._by_words: dict[tuple[str, ...], list[str]] = {}
        for name in self.names:
            self._by_words.setdefault(_words(name), []).append(name)
        self._many = len(self.names) * questions > MANY
        if self._many:
            self._prepare()

    def _prepare(self) -> None:
        """Make arrays of all names, which are compared with one name at once."""
        import numpy as np  # takes longer to import than a few comparisons

        self._np = np
        parts = [_parts(name) for name in self.names]
        self._prefixes = np.array([prefix for prefix, _ in parts], dtype=object)
        self._lengths = np.array([len(rest) for _, rest in parts], np.int64)
        self._rests = np.array([_letters(rest) for _, rest in parts], np.uint64)
        self._wholes = np.array([_letters(_look(name)) for name in self.names], np.uint64)
        bits = np.arange(1 << 16, dtype=np.uint32)
        self._bits = sum((bits >> k) & 1 for k in range(16)).astype(np.int8)

    def of(self, name: str) -> list[str]:
        """Return the names that might resemble a name, itself included if it is in the list."""
        if not self._many:
            return [one for one in self.names if one == name or might_resemble(name, one)]
        prefix, rest = _parts(name)
        near = abs(self._lengths - len(rest)) <= 2
        near &= self._apart(self._rests, _letters(rest)) <= 4
        other = self._prefixes != prefix
        other &= self._apart(self._wholes, _letters(_look(name))) <= 4
        return [self.names[k] for k in self._np.flatnonzero(near | other)]

    def within(self, name: str) -> list[str]:
        """Return the other names whose own words are words in a row of a longer name."""
        words = _words(name)
        runs = {
            words[first:last]
            for first in range(len(words))
            for last in range(first + 1, len(words) + 1)
        }
        found = [one for run in runs for one in self._by_words.get(run, ())]
        return sorted(one for one in found if one != name and len(" ".join(_words(one))) >= SHORT)

    def _apart(self, masks: Any, mask: int) -> Any:
        """Return how many letters two names do not share, for all names."""
        differ = masks ^ self._np.uint64(mask)
        parts = ((differ >> self._np.uint64(16 * k)) & self._np.uint64(0xFFFF) for k in range(3))
        return sum(self._bits[part.astype(self._np.int64)] for part in parts)


MANY = 300_000
"""Comparisons of names above which NumPy is imported for them."""
SHORT = 4
"""Letters below which a name within a longer one means nothing."""


def _letters(text: str) -> int:
    """Return the letters of a text as bits: a to z, digits, and one bit for all others."""
    mask = 0
    for letter in set(text):
        place = ord(letter) - 97
        digit = ord(letter) - 48
        mask |= 1 << (place if 0 <= place < 26 else 26 + digit if 0 <= digit < 10 else 36)
    return mask


def _words(name: str) -> tuple[str, ...]:
    """Return the own words of a name, in the singular, without the common prefixes."""
    prefix = next((one for one in _PREFIXES if name.startswith(one) and name != one), "")
    return tuple(_singular(word) for word in name[len(prefix) :].split("-"))


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _near(left: str, right: str) -> int | None:
    apart = distance(left, right, 2)
    return apart if apart <= 1 or (apart == 2 and min(len(left), len(right)) >= _LONG) else None


def distance(left: str, right: str, most: int) -> int:
    """Return the edit distance of two texts: insertions, deletions, replacements and swaps.

    ``most + 1`` if it is larger than `most`."""
    if abs(len(left) - len(right)) > most:
        return most + 1
    if left == right:
        return 0
    # Equal ends change nothing, and most texts of a long list differ in the middle.
    while left and right and left[0] == right[0]:
        left, right = left[1:], right[1:]
    while left and right and left[-1] == right[-1]:
        left, right = left[:-1], right[:-1]
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        older, before, row = before, row, [i]
        for j, b in enumerate(right, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
        if min(row) > most and (not before or min(before) > most):
            return most + 1
    return min(row[-1], most + 1)


@functools.cache
def _parts(name: str) -> tuple[str, str]:
    """Return the common prefix of a name, and the rest as it looks."""
    for prefix in _PREFIXES:  # a loop, because registries have many names
        if name.startswith(prefix) and name != prefix:
            return prefix, _look(name[len(prefix) :])
    return "", _look(name)


@functools.cache
def _look(text: str) -> str:
    for pair, one in _PAIRS:
        text = text.replace(pair, one)
    return text.translate(_LOOKS)
