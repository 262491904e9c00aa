"""Prepare the files of a pull request to a registry: entry, release, figures and index."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from neurogym_core.tools import RegistryError, clean
from neurogym_registry.change import ignores
from neurogym_registry.effects import effects
from neurogym_registry.folder import (
    Violation,
    entry_file,
    files_of,
    read_package,
    release_file,
)
from neurogym_registry.releases import Inspection, add_release, readable, write_index
from neurogym_registry.rules import changed_registry, errors
from neurogym_registry.wheels import Wheel
from neurogym_registry.writing import write_bytes, write_text, write_together


@dataclass(frozen=True, kw_only=True)
class Submission:
    """The written files, relative to the registry, warnings, and the text of the pull request."""

    files: tuple[str, ...]
    warnings: tuple[Violation, ...]
    title: str
    text: str


def is_listed(registry: Path, name: str) -> bool:
    """Whether a package has an entry in the registry."""
    return name in read_package(registry, name).entries


def entry_text(
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
    lines = [
        "schema = 1",
        f"name = {_toml(wheel.name)}",
        f"summary = {_toml(wheel.summary)}",
        f"repository = {_toml(repository)}",
        f"added = {date.today().isoformat()}",
    ]
    for index, name in enumerate(names):
        lines += ["", "[[maintainers]]", f"name = {_toml(name)}"]
        if github and index == 0:
            lines.append(f"github = {_toml(github)}")
        if github_id is not None and index == 0:
            lines.append(f"github_id = {github_id}")
    return "\n".join(lines) + "\n"


def commits_index(folder: Path) -> bool:
    """Whether the index of a registry is one of its files; git ignores others.

    The publishing workflow of a large registry builds its index."""
    return not ignores(folder, "index.json")


def refuse_early(registry: Path, wheel: Wheel, entry: str | None) -> None:
    """Raise the errors of `submit` that are known without running code of the package.

    Raises:
        RegistryError: a rule would be broken; the message lists all violations.
    """
    with _draft(registry, wheel, entry, None, None, None) as (_, found):
        _refuse([one for one in errors(found) if one.rule != "conformance"])


@contextmanager
def _draft(
    registry: Path,
    wheel: Wheel,
    entry: str | None,
    inspection: Inspection | None,
    conformance: Mapping[str, Any] | None,
    provenance: str | None,
) -> Iterator[tuple[Path, list[Violation]]]:
    """Yield a copy of the package's files with the release in it, and the violations there."""
    old = read_package(registry, wheel.name)
    with TemporaryDirectory(prefix="ngym-") as name:
        draft = Path(name) / "registry"
        for file in files_of(registry, wheel.name):
            write_bytes(draft / file, (registry / file).read_bytes())
        if entry is not None:
            write_text(draft / entry_file(wheel.name), entry)
        add_release(draft, wheel, inspection, conformance, provenance)
        new = replace(read_package(draft, wheel.name), known=old.known)
        found = changed_registry(new, replace(old, known=frozenset()), wheel.path.parent)
        yield draft, sorted(found, key=lambda one: (one.level != "error", one.file, one.field))


def submit(
    registry: Path,
    wheel: Wheel,
    entry: str | None,
    inspection: Inspection,
    conformance: Mapping[str, Any] | None,
    provenance: str | None = None,
) -> Submission:
    """Write a release and, for a new package, its entry into a registry, if that breaks no rule.

    Args:
        registry: folder of the registry in a checkout.
        wheel: the wheel of the release.
        entry: the text of `entry_text`, or None if the package is listed.
        inspection: the result of `releases.inspect_wheel`.
        conformance: the result of `releases.examine`, without the failures.
        provenance: the result of `attestations.provenance_of`.

    Raises:
        RegistryError: a rule would be broken; the message lists all violations.
    """
    with _draft(registry, wheel, entry, inspection, conformance, provenance) as (draft, found):
        _refuse(errors(found))
        files = _changed(draft, registry)
        built = commits_index(registry)
        if built:
            readable(registry)
        write_together({registry / file: (draft / file).read_bytes() for file in files})
        if built:
            files = ["index.json", *files]
            write_index(registry)
        release = json.loads((draft / release_file(wheel.name, wheel.version)).read_text("utf-8"))
    new = "list" if entry is not None else "release"
    return Submission(
        files=tuple(files),
        warnings=tuple(one for one in found if one.level == "warning"),
        title=f"{new.capitalize()} {wheel.name} {wheel.version}",
        text=_text(release, first=entry is not None),
    )


def _refuse(found: Sequence[Violation]) -> None:
    if found:
        lines = [
            f"The submission breaks {len(found)} rules of the registry, expected none. Correct the"
            " package, and submit it again; nothing was written.",
            *map(str, found),
        ]
        raise RegistryError("\n".join(lines))


def _changed(draft: Path, registry: Path) -> list[str]:
    """Return the files that are new or different in the draft."""
    names = sorted(
        path.relative_to(draft).as_posix() for path in draft.rglob("*") if path.is_file()
    )
    return [
        name
        for name in names
        if not (registry / name).is_file()
        or (registry / name).read_bytes() != (draft / name).read_bytes()
    ]


def _text(release: Mapping[str, Any], *, first: bool) -> str:
    """Return the text of the pull request, in Markdown."""
    said = release["conformance"] or {
        "passed": 0,
        "failed": 0,
        "expected_failures": [],
        "core": "?",
        "python": "?",
    }
    (file,) = release["files"]
    offers = [
        f"- `{task['name']}`: {clean(task['summary'])} {_papers(task)}".rstrip()
        for task in release["tasks"]
    ]
    offers += [f"- wrapper `{one['name']}`: {clean(one['summary'])}" for one in release["wrappers"]]
    offers += [f"- **{text}**" for text in effects(release["offers"])]
    excuses = [
        f"  - `{one['task']}` {one['check']}: {one['reason']}" for one in said["expected_failures"]
    ]
    return "\n".join(
        [
            f"{'New package' if first else 'New release'}: {release['name']} {release['version']}",
            "",
            *offers,
            "",
            f"- wheel: `{file['filename']}`, SHA-256 `{file['sha256']}`, {file['size']:,} bytes",
            f"- licence: {release['license']}; needs neurogym-core {release['requires_core']},"
            f" Python {release['requires_python']}",
            f"- conformance, full level: {said['passed']} passed, {said['failed']} failed "
            f"(core {said['core']}, Python {said['python']})",
            f"- attestations: {release.get('provenance') or 'none seen on the package index'}",
            *(["- expected failures:", *excuses] if excuses else []),
            "",
            "- [ ] The wheel is, or is about to be, where pip finds it.",
            "- [ ] I maintain this package, and have read POLICY.md.",
        ]
    )


def _papers(task: Mapping[str, Any]) -> str:
    return ", ".join(f"https://doi.org/{one['doi']}" for one in task["references"])


def _toml(text: str) -> str:
    """Return a text as a TOML string, without control characters."""
    return '"' + clean(text).replace("\\", "\\\\").replace('"', '\\"') + '"'
