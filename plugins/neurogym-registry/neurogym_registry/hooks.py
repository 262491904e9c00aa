"""Hooks for the core: listed packages, similar names, and revoked installed packages.

The core imports this module for some errors, and for ``ngym info``, ``ngym new`` and ``ngym
doctor``."""

from __future__ import annotations

from collections.abc import Sequence

from neurogym_core.ecosystem import hookimpl
from neurogym_core.ecosystem.names import canonical, clean
from neurogym_core.ecosystem.records import Listed, PackageInfo, Problem
from neurogym_core.errors import RegistryError
from neurogym_registry.client import catalogue
from neurogym_registry.commands.shared import read_catalogue
from neurogym_registry.listed import listed
from neurogym_registry.names import WELL_KNOWN, likeness


@hookimpl
def ngym_listed(name: str, offline: bool) -> list[Listed]:
    """Return the package or the tasks of this name in the registries."""
    return listed(read_catalogue(offline=offline, quiet=True), name)


@hookimpl
def ngym_looks_like(distribution: str) -> str | None:
    """Return a listed or well-known package whose name differs by at most one letter, or None."""
    try:
        known = [one.name for one in catalogue(offline=True).listings]
    except RegistryError:  # `ngym search` says why
        known = []
    for other in (*WELL_KNOWN, *known):
        apart = 0 if other == distribution else likeness(distribution, other)
        if apart is not None and apart < 2:
            return other
    return None


@hookimpl
def ngym_checkup(packages: Sequence[PackageInfo]) -> list[tuple[str, Problem]]:
    """Return a problem for each installed version that is revoked."""
    try:
        known = catalogue(offline=True)
    except RegistryError:  # `ngym search` says why
        return []
    found = []
    for package in packages:
        listing = known.find(canonical(package.distribution))
        reason = listing.revocation(package.version) if listing is not None else None
        if reason is not None:
            message = (
                f"{package.distribution} {package.version} is revoked in the registry:"
                f" {clean(reason)} Expected no revoked package. Remove it: `{package.removal}`."
            )
            problem = Problem(level="error", code="revoked", message=message)
            found.append((package.distribution, problem))
    return found
