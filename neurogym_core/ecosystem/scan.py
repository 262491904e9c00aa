"""Scans the metadata and manifests of the installed packages, and records their problems.

No package is imported. A problem with one package is kept in the record of that package.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import re
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
from neurogym_core.errors import listed, nearest

if TYPE_CHECKING:
    from neurogym_core.ecosystem.manifest import Manifest

GROUPS = tuple(f"neurogym.{kind}" for kind in KINDS[:-1])
"""Groups that the core reads, beside that of manifests."""
MANIFEST_GROUP = "neurogym.manifest"
MAX_POINTS = 65_536  # characters of entry_points.txt
MAX_METADATA = 2_000_000  # characters of METADATA, which has a README in it
UNKNOWN = "unknown"  # version of a distribution whose metadata cannot be read

_PREFIX = "neurogym."
_MANIFEST_VALUE = Pattern(r"([^\W\d]\w*(?:\.[^\W\d]\w*)*):([\w.-]+\.toml)")
_FORMS = {
    "neurogym.tasks": (names.TASK_NAME, "CapitalizedWords-v0"),
    "neurogym.wrappers": (names.WRAPPER_NAME, "CapitalizedWords"),
    "neurogym.commands": (names.COMMAND_NAME, "lower-case-words"),
    "neurogym.subjects": (names.SUBJECT_NAME, "lower_case_words"),
}
_fatal = functools.partial(Problem, level="fatal")
_warning = functools.partial(Problem, level="warning", code="metadata")
_manifest_problem = functools.partial(Problem, level="error", code="manifest", file="manifest")
_DescribedT = TypeVar("_DescribedT", bound=Described)


class Declaration(NamedTuple):
    """The declarations of one distribution."""

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
    """Return every distribution with a ``neurogym.`` entry point, sorted by canonical name."""
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
            fields = [("requires-dist", one) for one in distribution.requires or ()]
            name, version = distribution.metadata["Name"], distribution.version
        else:
            # Parsed by hand, because importing the email parser takes longer than a scan. The key
            # of a continuation line begins with a blank, so it matches no field.
            head = (line.partition(":") for line in text.partition("\n\n")[0].splitlines())
            fields = [(key.lower(), value.strip()) for key, _, value in head]
            first = dict(reversed(fields))
            name, version = first.get("name"), first.get("version")
        if not name or not version:
            raise ValueError("METADATA has no name or no version")
        if not names.is_distribution_name(name):
            raise ValueError(f"its name {clean(name)!r} is not a valid name of a distribution")
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
            problems=(_fatal(code="metadata", message=message),),
            unreadable=clean(os.path.join(location, folder)),
        )
    return Declaration(
        name=name,
        version=clean(version),
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
    """Return the copy of a distribution to use, given two in the order of the path."""
    # A readable copy comes before an unreadable one; in one folder, a newer before an older one.
    stale = first.location == second.location
    newer = stale and release(second.version) > release(first.version)
    swap = second.version != UNKNOWN and (first.version == UNKNOWN or newer)
    used, other = (second, first) if swap else (first, second)
    if stale and used.version == other.version:
        return used  # the same folder twice on the path
    where = f"{other.location}, later on the path."
    if stale:
        where = "the same folder. Remove it and install it again."
    message = (
        f"{used.name} is installed twice: version {used.version} is used, version"
        f" {clean(other.version)} is in {where}"
    )
    level, code = ("error", "stale") if stale else ("warning", "duplicate")
    problem = Problem(level=level, code=code, message=message)  # type: ignore[arg-type]
    return used._replace(problems=(*used.problems, problem))


def scan(blocked: frozenset[str] = frozenset(), *, manifests: bool = True) -> Installed:
    """Return all installed packages with their offers."""
    found = declarations(manifests)
    core = next((one.version for one in found if canonical(one.name) == CORE), UNKNOWN)
    packages = []
    for one in found:
        try:
            packages.append(_package(one, core, blocked, manifests))
        except Exception as error:
            message = f"Its declarations cannot be read: {clean(said_by(error))}."
            problem = _fatal(code="metadata", message=message)
            broken = Declaration(one.name, one.version, problems=(*one.problems, problem))
            packages.append(_package(broken, core, blocked, manifests))
    return Installed(core_version=core, packages=tuple(_with_duplicates(packages)))


def _package(
    declared: Declaration, core: str, blocked: frozenset[str], manifests: bool
) -> PackageInfo:
    distribution, version, manifest = declared.name, declared.version, None
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
        shared.append(_fatal(code="incompatible", message=message))
    if is_blocked:
        message = f"{distribution} is blocked by NGYM_BLOCK. To use it, remove it from that list."
        shared.append(Problem(level="note", code="blocked", message=message))
    problems = [*declared.problems, *shared]
    if compatible is None and key != CORE and not declared.unreadable:
        said = "does not say which neurogym-core it needs"
        if specifier is not None:
            said = f"requires neurogym-core{clean(specifier)}, which cannot be read"
        message = (
            f"{distribution} {said}; it is assumed to be compatible. Its author should write"
            ' `dependencies = ["neurogym-core>=1.0,<2"]`.'
        )
        problems.append(_warning(message=message))
    offers: dict[str, list[Offer]] = {group: [] for group in GROUPS}
    known = [group.removeprefix(_PREFIX) for group in (*GROUPS, MANIFEST_GROUP)]
    owner = {"distribution": distribution, "version": version, "namespace": namespace}
    for group, name, value in declared.entry_points:
        if group == MANIFEST_GROUP:
            continue
        # Packages define further groups; a name that is almost the core's is a mistake.
        meant = None if group in GROUPS else nearest(group.removeprefix(_PREFIX), known, 0.8)
        if meant is not None:
            meant = f"Did you mean {_PREFIX + meant!r}?"
            problems.append(
                _warning(message=f"unknown entry-point group {clean(group)!r}. {meant}")
            )
            continue
        wrong = (*shared, *_form_problems(distribution, group, name, value))
        offer = Offer(group=group, name=name, value=value, problems=wrong, **owner)
        offers.setdefault(group, []).append(offer)
    if manifests:
        manifest, wrong_manifest = _manifest(declared)
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
        **owner,
        requires_core=specifier,
        compatible=compatible is not False,
        blocked=is_blocked,
        location=declared.location,
        editable=declared.editable if manifests else None,
        unreadable=declared.unreadable,
        tasks=_described(TaskInfo, offers["neurogym.tasks"], manifest),
        wrappers=_described(WrapperInfo, offers["neurogym.wrappers"], manifest),
        problems=tuple(problems),
        others=tuple(offer for group in offers if group not in GROUPS for offer in offers[group]),
        **{kind: tuple(offers[_PREFIX + kind]) for kind in ("commands", "subjects", "plugins")},
    )


def _form_problems(distribution: str, group: str, name: str, value: str) -> Iterator[Problem]:
    said = []
    if group in _FORMS and _FORMS[group][0].fullmatch(name) is None:
        claim = " The namespace follows from the package's name." if "/" in name else ""
        said.append(f"is not a valid name in {group}; expected {_FORMS[group][1]}.{claim}")
    if group == "neurogym.subjects" and name in names.SUBJECTS:
        said.append("is a subject of the core. Its author should choose another name.")
    if group == "neurogym.commands" and (taken := names.taken_command(name, distribution)):
        said.append(
            f"is, or resembles, the command {taken!r} of this project, and cannot be used. Its"
            " author should choose another name."
        )
    yield from (_fatal(code="name", message=f"{clean(name)!r} {text}") for text in said)
    form = names.MODULE_VALUE if group == "neurogym.plugins" else names.VALUE
    if form.fullmatch(value) is None:
        message = f"{clean(value)!r} is not a valid value; expected `module:attribute`."
        yield _fatal(code="value", message=message)


def _described(
    kind: Callable[..., _DescribedT], offers: list[Offer], manifest: Manifest | None
) -> tuple[_DescribedT, ...]:
    """Return the offers with their manifest rows; warn if a valid manifest lacks a row."""
    described = []
    for offer in offers:
        fields: dict[str, Any] = dict(offer.__dict__)
        row_kind = offer.group.removeprefix(_PREFIX).removesuffix("s")
        row = manifest.row(row_kind, offer.name) if manifest is not None else None
        wrong: tuple[Problem, ...] = ()
        if row is not None:
            fields |= {key: getattr(row, key) for key in Description.__dataclass_fields__}
            wrong = row.problems
        elif manifest is not None and not manifest.problems:
            said = f"has no row for {clean(offer.name)!r}; expected [[{row_kind}]] with this name."
            wrong = (_manifest_problem(message=said, level="warning", file=manifest.file),)
        described.append(kind(**{**fields, "problems": (*offer.problems, *wrong)}))
    return tuple(described)


def _with_duplicates(packages: list[PackageInfo]) -> Iterator[PackageInfo]:
    """Yield the packages; offers that share an id, or a name without namespace, are unusable."""
    claims = defaultdict(list)
    for package in packages:
        for offer in package.offers:
            if offer.group != "neurogym.plugins" and not offer.has("blocked"):  # they have no name
                called = offer.id if isinstance(offer, Described) else offer.name
                claims[offer.group, called].append(offer)
    wrong: dict[int, Offer] = {}
    for (group, called), offers in claims.items():
        if len(offers) < 2:
            continue
        owners = [offer.distribution for offer in offers]
        if isinstance(offers[0], Described):
            values = listed(offer.value for offer in offers)
            message = f"{called} is declared {len(offers)} times, as {values}; neither is used."
        else:
            ways = ", ".join(f"`{removal(owner)}`" for owner in dict.fromkeys(owners))
            kind = group.removeprefix(_PREFIX).removesuffix("s")
            message = (
                f"The {kind} {called!r} is claimed by {listed(owners)}; none is used. Remove all"
                f" but one: {ways}."
            )
        problem = _fatal(code="duplicate", message=clean(message))
        wrong |= {id(one): replace(one, problems=(*one.problems, problem)) for one in offers}
    for package in packages:
        changed: dict[str, Any] = {
            kind: tuple(wrong.get(id(one), one) for one in getattr(package, kind)) for kind in KINDS
        }
        yield replace(package, **changed) if wrong else package


def manifest_of(declared: Declaration) -> Path | None:
    """Return the path of a package's manifest; None if it has none, or if the file is missing."""
    found = _locate(values[0], declared) if (values := _values(declared)) else None
    return found if isinstance(found, Path) else None


