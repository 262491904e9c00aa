"""Hooks for the core: listed packages, and packages of similar names.

The core imports this module for some errors, and for ``ngym info`` and ``ngym new``."""

from __future__ import annotations

from neurogym_core.ecosystem import hookimpl
from neurogym_core.ecosystem.records import Listed
from neurogym_core.errors import RegistryError
from neurogym_registry.client import catalogue
from neurogym_registry.commands.shared import read_catalogue
from neurogym_registry.listed import listed, resembling
from neurogym_registry.names import WELL_KNOWN, likeness, might_resemble


@hookimpl
def ngym_listed(name: str, offline: bool) -> list[Listed]:
    """Return the package or the tasks of this name in the registries."""
    found = read_catalogue(offline=offline, quiet=True)
    if found.from_copies and not offline:
        package = found.find(name)
        owners = [package] if package is not None else [one for one, _ in found.find_task(name)]
        if any(one.outdated for one in owners):
            found = read_catalogue(offline=False, refresh=True, quiet=True)
    return listed(found, name)


@hookimpl
def ngym_resembling(name: str) -> list[Listed]:
    """Return the tasks whose name is nearest to an unknown one; uses no network."""
    return resembling(catalogue(offline=True), name)


@hookimpl
def ngym_looks_like(distribution: str) -> str | None:
    """Return a listed or well-known package whose name differs by at most one letter, or None."""
    try:
        known = catalogue(offline=True).names
    except RegistryError:  # `ngym search` says why
        known = []
    for other in (*WELL_KNOWN, *known):
        if other != distribution and not might_resemble(distribution, other):
            continue
        apart = 0 if other == distribution else likeness(distribution, other)
        if apart is not None and apart < 2:
            return other
    return None
