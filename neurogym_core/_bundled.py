"""Find the package template of ``ngym new``, and the list of this project's packages.

Both are at the root of the repository. The build puts copies into the wheel; a checkout has no
copies and uses the files themselves."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def template_folder() -> Path:
    """Return the folder ``cookiecutter-task``.

    Raises:
        FileNotFoundError: the installation of the core is incomplete.
    """
    return _bundled("cookiecutter-task")


def list_of_packages() -> Path:
    """Return ``index.json`` of the repository's registry.

    Raises:
        FileNotFoundError: the installation of the core is incomplete.
    """
    return _bundled("registry/index.json")


def _bundled(name: str) -> Path:
    for root in (_PACKAGE / "_bundled", _PACKAGE.parent):
        if (root / name).exists():
            return root / name
    raise FileNotFoundError(
        f"{name} is neither in the installed neurogym-core nor beside it. Expected it from the"
        " wheel or a checkout. Install the core again."
    )
