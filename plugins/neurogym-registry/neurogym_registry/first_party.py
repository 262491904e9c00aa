"""The contents of packages in the repository that a registry is in.

They have no release in the registry, so that their contents are read from their sources. `ngym
registry build` stores them in ``sources/NAME.json``, which wheels of neurogym-registry contain."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from neurogym_core.ecosystem.manifest import read_manifest
from neurogym_core.errors import RegistryError
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
        manifest = read_manifest(folder / module.replace(".", "/") / file)
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
    }
