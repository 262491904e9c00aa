"""Make the release file of a wheel."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from neurogym_core.tools import Manifest, RegistryError, clean, remedy, run_child
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
from neurogym_registry.wheels import TEMPLATE_TEXTS, Wheel, kinds_of, sha256_of
from neurogym_registry.writing import write_bytes, write_text, write_together

SECONDS = 120.0
CHECK_SECONDS = 300.0  # for one check: each answer starts the time again
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


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """Result of importing a wheel's tasks.

    Attributes:
        folder: folder with the figures.
        tasks: task name -> description and digest.
    """

    folder: Path
    tasks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def inspect_wheel(wheel: Wheel, folder: Path) -> Inspection:
    """Import the wheel's tasks in a child process, with the wheel's files first on its import path.

    Args:
        wheel: the wheel.
        folder: an empty folder, into which the wheel's files and the figures are written.

    Raises:
        RegistryError: a task cannot be imported or described.
    """
    site, pictures = folder / "site", folder / "figures"
    pictures.mkdir(parents=True)
    wheel.unpack(site)
    child = run_child(
        "neurogym_registry.inspect_tasks", [wheel.name, str(pictures)], SECONDS, path_with(site)
    )
    rows = {
        value["task"]: value
        for value in child.values
        if isinstance(value, dict) and "task" in value
    }
    for name in wheel.entry_points.get("neurogym.tasks", {}):
        value = rows.get(name)
        failure = f"the process {child.ending}" if value is None else value.get("failure")
        if failure:
            raise RegistryError(
                f"{name} of {wheel.name} {wheel.version} cannot be described:"
                f" {clean(str(failure)).rstrip('.')}. Expected a task that can be imported and"
                f" made with its defaults. Try `ngym info {name}`, correct the task, and build the"
                " wheel again."
            )
    return Inspection(folder=pictures, tasks=rows)


def path_with(site: Path) -> dict[str, str]:
    """Return the environment variables that put `site` first on a child's import path."""
    return {"PYTHONPATH": os.pathsep.join([str(site), *(path or os.getcwd() for path in sys.path)])}


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
    inspection: Inspection | None,
    conformance: Mapping[str, Any] | None,
    provenance: str | None = None,
) -> dict[str, Any]:
    """Return the object of a release file."""
    facts = facts_of(wheel)
    if inspection is not None:
        facts["tasks"] = [
            {**row, **_described(inspection, row["name"], wheel.version)} for row in facts["tasks"]
        ]
    said = None if conformance is None else dict(conformance)
    seen = {} if provenance is None else {"provenance": provenance}
    return {"schema": 1, **facts, "conformance": said, "yanked": None, **seen}


def refuse_release(folder: Path, wheel: Wheel) -> None:
    """Raise the errors of `add_release`, before any code of the wheel runs.

    Raises:
        RegistryError: the package has no entry, the release exists, a file has texts of the
            template, or the manifest is invalid.
    """
    if wheel.name not in read_package(folder, wheel.name).entries:
        raise RegistryError(
            f"{wheel.name} has no {entry_file(wheel.name)} in this registry. Expected an entry"
            " before the first release. Write it (see the registry's README), or use `ngym submit`."
        )
    target = folder / release_file(wheel.name, wheel.version)
    if target.exists():
        raise RegistryError(
            f"{wheel.name} {wheel.version} is released already: {target.name} exists. Expected a"
            " new version, because releases never change. Increase the version of the package."
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
    inspection: Inspection | None,
    conformance: Mapping[str, Any] | None,
    provenance: str | None = None,
) -> list[Path]:
    """Write the release file of a wheel, and its figures; return the written paths.

    Raises:
        RegistryError: see `refuse_release`.
    """
    refuse_release(folder, wheel)
    target = folder / release_file(wheel.name, wheel.version)
    release = make_release(wheel, inspection, conformance, provenance)
    files = {} if inspection is None else _figures(inspection, release, target.parent)
    files[target] = dumps(release).encode()
    write_together(files)
    return list(files)


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


def _described(inspection: Inspection, name: str, version: str) -> dict[str, Any]:
    found = inspection.tasks[name]
    description = found.get("description") or {}
    row = {key: plain(description[key]) for key in _DESCRIBED if key in description}
    if found.get("digest"):
        row["digest"] = dict(found["digest"])
    picture = inspection.folder / f"{name}.svg"
    if picture.is_file():
        row["figure"] = {"file": f"{version}/{name}.svg", "sha256": sha256_of(picture)}
    else:
        row["figure"] = None
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


def _figures(inspection: Inspection, release: Mapping[str, Any], folder: Path) -> dict[Path, bytes]:
    return {
        folder / task["figure"]["file"]: (inspection.folder / f"{task['name']}.svg").read_bytes()
        for task in release["tasks"]
        if task.get("figure")
    }


def examine(
    wheel: Wheel,
    folder: Path,
    level: str = "full",
    excuses: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any]:
    """Run the conformance kit on all tasks of an unpacked wheel, each in a child process.

    Args:
        wheel: the wheel.
        folder: folder with the wheel's files.
        level: "quick" or "full".
        excuses: the kit's expected failures, code -> reason.

    Returns:
        The summary for `add_release`, with the messages of failures in ``failures``.

    Raises:
        RegistryError: a child process gave no result.
    """
    totals: dict[str, Any] = {"passed": 0, "failed": 0, "expected_failures": [], "failures": []}
    for name in sorted(wheel.entry_points.get("neurogym.tasks", {})):
        value = examine_installed(wheel.name, name, level, path_with(folder), excuses)
        for key in ("passed", "failed", "expected_failures", "failures"):
            totals[key] = totals[key] + value[key]
        totals |= {"core": value["core"], "python": value["python"], "level": level}
    return totals


def examine_installed(
    distribution: str,
    task: str,
    level: str,
    variables: Mapping[str, str] = MappingProxyType({}),
    excuses: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any]:
    """Run the conformance kit on one installed task in a child process, and return the summary.

    Raises:
        RegistryError: the child process gave no result.
    """
    arguments = [distribution, task, level, json.dumps(dict(excuses))]
    child = run_child("neurogym_registry.examine_task", arguments, CHECK_SECONDS, variables)
    value = child.values[-1] if child.values and isinstance(child.values[-1], dict) else None
    if value is None or "passed" not in value:
        reason = value.get("failure") if value else child.ending
        raise RegistryError(
            f"The process that checked {task} {clean(str(reason))}. {remedy(distribution)}"
        )
    return value
