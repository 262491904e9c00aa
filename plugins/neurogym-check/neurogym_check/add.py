"""``ngym add``: add a task, wrapper, subject or command to an existing package."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from neurogym_check.template import KINDS, LICENCES, refuse_answers, template_folder
from neurogym_core import InvalidValueError
from neurogym_core.tools import optional, replacing

PARTS = ("wrapper", "subject", "command")
"""Kinds that are not tasks; each has a separate entry-point group."""
_INSIDE = "{{cookiecutter.__distribution}}/{{cookiecutter.__module}}"


@click.command()
@click.argument(
    "folder", default=".", metavar="[FOLDER]", type=click.Path(file_okay=False, path_type=Path)
)
@click.option("--task", "name", metavar="NAME", required=True,
              help="Name of the class, e.g. SideMemory.")  # fmt: skip
@click.option("--kind", type=click.Choice((*KINDS, *PARTS)), default=KINDS[0], show_default=True,
              help="Kind of the example.")  # fmt: skip
def command(folder: Path, name: str, kind: str) -> None:
    """Add a task, wrapper, subject or command to a package.

    \b
      ngym add neurogym-task-mylab --task SideMemory --kind session
      ngym add neurogym-task-mylab --task Dim --kind wrapper

    Adds an example with its tests, entry point and manifest row to the package in FOLDER, which
    `ngym new` has created. FOLDER is the current folder by default.

    \b
    Kinds:
      table, session, closed-loop, classic   tasks, as in `ngym new --help`
      wrapper      changes the trials of any task
      subject      plays tasks: ngym run TASK --subject NAME
      command      a new command: ngym NAME
    """
    checked = {"task_name": name, "lab": "x", "author": "x", "licence": LICENCES[0]}
    refuse_answers({**checked, "kind": KINDS[0], "repository": "https://example.org/x"})
    for path in add_to(folder, name, kind):
        click.echo(f"Wrote {path}.")
    click.echo("Install the package again, because its entry points have changed:")
    # Without "./", pip would look for a package of this name on its index.
    place = os.path.join(".", folder) if folder.parts else "."
    click.echo(f'  python -m pip install -e "{place}[test]"')


@dataclass(frozen=True)
class _Package:
    """An existing package: its folder, its distribution, its module, and its pyproject.toml."""

    folder: Path
    name: str
    module: str
    project: str


def add_to(folder: Path, name: str, kind: str) -> list[Path]:
    """Add one part, made from the template, to the package in a folder; return the files.

    Args:
        folder: the folder with pyproject.toml.
        name: the name of the class, in CapitalizedWords.
        kind: a kind of task, or one of `PARTS`.

    Raises:
        InvalidValueError: the folder has no package of this kind, or the package has the part.
    """
    package = _read(folder)
    context = _context(package, name, kind)
    group, entry, value = _offer(context, kind)
    module = package.folder / package.module
    files = {
        module / f"{context['__file']}.py": _rendered(f"templates/{_template(kind)}.py", context),
        package.folder / "tests" / f"test_{context['__file']}.py": _rendered(
            f"templates/test_{kind}.py", context
        ),
    }
    for path in files:
        if path.exists():
            raise InvalidValueError(
                f"{path} exists already. Expected a new name. Choose another with --task. Nothing"
                " was written."
            )
    project = package.folder / "pyproject.toml"
    text = _with_entry(package.project, group, entry, value)
    if kind == "classic":
        text = _with_requirement(text, "dependencies", "neurogym-classic>=1.0,<2")
        text = _with_requirement(text, "test", "neurogym-plot>=1.0,<2")
    files[project] = text
    if kind not in ("subject", "command"):
        manifest = module / "ngym.toml"
        source = "templates/wrapper.toml" if kind == "wrapper" else f"{_INSIDE}/ngym.toml"
        files[manifest] = _joined(manifest, "schema = 1\n", _rendered(source, context))
    if kind not in (*PARTS, "classic"):
        digests = module / "digests.toml"
        files[digests] = _joined(
            digests, "schema = 1\n", _rendered(f"{_INSIDE}/digests.toml", context)
        )
    for path, text in files.items():
        path.parent.mkdir(exist_ok=True)
        with replacing(path) as target:
            target.write_text(text, "utf-8")
    return list(files)


def _read(folder: Path) -> _Package:
    """Read the package in a folder."""
    path = folder / "pyproject.toml"
    try:
        text = path.read_text("utf-8")
        name = tomllib.loads(text)["project"]["name"]
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise InvalidValueError(
            f"ngym add was given {folder}, which has no pyproject.toml with a project's name"
            f" ({type(error).__name__}). Expected the folder of a package. Create one first:"
            " `ngym new`."
        ) from error
    module = str(name).replace("-", "_")
    if not str(name).startswith("neurogym-task-") or not (folder / module).is_dir():
        raise InvalidValueError(
            f"ngym add was given the package {name!r}. Expected one called neurogym-task-NAME, with"
            " its code in the folder neurogym_task_NAME, as `ngym new` creates it. Write the entry"
            " point into pyproject.toml yourself."
        )
    return _Package(folder, name, module, text)


def _context(package: _Package, name: str, kind: str) -> dict[str, str]:
    """Return the variables of the template; cookiecutter.json derives the same ones."""
    words = re.findall(r"[A-Z][^A-Z]*", name)
    return {
        "task_name": name,
        "lab": package.name.removeprefix("neurogym-task-"),
        "kind": kind,
        "__distribution": package.name,
        "__module": package.module,
        "__file": "_".join(words).lower(),
        "__command": "-".join(words).lower(),
        "__words": " ".join([words[0], *(word.lower() for word in words[1:])]),
    }


def _offer(context: Mapping[str, str], kind: str) -> tuple[str, str, str]:
    """Return the entry-point group of a part, its name and its value."""
    module = f"{context['__module']}.{context['__file']}"
    name = context["task_name"]
    if kind == "wrapper":
        return "neurogym.wrappers", name, f"{module}:{name}"
    if kind == "subject":
        return "neurogym.subjects", context["__file"], f"{module}:{name}"
    if kind == "command":
        return "neurogym.commands", context["__command"], f"{module}:command"
    return "neurogym.tasks", f"{name}-v0", f"{module}:{name}"


def _template(kind: str) -> str:
    return kind if kind in PARTS else f"task_{kind}"


def _rendered(name: str, context: Mapping[str, str]) -> str:
    """Return a file of the template for these variables."""
    jinja = optional("jinja2", needed_for="`ngym add`")
    files = jinja.Environment(
        loader=jinja.FileSystemLoader(template_folder()), keep_trailing_newline=True
    )
    return files.get_template(name).render(cookiecutter=context)


def _joined(path: Path, head: str, rendered: str) -> str:
    """Return a TOML file with the tables of another one added."""
    known = path.read_text("utf-8") if path.exists() else head
    tables = rendered[rendered.index("\n[") :].strip()
    return f"{known.rstrip()}\n\n{tables}\n"


def _with_entry(text: str, group: str, name: str, value: str) -> str:
    """Return pyproject.toml with an entry point added to a group.

    Raises:
        InvalidValueError: the group has an entry point of this name.
    """
    known: dict[str, Any] = tomllib.loads(text)["project"].get("entry-points", {})
    if name in known.get(group, {}):
        raise InvalidValueError(
            f"pyproject.toml has an entry point {name!r} in {group!r} already. Expected a new name."
            " Choose another with --task. Nothing was written."
        )
    header, line = f'[project.entry-points."{group}"]', f'"{name}" = "{value}"'
    lines = text.rstrip().split("\n")
    if header in lines:
        place = lines.index(header) + 1
        while place < len(lines) and lines[place].strip() and not lines[place].startswith("["):
            place += 1
        lines.insert(place, line)
    else:
        tools = (number for number, one in enumerate(lines) if one.startswith("[tool."))
        place = next(tools, len(lines))
        lines[place:place] = [header, line, ""]
    return "\n".join(lines).rstrip() + "\n"


def _with_requirement(text: str, key: str, requirement: str) -> str:
    """Return pyproject.toml with a requirement added to `dependencies`, or to the extra `test`.

    Raises:
        InvalidValueError: pyproject.toml has no such list.
    """
    name = requirement.partition(">")[0]
    if any(one.startswith(name) for one in _requirements(text, key)):
        return text
    added = re.sub(rf"(?m)^{key} *= *\[", f'{key} = ["{requirement}", ', text, count=1)
    if requirement not in _requirements(added, key):
        raise InvalidValueError(
            f"pyproject.toml has no list {key!r}, to which {requirement!r} would be added."
            " Expected that of `ngym new`. Add the list. Nothing was written."
        )
    return added


def _requirements(text: str, key: str) -> list[str]:
    project = tomllib.loads(text)["project"]
    where = project if key == "dependencies" else project.get("optional-dependencies", {})
    return list(where.get(key, []))
