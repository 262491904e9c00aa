"""Where pip puts the files of wheels in this environment, and whose the files there are."""

from __future__ import annotations

import base64
import contextlib
import csv
import hashlib
import importlib.machinery
import importlib.metadata
import json
import os
import re
import site
import sys
import sysconfig
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from urllib.parse import unquote, urlsplit

from neurogym_core.tools import canonical, clean
from neurogym_registry.contents import Contents

_AT_START = re.compile(r"[^/]+\.pth|(site|user)customize([./].*)?", re.IGNORECASE)
_ENDINGS = tuple(importlib.machinery.all_suffixes())
_LIBRARIES = (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"))
_OF_PYTHON = re.compile(
    r"(pythonw?|pip)[\d.]*(\.exe)?|(de)?activate(_this)?(\.\w+)?", re.IGNORECASE
)


@dataclass(frozen=True)
class Effects:
    """The additions of a wheel to the environment, for the plan.

    Attributes:
        at_start: files that run whenever Python starts.
        modules: names that can be imported.
        commands: programs.
        others: further files, relative to the environment.
    """

    at_start: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


def user_install() -> bool:
    """Whether packages go into the user's folder, because the environment cannot be written."""
    folders = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    return not all(map(_writable, folders)) and bool(site.ENABLE_USER_SITE)


def _writable(folder: str) -> bool:
    path = Path(folder)
    while not path.is_dir() and path != path.parent:
        path = path.parent
    return os.access(path, os.W_OK)


@dataclass(frozen=True)
class Folders:
    """The folders into which pip puts the files of wheels, without symbolic links."""

    purelib: str
    platlib: str
    include: str
    scripts: str
    data: str

    @classmethod
    def here(cls) -> Folders:
        """Return those of this environment."""
        user = user_install()
        found = sysconfig.get_paths(sysconfig.get_preferred_scheme("user" if user else "prefix"))
        include = found["include"]
        if sys.prefix != sys.base_prefix:
            version = f"python{sys.version_info.major}.{sys.version_info.minor}"
            include = os.path.join(sys.prefix, "include", "site", version)
        folders = (found["purelib"], found["platlib"], include, found["scripts"], found["data"])
        return cls(*map(os.path.realpath, folders))

    def path(self, name: str, scheme: str, path: str) -> str:
        """Return where a file of the distribution `name` goes."""
        base = os.path.join(self.include, name) if scheme == "headers" else getattr(self, scheme)
        return real(os.path.join(base, path))

    @property
    def sites(self) -> tuple[str, ...]:
        """The folders of modules."""
        return tuple(dict.fromkeys((self.purelib, self.platlib)))

    def in_site(self, path: str) -> str | None:
        """Return the path within a folder of modules, with "/", or None."""
        for folder in self.sites:
            if path.startswith(folder + os.sep):
                return path[len(folder) + 1 :].replace(os.sep, "/")
        return None

    def shown(self, path: str) -> str:
        """Return a path relative to the environment, for messages."""
        within = path.startswith(self.data + os.sep)
        return clean(self.in_site(path) or (os.path.relpath(path, self.data) if within else path))

    def contain(self, path: str) -> bool:
        """Whether a path is in the environment, and not kept for Python or the environment."""
        if self.in_site(path) is not None:
            return True
        folder, name = os.path.split(path)
        if folder == self.scripts:
            return _OF_PYTHON.fullmatch(name) is None
        kept = (
            os.path.join(self.data, "conda-meta", ""),
            *(os.path.join(os.path.realpath(one), "") for one in _LIBRARIES),
        )
        inside = path.startswith((self.data + os.sep, self.include + os.sep))
        return inside and name != "pyvenv.cfg" and not path.startswith(kept)


@cache
def _real_folder(folder: str) -> str:
    return os.path.realpath(folder)


def real(path: str) -> str:
    """Return a normalized path in which no folder is a symbolic link."""
    folder, name = os.path.split(os.path.normpath(path))
    return os.path.join(_real_folder(folder), name)


Planned = Mapping[str, tuple[str, tuple[str, str]]]
"""{path: distribution, hash} of files that a plan installs."""


@dataclass
class Place:
    """The environment, with the files of the distributions in it."""

    folders: Folders = field(default_factory=lambda: Folders.here())

    @cached_property
    def lists(self) -> dict[str, dict[str, str]]:
        """{distribution: {path: hash}} of the RECORD of every installed distribution."""
        found: dict[str, dict[str, str]] = {}
        for one in importlib.metadata.distributions():
            with contextlib.suppress(UnicodeDecodeError, csv.Error):  # others can be installed
                if name := canonical(one.metadata["Name"] or ""):
                    found.setdefault(name, {}).update(_listed(one))
        return found

    @cached_property
    def owners(self) -> dict[str, set[str]]:
        """{path: distributions that list it}."""
        found: dict[str, set[str]] = {}
        for name, rows in self.lists.items():
            for path in rows:
                found.setdefault(path, set()).add(name)
        return found

    def belonging(self, name: str) -> tuple[list[str], list[str]]:
        """Return the files that belong to a distribution, and others that it lists.

        A file belongs to it if only it lists the file, the file is in the environment, and either
        has the listed hash or is in a folder of modules that is the distribution's own."""
        rows = self.lists.get(name)
        if not rows:
            return [], []
        info = [path for path in rows if path.endswith(f".dist-info{os.sep}RECORD")]
        mine = [path for path in rows if self.owners[path] == {name} and self.folders.contain(path)]
        verified = {path for path in mine if _has_hash(path, rows[path])}
        tops = {top for path in verified if (top := self._top(path))}
        shared = {
            self._top(path)
            for path, names in self.owners.items()
            if names != {name} or path not in rows
        }
        folders = {*tops - shared, *(os.path.dirname(one) + os.sep for one in info)}
        own = [one for one in mine if one in verified or one.startswith(tuple(folders))]
        kept = [path for path in rows if path not in set(own) and os.path.lexists(path)]
        return [one for one in own if os.path.lexists(one)], kept

    def _top(self, path: str) -> str | None:
        """Return the first folder of a path below a folder of modules."""
        inside = self.folders.in_site(path)
        if inside is None or "/" not in inside:
            return None
        return path[: len(path) - len(inside)] + inside.partition("/")[0] + os.sep

    def paths(self, name: str, contents: Contents) -> dict[str, tuple[str, str]]:
        """Return {path: hash} of every file that pip writes from a wheel, without bytecode."""
        names = {one: contents.files.get(one, "") for one in contents.written()}
        return {
            self.folders.path(name, *one): contents.hashes.get(inside, ("", ""))
            for one, inside in names.items()
        }

    def effects(self, name: str, contents: Contents) -> Effects:
        """Return the additions of a wheel, for the plan."""
        at_start, modules, commands, others = list[str](), list[str](), list[str](), list[str]()
        for path in self.paths(name, contents):
            inside = self.folders.in_site(path)
            top = (inside or "").partition("/")[0]
            if os.path.dirname(path) == self.folders.scripts:
                commands.append(os.path.basename(path))
            elif inside is None:
                others.append(self.folders.shown(path))
            elif top == contents.info:
                continue
            elif (module := top if "/" in inside else _module(top)) is not None:
                modules.append(module)
            elif _AT_START.fullmatch(inside) is None:
                others.append(inside)
            if inside is not None and _AT_START.fullmatch(inside):
                at_start.append(inside)
        found = (at_start, modules, commands, others)
        return Effects(*(tuple(map(clean, dict.fromkeys(one))) for one in found))

    def fault(
        self, name: str, contents: Contents, planned: Planned, protected: Collection[str]
    ) -> str | None:
        """Return in which way a wheel would change files of others, or None.

        A file may be there already with the same content, as the `__init__.py` of some namespaces.

        Args:
            name: the distribution.
            contents: the wheel.
            planned: the files of the wheels that the plan installs before.
            protected: distributions whose files no other may have.
        """
        new = self.paths(name, contents)
        if len(new) < len(contents.written()) or any(map(new.__contains__, _parents(new))):
            return "it has a file twice, or also as a folder"
        own = set(self.belonging(name)[0])
        for path, digest in new.items():
            shown = repr(self.folders.shown(path))
            if not self.folders.contain(path):
                return f"{shown} belongs to Python or is outside of the environment"
            others = self.owners.get(path, set()) - {name}
            there = planned[path][1] if path in planned else None
            if path in planned and there != digest:
                return f"{shown} is also a file of {planned[path][0]}, which the plan installs"
            same = _has_hash(path, "=".join(digest)) and not others & set(protected)
            if os.path.lexists(path) and path not in own and not same:
                owner = ", ".join(sorted(others)) or "no package that ngym may change"
                return f"{shown} is there, and belongs to {owner}"
        return self._fault_of_imports(name, new, own, planned)

    def _fault_of_imports(
        self, name: str, new: Mapping[str, object], own: set[str], planned: Planned
    ) -> str | None:
        """Return which module would be in the package of others, or be confused with theirs."""
        for path in new:
            inside = self.folders.in_site(path) or ""
            shown = repr(self.folders.shown(path))
            base = os.path.basename(path)
            if os.path.basename(os.path.dirname(path)) == "__pycache__" and base.endswith(".pyc"):
                source = os.path.join(os.path.dirname(os.path.dirname(path)), base.split(".")[0])
                if f"{source}.py" not in new:
                    return f"{shown} is bytecode without its source"
            there, depth = path, inside.count("/")
            while inside and depth >= 0:
                folder, entry = os.path.split(there)
                if there != path and os.path.isfile(there) and there not in own:
                    return f"{shown} would be in {self.folders.shown(there)!r}, which is a file"
                module = _module(entry) if there == path else entry
                for other in self._others_in(folder, planned):
                    full = os.path.join(folder, other)
                    if full in new or full in own:
                        continue
                    if depth and _module(other) == "__init__":
                        return f"{shown} would be in a package of others"
                    same = module is not None and module in (_module(other), other)
                    if same and other != entry and not self._is_own_folder(full, own):
                        return f"{shown} would be confused with {self.folders.shown(full)!r}"
                there, depth = folder, depth - 1
        return self._fault_of_path(name, new)

    def _others_in(self, folder: str, planned: Planned) -> set[str]:
        """Return the names in a folder, with those of the plan."""
        if folder not in self._names:
            self._names[folder] = set(os.listdir(folder)) if os.path.isdir(folder) else set()
        begin = folder + os.sep
        later = {one[len(begin) :].split(os.sep)[0] for one in planned if one.startswith(begin)}
        return self._names[folder] | later

    _names: dict[str, set[str]] = field(default_factory=dict)

    def _is_own_folder(self, folder: str, own: set[str]) -> bool:
        """Whether a folder has files of the distribution's old version, and no others."""
        files = [os.path.join(top, one) for top, _, names in os.walk(folder) for one in names]
        return bool(files) and all(one in own or one.endswith(".pyc") for one in files)

    def _fault_of_path(self, name: str, new: Mapping[str, object]) -> str | None:
        """Return which module would hide one elsewhere on the path, e.g. an editable one."""
        editable = _editable(name)
        insides = filter(None, map(self.folders.in_site, new))
        for top in sorted({inside.partition("/")[0] for inside in insides}):
            module = _module(top) or top
            if not module.isidentifier() or module in sys.stdlib_module_names:
                continue  # the standard library comes first, whatever is installed
            try:
                spec = importlib.machinery.PathFinder.find_spec(module, sys.path[1:])
            except (ImportError, ValueError):
                continue
            where = os.path.realpath(spec.origin) if spec is not None and spec.origin else ""
            mine = editable and where.startswith(editable + os.sep)
            if where and not mine and self.folders.in_site(where) is None:
                return f"its module {module!r} would be confused with {clean(where)!r}"
        return None


def _parents(paths: Iterable[str]) -> set[str]:
    """Return all folders above paths."""
    found = set[str]()
    for path in paths:
        folder = os.path.dirname(path)
        while folder not in found and folder != os.path.dirname(folder):
            found.add(folder)
            folder = os.path.dirname(folder)
    return found


def _module(entry: str) -> str | None:
    """Return the name under which a file or folder is imported, or None."""
    for ending in sorted(_ENDINGS, key=len, reverse=True):
        if entry.endswith(ending):
            return entry.removesuffix(ending).partition(".")[0]
    return None


def _listed(distribution: importlib.metadata.Distribution) -> Iterator[tuple[str, str]]:
    """Yield (path, hash) of the rows of RECORD."""
    base = str(distribution.locate_file(""))
    for row in csv.reader((distribution.read_text("RECORD") or "").splitlines()):
        if row:
            yield real(os.path.join(base, row[0])), row[1] if len(row) > 1 else ""


def _has_hash(path: str, said: str) -> bool:
    """Whether a file has a hash in the form of RECORD."""
    algorithm, _, digest = said.partition("=")
    if algorithm not in ("sha256", "sha384", "sha512") or not os.path.isfile(path):
        return False
    with open(path, "rb") as stream:
        found = hashlib.file_digest(stream, algorithm).digest()
    return base64.urlsafe_b64encode(found).decode().rstrip("=") == digest.rstrip("=")


def _editable(name: str) -> str:
    """Return the folder of the sources of an editable installation, or an empty text."""
    try:
        text = importlib.metadata.distribution(name).read_text("direct_url.json")
        said = json.loads(text or "{}")
        editable = said.get("dir_info", {}).get("editable") is True
        return os.path.realpath(unquote(urlsplit(said["url"]).path)) if editable else ""
    except (importlib.metadata.PackageNotFoundError, ValueError, KeyError, AttributeError):
        return ""
