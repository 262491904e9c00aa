"""Installed versions that a registry has revoked, for `ngym doctor`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from neurogym_core.tools import PackageInfo, Problem, canonical, clean
from neurogym_registry.addresses import read_address, registries
from neurogym_registry.client import Catalogue, Index, one_registry
from neurogym_registry.errors import RegistryError
from neurogym_registry.sources import remembered


def checkup(packages: Sequence[PackageInfo]) -> list[tuple[str, str, Problem]]:
    """Return a problem for each installed version that is revoked.

    Asks the registries in `NGYM_REGISTRY`, and those from which packages were installed, if the
    copies of their indexes are older than a day. If one does not answer, a warning has the age of
    the copy."""
    known, notes = _known(packages)
    found = [("neurogym-registry", "", _problem("warning", note)) for note in notes]
    for package in packages:
        reason = known.revocation(canonical(package.distribution), package.version)
        if reason is not None:
            message = (
                f"{package.distribution} {package.version} is revoked in the registry:"
                f" {clean(reason)} Expected no revoked package. Remove it: `{package.removal}`."
            )
            found.append((package.distribution, "", _problem("error", message)))
    return found


def _known(packages: Sequence[PackageInfo]) -> tuple[Catalogue, list[str]]:
    """Return the listings of the registries that are set or remembered, and notes on gaps."""
    installed = {canonical(package.distribution) for package in packages}
    also = [address for name, address in sorted(remembered().items()) if name in installed]
    indexes: list[Index] = []
    notes: list[str] = []
    try:
        also = [*map(str, registries()), *also]
    except RegistryError as error:
        notes.append(f"Revoked versions are not known: {clean(str(error))}")
    for address in dict.fromkeys(also):
        try:
            found = one_registry(read_address(address))
        except RegistryError as error:
            notes.append(f"Revoked versions are not known: {clean(str(error))}")
            continue
        indexes += found.indexes
        notes += [f"Revoked versions may be missing: {clean(note)}" for note in found.notes]
    return Catalogue(indexes=tuple(indexes)), notes


def _problem(level: Literal["error", "note", "warning"], message: str) -> Problem:
    return Problem(level=level, code="revoked" if level == "error" else "registry", message=message)
