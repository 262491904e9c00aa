"""Paths of the list of packages and the schemas that are bundled with this package."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parents[2] / "registry"


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
