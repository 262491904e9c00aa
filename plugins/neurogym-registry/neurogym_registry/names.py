"""Similarity of package names, against confusion and typosquatting."""

from __future__ import annotations

import functools

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
    if (_letters(_parts(name)[1]) ^ _letters(_parts(other)[1])).bit_count() <= 4:
        return True
    return (_letters(_look(name)) ^ _letters(_look(other))).bit_count() <= 4


def _near(left: str, right: str) -> int | None:
    apart = distance(left, right, 2)
    return apart if apart <= 1 or (apart == 2 and min(len(left), len(right)) >= _LONG) else None


def distance(left: str, right: str, most: int) -> int:
    """Return the edit distance of two texts: insertions, deletions, replacements and swaps.

    ``most + 1`` if it is larger than `most`."""
    if abs(len(left) - len(right)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        older, before, row = before, row, [i]
        for j, b in enumerate(right, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
    return min(row[-1], most + 1)


@functools.cache
def _parts(name: str) -> tuple[str, str]:
    """Return the common prefix of a name, and the rest as it looks."""
    prefix = next((one for one in _PREFIXES if name.startswith(one) and name != one), "")
    return prefix, _look(name.removeprefix(prefix))


@functools.cache
def _look(text: str) -> str:
    for pair, one in _PAIRS:
        text = text.replace(pair, one)
    return text.translate(_LOOKS)


@functools.cache
def _letters(text: str) -> int:
    """Return the set of letters as bits; texts at distance 2 differ in four of them at most."""
    found = 0
    for letter in text:
        found |= 1 << (ord(letter) & 63)
    return found
