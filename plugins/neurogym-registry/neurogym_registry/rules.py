"""The rules of a registry, and the functions that check its files.

No package is imported or run here. Facts that need a package's code (descriptions of tasks, results
of the conformance kit) were written into the release file by a keeper's command, which runs it in a
sandbox; see ``registry/POLICY.md``."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from neurogym_core import NeurogymError
from neurogym_core.tools import canonical, clean, listed, vocabulary
from neurogym_registry.drawings import fault_of
from neurogym_registry.folder import (
    Level,
    Registry,
    Violation,
    broken_schema,
    entry_file,
    read_registry,
    release_file,
    sources_file,
)
from neurogym_registry.index import build_index, serial_of, split
from neurogym_registry.index_text import written
from neurogym_registry.licences import is_open
from neurogym_registry.names import WELL_KNOWN, Similar, first_party, likeness
from neurogym_registry.releases import FROM_WHEEL, facts_of, static_row
from neurogym_registry.requirements import satisfies
from neurogym_registry.schemas import breaches, part_breaches
from neurogym_registry.versions import is_prerelease, version_key
from neurogym_registry.wheels import (
    TEMPLATE_TEXTS,
    leads_into,
    module_of,
    read_requirement,
    read_wheel,
    sha256_of,
)

RULES = {
    "layout": "A registry has the files that its README names, and no others.",
    "readable": "Files are UTF-8, of moderate size, and contain one TOML or JSON table.",
    "schema": "Every file is valid by its schema in registry/schema.",
    "file-name": (
        "An entry has the name of its file, a release the name and version of its folder and file."
    ),
    "entry-missing": "Only packages with an entry have releases.",
    "sources": "Contents without a release are of a package with a folder of this repository.",
    "superseded": (
        "superseded_by names another package of the registry, and is given if the status is"
        " superseded."
    ),
    "look-alike": (
        "A name differs from all other names, and from those of well-known packages, in two or more"
        " letters."
    ),
    "reserved": "Only the registry of this project's repository lists names of its packages.",
    "folder": (
        "A package with a folder in its entry is in the repository of the registry, and only"
        " keepers list it."
    ),
    "moved": "The repository of a package stays the same, and one of its maintainers stays.",
    "containing": "The own words of a name do not contain those of another name.",
    "plain-text": "Texts have no control, invisible or reordering characters.",
    "same-version": "No two releases of a package have the same version in two spellings.",
    "core-bound": "A release states a lower and an upper bound of neurogym-core.",
    "python-bound": "A release states a lower bound of Python.",
    "licence": "A release has an open-source licence, written as an SPDX expression.",
    "own-modules": (
        "A wheel contains one package, named after the distribution, and its entry points lead into"
        " it."
    ),
    "requirements": "A release requires packages by name and version, never a file at an address.",
    "template": "Docstrings of tasks have no text of the template of `ngym new`.",
    "wheel-name": "The wheels of a release have its name and version.",
    "unique-names": "The tasks of a release have different names, and so have its wrappers.",
    "vocabulary": (
        "Tags and species are words of the vocabulary (neurogym_core/ecosystem/vocabulary.toml)."
    ),
    "conformance": "A release was checked at the full level, no check failed, and each excused"
    " check has a reason.",
    "digest": "A task whose behaviour differs from an earlier release has a new -vN.",
    "figure": (
        "The figure of a trial has the hash in the release file, and the check finds no script and"
        " no address in it."
    ),
    "revocation": "Revocations of listed packages name their releases.",
    "add-only": (
        "Entries, releases and revocations never change; a release can only be yanked, with a"
        " reason."
    ),
    "owners": (
        "Only its maintainers change a package, and only keepers add releases and change other"
        " files; accounts are compared by their numeric id."
    ),
    "wheel": "A wheel has the hash, the size and the metadata in its release file.",
    "fresh-index": (
        "index.json, where it is committed, equals the index that `ngym registry build` makes."
    ),
}
_PAGES = (
    ".gitattributes", ".gitignore", "CODEOWNERS", "CONTRIBUTING.md", "LICENSE", "LICENSE.md",
    "POLICY.md", "README.md", "SECURITY.md", "index.json", "index.json.gz",
    "index.json.sigstore.json", "keepers.toml", "revoked.json",
)  # fmt: skip
_FOLDERS = (".github/", "index/", "schema/")
SHORTEST_REASON = 10
"""Letters that the reason for an excused check has at least."""


def validate(
    folder: Path, against: Path | None = None, wheels: Path | None = None
) -> list[Violation]:
    """Return all violations in a registry, errors first.

    Args:
        folder: the registry.
        against: the previous registry, to which `folder` may only add.
        wheels: a folder of wheels; those of releases are compared with the release files.
    """
    registry = read_registry(folder)
    found = list(registry.violations)
    old = None if against is None else read_registry(against)
    for check in (_layout, _entries, _sources, _releases, _revocations):
        found += check(registry)
    found += _names(registry, old)
    found += _folders(registry)
    if old is not None:
        found += _added_only(registry, old)
        found += _excused(registry, old)
    if wheels is not None:
        found += _wheels(registry, wheels)
    if not any(one.level == "error" for one in found):
        found += _index(registry)
    return sorted(found, key=lambda one: (one.level != "error", one.file, one.field))


def changed_registry(
    registry: Registry, old: Registry, wheels: Path | None = None
) -> list[Violation]:
    """Return the violations in a part of a registry, compared with the same part before.

    Args:
        registry: the part.
        old: the part before the change.
        wheels: a folder of wheels; those of releases are compared with the release files.
    """
    found = list(registry.violations)
    for check in (_layout, _entries, _sources, _releases, _revocations):
        found += check(registry)
    found += _names(registry, old)
    found += _added_only(registry, old)
    found += _excused(registry, old)
    if wheels is not None:
        found += _wheels(registry, wheels)
    return found


def errors(found: list[Violation]) -> list[Violation]:
    """Return the violations that are errors."""
    return [one for one in found if one.level == "error"]


# -- layout and entries --------------------------------------------------


def _layout(registry: Registry) -> Iterator[Violation]:
    figures = {
        f"releases/{name}/{task['figure']['file']}"
        for name, versions in registry.releases.items()
        for release in versions.values()
        for task in _rows(release, "tasks")
        if isinstance(task.get("figure"), dict) and isinstance(task["figure"].get("file"), str)
    }
    for name in sorted(registry.others):
        if name not in figures and name not in _PAGES and not name.startswith(_FOLDERS):
            message = (
                "is not a file of a registry. Expected packages/NAME.toml or"
                " releases/NAME/VERSION.json. Remove it."
            )
            yield Violation(rule="layout", file=clean(name), message=message)


def _entries(registry: Registry) -> Iterator[Violation]:
    for name, entry in registry.entries.items():
        file = entry_file(name)
        yield from broken_schema(file, breaches(entry, "entry"))
        yield from _plain_texts(file, entry)
        if entry.get("name") != name or canonical(name) != name:
            message = (
                f"is {clean(repr(entry.get('name')))} in {clean(file)}. Expected the same canonical"
                " name in both. Correct the name or rename the file."
            )
            yield Violation(rule="file-name", file=file, field="name", message=message)
        successor = entry.get("superseded_by")
        if (successor is not None) != (entry.get("status") == "superseded") or (
            successor is not None and (successor == name or successor not in registry.names)
        ):
            message = (
                f"is {clean(repr(successor))} with the status"
                f" {clean(repr(entry.get('status', 'active')))}. Expected the name of another"
                ' package of the registry with status = "superseded". Correct or remove both.'
            )
            yield Violation(rule="superseded", file=file, field="superseded_by", message=message)


def _sources(registry: Registry) -> Iterator[Violation]:
    for name, contents in registry.sources.items():
        file = sources_file(name)
        yield from _plain_texts(file, contents)
        if "folder" not in registry.entries.get(name, {}) or contents.get("name") != name:
            message = (
                "is not of a package with a folder in its entry. Expected the contents that `ngym"
                " registry build` writes. Remove the file."
            )
            yield Violation(rule="sources", file=file, message=message)
        for kind in ("task", "wrapper"):
            for row in _rows(contents, f"{kind}s"):
                found = part_breaches(row, f"common.schema.json#/$defs/{kind}")
                yield from broken_schema(file, found)


def _names(registry: Registry, old: Registry | None) -> Iterator[Violation]:
    """Yield names that look like others; of two similar names, the later one is reported.

    Names of the previous registry came first, whatever their entries say. They were compared when
    they were added."""
    earlier = set() if old is None else {*old.entries} & {*registry.entries}
    earlier |= registry.known - registry.entries.keys()
    added = sorted(
        set(registry.entries) - earlier,
        key=lambda name: (str(registry.entries[name].get("added")), name),
    )
    similar = Similar([*WELL_KNOWN, *earlier, *added], questions=len(added))
    place = {name: index for index, name in enumerate(added)}
    for index, name in enumerate(added):
        if name in first_party() and "folder" not in registry.entries[name]:
            message = (
                "is a package of this project. Expected a name that is not. Choose another name."
            )
            yield Violation(rule="reserved", file=entry_file(name), field="name", message=message)
        earlier_ones = [one for one in similar.of(name) if place.get(one, -1) < index]
        others = sorted({*earlier_ones, *({name} & set(WELL_KNOWN))})
        yield from _look_alike(name, [one for one in others if not _first_party_family(name, one)])
        if name not in first_party():
            for other in similar.within(name):
                if other in WELL_KNOWN or place.get(other, -1) > index:
                    continue
                yield Violation(
                    level="warning",
                    rule="containing",
                    file=entry_file(name),
                    field="name",
                    message=f"contains the name of {other!r}, and can be taken for a part of it."
                    " Expected another name. Accept it only if it belongs to that package.",
                )


def _look_alike(name: str, others: list[str]) -> Iterator[Violation]:
    """Yield one violation for a name that looks like others: an error, if there is one.

    The search ends there: of a thousand names in a series, each looks like all others."""
    warned = None
    for other in others:
        apart = 0 if name == other else likeness(name, other)
        if apart is not None and apart < 2:
            yield _looks_like(name, other, "error")
            return
        warned = warned or (other if apart is not None else None)
    if warned:
        yield _looks_like(name, warned, "warning")


def _looks_like(name: str, other: str, level: Level) -> Violation:
    message = (
        f"looks like {other!r}. Expected a name that cannot be confused with another."
        " Choose another name."
    )
    return Violation(
        level=level, rule="look-alike", file=entry_file(name), field="name", message=message
    )


def _first_party_family(name: str, other: str) -> bool:
    """Whether a package of this project is named after a package that it connects to (torch)."""
    return name in first_party() and not other.startswith("neurogym-")


def _folders(registry: Registry) -> Iterator[Violation]:
    """Yield packages whose folder is not in the repository that the registry is in."""
    for name, entry in registry.entries.items():
        if "folder" not in entry:
            continue
        sources = registry.folder.resolve().parent / str(entry["folder"]) / "pyproject.toml"
        try:
            own = tomllib.loads(sources.read_text("utf-8"))["project"]["name"]
        except (OSError, ValueError, KeyError, TypeError):
            own = None
        if own is None or canonical(str(own)) != name:
            message = (
                f"is {clean(repr(entry['folder']))}, which has no sources of {name} beside the"
                " registry. Expected a folder of its repository. Give `repository` instead."
            )
            yield Violation(rule="folder", file=entry_file(name), field="folder", message=message)


# -- releases --------------------------------------------------


def _releases(registry: Registry) -> Iterator[Violation]:
    for name, versions in registry.releases.items():
        if name not in registry.entries:
            message = (
                f"has no {entry_file(name)}. Expected an entry for every package with releases."
                " Write it, or remove the releases."
            )
            yield Violation(rule="entry-missing", file=f"releases/{name}", message=message)
        seen: dict[Any, str] = {}
        for version, release in versions.items():
            broken = [*broken_schema(release_file(name, version), breaches(release, "release"))]
            yield from broken
            if broken:
                continue
            for check in _RELEASE_CHECKS:
                yield from check(registry, name, version, release)
            twin = seen.setdefault(version_key(version), version)
            if twin != version:
                message = (
                    f"is the same version as {twin}. Expected each version only once. Remove one."
                )
                yield _of_release(name, version, "same-version", "version", message)
        yield from _digests(name, versions)


def _of_release(name: str, version: str, rule: str, field: str, message: str) -> Violation:
    return Violation(rule=rule, file=release_file(name, version), field=field, message=message)


def _named(
    registry: Registry, name: str, version: str, release: dict[str, Any]
) -> Iterator[Violation]:
    for field, wanted in (("name", name), ("version", version)):
        if release[field] != wanted:
            message = (
                f"is {release[field]!r}. Expected {wanted!r} as in the path of the file. Make the"
                " release again with `ngym submit`."
            )
            yield _of_release(name, version, "file-name", field, message)
    for index, file in enumerate(release["files"]):
        stem = "-".join(file["filename"].split("-")[:2]).lower()
        if stem != f"{name.replace('-', '_')}-{version}":
            message = (
                f"is {file['filename']!r}. Expected a wheel of {name} {version}. Make the release"
                " again from that wheel."
            )
            where = f"files[{index}].filename"
            yield _of_release(name, version, "wheel-name", where, message)


def _bounds(
    registry: Registry, name: str, version: str, release: dict[str, Any]
) -> Iterator[Violation]:
    core, python = release["requires_core"], release["requires_python"]
    far_above = satisfies("9999", core)
    if not core or satisfies("0.0.1", core) is not False or far_above is not False:
        message = (
            f"is {core!r}. Expected a lower and an upper bound. Write neurogym-core>=1.0,<2 in the"
            " dependencies in pyproject.toml."
        )
        yield _of_release(name, version, "core-bound", "requires_core", message)
    if not python or satisfies("2.7", python) is not False:
        message = (
            f'is {python!r}. Expected a lower bound. Write requires-python = ">=3.11" in'
            " pyproject.toml."
        )
        yield _of_release(name, version, "python-bound", "requires_python", message)


def _licence(
    registry: Registry, name: str, version: str, release: dict[str, Any]
) -> Iterator[Violation]:
    if not is_open(release["license"]):
        message = (
            f"is {clean(repr(release['license']))}. Expected an SPDX expression of open-source"
            ' licences. Write for example license = "BSD-3-Clause" in pyproject.toml.'
        )
        yield _of_release(name, version, "licence", "license", message)


def _offers(
    registry: Registry, name: str, version: str, release: dict[str, Any]
) -> Iterator[Violation]:
    file = release_file(name, version)
    for kind in ("tasks", "wrappers"):
        names = [row["name"] for row in release[kind]]
        for index, row in enumerate(release[kind]):
            where = f"{kind}[{index}]"
            yield from _place(file, f"{where}.entry_point", name, row["entry_point"])
            if names.index(row["name"]) != index:
                message = f"{row['name']!r} occurs twice. Expected each name once. Remove one."
                yield Violation(
                    rule="unique-names", file=file, field=f"{where}.name", message=message
                )
            yield from _words(file, where, row)
    for kind, rows in release["offers"].items():
        for offer, value in rows.items():
            yield from _place(file, f"offers.{kind}.{clean(offer)}", name, value)
    if release["modules"] != [module_of(name)]:
        message = (
            f"is {', '.join(release['modules'])}. Expected {module_of(name)}, so that no two"
            " packages have files in one place. Rename the module."
        )
        yield Violation(rule="own-modules", file=file, field="modules", message=message)


def _place(file: str, field: str, name: str, value: str) -> Iterator[Violation]:
    if not leads_into(value, module_of(name)):
        message = (
            f"is {clean(value)!r}. Expected an object in {module_of(name)}. Correct the entry"
            " point."
        )
        yield Violation(rule="own-modules", file=file, field=field, message=message)


def _requirements(
    registry: Registry, name: str, version: str, release: dict[str, Any]
) -> Iterator[Violation]:
    for index, text in enumerate(release["requires"]):
        try:
            read_requirement(text)
        except ValueError as error:
            message = (
                f"cannot be allowed: {error}. Expected a name and versions, because pip builds"
                " sources at an address before it asks. Correct the dependencies in pyproject.toml."
            )
            where = f"requires[{index}]"
            yield _of_release(name, version, "requirements", where, message)


def _template(
    registry: Registry, name: str, version: str, release: dict[str, Any]
) -> Iterator[Violation]:
    for index, task in enumerate(release["tasks"]):
        for text in TEMPLATE_TEXTS:
            if text in task.get("docstring", ""):
                message = (
                    f"has {text!r}. Expected the citation of the paper, and the deviations from it."
                    " Write them in the docstring of the task."
                )
                where = f"tasks[{index}].docstring"
                yield _of_release(name, version, "template", where, message)


def _words(file: str, where: str, row: dict[str, Any]) -> Iterator[Violation]:
    for kind in ("tags", "species"):
        known = vocabulary().words[kind]
        for word in row[kind]:
            if word not in known:
                yield Violation(
                    level="warning",
                    rule="vocabulary",
                    file=file,
                    field=f"{where}.{kind}",
                    message=vocabulary().unknown(kind, word),
                )


def _conformance(
    registry: Registry, name: str, version: str, release: dict[str, Any]
) -> Iterator[Violation]:
    said = release["conformance"]
    if not release["tasks"]:
        return
    if said is None or said["level"] != "full" or said["failed"]:
        found = (
            "is missing"
            if said is None
            else f"has the level {said['level']} and {said['failed']} failed checks"
        )
        message = (
            f"{found}. Expected the full level and no failed checks. Make the release with `ngym"
            " registry accept`."
        )
        yield _of_release(name, version, "conformance", "conformance", message)
    for index, one in enumerate(_excuses(release)):
        if sum(letter.isalpha() for letter in one["reason"]) < SHORTEST_REASON:
            message = (
                f"excuses {one['check']} of {one['task']} with {clean(one['reason'])!r}. Expected a"
                " sentence that says why the check does not apply. Write one."
            )
            where = f"conformance.expected_failures[{index}].reason"
            yield _of_release(name, version, "conformance", where, message)


def _texts(
    registry: Registry, name: str, version: str, release: dict[str, Any]
) -> Iterator[Violation]:
    yield from _plain_texts(release_file(name, version), release)


def _figures(
    registry: Registry, name: str, version: str, release: dict[str, Any]
) -> Iterator[Violation]:
    for index, task in enumerate(release["tasks"]):
        figure = task.get("figure")
        reason = (
            None
            if figure is None
            else _wrong_figure(registry.folder / "releases" / name, version, figure)
        )
        if reason is not None:
            where, file = f"tasks[{index}].figure", release_file(name, version)
            yield Violation(
                rule="figure", file=file, field=where, message=f"{reason}. Make the release again."
            )


def _wrong_figure(folder: Path, version: str, figure: dict[str, str]) -> str | None:
    path = folder / figure["file"]
    if not figure["file"].startswith(f"{version}/") or path.is_symlink() or not path.is_file():
        return f"{figure['file']!r} is missing. Expected a file in releases/NAME/{version}"
    if sha256_of(path) != figure["sha256"]:
        return f"{figure['file']!r} has another SHA-256. Expected that of the release file"
    fault = fault_of(path.read_bytes())
    return None if fault is None else f"{figure['file']!r} {clean(fault)}. Expected a drawing only"


_RELEASE_CHECKS: tuple[Callable[[Registry, str, str, dict[str, Any]], Iterator[Violation]], ...] = (
    _named,
    _bounds,
    _licence,
    _offers,
    _requirements,
    _template,
    _conformance,
    _texts,
    _figures,
)


def _digests(name: str, versions: Any) -> Iterator[Violation]:
    """Yield changed digests; pre-releases and yanked releases are not compared with later ones."""
    known: dict[str, tuple[str, dict[str, str]]] = {}
    for version in sorted(versions, key=version_key):
        release = versions[version]
        for index, task in enumerate(_rows(release, "tasks")):
            digest = task.get("digest")
            if not digest or not isinstance(task.get("name"), str):
                continue
            earlier, was = known.get(task["name"], (version, digest))
            changed = sorted(
                part for part in {*was, *digest} if not _agree(was.get(part), digest.get(part))
            )
            if changed:
                message = (
                    f"{task['name']} behaves differently than in {earlier} ({', '.join(changed)})."
                    " Expected equal behaviour. Give the changed task a new -vN."
                )
                where = f"tasks[{index}].digest"
                yield _of_release(name, version, "digest", where, message)
            elif not is_prerelease(version) and release.get("yanked") is None:
                known[task["name"]] = (version, digest)


def _agree(one: str | None, other: str | None) -> bool:
    """Whether two digests of a part describe the same behaviour.

    A copy of `neurogym_check.digest.agree`, whose module imports NumPy."""
    if one is None or other is None:
        return False
    (exact, about), (known, nearly) = one.split(), other.split()
    return exact == known and abs(float(about) - float(nearly)) <= 2e-5


def _rows(release: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    rows = release.get(kind)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _plain_texts(file: str, value: Any, where: str = "") -> Iterator[Violation]:
    if isinstance(value, str):
        # Some texts may have line ends; the schema checks this.
        if clean(value, keep_lines=True) != value:
            message = (
                "contains control, invisible or reordering characters. Expected plain text. Remove"
                " them."
            )
            yield Violation(rule="plain-text", file=file, field=where, message=message)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _plain_texts(file, inner, f"{where}.{key}" if where else key)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _plain_texts(file, inner, f"{where}[{index}]")


# -- revocations, history, wheels, index --------------------------------------------------


def _revocations(registry: Registry) -> Iterator[Violation]:
    for index, row in enumerate(registry.revoked):
        yield from _plain_texts("revoked.json", row, f"revoked[{index}]")
        if row["name"] not in registry.entries:
            continue  # names that were never listed can be revoked, for warnings
        versions = {version_key(version) for version in registry.releases.get(row["name"], {})}
        missing = [
            one for one in row["versions"] if one != "*" and version_key(one) not in versions
        ]
        if missing:
            what = f"{row['name']} {', '.join(missing)}".strip()
            message = (
                f"{what} is not in the registry. Expected a listed package and its releases."
                " Correct the name or the versions."
            )
            yield Violation(
                rule="revocation", file="revoked.json", field=f"revoked[{index}]", message=message
            )


def _added_only(new: Registry, old: Registry) -> Iterator[Violation]:
    for name in old.entries:
        if name not in new.entries:
            message = "was removed. Expected entries to stay. Put it back, and set its status."
            yield Violation(rule="add-only", file=entry_file(name), message=message)
            continue
        yield from _history(name, old.entries[name], new.entries[name])
    for name in new.entries.keys() - old.entries.keys():
        if new.entries[name].get("transfers"):
            message = (
                "is in a new entry. Expected none, because the package has had no other maintainers"
                " here. Leave it out."
            )
            yield Violation(
                rule="add-only", file=entry_file(name), field="transfers", message=message
            )
    for name, versions in old.releases.items():
        for version, before in versions.items():
            yield from _unchanged(name, version, before, new.releases.get(name, {}).get(version))
    for row in old.revoked:
        if row not in new.revoked:
            message = (
                f"the revocation of {row['name']} {', '.join(row['versions'])} was removed or"
                " changed. Expected revocations to stay. Put it back."
            )
            yield Violation(rule="add-only", file="revoked.json", field="revoked", message=message)


def _history(name: str, before: dict[str, Any], after: dict[str, Any]) -> Iterator[Violation]:
    """Yield changes of the transfers of a package, of its date, and of the place of its sources."""
    past, now = before.get("transfers", []), after.get("transfers", [])
    if before.get("added") != after.get("added"):
        message = "has changed. Expected the date to stay as it is. Put it back."
        yield Violation(rule="add-only", file=entry_file(name), field="added", message=message)
    if len(now) <= len(past) and _accounts(before).isdisjoint(_accounts(after)):
        message = (
            f"were {listed(sorted(map(clean, _accounts(before))))}, and none of them stays."
            " Expected one to stay, or a row in transfers. Accept it only if they agree; a keeper"
            " writes `ngym registry transfer`."
        )
        yield Violation(
            level="warning", rule="moved", file=entry_file(name), field="maintainers",
            message=message,
        )  # fmt: skip
    if now[: len(past)] != past:
        message = "has changed. Expected transfers to stay as they are. Put them back."
        yield Violation(rule="add-only", file=entry_file(name), field="transfers", message=message)
    elif len(now) > len(past) and before.get("maintainers") == after.get("maintainers"):
        message = (
            "has a new row, and the maintainers are the same. Expected a transfer to another"
            " account. Write it with `ngym registry transfer`."
        )
        yield Violation(rule="add-only", file=entry_file(name), field="transfers", message=message)
    if before.get("repository") != after.get("repository"):
        message = (
            f"was {clean(str(before.get('repository')))}. Expected the sources to stay in one"
            " place. Accept it only if both addresses say that the sources have moved."
        )
        yield Violation(
            level="warning", rule="moved", file=entry_file(name), field="repository",
            message=message,
        )  # fmt: skip


def _accounts(entry: dict[str, Any]) -> set[str]:
    """Return the maintainers of an entry: numbers of their accounts, or names without one."""
    rows = entry.get("maintainers", [])
    rows = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return {str(row.get("github_id", row.get("name"))) for row in rows}


def _excused(new: Registry, old: Registry) -> Iterator[Violation]:
    """Yield a warning for each excused check of a new release, for its reviewers."""
    for name, versions in new.releases.items():
        for version in sorted(versions.keys() - old.releases.get(name, {}).keys()):
            for index, one in enumerate(_excuses(versions[version])):
                yield Violation(
                    level="warning",
                    rule="conformance",
                    file=release_file(name, version),
                    field=f"conformance.expected_failures[{index}]",
                    message=f"{one['check']} of {one['task']} fails: {clean(one['reason'])!r}."
                    " Expected no failing check. Accept the release only if the reason holds.",
                )


def _excuses(release: dict[str, Any]) -> list[dict[str, str]]:
    """Return the rows of excused checks that fit the schema; the others are its violations."""
    said = release.get("conformance")
    rows = _rows(said, "expected_failures") if isinstance(said, dict) else []
    keys = ("task", "check", "reason")
    return [row for row in rows if all(isinstance(row.get(key), str) for key in keys)]


def _unchanged(
    name: str, version: str, before: dict[str, Any], after: dict[str, Any] | None
) -> Iterator[Violation]:
    file = release_file(name, version)
    if after is None:
        message = "was removed. Expected releases to stay. Put it back, and yank it with a reason."
        yield Violation(rule="add-only", file=file, message=message)
        return
    for key in sorted({*before, *after}):
        if key == "yanked" and before.get(key) is None:
            continue
        if before.get(key) != after.get(key):
            message = "has changed. Expected releases never to change. Make a new release instead."
            yield Violation(rule="add-only", file=file, field=key, message=message)


def _wheels(registry: Registry, folder: Path) -> Iterator[Violation]:
    for name, versions in registry.releases.items():
        for version, release in versions.items():
            for index, row in enumerate(_rows(release, "files")):
                path = folder / str(row.get("filename"))
                if not path.is_file():
                    continue
                file, where = release_file(name, version), f"files[{index}]"
                try:
                    facts = facts_of(read_wheel(path))
                except NeurogymError as error:
                    yield Violation(rule="wheel", file=file, field=where, message=str(error))
                    continue
                for key in FROM_WHEEL:
                    if facts[key] != _as_facts(release, key, index):
                        message = (
                            f"differs from {path.name}. Expected the facts of the wheel. Make the"
                            " release again from that wheel."
                        )
                        yield Violation(rule="wheel", file=file, field=key, message=message)


def _as_facts(release: dict[str, Any], key: str, index: int) -> Any:
    """Return a fact of a release file, in the form of `releases.facts_of`."""
    if key == "files":
        return [release["files"][index]]
    if key in ("tasks", "wrappers"):
        return [static_row(row) for row in _rows(release, key)]
    return release.get(key)


def _index(registry: Registry) -> Iterator[Violation]:
    advice = "Expected the current index. Run `ngym registry build`, and commit index.json."
    path = registry.folder / "index.json"
    if not path.exists():
        return  # it is built when the registry is published
    try:
        text = path.read_text("utf-8")
        serial = json.loads(text).get("serial") if text else None
    except (OSError, ValueError, AttributeError):
        yield Violation(
            rule="fresh-index", file="index.json", message=f"is missing or cannot be read. {advice}"
        )
        return
    if text != written(split(build_index(registry)).index):
        message = (
            f"does not match the files (serial {serial}, expected {serial_of(registry)}). {advice}"
        )
        yield Violation(rule="fresh-index", file="index.json", message=message)
