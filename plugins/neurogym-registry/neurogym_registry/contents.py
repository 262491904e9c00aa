"""Read which files pip would write from a wheel, without unpacking it.

pip puts a file where the normalized path of its name leads, also if the name begins in another
folder. Installers differ in such cases; a wheel that has them is refused. All others are written
exactly as `Contents` says (a test compares generated wheels with pip's own result)."""

from __future__ import annotations

import base64
import csv
import email.parser
import hashlib
import importlib.metadata
import re
import stat
import struct
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_version

from neurogym_core.tools import canonical, clean

MAX_UNPACKED = 500_000_000
MAX_RATIO = 30
"""Most bytes of a large wheel's files per byte of the wheel."""
MAX_FILES = 200_000
MAX_RECORD = 50_000_000
MAX_METADATA = 1_000_000  # for METADATA, with the README in it, for WHEEL and entry_points.txt
WHEEL_NAME = re.compile(
    r"(?P<name>[A-Za-z0-9_.]+)-(?P<version>[A-Za-z0-9_.!+]+)(-\d\w*)?-[^-]+-[^-]+-[^-]+\.whl"
)
SCHEMES = ("purelib", "platlib", "headers", "scripts", "data")
"""Folders of an environment into which a wheel can put files."""
_COMMAND = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")
_CALLABLE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*( ?\[[\w, -]*\])?", re.ASCII)
_OF_PIP = ("INSTALLER", "REQUESTED", "direct_url.json")


class ContentsError(ValueError):
    """pip would not write a wheel as it looks, or it is no wheel; the message is the reason."""


@dataclass(frozen=True, kw_only=True)
class Contents:
    """The files that pip writes from a wheel.

    Attributes:
        info: the .dist-info folder.
        files: {(scheme, path): name in the wheel}; the path is normalized, within a folder of
            `SCHEMES`. Without the commands, and without pip's own files in the .dist-info folder.
        hashes: {name in the wheel: (algorithm, digest)}, as RECORD has them.
        points: group -> name -> value of the entry points.
        requires: the requirements, as METADATA has them.
        commands: file names of the programs that pip makes for entry points.
    """

    info: str
    root: str
    files: dict[tuple[str, str], str]
    hashes: dict[str, tuple[str, str]]
    points: dict[str, dict[str, str]]
    requires: tuple[str, ...] = ()
    commands: tuple[str, ...]

    def written(self) -> list[tuple[str, str]]:
        """Return (scheme, path) of every file that pip writes, without bytecode."""
        added = [(self.root, f"{self.info}/{name}") for name in ("INSTALLER", "REQUESTED")]
        programs = [("scripts", name) for name in self.commands]
        return list(dict.fromkeys([*self.files, *programs, *added]))


def read_contents(path: Path) -> Contents:
    """Read which files pip would write from a wheel.

    Time and space are bounded: sizes are compared before anything is unpacked. Every file is then
    read once, and compared with its checksum and its hash in RECORD.

    Raises:
        ContentsError: pip would not write it as it looks.
        OSError, zipfile.BadZipFile, EOFError: the file cannot be read, or is damaged.
    """
    named = WHEEL_NAME.fullmatch(path.name)
    if named is None:
        raise ContentsError(
            "its name does not have the form name-version-python-abi-platform.whl"
        )  # fmt: skip
    with zipfile.ZipFile(path) as archive:
        try:
            return _read(archive, path.stat().st_size, named["name"], named["version"])
        except (UnicodeDecodeError, csv.Error, NotImplementedError, RuntimeError) as error:
            # An unknown compression, or a password.
            raise ContentsError(f"it cannot be read ({clean(str(error))[:200]})") from error


def refuse_size(archive: zipfile.ZipFile, size: int) -> None:
    """Raise an error if an archive has too many files, or unpacks to too many bytes.

    Raises:
        ContentsError: it does.
    """
    files = archive.infolist()
    most = max(MAX_UNPACKED, MAX_RATIO * size)
    if len(files) > MAX_FILES or sum(one.file_size for one in files) > most:
        raise ContentsError(
            f"it has more than {MAX_FILES:,} files, or unpacks to more than {most:,} bytes"
        )


