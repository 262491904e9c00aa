"""Read the facts of a wheel without installing it or running its code."""

from __future__ import annotations

import configparser
import email.parser
import email.utils
import hashlib
import re
import zipfile
from dataclasses import dataclass
from email.message import Message
from pathlib import Path, PurePosixPath

from neurogym_core.ecosystem.manifest import MAX_BYTES, Manifest, parse_manifest
from neurogym_core.ecosystem.names import CORE, canonical, clean, is_distribution_name, said_by
from neurogym_core.ecosystem.versions import core_specifier
from neurogym_core.errors import RegistryError

MAX_WHEEL = 100_000_000  # bytes; a package of tasks is some kilobytes
MAX_UNPACKED = 500_000_000
_NAME = re.compile(
    r"(?P<name>[A-Za-z0-9_.]+)-(?P<version>[A-Za-z0-9_.!+]+)(-\d\w*)?-[^-]+-[^-]+-[^-]+\.whl"
)


@dataclass(frozen=True, kw_only=True)
class Wheel:
    """Facts of a wheel; ``entry_points`` are group -> name -> value."""

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
    summary: str = ""
    authors: tuple[str, ...] = ()
    repository: str = ""

    def unpack(self, folder: Path) -> None:
        """Write the files into a folder, as pip does with a pure-Python wheel."""
        with zipfile.ZipFile(self.path) as archive:
            archive.extractall(folder)


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def read_wheel(path: Path) -> Wheel:
    """Read a wheel.

    Raises:
        RegistryError: the file is not a wheel, its name and METADATA disagree, or it contains paths
            outside its folder or files that run when Python starts.
    """
    named = _NAME.fullmatch(path.name)
    if named is None:
        raise _refusal(path, "its name does not have the form name-version-python-abi-platform.whl")
    try:
        if path.stat().st_size > MAX_WHEEL:
            raise _refusal(path, f"it has more than {MAX_WHEEL:,} bytes")
        with zipfile.ZipFile(path) as archive:
            return _read(path, archive, named["name"], named["version"])
    except (OSError, zipfile.BadZipFile, configparser.Error, UnicodeDecodeError, KeyError) as error:
        raise _refusal(path, f"it cannot be read ({clean(said_by(error))})") from error


def _read(path: Path, archive: zipfile.ZipFile, name: str, version: str) -> Wheel:
    files = archive.infolist()
    _check_paths(path, files)
    info = next(
        (one.filename for one in files if re.fullmatch(r"[^/]+\.dist-info/METADATA", one.filename)),
        None,
    )
    if info is None:
        raise _refusal(path, "it has no METADATA")
    headers = email.parser.Parser().parsestr(_text(archive, info), headersonly=True)
    own_name, own_version = str(headers["Name"]), str(headers["Version"])
    if not is_distribution_name(own_name):
        raise _refusal(path, f"METADATA has the name {clean(own_name)!r}, which is not valid")
    if canonical(own_name) != canonical(name) or own_version != version:
        raise _refusal(
            path, f"METADATA says {clean(own_name)} {clean(own_version)}, not {name} {version}"
        )
    points = _entry_points(archive, info.replace("METADATA", "entry_points.txt"))
    requires = tuple(str(one) for one in headers.get_all("Requires-Dist") or ())
    return Wheel(
        path=path,
        sha256=sha256_of(path),
        size=path.stat().st_size,
        name=canonical(own_name),
        version=own_version,
        license=str(headers["License-Expression"] or headers["License"] or ""),
        requires=requires,
        requires_core=core_specifier(requires, CORE) or "",
        requires_python=str(headers["Requires-Python"] or "").replace(" ", ""),
        modules=_modules(files),
        entry_points=points,
        manifest=_manifest(archive, points),
        summary=clean(str(headers["Summary"] or "")),
        authors=_authors(headers),
        repository=_repository(headers),
    )


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


def _check_paths(path: Path, files: list[zipfile.ZipInfo]) -> None:
    if sum(one.file_size for one in files) > MAX_UNPACKED:
        raise _refusal(path, f"it unpacks to more than {MAX_UNPACKED:,} bytes")
    for one in files:
        parts = PurePosixPath(one.filename).parts
        if ".." in parts or one.filename.startswith("/") or "\\" in one.filename:
            raise _refusal(
                path, f"{clean(one.filename)!r} would leave the folder of the installation"
            )
        if one.filename.endswith(".pth") or parts[-1:] in (
            ("sitecustomize.py",),
            ("usercustomize.py",),
        ):
            raise _refusal(path, f"{clean(one.filename)!r} would run whenever Python starts")


def _modules(files: list[zipfile.ZipInfo]) -> tuple[str, ...]:
    """Return the top-level modules and packages, which can be imported after installation."""
    tops = set()
    for one in files:
        top, *rest = PurePosixPath(one.filename).parts
        if rest and not top.endswith((".dist-info", ".data")):
            tops.add(top)
        elif not rest and top.endswith(".py"):
            tops.add(top.removesuffix(".py"))
    return tuple(sorted(tops))


def _entry_points(archive: zipfile.ZipFile, name: str) -> dict[str, dict[str, str]]:
    if name not in archive.namelist():
        return {}
    parser = configparser.ConfigParser(delimiters=("=",), interpolation=None)
    parser.optionxform = str  # type: ignore[assignment, method-assign]  # names keep their capitals
    parser.read_string(_text(archive, name))
    return {group: dict(parser[group]) for group in parser.sections()}


def _manifest(archive: zipfile.ZipFile, points: dict[str, dict[str, str]]) -> Manifest | None:
    for value in points.get("neurogym.manifest", {}).values():
        package, _, file = value.partition(":")
        inside = f"{package.replace('.', '/')}/{file}"
        if inside in archive.namelist():
            return parse_manifest(_text(archive, inside), file)
    return None


def _text(archive: zipfile.ZipFile, name: str) -> str:
    with archive.open(name) as stream:
        return stream.read(MAX_BYTES).decode("utf-8")


def _refusal(path: Path, reason: str) -> RegistryError:
    return RegistryError(
        f"{clean(path.name)} was given as a wheel, but {reason}. Expected a wheel that `python -m"
        " build --wheel` made from a package of tasks. Build it again."
    )
