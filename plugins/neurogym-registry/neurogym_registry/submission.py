"""Ask for a release, as its author, and accept it, as a keeper of the registry."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from neurogym_core.tools import clean
from neurogym_registry.change import ignores
from neurogym_registry.effects import effects
from neurogym_registry.errors import RegistryError
from neurogym_registry.examination import Examination
from neurogym_registry.folder import (
    Violation,
    entry_file,
    files_of,
    read_package,
    release_file,
)
from neurogym_registry.keeping import entry_toml
from neurogym_registry.releases import add_release, readable, write_index
from neurogym_registry.rules import changed_registry, errors
from neurogym_registry.versions import version_key
from neurogym_registry.wheels import Wheel
from neurogym_registry.writing import write_bytes, write_text, write_together


@dataclass(frozen=True, kw_only=True)
class Change:
    """Written files, relative to the registry, warnings, and the release in them or beside them."""

    files: tuple[str, ...]
    warnings: tuple[Violation, ...]
    release: Mapping[str, Any]


def is_listed(registry: Path, name: str) -> bool:
    """Whether a package has an entry in the registry."""
    return name in read_package(registry, name).entries


def asked_for(registry: Path, name: str) -> list[str]:
    """Return the versions that the maintainers of a package ask for, and that are not released."""
    found = read_package(registry, name)
    released = {version_key(one) for one in found.releases.get(name, {})}
    versions = found.entries.get(name, {}).get("versions", [])
    return [one for one in versions if version_key(one) not in released]


def new_entry(
    wheel: Wheel, *, repository: str, maintainer: str, github: str, github_id: int | None
) -> str:
    """Return ``packages/<name>.toml`` for a new package; empty arguments come from the wheel.

    Raises:
        RegistryError: the repository or the maintainer is in neither.
    """
    repository = repository or wheel.repository
    names = [maintainer] if maintainer else list(wheel.authors)
    if not repository or not names:
        missing = "an https address of its repository" if not repository else "a maintainer"
        option = "--repository" if not repository else "--maintainer"
        raise RegistryError(
            f"{wheel.name} is new to this registry, and its wheel does not name {missing}. Expected"
            f" one in pyproject.toml ([project.urls] and authors). Add it there, or use {option}."
            " Nothing was written."
        )
    rows: list[dict[str, Any]] = [{"name": clean(one)} for one in names]
    if github:
        rows[0]["github"] = clean(github)
    if github_id is not None:
        rows[0]["github_id"] = github_id
    return entry_toml(
        {
            "schema": 1,
            "name": wheel.name,
            "summary": clean(wheel.summary),
            "repository": clean(repository),
            "added": date.today().isoformat(),
            "versions": [wheel.version],
            "maintainers": rows,
        }
    )


def later_entry(registry: Path, wheel: Wheel) -> str:
    """Return the entry of a listed package that asks for the version of a wheel, too.

    Released versions go: an entry asks for a bounded number."""
    entry = read_package(registry, wheel.name).entries[wheel.name]
    versions = asked_for(registry, wheel.name)
    if wheel.version not in versions:
        versions = [*versions, wheel.version]
    return entry_toml({**entry, "versions": versions})


def commits_index(folder: Path) -> bool:
    """Whether the index of a registry is one of its files; git ignores others.

    The publishing workflow of a large registry builds its index."""
    return not ignores(folder, "index.json")


def refuse_early(registry: Path, wheel: Wheel, entry: str | None = None) -> None:
    """Raise the errors of a release that are known without running code of the package.

    Args:
        registry: the registry.
        wheel: the wheel of the release.
        entry: the text of the package's entry, if it changes.

    Raises:
        RegistryError: a rule would be broken; the message lists all violations.
    """
    with _draft(registry, wheel, entry) as (_, found):
        _refuse([one for one in errors(found) if one.rule != "conformance"])


def ask(registry: Path, wheel: Wheel, entry: str, examination: Examination) -> Change:
    """Write the entry of a package, which asks for a release, if the release breaks no rule.

    Args:
        registry: folder of the registry in a checkout.
        wheel: the wheel of the release.
        entry: the result of `new_entry` or `later_entry`.
        examination: the result of running its tasks on the machine of the author.

    Raises:
        RegistryError: a rule would be broken; the message lists all violations.
    """
    with _draft(registry, wheel, entry, examination) as (draft, found):
        _refuse(errors(found))
        release = json.loads((draft / release_file(wheel.name, wheel.version)).read_text("utf-8"))
    return _written(registry, {entry_file(wheel.name): entry.encode()}, found, release)


def accept(
    registry: Path,
    wheel: Wheel,
    examination: Examination,
    attestation: Mapping[str, Any] | None,
) -> Change:
    """Write the release of a wheel for which the maintainers ask, if it breaks no rule.

    Args:
        registry: folder of the registry in a checkout.
        wheel: the wheel of the release.
        examination: the result of running its tasks on the machine of the keeper.
        attestation: the result of `attestations.attested`.

    Raises:
        RegistryError: a rule would be broken; the message lists all violations.
    """
    with _draft(registry, wheel, None, examination, attestation) as (draft, found):
        _refuse(errors(found))
        files = {
            path.relative_to(draft).as_posix(): path.read_bytes()
            for path in sorted((draft / "releases" / wheel.name).rglob("*"))
            if path.is_file()
        }
        release = json.loads(files[release_file(wheel.name, wheel.version)])
    new = {file: data for file, data in files.items() if not (registry / file).exists()}
    return _written(registry, new, found, release)


def _written(
    registry: Path, files: Mapping[str, bytes], found: Sequence[Violation], release: Any
) -> Change:
    built = commits_index(registry)
    if built:
        readable(registry)
    write_together({registry / file: data for file, data in files.items()})
    if built:
        write_index(registry)
    return Change(
        files=(*(["index.json"] if built else []), *files),
        warnings=tuple(one for one in found if one.level == "warning"),
        release=release,
    )


@contextmanager
def _draft(
    registry: Path,
    wheel: Wheel,
    entry: str | None,
    examination: Examination | None = None,
    attestation: Mapping[str, Any] | None = None,
) -> Iterator[tuple[Path, list[Violation]]]:
    """Yield a copy of the package's files with the release in it, and the violations there."""
    old = read_package(registry, wheel.name)
    with TemporaryDirectory(prefix="ngym-") as name:
        draft = Path(name) / "registry"
        for file in files_of(registry, wheel.name):
            write_bytes(draft / file, (registry / file).read_bytes())
        if entry is not None:
            tomllib.loads(entry)
            write_text(draft / entry_file(wheel.name), entry)
        add_release(draft, wheel, examination, attestation)
        new = replace(read_package(draft, wheel.name), known=old.known)
        found = changed_registry(new, replace(old, known=frozenset()), wheel.path.parent)
        yield draft, sorted(found, key=lambda one: (one.level != "error", one.file, one.field))


