"""Make the release file of a wheel."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neurogym_core.tools import Manifest, clean
from neurogym_registry.errors import RegistryError
from neurogym_registry.folder import (
    Registry,
    dumps,
    entry_file,
    read_package,
    read_registry,
    release_file,
    sources_file,
)
from neurogym_registry.index import build_index, package_file, split
from neurogym_registry.index_text import written
from neurogym_registry.packed import packed
from neurogym_registry.wheels import TEMPLATE_TEXTS, Wheel, kinds_of
from neurogym_registry.writing import write_bytes, write_text, write_together

if TYPE_CHECKING:
    from neurogym_registry.examination import Examination

FROM_WHEEL = (
    "name",
    "version",
    "requires_core",
    "requires_python",
    "requires",
    "license",
    "modules",
    "files",
    "tasks",
    "wrappers",
    "offers",
)
_STATIC = (
    "name",
    "entry_point",
    "title",
    "summary",
    "tags",
    "species",
    "references",
    "aliases",
    "expected",
    "presets",
)
_DESCRIBED = (
    "docstring",
    "dt",
    "parameters",
    "channels",
    "actions",
    "periods",
    "conditions",
    "rewards",
    "supervised",
    "trials_per_session",
)


def facts_of(wheel: Wheel) -> dict[str, Any]:
    """Return the facts that a wheel itself states, in the form of a release file.

    Raises:
        RegistryError: the manifest is invalid, or lacks a row for a task or wrapper.
    """
    title = f"{wheel.name} {wheel.version}"
    return {
        "name": wheel.name,
        "version": wheel.version,
        "requires_core": wheel.requires_core,
        "requires_python": wheel.requires_python,
        "requires": list(wheel.requires),
        "license": wheel.license,
        "modules": list(wheel.modules),
        "files": [{"filename": wheel.path.name, "sha256": wheel.sha256, "size": wheel.size}],
        "tasks": [
            row_of(title, wheel.manifest, "task", name, value)
            for name, value in _points(wheel, "neurogym.tasks")
        ],
        "wrappers": [
            row_of(title, wheel.manifest, "wrapper", name, value)
            for name, value in _points(wheel, "neurogym.wrappers")
        ],
        "offers": kinds_of(wheel.entry_points),
    }


def static_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a task's or wrapper's row that the wheel itself states."""
    return {key: row[key] for key in _STATIC if key in row}


