"""Pages of tasks that a registry lists and that are not installed.

They are made from the registry's files, and no code of the packages is executed. Texts lose the
characters that hide or reorder text, and none of their characters has a meaning in Markdown or HTML.
A figure, which a registry keeps as SVG, becomes a PNG: a child process draws it, with limited time
and memory, if it is a drawing without scripts and addresses and has the hash of its release."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from markdown_parts import installing, literal
from neurogym_registry.drawings import fault_of
from neurogym_registry.folder import Registry, read_registry
from neurogym_registry.index import build_index
from neurogym_registry.requirements import is_distribution_name
from neurogym_registry.rules import validate
from neurogym_registry.wheels import sha256_of
from task_pages import TABLES, TaskPage, cell_text, papers_of, present, shrink, tables_of

from neurogym_core.tools import Reference, clean

WIDTH = 900
"""Width of a figure, pixels."""
MOST = 4
"""Largest ratio of the sides of a figure."""
SECONDS, MEMORY = 60, 2_000_000_000
"""Limits of the process that draws a figure: wall time, and bytes of address space."""
DRAW = f"""import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({MEMORY}, {MEMORY}))
import resvg_py
text = sys.stdin.buffer.read().decode("utf-8")
drawn = resvg_py.svg_to_bytes(svg_string=text, width={WIDTH}, dpi=96, background="#ffffff")
sys.stdout.buffer.write(drawn)"""
_ADDRESS = re.compile(r"https://[A-Za-z0-9][A-Za-z0-9./_~-]*")
_DOI = re.compile(r"10\.\d{4,9}/\S+")
_FOLDER = re.compile(r"[a-z0-9-]+(/[a-z0-9-]+)*")
_SIDES = re.compile(r"[0-9.]+")


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
    picture = ""
    drawn = raster(_figure(registry, package["name"], task))
    if drawn is not None:
        (folder / f"{name}.png").write_bytes(drawn)
        picture = f"thumbnails/{identity.replace('/', '-')}.png"
        shrink(folder / f"{name}.png", thumbnails / f"{identity.replace('/', '-')}.png")
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
        *([f"![One trial of {title}, over time]({task['name']}.png)"] if drawn else []),
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


# ---- figures -------------------------------------------------------------------------------------


def _figure(registry: Registry, package: str, task: Mapping[str, Any]) -> bytes | None:
    """Return the file of a figure, if it is a regular file with the hash of its release."""
    figure = task.get("figure")
    if not figure:
        return None
    releases = registry.folder / "releases" / package
    path = releases / figure["file"]
    inside = path.resolve().is_relative_to(releases.resolve())
    if not inside or not path.is_file() or path.is_symlink():
        return None
    return path.read_bytes() if sha256_of(path) == figure["sha256"] else None


def raster(svg: bytes | None) -> bytes | None:
    """Return a drawing as PNG; None if it is not only a drawing, or cannot be drawn."""
    if svg is None or fault_of(svg) is not None or find_spec("resvg_py") is None:
        return None
    if not _is_of_usual_shape(svg):
        return None
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-c", DRAW], input=svg, capture_output=True, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return None
    return _written_again(done.stdout) if done.returncode == 0 else None


def _is_of_usual_shape(svg: bytes) -> bool:
    """Return whether neither side is much longer than the other: pictures need memory."""
    from xml.etree import ElementTree

    root = ElementTree.fromstring(svg)
    box = root.get("viewBox", "").replace(",", " ").split()
    sides: Sequence[str] = [root.get("width", ""), root.get("height", "")]
    if not all(sides) and len(box) == 4:
        sides = box[2:]
    found = [_SIDES.match(one) for one in sides]
    if not all(found):
        return False
    width, height = (float(one[0]) for one in found if one)
    return min(width, height) > 0 and max(width / height, height / width) <= MOST


def _written_again(png: bytes) -> bytes:
    """Return a picture as Pillow writes it, with pixels and nothing else."""
    from PIL import Image

    with Image.open(io.BytesIO(png), formats=["PNG"]) as image:
        target = io.BytesIO()
        image.convert("RGB").quantize(128).save(target, "PNG", optimize=True)
    return target.getvalue()