def _values(declared: Declaration) -> list[str]:
    return [value for group, _, value in declared.entry_points if group == MANIFEST_GROUP]


def _manifest(declared: Declaration) -> tuple[Manifest | None, list[Problem]]:
    """Return the package's manifest, and the problems of the whole file."""
    values = _values(declared)
    if not values:
        groups = {group for group, _, _ in declared.entry_points}
        if groups.isdisjoint(("neurogym.tasks", "neurogym.wrappers")):
            return None, []
        message = "the package has none, so catalogues cannot describe its tasks and wrappers."
        return None, [_manifest_problem(message=message, level="warning")]
    problems = []
    if len(values) > 1:
        message = f"{len(values)} are declared; expected one. Only the first is read."
        problems.append(_manifest_problem(message=message))
    path = _locate(values[0], declared)
    if isinstance(path, Problem):
        return None, [*problems, path]
    # Imported here because tomllib would slow down `make`, which reads no manifest.
    from neurogym_core.ecosystem.manifest import read_manifest

    manifest = read_manifest(path)
    return manifest, [*problems, *manifest.problems]


def _locate(value: str, declared: Declaration) -> Path | Problem:
    """Return the path of the manifest that an entry point names, or the problem with it."""
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


_CLAUSE = re.compile(
    r"(~=|===|==|!=|<=|>=|<|>)\s*v?(\d+(?:\.\d+)*)(\.\*)?[a-z0-9.+!_-]*", re.IGNORECASE
)
_REQUIREMENT = re.compile(
    r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*([^;]*)(;.*)?", re.DOTALL
)