def _refuse(found: Sequence[Violation]) -> None:
    if found:
        lines = [
            f"The release breaks {len(found)} rules of the registry, expected none. Correct the"
            " package, and release it again; nothing was written.",
            *map(str, found),
        ]
        raise RegistryError("\n".join(lines))


def summary(release: Mapping[str, Any]) -> str:
    """Return a description of a release and its effects, for its reviewers, in Markdown."""
    said = release["conformance"]
    (file,) = release["files"]
    offers = [
        f"- `{task['name']}`: {clean(task['summary'])} {_papers(task)}".rstrip()
        for task in release["tasks"]
    ]
    offers += [f"- wrapper `{one['name']}`: {clean(one['summary'])}" for one in release["wrappers"]]
    offers += [f"- **{text}**" for text in effects(release["offers"])]
    checks = "no tasks to check"
    excuses: list[str] = []
    drawn = {task["name"] for task in release["tasks"] if task.get("figure")}
    missing = [task["name"] for task in release["tasks"] if task["name"] not in drawn]
    if said is not None:
        where = "in a sandbox" if said["isolated"] else "without a sandbox"
        checks = (
            f"{said['passed']} passed, {said['failed']} failed (core {said['core']}, Python"
            f" {said['python']}), {where}"
        )
        excuses = [
            f"  - `{one['task']}` {one['check']}: {one['reason']}"
            for one in said["expected_failures"]
        ]
    return "\n".join(
        [
            *offers,
            "",
            f"- wheel: `{file['filename']}`, SHA-256 `{file['sha256']}`, {file['size']:,} bytes",
            f"- licence: {release['license']}; needs neurogym-core {release['requires_core']},"
            f" Python {release['requires_python']}",
            f"- conformance, full level: {checks}",
            *([f"- no figure: {', '.join(missing)}"] if missing else []),
            *(["- expected failures:", *excuses] if excuses else []),
        ]
    )


def _papers(task: Mapping[str, Any]) -> str:
    return ", ".join(f"https://doi.org/{one['doi']}" for one in task["references"])