def _read(archive: zipfile.ZipFile, size: int, name: str, version: str) -> Contents:
    refuse_size(archive, size)
    _refuse_names(archive)
    _refuse_gaps(archive, size)
    info = _info_folder(archive, name, version)
    root = _root(archive, info)
    hashes = _hashes(archive, info)
    points = _entry_points(archive, f"{info}/entry_points.txt")
    commands = _commands(points)
    contents = Contents(
        info=info,
        root=root,
        files=_places(archive, info, root, {name for group in commands for name in group}),
        hashes=hashes,
        points=points,
        requires=_requires(archive, info, name, version),
        commands=tuple(f"{name}{_EXE}" for group in commands for name in group),
    )
    written = contents.written()
    folders = {(scheme, path[:end]) for scheme, path in written for end in _slashes(path)}
    if both := sorted(folders & set(written)):
        raise ContentsError(f"{clean(both[0][1])!r} would be a file and a folder")
    return contents


def _slashes(path: str) -> list[int]:
    return [place for place, sign in enumerate(path) if sign == "/"]


_EXE = ".exe" if sys.platform == "win32" else ""


def _refuse_names(archive: zipfile.ZipFile) -> None:
    """Raise an error if a name of a file is not plain, or occurs twice."""
    same_in_capitals = sys.platform in ("win32", "darwin")
    seen = set[str]()
    for one in archive.infolist():
        name = one.filename
        parts = name.removesuffix("/").split("/")
        strange = any(not part or part[-1] in ". " for part in parts)
        if strange or "\\" in name or ":" in name or not name.isprintable():
            raise ContentsError(f"{clean(name)!r} would leave the folder of the installation")
        if stat.S_IFMT(one.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise ContentsError(f"{name!r} is a symbolic link, or another special file")
        key = "/".join(parts).casefold() if same_in_capitals else "/".join(parts)
        if key in seen:
            raise ContentsError(f"{name!r} occurs twice, perhaps in other capitals")
        seen.add(key)


def _refuse_gaps(archive: zipfile.ZipFile, size: int) -> None:
    """Raise an error for bytes of an archive that its list of files does not describe.

    Some installers read the files from the beginning, without the list: they would find others."""
    assert archive.fp is not None
    at = 0
    for one in sorted(archive.infolist(), key=lambda one: one.header_offset):
        archive.fp.seek(one.header_offset)
        header = archive.fp.read(30)
        if one.header_offset != at or len(header) != 30 or header[:4] != b"PK\3\4":
            raise ContentsError("it has bytes that are of no file in its list")
        lengths = struct.unpack("<HH", header[26:])
        if archive.fp.read(lengths[0]) != one.orig_filename.encode(
            "utf-8" if one.flag_bits & 0x800 else "cp437"
        ):
            raise ContentsError(f"{one.filename!r} has another name before its data")
        at += 30 + sum(lengths) + one.compress_size
        if one.flag_bits & 0x8:  # the sizes follow the data
            archive.fp.seek(at)
            start = archive.fp.read(4)
            sizes = 16 if one.file_size > 0xFFFFFFFF or one.compress_size > 0xFFFFFFFF else 8
            at += 4 + sizes + (4 if start == b"PK\7\x08" else 0)
    rest = archive.start_dir - at  # a list of more than 65,535 files has a longer end
    archive.fp.seek(archive.start_dir)
    listed = archive.fp.read(size)
    end = listed.rfind(b"PK\5\6")
    if rest or archive.comment or end < 0 or len(listed) - end != 22:
        raise ContentsError("it has bytes before or after the list of its files")


def _info_folder(archive: zipfile.ZipFile, name: str, version: str) -> str:
    """Return the .dist-info folder, which has the name and version of the file's name."""
    tops = {one.partition("/")[0] for one in archive.namelist()}
    infos = [top for top in tops if top.lower().endswith(".dist-info")]
    if len(infos) != 1 or f"{infos[0]}/METADATA" not in archive.namelist():
        raise ContentsError("it has no METADATA, or several .dist-info folders")
    stem = infos[0].removesuffix(".dist-info")
    own, _, own_version = stem.partition("-")
    if canonical(own) != canonical(name) or _version(own_version) != _version(version):
        raise ContentsError(f"{clean(infos[0])!r} is not the folder of {name} {version}")
    data = [top for top in tops if top.lower().endswith(".data")]
    if any(top != f"{stem}.data" for top in data):
        raise ContentsError(f"{clean(sorted(data)[0])!r} is not the folder {stem}.data")
    return infos[0]


def _version(text: str) -> str:
    return canonicalize_version(text.replace("_", "+"))


def _root(archive: zipfile.ZipFile, info: str) -> str:
    """Return the scheme of the files that are in no .data folder."""
    headers = email.parser.Parser().parsestr(text_of(archive, f"{info}/WHEEL"), headersonly=True)
    roots = headers.get_all("Root-Is-Purelib") or ["false"]
    versions = [str(one) for one in headers.get_all("Wheel-Version") or []]
    known = len(versions) == 1 and re.fullmatch(r"1\.\d+", versions[0])
    if headers.defects or len(roots) != 1 or not known:
        raise ContentsError("WHEEL is damaged, or of another version than 1")
    return "purelib" if str(roots[0]).lower() == "true" else "platlib"


def _requires(archive: zipfile.ZipFile, info: str, name: str, version: str) -> tuple[str, ...]:
    """Return the requirements in METADATA, which has the name and version of the file's name."""
    headers = email.parser.Parser().parsestr(text_of(archive, f"{info}/METADATA"), headersonly=True)
    names, versions = headers.get_all("Name") or [], headers.get_all("Version") or []
    if len(names) != 1 or len(versions) != 1:
        raise ContentsError("METADATA has not one name and one version")
    own, own_version = str(names[0]), str(versions[0])
    if canonical(own) != canonical(name) or _version(own_version) != _version(version):
        raise ContentsError(f"METADATA says {clean(own)} {clean(own_version)}")
    return tuple(map(str, headers.get_all("Requires-Dist") or ()))


def _places(
    archive: zipfile.ZipFile, info: str, root: str, commands: set[str]
) -> dict[tuple[str, str], str]:
    """Return {(scheme, path): name in the wheel}."""
    data = f"{info.removesuffix('.dist-info')}.data/"
    found = dict[tuple[str, str], str]()
    for name in archive.namelist():
        if name.endswith("/"):
            continue
        scheme, path = root, name
        if name.startswith(data):
            scheme, _, path = name.removeprefix(data).partition("/")
            if scheme not in SCHEMES or not path:
                raise ContentsError(f"{clean(name)!r} is in no folder that an installer knows")
        if scheme == "scripts" and _stem_of_script(path) in commands:
            continue  # pip writes the command instead
        if (scheme, path) in found:
            raise ContentsError(f"{clean(name)!r} occurs twice, also as {found[scheme, path]!r}")
        if scheme in ("purelib", "platlib"):
            _refuse_metadata(name, path, info)
        found[scheme, path] = name
    return found


def _refuse_metadata(name: str, path: str, info: str) -> None:
    """Raise an error if a file would be metadata of another distribution, or replaces pip's."""
    top, _, rest = path.partition("/")
    others = (".dist-info", ".egg-info", ".egg-link", ".egg")
    if top.lower().endswith(others) and (top != info or name != path):
        raise ContentsError(f"{clean(name)!r} would be the metadata of another distribution")
    if top == info and rest in _OF_PIP:
        raise ContentsError(f"{clean(name)!r} is not a file of a .dist-info folder in a wheel")


def _stem_of_script(path: str) -> str:
    """Return the command of a script that setuptools has made for Windows, or its name."""
    name = path.rpartition("/")[2]
    for end in (".exe", "-script.py", ".pya"):
        if name.lower().endswith(end):
            return name[: -len(end)]
    return name


def _hashes(archive: zipfile.ZipFile, info: str) -> dict[str, tuple[str, str]]:
    """Return {name: (algorithm, digest)} of RECORD, which describes exactly the files.

    pip removes the files that RECORD lists, also those of other packages: RECORD has to list each
    file of the archive once, with its SHA-256 (or SHA-384, SHA-512) and its size, and no other.

    Raises:
        ContentsError: it does not.
    """
    files = {one.filename: one for one in archive.infolist() if not one.is_dir()}
    record = f"{info}/RECORD"
    own = {record, f"{record}.jws", f"{record}.p7s"}
    rows = dict[str, list[str]]()
    for row in csv.reader(text_of(archive, record, MAX_RECORD).splitlines()):
        if len(row) != 3 or row[0] in rows:
            raise ContentsError(
                f"RECORD has a row that is not valid, or twice: {clean(','.join(row))[:200]!r}"
            )
        rows[row[0]] = row[1:]
    if strange := sorted(rows.keys() - files.keys() - own):
        raise ContentsError(f"RECORD lists {clean(strange[0])!r}, which it does not contain")
    found = {}
    for name in sorted(files.keys() - own):
        said, size = rows.get(name, ("", ""))
        algorithm, _, digest = said.partition("=")
        if name not in rows:
            raise ContentsError(f"RECORD does not list {clean(name)!r}")
        if algorithm not in ("sha256", "sha384", "sha512"):
            raise ContentsError(f"RECORD has no SHA-256 of {clean(name)!r}")
        with archive.open(name) as stream:
            real = hashlib.file_digest(stream, algorithm).digest()  # type: ignore[arg-type]
        if base64.urlsafe_b64encode(real).decode().rstrip("=") != digest.rstrip("="):
            raise ContentsError(f"RECORD has another hash of {clean(name)!r}")
        if size not in ("", str(files[name].file_size)):
            raise ContentsError(f"RECORD has another size of {clean(name)!r}")
        found[name] = (algorithm, digest)
    return found


def _entry_points(archive: zipfile.ZipFile, name: str) -> dict[str, dict[str, str]]:
    """Return the entry points as pip reads them.

    Other readers take an indented line for the rest of a value; here it always counts as an entry,
    so that none that one of them knows is missing."""
    found: dict[str, dict[str, str]] = {}
    if name not in archive.namelist():
        return found
    text = text_of(archive, name)
    for line in text.splitlines():
        said = line.strip()
        known = not said or said[0] == "#" or (said[0], said[-1]) == ("[", "]") or "=" in said
        if not known or not line.replace("\t", " ").isprintable():
            raise ContentsError(f"the line {clean(line)[:100]!r} is not an entry point")
    try:
        points = _PointsOnly(text).entry_points
    except (ValueError, TypeError, AttributeError) as error:
        raise ContentsError(f"its entry points cannot be read ({clean(str(error))})") from error
    for one in points:
        rows = found.setdefault(str(one.group), {})
        if rows.setdefault(one.name, one.value) != one.value:
            raise ContentsError(f"its entry point {clean(one.name)!r} occurs twice")
    return found


class _PointsOnly(importlib.metadata.Distribution):
    """A distribution that has entry points only, to read them as pip does."""

    def __init__(self, text: str) -> None:
        self.text = text

    def read_text(self, filename: str) -> str | None:
        return self.text if filename == "entry_points.txt" else None

    def locate_file(self, path: object) -> Path:
        raise FileNotFoundError(path)


def _commands(points: dict[str, dict[str, str]]) -> tuple[list[str], ...]:
    """Return the names of the programs of each group that pip makes programs of."""
    found = tuple(list(points.get(group, {})) for group in ("console_scripts", "gui_scripts"))
    for group, names in zip(("console_scripts", "gui_scripts"), found, strict=True):
        for name in names:
            if _COMMAND.fullmatch(name) is None or name in ("pip", "easy_install"):
                raise ContentsError(f"{clean(name)!r} is not a name for a command of a package")
            if _CALLABLE.fullmatch(points[group][name]) is None:
                raise ContentsError(f"its command {clean(name)!r} leads to no function")
    return found


def text_of(archive: zipfile.ZipFile, name: str, most: int = MAX_METADATA) -> str:
    """Return the whole text of a file; a part after a limit could have a requirement.

    Raises:
        ContentsError: it is missing, or larger.
    """
    try:
        with archive.open(name) as stream:
            data = stream.read(most + 1)
    except KeyError as error:
        raise ContentsError(f"it has no {clean(name)}") from error
    if len(data) > most:
        raise ContentsError(f"{clean(name)} has more than {most:,} bytes")
    return data.decode("utf-8")
