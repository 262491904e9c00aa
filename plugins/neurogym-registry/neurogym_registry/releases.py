"""Making a release file from a wheel."""

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

from neurogym_core.child import run_child
from neurogym_core.ecosystem.manifest import Row
from neurogym_core.ecosystem.names import clean
from neurogym_core.ecosystem.records import advice
from neurogym_core.errors import RegistryError
from neurogym_core.files import replacing
from neurogym_registry.folder import (
    Registry,
    dumps,
    entry_file,
    read_registry,
    release_file,
)
from neurogym_registry.index import build_index
from neurogym_registry.wheels import Wheel, sha256_of

SECONDS = 120.0
CHECK_SECONDS = 300.0  # for one check: each answer starts the time again
FROM_WHEEL = (
    "name", "version", "requires_core", "requires_python", "requires", "license", "modules", "files", "tasks",
    "wrappers",
)  # fmt: skip
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
    "docstring", "dt", "parameters", "channels", "actions", "periods", "conditions", "rewards", "supervised",
    "trials_per_session",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """What importing a wheel's tasks told: task name -> description, digest, and the file of its
    picture.
    """

    folder: Path
    tasks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def inspect_wheel(wheel: Wheel, folder: Path) -> Inspection:
    """Import the wheel's tasks once, in a child process that has its files before all else on the
    import path.

    Args:
        wheel: the wheel.
        folder: an empty folder that gets the wheel's files and the pictures.

    Raises:
        RegistryError: a task cannot be imported or described; says which.
    """
    site, pictures = folder / "site", folder / "figures"
    pictures.mkdir(parents=True)
    wheel.unpack(site)
    child = run_child(
        "neurogym_registry.inspect_tasks", [wheel.name, str(pictures)], SECONDS, path_with(site)
    )
    told = {
        value["task"]: value
        for value in child.values
        if isinstance(value, dict) and "task" in value
    }
    for name in wheel.entry_points.get("neurogym.tasks", {}):
        value = told.get(name)
        failure = f"the process {child.ending}" if value is None else value.get("failure")
        if failure:
            raise RegistryError(
                f"{name} of {wheel.name} {wheel.version} cannot be described: {clean(str(failure))}"
                " Expected a task that can be imported and made with its defaults. Try `ngym info"
                f" {name}`, correct it, and build the wheel again."
            )
    return Inspection(folder=pictures, tasks=told)


def path_with(site: Path) -> dict[str, str]:
    """The environment in which a child sees `site` before all else."""
    return {"PYTHONPATH": os.pathsep.join([str(site), *(path or os.getcwd() for path in sys.path)])}


def facts_of(wheel: Wheel) -> dict[str, Any]:
    """What the wheel itself says, in the form of a release file.

    Raises:
        RegistryError: its manifest breaks a rule, or lacks a row for a task or wrapper.
    """
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
            _row(wheel, "task", name, value) for name, value in _points(wheel, "neurogym.tasks")
        ],
        "wrappers": [
            _row(wheel, "wrapper", name, value)
            for name, value in _points(wheel, "neurogym.wrappers")
        ],
    }


def static_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a task's or wrapper's row that the wheel itself says."""
    return {key: row[key] for key in _STATIC if key in row}


def make_release(
    wheel: Wheel, inspection: Inspection | None, conformance: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The release file's object."""
    facts = facts_of(wheel)
    if inspection is not None:
        facts["tasks"] = [
            {**row, **_told(inspection, row["name"], wheel.version)} for row in facts["tasks"]
        ]
    said = None if conformance is None else dict(conformance)
    return {"schema": 1, **facts, "conformance": said, "yanked": None}


def refuse_release(folder: Path, wheel: Wheel) -> None:
    """Raise where `add_release` would, before anything of the wheel is run.

    Raises:
        RegistryError: the package has no entry, this release is there already, or the manifest
            breaks a rule.
    """
    if wheel.name not in read_registry(folder).entries:
        raise RegistryError(
            f"{wheel.name} has no {entry_file(wheel.name)} in this registry. Expected the entry"
            " before a release. Write it (see the README there), or let `ngym submit` write it."
        )
    target = folder / release_file(wheel.name, wheel.version)
    if target.exists():
        raise RegistryError(
            f"{wheel.name} {wheel.version} is released already: {target.name} exists. Releases"
            " never change. Give the package a new version."
        )
    facts_of(wheel)


