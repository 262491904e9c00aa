"""Similarity of package names, against confusion and typosquatting."""

from __future__ import annotations

# Packages that users of this project install.
WELL_KNOWN = (
    "neurogym", "neurogym-core", "numpy", "scipy", "pandas", "matplotlib", "gymnasium", "gym",
    "torch", "tensorflow", "jax", "pluggy", "click", "rich", "importlib-metadata", "cookiecutter",
    "stable-baselines3", "sb3-contrib", "requests", "setuptools", "pip", "pytest", "scikit-learn",
    "psychopy", "brian2", "nengo",
)  # fmt: skip
_PREFIXES = ("neurogym-task-", "neurogym-")
_LONG = 6
_LOOKS = str.maketrans({"0": "o", "1": "l", "5": "s", "-": None})


def likeness(name: str, other: str) -> int | None:
    """Return how many letters two different names differ in: 0, 1, or 2 for long names.

    None if they are equal or differ more. The common prefixes, hyphens, and digits that look like
    letters are ignored.
    """
    if name == other:
        return None
    left, right = _stem(name), _stem(other)
    apart = distance(left, right, 2)
    if apart <= 1 or (apart == 2 and min(len(left), len(right)) >= _LONG):
        return apart
    return None


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


def _stem(name: str) -> str:
    for prefix in _PREFIXES:
        if name.startswith(prefix) and name != prefix:
            name = name.removeprefix(prefix)
            break
    return name.translate(_LOOKS)
