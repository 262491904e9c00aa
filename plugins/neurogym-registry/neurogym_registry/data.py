"""Paths of the list of packages and the schemas that are bundled with this package."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parents[2] / "registry"


def checkout() -> Path | None:
    """Return the repository that this package is in, or None if it is installed without it."""
    return _CHECKOUT.parent if (_CHECKOUT / "packages").is_dir() else None


def data(name: str) -> Path:
    """Return the path of ``index.json`` or a file in ``schema``, of the wheel or of a checkout.

    Raises:
        FileNotFoundError: neither has the file.
    """
    for folder in (_PACKAGE / "_data", _CHECKOUT):
        if (folder / name).exists():
            return folder / name
    raise FileNotFoundError(
        f"neurogym-registry has no {name!r}. Expected it in the wheel or in a checkout around it."
        " Install neurogym-registry again."
    )


def how_to_install(row: Mapping[str, Any]) -> str:
    """Return the command that installs a package without a release, for messages."""
    root = checkout()
    if root is not None and (root / row["folder"] / "pyproject.toml").is_file():
        return f"`python -m pip install -e {root / row['folder']}`"
    return f"`python -m pip install -e {row['folder']}` in a checkout of its repository"
