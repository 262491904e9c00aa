"""Scans the installed packages: combines declarations and manifests, and records their problems.

No package is imported. A problem with one package is kept in the record of that package.
"""

from __future__ import annotations

import importlib.util
import os
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from neurogym_core._patterns import Pattern
from neurogym_core.ecosystem import names
from neurogym_core.ecosystem.distributions import Declaration, declarations, editable
from neurogym_core.ecosystem.records import (
    KINDS,
    Installed,
    Level,
    Offer,
    PackageInfo,
    Problem,
    TaskInfo,
    WrapperInfo,
    removal,
)
from neurogym_core.ecosystem.versions import core_specifier, satisfies
from neurogym_core.errors import did_you_mean, listed

if TYPE_CHECKING:
    from neurogym_core.ecosystem.manifest import Manifest, Row

GROUPS = tuple(f"neurogym.{kind}" for kind in KINDS)
MANIFEST_GROUP = "neurogym.manifest"

_MANIFEST_VALUE = Pattern(r"([^\W\d]\w*(?:\.[^\W\d]\w*)*):([\w.-]+\.toml)")
_FORMS = {
    "neurogym.tasks": (names.TASK_NAME, "CapitalizedWords-v0"),
    "neurogym.wrappers": (names.WRAPPER_NAME, "CapitalizedWords"),
    "neurogym.commands": (names.COMMAND_NAME, "lower-case-words"),
    "neurogym.subjects": (names.SUBJECT_NAME, "lower_case_words"),
}
_FROM_ROW = ("title", "summary", "tags", "species", "references", "aliases", "expected", "presets")
_OfferT = TypeVar("_OfferT", bound=Offer)


def scan(blocked: frozenset[str] = frozenset(), *, manifests: bool = True) -> Installed:
    """Return all installed packages with their offers.

    Args:
        blocked: distributions or namespaces whose offers are marked as blocked.
        manifests: read manifests, which have titles, tags and references. Without them, a scan is
            several times as fast.
    """
    found = declarations(manifests)
    core = next(
        (one.version for one in found if names.canonical(one.name) == names.CORE), "unknown"
    )
    packages = [_guarded(one, core, blocked, manifests) for one in found]
    for group in ("commands", "subjects", "trainers"):
        packages = _mark_claimed_twice(packages, group)
    return Installed(core_version=core, packages=tuple(packages))


def is_blocked(distribution: str, blocked: frozenset[str]) -> bool:
    """Return whether a block list has this distribution or its namespace; never for the core."""
    own = {names.canonical(distribution), names.namespace_of(distribution)}
    return names.canonical(distribution) != names.CORE and bool(own & blocked)


def _guarded(
    declared: Declaration, core: str, blocked: frozenset[str], manifests: bool
) -> PackageInfo:
    """Return the package, or a record with the reason why its declarations cannot be read."""
    try:
        return _package(declared, core, blocked, manifests)
    except Exception as error:
        message = f"Its declarations cannot be read: {names.clean(names.said_by(error))}."
        return PackageInfo(
            distribution=declared.name,
            version=declared.version,
            namespace=names.namespace_of(declared.name),
            location=declared.location,
            problems=(*declared.problems, Problem(level="fatal", code="metadata", message=message)),
        )


def _package(
    declared: Declaration, core: str, blocked: frozenset[str], manifests: bool
) -> PackageInfo:
    shared = _shared_problems(declared, core, blocked)
    manifest, manifest_problems = _manifest(declared) if manifests else (None, [])
    groups = {group: _offers(declared, group, shared) for group in GROUPS}
    tasks = [_described(TaskInfo, offer, manifest, "task") for offer in groups["neurogym.tasks"]]
    wrappers = [
        _described(WrapperInfo, offer, manifest, "wrapper") for offer in groups["neurogym.wrappers"]
    ]
    specifier = core_specifier(declared.requires, names.CORE)
    return PackageInfo(
        distribution=declared.name,
        version=declared.version,
        namespace=names.namespace_of(declared.name),
        requires_core=specifier,
        compatible=specifier is None or satisfies(core, specifier) is not False,
        blocked=is_blocked(declared.name, blocked),
        location=declared.location,
        editable=editable(declared) if manifests else None,
        tasks=tuple(_mark_twice(tasks)),
        wrappers=tuple(_mark_twice(wrappers)),
        commands=tuple(groups["neurogym.commands"]),
        subjects=tuple(groups["neurogym.subjects"]),
        trainers=tuple(groups["neurogym.trainers"]),
        plugins=tuple(groups["neurogym.plugins"]),
        registries=tuple(groups["neurogym.registries"]),
        problems=(
            *declared.problems,
            *shared,
            *_core_warnings(declared, core, specifier),
            *_unknown_groups(declared),
            *manifest_problems,
            *_rows_without_entry(manifest, groups),
        ),
    )


