"""The registries from which the packages of this environment came, kept in the environment.

`NGYM_REGISTRY` can differ between terminals; `ngym doctor` has to find revocations in each."""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path

from neurogym_registry.addresses import Address, absolute
from neurogym_registry.writing import write_text


def remember(name: str, address: Address) -> None:
    """Store that an installed package came from a registry; failures to write are ignored.

    The list bundled with neurogym-registry has no address, and is not stored."""
    if address.place:
        _write({**remembered(), name: str(absolute(address))})


def forget(name: str) -> None:
    """Remove a package from the stored ones."""
    known = remembered()
    if known.pop(name, None) is not None:
        _write(known)


def remembered() -> dict[str, str]:
    """Return {package: address of its registry, with its signer}; {} without a readable file."""
    try:
        rows = json.loads(_path().read_text("utf-8"))
        return {str(name): str(address) for name, address in rows.items()}
    except (OSError, ValueError, AttributeError, RecursionError):
        return {}


def _write(rows: dict[str, str]) -> None:
    with contextlib.suppress(OSError):
        write_text(_path(), json.dumps(rows, indent=1, sort_keys=True) + "\n")


def _path() -> Path:
    return Path(sys.prefix, "share", "neurogym-registry", "sources.json")
