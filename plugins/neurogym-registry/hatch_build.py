"""Build hook that copies the registry's index and schemas from the root of the repository.

The folder ``index`` exists where packages of the repository have releases.
An sdist gets them in a folder ``registry``, from which its wheel is built. An editable install
reads the folder of the repository."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

TAKEN = ("index.json", "schema")


class RegistryHook(BuildHookInterface):
    """Adds the index and the schemas to wheels and sdists."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files to the builder's data.

        Args:
            version: ``"editable"`` for an editable install, else ``"standard"``.
            build_data: the builder's data; changed in place.

        Raises:
            FileNotFoundError: this is neither an sdist nor a checkout with a registry.
        """
        if version == "editable":
            return
        folder = registry_folder(Path(self.root))
        inside = "registry" if self.target_name == "sdist" else "neurogym_registry/_data"
        for name in (*TAKEN, *(["index"] if (folder / "index").is_dir() else [])):
            build_data["force_include"][str(folder / name)] = f"{inside}/{name}"


def registry_folder(root: Path) -> Path:
    """Return the registry beside this file, as in an sdist, or at the root of the repository.

    Raises:
        FileNotFoundError: neither exists.
    """
    for folder in (root / "registry", root.parent.parent / "registry"):
        if all((folder / name).exists() for name in TAKEN):
            return folder
    raise FileNotFoundError(
        f"There is no registry with {' and '.join(TAKEN)} in {root} or two folders above it."
        " Expected an sdist or a checkout of the repository. Build from one of these."
    )
