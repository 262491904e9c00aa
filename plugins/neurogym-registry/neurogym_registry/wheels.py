"""Read the facts of a wheel without installing it or running its code.

A wheel of a registry contains one package, named after the distribution, and the metadata of the
installation, nothing else. Wheels can also contain files for any place of the environment,
commands, and modules of other packages: `read_wheel` refuses anything that is not on its list."""

from __future__ import annotations

import email.parser
import email.utils
import functools
import hashlib
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import Message
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement

from neurogym_core.tools import Manifest, canonical, clean, parse_manifest, said_by
from neurogym_registry.contents import (
    WHEEL_NAME,
    Contents,
    ContentsError,
    read_contents,
    text_of,
)
from neurogym_registry.errors import RegistryError
from neurogym_registry.requirements import core_specifier, is_distribution_name

MAX_WHEEL = 100_000_000  # bytes; a package of tasks is some kilobytes
MAX_MANIFEST = 163_840  # as the core reads
TEMPLATE_TEXTS = (
    "Cite here the paper that the task follows",
    "Deviations from the paper: list them here.",
)
"""Texts that the template of `ngym new` asks authors to replace."""

# Files that build tools write into the .dist-info folder, and folders and first words of others.
_INFO_FILES = ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "top_level.txt", "zip-safe")
_INFO_FOLDERS = ("licenses", "license_files", "sboms")
_INFO_TEXTS = re.compile(r"(LICEN[CS]E|COPYING|NOTICE|AUTHORS)[A-Za-z0-9._-]*")
_SECTION = re.compile(r"\[([A-Za-z0-9._-]+)\]")
PREFIX = "neurogym."


@dataclass(frozen=True, kw_only=True)
class Wheel:
    """Facts of a wheel.

    Attributes:
        modules: the one package that can be imported after the installation.
        entry_points: group -> name -> value.
        unchanged: files with tasks in which a text of the template is left.
    """

    path: Path
    sha256: str
    size: int
    name: str
    version: str
    license: str
    requires: tuple[str, ...]
    requires_core: str
    requires_python: str
    modules: tuple[str, ...]
    entry_points: dict[str, dict[str, str]]
    manifest: Manifest | None
    unchanged: tuple[str, ...] = ()
    summary: str = ""
    authors: tuple[str, ...] = ()
    repository: str = ""

    def unpack(self, folder: Path) -> None:
        """Write the files into a folder, as pip does with a pure-Python wheel."""
        with zipfile.ZipFile(self.path) as archive:
            archive.extractall(folder)


class WheelError(RegistryError):
    """A wheel was refused; the message is for its author, ``reason`` also for others."""

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def read_wheel(path: Path) -> Wheel:
    """Read a wheel.

    Raises:
        WheelError: the file is not a wheel, its name and METADATA disagree, its metadata cannot
            be read whole, or it has other files, entry points or requirements than a package of
            tasks needs.
    """
    try:
        if path.is_file() and path.stat().st_size > MAX_WHEEL:
            raise ContentsError(f"it has more than {MAX_WHEEL:,} bytes")
        contents = read_contents(path)
        with zipfile.ZipFile(path) as archive:
            return _read(path, archive, contents)
    except ContentsError as error:
        raise _refusal(path, str(error)) from error
    except (OSError, zipfile.BadZipFile, UnicodeDecodeError, KeyError, EOFError) as error:
        raise _refusal(path, f"it cannot be read ({clean(said_by(error))})") from error


def module_of(name: str) -> str:
    """Return the package that the wheel of a distribution contains: ``foo_bar`` for Foo-Bar."""
    return canonical(name).replace("-", "_")


