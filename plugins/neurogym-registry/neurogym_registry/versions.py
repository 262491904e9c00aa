"""Order of the versions that the registry accepts."""

from __future__ import annotations

import re

_VERSION = re.compile(r"(\d+(?:\.\d+)*)(?:(a|b|rc)(\d+))?(?:\.post(\d+))?")
_PHASES = {"a": 0, "b": 1, "rc": 2, None: 3}

Key = tuple[tuple[int, ...], int, int, int]


def version_key(version: str) -> Key:
    """Return a key that sorts as pip does: ``1.0a1 < 1.0rc1 < 1.0 < 1.0.post1 < 1.0.1``.

    Trailing zeros are ignored: ``1.0`` and ``1.0.0`` are the same version. Invalid versions come
    first.
    """
    match = _VERSION.fullmatch(version)
    if match is None:
        return ((), -1, 0, 0)
    release, phase, number, post = match.groups()
    parts = [int(part) for part in release.split(".")]
    while parts and parts[-1] == 0:
        parts.pop()
    return tuple(parts), _PHASES[phase], int(number or 0), -1 if post is None else int(post)


def is_prerelease(version: str) -> bool:
    """Whether a version is an alpha, a beta or a release candidate."""
    match = _VERSION.fullmatch(version)
    return match is not None and match.group(2) is not None
