"""Takes the registry's index and schemas along, which lie at the root of the repository.

An sdist keeps them in a folder ``registry`` of its own, from which the wheel is built in turn. An
editable install reads the repository's folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

TAKEN = ("index.json", "schema")


class RegistryHook(BuildHookInterface):
    """Puts copies into a wheel and an sdist."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Tell the builder what to copy.

        Args:
            version: ``"editable"`` for an editable install, else ``"standard"``.
            build_data: what goes into the wheel or sdist; changed in place.

        Raises:
            FileNotFoundError: there is no registry where an sdist or a checkout has it.
        """
        if version == "editable":
            return
        folder = registry_folder(Path(self.root))
        inside = "registry" if self.target_name == "sdist" else "neurogym_registry/_data"
        for name in TAKEN:
            build_data["force_include"][str(folder / name)] = f"{inside}/{name}"


def registry_folder(root: Path) -> Path:
    """The registry beside this file, as in an sdist, or at the root of the repository.

    Raises:
        FileNotFoundError: it is in neither place.
    """
    for folder in (root / "registry", root.parent.parent / "registry"):
        if all((folder / name).exists() for name in TAKEN):
            return folder
    raise FileNotFoundError(
        f"There is no registry with {' and '.join(TAKEN)} in {root} or two folders above it."
        " Expected an sdist or a checkout of the repository. Build from one of these."
    )
