"""Scans the metadata and manifests of the installed packages, and records their problems.

No package is imported. A problem with one package is kept in the record of that package.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import unquote, urlsplit

from neurogym_core._patterns import Pattern
from neurogym_core.ecosystem import names
from neurogym_core.ecosystem.names import CORE, canonical, clean, namespace_of, said_by
from neurogym_core.ecosystem.records import (
    KINDS,
    Described,
    Description,
    Installed,
    Offer,
    PackageInfo,
    Problem,
    TaskInfo,
    WrapperInfo,
    removal,
)
from neurogym_core.ecosystem.versions import core_specifier, release, satisfies
from neurogym_core.errors import did_you_mean, listed

if TYPE_CHECKING:
    from neurogym_core.ecosystem.manifest import Manifest

GROUPS = tuple(f"neurogym.{kind}" for kind in KINDS)
MANIFEST_GROUP = "neurogym.manifest"
MAX_POINTS = 65_536  # characters of entry_points.txt
MAX_METADATA = 2_000_000  # characters of METADATA, which has a README in it
UNKNOWN = "unknown"  # version of a distribution whose metadata cannot be read

_PREFIX = "neurogym."
_MANIFEST_VALUE = Pattern(r"([^\W\d]\w*(?:\.[^\W\d]\w*)*):([\w.-]+\.toml)")
_HOOKS = tuple(_PREFIX + kind for kind in KINDS[KINDS.index("plugins") :])  # modules with hooks
_FORMS = {
    "neurogym.tasks": (names.TASK_NAME, "CapitalizedWords-v0"),
    "neurogym.wrappers": (names.WRAPPER_NAME, "CapitalizedWords"),
    "neurogym.commands": (names.COMMAND_NAME, "lower-case-words"),
    "neurogym.subjects": (names.SUBJECT_NAME, "lower_case_words"),
}
_warning = functools.partial(Problem, level="warning", code="metadata")
_manifest_problem = functools.partial(Problem, level="error", code="manifest", file="manifest")
_DescribedT = TypeVar("_DescribedT", bound=Described)


# -- metadata --------------------------------------------------------------------------------------


class Declaration(NamedTuple):
    """The declarations of one distribution.

    ``entry_points`` are (group, name, value) of the ``neurogym.`` groups. ``editable`` is the
    source folder of an editable install, from pip's record. ``unreadable`` is the folder with the
    metadata, if they cannot be read.
    """

    name: str
    version: str
    requires: tuple[str, ...] = ()
    entry_points: tuple[tuple[str, str, str], ...] = ()
    location: str = ""
    editable: str | None = None
    problems: tuple[Problem, ...] = ()
    unreadable: str = ""


@functools.cache
def declarations(thorough: bool = True) -> tuple[Declaration, ...]:
    """Return every distribution with a ``neurogym.`` entry point, sorted by canonical name.

    Of two copies of a distribution, the first on the path is used; a problem of it names the other
    copy. The result is cached.

    Args:
        thorough: find distributions with importlib_metadata, which supports every kind of install.
            If False, find only the ``.dist-info`` folders of packages that pip installed, in a
            third of the time.
    """
    found: dict[str, Declaration] = {}
    for one in _read_all(thorough):
        key = canonical(one.name)
        found[key] = _choose(found[key], one) if key in found else one
    return tuple(found[key] for key in sorted(found))


def _read_all(thorough: bool) -> Iterator[Declaration]:
    if thorough:
        # Importing importlib_metadata replaces the standard library's finder in the whole process,
        # so only a thorough scan does it.
        import importlib_metadata

        distributions: Iterable[Any] = importlib_metadata.distributions()
    else:
        distributions = _folders()
    for distribution in distributions:
        try:
            text = distribution.read_text("entry_points.txt")
        except Exception:  # most distributions have nothing to do with this project
            continue
        # pip leaves folders that begin with ~ behind if it is interrupted.
        if text is not None and _PREFIX in text and not _folder_of(distribution).startswith("~"):
            yield _read(distribution, text)


class _Folder:
    """A ``.dist-info`` folder with the part of `importlib_metadata.Distribution` that is read."""

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


def _folders() -> Iterator[_Folder]:
    """Yield the ``.dist-info`` folders on the path."""
    for place in sys.path:
        try:
            files = os.listdir(place or os.curdir)
        except OSError:  # missing, or an archive
            continue
        yield from (
            _Folder(os.path.join(place, one))
            for one in files
            if one.endswith(".dist-info") and not one.startswith("~")
        )


def _read(distribution: Any, entry_points: str) -> Declaration:
    """Return the declaration of a distribution; without offers if its metadata is unreadable."""
    location = ""
    try:
        location = str(distribution.locate_file(""))
        if len(entry_points) > MAX_POINTS or _size(distribution) > MAX_METADATA:
            raise ValueError(
                f"it has more than {MAX_METADATA:,} bytes, or entry_points.txt {MAX_POINTS:,}"
            )
        text = distribution.read_text("METADATA")
        if text is None:  # an old egg-info has its requirements elsewhere
            fields = [
                ("name", distribution.metadata["Name"]),
                ("version", distribution.version),
                *(("requires-dist", one) for one in distribution.requires or ()),
            ]
        else:
            # Parsed by hand, because importing the email parser takes longer than a scan. The key
            # of a continuation line begins with a blank, so it matches no field.
            head = (line.partition(":") for line in text.partition("\n\n")[0].splitlines())
            fields = [(key.lower(), value.strip()) for key, _, value in head]
        first = dict(reversed(fields))
        if not first.get("name") or not first.get("version"):
            raise ValueError("METADATA has no name or no version")
        if not names.is_distribution_name(first["name"]):
            raise ValueError(
                f"its name {clean(first['name'])!r} is not a valid name of a distribution"
            )
    except Exception as error:
        folder = _folder_of(distribution)
        stem = folder.removesuffix(".dist-info").removesuffix(".egg-info").split("-")[0]
        message = (
            f"The metadata in {clean(folder)} cannot be read ({clean(said_by(error))}), so nothing"
            " of the package is offered. Install the package again, or remove that folder."
        )
        return Declaration(
            name=stem if names.is_distribution_name(stem) else "unreadable-metadata",
            version=UNKNOWN,
            location=location,
            problems=(Problem(level="fatal", code="metadata", message=message),),
            unreadable=clean(os.path.join(location, folder)),
        )
    return Declaration(
        name=first["name"],
        version=clean(first["version"]),
        requires=tuple(value for key, value in fields if key == "requires-dist"),
        entry_points=tuple(sorted(_points(entry_points))),
        location=location,
        editable=_editable(distribution),
    )


def _folder_of(distribution: Any) -> str:
    """Return the name of the folder with the metadata."""
    return os.path.basename(str(getattr(distribution, "_path", UNKNOWN)))


def _size(distribution: Any) -> int:
    """Return the bytes of METADATA; 0 if it is in an archive, or missing."""
    try:
        return os.path.getsize(os.path.join(str(distribution._path), "METADATA"))
    except (OSError, AttributeError):
        return 0


def _points(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield the entry points of this project in the text of an ``entry_points.txt``."""
    group = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("[") and line.endswith("]"):
            group = line[1:-1]
        elif line and line[0] not in "#;" and group.startswith(_PREFIX):
            name, _, value = line.partition("=")
            yield group, name.strip(), value.strip()


