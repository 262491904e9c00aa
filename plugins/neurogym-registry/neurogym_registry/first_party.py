"""The contents of packages in the repository that a registry is in.

They have no release in the registry, so that their contents are read from their sources. `ngym
registry build` stores them in ``sources/NAME.json``, which wheels of neurogym-registry contain."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path
from typing import Any

from neurogym_core.tools import parse_manifest
from neurogym_registry.errors import RegistryError
from neurogym_registry.releases import row_of
from neurogym_registry.wheels import kinds_of


def contents_of(folder: Path) -> dict[str, Any]:
    """Return the object of ``sources/NAME.json`` for the sources of a package.

    Raises:
        RegistryError: the pyproject.toml cannot be read, or the manifest lacks a row.
    """
    try:
        project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
    except (OSError, ValueError, KeyError) as error:
        raise RegistryError(
            f"{folder} has no pyproject.toml with a [project] table that can be read ({error})."
            " Expected the sources of a package. Correct `folder` in the entry."
        ) from error
    points: dict[str, dict[str, str]] = project.get("entry-points", {})
    manifest = None
    for value in points.get("neurogym.manifest", {}).values():
        module, _, file = value.partition(":")
        manifest = parse_manifest(
            (folder / module.replace(".", "/") / file).read_text("utf-8"), file
        )
    helps = {
        kind: {name: _help(folder, value) for name, value in sorted(rows.items())}
        for kind in ("commands", "subjects")
        if (rows := points.get(f"neurogym.{kind}"))
    }
    title = f"{project['name']} {project['version']}"
    return {
        "schema": 1,
        "name": project["name"],
        "version": project["version"],
        **{
            f"{kind}s": [
                row_of(title, manifest, kind, name, value)
                for name, value in sorted(points.get(f"neurogym.{kind}s", {}).items())
            ]
            for kind in ("task", "wrapper")
        },
        "offers": kinds_of(
            {group: rows for group, rows in points.items() if group.startswith("neurogym.")}
        ),
        **({"helps": helps} if helps else {}),
    }


def _help(folder: Path, value: str) -> str:
    """Return the line of help of a command or subject, read from the sources of its package.

    It is the command's ``short_help``, or the first sentence of the docstring; of a subject, its
    settings follow."""
    module, _, name = value.partition(":")
    tree = ast.parse((folder / f"{module.replace('.', '/')}.py").read_text("utf-8"))
    found: Any = next(one for one in tree.body if getattr(one, "name", None) == name)
    said = (ast.get_docstring(found) or "").partition("\n\n")[0].replace("\n", " ")
    if isinstance(found, ast.ClassDef):
        settings = _settings(found)
        return f"{said} Settings: {', '.join(settings)}." if settings else said
    keywords = [key for call in found.decorator_list if isinstance(call, ast.Call)
                for key in call.keywords]  # fmt: skip
    texts = [ast.literal_eval(key.value) for key in keywords if key.arg == "short_help"]
    return texts[0] if texts else said


def _settings(subject: ast.ClassDef) -> list[str]:
    """Return the settings of a class of subjects, ``name=default``, without its seed."""
    for one in subject.body:
        if isinstance(one, ast.FunctionDef) and one.name == "__init__":
            given = one.args
            ordinary = given.args[len(given.args) - len(given.defaults) :]
            pairs = [*zip(ordinary, given.defaults, strict=True),
                     *zip(given.kwonlyargs, given.kw_defaults, strict=True)]  # fmt: skip
            values = {name.arg: ast.literal_eval(value) for name, value in pairs if value}
            return [
                name if value in (None, "") else f"{name}={value}"
                for name, value in values.items()
                if name != "seed"
            ]
    return []
