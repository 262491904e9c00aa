"""What the installed distributions declare, read from their metadata; the one module that knows how
that is stored.

Nothing is imported, and one distribution with unreadable metadata becomes a record with a problem,
not an error."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from neurogym_core.ecosystem.names import CORE, canonical, clean, is_distribution_name, said_by
from neurogym_core.ecosystem.records import Problem
from neurogym_core.ecosystem.versions import release

PREFIX = "neurogym."
UNKNOWN = "unknown"  # the version of what cannot be read


class Declaration(NamedTuple):
    """What one distribution declares.

    ``entry_points`` are (group, name, value) of the ``neurogym.`` groups, ``origin`` is pip's
    record of where an editable install comes from, see `editable`."""

    name: str
    version: str
    requires: tuple[str, ...] = ()
    entry_points: tuple[tuple[str, str, str], ...] = ()
    location: str = ""
    origin: str = ""
    problems: tuple[Problem, ...] = ()


@functools.cache
def declarations(thorough: bool = True) -> tuple[Declaration, ...]:
    """Every distribution with an entry point of ours, by canonical name; of two copies, the first
    on the path.

    The copy that is passed over is named in a problem of the one that is used. Read once, until the
    cache is cleared.

    Args:
        thorough: read with importlib_metadata, which knows every way of being installed; else only
            the folders that pip makes beside what it installs. That takes a third of the time, and
            is enough to find what pip installed.
    """
    found: dict[str, Declaration] = {}
    for one in _read_all(thorough):
        key = canonical(one.name)
        found[key] = _choose(found[key], one) if key in found else one
    if CORE not in found and (core := _checkout()) is not None:
        found[CORE] = core
    return tuple(found[key] for key in sorted(found))


def _read_all(thorough: bool) -> Iterator[Declaration]:
    for distribution in _distributions() if thorough else _folders():
        try:
            text = distribution.read_text("entry_points.txt")
        except Exception:  # the metadata of most distributions is not our business, least of all what is unreadable
            continue
        if text is not None and PREFIX in text:
            yield _read(distribution)


def _distributions() -> Iterator[Any]:
    # importlib_metadata replaces the standard library's finder in the whole process when it is
    # imported: not before somebody asks what is installed, and nowhere else in this project.
    import importlib_metadata

    return importlib_metadata.distributions()


def _folders() -> Iterator[_Folder]:
    """The ``.dist-info`` folders on the path."""
    for place in sys.path:
        try:
            names = os.listdir(place or os.curdir)
        except OSError:  # not there, or an archive
            continue
        yield from (
            _Folder(os.path.join(place, name)) for name in names if name.endswith(".dist-info")
        )


class _Point(NamedTuple):
    group: str
    name: str
    value: str


class _Folder:
    """As much of a distribution as is asked for here, read from its ``.dist-info`` folder."""

    # What an old egg-info has elsewhere; a folder without METADATA has none of it.
    metadata: Mapping[str, None] = MappingProxyType({"Name": None})
    version = requires = None

    def __init__(self, path: str) -> None:
        self._path = path

    def read_text(self, name: str) -> str | None:
        try:
            with open(os.path.join(self._path, name), encoding="utf-8") as file:
                return file.read()
        except OSError:
            return None

    def locate_file(self, name: str) -> str:
        return os.path.join(os.path.dirname(self._path), name).rstrip(os.sep)

    @property
    def entry_points(self) -> list[_Point]:
        """The entry points, as the specification of the Python packaging guide has them."""
        found, group = [], ""
        for line in map(str.strip, (self.read_text("entry_points.txt") or "").splitlines()):
            if line.startswith("[") and line.endswith("]"):
                group = line[1:-1]
            elif line and line[0] not in "#;":
                name, _, value = line.partition("=")
                found.append(_Point(group, name.strip(), value.strip()))
        return found


def _read(distribution: Any) -> Declaration:
    location = _location(distribution)
    try:
        name, version, requires = _headers(distribution)
        groups = [(point.group, point.name, point.value) for point in distribution.entry_points]
    except Exception as error:
        return _unreadable(distribution, location, said_by(error))
    if not is_distribution_name(name):
        return _unreadable(
            distribution,
            location,
            f"it calls itself {clean(name)!r}, which is no distribution's name",
        )
    return Declaration(
        name=name,
        version=clean(version),
        requires=requires,
        entry_points=tuple(sorted(point for point in groups if point[0].startswith(PREFIX))),
        location=location,
        origin=_origin(distribution),
    )


def _headers(distribution: Any) -> tuple[str, str, tuple[str, ...]]:
    """Name, version and requirements."""
    text = distribution.read_text("METADATA")
    if text is None:  # an old egg-info has its requirements elsewhere
        name, version, requires = (
            distribution.metadata["Name"],
            distribution.version,
            distribution.requires or (),
        )
    else:
        # Read here, since the email parser takes longer to import than all the rest of a scan
        # takes.
        head = [line.partition(":") for line in text.partition("\n\n")[0].splitlines()]
        fields = [
            (key.lower(), value.strip()) for key, _, value in head
        ]  # a folded line's key begins with a blank
        name, version = (
            next((text for key, text in fields if key == one), None) for one in ("name", "version")
        )
        requires = [value for key, value in fields if key == "requires-dist"]
    if not name or not version:
        raise ValueError("METADATA has no name or no version")
    return str(name), str(version), tuple(map(str, requires))


def _unreadable(distribution: Any, location: str, reason: str) -> Declaration:
    """A record under the folder's name, for metadata that cannot be read; it offers nothing."""
    folder = os.path.basename(str(getattr(distribution, "_path", "unknown")))
    stem = folder.removesuffix(".dist-info").removesuffix(".egg-info").split("-")[0]
    problem = Problem(
        level="fatal",
        code="metadata",
        message=(
            f"The metadata in {clean(folder)} cannot be read ({clean(reason)}); nothing of it is"
            " offered. Install the package again, or remove that folder."
        ),
    )
    name = stem if is_distribution_name(stem) else "unreadable-metadata"
    return Declaration(name=name, version=UNKNOWN, location=location, problems=(problem,))


