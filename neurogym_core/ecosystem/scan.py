"""Scans the metadata and manifests of the installed packages, and records their problems.

No package is imported. A problem with one package is kept in the record of that package.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache, partial
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit

from neurogym_core.ecosystem import names
from neurogym_core.ecosystem.names import CORE, canonical, clean, namespace_of, said_by
from neurogym_core.ecosystem.records import (
    KINDS,
    Described,
    Installed,
    Offer,
    PackageInfo,
    Problem,
    TaskInfo,
    WrapperInfo,
    removal,
)
from neurogym_core.errors import listed

if TYPE_CHECKING:
    from neurogym_core.ecosystem.manifest import Manifest

GROUPS = tuple(f"neurogym.{kind}" for kind in KINDS[:-1])
"""Groups that the core reads, beside that of manifests."""
MANIFEST_GROUP = "neurogym.manifest"
MAX_POINTS = 65_536  # characters of entry_points.txt
MAX_METADATA = 2_000_000  # bytes of METADATA, which has a README in it
UNKNOWN = "unknown"  # version of a distribution whose metadata cannot be read

_PREFIX = "neurogym."
_MANIFEST_VALUE = r"([^\W\d]\w*(?:\.[^\W\d]\w*)*):([\w.-]+\.toml)"
_DESCRIBED = {"tasks": TaskInfo, "wrappers": WrapperInfo}


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


@cache
def declarations(thorough: bool = True) -> tuple[Declaration, ...]:
    """Return every distribution with a ``neurogym.`` entry point, sorted by canonical name."""
    found: dict[str, Declaration] = {}
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
        left_behind = os.path.basename(str(getattr(distribution, "_path", ""))).startswith("~")
        if text is not None and _PREFIX in text and not left_behind:
            one = _read(distribution, text)
            key = canonical(one.name)
            found[key] = _choose(found[key], one) if key in found else one
    return tuple(map(found.__getitem__, sorted(found)))


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
    folder = str(getattr(distribution, "_path", UNKNOWN))
    location = ""
    try:
        location = str(distribution.locate_file(""))
        with contextlib.suppress(OSError):  # METADATA is in an archive, or missing
            if os.path.getsize(os.path.join(folder, "METADATA")) > MAX_METADATA:
                raise ValueError(f"it has more than {MAX_METADATA:,} bytes")
        if len(entry_points) > MAX_POINTS:
            raise ValueError(f"entry_points.txt has more than {MAX_POINTS:,} characters")
        text = distribution.read_text("METADATA")
        if text is None:  # an old egg-info has its requirements elsewhere
            requires = tuple(distribution.requires or ())
            name, version = distribution.metadata["Name"], distribution.version
        else:
            # Parsed by hand, because importing the email parser takes longer than a scan. The key
            # of a continuation line begins with a blank, so it matches no field.
            fields = defaultdict(list)
            for line in text.partition("\n\n")[0].splitlines():
                key, _, value = line.partition(":")
                fields[key.lower()].append(value.strip())
            requires = tuple(fields["requires-dist"])
            name, version = (*fields["name"], "")[0], (*fields["version"], "")[0]
        if not name or not version:
            raise ValueError("METADATA has no name or no version")
        if re.fullmatch(names.DISTRIBUTION_NAME, name) is None:
            raise ValueError(f"its name {clean(name)!r} is not a valid name of a distribution")
    except Exception as error:
        folder = os.path.basename(folder)
        stem = folder.removesuffix(".dist-info").removesuffix(".egg-info").split("-")[0]
        message = (
            f"The metadata in {clean(folder)} cannot be read ({clean(said_by(error))}), so nothing"
            " of the package is offered. Install the package again, or remove that folder."
        )
        valid = re.fullmatch(names.DISTRIBUTION_NAME, stem)
        return Declaration(
            name=stem if valid else "unreadable-metadata",
            version=UNKNOWN,
            location=location,
            problems=(Problem("fatal", "metadata", message),),
            unreadable=clean(os.path.join(location, folder)),
        )
    points, group = [], ""
    for line in map(str.strip, entry_points.splitlines()):
        if line.startswith("[") and line.endswith("]"):
            group = line[1:-1]
        elif line and line[0] not in "#;" and group.startswith(_PREFIX):
            point, _, value = line.partition("=")
            points.append((group, point.strip(), value.strip()))
    editable = None
    with contextlib.suppress(Exception):  # without it, only the check for stale metadata is lost
        origin = json.loads(distribution.read_text("direct_url.json") or "{}")
        if origin.get("dir_info", {}).get("editable"):
            editable = unquote(urlsplit(origin["url"]).path)
    return Declaration(
        name=name,
        version=clean(version),
        requires=requires,
        entry_points=tuple(sorted(points)),
        location=location,
        editable=editable,
    )


def _choose(first: Declaration, second: Declaration) -> Declaration:
    """Return the copy of a distribution to use, given two in the order of the path."""
    # A readable copy comes before an unreadable one; in one folder, a newer before an older one.
    stale = first.location == second.location
    newer = stale and release(second.version) > release(first.version)
    swap = second.version != UNKNOWN and (first.version == UNKNOWN or newer)
    used, other = (second, first) if swap else (first, second)
    if stale and used.version == other.version:
        return used  # the same folder twice on the path
    said = (
        f"{used.name} is installed twice: version {used.version} is used, version"
        f" {clean(other.version)} is in "
    )
    problem = (
        Problem("error", "stale", f"{said}the same folder. Remove it and install it again.")
        if stale
        else Problem("warning", "duplicate", f"{said}{other.location}, later on the path.")
    )
    return used._replace(problems=(*used.problems, problem))


def scan(blocked: frozenset[str] = frozenset(), *, manifests: bool = True) -> Installed:
    """Return all installed packages with their offers."""
    found, core, packages = declarations(manifests), UNKNOWN, []
    for one in found:
        if canonical(one.name) == CORE:
            core = one.version
    for one in found:
        try:
            packages.append(_package(one, core, blocked, manifests))
        except Exception as error:
            message = f"Its declarations cannot be read: {clean(said_by(error))}."
            problems = (*one.problems, Problem("fatal", "metadata", message))
            broken = Declaration(one.name, one.version, problems=problems)
            packages.append(_package(broken, core, blocked, manifests))
    usable = _without_duplicates(packages)
    offers = {}
    for kind in KINDS:
        offers[kind] = tuple(chain.from_iterable(map(attrgetter(kind), usable)))
    return Installed(core_version=core, packages=usable, **offers)


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
        shared.append(Problem(
            "fatal", "incompatible",
            f"{distribution} {version} needs neurogym-core{specifier}, but {core} is installed."
            f" Install a core of that version, or remove the package: `{removal(distribution)}`.",
        ))  # fmt: skip
    if is_blocked:
        said = f"{distribution} is blocked by NGYM_BLOCK. To use it, remove it from that list."
        shared.append(Problem("note", "blocked", said))
    problems = [*declared.problems, *shared]
    if compatible is None and key != CORE and not declared.unreadable:
        said = "does not say which neurogym-core it needs"
        if specifier is not None:
            said = f"requires neurogym-core{clean(specifier)}, which cannot be read"
        problems.append(Problem(
            "warning", "metadata",
            f"{distribution} {said}; it is assumed to be compatible. Its author should write"
            ' `dependencies = ["neurogym-core>=1.0,<2"]`.',
        ))  # fmt: skip
    manifest = None
    if manifests:
        path, wrong = _located(declared)
        problems += wrong
        if path is not None:
            # Imported here because tomllib would slow down `make`, which reads no manifest.
            from neurogym_core.ecosystem.manifest import read_manifest

            manifest = read_manifest(path)
            problems += manifest.problems
    owner = {"distribution": distribution, "version": version, "namespace": namespace}
    offers, wrong = _offers(declared, owner, shared, manifest)
    return PackageInfo(
        **owner,
        requires_core=specifier,
        compatible=compatible is not False,
        blocked=is_blocked,
        location=declared.location,
        editable=declared.editable if manifests else None,
        unreadable=declared.unreadable,
        problems=(*problems, *wrong),
        **offers,
    )


def _offers(
    declared: Declaration, owner: dict[str, str], shared: list[Problem], manifest: Manifest | None
) -> tuple[dict[str, Any], list[Problem]]:
    """Return the offers by kind with their rows of the manifest, and problems of the package."""
    offers: dict[str, Any] = dict.fromkeys(KINDS, ())
    problems = []
    rows = {}
    for row in manifest.rows if manifest is not None else ():
        rows[f"{_PREFIX}{row.kind}s", row.name] = row
    unused = dict(rows)
    for group, name, value in declared.entry_points:
        if group == MANIFEST_GROUP:
            continue
        # Packages define further groups; a name that is almost the core's is a mistake.
        known = () if group in GROUPS else (*GROUPS, MANIFEST_GROUP)
        if meant := names.resembling(group.casefold(), known):
            said = f"unknown entry-point group {clean(group)!r}. Did you mean {meant!r}?"
            problems.append(Problem("warning", "metadata", said))
            continue
        kind = group.removeprefix(_PREFIX) if group in GROUPS else "others"
        wrong = [*shared, *_form_problems(owner["distribution"], group, name, value)]
        fields: dict[str, Any] = {"group": group, "name": name, "value": value, **owner}
        if row := rows.get((group, name)):
            unused.pop((group, name), None)
            fields |= vars(row)
            del fields["kind"]
            wrong += row.problems
        elif kind in _DESCRIBED and manifest is not None and not manifest.problems:
            said = f"has no row for {clean(name)!r}; expected [[{kind[:-1]}]] with this name."
            wrong.append(Problem("warning", "manifest", said, file=manifest.file))
        fields["problems"] = tuple(wrong)
        offers[kind] += (_DESCRIBED.get(kind, Offer)(**fields),)
    for (group, name), row in unused.items():
        said = f"the package has no such entry point in {group}. Add it, or remove the row."
        place = {
            "file": manifest.file if manifest else "",
            "row": f"[[{row.kind}]] {clean(name)!r}",
        }
        problems.append(Problem("error", "manifest", said, **place))
    return offers, problems


def _form_problems(distribution: str, group: str, name: str, value: str) -> Iterator[Problem]:
    form, words = names.FORMS.get(group, (".*", ""))
    said = []
    if re.fullmatch(form, name, re.DOTALL) is None:
        claim = " The namespace follows from the package's name." if "/" in name else ""
        said.append(f"is not a valid name in {group}; expected {words}.{claim}")
    if group == "neurogym.subjects" and name in names.SUBJECTS:
        said.append("is a subject of the core. Its author should choose another name.")
    ours = names.brought("commands") if group == "neurogym.commands" else {}
    if group == "neurogym.commands" and ours.get(name) != canonical(distribution):
        known = (*names.COMMANDS, *ours, *names.RESERVED_COMMANDS)
        if taken := names.resembling(name, known):
            said.append(
                f"is, or resembles, the command {taken!r} of this project, and cannot be used. Its"
                " author should choose another name."
            )
    for text in said:
        yield Problem("fatal", "name", f"{clean(name)!r} {text}")
    form = names.MODULE_VALUE if group == "neurogym.plugins" else names.VALUE
    if re.fullmatch(form, value) is None:
        message = f"{clean(value)!r} is not a valid value; expected `module:attribute`."
        yield Problem("fatal", "value", message)


def _without_duplicates(packages: list[PackageInfo]) -> tuple[PackageInfo, ...]:
    """Return the packages; offers that share an id, or a name without namespace, are unusable.

    Names that a package of this project offers stay with it.
    """
    claims = defaultdict(list)
    for package in packages:
        for offer in package.offers:
            if offer.group != "neurogym.plugins" and not offer.has("blocked"):  # they have no name
                called = offer.id if isinstance(offer, Described) else offer.name
                claims[offer.group, called].append(offer)
    wrong: dict[int, Offer] = {}
    for (_, called), offers in claims.items():
        if len(offers) < 2:
            continue
        kind, owners = offers[0].kind, [offer.distribution for offer in offers]
        ours = names.brought(f"{kind}s").get(called)
        if isinstance(offers[0], Described):
            values = listed(offer.value for offer in offers)
            said = f"{called} is declared {len(offers)} times, as {values}; neither is used."
        elif owners.count(ours) == 1:
            said = f"{called!r} is a {kind} of {ours}. Its author should choose another name."
            offers = [one for one in offers if one.distribution != ours]
        else:
            ways = ", ".join(f"`{removal(owner)}`" for owner in dict.fromkeys(owners))
            said = (
                f"The {kind} {called!r} is claimed by {listed(owners)}; none is used. Remove all"
                f" but one: {ways}."
            )
        problem = Problem("fatal", "duplicate", clean(said))
        wrong |= {id(one): replace(one, problems=(*one.problems, problem)) for one in offers}
    if not wrong:
        return tuple(packages)
    return tuple(
        replace(package, **{
            kind: tuple(wrong.get(id(one), one) for one in getattr(package, kind)) for kind in KINDS
        })
        for package in packages
    )  # fmt: skip


def _located(declared: Declaration) -> tuple[Path | None, list[Problem]]:
    """Return the path of the manifest that the entry points name, and the problems with it."""
    noted = partial(Problem, "error", "manifest", file="manifest")
    values, groups = [], set()
    for group, _, value in declared.entry_points:
        groups.add(group)
        if group == MANIFEST_GROUP:
            values.append(value)
    if not values:
        said = "the package has none, so catalogues cannot describe its tasks and wrappers."
        missing = Problem("warning", "manifest", said, file="manifest")
        return None, [] if groups.isdisjoint(GROUPS[:2]) else [missing]
    problems = []
    if len(values) > 1:
        problems.append(noted(f"{len(values)} are declared; expected one. Only the first is read."))
    match = re.fullmatch(_MANIFEST_VALUE, values[0])
    if match is None:
        said = f"{clean(values[0])!r} is not a valid value; expected `package:ngym.toml`."
        return None, [*problems, noted(said)]
    package, file = match.groups()
    top, *inner = package.split(".")
    if declared.location and declared.editable is None:
        path = Path(declared.location, top, *inner, file)
        if path.is_file():
            return path, problems
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError, AttributeError):
        spec = None
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder, *inner, file)
        if path.is_file():
            return path, problems
    if spec is not None:
        said = f"is not in the package {package!r}. Its author should add it to the wheel."
        return None, [*problems, Problem("error", "manifest", said, file=file)]
    said = (
        f"the package {top!r} is missing, although its metadata is installed. Install it again,"
        " or remove it."
    )
    return None, [*problems, Problem("error", "stale", said, file=file)]


_CLAUSE = re.compile(
    r"(~=|===|==|!=|<=|>=|<|>)\s*v?(\d+(?:\.\d+)*)(\.\*)?[a-z0-9.+!_-]*", re.IGNORECASE
)
_REQUIREMENT = re.compile(
    r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*([^;]*)(;.*)?", re.DOTALL
)


def release(version: str) -> tuple[int, ...]:
    """Return the release number, ``(1, 2, 0)`` for ``1.2.0rc1``; ``()`` if there is none."""
    found = re.match(r"\s*v?(?:\d+!)?(\d+(?:\.\d+)*)", version)
    return tuple(map(int, found.group(1).split("."))) if found else ()


def satisfies(version: str, specifier: str) -> bool | None:
    """Return whether a version satisfies a specifier such as ``>=1.0,<2``; None if unreadable."""
    have, met = release(version), True
    for clause in filter(None, map(str.strip, specifier.split(","))):
        match = _CLAUSE.fullmatch(clause)
        if match is None:
            return None
        operator, number, star = match.groups()
        want = release(number)
        size = max(len(have), len(want))
        left, right = have + (0,) * (size - len(have)), want + (0,) * (size - len(want))
        same = left[: len(want)] == want if star else left == right
        met = met and {
            "<": left < right,
            "<=": left <= right,
            ">": left > right,
            ">=": left >= right,
            "!=": not same,
            # ~=1.4.2 is >=1.4.2, ==1.4.*
            "~=": left >= right and left[: len(want) - 1] == want[:-1],
        }.get(operator, same)
    return met if have else None


def core_specifier(requirements: Iterable[str], name: str) -> str | None:
    """Return the specifier for the distribution `name`; None if no requirement names it."""
    found = []
    for requirement in requirements:
        match = _REQUIREMENT.fullmatch(requirement)
        if match and canonical(match[1]) == name and "extra" not in (match[3] or ""):
            found.append(match[2].strip().strip("()").replace(" ", ""))
    return ",".join(filter(None, found)) if found else None