def kinds_of(points: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
    """Return {kind: {name: value}} of all entry points but tasks, wrappers and the manifest.

    These are the effects of a package besides its tasks, for instance hooks and commands."""
    listed = ("neurogym.tasks", "neurogym.wrappers", "neurogym.manifest")
    return {
        group.removeprefix(PREFIX): dict(sorted(rows.items()))
        for group, rows in sorted(points.items())
        if group not in listed and rows
    }


@functools.lru_cache(maxsize=10_000)
def read_requirement(text: str) -> Requirement:
    """Return a requirement.

    Raises:
        ValueError: it is not a requirement, or names an address, from which pip would build
            sources: their build steps run before any question. Nor does it compare versions as
            texts (``===``): pip reads a text with a slash as a path.
    """
    try:
        found = Requirement(text)
    except (InvalidRequirement, RecursionError) as error:  # the parser recurses into brackets
        raise ValueError(f"the requirement {clean(text)[:200]!r} cannot be read") from error
    if found.url is not None:
        raise ValueError(f"it requires {clean(text)[:200]!r}, a file at an address")
    if any(one.operator == "===" for one in found.specifier):
        raise ValueError(f"it requires {clean(text)[:200]!r}, a version compared as a text")
    return found


def _read(path: Path, archive: zipfile.ZipFile, contents: Contents) -> Wheel:
    named = WHEEL_NAME.fullmatch(path.name)
    assert named is not None  # for `read_contents`
    name, version = named["name"], named["version"]
    module = module_of(name)
    _check_content(path, archive, contents, module)
    headers = email.parser.Parser().parsestr(
        text_of(archive, f"{contents.info}/METADATA"), headersonly=True
    )
    own_name, own_version = _identity(path, headers)
    if canonical(own_name) != canonical(name) or own_version != version:
        raise _refusal(
            path, f"METADATA says {clean(own_name)} {clean(own_version)}, not {name} {version}"
        )
    points = _entry_points(path, archive, f"{contents.info}/entry_points.txt", module)
    requires = tuple(str(one) for one in headers.get_all("Requires-Dist") or ())
    for one in requires:
        try:
            read_requirement(one)
        except ValueError as error:
            raise _refusal(path, str(error)) from error
    return Wheel(
        path=path,
        sha256=sha256_of(path),
        size=path.stat().st_size,
        name=canonical(own_name),
        version=own_version,
        license=str(headers["License-Expression"] or headers["License"] or ""),
        requires=requires,
        requires_core=core_specifier(requires),
        requires_python=str(headers["Requires-Python"] or "").replace(" ", ""),
        modules=(module,),
        entry_points=points,
        manifest=_manifest(path, archive, points),
        unchanged=_unchanged(archive, points),
        summary=clean(str(headers["Summary"] or "")),
        authors=_authors(headers),
        repository=_repository(headers),
    )


def _identity(path: Path, headers: Message) -> tuple[str, str]:
    """Return name and version, each of which METADATA has once."""
    names, versions = headers.get_all("Name") or [], headers.get_all("Version") or []
    if headers.defects or len(names) != 1 or len(versions) != 1:
        raise _refusal(path, "METADATA is damaged, or has several names or versions")
    if not is_distribution_name(str(names[0])):
        raise _refusal(path, f"METADATA has the name {clean(str(names[0]))!r}, which is not valid")
    return str(names[0]), str(versions[0])


def _authors(headers: Message) -> tuple[str, ...]:
    """Return the names of the authors, with and without a mail address."""
    plain = [part.strip() for part in str(headers["Author"] or "").split(",")]
    mailed = [name for name, _ in email.utils.getaddresses([str(headers["Author-email"] or "")])]
    return tuple(dict.fromkeys(clean(name) for name in (*plain, *mailed) if name.strip()))


def _repository(headers: Message) -> str:
    """Return the project's https address that is most likely the repository, or an empty text."""
    urls = {}
    for line in headers.get_all("Project-URL") or ():
        label, _, url = str(line).partition(",")
        urls[label.strip().lower()] = url.strip()
    labels = ("repository", "source", "source code", "code", "github", "homepage")
    found = next((urls[label] for label in labels if label in urls), "")
    return found if found.startswith("https://") else ""


def _check_content(path: Path, archive: zipfile.ZipFile, contents: Contents, module: str) -> None:
    """Raise an error unless every file is in the one package, or in the .dist-info folder."""
    for one in archive.infolist():
        name = one.filename
        top, _, rest = name.rstrip("/").partition("/")
        if top == contents.info:
            text = rest in _INFO_FILES or _INFO_TEXTS.fullmatch(rest)
            if rest and not text and rest.partition("/")[0] not in _INFO_FOLDERS:
                raise _refusal(path, f"{name!r} is not a file of a .dist-info folder")
        elif top != module or (not rest and not name.endswith("/")):
            raise _refusal(
                path, f"{name!r} would be installed beside the package. Every file has to be in"
                f" {module}/, the package named after the distribution, or in its .dist-info folder"
            )  # fmt: skip
    names = [one.casefold() for one in archive.namelist()]
    if len(set(names)) < len(names):
        raise _refusal(path, "a file occurs twice, in other capitals")


def _entry_points(
    path: Path, archive: zipfile.ZipFile, name: str, module: str
) -> dict[str, dict[str, str]]:
    """Return the entry points, in the plainest form of the format.

    Installers read other forms differently: a line that one of them takes for the rest of a value
    is a new group for another."""
    found: dict[str, dict[str, str]] = {}
    if name not in archive.namelist():
        return found
    rows: dict[str, str] | None = None
    for line in text_of(archive, name).replace("\r\n", "\n").split("\n"):
        section, point = _SECTION.fullmatch(line), _point(line)
        if not line.isascii() or (line and not line.isprintable()):
            raise _refusal(path, f"the line {clean(line)[:100]!r} is not an entry point")
        if section is not None and section[1] not in found and section[1].startswith(PREFIX):
            rows = found.setdefault(section[1], {})
        elif section is not None:
            raise _refusal(
                path, f"it has entry points in [{clean(section[1])}], which are not of neurogym, or"
                " has the group twice"
            )  # fmt: skip
        elif point is not None and rows is not None:
            if point[0] in rows or not leads_into(point[1], module):
                raise _refusal(
                    path, f"its entry point {clean(line)!r} occurs twice, or leads out of {module}"
                )
            rows[point[0]] = point[1]
        elif line and not line.startswith(("#", ";")):
            raise _refusal(path, f"the line {clean(line)[:100]!r} is not an entry point")
    return found


def _point(line: str) -> tuple[str, str] | None:
    """Return name and value of an entry point, or None; one search per sign, whatever is given."""
    name, equals, value = (part.strip() for part in line.partition("="))
    plain = equals and name and value and line[0] not in " \t\r\v\f[#;" and " " not in value
    return (name, value) if plain else None


_INSIDE = re.compile(r"[.:][\w.:/-]+")


def leads_into(value: str, module: str) -> bool:
    """Whether an entry point leads to the module or a part of it."""
    rest = value.removeprefix(module)
    return value.startswith(module) and (not rest or _INSIDE.fullmatch(rest) is not None)


def _manifest(
    path: Path, archive: zipfile.ZipFile, points: dict[str, dict[str, str]]
) -> Manifest | None:
    for value in points.get("neurogym.manifest", {}).values():
        package, _, file = value.partition(":")
        inside = f"{package.replace('.', '/')}/{file}"
        if inside in archive.namelist():
            return parse_manifest(text_of(archive, inside, MAX_MANIFEST), file)
    return None


def _unchanged(archive: zipfile.ZipFile, points: dict[str, dict[str, str]]) -> tuple[str, ...]:
    """Return the files with tasks in which a text of the template is left."""
    texts = [text.encode() for text in TEMPLATE_TEXTS]
    places = {
        value.partition(":")[0].replace(".", "/")
        for value in points.get("neurogym.tasks", {}).values()
    }
    sources = {f"{place}{end}" for place in places for end in (".py", "/__init__.py")}
    return tuple(
        one
        for one in archive.namelist()
        if one in sources and any(text in archive.read(one) for text in texts)
    )


def _refusal(path: Path, reason: str) -> WheelError:
    return WheelError(
        f"{clean(path.name)} was given as a wheel, but {reason}. Expected a wheel that `python -m"
        " build --wheel` made from a package of tasks. Build it again.",
        reason,
    )
