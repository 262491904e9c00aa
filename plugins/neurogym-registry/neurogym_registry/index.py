"""The index of a registry: ``index.json`` with a line for each package, and a file for each.

A line has the fields for searches, and the hash of the package file, ``index/NAME.json.gz``,
which has the releases. Equal files of a registry give equal bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from neurogym_core.tools import namespace_of
from neurogym_registry.index_text import DIGEST, SCHEMA, row_text
from neurogym_registry.versions import is_prerelease, version_key

if TYPE_CHECKING:  # clients do not read the files of a registry
    from neurogym_registry.folder import Registry

_OF_LINE = ("schema", "name", "summary", "folder", "status", "latest", "tasks", "offers")
_FOR_SEARCHES = ("name", "title", "summary", "tags", "species", "references", "aliases")
_OF_RELEASE = (
    "version",
    "requires_core",
    "requires_python",
    "license",
    "files",
    "conformance",
    "attestation",
    "yanked",
    "offers",
)


class Split(NamedTuple):
    """An index in parts: ``index.json``, and {package: text of the package file}."""

    index: dict[str, Any]
    files: dict[str, str]


def package_file(name: str) -> str:
    """Return the path of a package file."""
    return f"index/{name}.json.gz"


def split(index: Mapping[str, Any]) -> Split:
    """Move the rows of packages with releases into package files.

    In the index remain the fields that searches use, and the SHA-256 of the text in the file."""
    rows, files = [], {}
    for row in index["packages"]:
        if not row["releases"]:
            rows.append(row)
            continue
        text = files[row["name"]] = row_text(row) + "\n"
        line = {key: row[key] for key in _OF_LINE if key in row}
        rows.append({**line, DIGEST: hashlib.sha256(text.encode()).hexdigest()})
    return Split({**index, "packages": rows}, files)


def build_index(registry: Registry, *, full: bool = False) -> dict[str, Any]:
    """Return the index of a valid registry (see `rules.validate`), with complete rows.

    It contains no time of building, so that it changes only with the files.

    Args:
        registry: the registry.
        full: with descriptions of the tasks, which otherwise are only in the files of releases.
    """
    return {
        "schema": SCHEMA,
        "serial": serial_of(registry),
        "packages": [_package(registry, name, full) for name in sorted(registry.entries)],
        "revoked": sorted(
            registry.revoked, key=lambda row: (row["date"], row["name"], row["versions"])
        ),
    }


def serial_of(registry: Registry) -> int:
    """Return the number of releases, yanks and revocations.

    None of them is ever removed, so that a lower serial means an older registry."""
    releases = [release for versions in registry.releases.values() for release in versions.values()]
    return (
        len(releases)
        + sum(release.get("yanked") is not None for release in releases)
        + len(registry.revoked)
    )


def is_revoked(revoked: Sequence[Mapping[str, Any]], name: str, version: str) -> str | None:
    """Return why a release is revoked, or None if it is not."""
    key = version_key(version)
    for row in revoked:
        if row["name"] == name and any(
            one == "*" or version_key(one) == key for one in row["versions"]
        ):
            return str(row["reason"])
    return None


def newest(versions: Sequence[str]) -> str | None:
    """Return the newest final version, else the newest pre-release, else None."""
    return max(versions, key=lambda one: (not is_prerelease(one), version_key(one)), default=None)


def _slim(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: row[key] for key in _FOR_SEARCHES if key in row}


def _release(release: Mapping[str, Any], digest: str | None) -> dict[str, Any]:
    """Return a release's object in the index, with the hash of its file if it was read from one."""
    row = {key: release[key] for key in _OF_RELEASE if key in release}
    return row if digest is None else {**row, "release_sha256": digest}


def _package(registry: Registry, name: str, full: bool) -> dict[str, Any]:
    entry = {key: value for key, value in registry.entries[name].items() if key != "schema"}
    releases = registry.releases.get(name, {})
    usable = [
        version
        for version, release in releases.items()
        if release["yanked"] is None and is_revoked(registry.revoked, name, version) is None
    ]
    latest = newest(usable)
    shown = releases[latest] if latest is not None else registry.sources.get(name, {})
    return {
        **entry,
        "schema": SCHEMA,
        "namespace": namespace_of(name),
        "status": entry.get("status", "active"),
        "latest": latest,
        "releases": [
            _release(releases[version], registry.digests.get(name, {}).get(version))
            for version in sorted(releases, key=version_key)
        ],
        "tasks": [row if full else _slim(row) for row in shown.get("tasks", [])],
        "wrappers": [row if full else _slim(row) for row in shown.get("wrappers", [])],
        "offers": shown.get("offers", {}),
        **({"helps": shown["helps"]} if shown.get("helps") else {}),
    }
