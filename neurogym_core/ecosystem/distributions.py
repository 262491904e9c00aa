"""What the installed distributions declare, read from their metadata; the one module that knows how that is stored.

Nothing is imported, and one distribution with unreadable metadata becomes a record with a problem, not an error.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from .names import CORE, canonical, clean, is_distribution_name, said_by
from .records import Problem
from .versions import release

PREFIX = "neurogym."
UNKNOWN = "unknown"  # the version of what cannot be read


class Declaration(NamedTuple):
    """What one distribution declares; ``entry_points`` are (group, name, value) of the ``neurogym.`` groups."""

    name: str
    version: str
    requires: tuple[str, ...] = ()
    entry_points: tuple[tuple[str, str, str], ...] = ()
    location: str = ""
    editable: str | None = None
    problems: tuple[Problem, ...] = ()


@functools.cache
def declarations() -> tuple[Declaration, ...]:
    """Every distribution with an entry point of ours, by canonical name; of two copies, the first on the path.

    The copy that is passed over is named in a problem of the one that is used. Read once, until the cache is cleared.
    """
    found: dict[str, Declaration] = {}
    for one in _read_all():
        key = canonical(one.name)
        found[key] = _choose(found[key], one) if key in found else one
    if CORE not in found and (core := _checkout()) is not None:
        found[CORE] = core
    return tuple(found[key] for key in sorted(found))


def _read_all() -> Iterator[Declaration]:
    # importlib_metadata replaces the standard library's finder in the whole process when it is imported: not before
    # somebody asks for a task by name, and nowhere else in this project.
    import importlib_metadata

    for distribution in importlib_metadata.distributions():
        try:
            text = distribution.read_text("entry_points.txt")
        except Exception:  # the metadata of most distributions is not our business, least of all what is unreadable
            continue
        if text is not None and PREFIX in text:
            yield _read(distribution)


def _read(distribution: Any) -> Declaration:
    location = _location(distribution)
    try:
        name, version, requires = _headers(distribution)
        groups = [(point.group, point.name, point.value) for point in distribution.entry_points]
    except Exception as error:
        return _unreadable(distribution, location, said_by(error))
    if not is_distribution_name(name):
        return _unreadable(distribution, location, f"it calls itself {clean(name)!r}, which is no distribution's name")
    return Declaration(
        name=name,
        version=clean(version),
        requires=requires,
        entry_points=tuple(sorted(point for point in groups if point[0].startswith(PREFIX))),
        location=location,
        editable=_editable(distribution),
    )


def _headers(distribution: Any) -> tuple[str, str, tuple[str, ...]]:
    """Name, version and requirements."""
    text = distribution.read_text("METADATA")
    if text is None:  # an old egg-info has its requirements elsewhere
        name, version, requires = distribution.metadata["Name"], distribution.version, distribution.requires or ()
    else:
        # Read here, since the email parser takes longer to import than all the rest of a scan takes.
        head = [line.partition(":") for line in text.partition("\n\n")[0].splitlines()]
        fields = [(key.lower(), value.strip()) for key, _, value in head]  # a folded line's key begins with a blank
        name, version = (next((text for key, text in fields if key == one), None) for one in ("name", "version"))
        requires = [value for key, value in fields if key == "requires-dist"]
    if not name or not version:
        raise ValueError("METADATA has no name or no version")
    return str(name), str(version), tuple(map(str, requires))


def _unreadable(distribution: Any, location: str, reason: str) -> Declaration:
    """A record under the folder's name, for metadata that cannot be read; it offers nothing."""
    folder = Path(str(getattr(distribution, "_path", "unknown"))).name
    stem = folder.removesuffix(".dist-info").removesuffix(".egg-info").split("-")[0]
    problem = Problem(
        level="fatal",
        code="metadata",
        message=f"The metadata in {clean(folder)} cannot be read ({clean(reason)}); nothing of it is offered. "
        "Install the package again, or remove that folder.",
    )
    name = stem if is_distribution_name(stem) else "unreadable-metadata"
    return Declaration(name=name, version=UNKNOWN, location=location, problems=(problem,))


def _location(distribution: Any) -> str:
    try:
        return str(distribution.locate_file(""))
    except Exception:
        return ""


def _editable(distribution: Any) -> str | None:
    """The source folder of an editable install, from the record that pip leaves."""
    try:
        origin = json.loads(distribution.read_text("direct_url.json") or "{}")
        if origin.get("dir_info", {}).get("editable"):
            return unquote(urlsplit(origin["url"]).path)
    except Exception:  # a broken record only costs the hint about stale metadata
        return None
    return None


def _choose(first: Declaration, second: Declaration) -> Declaration:
    """Which of two copies counts: a readable one, then the first on the path, then (in one folder) the newer."""
    readable = [one for one in (first, second) if one.version != UNKNOWN]
    if len(readable) == 1:
        return _beside(readable[0], second if readable[0] is first else first)
    if first.location == second.location and release(second.version) > release(first.version):
        return _beside(second, first)
    return _beside(first, second)


def _beside(used: Declaration, other: Declaration) -> Declaration:
    """`used`, with a note that there is another copy of the same distribution."""
    if used.location == other.location and used.version == other.version:
        return used  # the same folder twice on the path
    stale = used.location == other.location
    problem = Problem(
        level="error" if stale else "warning",
        code="stale" if stale else "duplicate",
        message=f"{used.name} is installed twice: {used.version} is used, and there is {clean(other.version)} in "
        + ("the same folder. Remove it and install it again." if stale else f"{other.location}, later on the path."),
    )
    return used._replace(problems=(*used.problems, problem))


def _checkout() -> Declaration | None:
    """The core itself when it runs from a checkout that nobody installed: the same facts, from pyproject.toml."""
    import tomllib  # an installed core never comes here

    folder = Path(__file__).resolve().parents[2]
    try:
        project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
        points = project.get("entry-points", {})
        if canonical(project["name"]) != CORE:
            return None
    except (OSError, ValueError, KeyError):
        return None
    declared = [(group, name, value) for group, rows in points.items() for name, value in rows.items()]
    return Declaration(
        name=project["name"],
        version=project["version"],
        entry_points=tuple(sorted(point for point in declared if point[0].startswith(PREFIX))),
        location=str(folder),
        editable=str(folder),
    )
