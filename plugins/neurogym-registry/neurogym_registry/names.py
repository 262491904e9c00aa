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
    (prefix, left), (other_prefix, right) = _parts(name), _parts(other)
    if abs(len(left) - len(right)) <= 2 and len(frozenset(left) ^ frozenset(right)) <= 4:
        return True
    return prefix != other_prefix and len({*_look(name)} ^ {*_look(other)}) <= 4


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
    for prefix in _PREFIXES:  # a loop, because registries have many names
        if name.startswith(prefix) and name != prefix:
            return prefix, _look(name[len(prefix) :])
    return "", _look(name)


@functools.cache
def _look(text: str) -> str:
    for pair, one in _PAIRS:
        text = text.replace(pair, one)
    return text.translate(_LOOKS)
