"""The list of packages and the schemas that come with this package."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parents[2] / "registry"


def data(name: str) -> Path:
    """``index.json`` or a file in ``schema``: the wheel's copy, or the one of a checkout.

    Raises:
        FileNotFoundError: there is neither.
    """
    for folder in (_PACKAGE / "_data", _CHECKOUT):
        if (folder / name).exists():
            return folder / name
    raise FileNotFoundError(
        f"{name!r} is neither in the installed neurogym-registry nor in a checkout around it."
        " Expected it from the wheel or a checkout. Install neurogym-registry again."
    )