def _editable(distribution: Any) -> str | None:
    try:
        origin = json.loads(distribution.read_text("direct_url.json") or "{}")
        if origin.get("dir_info", {}).get("editable"):
            return unquote(urlsplit(origin["url"]).path)
    except Exception:  # without this record, only the check for stale metadata is lost
        pass
    return None


def _choose(first: Declaration, second: Declaration) -> Declaration:
    """Return the copy of a distribution to use, given two in the order of the path.

    A readable copy comes before an unreadable one; in one folder, a newer one before an older one.
    The other copy is named in a problem.
    """
    used, other, stale = first, second, first.location == second.location
    if second.version != UNKNOWN and (
        first.version == UNKNOWN or (stale and release(second.version) > release(first.version))
    ):
        used, other = second, first
    if stale and used.version == other.version:
        return used  # the same folder twice on the path
    where = (
        "the same folder. Remove it and install it again."
        if stale
        else f"{other.location}, later on the path."
    )
    problem = Problem(
        level="error" if stale else "warning",
        code="stale" if stale else "duplicate",
        message=(
            f"{used.name} is installed twice: version {used.version} is used, version"
            f" {clean(other.version)} is in {where}"
        ),
    )
    return used._replace(problems=(*used.problems, problem))


# -- packages --------------------------------------------------------------------------------------