def add_release(
    folder: Path, wheel: Wheel, inspection: Inspection | None, conformance: Mapping[str, Any] | None
) -> list[Path]:
    """Write the release file of a wheel, its pictures, and the index; returns what was written.

    Raises:
        RegistryError: see `refuse_release`.
    """
    refuse_release(folder, wheel)
    target = folder / release_file(wheel.name, wheel.version)
    release = make_release(wheel, inspection, conformance)
    written = []
    if inspection is not None:
        written = _copy_figures(inspection, release, target.parent)
    write_text(target, dumps(release))
    return [*written, target, write_index(folder)]


def write_index(folder: Path) -> Path:
    """Build ``index.json`` from the files; returns its path."""
    target = folder / "index.json"
    write_text(target, dumps(build_index(_readable(folder))))
    return target


def write_text(path: Path, text: str) -> None:
    """Write a file in one piece, its folder too; line ends as they are, so that its hash is the
    same everywhere.
    """
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file in one piece, its folder too."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        temporary.write_bytes(data)


def _readable(folder: Path) -> Registry:
    registry = read_registry(folder)
    if registry.violations:
        raise RegistryError(
            f"The registry cannot be built: {registry.violations[0]} Correct it; `ngym registry"
            " validate` lists all."
        )
    return registry


def _points(wheel: Wheel, group: str) -> Iterable[tuple[str, str]]:
    return sorted(wheel.entry_points.get(group, {}).items())


def _row(wheel: Wheel, kind: str, name: str, value: str) -> dict[str, Any]:
    row = wheel.manifest.row(kind, name) if wheel.manifest is not None else None
    problems = [
        str(one)
        for one in (wheel.manifest.all_problems if wheel.manifest else ())
        if one.level == "error"
    ]
    if row is None or problems:
        reason = (
            problems[0] if problems else f"its manifest has no [[{kind}]] row for {clean(name)!r}."
        )
        raise RegistryError(
            f"{wheel.name} {wheel.version} cannot be listed: {reason} Expected a valid ngym.toml in"
            " the wheel. Correct it, and build the wheel again."
        )
    return {"entry_point": value.replace(" ", ""), **_of_manifest(row)}


def _of_manifest(row: Row) -> dict[str, Any]:
    texts = {"name": row.name, "title": row.title, "summary": row.summary}
    words = {"tags": list(row.tags), "species": list(row.species), "aliases": list(row.aliases)}
    found = {
        **texts,
        **words,
        "references": [_without_empty(asdict(one)) for one in row.references],
    }
    return {
        **found,
        **(
            {"expected": dict(row.expected)}
            if row.kind == "task"
            else {"presets": dict(row.presets)}
        ),
    }


def _without_empty(reference: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in reference.items() if value or key in ("doi", "kind")}


def _told(inspection: Inspection, name: str, version: str) -> dict[str, Any]:
    told = inspection.tasks[name]
    description = told.get("description") or {}
    row = {key: plain(description[key]) for key in _DESCRIBED if key in description}
    if told.get("digest"):
        row["digest"] = dict(told["digest"])
    picture = inspection.folder / f"{name}.svg"
    if picture.is_file():
        row["figure"] = {"file": f"{version}/{name}.svg", "sha256": sha256_of(picture)}
    else:
        row["figure"] = None
    return row


def plain(value: Any) -> Any:
    """The value as strict JSON can hold it, texts cleaned: an infinite duration is the text
    ``inf``.
    """
    if isinstance(value, dict):
        return {clean(str(key)): plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    if isinstance(value, str):
        return clean(value, keep_lines=True)
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _copy_figures(inspection: Inspection, release: Mapping[str, Any], folder: Path) -> list[Path]:
    written = []
    for task in release["tasks"]:
        if task.get("figure"):
            target = folder / task["figure"]["file"]
            write_bytes(target, (inspection.folder / f"{task['name']}.svg").read_bytes())
            written.append(target)
    return written


def examine(
    wheel: Wheel,
    folder: Path,
    level: str = "full",
    excuses: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any]:
    """Run the conformance kit on all tasks of an unpacked wheel, each in a child process; returns
    the summary.

    The failures are in ``failures``, texts for people; `add_release` takes the rest. `excuses` are
    the kit's expected failures, code -> reason.

    Raises:
        RegistryError: the kit itself did not answer.
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
    """Run the conformance kit on one task of an installed package, in a child process; returns the
    summary.

    Raises:
        RegistryError: the kit itself did not answer.
    """
    arguments = [distribution, task, level, json.dumps(dict(excuses))]
    child = run_child("neurogym_registry.examine_task", arguments, CHECK_SECONDS, variables)
    value = child.values[-1] if child.values and isinstance(child.values[-1], dict) else None
    if value is None or "passed" not in value:
        reason = value.get("failure") if value else child.ending
        raise RegistryError(
            f"The process that checked {task} {clean(str(reason))}. {advice(distribution)}"
        )
    return value
