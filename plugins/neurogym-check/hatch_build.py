"""Build hook that copies the template of packages from the root of the repository.

An sdist gets it in a folder ``cookiecutter-task``, from which its wheel is built. An editable
install reads the folder of the repository."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NAME = "cookiecutter-task"


class TemplateHook(BuildHookInterface):
    """Adds the template to wheels and sdists."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the folder to the builder's data.

        Args:
            version: ``"editable"`` for an editable install, else ``"standard"``.
            build_data: the builder's data; changed in place.

        Raises:
            FileNotFoundError: this is neither an sdist nor a checkout of the repository.
        """
        if version == "editable":
            return
        root = Path(self.root)
        for folder in (root / NAME, root.parent.parent / NAME):
            if folder.is_dir():
                inside = NAME if self.target_name == "sdist" else "neurogym_check/_template"
                build_data["force_include"][str(folder)] = inside
                return
        raise FileNotFoundError(
            f"There is no folder {NAME} in {root} or two folders above it. Expected an sdist or a"
            " checkout of the repository. Build from one of these."
        )
