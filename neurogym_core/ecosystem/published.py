"""How to install the packages of this project.

This module alone knows whether they are on the package index. Until they are, nothing may name one
of them to ``pip install``: the owner of that name on the index could run code on the computers of
users."""

from __future__ import annotations

import shlex
from pathlib import Path

PUBLISHED = False
"""Whether the packages of this project are on the package index, under their names."""

REPOSITORY = ""
"""The public address of the sources; "" while there is none. A test compares it with the metadata
of all packages."""

_CORE = "neurogym-core"
_TRAINING = ("neurogym-behaviour", "neurogym-plot", "neurogym-records", "neurogym-training")
_BESIDE = {
    "neurogym-behaviour": ("neurogym-plot",),
    "neurogym-records": _TRAINING[:2],
    "neurogym-training": _TRAINING[:3],
    **dict.fromkeys(("neurogym-likeness", "neurogym-sb3", "neurogym-sweep"), _TRAINING),
    **dict.fromkeys(("neurogym-jax", "neurogym-torch"), ("neurogym-neural", *_TRAINING)),
}  # {package: packages that it needs beside the core}; pip would look for them on the index


def install_command(*packages: str, checkout: str = ".") -> str:
    """Return the command that installs packages of this project, for a page or a script.

    Args:
        packages: their names on the package index.
        checkout: folder of a checkout, from which pip installs them until they are on the index.
    """
    if PUBLISHED:
        return f"pip install {' '.join(packages)}"
    wanted = dict.fromkeys(one for name in packages for one in (*_BESIDE.get(name, ()), name))
    folders = [checkout if one == _CORE else f"{checkout}/plugins/{one}" for one in wanted]
    return " ".join(["pip install", *(f"-e {shlex.quote(one)}" for one in folders)])


def how_to_install(*packages: str) -> str:
    """Return the command that installs packages of this project, and where, for a sentence.

    Args:
        packages: their names on the package index.
    """
    root = Path(__file__).resolve().parents[2]
    if PUBLISHED or all((root / "plugins" / one / "pyproject.toml").is_file() for one in packages):
        return f"`{install_command(*packages, checkout=str(root))}`"
    address = f" ({REPOSITORY})" if REPOSITORY else ""
    return f"`{install_command(*packages)}` in a checkout of {_CORE}{address}"
