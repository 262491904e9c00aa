"""Find the package template of ``ngym new``.

The template is at the root of the repository, where contributors look for it. The build puts a copy
into the wheel; a checkout has no copy and uses the folder itself."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def template_folder() -> Path:
    """Return the folder ``cookiecutter-task``.

    Raises:
        FileNotFoundError: the installation of the core is incomplete.
    """
    for root in (_PACKAGE / "_bundled", _PACKAGE.parent):
        if (root / "cookiecutter-task").exists():
            return root / "cookiecutter-task"
    raise FileNotFoundError(
        "The folder cookiecutter-task is neither in the installed neurogym-core nor beside it."
        " Expected it from the wheel or a checkout. Install the core again."
    )
