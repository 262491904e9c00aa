"""The files of a registry, read into memory."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, Literal

from neurogym_core.tools import clean, read_toml, said_by
from neurogym_registry.schemas import breaches

Level = Literal["error", "warning"]
MAX_FILE = 5_000_000  # bytes
IGNORED = (".git", ".DS_Store", "__pycache__")


@dataclass(frozen=True, kw_only=True)
class Violation:
    """A violation of a rule by a file of the registry.

    Attributes:
        rule: one of `rules.RULES`.
        file: path relative to the registry.
        field: field of the file, e.g. ``tasks[0].summary``; empty for the whole file.
        message: the finding, the expectation, and advice.
    """

    level: Level = "error"
    rule: str
    file: str
    field: str = ""
    message: str

    def __str__(self) -> str:
        """Return ``error: packages/foo.toml, name: … [file-name]``."""
        where = f"{self.file}, {self.field}" if self.field else self.file
        return f"{self.level}: {where}: {self.message} [{self.rule}]"


@dataclass(frozen=True, kw_only=True)
class Registry:
    """The contents of a registry's files; unreadable files are in `violations` instead.

    Attributes:
        entries: name -> the table of ``packages/<name>.toml``.
        releases: name -> version -> the object of ``releases/<name>/<version>.json``.
        digests: name -> version -> SHA-256 of ``releases/<name>/<version>.json``.
        sources: name -> the object of ``sources/<name>.json``.
        revoked: the rows of ``revoked.json``.
        others: paths of other files, relative to the folder: figures, pages, schemas.
        known: names of packages whose files are not here, if this is a part of a registry.
    """

    @property
    def names(self) -> frozenset[str]:
        """The names of all packages, also of those whose files are not here."""
        return self.known | self.entries.keys()

    folder: Path
    entries: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    releases: Mapping[str, Mapping[str, dict[str, Any]]] = field(default_factory=dict)
    digests: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    sources: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    revoked: tuple[dict[str, Any], ...] = ()
    others: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()
    violations: tuple[Violation, ...] = ()


def entry_file(name: str) -> str:
    """Return the path of a package's entry."""
    return f"packages/{name}.toml"


def release_file(name: str, version: str) -> str:
    """Return the path of a release."""
    return f"releases/{name}/{version}.json"


def sources_file(name: str) -> str:
    """Return the path of the contents of a package without releases."""
    return f"sources/{name}.json"


def read_registry(folder: Path) -> Registry:
    """Read all files of a registry; invalid files are reported in `Registry.violations`."""
    reader = _Reader(folder)
    for top, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in IGNORED)
        for name in sorted(files):
            if name not in IGNORED:
                reader.take(Path(top, name))
    return reader.registry()


def read_package(folder: Path, name: str) -> Registry:
    """Read the files of one package, and the revocations; the others are in `Registry.known`.

    A registry can have half a million files."""
    reader = _Reader(folder)
    for file in files_of(folder, name):
        reader.take(folder / file)
    known = {path.name.removesuffix(".toml") for path in folder.glob("packages/*.toml")}
    return reader.registry(known - reader.entries.keys())


def files_of(folder: Path, name: str) -> list[str]:
    """Return the files of a package that exist, and ``revoked.json``, relative to the folder."""
    files = [entry_file(name), sources_file(name), "revoked.json"]
    releases = sorted((folder / "releases" / name).rglob("*"))
    files += [path.relative_to(folder).as_posix() for path in releases if not path.is_dir()]
    return [
        file
        for file in files
        if os.path.lexists(folder / file) and not set(IGNORED) & set(file.split("/"))
    ]


def dumps(value: Any) -> str:
    """Return the registry's form of JSON: sorted, one item per line, ASCII, always equal bytes."""
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=True) + "\n"


class _Reader:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.entries: dict[str, dict[str, Any]] = {}
        self.releases: dict[str, dict[str, dict[str, Any]]] = {}
        self.digests: dict[str, dict[str, str]] = {}
        self.sources: dict[str, dict[str, Any]] = {}
        self.revoked: list[dict[str, Any]] = []
        self.others: set[str] = set()
        self.violations: list[Violation] = []

    def take(self, path: Path) -> None:
        name = path.relative_to(self.folder).as_posix()
        match name.split("/"):
            case ["packages", file] if file.endswith(".toml"):
                self.put(self.entries, file.removesuffix(".toml"), self.read(path, name))
            case ["releases", package, file] if file.endswith(".json"):
                version, value = file.removesuffix(".json"), self.read(path, name)
                self.put(self.releases.setdefault(package, {}), version, value)
                if value is not None:
                    digest = hashlib.sha256(path.read_bytes()).hexdigest()
                    self.digests.setdefault(package, {})[version] = digest
            case ["sources", file] if file.endswith(".json"):
                self.put(self.sources, file.removesuffix(".json"), self.read(path, name))
            case ["revoked.json"]:
                self.take_revoked(self.read(path, name))
            case _:
                self.others.add(name)

    def registry(self, known: Iterable[str] = ()) -> Registry:
        return Registry(
            folder=self.folder,
            entries=self.entries,
            releases=self.releases,
            digests=self.digests,
            sources=self.sources,
            revoked=tuple(self.revoked),
            others=frozenset(self.others),
            known=frozenset(known),
            violations=tuple(self.violations),
        )

    def put(self, rows: dict[str, dict[str, Any]], key: str, value: Any) -> None:
        if value is not None:
            rows[key] = value

    def take_revoked(self, value: Any) -> None:
        found = breaches(value, "revoked") if value is not None else []
        self.violations += broken_schema("revoked.json", found)
        if value is not None and not found:
            self.revoked = value["revoked"]

    def read(self, path: Path, name: str) -> Any:
        """Return the file's value, or None if it is invalid, which adds a violation."""
        try:
            if path.is_symlink() or path.stat().st_size > MAX_FILE:
                raise ValueError(f"it is a symbolic link, or has more than {MAX_FILE:,} bytes")
            text = path.read_text("utf-8")
            value = (
                _plain(read_toml(text))
                if name.endswith(".toml")
                else json.loads(text, parse_constant=_refuse)
            )
            if not isinstance(value, dict):
                raise ValueError("it is not a table")
        except (OSError, ValueError, RecursionError) as error:
            message = (
                f"cannot be read ({clean(said_by(error))}). Expected a file as `ngym` writes"
                " it. Correct it, or write it again."
            )
            self.violations.append(Violation(rule="readable", file=name, message=message))
            return None
        return value


def broken_schema(file: str, found: Iterable[Any]) -> list[Violation]:
    """Return the violations for breaches of a schema."""
    return [
        Violation(
            rule="schema", file=file, field=one.field, message=f"{one.message}. Correct the file."
        )
        for one in found
    ]


def _plain(value: Any) -> Any:
    """Return the value with TOML's dates as ISO texts, as in JSON."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return value.isoformat() if isinstance(value, date) else value


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not valid JSON")