def _location(distribution: Any) -> str:
    try:
        return str(distribution.locate_file(""))
    except Exception:
        return ""


def _origin(distribution: Any) -> str:
    try:
        return distribution.read_text("direct_url.json") or ""
    except Exception:  # a broken record only costs the hint about stale metadata
        return ""


def editable(declared: Declaration) -> str | None:
    """The source folder of an editable install, from the record that pip leaves."""
    if not declared.origin:
        return None
    import json
    from urllib.parse import unquote, urlsplit

    try:
        origin = json.loads(declared.origin)
        if origin.get("dir_info", {}).get("editable"):
            return unquote(urlsplit(origin["url"]).path)
    except Exception:  # as above
        return None
    return None


def _choose(first: Declaration, second: Declaration) -> Declaration:
    """Which of two copies counts: a readable one, then the first on the path, then (in one folder)
    the newer.
    """
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
        message=(
            f"{used.name} is installed twice: {used.version} is used, and there is"
            f" {clean(other.version)} in "
        )
        + (
            "the same folder. Remove it and install it again."
            if stale
            else f"{other.location}, later on the path."
        ),
    )
    return used._replace(problems=(*used.problems, problem))


def _checkout() -> Declaration | None:
    """The core itself when it runs from a checkout that nobody installed: the same facts, from
    pyproject.toml.
    """
    import json  # an installed core never comes here
    import tomllib
    from pathlib import Path

    folder = Path(__file__).resolve().parents[2]
    try:
        project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
        points = project.get("entry-points", {})
        if canonical(project["name"]) != CORE:
            return None
    except (OSError, ValueError, KeyError):
        return None
    declared = [
        (group, name, value) for group, rows in points.items() for name, value in rows.items()
    ]
    return Declaration(
        name=project["name"],
        version=project["version"],
        entry_points=tuple(sorted(point for point in declared if point[0].startswith(PREFIX))),
        location=str(folder),
        origin=json.dumps({"url": folder.as_uri(), "dir_info": {"editable": True}}),
    )