def scan(blocked: frozenset[str] = frozenset(), *, manifests: bool = True) -> Installed:
    """Return all installed packages with their offers.

    Args:
        blocked: distributions or namespaces whose offers are marked as blocked; never the core.
        manifests: read manifests, which have titles, tags and references. Without them, a scan is
            several times as fast.
    """
    found = declarations(manifests)
    core = next((one.version for one in found if canonical(one.name) == CORE), UNKNOWN)
    packages = []
    for one in found:
        try:
            packages.append(_package(one, core, blocked, manifests))
        except Exception as error:
            message = f"Its declarations cannot be read: {clean(said_by(error))}."
            problem = Problem(level="fatal", code="metadata", message=message)
            broken = Declaration(one.name, one.version, problems=(*one.problems, problem))
            packages.append(_package(broken, core, blocked, manifests))
    return Installed(core_version=core, packages=tuple(_with_duplicates(packages)))


def _package(
    declared: Declaration, core: str, blocked: frozenset[str], manifests: bool
) -> PackageInfo:
    distribution, version = declared.name, declared.version
    key, namespace = canonical(distribution), namespace_of(distribution)
    specifier = core_specifier(declared.requires, CORE)
    compatible = None if specifier is None else satisfies(core, specifier)
    is_blocked = key != CORE and not blocked.isdisjoint((key, namespace))
    shared = []  # problems that make all offers unusable
    if compatible is False:
        message = (
            f"{distribution} {version} needs neurogym-core{specifier}, but {core} is installed."
            f" Install a core of that version, or remove the package: `{removal(distribution)}`."
        )
        shared.append(Problem(level="fatal", code="incompatible", message=message))
    if is_blocked:
        message = f"{distribution} is blocked by NGYM_BLOCK. To use it, remove it from that list."
        shared.append(Problem(level="note", code="blocked", message=message))
    problems = [*declared.problems, *shared]
    if compatible is None and key != CORE and not declared.unreadable:
        said = (
            "does not say which neurogym-core it needs; it"
            if specifier is None
            else f"requires neurogym-core{clean(specifier)}, which cannot be read; it"
        )
        problems.append(
            _warning(
                message=f"{distribution} {said} is assumed to be compatible. Its author should"
                ' write `dependencies = ["neurogym-core>=1.0,<2"]`.'
            )
        )
    offers: dict[str, list[Offer]] = {group: [] for group in GROUPS}
    unknown = {}
    for group, name, value in declared.entry_points:
        if group in offers:
            wrong = (*shared, *_form_problems(distribution, group, name, value))
            offers[group].append(
                Offer(
                    group=group, name=name, value=value, distribution=distribution,
                    version=version, namespace=namespace, problems=wrong,
                )
            )  # fmt: skip
        elif group != MANIFEST_GROUP:
            unknown[clean(group)] = True
    known = (*GROUPS, MANIFEST_GROUP)
    problems += [
        _warning(
            message=f"unknown entry-point group {group!r}.{did_you_mean(group, known)} Known:"
            f" {listed(known)}."
        )
        for group in unknown
    ]
    manifest, wrong_manifest = _manifest(declared) if manifests else (None, [])
    problems += wrong_manifest
    for row in manifest.rows if manifest is not None else ():
        if all(row.name != offer.name for offer in offers[f"neurogym.{row.kind}s"]):
            message = (
                f"the package has no such entry point in neurogym.{row.kind}s. Add the entry"
                " point, or remove the row."
            )
            where = f"[[{row.kind}]] {clean(row.name)!r}"
            problems.append(_manifest_problem(message=message, file=manifest.file, row=where))  # type: ignore[union-attr]
    return PackageInfo(
        distribution=distribution,
        version=version,
        namespace=namespace,
        requires_core=specifier,
        compatible=compatible is not False,
        blocked=is_blocked,
        location=declared.location,
        editable=declared.editable if manifests else None,
        unreadable=declared.unreadable,
        tasks=_described(TaskInfo, offers["neurogym.tasks"], manifest),
        wrappers=_described(WrapperInfo, offers["neurogym.wrappers"], manifest),
        problems=tuple(problems),
        **{kind: tuple(offers[f"neurogym.{kind}"]) for kind in KINDS[2:]},  # type: ignore[arg-type]
    )