def release(version: str) -> tuple[int, ...]:
    """Return the release number, ``(1, 2, 0)`` for ``1.2.0rc1``; ``()`` if there is none."""
    found = re.match(r"\s*v?(?:\d+!)?(\d+(?:\.\d+)*)", version)
    return tuple(int(part) for part in found.group(1).split(".")) if found else ()


def satisfies(version: str, specifier: str) -> bool | None:
    """Return whether a version satisfies a specifier such as ``>=1.0,<2``; None if unreadable."""
    clauses = [clause.strip() for clause in specifier.split(",") if clause.strip()]
    parsed = [_CLAUSE.fullmatch(clause) for clause in clauses]
    if not release(version) or not all(parsed):
        return None
    return all(_meets(release(version), *match.groups()) for match in parsed if match is not None)


def core_specifier(requirements: Iterable[str], name: str) -> str | None:
    """Return the specifier for the distribution `name`; None if no requirement names it."""
    found = []
    for requirement in requirements:
        match = _REQUIREMENT.fullmatch(requirement)
        if match is None or re.sub(r"[-_.]+", "-", match.group(1)).lower() != name:
            continue
        if "extra" not in (match.group(3) or ""):
            found.append(match.group(2).strip().strip("()").replace(" ", ""))
    return ",".join(part for part in found if part) if found else None


def _meets(have: tuple[int, ...], operator: str, number: str, star: str | None) -> bool:
    want = tuple(int(part) for part in number.split("."))
    size = max(len(have), len(want))
    left, right = have + (0,) * (size - len(have)), want + (0,) * (size - len(want))
    same = left[: len(want)] == want if star else left == right
    return {
        "<": left < right,
        "<=": left <= right,
        ">": left > right,
        ">=": left >= right,
        "!=": not same,
        "~=": left >= right and left[: len(want) - 1] == want[:-1],  # ~=1.4.2 is >=1.4.2, ==1.4.*
    }.get(operator, same)
