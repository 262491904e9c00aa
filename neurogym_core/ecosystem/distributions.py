"""Reads the declarations of installed distributions from their metadata.

No package is imported. A distribution with unreadable metadata becomes a record with a problem, not
an error. No other module depends on the format of the metadata.
"""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from neurogym_core.ecosystem.names import CORE, canonical, clean, is_distribution_name, said_by
from neurogym_core.ecosystem.records import Problem
from neurogym_core.ecosystem.versions import release

PREFIX = "neurogym."
MAX_POINTS = 65_536  # characters of entry_points.txt
MAX_METADATA = 2_000_000  # bytes of METADATA, which has a README in it
UNKNOWN = "unknown"  # version of a distribution whose metadata cannot be read


class Declaration(NamedTuple):
    """The declarations of one distribution.

    ``entry_points`` are (group, name, value) of the ``neurogym.`` groups. ``origin`` is pip's
    record of the source of an editable install, see `editable`.
    """

    name: str
    version: str
    requires: tuple[str, ...] = ()
    entry_points: tuple[tuple[str, str, str], ...] = ()
    location: str = ""
    origin: str = ""
    problems: tuple[Problem, ...] = ()


@functools.cache
def declarations(thorough: bool = True) -> tuple[Declaration, ...]:
    """Return every distribution with a ``neurogym.`` entry point, sorted by canonical name.

    Of two copies of a distribution, the first on the path is used; a problem of it names the other
    copy. The result is cached.

    Args:
        thorough: read with importlib_metadata, which supports every kind of install. If False, read
            only the ``.dist-info`` folders of packages that pip installed, in a third of the time.
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
        except Exception:  # most distributions have nothing to do with this project
            continue
        if text is None or PREFIX not in text or _name(distribution).startswith("~"):
            continue  # pip leaves folders that begin with ~ behind if it is interrupted
        if len(text) > MAX_POINTS or _size(distribution) > MAX_METADATA:
            reason = f"it has more than {MAX_METADATA:,} bytes, or entry_points.txt {MAX_POINTS:,}"
            yield _unreadable(distribution, _location(distribution), reason)
        else:
            yield _read(distribution)


def _distributions() -> Iterator[Any]:
    # Importing importlib_metadata replaces the standard library's finder in the whole process, so
    # only a thorough scan does it.
    import importlib_metadata

    return importlib_metadata.distributions()


def _folders() -> Iterator[_Folder]:
    """Yield the ``.dist-info`` folders on the path."""
    for place in sys.path:
        try:
            names = os.listdir(place or os.curdir)
        except OSError:  # missing, or an archive
            continue
        yield from (
            _Folder(os.path.join(place, name))
            for name in names
            if name.endswith(".dist-info") and not name.startswith("~")
        )


class _Point(NamedTuple):
    group: str
    name: str
    value: str


class _Folder:
    """A ``.dist-info`` folder with the part of `importlib_metadata.Distribution` that is read."""

    # `_headers` reads these if METADATA is missing, as in an old egg-info; a folder has none.
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
        """The entry points, in the format that the Python Packaging User Guide specifies."""
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
            f"its name {clean(name)!r} is not a valid name of a distribution",
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
    """Return name, version and requirements."""
    text = distribution.read_text("METADATA")
    if text is None:  # an old egg-info has its requirements elsewhere
        name, version, requires = (
            distribution.metadata["Name"],
            distribution.version,
            distribution.requires or (),
        )
    else:
        # Parsed by hand, because importing the email parser takes longer than a scan.
        head = [line.partition(":") for line in text.partition("\n\n")[0].splitlines()]
        # The key of a continuation line begins with a blank, so it matches no field.
        fields = [(key.lower(), value.strip()) for key, _, value in head]
        name, version = (
            next((text for key, text in fields if key == one), None) for one in ("name", "version")
        )
        requires = [value for key, value in fields if key == "requires-dist"]
    if not name or not version:
        raise ValueError("METADATA has no name or no version")
    return str(name), str(version), tuple(map(str, requires))


def _name(distribution: Any) -> str:
    """Return the name of the folder with the metadata."""
    return os.path.basename(str(getattr(distribution, "_path", "unknown")))


def _size(distribution: Any) -> int:
    try:
        return os.path.getsize(os.path.join(str(distribution._path), "METADATA"))
    except (OSError, AttributeError):  # in an archive, or missing
        return 0


def _unreadable(distribution: Any, location: str, reason: str) -> Declaration:
    """Return a record without offers, named after the folder, for unreadable metadata."""
    folder = _name(distribution)
    stem = folder.removesuffix(".dist-info").removesuffix(".egg-info").split("-")[0]
    problem = Problem(
        level="fatal",
        code="metadata",
        message=(
            f"The metadata in {clean(folder)} cannot be read ({clean(reason)}), so nothing of the"
            " package is offered. Install the package again, or remove that folder."
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
    except Exception:  # without this record, only the check for stale metadata is lost
        return ""


def editable(declared: Declaration) -> str | None:
    """Return the source folder of an editable install, from pip's record; else None."""
    if not declared.origin:
        return None
    try:
        origin = json.loads(declared.origin)
        if origin.get("dir_info", {}).get("editable"):
            return unquote(urlsplit(origin["url"]).path)
    except Exception:  # see `_origin`
        return None
    return None


def _choose(first: Declaration, second: Declaration) -> Declaration:
    """Return the copy of a distribution to use, given two in the order of the path.

    A readable copy comes before an unreadable one; in one folder, a newer one before an older one.
    """
    readable = [one for one in (first, second) if one.version != UNKNOWN]
    if len(readable) == 1:
        return _beside(readable[0], second if readable[0] is first else first)
    if first.location == second.location and release(second.version) > release(first.version):
        return _beside(second, first)
    return _beside(first, second)


def _beside(used: Declaration, other: Declaration) -> Declaration:
    """Return `used` with a problem that names the other copy."""
    if used.location == other.location and used.version == other.version:
        return used  # the same folder twice on the path
    stale = used.location == other.location
    problem = Problem(
        level="error" if stale else "warning",
        code="stale" if stale else "duplicate",
        message=(
            f"{used.name} is installed twice: version {used.version} is used, version"
            f" {clean(other.version)} is in "
        )
        + (
            "the same folder. Remove it and install it again."
            if stale
            else f"{other.location}, later on the path."
        ),
    )
    return used._replace(problems=(*used.problems, problem))


def _checkout() -> Declaration | None:
    """Return the declaration of a core that runs from a checkout without being installed."""
    import tomllib  # an installed core does not need it here

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