def _form_problems(distribution: str, group: str, name: str, value: str) -> Iterator[Problem]:
    if group in _FORMS and _FORMS[group][0].fullmatch(name) is None:
        claim = " The namespace follows from the package's name." if "/" in name else ""
        message = (
            f"{clean(name)!r} is not a valid name in {group}; expected {_FORMS[group][1]}.{claim}"
        )
        yield Problem(level="fatal", code="name", message=message)
    if group == "neurogym.subjects" and name in names.SUBJECTS:
        message = f"{name!r} is a subject of the core. Its author should choose another name."
        yield Problem(level="fatal", code="name", message=message)
    if group == "neurogym.commands" and (taken := names.taken_command(name, distribution)):
        message = (
            f"{clean(name)!r} is, or resembles, the command {taken!r} of this project, and cannot"
            " be used. Its author should choose another name."
        )
        yield Problem(level="fatal", code="name", message=message)
    is_module = group in _HOOKS
    if (names.MODULE_VALUE if is_module else names.VALUE).fullmatch(value) is None:
        message = f"{clean(value)!r} is not a valid value; expected `module:attribute`."
        yield Problem(level="fatal", code="value", message=message)


def _described(
    kind: Callable[..., _DescribedT], offers: list[Offer], manifest: Manifest | None
) -> tuple[_DescribedT, ...]:
    """Return the offers with their manifest rows; warn if a valid manifest lacks a row."""
    described = []
    for offer in offers:
        fields: dict[str, Any] = dict(offer.__dict__)
        row_kind = offer.group.removeprefix(_PREFIX).removesuffix("s")
        row = manifest.row(row_kind, offer.name) if manifest is not None else None
        if row is not None:
            fields |= {key: getattr(row, key) for key in Description.__dataclass_fields__}
            fields["problems"] = (*offer.problems, *row.problems)
        elif manifest is not None and not manifest.problems:
            message = (
                f"has no row for {clean(offer.name)!r}; expected [[{row_kind}]] with this name."
            )
            problem = _manifest_problem(message=message, level="warning", file=manifest.file)
            fields["problems"] = (*offer.problems, problem)
        described.append(kind(**fields))
    return tuple(described)