def _shared_problems(declared: Declaration, core: str, blocked: frozenset[str]) -> list[Problem]:
    """Return the problems that make all offers of a package unusable."""
    found = []
    specifier = core_specifier(declared.requires, names.CORE)
    if specifier is not None and satisfies(core, specifier) is False:
        message = (
            f"{declared.name} {declared.version} needs neurogym-core{specifier}, but {core} is"
            " installed. Install a core of that version, or remove the package:"
            f" `{removal(declared.name)}`."
        )
        found.append(Problem(level="fatal", code="incompatible", message=message))
    if is_blocked(declared.name, blocked):
        message = f"{declared.name} is blocked by NGYM_BLOCK. To use it, remove it from that list."
        found.append(Problem(level="note", code="blocked", message=message))
    return found


def _core_warnings(declared: Declaration, core: str, specifier: str | None) -> list[Problem]:
    if names.canonical(declared.name) == names.CORE:
        return []
    if specifier is None:
        said = "does not say which neurogym-core it needs; it is assumed to be compatible"
    elif satisfies(core, specifier) is None:
        said = (
            f"requires neurogym-core{names.clean(specifier)}, which cannot be read; it is assumed"
            " to be compatible"
        )
    else:
        return []
    message = (
        f"{declared.name} {said}. Its author should write `dependencies ="
        ' ["neurogym-core>=1.0,<2"]`.'
    )
    return [Problem(level="warning", code="metadata", message=message)]


def _unknown_groups(declared: Declaration) -> list[Problem]:
    known = (*GROUPS, MANIFEST_GROUP)
    groups = dict.fromkeys(names.clean(point[0]) for point in declared.entry_points)
    messages = [
        f"unknown entry-point group {group!r}.{did_you_mean(group, known)} Known: {listed(known)}."
        for group in groups
        if group not in known
    ]
    return [Problem(level="warning", code="metadata", message=message) for message in messages]


def _offers(declared: Declaration, group: str, shared: Iterable[Problem]) -> list[Offer]:
    return [
        Offer(
            group=group,
            name=name,
            value=value,
            distribution=declared.name,
            version=declared.version,
            namespace=names.namespace_of(declared.name),
            problems=(*shared, *_form_problems(declared.name, group, name, value)),
        )
        for point_group, name, value in declared.entry_points
        if point_group == group
    ]


def _form_problems(distribution: str, group: str, name: str, value: str) -> list[Problem]:
    found = []
    if group in _FORMS and _FORMS[group][0].fullmatch(name) is None:
        claim = " The namespace follows from the package's name." if "/" in name else ""
        message = (
            f"{names.clean(name)!r} is not a valid name in {group}; expected"
            f" {_FORMS[group][1]}.{claim}"
        )
        found.append(Problem(level="fatal", code="name", message=message))
    if group == "neurogym.subjects" and name in names.SUBJECTS:
        message = f"{name!r} is a subject of the core. Its author should choose another name."
        found.append(Problem(level="fatal", code="name", message=message))
    if group == "neurogym.commands" and (taken := names.taken_command(name, distribution)):
        message = (
            f"{names.clean(name)!r} is, or resembles, the command {taken!r} of this project, and"
            " cannot be used. Its author should choose another name."
        )
        found.append(Problem(level="fatal", code="name", message=message))
    is_module = group in ("neurogym.plugins", "neurogym.registries")
    form = names.MODULE_VALUE if is_module else names.VALUE
    if form.fullmatch(value) is None:
        message = f"{names.clean(value)!r} is not a valid value; expected `module:attribute`."
        found.append(Problem(level="fatal", code="value", message=message))
    return found


def _described(
    kind: Callable[..., _OfferT], offer: Offer, manifest: Manifest | None, row_kind: str
) -> _OfferT:
    """Return the offer with its manifest row; warn if a valid manifest lacks the row."""
    row = manifest.row(row_kind, offer.name) if manifest is not None else None
    fields: dict[str, Any] = dict(offer.__dict__)
    if row is not None:
        fields |= {key: getattr(row, key) for key in _FROM_ROW}
        fields["problems"] = (*offer.problems, *row.problems)
    elif manifest is not None and not manifest.problems:
        message = (
            f"has no row for {names.clean(offer.name)!r}; expected [[{row_kind}]] with this name."
        )
        problem = Problem(level="warning", code="manifest", message=message, file=manifest.file)
        fields["problems"] = (*offer.problems, problem)
    return kind(**fields)


def _rows_without_entry(manifest: Manifest | None, groups: dict[str, list[Offer]]) -> list[Problem]:
    if manifest is None:
        return []
    return [
        _row_problem(manifest, row)
        for row in manifest.rows
        if all(row.name != offer.name for offer in groups[f"neurogym.{row.kind}s"])
    ]


