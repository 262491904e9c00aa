"""Pages of tasks that a registry lists and that are not installed.

They are made from the registry's files, and no code of the packages is executed. Texts lose the
characters that hide or reorder text, and none of their characters has a meaning in Markdown or HTML.
A figure is the SVG file of the registry, if it is a drawing without scripts and addresses
(`neurogym_registry.drawings`) and has the hash of its release."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from markdown_parts import installing, literal
from neurogym_registry.drawings import fault_of
from neurogym_registry.folder import Registry, read_registry
from neurogym_registry.index import build_index
from neurogym_registry.requirements import is_distribution_name
from neurogym_registry.rules import validate
from neurogym_registry.wheels import sha256_of
from task_pages import TABLES, TaskPage, cell_text, papers_of, present, tables_of

from neurogym_core.tools import Reference, clean

_ADDRESS = re.compile(r"https://[A-Za-z0-9][A-Za-z0-9./_~-]*")
_DOI = re.compile(r"10\.\d{4,9}/\S+")
_FOLDER = re.compile(r"[a-z0-9-]+(/[a-z0-9-]+)*")


def read(folder: Path) -> Registry:
    """Return a registry whose files keep the rules; its index may be older than they are.

    Raises:
        SystemExit: they do not; the message has the errors.
    """
    found = [one for one in validate(folder) if one.level == "error" and one.rule != "fresh-index"]
    if found:
        rows = "\n".join(map(str, found))
        raise SystemExit(f"{rows}\nNo pages are made of an invalid registry. Mend {folder}.")
    return read_registry(folder)


def write(folder: Path, thumbnails: Path, registry: Registry) -> list[TaskPage]:
    """Write a page for each listed task whose package is not installed.

    Args:
        folder: where the pages of the site are gathered; the pages are in its folder ``tasks``.
        thumbnails: folder of the small pictures.
        registry: the registry.

    Returns:
        The pages; tasks are left out whose names are none, or whose namespace is that of an
        installed package.
    """
    taken = {task.namespace for task in present()}
    pages = []
    for package in build_index(registry, full=True)["packages"]:
        space = package["namespace"]
        if space in taken or not is_distribution_name(package["name"]):
            continue
        for task in package["tasks"]:
            if re.fullmatch(r"[A-Z][A-Za-z0-9]*-v(0|[1-9][0-9]*)", task["name"]):
                pages.append(_write(folder / "tasks" / space, thumbnails, registry, package, task))
    return pages


def _write(
    folder: Path,
    thumbnails: Path,
    registry: Registry,
    package: Mapping[str, Any],
    task: Mapping[str, Any],
) -> TaskPage:
    folder.mkdir(parents=True, exist_ok=True)
    name, identity = task["name"], f"{package['namespace']}/{task['name']}"
    picture, drawn = "", figure_of(registry, package["name"], task)
    if drawn is not None:
        picture = f"thumbnails/{identity.replace('/', '-')}.svg"
        for target in (folder / f"{name}.svg", thumbnails.parent / picture):
            target.write_bytes(drawn)
    (folder / f"{name}.md").write_text(page_of(package, task, drawn is not None), "utf-8")
    return TaskPage(
        id=identity,
        title=clean(task["title"]) or name,
        summary=clean(task["summary"]),
        tags=tuple(map(clean, task["tags"])),
        species=tuple(map(clean, task["species"])),
        paper=next((one.cited for one in _references(task)), ""),
        page=f"tasks/{identity}",
        picture=picture,
        installed=False,
    )


def page_of(package: Mapping[str, Any], task: Mapping[str, Any], drawn: bool) -> str:
    """Return the page of a task.

    Args:
        package, task: rows of the full index of a registry.
        drawn: whether its figure is beside the page.
    """
    title = literal(task["title"]) or task["name"]
    words = ", ".join(map(literal, (*task["tags"], *task["species"])))
    about = f"`{package['namespace']}/{task['name']}`, in the package `{package['name']}`"
    papers = [one for one in _references(task) if _DOI.fullmatch(one.doi)]
    parts = [
        f"# {title}",
        f"{about} {literal(package['latest'] or '')}. {words}",
        ":::{note}\nThe package is not installed where this site was built. The page shows the"
        " entry of a registry; texts and figure are the package's.\n:::",
        *([f"![One trial of {title}, over time]({task['name']}.svg)"] if drawn else []),
        literal(task["summary"]),
        *_install(package),
        *_checks(package),
        *(["## Description", *_paragraphs(task["docstring"])] if task.get("docstring") else []),
        *tables_of(task, TABLES, _cell),
        *papers_of(papers, lambda one: one.cited, literal),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _install(package: Mapping[str, Any]) -> list[str]:
    folder = package.get("folder", "")
    if package["latest"]:
        line = f"$ ngym install {package['name']}"
    elif _FOLDER.fullmatch(folder):
        line = f"$ {installing(package['name'])}"
    else:
        return ["## Install", "The package has no release yet."]
    address = package.get("repository", "")
    people = ", ".join(literal(one["name"]) for one in package["maintainers"])
    source = f" [Sources](<{address}>)." if _ADDRESS.fullmatch(address) else ""
    return ["## Install", f"```console\n{line}\n```", f"By {people}.{source}"]


def _checks(package: Mapping[str, Any]) -> list[str]:
    found = [one for one in package["releases"] if one["version"] == package["latest"]]
    if not found:
        return []
    said, licence = found[0]["conformance"], literal(found[0]["license"])
    if said is None:
        return [f"{{bdg-warning-line}}`not checked` Licence: {licence}."]
    colour = "warning" if said["failed"] else "success"
    text = f"conformance: {int(said['passed'])} passed, {int(said['failed'])} failed"
    if said["expected_failures"]:
        text += f", {len(said['expected_failures'])} excused"
    core = literal(said["core"])
    return [f"{{bdg-{colour}-line}}`{text}` with neurogym-core {core}. Licence: {licence}."]


def _paragraphs(docstring: str) -> list[str]:
    """Return the paragraphs before the arguments, which are in the tables."""
    prose = re.split(r"^(?:Args|Attributes):", clean(docstring, keep_lines=True), flags=re.M)[0]
    parts = []
    for part in re.split(r"\n\s*\n", prose):
        points = re.split(r"^\s*[-*] ", part, flags=re.M)
        lead, items = literal(points[0]), [f"- {literal(one)}" for one in points[1:]]
        parts.append("\n".join(filter(None, (lead and f"{lead}\n", *items))))
    return parts


def _cell(field: str, value: Any) -> str:
    return literal(cell_text(field, value))


def _references(task: Mapping[str, Any]) -> list[Reference]:
    """Return the papers; each field is one line of text."""
    return [
        Reference(**{key: clean(value) if isinstance(value, str) else value
                     for key, value in one.items()})
        for one in task["references"]
    ]  # fmt: skip


def figure_of(registry: Registry, package: str, task: Mapping[str, Any]) -> bytes | None:
    """Return the file of a figure, if it is a drawing with the hash of its release."""
    figure = task.get("figure")
    if not figure:
        return None
    releases = registry.folder / "releases" / package
    path = releases / figure["file"]
    inside = path.resolve().is_relative_to(releases.resolve())
    if not inside or not path.is_file() or path.is_symlink():
        return None
    svg = path.read_bytes()
    same = sha256_of(path) == figure["sha256"]
    return svg if same and fault_of(svg) is None else None