def _with_duplicates(packages: list[PackageInfo]) -> Iterator[PackageInfo]:
    """Yield the packages; offers that share an id, or a name without namespace, are unusable."""
    claims = defaultdict(list)
    for package in packages:
        for kind in KINDS[:5]:  # plug-ins and registries are not called by name
            for offer in getattr(package, kind):
                if not offer.has("blocked"):
                    called = offer.id if isinstance(offer, Described) else offer.name
                    claims[kind, called].append(offer)
    wrong: dict[int, Offer] = {}
    for (kind, called), offers in claims.items():
        if len(offers) < 2:
            continue
        owners = [offer.distribution for offer in offers]
        if isinstance(offers[0], Described):
            values = listed(offer.value for offer in offers)
            message = f"{called} is declared {len(offers)} times, as {values}; neither is used."
        else:
            ways = ", ".join(f"`{removal(owner)}`" for owner in dict.fromkeys(owners))
            message = (
                f"The {kind.removesuffix('s')} {called!r} is claimed by {listed(owners)}; none is"
                f" used. Remove all but one: {ways}."
            )
        problem = Problem(level="fatal", code="duplicate", message=clean(message))
        wrong |= {id(one): replace(one, problems=(*one.problems, problem)) for one in offers}
    for package in packages:
        changed: dict[str, Any] = {
            kind: tuple(wrong.get(id(one), one) for one in getattr(package, kind))
            for kind in KINDS[:5]
        }
        yield replace(package, **changed) if wrong else package


# -- manifests -------------------------------------------------------------------------------------


def manifest_of(declared: Declaration) -> Path | None:
    """Return the path of a package's manifest; None if it has none, or if the file is missing."""
    values = [value for group, _, value in declared.entry_points if group == MANIFEST_GROUP]
    found = _locate(values[0], declared) if values else None
    return found if isinstance(found, Path) else None


def _manifest(declared: Declaration) -> tuple[Manifest | None, list[Problem]]:
    """Return the package's manifest, and the problems of the whole file."""
    values = [value for group, _, value in declared.entry_points if group == MANIFEST_GROUP]
    if not values:
        if {"neurogym.tasks", "neurogym.wrappers"}.isdisjoint(
            group for group, _, _ in declared.entry_points
        ):
            return None, []
        message = "the package has none, so catalogues cannot describe its tasks and wrappers."
        return None, [_manifest_problem(message=message, level="warning")]
    problems = []
    if len(values) > 1:
        problems.append(
            _manifest_problem(
                message=f"{len(values)} are declared; expected one. Only the first is read."
            )
        )
    path = _locate(values[0], declared)
    if isinstance(path, Problem):
        return None, [*problems, path]
    # Imported here because tomllib would slow down `make`, which reads no manifest.
    from neurogym_core.ecosystem.manifest import read_manifest

    manifest = read_manifest(path)
    return manifest, [*problems, *manifest.problems]


def _locate(value: str, declared: Declaration) -> Path | Problem:
    """Return the path of the manifest that an entry point names, or the problem with it.

    The file is looked for in the folder where pip installed the package, then with `find_spec` of
    the top-level package. The latter finds editable installs without importing them, but takes
    several times as long.
    """
    match = _MANIFEST_VALUE.fullmatch(value)
    if match is None:
        message = f"{clean(value)!r} is not a valid value; expected `package:ngym.toml`."
        return _manifest_problem(message=message)
    package, file = match.groups()
    top, *inner = package.split(".")
    folders: Iterable[str] = ()
    if declared.location and declared.editable is None:
        folders = [os.path.join(declared.location, top)]
    path = _first_file(folders, *inner, file)
    if path is None:
        try:
            spec = importlib.util.find_spec(top)
        except (ImportError, ValueError, AttributeError):
            spec = None
        if spec is None:
            message = (
                f"the package {top!r} is missing, although its metadata is installed. Install it"
                " again, or remove it."
            )
            return _manifest_problem(message=message, code="stale", file=file)
        path = _first_file(spec.submodule_search_locations or (), *inner, file)
    if path is None:
        message = f"is not in the package {package!r}. Its author should add it to the wheel."
        return _manifest_problem(message=message, file=file)
    return path


def _first_file(folders: Iterable[str], *parts: str) -> Path | None:
    paths = (os.path.join(folder, *parts) for folder in folders)
    return next((Path(path) for path in paths if os.path.isfile(path)), None)