def _row_problem(manifest: Manifest, row: Row) -> Problem:
    message = (
        f"the package has no such entry point in neurogym.{row.kind}s. Add the entry point, or"
        " remove the row."
    )
    where = f"[[{row.kind}]] {names.clean(row.name)!r}"
    return Problem(level="error", code="manifest", message=message, file=manifest.file, row=where)


def _mark_twice(offers: list[_OfferT]) -> list[_OfferT]:
    """Return a package's offers; those that share a name are marked as unusable duplicates."""
    seen = defaultdict(list)
    for offer in offers:
        seen[offer.name].append(offer.value)
    return [
        _with_duplicate(offer, seen[offer.name]) if len(seen[offer.name]) > 1 else offer
        for offer in offers
    ]


def _with_duplicate(offer: _OfferT, values: list[str]) -> _OfferT:
    message = f"{offer.id} is declared {len(values)} times, as {listed(values)}; neither is used."
    problem = Problem(level="fatal", code="duplicate", message=names.clean(message))
    return replace(offer, problems=(*offer.problems, problem))


def _mark_claimed_twice(packages: list[PackageInfo], kind: str) -> list[PackageInfo]:
    """Return the packages; offers of one name in several packages are marked as duplicates.

    Commands, subjects and trainers have no namespace, so none of the duplicates can be used.
    """
    owners = defaultdict(list)
    for package in packages:
        for offer in getattr(package, kind):
            if not package.blocked:
                owners[offer.name].append(offer.distribution)
    marked = []
    for package in packages:
        changed: dict[str, Any] = {
            kind: tuple(
                _with_claim(offer, kind, owners[offer.name]) for offer in getattr(package, kind)
            )
        }
        marked.append(replace(package, **changed))
    return marked


def _with_claim(offer: Offer, kind: str, owners: list[str]) -> Offer:
    if len(owners) < 2 or offer.has("blocked"):
        return offer
    ways = ", ".join(f"`{removal(owner)}`" for owner in dict.fromkeys(owners))
    message = (
        f"The {kind.removesuffix('s')} {names.clean(offer.name)!r} is claimed by {listed(owners)};"
        f" none is used. Remove all but one: {ways}."
    )
    return replace(
        offer, problems=(*offer.problems, Problem(level="fatal", code="duplicate", message=message))
    )


def _manifest(declared: Declaration) -> tuple[Manifest | None, list[Problem]]:
    """Return the package's manifest, and the problems of the whole file."""
    values = [value for group, _, value in declared.entry_points if group == MANIFEST_GROUP]
    problems = []
    if not values:
        if any(
            point[0] in ("neurogym.tasks", "neurogym.wrappers") for point in declared.entry_points
        ):
            message = "the package has none, so catalogues cannot describe its tasks and wrappers."
            problems.append(_manifest_problem(message, "warning"))
        return None, problems
    if len(values) > 1:
        problems.append(
            _manifest_problem(f"{len(values)} are declared; expected one. Only the first is read.")
        )
    path = _locate(values[0], declared)
    if isinstance(path, Problem):
        return None, [*problems, path]
    # Imported here because tomllib would slow down `make`, which reads no manifest.
    from neurogym_core.ecosystem.manifest import read_manifest

    manifest = read_manifest(path)
    return manifest, [*problems, *manifest.problems]


def _manifest_problem(message: str, level: Level = "error") -> Problem:
    return Problem(level=level, code="manifest", message=message, file="manifest")


def _locate(value: str, declared: Declaration) -> Path | Problem:
    """Return the path of a manifest, or the problem if there is no such file.

    It is looked for in the folder where pip installed the package, then with `find_spec` of the
    top-level package. The latter finds editable installs without importing them, but takes several
    times as long.
    """
    match = _MANIFEST_VALUE.fullmatch(value)
    if match is None:
        return _manifest_problem(
            f"{names.clean(value)!r} is not a valid value; expected `package:ngym.toml`."
        )
    top, *inner = match.group(1).split(".")
    if declared.location and editable(declared) is None:
        beside = os.path.join(declared.location, top, *inner, match.group(2))
        if os.path.isfile(beside):
            return Path(beside)
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError, AttributeError):
        spec = None
    if spec is None:
        message = (
            f"the package {top!r} is missing, although its metadata is installed. Install it"
            " again, or remove it."
        )
        return Problem(level="error", code="stale", message=message, file=match.group(2))
    for folder in spec.submodule_search_locations or ():
        path = Path(folder, *inner, match.group(2))
        if path.is_file():
            return path
    message = f"is not in the package {match.group(1)!r}. Its author should add it to the wheel."
    return Problem(level="error", code="manifest", message=message, file=match.group(2))