def make_release(
    wheel: Wheel,
    examination: Examination | None = None,
    attestation: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the object of a release file.

    Args:
        wheel: the wheel.
        examination: the result of running its tasks; None without running them.
        attestation: the result of `attestations.attested`.
    """
    facts, said = facts_of(wheel), None
    if examination is not None:
        facts["tasks"] = [
            {**row, **_described(examination, row["name"], wheel.version)} for row in facts["tasks"]
        ]
        said = None if examination.conformance is None else dict(examination.conformance)
    return {
        "schema": 1,
        **facts,
        "conformance": said,
        "attestation": None if attestation is None else dict(attestation),
        "yanked": None,
    }


def refuse_release(folder: Path, wheel: Wheel) -> None:
    """Raise the errors of `add_release`, before any code of the wheel runs.

    Raises:
        RegistryError: the package has no entry, the release exists, the wheel is for some Pythons
            or systems only, a file has texts of the template, or the manifest is invalid.
    """
    if wheel.name not in read_package(folder, wheel.name).entries:
        raise RegistryError(
            f"{wheel.name} has no {entry_file(wheel.name)} in this registry. Expected an entry"
            " before the first release. Its author writes it with `ngym submit`."
        )
    target = folder / release_file(wheel.name, wheel.version)
    if target.exists():
        raise RegistryError(
            f"{wheel.name} {wheel.version} is released already: {target.name} exists. Expected a"
            " new version, because releases never change. Increase the version of the package."
        )
    python, abi, system = wheel.path.stem.split("-")[-3:]
    if "py3" not in python.split(".") or (abi, system) != ("none", "any"):
        raise RegistryError(
            f"{clean(wheel.path.name)} was given, a wheel for some Pythons or systems only."
            " Expected one for all (py3-none-any): a release lists one file, and pip would look for"
            " another one elsewhere. Build the package without compiled parts, and release a new"
            " version with one wheel."
        )
    if wheel.unchanged:
        raise RegistryError(
            f"{', '.join(wheel.unchanged)} still has a text of the template ("
            f"{' / '.join(TEMPLATE_TEXTS)}). Expected the citation of the paper, and the deviations"
            " from it, in the docstring of the task. Write them, and build the wheel again."
        )
    facts_of(wheel)


def add_release(
    folder: Path,
    wheel: Wheel,
    examination: Examination | None = None,
    attestation: Mapping[str, Any] | None = None,
) -> None:
    """Write the release file of a wheel, and its figures; arguments as in `make_release`.

    Raises:
        RegistryError: see `refuse_release`.
    """
    refuse_release(folder, wheel)
    target = folder / release_file(wheel.name, wheel.version)
    release = make_release(wheel, examination, attestation)
    figures = {} if examination is None else examination.figures
    files = {
        target.parent / task["figure"]["file"]: figures[task["name"]]
        for task in release["tasks"]
        if task.get("figure")
    }
    files[target] = dumps(release).encode()
    write_together(files)


def write_index(folder: Path) -> Path:
    """Build the index from the files of a registry, and return the path of ``index.json``.

    The file ``index.json.gz``, for servers, has the same content. If the registry is in a
    repository with packages, their contents are written first."""
    from neurogym_registry.first_party import contents_of  # it imports this module

    for name, entry in readable(folder).entries.items():
        sources = folder.resolve().parent / str(entry.get("folder"))
        if "folder" in entry and sources.is_dir():
            write_text(folder / sources_file(name), dumps(contents_of(sources)))
    index, files = split(build_index(readable(folder)))
    for name, text in files.items():
        write_bytes(folder / package_file(name), packed(text))
    target, text = folder / "index.json", written(index)
    write_bytes(folder / "index.json.gz", packed(text))
    write_text(target, text)  # the last one: until here, it names the previous files
    return target


def readable(folder: Path) -> Registry:
    """Return a whole registry.

    Raises:
        RegistryError: a file cannot be read.
    """
    registry = read_registry(folder)
    if registry.violations:
        raise RegistryError(
            f"The index cannot be built: {registry.violations[0]} Expected valid files. Correct"
            " them; `ngym registry validate` lists all violations."
        )
    return registry


def _points(wheel: Wheel, group: str) -> Iterable[tuple[str, str]]:
    return sorted(wheel.entry_points.get(group, {}).items())


def row_of(
    title: str, manifest: Manifest | None, kind: str, name: str, value: str
) -> dict[str, Any]:
    """Return the row of a task or wrapper, from its entry point and the manifest.

    Raises:
        RegistryError: the manifest is invalid, or lacks the row; begins with `title`.
    """
    row = manifest.row(kind, name) if manifest is not None else None
    problems = [
        str(one) for one in (manifest.all_problems if manifest else ()) if one.level == "error"
    ]
    if row is None or problems:
        reason = (
            problems[0] if problems else f"its manifest has no [[{kind}]] row for {clean(name)!r}."
        )
        raise RegistryError(
            f"{title} cannot be listed: {reason} Expected a valid ngym.toml in the wheel. Correct"
            " ngym.toml, and build the wheel again."
        )
    return {"entry_point": value.replace(" ", ""), **_of_manifest(row)}


def _of_manifest(row: Any) -> dict[str, Any]:
    texts = {"name": row.name, "title": row.title, "summary": row.summary}
    words = {"tags": list(row.tags), "species": list(row.species), "aliases": list(row.aliases)}
    found = {
        **texts,
        **words,
        "references": [
            {key: value for key, value in asdict(one).items() if value or key in ("doi", "kind")}
            for one in row.references
        ],
    }
    return {
        **found,
        **(
            {"expected": dict(row.expected)}
            if row.kind == "task"
            else {"presets": dict(row.presets)}
        ),
    }


def _described(examination: Examination, name: str, version: str) -> dict[str, Any]:
    found = examination.tasks[name]
    description = found.get("description") or {}
    row = {key: plain(description[key]) for key in _DESCRIBED if key in description}
    if found.get("digest"):
        row["digest"] = dict(found["digest"])
    row["figure"] = None
    if name in examination.figures:
        sha256 = hashlib.sha256(examination.figures[name]).hexdigest()
        row["figure"] = {"file": f"{version}/{name}.svg", "sha256": sha256}
    return row


def plain(value: Any) -> Any:
    """Return the value as strict JSON with cleaned texts; infinity becomes the text ``inf``."""
    if isinstance(value, dict):
        return {clean(str(key)): plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    if isinstance(value, str):
        return clean(value, keep_lines=True)
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
