"""Where the folders lie that the wheel takes along: the registry's snapshot and schemas, and the
package template.

They live at the root of the repository, where people look for them; the build puts copies into the
wheel. A checkout has no copies and uses the folders themselves."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def bundled(name: str) -> Path:
    """The folder or file of this name, e.g. ``registry/schema`` or ``cookiecutter-task``.

    Raises:
        FileNotFoundError: neither the wheel nor a checkout has it; the core was installed
            incompletely.
    """
    for root in (_PACKAGE / "_bundled", _PACKAGE.parent):
        if (root / name).exists():
            return root / name
    raise FileNotFoundError(
        f"{name!r} is neither in the installed neurogym-core nor beside it. Expected it from the"
        " wheel or a checkout. Install the core again."
    )
