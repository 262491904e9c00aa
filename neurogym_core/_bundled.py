"""Where the package template of ``ngym new`` lies.

It is at the root of the repository, where people look for it; the build puts a copy into the wheel.
A checkout has no copy and uses the folder itself."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def template_folder() -> Path:
    """The folder ``cookiecutter-task``.

    Raises:
        FileNotFoundError: neither the wheel nor a checkout has it; the core was installed
            incompletely.
    """
    for root in (_PACKAGE / "_bundled", _PACKAGE.parent):
        if (root / "cookiecutter-task").exists():
            return root / "cookiecutter-task"
    raise FileNotFoundError(
        "The folder cookiecutter-task is neither in the installed neurogym-core nor beside it."
        " Expected it from the wheel or a checkout. Install the core again."
    )
